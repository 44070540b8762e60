"""Start, limit, isolate and stop programs of skills."""
