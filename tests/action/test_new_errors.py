"""A change fails by the errors that it adds, not by those that were there; a new skill must reach a minimum score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.action.pull_request import DEAD_LINK, PullRequest, skill
from tests.cli.running import git

if TYPE_CHECKING:
    from pathlib import Path

ANOTHER = "\nSee [the cells](references/cells.md).\n"
SENTENCE = "\nKeep the newest of two rows that share a key.\n"
POOR = {"skills/stub/SKILL.md": "---\nname: stub\ndescription: y\n---\n\nhi\n"}


@pytest.fixture
def repository(tmp_path: Path) -> PullRequest:
    return PullRequest(folder=tmp_path / "work")


def gates(document: object) -> dict[str, tuple[str, str]]:
    (result,) = document["results"]  # type: ignore[index]
    return {one["gate"]: (one["verdict"], one["reason"]) for one in result["gate"]["outcomes"]}


def test_an_old_error_alone_fails_no_change(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=DEAD_LINK))
    repository.change(skill("merge-sheets", body=DEAD_LINK + SENTENCE))
    ran = repository.run()
    assert (ran.code, ran.outputs["errors"], ran.outputs["new-findings"]) == (0, "1", "0")
    assert gates(ran.document("report.json"))["new-error"] == ("pass", "0 new errors; 1 existed before")
    assert "<summary>1 error existed before</summary>" in ran.summary, "also where no score changed"


def test_every_error_counts_where_asked(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=DEAD_LINK))
    repository.change(skill("merge-sheets", body=DEAD_LINK + SENTENCE))
    assert repository.run(fail_on="error").code == 1


def test_a_second_error_of_the_same_kind_is_new(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=DEAD_LINK))
    repository.change(skill("merge-sheets", body=DEAD_LINK + ANOTHER))
    ran = repository.run(max_drop="100")
    assert ran.code == 1
    assert gates(ran.document("report.json"))["new-error"] == ("fail", "1 new error; 1 existed before")


def test_an_error_that_only_moved_to_another_line_is_old(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=DEAD_LINK))
    repository.change(skill("merge-sheets", body=SENTENCE * 3 + DEAD_LINK))
    assert repository.run(max_drop="100").code == 0


def test_a_moved_skill_brings_its_old_errors_along(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=DEAD_LINK))
    files = {path.replace("merge-sheets", "join"): text for path, text in skill("merge-sheets", body=DEAD_LINK).items()}
    repository.change({"skills/merge-sheets": None, **files})
    ran = repository.run(max_drop="100")
    moved = gates(ran.document("report.json"))
    assert moved["new-error"] == ("pass", "0 new errors; 1 existed before")
    assert moved["regression"][0] == "pass"


def test_without_a_base_every_error_fails(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=DEAD_LINK))
    repository.name, repository.sha = "schedule", git(repository.folder, "rev-parse", "HEAD")
    assert repository.run().code == 1
    assert repository.run(fail_on="new-error").code == 1
    assert repository.run(fail_on="threshold", threshold="1").code == 0


def test_a_new_skill_fails_by_each_error(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets"))
    other = "Draw charts of quarterly sales for a slide deck. Use when plotting figures, or when asked for a bar chart."
    repository.change(skill("draw-charts", description=other, body=DEAD_LINK))
    ran = repository.run()
    assert ran.code == 1
    assert "1 new error" in ran.outputs["reasons"]


class TestNewSkills:
    def test_one_of_no_worth_fails(self, repository: PullRequest) -> None:
        repository.base(skill("merge-sheets"))
        repository.change(POOR)
        ran = repository.run()
        assert ran.code == 1
        assert "of the new skill is below" in ran.outputs["reasons"]
        assert "min-new-score" in ran.outputs["reasons"]

    @pytest.mark.parametrize(
        ("inputs", "code"),
        [({"min_new_score": "0"}, 0), ({"min_new_score": "1"}, 0), ({"fail_on": "error"}, 0), ({}, 1)],
    )
    def test_the_minimum_is_the_users(self, repository: PullRequest, inputs: dict[str, str], code: int) -> None:
        repository.base(skill("merge-sheets"))
        repository.change(POOR)
        assert repository.run(**inputs).code == code

    def test_it_says_nothing_of_old_skills(self, repository: PullRequest) -> None:
        repository.base(POOR)
        repository.change({"skills/stub/SKILL.md": POOR["skills/stub/SKILL.md"] + "\nho\n"})
        ran = repository.run()
        assert ran.code == 0
        assert "new-score" not in gates(ran.document("report.json"))

    def test_the_base_sets_it(self, repository: PullRequest) -> None:
        repository.base({**skill("merge-sheets"), ".skillgate.yaml": "min-new-score: 99\n"})
        other = "Draw charts of quarterly sales for a deck. Use when plotting figures, or when asked for a bar chart."
        repository.change({**skill("draw-charts", description=other), ".skillgate.yaml": "min-new-score: 0\n"})
        ran = repository.run()
        assert ran.code == 1
        assert "below 99" in ran.outputs["reasons"]


KEY = "gh" + "p_" + "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY3zA5"
LEAK = "\nLog in with {key} first.\n"


def test_a_known_error_does_not_stand_for_a_second_one(repository: PullRequest) -> None:
    known = (
        '{"kind": "known-findings", "tool": {"version": "1"}, "findings": [{"id": "ORPHAN_REFERENCE",'
        ' "path": "skills/merge-sheets/SKILL.md", "message": "references/rows.md does not exist", "times": 1}]}'
    )
    policy = {".skillgate.yaml": "known-findings: known.json\n", "known.json": known}
    repository.base({**skill("merge-sheets", body=DEAD_LINK), **policy})
    repository.change(skill("merge-sheets", body=DEAD_LINK + SENTENCE + DEAD_LINK.replace("rows", "rows2")))
    ran = repository.run(max_drop="100")
    assert ran.code == 1
    assert gates(ran.document("report.json"))["new-error"][1].startswith("1 new error")


def test_a_warning_that_becomes_an_error_is_new(repository: PullRequest) -> None:
    repository.base(skill("merge-sheets", body=f"\nThe format looks like {KEY}.\n"))
    repository.change(skill("merge-sheets", body=LEAK.format(key=KEY)))
    ran = repository.run(max_drop="100")
    assert (ran.code, gates(ran.document("report.json"))["new-error"]) == (1, ("fail", "1 new error"))
