"""Who judges, simulates and ranks, and what that may cost."""
