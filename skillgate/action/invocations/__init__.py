"""Gates on recorded invocations in the Action."""
