"""Findings beyond the score."""
