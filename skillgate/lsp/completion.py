"""What an editor offers while a skill is written: keys and values of the frontmatter, and files behind ``](``."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from skillgate.format import printable
from skillgate.model.skill import EntryKind
from skillgate.scoring.composite import SIZE_BANDS
from skillgate.skill.frontmatter import DELIMITER, FLAG_KEYS
from skillgate.skill.tree import DiskTree
from skillgate.skill.walk import SKIPPED
from skillgate.static.rules import CLAUDE_CODE, SPECIFIED
from skillgate.static.rules.allowed_tools_unknown import FIELDS, TOOLS
from skillgate.static.rules.field_value import VALUES
from skillgate.static.rules.model_unknown import ALIASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.lsp.text import Text

_KEYS = {  # as the specification and the documentation of Claude Code describe them
    "name": "Required. The name of the skill's directory: 1 to 64 lower-case letters, digits and hyphens.",
    "description": "Required. What the skill does and when to use it, in at most 1,024 characters.",
    "license": "The license: its name, or the name of a file in the skill.",
    "compatibility": "What the skill needs, such as a product, packages or a network; at most 500 characters.",
    "metadata": "Keys of your own, each with a string.",
    "allowed-tools": "Tools that may be used without asking, separated by spaces.",
    "when_to_use": "When to use the skill; Claude Code adds it to the description.",
    "argument-hint": "What a user sees behind the command, such as [issue-number].",
    "arguments": "Names of the arguments, for $name in the instructions.",
    "disable-model-invocation": "true: only a user starts the skill.",
    "user-invocable": "false: the skill is not listed among the commands.",
    "disallowed-tools": "Tools that may not be used while the skill is active.",
    "model": "The model that runs the skill: an alias or an id.",
    "effort": "How much effort the model makes.",
    "context": "fork: the skill runs in a sub-agent.",
    "agent": "The sub-agent that runs the skill with context: fork.",
    "background": "Whether the sub-agent runs in the background.",
    "hooks": "Hooks that are active while the skill is.",
    "paths": "Globs: the skill is only offered for these files.",
    "shell": "The shell of commands in the instructions.",
}
_CATEGORIES = {name: f"a body of {low} to {high} lines" for name, (low, high) in SIZE_BANDS.items()}
_BOOLEANS = dict.fromkeys(("true", "false"), "")
_KNOWN = {
    **dict.fromkeys((*FLAG_KEYS, "background"), _BOOLEANS),
    **{key: dict.fromkeys(values, "") for key, values in VALUES.items()},
    "model": dict.fromkeys(ALIASES, "an alias of Claude Code"),
}
_KEY = re.compile(r"([A-Za-z][\w-]*):")
_MOST = 200


class Completion(NamedTuple):
    """One thing to insert, in place of the ``replaced`` characters before the pointer."""

    label: str
    text: str
    replaced: int
    kind: str  # key, value, file or folder
    detail: str = ""
    about: str = ""


def completions(text: Text, row: int, column: int, folder: str, file: str) -> list[Completion]:
    """List what may be inserted at a line and character, both from 0.

    ``folder`` is the skill's directory, ``file`` the path in it of the file with the text; only files of the skill are
    offered.
    """
    before = text.line(row)[:column]
    if file.upper() == "SKILL.MD" and 0 < row < _end_of_head(text):
        return list(_in_frontmatter(text, row, before))
    link = re.search(r"\]\(<?([^()<>\s]*)$", before)
    return list(_files(folder, posixpath.dirname(file), link[1])) if link else []


def _end_of_head(text: Text) -> int:
    """Return the line that ends the frontmatter; while it is still open, that behind the last."""
    if text.line(0).rstrip() != DELIMITER:
        return 0
    return next((row for row in range(1, text.lines) if text.line(row).rstrip() == DELIMITER), text.lines)


def _in_frontmatter(text: Text, row: int, before: str) -> Iterator[Completion]:
    if re.fullmatch(r"[\w-]*", before):
        there = {match[1] for line in range(1, _end_of_head(text)) if (match := _KEY.match(text.line(line)))}
        for key in (*SPECIFIED, *CLAUDE_CODE):
            if key not in there:
                after = ":\n  " if key == "metadata" else ": "
                origin = "Agent Skills" if key in SPECIFIED else "Claude Code"
                yield Completion(key, key + after, len(before), "key", origin, _KEYS.get(key, ""))
        return
    if before[:1] in (" ", "\t") and _parent(text, row) == "metadata":
        if re.fullmatch(r"\s+[\w-]*", before):
            yield Completion("category", "category: ", len(before.lstrip()), "key", "", "The kind of the skill.")
        elif match := re.fullmatch(r"\s+category:\s+(\w*)", before):
            yield from _values(_CATEGORIES, match[1])
        return
    match = re.fullmatch(r"([A-Za-z][\w-]*):\s+(?:.*\s)?(\S*)", before)
    if match is not None and match[1] in FIELDS:
        tools = {tool: "" for tool in TOOLS if not re.search(rf"\b{tool}\b", before)}
        yield from _values(tools, match[2])
    elif match is not None and before.endswith(f": {match[2]}"):
        yield from _values(_KNOWN.get(match[1], {}), match[2])


def _parent(text: Text, row: int) -> str:
    for above in range(row - 1, 0, -1):
        if match := _KEY.match(text.line(above)):
            return match[1]
    return ""


def _values(known: dict[str, str], written: str) -> Iterator[Completion]:
    for value, detail in known.items():
        yield Completion(value, value, len(written), "value", detail)


def _files(folder: str, base: str, written: str) -> Iterator[Completion]:
    """Yield the files of the skill that continue a link's target, relative to the directory of the file with it."""
    start, _, name = written.rpartition("/")
    place = posixpath.normpath(posixpath.join(base, unquote(start)))
    if ":" in start or written.startswith(("/", "#")) or place.startswith(".."):
        return
    tree, inside = DiskTree(folder), "" if place == "." else place
    names = [one for one in tree.names(inside) if not one.startswith(".") and one not in SKIPPED]
    for one in names[:_MOST]:
        entry = tree.entry(posixpath.join(inside, one))
        if entry is not None and entry.kind in (EntryKind.FILE, EntryKind.DIRECTORY):
            is_folder = entry.kind is EntryKind.DIRECTORY
            end = "/" if is_folder else ""
            kind = "folder" if is_folder else "file"
            yield Completion(printable(one) + end, quote(one) + end, len(name), kind)
