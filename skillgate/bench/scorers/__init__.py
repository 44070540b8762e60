"""Scorers of answers. Each file is one scorer, with a function of the scorer's name that prepares it.

These constants are read from the source without importing it:

- ``NEEDS``: keys of which a task must have one.
- ``ALIASES``: other names of the scorer.
- ``BY_NAME``: whether it only scores tasks that name it; it is no default.
- ``ASKS_MODEL``, ``STARTS_PROGRAM``: whether it does so.
- ``PACKAGE``: required to import it.
- ``NO_BLANK_ITEMS``: the needed list has none.

A function ``check`` is optional. It yields problems of the expectation.

This module selects the part of the answer to score before a scorer gets it, and reports a missing one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import MissingPartError, folded, part, shown, steps_of
from skillgate.bench.ports import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.bench.ports import Prepare, Rules, Surroundings
    from skillgate.model.benchmark import Task

    Score = Callable[[Any, Rules], Scored]


class PartScorer:
    """Scores the part of the answer at the evaluator's path. Base class of scorers that need more than their rules."""

    def __init__(self, rules: Rules) -> None:
        """Store the rules; raise ValueError if the evaluator's path is not a JSON pointer."""
        try:
            steps_of(rules.evaluator.path or "")
        except ValueError as error:
            raise ValueError(f"evaluator.path: {error}") from None
        self.rules = rules

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer; see :class:`skillgate.bench.ports.Scorer`."""
        try:
            found = self.part(output)
        except MissingPartError as missing:
            return wrong(f"the answer has no value at {missing}")
        return self.score_part(found, output)

    def part(self, output: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the part to score; raise MissingPartError if there is none."""
        return part(output, self.rules.evaluator)

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score the part ``found`` of ``output``."""
        raise NotImplementedError


class _ByRules(PartScorer):
    def __init__(self, rules: Rules, score: Score) -> None:
        super().__init__(rules)
        self._score = score

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401, ARG002 - JSON
        return self._score(found, self.rules)


def scorer(*, require: Callable[[Rules], object] | None = None, scope: str | None = None) -> Callable[[Score], Prepare]:
    """Make a scorer from a function of the answer's part and the rules.

    Args:
        require: Raises ValueError for bad rules.
        scope: The scope of tasks without one.
    """

    def decorate(score: Score) -> Prepare:
        def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> PartScorer:  # noqa: ARG001 - as every scorer
            evaluator = replace(rules.evaluator, scope=rules.evaluator.scope or scope)
            rules = rules._replace(evaluator=evaluator)
            prepared = _ByRules(rules, score)
            if require is not None:
                require(rules)
            return prepared

        return prepare

    return decorate


def right(reason: str) -> Scored:
    """Return the full score."""
    return Scored(1.0, passed=True, reason=reason)


def wrong(reason: str) -> Scored:
    """Return no score."""
    return Scored(0.0, passed=False, reason=reason)


def share(missed: Sequence[str], of: int, what: str) -> Scored:
    """Score the share of ``of`` words or patterns found; ``what`` is as in ``keywords; missing``."""
    noun, _, lacking = what.partition("; ")
    reason = f"{of - len(missed)} of {of} {noun}"
    if missed:
        reason += f"; {lacking}: " + ", ".join(map(shown, missed))
    return Scored(1.0 - len(missed) / of, passed=not missed, reason=reason)


def is_case_sensitive(rules: Rules, *, default: bool) -> bool:
    """Whether case matters: by the evaluator, else by the expectation."""
    options = (rules.evaluator.case_sensitive, rules.expected.case_sensitive)
    return next((one for one in options if one is not None), default)


def fold(text: str, rules: Rules, *, sensitive: bool) -> str:
    """Return text normalized for comparison; ``sensitive`` is the default for case."""
    sensitive = is_case_sensitive(rules, default=sensitive)
    return folded(text, case_sensitive=sensitive, normalize=rules.evaluator.normalize)
