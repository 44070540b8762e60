"""Layer 1: deterministic checks."""
