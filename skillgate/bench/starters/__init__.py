"""Starters: each file gives the files of one kind of new skill, which run as they are.

Read from the source, where they are set: ``FIRST`` (the command to run before its tasks) and ``HYPHENS`` (its name has
``-`` in the place of what an id cannot have). The first by ``POSITION`` is the default.
"""
