"""How answers are scored: one file for each scorer, with a function of its name that makes it ready.

Read from the source, before anything is loaded: ``NEEDS`` (what a task must expect; any of them will do), ``ALIASES``,
``ADAPTER`` (the one whose answers alone it scores), ``ASKS_MODEL``, ``STARTS_PROGRAM``, ``PACKAGE`` (without which it
cannot be loaded), ``NO_BLANK_ITEMS`` (in the list that it needs), and whether there is a function ``check``, which
yields what is wrong with what is expected.

What every scorer shares is here: the part of the answer that is scored is selected before a scorer sees it, or said to
be missing; :func:`fold` applies case and normalisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import MissingPartError, folded, part, shown, steps_of
from skillgate.bench.ports import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.bench.ports import Prepare, Rules, Surroundings
    from skillgate.model.benchmark import Task

    Score = Callable[[Any, Rules], Scored]


class PartScorer:
    """Scores what the evaluator's path leads to. A scorer that needs more than its rules derives from it."""

    def __init__(self, rules: Rules) -> None:
        """Take the rules; raise ValueError if the evaluator's path is no pointer."""
        try:
            steps_of(rules.evaluator.path or "")
        except ValueError as error:
            raise ValueError(f"evaluator.path: {error}") from None
        self.rules = rules

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer; see :class:`skillgate.bench.ports.Scorer`."""
        try:
            found = part(output, self.rules.evaluator)
        except MissingPartError as missing:
            return wrong(f"the answer has nothing at {missing}")
        return self.score_part(found, output)

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score the part of ``output`` that the path leads to."""
        raise NotImplementedError


class _ByRules(PartScorer):
    def __init__(self, rules: Rules, score: Score) -> None:
        super().__init__(rules)
        self._score = score

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401, ARG002 - JSON, of which a part is scored
        return self._score(found, self.rules)


def scorer(*, require: Callable[[Rules], object] | None = None) -> Callable[[Score], Prepare]:
    """Make a scorer of a function of the answer's part and the rules; ``require`` raises ValueError for unfit rules."""

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
        reason += f"; {lacking}: " + ", ".join(map(shown, missed))
    return Scored(1.0 - len(missed) / of, passed=not missed, reason=reason)


def is_case_sensitive(rules: Rules, *, default: bool) -> bool:
    """Whether upper and lower case differ: by the evaluator, else by what is expected."""
    options = (rules.evaluator.case_sensitive, rules.expected.case_sensitive)
    return next((one for one in options if one is not None), default)


def fold(text: str, rules: Rules, *, sensitive: bool) -> str:
    """Return the form in which a text is compared; ``sensitive`` is the default for its case."""
    sensitive = is_case_sensitive(rules, default=sensitive)
    return folded(text, case_sensitive=sensitive, normalize=rules.evaluator.normalize)
