"""Starters: each file gives the files of one kind of new skill, which run as they are."""
