"""Matches against a corpus of skills, and the ratings that follow."""

MEDIAN = 1500.0  # the rating of a corpus's median skill, and every one's before its first match
