"""The packaged benchmarks: their reference skills complete them, and skills that know nothing do not."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.documents import packaged, packaged_ids
from skillgate.model.benchmark import State
from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill
from tests.bench.test_servers import served

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples/executable"
SOLVED = {
    "coding-easy": ("calculator", 20),
    "coding-medium": ("algorithms", 10),
    "web-search-basic": ("search-notes", 8),
    "api-integration": ("api-client", 10),
    "toolcall-offline": ("tool-caller", 10),
    "text-processing": ("text-tools", 22),
    "data-transformation": ("data-shaper", 22),
    "dates-and-units": ("dates-and-units", 24),
    "structured-extraction": ("extractor", 21),
    "tool-selection": ("tool-selector", 21),
}
ALLOWED = {**dict.fromkeys(SOLVED, 1), "coding-easy": 2, "web-search-basic": 0}
"""How many tasks one constant may pass: an answer that is right once, and two palindromes that are none."""


def passed(report: Any) -> list[str]:
    return [one["taskId"] for one in report["taskResults"] if one["status"] == "pass"]


@pytest.mark.parametrize("name", SOLVED)
def test_a_reference_skill_completes_it(tmp_path: Path, name: str) -> None:
    example, count = SOLVED[name]
    done = run(tmp_path, "eval", "--skills", str(EXAMPLES / example), "--benchmark", name, "--json")
    (report,) = done.json["reports"]
    assert (done.code, report["summary"]["completionRate"], len(report["taskResults"])) == (0, 1, count), [
        one for one in report["taskResults"] if one["status"] != "pass"
    ]


def test_all_but_the_static_and_the_placeholders_have_one() -> None:
    known = {name: packaged(name).benchmark for name in packaged_ids()}
    active = {name for name, one in known.items() if one.status is State.ACTIVE}
    assert active == {*SOLVED, "skill-quality"}
    assert known["api-integration"].scoring_method.value == "weighted_mean"
    assert len({task.weight for task in known["api-integration"].tasks}) > 1


def test_knowing_nothing_passes_no_more_than_each_says_of_itself(tmp_path: Path) -> None:
    done = run(tmp_path, "bench", "check", "--json")
    assert done.code == 0, done.out
    rows = {(row["benchmark"], row["probe"]): (len(row["passed"]), row["allowed"]) for row in done.json["probes"]}
    for name in packaged_ids():
        assert rows[name, "null"] == rows[name, "echo"] == (0, 0)
        assert rows[name, "constant"] == (ALLOWED.get(name, 0),) * 2


def test_the_page_lists_each_with_its_tasks_and_what_a_constant_passes(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/benchmarks.md").read_text(encoding="utf-8")
    table = page.partition("| a constant passes |")[2].partition("\n\n")[0]
    rows: dict[str, tuple[str, str, str]] = {}
    for line in table.splitlines()[2:]:
        names, tasks, _, constant, by = (cell.strip() for cell in line.split("|")[1:-1])
        rows |= dict.fromkeys(re.findall("`([^`]+)`", names), (tasks, constant, by))
    assert rows.keys() == {*packaged_ids()}
    for name in packaged_ids():
        tasks, constant, by = rows[name]
        assert (tasks, constant) == (str(len(packaged(name).benchmark.tasks) or "—"), str(ALLOWED.get(name, 0)))
        assert name not in SOLVED or by == f"`examples/executable/{SOLVED[name][0]}`"


def test_they_are_valid_files(tmp_path: Path) -> None:
    files = [str(path) for path in sorted((ROOT / "skillgate/bench/builtin").glob("*.json"))]
    done = run(tmp_path, "bench", "validate", *files)
    assert (done.code, done.out) == (0, f"{len(files)} of {len(files)} files valid\n")


@pytest.mark.parametrize("name", sorted(SOLVED))
@pytest.mark.parametrize("answer", ["None", "data", "'no results'", "{}", "{'result': data}", "{'tool': None}"])
def test_a_skill_that_knows_nothing_passes_at_most_what_is_allowed(tmp_path: Path, name: str, answer: str) -> None:
    skill(tmp_path / "s", answering(answer))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", name, "--json")
    allowed = {"web-search-basic": ["nothing-there"]} if answer == "'no results'" else {}
    assert passed(done.json["reports"][0]) == allowed.get(name, [])


DUMPING = answering("{'result': open(data['corpus']['path']).read() + ' no results', 'source': 'all of it'}")


def test_repeating_the_whole_corpus_is_no_search(tmp_path: Path) -> None:
    skill(tmp_path / "dump", DUMPING)
    bad = EXAMPLES / "search-first-words"
    done = run(tmp_path, "eval", "--skills", "dump", str(bad), "--benchmark", "web-search-basic", "--json")
    found = {report["skillId"]: report for report in done.json["reports"]}
    assert passed(found["dump"]) == []
    assert found["dump"]["summary"]["partialScore"] == 0
    assert found["search-first-words"]["summary"]["completionRate"] <= 0.25


def test_what_the_corpus_says_is_in_one_place_and_not_in_the_questions() -> None:
    documents = [json.loads(line) for line in (ROOT / "skillgate/bench/builtin/corpus.jsonl").read_text().splitlines()]
    assert len({one["id"] for one in documents}) == len({one["url"] for one in documents}) == 20
    for word in ("saffron", "left shoe", "toothache", "83", "Lower Thrace Mill", "Perpetua Lunt", "Twenty-three"):
        assert sum(word in one["text"] for one in documents) == 1
    text = " ".join(one["text"] for one in documents)
    questions = " ".join(str(task.input_data["query"]) for task in packaged("web-search-basic").benchmark.tasks)
    assert "Zabuldrine" in questions
    assert "Zabuldrine" not in text
    assert "saffron" not in questions


def test_a_partly_right_answer_has_part_of_the_score(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("{'result': 'It was Anselm Quiddy.'}"))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "web-search-basic", "--task-id", "two-clock", "--json")
    (result,) = done.json["reports"][0]["taskResults"]
    assert (result["status"], result["score"]) == ("fail", 0.5)


def test_the_search_skill_asks_the_server_where_there_is_no_file(tmp_path: Path) -> None:
    with served("corpus") as running:
        data = {"query": "For what do scribes want quillstone?", "corpus": {"url": running.url}}
        expected = {"type": "contains", "keywords": ["ink"]}
        benchmark(tmp_path / "b.json", {"id": "t", "inputData": data, "expectedOutput": expected})
        done = run(tmp_path, "eval", "--skills", str(EXAMPLES / "search-notes"), "--benchmark", "./b.json", "--json")
    assert passed(done.json["reports"][0]) == ["t"]


PAINT = {
    "name": "order_paint",
    "description": "Order cans of paint for the workshop",
    "parameters": {
        "type": "object",
        "properties": {
            "color": {"type": "string", "enum": ["red", "green"]},
            "cans": {"type": "integer", "description": "how many cans"},
            "gloss": {"type": "boolean", "description": "whether it is gloss paint"},
        },
        "required": ["color", "cans"],
    },
}


def test_the_tool_caller_reads_instructions_and_schemas_that_it_never_saw(tmp_path: Path) -> None:
    tools = [*packaged("toolcall-offline").benchmark.tasks[1].input_data["tools"], PAINT]

    def task(identifier: str, instruction: str, value: Any) -> dict[str, Any]:
        data = {"instruction": instruction, "tools": tools}
        return {"id": identifier, "inputData": data, "expectedOutput": {"type": "exact", "value": value}}

    paint = {"color": "green", "cans": 17}
    benchmark(
        tmp_path / "b.json",
        task("new-tool", "Order 17 cans of green paint.", {"tool": "order_paint", "arguments": paint}),
        task("new-words", "Start a timer that rings in 90 minutes, called \"bread\".",
             {"tool": "set_timer", "arguments": {"minutes": 90, "label": "bread"}}),
        task("nothing-given", "Order paint.", {"tool": None, "arguments": {}}),
    )  # fmt: skip
    done = run(tmp_path, "eval", "--skills", str(EXAMPLES / "tool-caller"), "--benchmark", "./b.json", "--json")
    assert passed(done.json["reports"][0]) == ["new-tool", "new-words", "nothing-given"]
