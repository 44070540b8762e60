"""Changes that a session makes to files and to its repository.

Lines and paths are held as digests. Changes by shell commands are not seen, except for what Git does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import PurePosixPath
from typing import Any, NamedTuple

_HEAD = 2_000  # characters of a command that are examined
_CODE_SUFFIXES = frozenset(
    f".{name}"
    for name in """
    asm bash bat c cc cjs clj cljs cpp cs css cu cxx dart erl ex exs f90 fish fs go gradle
    groovy h hcl hh hpp hs html ipynb java jl js jsx kt kts less lua m mjs ml mm mts nim nix
    php pl pm proto ps1 py pyi r rb rs sass scala scss sh sol sql svelte swift tf ts tsx v vb
    vue zig zsh
    """.split()  # noqa: SIM905 - it reads better than as many quotation marks
)


class Change(NamedTuple):
    """The change of a file by one call.

    Attributes:
        path: a digest.
        written: number of lines.
        added, removed: digests of whole lines; None if only the call's input is known, which has parts of lines.
    """

    path: int
    code: bool
    written: int
    added: tuple[int, ...] | None = None
    removed: tuple[int, ...] | None = None


def edit_of(path: object, old: object, new: object) -> tuple[Change, ...]:
    """Return the change by an edit that replaces a text; without an old text all lines are new."""
    if not isinstance(path, str):
        return ()
    return (Change(hash(path), _is_code(path), (Counter(_lines_of(new)) - Counter(_lines_of(old))).total()),)


def patch_of(path: str, lines: Iterable[str]) -> Change:
    """Return the change by a patch: its lines begin with ``+``, ``-`` or a space."""
    held = list(lines)
    added = _digests(hash(path), (line[1:] for line in held if line.startswith("+")))
    removed = _digests(hash(path), (line[1:] for line in held if line.startswith("-")))
    return Change(hash(path), _is_code(path), len(added), added, removed)


def written_change(change: Change, details: Mapping[str, Any] | None) -> Change:
    """Return the actual change of a call, if Claude Code's record of the result has whole lines."""
    details = details or {}
    hunks, content = details.get("structuredPatch"), details.get("content")
    if isinstance(hunks, list) and hunks:
        lines = [line for hunk in hunks if isinstance(hunk, dict) for line in _strings(hunk.get("lines"))]
        added = _digests(change.path, (line[1:] for line in lines if line.startswith("+")))
        removed = _digests(change.path, (line[1:] for line in lines if line.startswith("-")))
        return change._replace(written=len(added), added=added, removed=removed)
    if details.get("type") == "create" and isinstance(content, str):
        added = _digests(change.path, _lines_of(content))
        return change._replace(written=len(added), added=added, removed=())
    return change


def _is_code(path: str) -> bool:
    return PurePosixPath(path.replace("\\", "/")[-300:]).suffix.lower() in _CODE_SUFFIXES


def _lines_of(text: object) -> list[str]:
    return text.removesuffix("\n").split("\n") if isinstance(text, str) and text else []


def _digests(path: int, lines: Iterable[str]) -> tuple[int, ...]:
    return tuple(hash((path, line)) for line in lines)


def _strings(lines: object) -> list[str]:
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


# What commands do to a repository

_COMMITS = re.compile(r"\bgit commit\b|\bgit merge\b|\bgh pr merge\b")
_REVERTS = re.compile(r"\bgit revert\b|\bgit reset --hard\b|\bgit (?:checkout|restore) (?:-- )?\.(?:\s|$)")


class Effect(Enum):
    """What a command does to earlier work."""

    COMMITS = "commits"
    REVERTS = "reverts"


def effect_of(command: object) -> Effect | None:
    """Return what a shell command does to earlier work."""
    if not isinstance(command, str):
        return None
    if _REVERTS.search(command[:_HEAD]):
        return Effect.REVERTS
    return Effect.COMMITS if _COMMITS.search(command[:_HEAD]) else None
