"""Templates of new skills. Each file is one template; its skill runs unchanged.

These constants are read from the source: ``FIRST`` (a command to run before the tasks) and ``HYPHENS`` (``-`` replaces
characters that the name cannot have). The first template by ``POSITION`` is the default. The programs of new skills
are in the folder ``programs``.
"""
# ruff: noqa: PTH118, PTH120, PTH123

from __future__ import annotations

import json
import os
import re
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
    """A new skill: its id, which is also its directory, its name, and its description or ``""``."""

    id: str
    name: str
    description: str


def program(name: str) -> str:
    """Read a file from the folder ``programs``."""
    with open(os.path.join(os.path.dirname(__file__), "programs", name), encoding="utf-8") as file:
        return file.read()


def as_json(value: object) -> str:
    """Return JSON for a file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def spec(wanted: Wanted, adapter: str, entrypoint: str, **changes: object) -> dict[str, Any]:
    """Return a skill.json."""
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
    """Return the template's benchmark, by default with two tasks that compare values.

    Args:
        wanted: The skill.
        tasks: Other tasks.
        checked: How many tasks each do-nothing probe passes.
    """
    return {
        "id": f"{wanted.id}-basic".lstrip("_-"),
        "name": f"{wanted.name}: basic",
        "version": "0.1.0",
        "tasks": list(tasks),
        # One constant answer passes the one task that expects it.
        "metadata": {"selfCheck": checked or {"constant": 1}},
    }


def checked_benchmark(wanted: Wanted, tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return tasks as a benchmark that declares how many of them a do-nothing skill passes."""
    from skillgate.bench.authoring import SELF_CHECK, probes_of  # most templates need none of these
    from skillgate.bench.documents import decoded, digest_of, scorers_of, scoring_of
    from skillgate.bench.ports import alone
    from skillgate.model.benchmark import Benchmark, Loaded

    identifier = re.sub(r"^[^a-z0-9]+", "", f"{wanted.id}-basic")
    data = {"id": identifier, "name": f"{wanted.name}: basic", "version": "0.1.0", "tasks": list(tasks)}
    benchmark = decoded(Benchmark, data, TASKS)
    loaded = Loaded(benchmark=benchmark, origin=TASKS, folder="/", digest=digest_of(data))
    probes = probes_of(benchmark, scorers_of(loaded, scoring_of(loaded, "exact"), alone()))
    return {**data, "metadata": {SELF_CHECK: {probe.name: len(probe.passed) for probe in probes}}}


def program_files(
    wanted: Wanted, spec: Mapping[str, Any], config: Mapping[str, Any], file: str, text: str, words: str
) -> dict[str, str]:
    """Return the files of a skill that is a program ``file``; ``words`` begin the README."""
    return {
        SKILL_JSON: as_json(spec),
        CONFIG_JSON: as_json(config),
        file: text,
        TASKS: as_json(tasks(wanted)),
        README: readme(wanted, words),
    }


def readme(wanted: Wanted, words: str) -> str:
    """Return the README: what to edit, and the command to test it."""
    return f"""# {wanted.id}

{words}

Replace the tasks in `{TASKS}` with realistic ones, and run them from this directory:

    skillgate eval --skills . --tasks {TASKS} --exit-on-fail
"""
