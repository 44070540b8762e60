"""The ready benchmarks: every expected answer is computed a second time, and only a skill that knows passes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import ValidationError

from skillgate.bench.documents import packaged
from tests.bench.independent import data, dates, extraction, text, tools
from tests.bench.made import answering, run, skill

if TYPE_CHECKING:
    from pathlib import Path

SOLVERS: dict[str, dict[str, Any]] = {
    "text-processing": text.SOLVERS,
    "data-transformation": data.SOLVERS,
    "dates-and-units": dates.SOLVERS,
    "structured-extraction": extraction.SOLVERS,
    "tool-selection": tools.SOLVERS,
}
LEVELS = ("easy", "medium", "hard", "refusal")
TASKS = [pytest.param(name, task, id=task.id) for name in SOLVERS for task in packaged(name).benchmark.tasks]


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, also by type: 1 is 1.0 and not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def solved(name: str, inputs: Any) -> Any:
    return SOLVERS[name][inputs["operation"]](inputs)


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_an_independent_computation_agrees(name: str, task: Any) -> None:
    calls = task.steps or (task,)
    if task.steps:
        *calls, refused = task.steps
        with pytest.raises((ValueError, ValidationError)):
            solved(name, refused.input_data)
    for call in calls:
        answer = solved(name, call.input_data)
        assert is_same(answer, call.expected_output.value), answer


@pytest.mark.parametrize("name", SOLVERS)
def test_a_benchmark_has_tasks_of_every_difficulty_and_no_answer_twice(name: str) -> None:
    tasks = packaged(name).benchmark.tasks
    assert 15 <= len(tasks) <= 30
    counts = Counter(tag for task in tasks for tag in task.tags if tag in LEVELS)
    assert sum(counts.values()) == len(tasks)
    assert all(counts[level] >= 2 for level in LEVELS), counts
    assert {(task.steps or (task,))[0].input_data["operation"] for task in tasks} == {*SOLVERS[name]}
    answers = [task.expected_output.value for task in tasks if not task.steps]
    assert not [one for place, one in enumerate(answers) if any(is_same(one, other) for other in answers[:place])]
    for task in tasks:
        assert (task.expected_output.type == "error") == ("refusal" in task.tags) == bool(task.steps)


REFUSING = """print('{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}')"""


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", REFUSING], ids=["exit code", "error"])
def test_refusing_everything_passes_nothing(tmp_path: Path, name: str, code: str) -> None:
    skill(tmp_path / "s", code)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", name, "--json")
    summary = done.json["reports"][0]["summary"]
    assert (summary["completionRate"], summary["partialScore"]) == (0, 0)


MEDIOCRE = """\
import textwrap
def slug(data):
    return "-".join(data["text"].lower().strip("!").split())
def wrap(data):
    return textwrap.wrap(data["text"], data["width"])
def fill(data):
    for name, value in data["values"].items():
        data["template"] = data["template"].replace("{" + name + "}", value)
    return data["template"]
def add(data):
    year, month, day = data["date"].split("-")
    months = int(year) * 12 + int(month) - 1 + data["months"]
    return f"{months // 12}-{months % 12 + 1:02d}-{day}"
def convert(data):
    factors = {"mi": 1609.344, "km": 1000, "mm": 0.001, "cm": 0.01, "KiB": 1024, "MB": 1e6}
    amount = float(data["amount"]) * factors[data["from"]] / factors[data["to"]]
    return f"{amount:.{data['decimals']}f}"
DONE = {"slug": slug, "wrap": wrap, "fill-template": fill, "add-months": add, "convert": convert}
""" + answering("DONE[data['operation']](data)")
"""Looks right, and knows neither Unicode, nor braces, nor the ends of months, nor exact rounding."""


def test_a_mediocre_skill_passes_the_easy_tasks_and_not_the_hard_ones(tmp_path: Path) -> None:
    skill(tmp_path / "s", MEDIOCRE)
    passed = set()
    for name in ("text-processing", "dates-and-units"):
        (report,) = run(tmp_path, "eval", "--skills", "s", "--benchmark", name, "--json").json["reports"]
        passed |= {one["taskId"] for one in report["taskResults"] if one["status"] == "pass"}
    easy = {"slug-title", "wrap-plain", "template-values", "months-forward", "convert-miles"}
    assert passed == easy | {"wrap-refuses-width"}
