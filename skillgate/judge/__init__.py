"""Layer 2: a model reads the whole skill. Pure: it yields requests and receives answers."""
