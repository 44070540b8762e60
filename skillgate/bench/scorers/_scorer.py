"""What stands in front of every scorer: the part of the answer that is scored is selected, or said to be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import folded, part, require_path, shown
from skillgate.bench.pointer import NothingThere
from skillgate.bench.ports import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.bench.ports import Prepare, Rules, Surroundings
    from skillgate.model.benchmark import Task

    Score = Callable[[Any, Rules], Scored]


class PartScorer:
    """Scores what the evaluator's path leads to. A scorer that needs more than its rules derives from it."""

    def __init__(self, rules: Rules) -> None:
        """Take the rules.

        Raises:
            ValueError: the evaluator's path is no pointer.
        """
        require_path(rules.evaluator)
        self.rules = rules

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer; see :class:`skillgate.bench.ports.Scorer`."""
        try:
            found = part(output, self.rules.evaluator)
        except NothingThere as missing:
            return wrong(f"the answer has nothing at {missing}")
        return self.score_part(found, output)

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score the part of ``output`` that was found."""
        raise NotImplementedError


class _ByRules(PartScorer):
    def __init__(self, rules: Rules, score: Score) -> None:
        super().__init__(rules)
        self._score = score

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401, ARG002 - JSON, of which a part is scored
        return self._score(found, self.rules)


def scorer(*, require: Callable[[Rules], object] | None = None) -> Callable[[Score], Prepare]:
    """Make a scorer of a function of the found part and the rules; ``require`` raises ValueError for unfit rules."""

    def decorate(score: Score) -> Prepare:
        def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> PartScorer:  # noqa: ARG001 - as every scorer
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
    """Score the share of ``of`` words or patterns that were not missed; ``what`` is as in ``keywords; missing``."""
    noun, _, lacking = what.partition("; ")
    reason = f"{of - len(missed)} of {of} {noun}"
    if missed:
        reason += f"; {lacking}: " + ", ".join(shown(one) for one in missed)
    return Scored(1.0 - len(missed) / of, passed=not missed, reason=reason)


def is_case_sensitive(rules: Rules, *, default: bool) -> bool:
    """Whether the evaluator, else what is expected, tells upper from lower case."""
    said = (rules.evaluator.case_sensitive, rules.expected.case_sensitive)
    return next((one for one in said if one is not None), default)


def fold(text: str, rules: Rules, *, sensitive: bool) -> str:
    """Bring a text into the form in which it is compared: ``sensitive`` is the default where nothing says so."""
    sensitive = is_case_sensitive(rules, default=sensitive)
    return folded(text, case_sensitive=sensitive, normalize=rules.evaluator.normalize)
