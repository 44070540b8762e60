"""Paths as SARIF has them: URIs relative to the source root where they lie below it."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import quote

ROOT = "%SRCROOT%"


def artifact(path: str) -> dict[str, Any]:
    """Give the artifact location of a path as shown, with ``/``.

    Below the working directory it is relative to the source root. What lies outside is written as what it is: an
    absolute ``file`` URI, or a relative reference without a base that begins with ``..``.
    """
    text = posixpath.normpath(path)
    if text.startswith("//"):
        return {"uri": "file:" + _quoted(text)}
    if text.startswith("/"):
        return {"uri": "file://" + _quoted(text)}
    if has_drive(text):
        return {"uri": f"file:///{text[:2]}{_quoted(text[2:])}"}
    uri = _quoted(text)
    return {"uri": uri} if text.split("/", 1)[0] == ".." else {"uri": uri, "uriBaseId": ROOT}


def has_drive(path: str) -> bool:
    """Return whether a path is an absolute one of Windows, as in ``C:/skills``."""
    return path[1:3] == ":/" and path[0].isascii() and path[0].isalpha()


def _quoted(path: str) -> str:
    """Percent-encode a path; bytes that are no UTF-8 in its name come back as those bytes."""
    try:
        data = path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        data = path.encode(errors="surrogatepass")
    return quote(data, safe="/@+,=~")
