"""Serve skills for benchmarks, on this machine."""
