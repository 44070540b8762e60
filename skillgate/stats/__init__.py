"""Statistics: thin and typed, over numpy and scipy."""
