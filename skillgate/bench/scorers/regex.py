"""Patterns: the share of those that are found in the answer's text; all of them pass.

A pattern can take for ever on a text that its author did not think of, so it is tried in a process that can be ended.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import part, require_path, searched, shown
from skillgate.bench.pointer import NothingThere
from skillgate.bench.ports import Scored, UnscoredError
from skillgate.errors import IncompleteError
from skillgate.model.bench_result import ErrorKind
from skillgate.process import run

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Evaluator, Task

POSITION = 3
LIMIT_S = 5.0  # where the evaluator names no limit
_TRY = """\
import json, re, sys
asked = json.load(sys.stdin)
flags = 0 if asked["case"] else re.IGNORECASE
print(json.dumps([re.search(pattern, asked["text"], flags) is not None for pattern in asked["patterns"]]))
"""


def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> Regex:  # noqa: ARG001 - as every scorer
    """Make ready to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    require_path(rules.evaluator)
    sensitive = rules.evaluator.case_sensitive
    if sensitive is None:
        sensitive = rules.expected.case_sensitive
    return Regex(rules.expected.patterns, rules.evaluator, case_sensitive=sensitive is not False)


class Regex:
    """Looks for patterns."""

    def __init__(self, patterns: tuple[str, ...], evaluator: Evaluator, *, case_sensitive: bool) -> None:
        self._patterns = patterns
        self._evaluator = evaluator
        self._case_sensitive = case_sensitive
        self._limit_s = evaluator.timeout_ms / 1000 if evaluator.timeout_ms else LIMIT_S

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer: the share of patterns that are found."""
        try:
            text = searched(part(output, self._evaluator), self._evaluator.scope)
        except NothingThere as missing:
            return Scored(0.0, passed=False, reason=f"the answer has nothing at {missing}")
        hits = self._hits(text)
        missed = [pattern for pattern, hit in zip(self._patterns, hits, strict=True) if not hit]
        score = 1.0 - len(missed) / len(hits)
        reason = f"{len(hits) - len(missed)} of {len(hits)} patterns"
        if missed:
            reason += "; not found: " + ", ".join(shown(pattern) for pattern in missed)
        return Scored(score, passed=not missed, reason=reason)

    def _hits(self, text: str) -> list[bool]:
        asked = json.dumps({"patterns": self._patterns, "text": text, "case": self._case_sensitive})
        argv = [sys.executable, "-I", "-S", "-c", _TRY]
        try:
            done = run(argv, cwd=os.path.dirname(sys.executable), stdin=asked.encode(), timeout_s=self._limit_s)  # noqa: PTH120
        except IncompleteError as error:
            raise UnscoredError(
                ErrorKind.SCORER, f"the patterns were not decided within {self._limit_s:g} s on this answer: {error}"
            ) from error
        if done.returncode:
            raise UnscoredError(ErrorKind.SCORER, "the patterns could not be tried on this answer")
        found: list[bool] = json.loads(done.stdout)
        return found
