"""A finding across skills is known by its rule and its set of skills: in diffs, baselines, files and fingerprints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import commit, run
from tests.skills import filler, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_READ = "Reads models of orders. Use when implementing CQRS, separating queries, or optimizing queries of orders."
_ALIKE = "Separates read models of orders. Use when implementing CQRS or optimizing queries of orders in models."
_RULES = {"DUPLICATE_NAME", "DUPLICATED_CONTENT", "INDISTINCT"}


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """Return a repository with a pair for each rule about pairs: like descriptions, one passage, one name."""
    folder = tmp_path / "skills"
    write_skill(folder, "cqrs", description=_READ, body=filler(20))
    write_skill(folder, "projection", description=_ALIKE, body=filler(20))
    write_skill(folder, "review", description="Reviews a change. Use when a change is ready.", body=filler(3, start=50))
    told = "name: review\ndescription: Judges essays of pupils. Use when marking."
    write_skill(folder, "essay", frontmatter=told, body=filler(3, start=60))
    commit(tmp_path)
    return tmp_path


def across(document: Any) -> tuple[list[str], list[str]]:
    """Return the ids of the findings across skills that are new, and of those that are gone."""
    new, fixed = ([item["id"] for item in document["across"][key]] for key in ("new", "fixed"))
    return new, fixed


def pairs(document: Any) -> dict[str, list[tuple[str, ...]]]:
    """Return the skills of each finding across skills by its rule."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for result in document["results"]:
        for item in result["findings"]:
            if item["skills"]:
                found.setdefault(item["id"], []).append(tuple(item["skills"]))
    return found


def unrelated(folder: Path) -> None:
    """Add skills that have words in common with those that are there, and clash with none of them."""
    for name, word in (("paint", "models"), ("weave", "queries"), ("bake", "orders")):
        told = f"Teaches how to {name} {word}. Use when a pupil wants to {name} {word} by hand, {word} at school."
        write_skill(folder, name, description=told, body=filler(6, start=ord(name[0]) * 10))


def test_a_finding_across_skills_says_which_skills_it_is_about(catalogue: Path) -> None:
    document = run(catalogue, "score", "--json").json
    assert pairs(document) == {
        "DUPLICATE_NAME": [("skills/essay", "skills/review")] * 2,
        "DUPLICATED_CONTENT": [("skills/cqrs", "skills/projection")],
        "INDISTINCT": [("skills/cqrs", "skills/projection")],
    }


def test_an_unrelated_skill_makes_no_finding_new_or_gone(catalogue: Path) -> None:
    run(catalogue, "score", "--output-file", "a.json")
    before = run(catalogue, "score", "--json").json
    unrelated(catalogue / "skills")
    after = run(catalogue, "score", "--json", "--baseline", "HEAD", "--output-file", "b.json").json
    assert pairs(after) == pairs(before)
    messages = [[item["message"] for one in side["results"] for item in one["findings"]] for side in (before, after)]
    assert not set(messages[0]) <= set(messages[1])  # the words did change
    assert across(after) == ([], [])
    diff = run(catalogue, "report", "diff", "a.json", "b.json", "--json").json
    assert across(diff) == ([], [])
    assert {item["id"] for one in diff["skills"] for item in (*one["new"], *one["fixed"])}.isdisjoint(_RULES)


def test_a_moved_skills_pairs_are_neither_new_nor_gone(catalogue: Path) -> None:
    run(catalogue, "score", "--output-file", "a.json")
    (catalogue / "archive/skills").mkdir(parents=True)
    (catalogue / "skills/projection").rename(catalogue / "archive/skills/projection")  # now the first of the pair
    (catalogue / "skills/review").rename(catalogue / "archive/skills/review")
    after = run(catalogue, "score", "--json", "--baseline", "HEAD", "--output-file", "b.json").json
    assert set(pairs(after)) >= {"DUPLICATED_CONTENT", "INDISTINCT"}
    assert across(after) == ([], [])
    diff = run(catalogue, "report", "diff", "a.json", "b.json", "--json").json
    assert across(diff) == ([], [])
    assert {item["id"] for one in diff["skills"] for item in (*one["new"], *one["fixed"])}.isdisjoint(_RULES)


def test_a_pair_that_a_change_makes_is_new_and_one_that_it_parts_is_gone(catalogue: Path) -> None:
    run(catalogue, "score", "--output-file", "a.json")
    write_skill(catalogue / "skills", "third", description=_READ, body=filler(3, start=90))
    text = (catalogue / "skills/essay/SKILL.md").read_text(encoding="utf-8")
    (catalogue / "skills/essay/SKILL.md").write_text(text.replace("name: review", "name: essay"), encoding="utf-8")
    after = run(catalogue, "score", "--json", "--baseline", "HEAD", "--output-file", "b.json").json
    assert across(after) == (["INDISTINCT"], ["DUPLICATE_NAME"] * 2)
    assert after["across"]["new"][0]["skills"] == ["skills/cqrs", "skills/third"]
    assert across(run(catalogue, "report", "diff", "a.json", "b.json", "--json").json) == across(after)


def test_known_findings_know_a_pair_whatever_its_words(catalogue: Path) -> None:
    known = ("--known-findings", "known.json", "--select", "across")
    assert run(catalogue, "check", "--write-known-findings", "known.json").code == 0
    unrelated(catalogue / "skills")
    done = run(catalogue, "check", "--fail-on", "warning", *known, "--json")
    assert (done.code, done.json["findings"]) == (0, [])
    write_skill(catalogue / "skills", "third", description=_READ, body=filler(3, start=90))
    done = run(catalogue, "check", "--fail-on", "warning", *known, "--json")
    assert done.code == 1
    assert [item["skills"] for item in done.json["findings"]] == [["skills/cqrs", "skills/third"]]


def test_known_findings_of_a_pair_stay_while_only_one_of_them_is_looked_at(catalogue: Path) -> None:
    run(catalogue, "check", "--write-known-findings", "known.json")
    before = json.loads((catalogue / "known.json").read_text(encoding="utf-8"))["findings"]
    for name in ("cqrs", "projection", "review"):
        run(catalogue, "check", f"skills/{name}", "--write-known-findings", "known.json")
    after = json.loads((catalogue / "known.json").read_text(encoding="utf-8"))["findings"]
    assert [item for item in after if item["skills"]] == [item for item in before if item["skills"]] != []


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_fingerprints_of_a_pair_do_not_depend_on_other_skills(catalogue: Path, form: str) -> None:
    def prints() -> dict[str, set[str]]:
        document = run(catalogue, "check", "--output", form).json
        found: dict[str, set[str]] = {}
        for item in document if form == "gitlab" else document["runs"][0]["results"]:
            rule = item["check_name"] if form == "gitlab" else item["ruleId"]
            mark = item["fingerprint"] if form == "gitlab" else item["partialFingerprints"]["skillgateFinding/v1"]
            found.setdefault(rule, set()).add(mark)
        return {rule: found[rule] for rule in _RULES}

    before = prints()
    unrelated(catalogue / "skills")
    assert prints() == before
    assert [len(marks) for marks in before.values()] == [2 if rule == "DUPLICATE_NAME" else 1 for rule in before]


def test_a_longer_description_in_a_list_over_its_budget_changes_nothing(tmp_path: Path) -> None:
    for number in range(12):
        told = f"Sorts the papers of year {number}. Use when year {number} is filed. " + f"word{number} " * 110
        write_skill(tmp_path / "skills", f"year{number}", description=told.strip(), body=filler(3, start=number * 9))
    commit(tmp_path)
    told = "Waters every plant. Use when plants are dry. " + "leaf " * 190
    write_skill(tmp_path / "skills", "plants", description=told.strip(), body=filler(3, start=300))
    document = run(tmp_path, "score", "--baseline", "HEAD", "--json").json
    assert set(pairs(document)) == {"LISTING_BUDGET_CLAUDE_CODE", "LISTING_BUDGET_CODEX"}
    assert across(document) == ([], [])


def test_a_thousand_namesakes_do_not_list_each_other(tmp_path: Path) -> None:
    for number in range(60):
        told = f"name: same\ndescription: Does task {number}. Use when {number} is asked for."
        write_skill(tmp_path / "skills", f"s{number}", frontmatter=told, body=filler(3, start=number * 9))
    document = run(tmp_path, "check", "--json").json
    named = [item for item in document["findings"] if item["id"] == "DUPLICATE_NAME"]
    assert len(named) == 60
    assert all(item["skills"] == [] for item in named)
