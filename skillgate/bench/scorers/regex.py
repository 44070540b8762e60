"""Patterns: the share of those that are found in the answer's text; all of them pass.

A pattern can take for ever on a text that its author did not think of, so it is tried in a process that can be ended.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import searched
from skillgate.bench.ports import UnscoredError
from skillgate.bench.scorers._scorer import is_case_sensitive, scorer, share
from skillgate.errors import IncompleteError
from skillgate.model.bench_result import ErrorKind
from skillgate.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.bench.ports import Rules, Scored
    from skillgate.model.benchmark import Expected

POSITION = 3
NEEDS = ("expectedOutput.patterns",)
LIMIT_S = 5.0  # where the evaluator names no limit
_TRY = """\
import json, re, sys
asked = json.load(sys.stdin)
flags = 0 if asked["case"] else re.IGNORECASE
print(json.dumps([re.search(pattern, asked["text"], flags) is not None for pattern in asked["patterns"]]))
"""


def check(expected: Expected) -> Iterator[str]:
    """Say which patterns are none."""
    for index, pattern in enumerate(expected.patterns):
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            yield f"expectedOutput.patterns[{index}]: no pattern of Python's re: {error}"


@scorer()
def regex(found: Any, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    """Score the share of patterns that are found."""
    patterns = rules.expected.patterns
    hits = _hits(searched(found, rules.evaluator.scope), rules)
    missed = [pattern for pattern, hit in zip(patterns, hits, strict=True) if not hit]
    return share(missed, len(patterns), "patterns; not found")


def _hits(text: str, rules: Rules) -> list[bool]:
    sensitive = is_case_sensitive(rules, default=True)
    asked = json.dumps({"patterns": rules.expected.patterns, "text": text, "case": sensitive})
    argv = [sys.executable, "-I", "-S", "-c", _TRY]
    limit_s = rules.evaluator.timeout_ms / 1000 if rules.evaluator.timeout_ms else LIMIT_S
    try:
        done = run(argv, cwd=os.path.dirname(sys.executable), stdin=asked.encode(), timeout_s=limit_s)  # noqa: PTH120
    except IncompleteError as error:
        raise UnscoredError(
            ErrorKind.SCORER, f"the patterns were not decided within {limit_s:g} s on this answer: {error}"
        ) from error
    if done.returncode:
        raise UnscoredError(ErrorKind.SCORER, "the patterns could not be tried on this answer")
    found: list[bool] = json.loads(done.stdout)
    return found
