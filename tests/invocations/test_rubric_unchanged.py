"""Scores and their parts stay what they are: a digest over random records, one for each version of the rubric.

A change of the rubric needs a new version. A new explanation changes the digest; then compare the points alone.
"""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Accuracy, Ending
from tests.invocations.rubric_records import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.invocation import Invocation

RECORDS = 4_000
FLAGS = (None, True, False)
SIZES = (None, 0, 0.5, 1, 3, 40, 250.5)
COUNTS = (None, 0, 1, 2, 3, 30)
VALUES: dict[str, tuple[Any, ...]] = {
    "skill_category": (None, "code_generation", "analysis", "design", "research", "other"),
    "output_type": (None, "code", "report"),
    "ending": (*(None,) * 12, *Ending),
    "accuracy": (None, None, *Accuracy),
    "rating": (None, "positive", "negative"),
    "duration_ms": (None, 0, 1, 900.5, 20_000, 90_000),
    "tokens_used": (None, 0, 1, 150, 2_000, 90_000),
    "user_edit_ratio": (None, 0, 0.04, 0.05, 0.3, 1),
    **dict.fromkeys(("crashed", "recovered", "partial_completion", "workaround_used", "failure_explained"), FLAGS),
    **dict.fromkeys(("output_validated", "linter_passed", "types_valid", "tests_passed", "feedback_given"), FLAGS),
    **dict.fromkeys(("user_accepted", "user_used_output"), FLAGS),
    **dict.fromkeys(("output_size", "files_changed", "units", "time_units", "requested_items"), SIZES),
    "delivered_items": SIZES,
    **dict.fromkeys(("error_count", "tool_call_kinds", "tool_call_count", "tool_calls_most"), COUNTS),
    **dict.fromkeys(("follow_up_count", "follow_up_open"), COUNTS),
}


def records() -> Iterator[Invocation]:
    chance = random.Random(20261128)
    for _ in range(RECORDS):
        share = chance.random()  # of the fields that are known
        known = {
            key: values[int(chance.random() * len(values))] for key, values in VALUES.items() if chance.random() < share
        }
        yield EMPTY._replace(**known)


@pytest.mark.parametrize(
    ("version", "digest"),
    [("1.0", "69830ad10a1fd45ccfa9b1b7e2436659"), ("1.1", "98b9acce9ba16912a21c9726af44028b")],
)
def test_random_records_score_as_before(version: str, digest: str) -> None:
    score, explain = scorer(version), explainer(version)
    found = hashlib.sha256()
    for record in records():
        found.update(repr((tuple(score(record)), [tuple(part) for part in explain(record)])).encode())
    assert found.hexdigest()[:32] == digest
