"""Score the share of patterns found in the answer's text; all must be found to pass.

A pattern can take forever on an unexpected text, so it is tried in a process that can be stopped.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import searched
from skillgate.bench.ports import UnscoredError
from skillgate.bench.scorers import is_case_sensitive, scorer, share
from skillgate.errors import IncompleteError
from skillgate.model.bench import ErrorKind
from skillgate.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.bench.ports import Rules, Scored
    from skillgate.model.benchmark import Expected

POSITION = 3
NEEDS = ("expectedOutput.patterns",)
VALUES = "values"
LIMIT_S = 5.0  # default
_TRY = """\
import json, re, sys
request = json.load(sys.stdin)
flags = 0 if request["case"] else re.IGNORECASE
print(json.dumps([re.search(pattern, request["text"], flags) is not None for pattern in request["patterns"]]))
"""


def check(expected: Expected) -> Iterator[str]:
    """Yield patterns that do not compile."""
    for index, pattern in enumerate(expected.patterns):
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            yield f"expectedOutput.patterns[{index}]: invalid regular expression: {error}"


@scorer(scope=VALUES)
def regex(found: Any, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    """Score the share of patterns found."""
    patterns, text = rules.expected.patterns, searched(found, rules.evaluator.scope or VALUES)
    request = {"patterns": patterns, "text": text, "case": is_case_sensitive(rules, default=True)}
    argv = [sys.executable, "-I", "-S", "-c", _TRY]
    limit_s = rules.timeout_s(LIMIT_S)
    cwd = os.path.dirname(sys.executable)  # noqa: PTH120
    try:
        done = run(argv, cwd=cwd, stdin=json.dumps(request).encode(), timeout_s=limit_s)
    except IncompleteError as error:
        words = f"matching the patterns on this answer took more than {limit_s:g} s: {error}"
        raise UnscoredError(ErrorKind.SCORER, words) from error
    if done.returncode:
        raise UnscoredError(ErrorKind.SCORER, "the patterns could not be matched on this answer")
    missed = [pattern for pattern, hit in zip(patterns, json.loads(done.stdout), strict=True) if not hit]
    return share(missed, len(patterns), "patterns; not found")
