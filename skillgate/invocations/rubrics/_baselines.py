"""What a task of each category is expected to take.

Source: the rubric's table of baselines. Its keys differ by category (tokens per line, per insight, …); here they are
the same (R1).
"""

from __future__ import annotations

from typing import NamedTuple


class Baseline(NamedTuple):
    """What is expected of one category.

    Attributes:
        tokens_per_unit: for each ``unit`` of output.
        calls_per_unit: tool calls for each ``call_unit`` of work.
        time_ms: for one task, however large (R7).
    """

    category: str
    tokens_per_unit: int
    unit: str
    calls_per_unit: int
    call_unit: str
    time_ms: int


_ALL = (
    Baseline("code_generation", 50, "lines of code", 3, "files changed", 30_000),
    Baseline("analysis", 200, "insights", 5, "analyses", 20_000),
    Baseline("design", 150, "components", 4, "designs", 45_000),
    Baseline("research", 100, "findings", 8, "searches", 60_000),
)
BASELINES = {baseline.category: baseline for baseline in _ALL}
CODE = BASELINES["code_generation"]
_OTHERWISE = BASELINES["analysis"]


def baseline_of(category: str | None) -> Baseline:
    """Give the baseline of a category; of one that the rubric does not know, or none, that of analysis (R1)."""
    return _OTHERWISE if category is None else BASELINES.get(category, _OTHERWISE)
