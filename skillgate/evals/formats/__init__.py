"""The formats of eval sets: one file for each, whose key is the ``kind`` of what was read.

A document's format has ``is_it(loaded, file)`` and ``read(loaded, file)``; that of a folder (``FOLDER``) has
``is_it(names)`` and ``read(tree, directory, folder, skills=…)``. The first by ``POSITION`` that takes it reads it. Read
from the source: ``UNIT`` (what is counted in it), ``FILES`` (names that must hold it) and ``MISSING`` (what to say of
such a file that does not).
"""
