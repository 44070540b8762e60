"""Run benchmarks: from a request to a report."""
