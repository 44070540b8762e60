"""The formats of eval sets: one file per format. The file's name is the ``kind`` in reports.

A document format has ``is_it(loaded, file)`` and ``read(loaded, file)``. A folder format (``FOLDER``) has
``is_it(names)`` and ``read(tree, directory, folder, skills=…)``. Formats are tried by ``POSITION``; the first match
reads the file. Constants read from the source: ``UNIT`` (what it counts), ``FILES`` (names that require this format)
and ``MISSING`` (the message for such a file without it).
"""
