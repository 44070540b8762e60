"""The output formats: one file for each, which says its suffixes and who writes which kind of document in it.

``SUFFIXES`` are those of its files. ``WRITERS`` names the function that writes a kind of document, ``*`` for every
kind: ``FUNCTION`` of the file itself, or ``MODULE:FUNCTION`` of ``skillgate.report``. Both are read from the source,
so that nothing is imported before a document is written.
"""
