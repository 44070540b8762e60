"""Addresses on a code host: built from what the front knows of the repository, never taken from a document."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import quote

_PART = r"[A-Za-z0-9._~-]{1,100}"
_REPOSITORY = re.compile(rf"https?://[A-Za-z0-9.-]{{1,253}}(?::\d{{1,5}})?(?:/{_PART}){{2,6}}")
_RUN = re.compile(_REPOSITORY.pattern + rf"(?:/{_PART}){{0,6}}(?:[?#][A-Za-z0-9._~=&-]{{1,100}})?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_RULE = re.compile(r"[A-Z][A-Z0-9_]{1,63}")
_LONGEST = 1000  # characters of a path or an address; a longer one is left out, and its text stands alone


def repository(url: str) -> str:
    """Give ``https://HOST/OWNER/NAME`` back where it has that form, else ``""``."""
    return _whole(_REPOSITORY, url)


def workflow_run(url: str) -> str:
    """Give the address of a workflow run back where it has the form of one, else ``""``."""
    return _whole(_RUN, url)


def commit(sha: str) -> str:
    """Give 40 hexadecimal digits back, ``""`` for anything else."""
    return sha if _COMMIT.fullmatch(sha) else ""


def is_rule(identifier: str) -> bool:
    """Return whether an id has the form of our own rules'."""
    return _RULE.fullmatch(identifier) is not None


def at_commit(kind: str, repository_url: str, sha: str, path: str, line: int | None = None) -> str:
    """Give a place in a repository.

    Args:
        kind: ``blob`` of a file, ``tree`` of a directory.
        repository_url: as :func:`repository` gives it.
        sha: as :func:`commit` gives it.
        path: relative to the repository's top.
        line: of a file, from 1.

    Returns:
        The address; ``""`` where repository or commit are not known, the path leads out, or it would be too long.
    """
    inside = _inside(path)
    if not repository_url or not sha or inside is None:
        return ""
    address = f"{repository_url}/{kind}/{sha}" + (f"/{quote(inside)}" if inside != "." else "")
    if len(address) > _LONGEST:
        return ""
    raw = "?plain=1" if inside.lower().endswith(".md") else ""  # rendered Markdown has no lines to lead to
    return f"{address}{raw}#L{line}" if line and line > 0 else address


def _whole(form: re.Pattern[str], text: str) -> str:
    return text if form.fullmatch(text) and "/../" not in f"{text}/" and "/./" not in f"{text}/" else ""


def _inside(path: str) -> str | None:
    """Normalise a path that stays inside of the repository; None for any other."""
    if not path or len(path) > _LONGEST or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        return None
    try:
        path.encode()
    except UnicodeEncodeError:  # a lone surrogate has no address
        return None
    return posixpath.normpath(path)
