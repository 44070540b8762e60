"""Read, score, compare over time and gate recorded invocations."""
