"""Benchmarks: skills that can be run, and prose skills, against sets of tasks."""
