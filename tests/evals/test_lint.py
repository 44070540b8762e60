"""What each rule for eval sets finds, and where it is silent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import binomtest

from skillgate.evals.rules import RULES, lower_bound, needed
from skillgate.model.finding import Severity
from tests.evals.sets import SHOULD, SHOULD_NOT, findings, labelled, places, write_evals

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
FAR = ("Tell me a joke", "What is the capital of France", "Book a flight", "Play music", "Who won", "Call mum")
GERMAN = tuple(f"Füge die beiden Tabellen zusammen, Fassung {number}" for number in range(6))


def triggers(should: Sequence[str] = SHOULD, should_not: Sequence[str] = SHOULD_NOT) -> dict[str, Any]:
    """Give the files of a skill with one trigger set."""
    return {"t.json": labelled(tuple(should), tuple(should_not))}


def task(prompt: str = "Merge them", **more: Any) -> dict[str, Any]:
    """Give the files of a skill with one task."""
    return {"evals.json": {"evals": [{"prompt": prompt, **more}]}}


def case(grader: str) -> dict[str, Any]:
    """Give the files of a plugin case with one grader."""
    return {"c/prompt.md": "Merge them\n", "c/graders/g.md": grader}


def runs(*, met: Sequence[tuple[int, str, int]]) -> dict[str, Any]:
    """Give a benchmark: each run's case, arm, and how many of two expectations it met."""
    made = [
        {"eval_id": one, "configuration": arm, "result": {"passed": passed, "total": 2}} for one, arm, passed in met
    ]
    return {"benchmark.json": {"runs": made, "run_summary": {}}}


BOTH = ("with_skill", "without_skill")
FIRES: list[tuple[str, dict[str, Any], str, list[tuple[str, int]]]] = [
    ("NO_NEAR_MISSES", triggers(should_not=()), "always loaded passes", [("t.json", 3)]),
    ("NO_NEAR_MISSES", triggers(should_not=FAR), "none of the 6 prompts", [("t.json", 27)]),
    ("UNBALANCED", triggers(should=()), "never loaded passes", [("t.json", 3)]),
    ("UNBALANCED", triggers(should=SHOULD[:1], should_not=SHOULD_NOT[:4]), "as much as 4.0", [("t.json", 3)]),
    ("DUPLICATE_PROMPT", triggers(should=(*SHOULD, SHOULD[0].upper() + " !")), "on line 3", [("t.json", 27)]),
    (
        "DUPLICATE_PROMPT",
        {"evals.json": {"evals": [{"prompt": "Merge"}, {"prompt": "merge.", "files": []}]}},
        "already",
        [("evals.json", 7)],
    ),
    ("CONTRADICTORY_LABEL", triggers(should_not=(*SHOULD_NOT, SHOULD[1])), "should not trigger here", [("t.json", 51)]),
    ("LEAKED_ANSWER", triggers(should=("Use merge-sheets on a.csv", *SHOULD)), "names the skill", [("t.json", 3)]),
    ("LEAKED_ANSWER", triggers(should=("/merge-sheets a.csv b.csv", *SHOULD)), "names the skill", [("t.json", 3)]),
    ("LEAKED_ANSWER", triggers(should=("Apply the merge sheets skill", *SHOULD)), "names the", [("t.json", 3)]),
    (
        "LEAKED_ANSWER",
        triggers(should=("clean and merge CSV files into one table", *SHOULD)),
        "appears in the description",
        [("t.json", 3)],
    ),
    (
        "LEAKED_ANSWER",
        task("Ask before a column is renamed, since other people rely on the names", expected_output="x"),
        "appears in SKILL.md",
        [("evals.json", 4)],
    ),
    (
        "LEAKED_ANSWER",
        task("Merge them so that the table has fourteen rows", expected_output="The table has fourteen rows."),
        "its expected output word for word",
        [("evals.json", 4)],
    ),
    (
        "LEAKED_ANSWER",
        task("Merge them; the first column is a date", expectations=["The first column is a date"]),
        "contains this assertion",
        [("evals.json", 6)],
    ),
    ("WEAK_ASSERTION", task(), "no answer can fail", [("evals.json", 4)]),
    ("WEAK_ASSERTION", task(expectations=["The output is good"]), "can be checked", [("evals.json", 6)]),
    ("WEAK_ASSERTION", task(expectations=["Works correctly", "x y"]), "can be checked", [("evals.json", 6)]),
    ("WEAK_ASSERTION", task(expectations=["The answer is at least 200 words long"]), "length", [("evals.json", 6)]),
    ("WEAK_ASSERTION", task(expectations=["Output is not empty"]), "length", [("evals.json", 6)]),
    ("WEAK_ASSERTION", task(expectations=[" "]), "empty", [("evals.json", 6)]),
    ("WEAK_ASSERTION", case("---\ntype: regex\n---\n.*\n"), "always passes", [("c/graders/g.md", 1)]),
    ("WEAK_ASSERTION", case("---\ntype: tool_used\ntool: Read\nmin: 0\n---\n"), "Read", [("c/graders/g.md", 1)]),
    ("WEAK_ASSERTION", case("---\ntype: llm\n---\nIs it helpful?\n"), "can be checked", [("c/graders/g.md", 1)]),
    (
        "SATURATED",
        runs(met=[(one, arm, 2) for one in (1, 2) for arm in BOTH]),
        "all 2 cases pass in every run of both arms",
        [("benchmark.json", 3)],
    ),
    (
        "SATURATED",
        runs(
            met=[(1, BOTH[0], 2), (1, BOTH[1], 0), (2, BOTH[0], 1), (2, BOTH[1], 1), (3, BOTH[0], 0), (3, BOTH[1], 0)]
        ),
        "2 of 3 cases fail in every run",
        [("benchmark.json", 19)],
    ),
    ("SATURATED", runs(met=[(one, BOTH[0], 2) for one in (1, 2, 3)]), "would look the same", [("benchmark.json", 3)]),
    ("UNREAD", {"t.json": "{"}, "invalid JSON", [("t.json", 1)]),
    ("TOO_SMALL", triggers(), "17 are needed to show 0.8", [("t.json", 3), ("t.json", 27)]),
    ("TOO_SMALL", task(expectations=["x y"]), "1 task: ", [("evals.json", 4)]),
]
SILENT: list[tuple[str, dict[str, Any]]] = [
    ("NO_NEAR_MISSES", triggers()),
    ("NO_NEAR_MISSES", triggers(should_not=(*FAR, "Draw the table"))),
    ("NO_NEAR_MISSES", triggers(should=GERMAN, should_not=FAR)),  # words cannot tell across languages
    ("NO_NEAR_MISSES", task()),
    ("UNBALANCED", triggers()),
    ("UNBALANCED", triggers(should=SHOULD[:1], should_not=SHOULD_NOT[:3])),
    ("UNBALANCED", triggers(should_not=())),  # told by NO_NEAR_MISSES
    ("DUPLICATE_PROMPT", triggers()),
    ("DUPLICATE_PROMPT", triggers(should_not=(*SHOULD_NOT, SHOULD[1]))),  # told by CONTRADICTORY_LABEL
    ("DUPLICATE_PROMPT", {"evals.json": {"evals": [{"prompt": "a", "files": ["x"]}, {"prompt": "a", "files": ["y"]}]}}),
    ("CONTRADICTORY_LABEL", triggers(should=(*SHOULD, SHOULD[0]))),
    ("LEAKED_ANSWER", triggers()),
    ("LEAKED_ANSWER", triggers(should=("Merge sheets one and two of this file", *SHOULD))),  # plain words
    ("LEAKED_ANSWER", triggers(should=("Open src/merge-sheets.py and mend it", *SHOULD))),  # the name of a file
    ("LEAKED_ANSWER", triggers(should_not=("Rename the merge-sheets skill", *SHOULD_NOT))),  # hard, not leaked
    ("LEAKED_ANSWER", task("Merge a.csv into b.csv", expectations=["Merge"], expected_output="b.csv")),
    ("WEAK_ASSERTION", task(expected_output="One table with the rows of both")),
    ("WEAK_ASSERTION", task(expectations=["The output has 14 rows", "The file is valid JSON", "It names both files"])),
    ("WEAK_ASSERTION", case("---\ntype: regex\n---\n14 rows\n")),
    ("WEAK_ASSERTION", case("---\ntype: regex\nmatch: not_contains\n---\n.+\n")),
    ("WEAK_ASSERTION", case("---\ntype: tool_used\ntool: Write\nmin: 0\nmax: 0\n---\n")),
    ("SATURATED", runs(met=[(one, arm, 2 * (arm == BOTH[0])) for one in (1, 2) for arm in BOTH])),
    ("SATURATED", runs(met=[(one, BOTH[0], 2) for one in (1, 2)])),  # two of two are no surprise
    ("SATURATED", runs(met=[(1, BOTH[0], 2), (2, BOTH[0], 2), (3, BOTH[0], 1)])),
    ("UNREAD", triggers()),
    ("TOO_SMALL", triggers([f"do {n}" for n in range(17)], [f"leave {n}" for n in range(17)])),
    ("TOO_SMALL", {"README.md": "nothing"}),
]


@pytest.mark.parametrize(("rule", "files", "words", "expected"), FIRES)
def test_a_rule_fires(
    tmp_path: Path, rule: str, files: dict[str, Any], words: str, expected: list[tuple[str, int]]
) -> None:
    found = findings(write_evals(tmp_path, files))
    assert places(found, rule) == expected
    assert any(words in one.message for one in found if one.id == rule), found


@pytest.mark.parametrize(("rule", "files"), SILENT)
def test_a_rule_is_silent(tmp_path: Path, rule: str, files: dict[str, Any]) -> None:
    found = findings(write_evals(tmp_path, files))
    assert [one for one in found if one.id == rule] == []


@pytest.mark.parametrize("count", [1, 2, 5, 10, 16, 17, 58, 59, 400])
def test_the_lower_bound_is_that_of_the_exact_interval(count: int) -> None:
    exact = binomtest(count, count).proportion_ci(confidence_level=0.95, method="exact").low
    assert lower_bound(count) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.001, 0.025, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999])
def test_as_many_as_needed_reach_the_threshold_and_one_fewer_does_not(threshold: float) -> None:
    count = needed(threshold)
    assert lower_bound(count) >= threshold
    assert count == 1 or lower_bound(count - 1) < threshold


def test_no_passes_show_nothing() -> None:
    assert lower_bound(0) == 0


def test_a_threshold_that_is_asked_for_makes_a_small_set_an_error(tmp_path: Path) -> None:
    skill = write_evals(tmp_path, triggers())
    assert {one.severity for one in findings(skill) if one.id == "TOO_SMALL"} == {Severity.WARNING}
    asked = [one for one in findings(skill, threshold=0.9) if one.id == "TOO_SMALL"]
    assert {one.severity for one in asked} == {Severity.ERROR}
    assert all("36 are needed to show 0.9" in one.message for one in asked)
    assert not [one for one in findings(skill, threshold=0.5) if one.id == "TOO_SMALL"]


def test_few_prompts_of_a_label_are_said_not_to_be_used(tmp_path: Path) -> None:
    few = findings(write_evals(tmp_path / "few", triggers(should_not=SHOULD_NOT[:4])))
    assert all("score generates its own prompts" in one.message for one in few if one.id == "TOO_SMALL")
    enough = findings(write_evals(tmp_path / "enough", triggers()))
    assert not any("its own" in one.message for one in enough)


def test_repeated_prompts_do_not_make_a_set_larger(tmp_path: Path) -> None:
    prompts = [SHOULD[0]] * 20
    found = findings(write_evals(tmp_path, triggers(should=prompts)))
    assert any(one.message.startswith("1 prompt that should trigger") for one in found if one.id == "TOO_SMALL")


def test_the_answer_may_be_long_and_hostile(tmp_path: Path) -> None:
    hostile = "\x1b[2J‮" + "merge " * 2_000 + "-" * 5_000
    found = findings(write_evals(tmp_path, triggers(should=(hostile, hostile, *SHOULD))))
    assert places(found, "DUPLICATE_PROMPT") == [("t.json", 7)]


def test_rules_are_documented_each_under_its_own_heading() -> None:
    page = (ROOT / "docs/how-to/eval-sets.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^### ([A-Z_]+)$", page) == [rule.id for rule in RULES]
