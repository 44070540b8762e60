"""What is read of the eval sets that skills bring, form by form, and what is said of the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.evals.loading import Loaded, load_json
from skillgate.evals.read import LEAST, MAX_CASES, MAX_FILES, MAX_UNREAD, MOST, read_evals, trigger_prompts
from skillgate.model.finding import Severity
from skillgate.skill.tree import DiskTree
from tests.evals.sets import SHOULD, SHOULD_NOT, labelled, read_set, write_evals

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")


def prompts(skill: Path) -> list[tuple[str, bool, str]] | None:
    """Give what the judge would be given."""
    found = trigger_prompts(DiskTree(str(skill)), "", skills=("merge-sheets",))
    return None if found is None else [(one.prompt, one.should_trigger, one.style) for one in found]


def test_a_list_of_queries_is_a_trigger_set_whatever_its_name(tmp_path: Path) -> None:
    skill = write_evals(tmp_path, {"anything.json": labelled()})
    found = read_set(skill)
    assert [case.prompt for case in found.triggers] == [*SHOULD, *SHOULD_NOT]
    assert [case.should_trigger for case in found.triggers] == [True] * 6 + [False] * 6
    lines = (skill / "evals/anything.json").read_text(encoding="utf-8").split("\n")
    for case in found.triggers:
        assert json.dumps(case.prompt) in lines[case.line - 1]
    assert found.unread == ()


@pytest.mark.parametrize("head", ["", "# ours\n", "---\n", "\n# two\n---\n\n"])
def test_our_own_form_is_a_list_of_prompts(tmp_path: Path, head: str) -> None:
    text = "- prompt: Put them together\n  should_trigger: true\n- prompt: 'Draw: it'\n  should_trigger: false\n"
    skill = write_evals(tmp_path, {"triggers.yaml": head + text + "  style: indirect\n  note: near\n"})
    found = read_set(skill)
    shift = head.count("\n")
    assert [(case.prompt, case.should_trigger, case.style, case.line - shift) for case in found.triggers] == [
        ("Put them together", True, "direct", 1),
        ("Draw: it", False, "indirect", 3),
    ]
    assert found.unread == ()


def test_our_own_form_may_stand_under_a_key(tmp_path: Path) -> None:
    skill = write_evals(
        tmp_path, {"triggers.yml": "triggers:\n  - prompt: Put them together\n    should_trigger: true\n"}
    )
    (case,) = read_set(skill).triggers
    assert (case.prompt, case.line) == ("Put them together", 2)


def test_tasks_are_read_with_either_word_for_what_they_are_held_to(tmp_path: Path) -> None:
    tasks = [
        {
            "id": 7,
            "prompt": "Merge",
            "expected_output": "a table",
            "files": ["evals/files/a.csv"],
            "expectations": ["x"],
        },
        {"prompt": "Clean", "assertions": [{"text": "y"}, "z"]},
    ]
    skill = write_evals(tmp_path, {"evals.json": {"skill_name": "merge-sheets", "evals": tasks}, "files/a.csv": "a"})
    first, second = read_set(skill).tasks
    assert (first.id, first.expected, first.attached) == ("7", "a table", ("evals/files/a.csv",))
    assert [check.text for check in first.checks] == ["x"]
    assert (second.id, [check.text for check in second.checks]) == ("2", ["y", "z"])
    assert read_set(skill).unread == ()


CALLS = '---\ntype: tool_used\ntool: Skill\ninput_match: \'"skill":\\s*"(?:[\\w-]+:)?{name}"\'\n{more}---\nWhy.\n'


@pytest.mark.parametrize(
    ("name", "more", "label"),
    [
        ("merge-sheets", "", True),
        ("merge-sheets", "min: 1\n", True),
        ("merge-sheets", "max: 0\n", False),
        ("merge-sheets", "min: 0\nmax: 0\n", False),
        ("merge-sheets", "min: 0\n", None),
        ("merge-sheets-too", "", None),
        ("re-merge-sheets", "", None),
    ],
)
def test_a_plugin_case_that_looks_for_the_call_of_the_skill_is_a_trigger_prompt(
    tmp_path: Path, name: str, more: str, *, label: bool | None
) -> None:
    grader = CALLS.format(name=name, more=more)
    files = {"one/prompt.md": "---\nruns: 3\n---\n\nPut them together\n", "one/graders/called.md": grader}
    found = read_set(write_evals(tmp_path, files))
    assert [case.should_trigger for case in found.triggers] == ([] if label is None else [label])
    (task,) = found.tasks
    assert (task.id, task.prompt, task.line) == ("one", "Put them together", 5)


def test_a_plugin_case_may_be_one_file_with_its_graders(tmp_path: Path) -> None:
    case = """schema_version: "1.1"
name: joins
execution:
  prompt: Join them
  max_turns: 5
graders:
  - type: regex
    pattern: '14 rows'
  - type: tool_order
    first: Read
  - type: vibes
  - 3
"""
    found = read_set(write_evals(tmp_path, {"deep/er/case.yaml": case}))
    (task,) = found.tasks
    assert (task.id, task.prompt, task.line) == ("er", "Join them", 4)
    assert [(check.kind, check.text, check.line) for check in task.checks] == [
        ("regex", "14 rows", 7),
        ("tool_order", "", 9),
    ]
    assert [(one.line, one.severity) for one in found.unread] == [
        (12, Severity.ERROR),
        (9, Severity.INFO),
        (11, Severity.WARNING),
    ]
    assert "tool_order has no equivalent" in found.unread[1].message
    assert "'vibes'" in found.unread[2].message


BENCHMARK = {
    "metadata": {"skill_name": "merge-sheets"},
    "runs": [
        {"eval_id": 1, "configuration": "with_skill", "run_number": run, "result": {"passed": 2, "total": 2}}
        for run in (1, 2)
    ]
    + [
        {"eval_id": 1, "configuration": "without_skill", "result": {"passed": 1, "total": 2}},
        {"eval_id": 2, "configuration": "with_skill", "result": {"passed": 0, "total": 0}},
        {"eval_id": 3, "configuration": "with_skill", "result": {"pass_rate": 1.0}},
    ],
    "run_summary": {},
}
AGGREGATE = {
    "schemaVersion": 1,
    "cases": [
        {
            "name": "joins",
            "arms": {
                "with": [{"graders": [{"name": "a", "passed": True}]}, {"error": "timed out"}],
                "without": [{"graders": [{"name": "a", "passed": False}]}],
            },
        }
    ],
}
TRIGGER_RUNS = {
    "skill_name": "merge-sheets",
    "results": [
        {"query": "a", "should_trigger": True, "triggers": 3, "runs": 3},
        {"query": "b", "should_trigger": False, "triggers": 1, "runs": 3},
    ],
}
GRADING = {"expectations": [{"text": "x", "passed": True}, {"text": "y", "passed": None}], "summary": {"passed": 1}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (BENCHMARK, [("1", "with_skill", 2, 2), ("1", "without_skill", 0, 1), ("3", "with_skill", 1, 1)]),
        (AGGREGATE, [("joins", "with", 1, 1), ("joins", "without", 0, 1)]),
        (TRIGGER_RUNS, [("a", "with_skill", 3, 3), ("b", "with_skill", 2, 3)]),
        (GRADING, [("x", "with_skill", 1, 1)]),
    ],
)
def test_recorded_results_count_only_what_was_graded(tmp_path: Path, document: Any, expected: Any) -> None:
    found = read_set(write_evals(tmp_path, {"results/latest.json": document}))
    assert [(one.case, one.arm, one.passed, one.runs) for one in found.recorded] == expected
    assert found.unread == ()
    assert found.triggers == ()


MALFORMED: list[tuple[str, Any, int, str]] = [
    ("t.json", '[{"query": "a",\n  "should_trigger": true},]', 2, "invalid JSON"),
    ("t.json", b"[\n\xff]", 2, "not UTF-8"),
    ("t.json", "[" * 100_000, 1, "JSON cannot be read"),
    ("t.json", '[{"query": "a", "should_trigger": ' + "1" * 5_000 + "}]", 1, "JSON cannot be read"),
    ("t.json", '[{"query": "a"},\n3]', 2, "found a number"),
    ("t.json", '[\n{"query": "a", "should_trigger": "true"}]', 2, "must be true or false, not 'true'"),
    ("t.json", '[\n{"should_trigger": true}]', 2, "prompt is missing"),
    ("t.json", '[{"query": " ", "should_trigger": true}]', 1, "query is empty"),
    ("t.json", '[{"query": "\\ud800", "should_trigger": true}]', 1, "surrogate"),
    ("t.json", [{"query": "long " * 5_000, "should_trigger": True}], 3, "25,000 characters"),
    ("t.json", '[{"query": "a", "should_trigger": true, "style": ["x"]}]', 1, "style must be direct or indirect"),
    ("t.json", '[{"query": "a", "should_trigger": true,\n"query": "b"}]', 2, "duplicate key [0].query"),
    ("triggers.yaml", "- prompt: a\n  should_trigger: [\n", 2, "invalid YAML"),
    ("triggers.yaml", "- prompt: a\n  should_trigger: 1\n", 1, "not a number"),
    ("triggers.yaml", "- prompt: a\n  should_triger: true\n", 1, "no prompts found"),
    ("triggers.yaml", "- &a [*a]\n", 1, "invalid YAML"),
    ("triggers.yaml", "", 1, "invalid YAML"),
    ("triggers.yaml", "just words", 1, "invalid YAML"),
    ("triggers.yaml", "triggers: []\n", 1, "has no prompts"),
    ("triggers.yaml", "- prompt: a\n  should_trigger: true\n  stile: direct\n", 3, "unknown key 'stile'"),
    ("evals.json", {"evals": []}, 2, "has no tasks"),
    ("evals.json", {"evals": [3]}, 3, "found a number"),
    ("evals.json", {"evals": [{"prompt": ["x"]}]}, 4, "prompt must be a string, not a list"),
    ("evals.json", {"evals": [{"prompt": "x", "expectations": "y"}]}, 5, "expected a list of sentences"),
    ("evals.json", {"evals": [{"prompt": "x", "expectations": [{"q": 1}]}]}, 6, "found an object"),
    ("evals.json", {"evals": [{"prompt": "x", "expected_output": 1}]}, 5, "must be a string"),
    ("evals.json", {"evals": [{"prompt": "x", "files": "y"}]}, 5, "must be a list"),
    ("c/prompt.md", "---\nruns: 1\n---\n \n", 4, "the prompt is empty"),
    ("c/case.yaml", "- a\n", 1, "expected a mapping"),
    ("c/case.yaml", "execution:\n  prompt: 3\n", 2, "prompt must be a string"),
    ("c/case.yaml", "execution:\n  prompt: a\ngraders: x\n", 3, "graders must be a list"),
    ("other.json", {"a": 1}, 1, "no eval format matches: other.json"),
    ("sub/notes.md", "# Notes\n", 1, "matches: notes.md"),
]


@pytest.mark.parametrize(("name", "content", "line", "words"), MALFORMED)
def test_what_cannot_be_read_is_said_with_its_place(
    tmp_path: Path, name: str, content: Any, line: int, words: str
) -> None:
    found = read_set(write_evals(tmp_path, {name: content}))
    assert (f"evals/{name}", line) in [(one.file, one.line) for one in found.unread]
    assert any(words in one.message for one in found.unread), found.unread


def test_a_bad_entry_does_not_take_its_neighbours_along(tmp_path: Path) -> None:
    found = read_set(write_evals(tmp_path, {"t.json": [{"query": "a", "should_trigger": True}, None, *labelled()]}))
    assert (len(found.triggers), len(found.unread)) == (13, 1)


def test_what_a_task_works_on_is_no_eval_set(tmp_path: Path) -> None:
    tasks = {"evals": [{"prompt": "Mend it", "files": ["evals/broken.json", "odd.csv"]}]}
    files = {
        "evals.json": tasks,
        "broken.json": "{",
        "odd.csv": "a",
        "files/bad.json": "{",
        "given/SKILL.md": "---\nname: x\n---\n",
        "given/evals/t.json": labelled(),
    }
    found = read_set(write_evals(tmp_path, files))
    assert found.unread == ()
    assert found.triggers == ()


def test_too_many_files_and_cases_are_said(tmp_path: Path) -> None:
    files: dict[str, Any] = {f"{number:04}.md": "" for number in range(MAX_FILES + 3)}
    found = read_set(write_evals(tmp_path / "files", files))
    assert any("more than 500 files" in one.message for one in found.unread)
    many = [{"query": f"prompt {number}", "should_trigger": True} for number in range(900)]
    found = read_set(write_evals(tmp_path / "cases", {"a.json": many, "b.json": many, "c.json": many}))
    assert len(found.triggers) == MAX_CASES
    assert [one.message[:21] for one in found.unread] == ["more than 2,000 cases"]


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    found = read_set(write_evals(tmp_path, {"t.json": json.dumps(labelled()) + " " * 1_000_000}))
    assert found.triggers == ()
    assert "larger than 1,000,000 bytes" in found.unread[0].message


def test_no_more_is_read_than_somebody_could_have_meant(tmp_path: Path) -> None:
    large = json.dumps(labelled()) + " " * 900_000
    found = read_set(write_evals(tmp_path / "bytes", {f"{number:02}.json": large for number in range(20)}))
    assert len(found.triggers) == 12 * 12  # files until ten million bytes
    assert [one.unreadable for one in found.unread] == [False] * 8
    assert "10,000,000" in found.unread[0].message
    bad = write_evals(
        tmp_path / "bad", {"t.json": [{"query": number, "should_trigger": True} for number in range(900)]}
    )
    assert len(read_set(bad).unread) == MAX_UNREAD + 1
    assert read_set(bad).unread[-1].message == "700 more places were not read"
    graders = {f"c/graders/{number:03}.md": "---\ntype: llm\n---\nNames it\n" for number in range(101)}
    found = read_set(write_evals(tmp_path / "graders", {"c/prompt.md": "Merge\n", **graders}))
    assert [len(task.checks) for task in found.tasks] == [100]
    assert [one.file for one in found.unread] == ["evals/c/graders"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")
def test_links_out_of_the_tree_are_refused_and_loops_end(tmp_path: Path) -> None:
    (tmp_path / "away.json").write_text(json.dumps(labelled()), encoding="utf-8")
    skill = write_evals(tmp_path / "in", {"t.json": labelled()})
    (skill / "evals/out.json").symlink_to(tmp_path / "away.json")
    (skill / "evals/again").symlink_to(skill / "evals", target_is_directory=True)
    found = read_set(skill)
    assert len(found.triggers) == len(SHOULD + SHOULD_NOT)
    assert [(one.file, one.unreadable) for one in found.unread] == [("evals/out.json", True)]
    other = write_evals(tmp_path / "other", {})
    (other / "evals").symlink_to(tmp_path, target_is_directory=True)
    assert [one.unreadable for one in read_set(other).unread] == [True]


def test_a_set_stands_in_for_generated_prompts_from_five_of_each_label_on(tmp_path: Path) -> None:
    few = write_evals(tmp_path / "few", {"t.json": labelled(SHOULD, SHOULD_NOT[: LEAST - 1])})
    assert prompts(few) is None
    enough = write_evals(tmp_path / "enough", {"t.json": labelled(SHOULD, SHOULD_NOT[:LEAST])})
    found = prompts(enough)
    assert found == [(prompt, True, "direct") for prompt in SHOULD] + [
        (prompt, False, "direct") for prompt in SHOULD_NOT[:LEAST]
    ]
    assert prompts(write_evals(tmp_path / "none", {})) is None


def test_at_most_fifty_of_each_label_are_taken_in_the_order_they_stand_in(tmp_path: Path) -> None:
    mixed = [{"query": f"prompt {number}", "should_trigger": number % 3 == 0} for number in range(300)]
    found = prompts(write_evals(tmp_path, {"t.json": mixed}))
    assert found is not None
    assert [label for _, label, _ in found].count(True) == [label for _, label, _ in found].count(False) == MOST
    numbers = [int(prompt.split()[1]) for prompt, _, _ in found]
    assert numbers == sorted(numbers)


def test_a_repeated_prompt_counts_once_and_a_contradictory_one_not_at_all(tmp_path: Path) -> None:
    twice = [{"query": SHOULD[0].upper() + "!", "should_trigger": True}, {"query": SHOULD[1], "should_trigger": False}]
    found = prompts(write_evals(tmp_path, {"a.json": labelled(), "b.json": twice}))
    assert found is not None
    assert [prompt for prompt, label, _ in found if label] == [SHOULD[0], *SHOULD[2:]]
    assert [prompt for prompt, label, _ in found if not label] == list(SHOULD_NOT)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["query", "should_trigger", "evals", "prompt", "runs", "results", "x y"]), inner
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON, st.sampled_from([None, 1]))
def test_every_value_of_a_document_has_its_line(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    loaded = load_json(text, "x.json")
    assert isinstance(loaded, Loaded)
    assert loaded.value == value
    assert set(loaded.places) >= set(_names(value, ""))
    assert all(1 <= line <= text.count("\n") + 1 for line in loaded.places.values())


def _names(value: Any, place: str) -> list[str]:
    if isinstance(value, dict):
        return [
            name
            for key, inner in value.items()
            for name in (f"{place}.{key}" if place else key, *_names(inner, f"{place}.{key}" if place else key))
        ]
    if isinstance(value, list):
        return [name for index, inner in enumerate(value) for name in _names(inner, f"{place}[{index}]")]
    return [place]


@settings(deadline=None, max_examples=60)
@given(JSON | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    base = tmp_path_factory.mktemp("any")
    text = value if isinstance(value, str) else json.dumps(value)
    files = {"a.json": text, "triggers.yaml": text, "c/case.yaml": text, "c/prompt.md": text, "c/graders/g.md": text}
    read_set(write_evals(base, files))


@pytest.mark.skipif(not Path(DATA, "corpus").is_dir(), reason="SKILLGATE_TEST_DATA names no test data")
def test_public_skills_are_read_without_an_exception() -> None:
    root = Path(DATA, "corpus").resolve()
    tree = DiskTree(str(root))
    skills = [Path(folder).relative_to(root) for folder, _, files in os.walk(root) if "SKILL.md" in files]
    assert len(skills) > 200
    for skill in skills:
        read_evals(tree, skill.as_posix())
