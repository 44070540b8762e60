"""What calls write to files: counts and digests of lines, never a text."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WRITERS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
"""Tools that write files, by the field that names the file. What a shell command writes is not seen."""
CODE = frozenset(
    """
    .asm .bash .bat .c .cc .cjs .clj .cljs .cpp .cs .css .cu .cxx .dart .erl .ex .exs .f90 .fish .fs .go .gradle
    .groovy .h .hcl .hh .hpp .hs .html .ipynb .java .jl .js .jsx .kt .kts .less .lua .m .mjs .ml .mm .mts .nim .nix
    .php .pl .pm .proto .ps1 .py .pyi .r .rb .rs .sass .scala .scss .sh .sol .sql .svelte .swift .tf .ts .tsx .v .vb
    .vue .zig .zsh
    """.split()  # noqa: SIM905 - it reads better than as many quotation marks
)
"""Suffixes of files whose lines are lines of code."""


class Change(NamedTuple):
    """What one call did to a file.

    Attributes:
        path: its digest.
        written: how many lines.
        added, removed: digests of whole lines; None where only the call's own words are known, since these hold parts
            of lines.
    """

    path: int
    code: bool
    written: int
    added: tuple[int, ...] | None = None
    removed: tuple[int, ...] | None = None


def asked(name: str, given: Mapping[str, Any]) -> Change | None:
    """Give what a call is to write, by its input; None where it writes no file."""
    path = given.get(WRITERS.get(name, ""))
    if not isinstance(path, str):
        return None
    edits = given.get("edits") if name == "MultiEdit" else [given]
    count = sum(map(_count, edits)) if isinstance(edits, list) else 0
    return Change(hash(path), is_code(path), count)


def done(change: Change, details: Mapping[str, Any] | None) -> Change:
    """Give what a call did write, by what Claude Code keeps of its result where that tells of whole lines."""
    details = details or {}
    hunks, content = details.get("structuredPatch"), details.get("content")
    if isinstance(hunks, list) and hunks:
        lines = [line for hunk in hunks if isinstance(hunk, dict) for line in _strings(hunk.get("lines"))]
        added = _digests(change.path, (line[1:] for line in lines if line.startswith("+")))
        removed = _digests(change.path, (line[1:] for line in lines if line.startswith("-")))
        return change._replace(written=len(added), added=added, removed=removed)
    if details.get("type") == "create" and isinstance(content, str):
        added = _digests(change.path, lines_of(content))
        return change._replace(written=len(added), added=added, removed=())
    return change


def is_code(path: str) -> bool:
    """Say whether the lines of a file are lines of code, by its name."""
    return PurePosixPath(path.replace("\\", "/")[-300:]).suffix.lower() in CODE


def lines_of(text: object) -> list[str]:
    """Give the lines of a text; what follows the last line's end is none."""
    if not isinstance(text, str) or not text:
        return []
    return text.removesuffix("\n").split("\n")


def _count(edit: object) -> int:
    """Count the lines that an edit adds or changes; a file that is written whole has only new ones."""
    if not isinstance(edit, dict):
        return 0
    new = edit.get("content", edit.get("new_string", edit.get("new_source")))
    return (Counter(lines_of(new)) - Counter(lines_of(edit.get("old_string")))).total()


def _digests(path: int, lines: Iterable[str]) -> tuple[int, ...]:
    return tuple(hash((path, line)) for line in lines)


def _strings(lines: object) -> list[str]:
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
