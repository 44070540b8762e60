"""What is asked of a starter, and the files that programs of every kind have."""

from __future__ import annotations

import json
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


class Wanted(NamedTuple):
    """A new skill: its id, which is its directory too, the name that people see, its description, ``""`` for none."""

    id: str
    name: str
    description: str


def as_json(value: object) -> str:
    """Write a file's JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def spec(wanted: Wanted, adapter: str, entrypoint: str, **changes: object) -> dict[str, Any]:
    """Compose a skill.json."""
    told = f"Answers a query with its text in capital letters: the first version of {wanted.name}."
    return {
        "id": wanted.id,
        "name": wanted.name,
        "version": "0.1.0",
        "description": wanted.description or told,
        "tags": [],
        "inputSchema": INPUT,
        "outputSchema": OUTPUT,
        "adapterType": adapter,
        "entrypoint": entrypoint,
        "metadata": {"author": "", "license": "MIT"},
        **changes,
    }


def tasks(wanted: Wanted, tasks: Sequence[Mapping[str, Any]] = (), **checked: int) -> dict[str, Any]:
    """Compose the starter's benchmark: two tasks that hold what is answered against a value, unless others are given.

    Args:
        wanted: the skill.
        tasks: in their place.
        checked: how many of them a probe passes that knows nothing.
    """
    own = (
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
    return {
        "id": f"{wanted.id}-basic".lstrip("_-"),
        "name": f"{wanted.name}: basic",
        "version": "0.1.0",
        "tasks": list(tasks or own),
        # One constant answer passes the one task that expects it.
        "metadata": {"selfCheck": checked or {"constant": 1}},
    }


def readme(wanted: Wanted, words: str) -> str:
    """Compose the README: what to edit, and the command that tells whether it still holds."""
    return f"""# {wanted.id}

{words}

Write the tasks that it will really meet into `{TASKS}`, and run them from this directory:

    skillgate eval --skills . --tasks {TASKS} --exit-on-fail
"""
