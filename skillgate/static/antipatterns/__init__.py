"""Anti-patterns: each finding of theirs costs five per cent of the composite."""
