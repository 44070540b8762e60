"""Where a SARIF result lies: from URIs, bases and artifacts to a path with ``/``, a line and a column."""

from __future__ import annotations

import posixpath
from typing import Any, NamedTuple
from urllib.parse import unquote

from skillgate.report.sarif_shape import entry, number, text_of
from skillgate.report.sarif_uri import has_drive

URI = 4096  # characters of a URI or of a path that is made of several: what most systems take
_BASES = 8  # that lie in one another, at most
_LOCAL = ("", "localhost")


class Located(NamedTuple):
    """A place in a file.

    Attributes:
        path: absolute or relative, with ``/``; ``.`` where the result is about no file that could be.
        line, column: from 1; 1 where the result does not say.
        written: the path without its base, where it has one.
    """

    path: str = "."
    line: int = 1
    column: int = 1
    written: str | None = None


def locate(location: dict[str, Any], bases: dict[str, Any], artifacts: list[Any], where: str) -> Located:
    """Read a SARIF ``location``.

    Args:
        location: the object.
        bases: the run's ``originalUriBaseIds``.
        artifacts: the run's ``artifacts``, which a location may point into.
        where: what the location is called in messages.

    Raises:
        CodecError: a part of it has the wrong type.
    """
    physical = entry(location, "physicalLocation", where)
    artifact = entry(physical, "artifactLocation", where)
    index = number(artifact, "index")
    if not text_of(artifact, "uri", where) and index is not None and index < len(artifacts):
        artifact = entry(entry(artifacts[index], None, f"{where} artifacts[]"), "location", where)
    written = as_path(text_of(artifact, "uri", where))
    if written is None:
        return Located()
    path = written
    based = text_of(artifact, "uriBaseId", where)
    for _ in range(_BASES):
        base = entry(bases, based, where) if based and not is_absolute(path) else {}
        above = as_path(text_of(base, "uri", where))
        if above is not None:
            path = posixpath.join(above, path)
            if len(path) > URI:
                return Located()
        based = text_of(base, "uriBaseId", where)
    region = entry(physical, "region", where)
    return Located(
        path=posixpath.normpath(path),
        line=number(region, "startLine") or 1,
        column=number(region, "startColumn") or 1,
        written=posixpath.normpath(written) if path != written else None,
    )


def is_absolute(path: str) -> bool:
    """Return whether a path is absolute, of Windows or not."""
    return path.startswith("/") or has_drive(path)


def as_path(uri: str) -> str | None:
    """Give the path of a relative reference or ``file`` URI, percent signs decoded; None for what is no file's.

    No file has a name with a NUL, with half a character, or longer than a system takes. Backslashes, which no URI has
    and some tools write, are taken for ``/``.
    """
    if len(uri) > URI:
        return None
    text = uri.replace("\\", "/").partition("#")[0].partition("?")[0]
    scheme, colon, rest = text.partition(":")
    if colon and len(scheme) > 1 and "/" not in scheme:
        if scheme.lower() != "file":
            return None
        text = rest
        if text.startswith("//"):
            host, _, below = text[2:].partition("/")
            text = f"/{below}" if host.lower() in _LOCAL else f"//{host}/{below}"
    path = unquote(text, errors="surrogateescape")
    if not _could_be(path):
        return None
    return (path[1:] if has_drive(path[1:]) and path[0] == "/" else path) or None


def _could_be(path: str) -> bool:
    try:
        return b"\0" not in path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
