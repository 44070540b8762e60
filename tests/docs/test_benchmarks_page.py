"""The tables of the page about benchmarks name what there is, and its tasks and scorer do what it says."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING

from skillgate.bench.documents import packaged_ids
from skillgate.bench.formats import FORMATS
from skillgate.model.benchmark import CHECKS, Evaluator
from skillgate.model.score import key_of
from skillgate.registry import Room
from skillgate.settings import BOUNDS, of_group
from tests.bench.made import answering, benchmark, run, skill
from tests.docs.page import Page

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("docs/how-to/benchmarks.md")


def test_the_page_has_a_row_for_each_scorer_and_names_each_gate() -> None:
    section = PAGE.section("Scorers")
    rows = re.findall(r"^\| `([a-z_]+)`", section, flags=re.MULTILINE)
    assert sorted(rows) == list(Room("skillgate.bench.scorers").names())
    assert all(f"`{name}`" in PAGE.text for name in Room("skillgate.bench.adapters").names())
    assert all(f"`--{gate.key}`" in PAGE.text for gate in of_group(BOUNDS))


def test_the_scorer_of_the_page_scores_the_task_of_the_page(tmp_path: Path) -> None:
    tasks = [json.loads(block) for block in re.findall(r"```json\n(\{\"id\".*?)```", PAGE.text, flags=re.DOTALL)]
    (own,) = (task for task in tasks if task["expectedOutput"]["type"] == "custom")
    assert [task["id"] for task in tasks] == ["labels", "unknown_zone", "tone", "sorted"]
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.text, flags=re.DOTALL)
    file = tmp_path / own["evaluator"]["customScorerPath"].partition(":")[0]
    file.parent.mkdir()
    file.write_text(code, encoding="utf-8")
    skill(tmp_path / "s", answering("sorted(data['items'])"))
    benchmark(tmp_path / "b.json", own)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    (result,) = done.json["reports"][0]["taskResults"]
    assert (result["status"], result["scorerType"]) == ("pass", "custom"), done.err


def test_the_page_has_a_row_for_each_key_of_an_evaluator_that_no_other_section_is_about() -> None:
    section = PAGE.section("What a scorer looks at")
    rows = re.findall(r"^\| `([A-Za-z]+)`", section, flags=re.MULTILINE)
    keys = {key_of(Evaluator, field.name) for field in fields(Evaluator)}
    assert {*rows, "type", "model", "command", "customScorerPath"} == keys
    assert all(f"`evaluator.{key}`" in PAGE.text or f'"{key}"' in PAGE.text for key in keys - set(rows))


def test_the_scope_and_form_of_the_pages_task_are_what_the_page_says(tmp_path: Path) -> None:
    (labels,) = (
        json.loads(block) for block in re.findall(r'```json\n(\{"id": "labels".*?)```', PAGE.text, flags=re.DOTALL)
    )
    skill(tmp_path / "s", answering("{'label': 'Cafe\\u0301', 'n': 1}"))  # an accent of its own
    plain = {**labels, "id": "plain", "evaluator": {}}
    benchmark(tmp_path / "b.json", labels, plain)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    assert [one["status"] for one in done.json["reports"][0]["taskResults"]] == ["pass", "fail"], done.err


def test_the_page_names_every_format_that_is_checked() -> None:
    section = PAGE.section("Schemas")
    assert all(f"`{name}`" in section for name in FORMATS)


def test_the_page_has_a_row_for_each_packaged_benchmark_check_and_server() -> None:
    section = PAGE.section("The packaged benchmarks")
    rows = {word for row in re.findall(r"^\| (.+?) \|", section, flags=re.MULTILINE) for word in row.split("`")[1::2]}
    names = {*packaged_ids(), *CHECKS, *Room("skillgate.bench.servers").names()}
    assert rows == {*names, "checkType"}
