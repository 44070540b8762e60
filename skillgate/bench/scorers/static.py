"""Use the result of a static benchmark's check as the score; never for skills that are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.ports import MAX_WORDS, Scored, UnscoredError
from skillgate.model.bench import ErrorKind

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Task

POSITION = 9
BY_NAME = True


class Static:
    """Takes over a check's result."""

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer.

        Raises:
            UnscoredError: it is no result of a check.
        """
        match output:
            case {"score": int() | float() as score, "passed": bool() as passed, "reasons": list() as reasons} if (
                0 <= score <= 1
            ):
                text = "; ".join(map(str, reasons))
                return Scored(float(score), passed=passed, reason=text[:MAX_WORDS] or "no problems found")
        raise UnscoredError(ErrorKind.SCORER, "this is not the result of a static check")


def static(task: Task, rules: Rules, surroundings: Surroundings) -> Static:  # noqa: ARG001 - as every scorer
    """Prepare to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    return Static()
