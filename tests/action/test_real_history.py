"""Two states of a real collection of skills: the Action names exactly what each edit did, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

pytest.importorskip("openapi_core", reason="openapi-core is not installed")

import skillgate
from skillgate.model.documents import DiffSide
from skillgate.model.finding import Severity
from skillgate.model.score import Dimension
from skillgate.report.diff import diff
from tests.action.edits import (
    ACROSS,
    COLLECTIONS,
    EDITS,
    NEW_POLICY,
    POLICY,
    POLICY_CHANGES,
    Place,
    collect,
)
from tests.action.prose import PROSE, with_paragraph
from tests.action.pull_request import PullRequest
from tests.cli.running import run
from tests.github.fake_github import NAME, TOKEN, FakeGitHub

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.action.edits import Edit
    from tests.action.pull_request import Ran

CORPUS = Path(os.environ.get("SKILLGATE_TEST_DATA", ""), "corpus")
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="SKILLGATE_TEST_DATA names no test data")


class History(NamedTuple):
    """Both states on disk, what the Action made of them, and what the command line says of each alone."""

    before: Path
    after: Path
    ran: Ran
    comment: str
    alone: dict[str, Any]
    reported: Any

    @property
    def names(self) -> set[str]:
        """The directories of all skills before."""
        return {place.name for place in (self.before / "skills").iterdir()}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("history")
    made = PullRequest(folder=folder / "work", repository=NAME)
    collect(CORPUS, made.folder / "skills")
    made.base({".skillgate.yaml": POLICY})
    shutil.copytree(made.folder / "skills", folder / "a" / "skills")
    for edit in EDITS:
        edit.change(made.folder / "skills")
    shutil.copytree(made.folder / "skills", folder / "b" / "skills")
    made.change({".skillgate.yaml": NEW_POLICY})
    with FakeGitHub() as github:
        made.environ = {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": github.url, "INPUT_COMMENT": "always"}
        ran = made.run()
        (comment,) = github.bodies
    alone = {}
    for side in ("a", "b"):
        done = run(folder / side, "score", "skills", "--json")
        (folder / f"{side}.json").write_text(done.out, encoding="utf-8")
        alone[side] = done.json
    reported = run(folder, "report", "diff", "a.json", "b.json", "--json").json
    return History(folder / "a", folder / "b", ran, comment.replace("\r\n", "\n"), alone, reported)


def expected(edits: Iterable[Edit]) -> dict[str, tuple[object, ...]]:
    """Give what a diff has to say of each edited skill, by its path."""
    return {
        f"skills/{edit.path}": (
            edit.state,
            f"skills/{edit.before}" if edit.before else None,
            sorted(edit.new),
            sorted(edit.fixed),
            edit.sign,
        )
        for edit in edits
    }


def said(history: History, document: Any) -> dict[str, tuple[object, ...]]:
    """Give what a diff says of each skill that differs, moved or was touched, in the same form."""
    return {
        path_of(item): (
            item["state"],
            item["before"]["path"] if was_elsewhere(item) else None,
            sorted(placed(history.after, finding) for finding in item["new"]),
            sorted(placed(history.before, finding) for finding in item["fixed"]),
            None if item["change"] is None else (item["change"] > 0) - (item["change"] < 0),
        )
        for item in document["skills"]
    }


def path_of(item: Any) -> str:
    path: str = (item["after"] or item["before"])["path"]
    return path


def was_elsewhere(item: Any) -> bool:
    return bool(item["before"] and item["after"] and item["before"]["path"] != item["after"]["path"])


def placed(side: Path, finding: Any) -> Place:
    """Tell a finding by its rule, its file, and the words of an edit that its line holds; else by the whole line."""
    line = (side / finding["path"]).read_text(encoding="utf-8").split("\n")[finding["line"] - 1]
    told = (place for edit in EDITS for place in (*edit.new, *edit.fixed) if place.rule == finding["id"])
    every = [place.words for place in (*told, *ACROSS.values()) if place.words in line]
    return Place(finding["id"], finding["path"].removeprefix("skills/"), every[0] if every else line)


def skill_of(place: Place) -> str:
    return place.file.partition("/")[0]


def scores(document: Any) -> dict[str, float]:
    return {result["skill"]["path"]: result["composite"]["score"] for result in document["results"]}


class TestDiff:
    def test_it_says_of_each_edit_what_it_did_and_of_no_other_skill(self, history: History) -> None:
        assert said(history, history.ran.document("diff.json")) == expected(EDITS)

    def test_it_counts_them(self, history: History) -> None:
        summary = history.ran.document("diff.json")["summary"]
        states = [edit.state for edit in EDITS]
        found = {state: states.count(state) for state in ("new", "removed", "changed", "unchanged")}
        assert {key: summary[key] for key in found} == found
        assert summary["moved"] == sum(bool(edit.before) for edit in EDITS)
        assert summary["findings_new"] == sum(len(edit.new) for edit in EDITS)
        assert summary["findings_fixed"] == sum(len(edit.fixed) for edit in EDITS)
        assert history.ran.run["touched"] == len(EDITS)

    def test_it_says_what_skills_share_that_they_did_not(self, history: History) -> None:
        across = history.ran.document("diff.json")["across"]
        assert [placed(history.after, finding) for finding in across["new"]] == [ACROSS["new"]]
        assert across["fixed"] == []

    def test_lists_grew_by_what_descriptions_did(self, history: History) -> None:
        told = {(use["client"], use["place"]): use for use in history.ran.document("diff.json")["listing"]}
        before, after = (
            {(use["client"], use["place"]): use["characters"] for use in history.alone[side]["listing"]}
            for side in ("a", "b")
        )
        assert {key: (use["before"], use["characters"]) for key, use in told.items()} == {
            key: (before[key], after[key]) for key in before
        }
        assert all(use["before"] != use["characters"] for use in told.values())

    def test_scores_are_those_of_each_state_alone(self, history: History) -> None:
        before, after = (scores(history.alone[side]) for side in ("a", "b"))
        for item in history.ran.document("diff.json")["skills"]:
            for side, known in ((item["before"], before), (item["after"], after)):
                assert side is None or side["score"] == known[side["path"]]
        assert scores(history.ran.document("report.json")).items() <= after.items()

    def test_two_reports_give_the_same(self, history: History) -> None:
        ours = history.ran.document("diff.json")
        edited = {path_of(item) for item in ours["skills"]}
        theirs = {path_of(item): item for item in history.reported["skills"]}
        # What the change sets aside is so for whoever scores the head alone; here it takes effect after the merge.
        (aside,) = [item for item in theirs.values() if item["suppressed"]]
        assert path_of(aside) == "skills/requesting-code-review"
        same = ("state", "before", "after", "change", "dimensions", "new", "fixed")
        for item in ours["skills"]:
            other = theirs[path_of(item)]
            if other is not aside:
                assert {key: other[key] for key in same} == {key: item[key] for key in same}
        others = {path: item for path, item in theirs.items() if path not in edited and item["state"] != "unchanged"}
        assert others.keys() == {f"skills/{skill_of(place)}" for place in ACROSS.values()}
        assert {item["change"] for item in others.values()} == {0}
        for kind in ("new", "fixed"):
            assert [each for item in others.values() for each in item[kind]] == ours["across"][kind]
        assert (history.reported["across"], history.reported["listing"]) == (ours["across"], ours["listing"])


class TestGate:
    def test_the_edits_that_fail_it_do(self, history: History) -> None:
        results = history.ran.document("report.json")["results"]
        failed = {
            result["skill"]["path"]: {each["gate"] for each in result["gate"]["outcomes"] if each["verdict"] == "fail"}
            for result in results
            if result["gate"]["passed"] is False
        }
        assert failed == {f"skills/{edit.path}": set(edit.fails) for edit in EDITS if edit.fails}
        assert (history.ran.code, history.ran.outputs["result"]) == (1, "fail")
        assert {reason.partition(":")[0] for reason in history.ran.run["reasons"]} == failed.keys()

    def test_what_the_change_does_to_it_is_told(self, history: History) -> None:
        assert history.ran.run["policy_changes"] == list(POLICY_CHANGES)


class TestComment:
    def test_its_rows_are_the_skills_that_differ(self, history: History) -> None:
        told = re.findall(r"(?m)^\| (?:(\S+) )?\[?`(skills/[^`]+)`", history.comment)
        marks = {path: mark for mark, path in told}
        wanted = {f"skills/{edit.path}": _mark(edit) for edit in EDITS if edit.state != "unchanged" or edit.before}
        assert marks == wanted
        assert len(told) == len(marks)

    def test_it_tells_where_moved_ones_were(self, history: History) -> None:
        for edit in EDITS:
            if edit.before:
                (row,) = re.findall(rf"(?m)^\| \S+ \[`skills/{edit.path}`.*$", history.comment)
                assert f"moved from skills/{edit.before}" in row

    def test_its_findings_are_those_that_came(self, history: History) -> None:
        listed = history.comment.partition("#### New findings")[2].partition("\n#### ")[0]
        told = re.findall(r"(?m)^- \*\*(\w+)\*\* \[\*\*([A-Z\\_]+)\*\*\]\([^)]*\) \[`skills/([^`]+):(\d+)`\]", listed)
        came = {
            (finding["path"].removeprefix("skills/"), str(finding["line"]), finding["severity"], finding["id"])
            for item in history.ran.document("diff.json")["skills"]
            for finding in item["new"]
        }
        assert {(path, line, severity, rule.replace("\\", "")) for severity, rule, path, line in told} == came
        assert len(told) == len(came)
        assert "**Fixed**: 1 (MISSING\\_TRIGGER)" in history.comment

    def test_it_tells_what_skills_share_and_what_the_change_does_to_its_gate(self, history: History) -> None:
        catalogue = history.comment.partition("#### Catalogue")[2].partition("<details>")[0]
        assert catalogue.count("##### New across skills") == 1
        assert f"skills/{ACROSS['new'].file}:3" in catalogue
        gate = history.comment.partition("#### Changes to the gate itself")[2].partition("\n| skill")[0]
        assert len(re.findall("(?m)^- ", gate)) == len(POLICY_CHANGES)

    def test_no_other_skill_is_named(self, history: History) -> None:
        edited = {name for edit in EDITS for name in (edit.path.rpartition("/")[2], edit.before)}
        sharing = set(map(skill_of, ACROSS.values()))
        untouched = history.names - edited - sharing
        assert len(untouched) > 20
        shown = re.sub(r"\]\([^)]*\)", "]", history.comment)  # without addresses
        assert [name for name in sorted(untouched) if re.search(rf"skills/{name}\b(?!-)", shown)] == []
        unchanged = {edit.path for edit in EDITS if edit.state == "unchanged" and not edit.before}
        unchanged -= {"requesting-code-review"}  # named for what it does to the gate
        assert [name for name in sorted(unchanged) if name in history.comment] == []


def _mark(edit: Edit) -> str:
    return "❌" if edit.fails else "" if edit.state == "removed" else "✅"


# Points that a good paragraph may cost. Token efficiency is a share: a paragraph of fewer words that carry something
# than the skill has otherwise lowers it. Of all 40 * 21 additions 58 fall, by 0.13 points at most, and 723 rise.
PARAGRAPH_COSTS = 0.15


def test_one_added_paragraph_of_good_prose_fails_nothing(tmp_path: Path) -> None:
    collect(CORPUS, tmp_path)
    every = cycle([(where, paragraph) for where in ("end", "title", "middle") for paragraph in PROSE])
    found = []
    moves = []
    for skill in sorted(tmp_path.iterdir()):
        text = (skill / "SKILL.md").read_text(encoding="utf-8")
        (before,) = skillgate.evaluate(skill).results
        for _ in range(3):
            where, paragraph = next(every)
            (skill / "SKILL.md").write_text(with_paragraph(text, paragraph, where), encoding="utf-8")
            (after,) = skillgate.evaluate(skill).results
            told = diff([(before, after)], a=DiffSide("a"), b=DiffSide("b"), version="1", gated=True)
            (change,) = told.skills
            bad = [finding.id for finding in change.new if finding.severity is not Severity.INFO]
            moves.append(move := change.change or 0)
            fell = {
                name
                for name, dimension in after.dimensions.items()
                if (dimension.score or 0) < (before.dimensions[name].score or 0)
            }
            costs = move < -PARAGRAPH_COSTS or (move < 0 and fell != {Dimension.TOKEN_EFFICIENCY})
            if bad or told.gate.passed is not True or costs:
                found.append((skill.name, where, paragraph[:30], move, fell, bad))
    assert found == []
    assert sum(move > 0 for move in moves) > 0.8 * len(moves)


def test_the_collection_is_what_the_edits_were_written_for() -> None:
    assert sum(1 for name in COLLECTIONS for _ in (CORPUS / name / "skills").iterdir()) == 40
    assert len({edit.kind for edit in EDITS}) == len({edit.path for edit in EDITS}) == len(EDITS) >= 12
