"""Reporters: one file for each format."""
