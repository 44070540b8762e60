"""Matches against a corpus of skills, and the ratings they give."""
