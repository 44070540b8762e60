"""Starters: each file composes the files of one kind of new skill, which run as they are.

Read from the source, where they are set: ``FIRST`` (the command to run before its tasks) and ``HYPHENS`` (its name has
``-`` in the place of what an id cannot have). The first by ``POSITION`` is the default. The programs of new skills are
in the folder ``programs``; what all starters share is here.
"""
# ruff: noqa: PTH118, PTH120, PTH123

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SKILL_JSON = "skill.json"
CONFIG_JSON = "adapter.config.json"
TASKS = "tests/basic.eval.json"
README = "README.md"
INPUT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "The text to answer."}},
    "required": ["query"],
}
OUTPUT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "string", "description": "The query in capital letters."}},
    "required": ["result"],
}
_TASKS = (
    {
        "id": "one_line",
        "description": "A text comes back in capital letters.",
        "inputData": {"query": "test input"},
        "expectedOutput": {"type": "exact", "value": "TEST INPUT"},
        "tags": ["basic"],
    },
    {
        "id": "beyond_ascii",
        "description": "Letters with accents have capitals too.",
        "inputData": {"query": "déjà vu, 7 times"},
        "expectedOutput": {"type": "exact", "value": "DÉJÀ VU, 7 TIMES"},
        "tags": ["edge-case"],
    },
)


class Wanted(NamedTuple):
    """A new skill: its id, which is its directory too, the name that people see, its description, ``""`` for none."""

    id: str
    name: str
    description: str


def program(name: str) -> str:
    """Read the text of a new skill's program, or body, from the folder ``programs``."""
    with open(os.path.join(os.path.dirname(__file__), "programs", name), encoding="utf-8") as file:
        return file.read()


def as_json(value: object) -> str:
    """Write a file's JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def spec(wanted: Wanted, adapter: str, entrypoint: str, **changes: object) -> dict[str, Any]:
    """Compose a skill.json."""
    default = f"Answers a query with its text in capital letters: the first version of {wanted.name}."
    return {
        "id": wanted.id,
        "name": wanted.name,
        "version": "0.1.0",
        "description": wanted.description or default,
        "tags": [],
        "inputSchema": INPUT,
        "outputSchema": OUTPUT,
        "adapterType": adapter,
        "entrypoint": entrypoint,
        "metadata": {"author": "", "license": "MIT"},
        **changes,
    }


def tasks(wanted: Wanted, tasks: Sequence[Mapping[str, Any]] = _TASKS, **checked: int) -> dict[str, Any]:
    """Compose the starter's benchmark: by default two tasks that compare what is answered with a value.

    Args:
        wanted: the skill.
        tasks: in their place.
        checked: how many of them a probe passes that knows nothing.
    """
    return {
        "id": f"{wanted.id}-basic".lstrip("_-"),
        "name": f"{wanted.name}: basic",
        "version": "0.1.0",
        "tasks": list(tasks),
        # One constant answer passes the one task that expects it.
        "metadata": {"selfCheck": checked or {"constant": 1}},
    }


def program_files(
    wanted: Wanted, spec: Mapping[str, Any], config: Mapping[str, Any], file: str, text: str, words: str
) -> dict[str, str]:
    """Return the files of a skill that is a program ``file``: its settings, its tasks, and a README that begins so."""
    return {
        SKILL_JSON: as_json(spec),
        CONFIG_JSON: as_json(config),
        file: text,
        TASKS: as_json(tasks(wanted)),
        README: readme(wanted, words),
    }


def readme(wanted: Wanted, words: str) -> str:
    """Compose the README: what to edit, and the command that shows whether it still holds."""
    return f"""# {wanted.id}

{words}

Write the tasks that it will really meet into `{TASKS}`, and run them from this directory:

    skillgate eval --skills . --tasks {TASKS} --exit-on-fail
"""
