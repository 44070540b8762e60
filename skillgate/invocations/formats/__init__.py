"""One file for each form in which invocations are recorded, with ``is_it(head)`` and ``read(lines, options)``.

Read from the source, before anything is loaded: ``EXPECTED`` (what a file of it is called in messages), and where they
are set ``FALLBACK`` (tried after all others), ``ONE_DOCUMENT`` (a file may be one line of any length: its pieces, under
one number, are put together again), ``LINE_BY_LINE`` (each line says all of itself, so that parts of a file can be read
at once) and ``GROWS`` (a file that is read again says more of the same invocations).
"""
