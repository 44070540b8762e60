"""Sub-checks: each gives a score in [0, 1] with its evidence."""
