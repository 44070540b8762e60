"""Frozen values that every room speaks, and the ports to the world."""
