"""What a pull request is held to: its own change, beside its base, by the base's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.action.pull_request import DEAD_LINK, WAIVED, PullRequest, skill
from tests.cli.running import git

OTHER = "Draw charts of quarterly sales for a slide deck. Use when plotting figures, or when asked for a bar chart."


def _notes(more: str = "") -> dict[str, str]:
    """Give a skill that has nothing in common with the others."""
    text = "Translate release notes into German. Use when asked for German notes, or when publishing a release."
    words = "\n".join(f"Turn sentence {count} of the notes into German and keep its sense." for count in range(200))
    body = f"# Translate notes\n\n{words}\n{more}\n"
    return {"skills/translate-notes/SKILL.md": f"---\nname: translate-notes\ndescription: {text}\n---\n{body}"}


@pytest.fixture
def repository(tmp_path: Path) -> PullRequest:
    return PullRequest(folder=tmp_path / "work")


def test_a_change_that_keeps_the_score_passes(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    repository.change(skill("merge-sheets", body="\nKeep the newest of two rows that share a key.\n"))
    ran = repository.run()
    assert (ran.code, ran.outputs["result"], ran.outputs["reasons"]) == (0, "pass", "")
    assert ran.outputs["baseline-rev"] == git(repository.folder, "rev-parse", "HEAD^1")
    assert ran.run["compared"] == "the commit that GitHub merged the change into"


def test_an_error_fails_it_and_the_reason_is_the_first_line_of_the_log(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    repository.change(skill("merge-sheets", body=DEAD_LINK))
    ran = repository.run()
    assert (ran.code, ran.outputs["result"], ran.outputs["errors"], ran.outputs["new-findings"]) == (
        1,
        "fail",
        "1",
        "1",
    )
    assert ran.log.splitlines()[1].startswith("skillgate: the skill fails: skills/merge-sheets: 1 new error")
    assert "::error file=skills/merge-sheets/SKILL.md,line=" in ran.log


def test_a_drop_beyond_what_is_allowed_fails_it(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    repository.change(skill("merge-sheets", description="Clean and merge CSV files into one table, quickly and well."))
    ran = repository.run()
    assert (ran.code, ran.outputs["errors"]) == (1, "0")
    assert "dropped" in ran.outputs["reasons"] or "lost its badge" in ran.outputs["reasons"]
    assert repository.run(max_drop="100", fail_on="error").code == 0


def test_what_the_change_does_not_touch_never_fails_it(repository: PullRequest) -> None:
    repository.base({**skill("merge-sheets"), **skill("draw-charts", description=OTHER, body=DEAD_LINK)})
    repository.change(skill("merge-sheets", body="\nKeep the newest of two rows that share a key.\n"))
    ran = repository.run()
    assert (ran.code, ran.outputs["skills"]) == (0, "1")
    everything = repository.run(changed_only="false", fail_on="error")
    assert (everything.code, everything.outputs["skills"]) == (1, "2")


def test_a_change_of_no_skill_passes(repository: PullRequest) -> None:
    repository.base({**skill("merge-sheets", body=DEAD_LINK), "README.md": "# Skills\n"})
    repository.change({"README.md": "# All skills\n"})
    ran = repository.run()
    assert (ran.code, ran.outputs["skills"], ran.run["touched"]) == (0, "0", 0)


def test_a_change_of_a_reference_alone_is_a_change_of_its_skill(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    repository.change({"skills/merge-sheets/references/columns.md": None})
    ran = repository.run()
    assert (ran.code, ran.outputs["skills"], ran.outputs["errors"]) == (1, "1", "1")


def test_a_new_skill_has_no_baseline_and_a_removed_one_is_told(repository: PullRequest) -> None:
    repository.base({**skill("merge-sheets"), **skill("draw-charts", description=OTHER)})
    repository.change({"skills/draw-charts": None, **_notes()})
    ran = repository.run(min_new_score="0")
    states = {change["name"]: change["state"] for change in ran.document("diff.json")["skills"]}
    assert (ran.code, states) == (0, {"draw-charts": "removed", "translate-notes": "new"})
    assert ran.run["touched"] == 2


def test_a_renamed_skill_keeps_its_baseline(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    files = {path.replace("merge-sheets", "join-tables"): text for path, text in skill("merge-sheets").items()}
    repository.change({"skills/merge-sheets": None, **files})
    (change,) = repository.run().document("diff.json")["skills"]
    assert (change["before"]["path"], change["after"]["path"]) == ("skills/merge-sheets", "skills/join-tables")


def test_what_two_other_skills_share_is_not_gone_because_nobody_asked(repository: PullRequest) -> None:
    twins = {**skill("draw-charts", description=OTHER), **skill("plot-figures", description=OTHER)}
    repository.base({**_notes(), **twins})
    repository.change(_notes("Keep the names of products as they are."))
    assert repository.run().document("diff.json")["across"] == {"new": [], "fixed": []}
    repository.folder.joinpath("skills/draw-charts/SKILL.md").write_text("# Charts\n", encoding="utf-8")
    gone = {finding["id"] for finding in repository.run().document("diff.json")["across"]["fixed"]}
    assert "INDISTINCT" in gone


def test_all_skills_may_be_removed(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    repository.change({"skills": None, "README.md": "# Nothing left\n"})
    ran = repository.run(paths="skills")
    assert (ran.code, ran.outputs["skills"], ran.outputs["score"]) == (0, "0", "")


def test_where_there_never_was_a_skill_nothing_passes(repository: PullRequest) -> None:
    repository.base({"README.md": "# Nothing\n"})
    repository.change({"README.md": "# Still nothing\n"})
    ran = repository.run()
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert "no skill found" in ran.outputs["reasons"]


class TestPolicyOfTheBase:
    def test_a_change_cannot_lower_its_own_gate(self, repository: PullRequest) -> None:
        repository.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 60\n"})
        lowered = "fail-on: never\nthreshold: 1\nignore: [ORPHAN_REFERENCE]\n"
        lowered += "overrides:\n  - paths: ['**']\n    threshold: 0\n"
        repository.change({**skill("merge-sheets", body=DEAD_LINK), ".skillgate.yaml": lowered})
        ran = repository.run()
        assert (ran.code, ran.run["policy"]) == (1, "the base")
        assert ran.run["policy_changes"] == [
            "fail-on: not set → never",
            "ignore: not set → ORPHAN_REFERENCE",
            "threshold: 60 → 1",
            "threshold for ** (override 1): not set → 0",
        ]
        assert "threshold: 60 → 1" in ran.summary

    def test_a_change_cannot_bring_a_configuration_nearer_by(self, repository: PullRequest) -> None:
        repository.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 99.9\n"})
        repository.change({**skill("merge-sheets", body="\nMore.\n"), "skills/.skillgate.yaml": "threshold: 1\n"})
        ran = repository.run(working_directory="skills")
        assert (ran.code, ran.run["policy_changes"]) == (1, ["threshold: 99.9 → 1"])

    def test_a_stricter_gate_takes_effect_after_the_merge_too(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets"))
        repository.change({**skill("merge-sheets", body="\nMore.\n"), ".skillgate.yaml": "threshold: 99.9\n"})
        assert repository.run().code == 0

    def test_a_change_that_leaves_no_valid_gate_is_refused(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets"))
        repository.change({".skillgate.yaml": "treshold: 60\n"})
        ran = repository.run()
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert "the configuration of this change is not valid" in ran.outputs["reasons"]
        assert "threshold" in ran.outputs["reasons"]

    def test_a_new_comment_sets_nothing_aside_yet(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets"))
        repository.change(skill("merge-sheets", body=f"\n{WAIVED}\n{DEAD_LINK.lstrip()}"))
        ran = repository.run()
        assert (ran.code, ran.outputs["errors"]) == (1, "1")
        (told,) = ran.run["policy_changes"]
        assert "ORPHAN_REFERENCE" in told
        assert "written by the release" in told

    def test_a_comment_of_the_base_holds(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets", body=f"\n{WAIVED}\n{DEAD_LINK.lstrip()}"))
        repository.change(skill("merge-sheets", body=f"\nMore words.\n\n{WAIVED}\n{DEAD_LINK.lstrip()}"))
        ran = repository.run()
        assert (ran.code, ran.outputs["errors"], ran.run["policy_changes"]) == (0, "0", [])

    def test_a_comment_of_the_base_cannot_be_carried_to_something_else(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets", body=f"\n{WAIVED}\n{DEAD_LINK.lstrip()}"))
        other = DEAD_LINK.replace("rows.md", "secrets.md")
        repository.change(skill("merge-sheets", body=f"\n{WAIVED}\n{other.lstrip()}"))
        assert repository.run().code == 1

    def test_known_findings_are_those_of_the_base(self, repository: PullRequest) -> None:
        settings = {".skillgate.yaml": "known-findings: known.json\n"}
        known = '{"kind": "known-findings", "tool": {"version": "1"}, "findings": [%s]}'
        entry = (
            '{"id": "ORPHAN_REFERENCE", "path": "skills/merge-sheets/SKILL.md",'
            ' "message": "references/rows.md does not exist", "times": 1}'
        )
        repository.base({**skill("merge-sheets"), **settings, "known.json": known % ""})
        repository.change({**skill("merge-sheets", body=DEAD_LINK), "known.json": known % entry})
        ran = repository.run()
        assert (ran.code, ran.run["policy_changes"]) == (1, ["1 finding is now known: ORPHAN_REFERENCE"])

    def test_a_baseline_report_that_the_change_brings_is_refused(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets"))
        repository.change({**skill("merge-sheets", body="\nMore.\n"), "reports/base.json": "{}\n"})
        ran = repository.run(baseline="report:reports/base.json")
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert "is new in this change" in ran.outputs["reasons"]

    def test_without_a_comparison_the_policy_is_still_the_bases(self, repository: PullRequest) -> None:
        repository.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 99.9\n"})
        repository.change(
            {**skill("merge-sheets", body=f"\n{WAIVED}\n{DEAD_LINK.lstrip()}"), ".skillgate.yaml": "threshold: 1\n"}
        )
        ran = repository.run(baseline="none")
        assert (ran.code, ran.outputs["errors"], ran.outputs["baseline-rev"]) == (1, "1", "")


class TestRefusals:
    @pytest.mark.parametrize("depth", ["deep", "certify"])
    def test_a_depth_that_nobody_can_answer_is_never_run_as_quick(self, repository: PullRequest, depth: str) -> None:
        repository.base(skill("merge-sheets"))
        repository.change(skill("merge-sheets", body="\nMore.\n"))
        ran = repository.run(depth=depth)
        assert (ran.code, ran.outputs["result"], ran.outputs["score"]) == (1, "fail", "")
        assert "was not measured" in ran.outputs["reasons"] or "not judged" in ran.outputs["reasons"]
        assert ran.document("report.json")["depth"] == depth

    def test_inputs_are_refused_together(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets"))
        repository.change(skill("merge-sheets", body="\nMore.\n"))
        ran = repository.run(threshold="110", annotations="yes", fail_on="errors")
        assert ran.code == 2
        assert [line.split(":")[0] for line in ran.outputs["reasons"].splitlines()] == [
            "input threshold",
            "input fail-on",
            "input annotations",
        ]

    def test_a_report_is_not_written_through_a_link_of_the_change(
        self, repository: PullRequest, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        repository.base(skill("merge-sheets"))
        repository.folder.joinpath("skillgate-report").symlink_to(outside)
        repository.change(skill("merge-sheets", body="\nMore.\n"))
        ran = repository.run()
        assert (ran.code, ran.outputs["result"], list(outside.iterdir())) == (2, "error", [])
        assert "leads out of the workspace" in ran.outputs["reasons"]

    @pytest.mark.parametrize(
        "inputs", [{"working_directory": ".."}, {"paths": "../other"}, {"working_directory": "/etc"}]
    )
    def test_nothing_outside_of_the_workspace_is_asked_about(
        self, repository: PullRequest, inputs: dict[str, str]
    ) -> None:
        repository.base(skill("merge-sheets"))
        repository.change(skill("merge-sheets", body="\nMore.\n"))
        ran = repository.run(**inputs)
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert "leads out of the workspace" in ran.outputs["reasons"]


class TestPaths:
    def test_a_path_may_be_left_out(self, repository: PullRequest) -> None:
        repository.base({**skill("merge-sheets"), **skill("draw-charts", description=OTHER)})
        repository.change(
            {**skill("merge-sheets", body="\nMore.\n"), **skill("draw-charts", description=OTHER, body=DEAD_LINK)}
        )
        assert repository.run().code == 1
        ran = repository.run(paths="skills\n!skills/draw-charts")
        assert (ran.code, ran.outputs["skills"]) == (0, "1")
        inside = repository.run(working_directory="skills", paths=".\n!draw-charts")
        assert (inside.code, inside.outputs["scores"]) == (0, ran.outputs["scores"])


def test_what_cannot_be_measured_fails_unless_it_may(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    repository.change({"skills/merge-sheets/SKILL.md": "\0"})
    ran = repository.run()
    assert (ran.code, ran.outputs["result"]) == (1, "fail")
    lenient = repository.run(on_unmeasured="pass", fail_on="threshold,unmeasured", threshold="10")
    assert lenient.code == 1  # its score is asked for, and there is none


def test_a_run_on_a_schedule_compares_with_nothing_and_gates_everything(repository: PullRequest) -> None:
    repository.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 10\n"})
    repository.name = "schedule"
    ran = repository.run()
    assert (ran.code, ran.outputs["skills"], ran.run["policy"], ran.run["base"]) == (0, "1", "this commit", None)
    assert repository.run(threshold="99.9").code == 1
