"""Evaluate skills: from a request to a report."""
