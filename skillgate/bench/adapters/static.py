"""Reads a skill's directory in the place of running it: what the task's ``checkType`` names is checked and scored."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.bench.checks import Subject, UncheckedError, check
from skillgate.bench.ports import Reply
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import CHECK_TYPE

if TYPE_CHECKING:
    from skillgate.bench.ports import Call, Surroundings
    from skillgate.model.benchmark import Runnable

_SHOWN = 500  # characters of a reason, which may quote the skill


def open_adapter(skill: Runnable, surroundings: Surroundings) -> StaticAdapter:
    """Make ready to read a skill; nothing of it is started."""
    path = surroundings.environ.get("PATH", os.defpath)
    return StaticAdapter(Subject(skill.spec, skill.config, skill.root, path))


class StaticAdapter:
    """Checks one skill."""

    def __init__(self, skill: Subject) -> None:
        self._skill = skill

    def invoke(self, call: Call) -> Reply:
        """Check once; the answer is ``{"score", "passed", "reasons"}``. What cannot be checked is not measured."""
        try:
            result = check(self._skill, call.data.get(CHECK_TYPE))
        except (UncheckedError, UsageError) as error:
            return Reply(kind=ErrorKind.SCORER, error=str(error), answered=False)
        except OSError as error:
            why = f"the skill's files cannot be read: {error.strerror}"
            return Reply(kind=ErrorKind.SCORER, error=why, answered=False)
        reasons = [printable(reason)[:_SHOWN] for reason in result.reasons]
        output = {"score": result.score, "passed": result.score >= 1, "reasons": reasons}
        return Reply(output=output, timed=False)  # how long we read is no latency of the skill

    def close(self) -> None:
        """Nothing stays between calls."""
