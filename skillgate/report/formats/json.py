"""JSON, which every kind of document is written in and read back from."""

POSITION = 2
SUFFIXES = (".json",)
WRITERS = {"*": "json:render"}
