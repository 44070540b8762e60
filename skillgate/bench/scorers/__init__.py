"""How answers are scored: one file for each scorer, with a function of its name that makes it ready.

Read from the source, before anything is loaded: ``NEEDS`` (what a task must expect; any of them will do), ``ALIASES``,
``ADAPTER`` (the one whose answers alone it scores), ``ASKS_MODEL``, ``STARTS_PROGRAM``, ``PACKAGE`` (without which it
cannot be loaded), ``NO_BLANK_ITEMS`` (in the list that it needs), and whether there is a
function ``check``, which says what is wrong with what is expected.
"""
