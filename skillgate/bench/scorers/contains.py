"""Keywords: the share of those that the answer's text holds; all of them pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import folded, part, require_path, searched, shown
from skillgate.bench.pointer import NothingThere
from skillgate.bench.ports import Scored

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Evaluator, Task

POSITION = 2


def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> Contains:  # noqa: ARG001 - as every scorer
    """Make ready to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    require_path(rules.evaluator)
    sensitive = rules.evaluator.case_sensitive
    if sensitive is None:
        sensitive = rules.expected.case_sensitive
    return Contains(rules.expected.keywords, rules.evaluator, case_sensitive=bool(sensitive))


class Contains:
    """Looks for keywords."""

    def __init__(self, keywords: tuple[str, ...], evaluator: Evaluator, *, case_sensitive: bool) -> None:
        self._keywords = keywords
        self._evaluator = evaluator
        self._case_sensitive = case_sensitive

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer: the share of keywords that are there."""
        try:
            text = self._folded(searched(part(output, self._evaluator), self._evaluator.scope))
        except NothingThere as missing:
            return Scored(0.0, passed=False, reason=f"the answer has nothing at {missing}")
        missed = [word for word in self._keywords if self._folded(word) not in text]
        score = 1.0 - len(missed) / len(self._keywords)
        reason = f"{len(self._keywords) - len(missed)} of {len(self._keywords)} keywords"
        if missed:
            reason += "; missing: " + ", ".join(shown(word) for word in missed)
        return Scored(score, passed=not missed, reason=reason)

    def _folded(self, text: str) -> str:
        return folded(text, case_sensitive=self._case_sensitive, normalize=self._evaluator.normalize)
