"""What a check finds, and the files that more than one of them reads."""
# ruff: noqa: PTH113, PTH118, PTH123

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.reading.loading import SKILL_JSON, SKILL_MD
from skillgate.model.skill import Unreadable
from skillgate.skill.discover import discover
from skillgate.skill.parse import parse
from skillgate.skill.read import read

if TYPE_CHECKING:
    from skillgate.model.executable import AdapterConfig, Executable
    from skillgate.model.skill import Skill

MOST_BYTES = 1_000_000


class Subject(NamedTuple):
    """The skill that is checked.

    Attributes:
        spec: its skill.json, or what stands for it.
        config: its adapter's settings.
        root: the absolute directory that holds it.
        path: where programs are looked for, as in ``PATH``.
    """

    spec: Executable
    config: AdapterConfig
    root: str
    path: str


class Found(NamedTuple):
    """What a check finds: a score in [0, 1], of which 1 passes, and why it is no more than that."""

    score: float
    reasons: tuple[str, ...]


class UncheckedError(Exception):
    """It could not be checked, through no fault of the skill; the message says why."""


def portion(*parts: tuple[float, str | None]) -> Found:
    """Add up the shares of the parts of a check that hold; a part holds where its reason is None."""
    score = sum(share for share, reason in parts if reason is None)
    return Found(round(score, 4), tuple(reason for _, reason in parts if reason is not None))


def prose(skill: Subject) -> Skill | None:
    """Give what the skill's SKILL.md says, None where it has none.

    Raises:
        UncheckedError: it cannot be read.
    """
    if not os.path.isfile(os.path.join(skill.root, SKILL_MD)):
        return None
    here = [root for root in discover([skill.root]).roots if root.file_name == SKILL_MD]
    if not here:
        raise UncheckedError(f"{SKILL_MD} is ignored where it lies")
    source = read(here[0])
    if isinstance(source, Unreadable):
        raise UncheckedError(f"{SKILL_MD} cannot be read: {source.reason}")
    return parse(source)


def is_program(skill: Subject) -> bool:
    """Tell whether the skill has a skill.json."""
    return os.path.isfile(os.path.join(skill.root, SKILL_JSON))


def beginning(skill: Subject, name: str) -> bytes | None:
    """Read the beginning of a file beside a skill's main one; None where it is no plain file of the skill's own."""
    path = os.path.join(skill.root, name)
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise UncheckedError(f"{name} cannot be read: {error.strerror}") from error
