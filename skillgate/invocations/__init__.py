"""Recorded invocations: read, scored, compared over time and gated."""
