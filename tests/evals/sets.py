"""Eval sets for tests: real directories, read and linted through the public functions."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from skillgate.evals.read import read_evals
from skillgate.evals.rules import Subject, lint
from skillgate.skill.tree import DiskTree
from tests.skills import BODY, DESCRIPTION, NAME, write_skill

if TYPE_CHECKING:
    from skillgate.model.evals import EvalSet
    from skillgate.model.finding import Finding

SHOULD = (
    "Put the three monthly exports together",
    "The umlauts in my download are broken",
    "Why does every customer show up twice in orders.csv",
    "One table out of these two, please",
    "Some rows are the same, get rid of them",
    "Join sales and returns by order number",
)
SHOULD_NOT = (
    "Draw a chart of this CSV file",
    "Write a formula that counts duplicate cells",
    "Export the table from the database",
    "Explain what an encoding is",
    "Delete the old files in this folder",
    "Translate the sheet into French",
)


def write_evals(base: Path, files: dict[str, Any]) -> Path:
    """Write a skill with files below its ``evals/``; what is no text and no bytes is written as JSON."""
    skill = write_skill(base)
    for name, content in files.items():
        place = skill / "evals" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            place.write_bytes(content)
        else:
            place.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return skill


def labelled(should: tuple[str, ...] = SHOULD, should_not: tuple[str, ...] = SHOULD_NOT) -> list[dict[str, Any]]:
    """Give a trigger set in skill-creator's form."""
    pairs = [(prompt, True) for prompt in should] + [(prompt, False) for prompt in should_not]
    return [{"query": prompt, "should_trigger": label} for prompt, label in pairs]


def read_set(skill: Path) -> EvalSet:
    """Read what a skill brings."""
    return read_evals(DiskTree(str(skill)), "", skills=(NAME,))


def findings(skill: Path, *, threshold: float | None = None) -> tuple[Finding, ...]:
    """Lint what a skill brings."""
    subject = Subject(read_set(skill), NAME, DESCRIPTION, f"{DESCRIPTION}\n{BODY}", threshold)
    return lint(subject, PurePosixPath(NAME))


def places(found: tuple[Finding, ...], rule: str) -> list[tuple[str, int]]:
    """Give where findings of one rule stand, relative to ``evals/``."""
    return [(str(one.path.relative_to(f"{NAME}/evals")), one.line) for one in found if one.id == rule]
