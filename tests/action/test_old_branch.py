"""A branch that began before the base branch's newest commit is held to that commit's policy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

import pytest

from tests.action.pull_request import DEAD_LINK, WAIVED, PullRequest, skill
from tests.action.recorded import INPUTS, log
from tests.action.test_benchmarks import INPUTS as BENCHMARK
from tests.action.test_benchmarks import program, tasks
from tests.cli.running import git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Files = Mapping[str, str | None]

SKILL = "skills/merge-sheets"
TOUCHED = skill("merge-sheets", body="\nKeep the newest of two rows.\n")
GATE = {".skillgate.yaml": "threshold: 95\n"}
OTHER = "Draws charts from a table of numbers. Use when somebody asks for a bar chart, a line chart or a pie chart."
ADDRESS = "https://github.example/octo-org/skills"


def old_branch(folder: Path, before: Files, change: Files, after: Files, *, merge: bool = False) -> PullRequest:
    """Make a pull request whose base branch has moved on since it began; its head or GitHub's merge is checked out."""
    made = PullRequest(folder=folder / "work")
    made.base(before)
    made.change(change, merge=False)
    git(made.folder, "checkout", "-q", "main")
    tip = made.base(after)
    made.event["pull_request"]["base"]["sha"] = tip
    git(made.folder, "checkout", "-q", "--detach", "main" if merge else "change")
    if merge:
        git(made.folder, "merge", "-q", "--no-ff", "--no-edit", "change")
        made.sha = git(made.folder, "rev-parse", "HEAD")
    return made


def began(made: PullRequest) -> str:
    return git(made.folder, "rev-parse", "change^")


def tip(made: PullRequest) -> str:
    return git(made.folder, "rev-parse", "main")


@pytest.mark.parametrize(
    ("event", "merge"),
    [
        ("pull_request", False),
        ("pull_request", True),
        ("pull_request_target", False),
        ("pull_request_target", True),
        ("pull_request_review", False),
        ("pull_request_review_comment", True),
    ],
)
def test_a_branch_from_before_the_gate_is_held_to_the_gate(tmp_path: Path, event: str, *, merge: bool) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE, merge=merge)
    made.name = event
    ran = made.run()
    assert (ran.code, ran.outputs["result"]) == (1, "fail"), ran.err
    assert "is below 95" in ran.outputs["reasons"]
    assert ran.run["policy_commit"] == tip(made)
    assert ran.outputs["baseline-rev"] == (tip(made) if merge else began(made))


def test_a_merge_group_is_held_to_the_commit_that_it_goes_on_top_of(tmp_path: Path) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE, merge=True)
    made.name, made.event = "merge_group", {"merge_group": {"head_sha": made.sha, "base_sha": tip(made)}}
    ran = made.run()
    assert (ran.code, ran.run["policy_commit"]) == (1, tip(made)), ran.err


def test_a_merge_group_whose_head_is_not_checked_out_is_refused(tmp_path: Path) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE, merge=True)
    made.name, made.event = "merge_group", {"merge_group": {"head_sha": made.sha, "base_sha": tip(made)}}
    git(made.folder, "checkout", "-q", "main")
    ran = made.run()
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert "does not contain the merge group's own commit" in ran.outputs["reasons"]


def test_the_comment_names_the_commit_of_the_policy_and_the_one_that_is_compared_with(tmp_path: Path) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE)
    footer = next(line for line in made.run().summary.splitlines() if "policy from" in line)
    assert f"against base [`{began(made)[:7]}`]" in footer
    assert f"policy from the base [`{tip(made)[:7]}`]({ADDRESS}/commit/{tip(made)})" in footer


def test_a_clone_without_the_tip_is_refused_with_the_depth_to_fetch(tmp_path: Path) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--single-branch", "--branch", "change", f"file://{made.folder}", str(clone))
    ran = PullRequest(folder=clone, event=made.event).run()
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert f"the tip of the base branch ({tip(made)[:12]}) is not in this clone" in ran.outputs["reasons"]
    assert "fetch-depth: 0" in ran.outputs["reasons"]


@pytest.mark.parametrize(
    ("address", "code"),
    [
        (ADDRESS, 1),
        (f"{ADDRESS}.git", 1),
        ("git@github.example:octo-org/skills.git", 1),
        ("https://github.example/somebody/skills", 0),
        ("https://elsewhere.example/octo-org/skills", 0),
    ],
)
def test_a_branch_that_was_fetched_from_this_repository_is_newer_than_the_event(
    tmp_path: Path, address: str, code: int
) -> None:
    """A clone of a fork has a branch of the same name, and what it holds is the fork's word."""
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE)
    made.event["pull_request"]["base"]["sha"] = began(made)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--branch", "change", f"file://{made.folder}", str(clone))
    git(clone, "remote", "set-url", "origin", address)
    ran = PullRequest(folder=clone, event=made.event).run()
    assert ran.code == code, ran.err
    assert ran.run["policy_commit"] == (tip(made) if code else began(made))


def test_a_base_branch_that_was_rewritten_since_is_what_the_checkout_fetched(tmp_path: Path) -> None:
    """The event still names the commit that was taken back, and the pull request's branch began at it."""
    made = PullRequest(folder=tmp_path / "work")
    first = made.base(skill("merge-sheets"))
    made.base({"README.md": "# Without a gate\n"})
    made.change(TOUCHED, merge=False)
    git(made.folder, "checkout", "-q", "main")
    git(made.folder, "reset", "-q", "--hard", first)
    rewritten = made.base(GATE)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--branch", "change", f"file://{made.folder}", str(clone))
    git(clone, "remote", "set-url", "origin", ADDRESS)
    ran = PullRequest(folder=clone, event=made.event).run()
    assert (ran.code, ran.run["policy_commit"], ran.outputs["baseline-rev"]) == (1, rewritten, first), ran.err


def test_a_head_that_was_merged_while_the_run_waited_is_still_compared_with_where_it_began(tmp_path: Path) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, GATE)
    opened = tip(made)
    git(made.folder, "checkout", "-q", "main")
    git(made.folder, "merge", "-q", "--no-ff", "--no-edit", "change")
    git(made.folder, "checkout", "-q", "--detach", "change")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", f"file://{made.folder}", str(clone))
    git(clone, "checkout", "-q", "--detach", made.event["pull_request"]["head"]["sha"])
    git(clone, "remote", "set-url", "origin", ADDRESS)
    made.event["pull_request"]["base"]["sha"] = opened
    ran = PullRequest(folder=clone, event=made.event).run()
    assert (ran.code, ran.run["policy_commit"], ran.outputs["baseline-rev"]) == (1, tip(made), began(made)), ran.err


def test_what_the_base_branch_did_to_the_gate_since_is_not_told_as_the_changes_doing(tmp_path: Path) -> None:
    made = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, {**GATE, "README.md": "# More\n"})
    assert made.run().run["policy_changes"] == []
    (tmp_path / "other").mkdir()
    own = old_branch(
        tmp_path / "other",
        {**skill("merge-sheets"), ".skillgate.yaml": "threshold: 90\n"},
        {**TOUCHED, ".skillgate.yaml": "threshold: 90\nmax-drop: 50\n"},
        GATE,
    )
    assert own.run().run["policy_changes"] == ["max-drop: not set → 50"]


class TestKnownFindings:
    KNOWN = (
        '{"kind": "known-findings", "tool": {"version": "1"}, "findings": [{"id": "ORPHAN_REFERENCE",'
        ' "path": "skills/%s/SKILL.md", "message": "references/rows.md does not exist", "times": 1}]}'
    )
    NONE = '{"kind": "known-findings", "tool": {"version": "1"}, "findings": []}'
    USED: ClassVar = {".skillgate.yaml": "known-findings: known.json\n"}

    @pytest.mark.parametrize("merge", [False, True])
    def test_they_are_those_of_the_tip(self, tmp_path: Path, *, merge: bool) -> None:
        dead, worse = skill("merge-sheets", body=DEAD_LINK), skill("merge-sheets", body=DEAD_LINK + "\nMore.\n")
        known = self.KNOWN % "merge-sheets"
        made = old_branch(tmp_path, dead, worse, {**self.USED, "known.json": known}, merge=merge)
        assert made.run().code == 0
        (tmp_path / "less").mkdir()
        less = old_branch(
            tmp_path / "less", {**dead, **self.USED, "known.json": known}, worse, {"known.json": self.NONE}, merge=merge
        )
        ran = less.run(fail_on="error")
        assert (ran.code, ran.outputs["errors"], ran.run["policy_changes"]) == (1, "1", [])

    def test_those_of_a_skill_that_the_branch_does_not_have_change_nothing(self, tmp_path: Path) -> None:
        came = skill("draw-charts", description=OTHER, body=DEAD_LINK)
        after = {**came, **self.USED, "known.json": self.KNOWN % "draw-charts"}
        ran = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, after).run()
        assert (ran.code, ran.outputs["skills"], ran.outputs["fixed-findings"]) == (0, "1", "0"), ran.err
        assert "known finding" not in ran.summary


class TestSuppressions:
    COVERED = skill("merge-sheets", body=f"\n{WAIVED}\n{DEAD_LINK.lstrip()}")
    MORE = skill("merge-sheets", body=f"\nMore words.\n\n{WAIVED}\n{DEAD_LINK.lstrip()}")

    def test_one_that_the_base_branch_has_taken_out_has_no_effect_and_that_is_said(self, tmp_path: Path) -> None:
        ran = old_branch(tmp_path, self.COVERED, self.MORE, skill("merge-sheets")).run()
        assert (ran.code, ran.outputs["errors"], ran.run["policy_changes"]) == (1, "1", [])
        (told,) = [notice for notice in ran.run["notices"] if "ORPHAN_REFERENCE" in notice]
        assert told.endswith("is no longer in the base branch and has no effect; update the branch")

    def test_one_that_the_base_branch_still_has_holds(self, tmp_path: Path) -> None:
        ran = old_branch(tmp_path, self.COVERED, self.MORE, {"README.md": "# More\n"}).run()
        assert (ran.code, ran.outputs["errors"]) == (0, "0"), ran.err


@pytest.mark.parametrize("merge", [False, True])
def test_a_skill_is_held_to_the_strictest_of_the_places_that_it_has_had(tmp_path: Path, *, merge: bool) -> None:
    """The old branch moves it to where nothing is asked; the tip says what is asked of where it was."""
    moved = {path.replace("skills/", "lax/"): text for path, text in skill("merge-sheets").items()}
    gates = "threshold: 95\noverrides:\n  - paths: ['lax/**']\n    threshold: 1\n"
    made = old_branch(tmp_path, skill("merge-sheets"), {SKILL: None, **moved}, {".skillgate.yaml": gates}, merge=merge)
    ran = made.run()
    assert ran.code == 1, ran.err
    assert "is below 95" in ran.outputs["reasons"]


def test_a_configuration_that_broke_since_lets_no_old_branch_choose_the_defaults(tmp_path: Path) -> None:
    broken = {".skillgate.yaml": "treshold: 95\n"}
    ran = old_branch(tmp_path, {**skill("merge-sheets"), **GATE}, TOUCHED, broken).run()
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert "at the tip of the base branch is not valid" in ran.outputs["reasons"]
    (tmp_path / "mended").mkdir()
    ran = old_branch(tmp_path / "mended", {**skill("merge-sheets"), **broken}, TOUCHED, GATE).run()
    assert ran.code == 1  # mended in the base branch: its gate is asked, and the branch is told
    assert "update the branch" in ran.run["policy_changes"][0]


def test_a_skill_that_came_to_the_base_branch_since_may_be_named(tmp_path: Path) -> None:
    ran = old_branch(tmp_path, skill("merge-sheets"), TOUCHED, skill("draw-charts", description=OTHER)).run(
        paths=f"{SKILL}\nskills/draw-charts"
    )
    assert (ran.code, ran.outputs["skills"]) == (0, "1"), ran.err
    assert [one["after"]["path"] for one in ran.document("diff.json")["skills"]] == [SKILL]


def test_a_baseline_report_is_that_of_the_tip(tmp_path: Path) -> None:
    made = old_branch(tmp_path, {**skill("merge-sheets"), "kept.json": "[]\n"}, TOUCHED, {"kept.json": "{\n"})
    ran = made.run(baseline="report:kept.json")
    assert ran.code == 2
    assert "not JSON" in ran.outputs["reasons"]


@pytest.mark.parametrize("merge", [False, True])
def test_tasks_of_a_benchmark_are_those_of_the_tip(tmp_path: Path, *, merge: bool) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    harder = json.loads(tasks(4)["benchmarks/doubles.json"])
    harder["tasks"][0]["expectedOutput"]["value"] = 1_000
    after = {"benchmarks/doubles.json": json.dumps(harder), **program(name="later")}
    before = {**skill("merge-sheets"), **program(), **tasks(4)}
    touched = {"programs/doubler/README.md": "# Doubles\n"}
    made = old_branch(tmp_path, before, touched, after, merge=merge)
    ran = made.run(**BENCHMARK, min_completion="1")
    assert (ran.code, ran.outputs["completion"]) == (1, "0.7500"), ran.err
    assert list(json.loads(ran.outputs["completions"])) == ["doubler"]  # `later` came since, and is not touched


@pytest.mark.parametrize("skills", ["programs/doubler\nprograms/later", "programs/later"])
def test_a_program_that_came_to_the_base_branch_since_may_be_named(tmp_path: Path, skills: str) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    before = {**skill("merge-sheets"), **program(), **tasks(2)}
    made = old_branch(tmp_path, before, {"programs/doubler/README.md": "# Doubles\n"}, program(name="later"))
    ran = made.run(**{**BENCHMARK, "skills": skills})
    assert (ran.code, ran.run["touched"]) == (0, skills.count("doubler")), ran.err
    assert any("programs/later is only in the base branch" in notice for notice in ran.run["notices"])


@pytest.mark.parametrize("name", ["benchmark", "tasks", "merge-sarif", "baseline"])
def test_a_file_that_the_base_branch_has_removed_since_is_not_taken_for_one_that_comes(
    tmp_path: Path, name: str
) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    path = "benchmarks/doubles.json"
    before = {**skill("merge-sheets"), **program(), **tasks(2)}
    made = old_branch(tmp_path, before, {"programs/doubler/README.md": "# Doubles\n"}, {path: None})
    given = {name.replace("-", "_"): f"report:{path}" if name == "baseline" else path}
    ran = made.run(skills="programs", allow_exec="true", **given)
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert f"{path} is no longer in the base branch" in ran.outputs["reasons"]
    assert "is new in this change" not in ran.err + ran.outputs["reasons"]


def test_an_old_branch_keeps_no_tries_that_the_base_branch_has_taken_away(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    config = "programs/doubler/adapter.config.json"
    before = {**skill("merge-sheets"), **program(), **tasks(2), config: '{"retries": 3}'}
    made = old_branch(
        tmp_path, before, {"programs/doubler/skill.py": "import sys\nsys.exit(1)\n"}, {config: '{"retries": 0}'}
    )
    results = made.run(**BENCHMARK).document("benchmark.json")["reports"][0]["taskResults"]
    assert {len(one.get("attempts", [])) for one in results} == {0}


def test_recorded_invocations_and_their_gates_are_those_of_the_tip(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    pytest.importorskip("scipy", reason="scipy is not installed")
    before = {**skill("merge-sheets"), "logs/runs.jsonl": log("merge-sheets")}
    made = old_branch(tmp_path, before, TOUCHED, {"logs/runs.jsonl": log("merge-sheets", well=False)})
    assert made.run(**INPUTS).code == 1
    (tmp_path / "gate").mkdir()
    strict = {".skillgate.yaml": "gates: {publish: {min_score: 100, min_invocations: 5}}\n"}
    assert old_branch(tmp_path / "gate", before, TOUCHED, strict).run(**INPUTS).code == 1


class TestPrompts:
    """Both sides are measured on the prompts that the change began with, unless the base branch has others by now."""

    EVALS = "skills/merge-sheets/evals/triggers.json"

    def made(self, tmp_path: Path, change: Files, after: Files, *, merge: bool = False) -> PullRequest:
        before = {**skill("merge-sheets"), **skill("draw-charts", description=OTHER), self.EVALS: "[]\n"}
        return old_branch(tmp_path, before, change, after, merge=merge)

    def test_an_old_branch_is_not_measured_on_old_ones(self, tmp_path: Path) -> None:
        made = self.made(tmp_path, TOUCHED, {self.EVALS: "[{}]\n"})
        for depth in ("standard", "deep", "certify"):
            ran = made.run(depth=depth)
            assert (ran.code, ran.outputs["result"]) == (2, "error")
            assert "the base branch has changed skills/merge-sheets/evals since" in ran.outputs["reasons"]
        assert made.run(depth="quick").code == 0

    @pytest.mark.parametrize("way", ["another skill", "merged", "another file"])
    def test_what_is_not_measured_on_them_is_measured(self, tmp_path: Path, way: str) -> None:
        change = skill("draw-charts", description=OTHER, body="\nMore.\n") if way == "another skill" else TOUCHED
        after = {"skills/merge-sheets/NOTES.md": "x"} if way == "another file" else {self.EVALS: "[{}]\n"}
        ran = self.made(tmp_path, change, after, merge=way == "merged").run(depth="standard", on_unmeasured="pass")
        assert ran.code == 0, ran.outputs["reasons"]
