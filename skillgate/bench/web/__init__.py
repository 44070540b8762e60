"""Servers of skills: where they are, whether they may be reached, and how they are."""
