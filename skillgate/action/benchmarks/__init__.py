"""Benchmarks in the Action, of head and base."""
