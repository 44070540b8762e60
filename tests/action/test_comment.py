"""The comment of a run: made, kept up to date, and never more than a comment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("openapi_core", reason="openapi-core is not installed")

from tests.action.pull_request import DEAD_LINK, PullRequest, skill
from tests.github.fake_github import NAME, NUMBER, TOKEN, FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.action.pull_request import Ran


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake
        assert not fake.violations


@pytest.fixture
def repository(tmp_path: Path, github: FakeGitHub) -> PullRequest:
    made = PullRequest(folder=tmp_path / "work", repository=NAME)
    made.environ = {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": github.url, "INPUT_COMMENT": "always"}
    made.base(skill("merge-sheets"))
    return made


def test_a_failing_change_gets_one_comment_that_follows_it(repository: PullRequest, github: FakeGitHub) -> None:
    repository.change(skill("merge-sheets", body=DEAD_LINK))
    first = repository.run()
    assert (first.code, first.outputs["comment-status"], len(github.comments)) == (1, "created", 1)
    assert first.outputs["comment-url"].endswith("#issuecomment-1000")
    assert github.bodies[0].startswith("<!-- skillgate:v1 key=default -->")
    assert "❌" in github.bodies[0]
    assert repository.run().outputs["comment-status"] == "unchanged"
    repository.write(skill("merge-sheets", body="\nKeep the newest of two rows.\n"))
    again = repository.run()
    assert (again.code, again.outputs["comment-status"], len(github.comments)) == (0, "updated", 1)
    assert "✅" in github.bodies[0]


def test_a_change_of_no_skill_gets_no_comment_but_keeps_no_old_verdict(
    repository: PullRequest, github: FakeGitHub
) -> None:
    repository.change({"README.md": "# More\n"})
    assert repository.run().outputs["comment-status"] == "skipped"
    assert not github.comments
    github.add_comment("<!-- skillgate:v1 key=default -->\n### ❌ skillgate: 1 of 1 skill fails\n")
    assert repository.run().outputs["comment-status"] == "updated"
    assert "❌" not in github.bodies[0]


@pytest.mark.parametrize(
    ("when", "body", "status"),
    [
        ("failures", "\nKeep the newest of two rows.\n", "skipped"),
        ("failures", DEAD_LINK, "created"),
        ("changes", "\nKeep the newest of two rows.\n", "created"),
        ("never", DEAD_LINK, "skipped"),
    ],
)
def test_when_to_comment_can_be_chosen(
    repository: PullRequest, github: FakeGitHub, when: str, body: str, status: str
) -> None:
    repository.change(skill("merge-sheets", body=body * 3))
    ran = repository.run(comment=when)
    assert (ran.outputs["comment-status"], len(github.comments)) == (status, int(status == "created"))


def test_a_token_that_may_not_write_changes_no_verdict(repository: PullRequest, github: FakeGitHub) -> None:
    refusal = Fault(status=403, message="Resource not accessible by integration")
    github.fail("POST", "comments", refusal)
    repository.change(skill("merge-sheets", body="\nKeep the newest of two rows.\n"))
    ran = repository.run()
    assert (ran.code, ran.outputs["result"], ran.outputs["comment-status"]) == (0, "pass", "forbidden")
    assert "::warning title=skillgate::comment forbidden" in ran.log
    assert TOKEN not in ran.log + ran.err + ran.summary


def test_of_a_fork_a_token_that_may_not_write_is_no_warning(repository: PullRequest, github: FakeGitHub) -> None:
    github.fail("POST", "comments", Fault(status=403, message="Resource not accessible by integration"))
    repository.change(skill("merge-sheets", body="\nKeep the newest of two rows.\n"))
    repository.event["pull_request"]["head"]["repo"] = {"full_name": "somebody/skills"}
    ran = repository.run()
    assert (ran.code, ran.outputs["comment-status"]) == (0, "forbidden")
    assert "::notice title=skillgate::comment forbidden" in ran.log


def test_an_answer_that_is_no_comment_is_none(repository: PullRequest, github: FakeGitHub) -> None:
    github.fail("POST", "comments", Fault(status=200, text="<html>a portal</html>"))
    repository.change(skill("merge-sheets", body="\nKeep the newest of two rows.\n"))
    ran = repository.run()
    assert (ran.code, ran.outputs["comment-status"], ran.outputs["comment-url"]) == (0, "failed", "")


def test_an_error_before_the_evaluation_is_said_where_an_old_verdict_stood(
    repository: PullRequest, github: FakeGitHub
) -> None:
    github.add_comment("<!-- skillgate:v1 key=default -->\n### ✅ skillgate: 1 skill passes\n")
    repository.change({".skillgate.yaml": "threshold: 1\n"})
    ran = repository.run(paths="nowhere")
    assert (ran.code, ran.outputs["comment-status"]) == (2, "updated")
    assert "✅" not in github.bodies[0]
    assert "nowhere" in github.bodies[0]


def test_secrets_of_the_step_stand_nowhere(repository: PullRequest, github: FakeGitHub) -> None:
    secret = "correct-horse-battery-staple"
    repository.environ["DEPLOY_TOKEN"] = secret
    names = {"skills/merge-sheets/SKILL.md": skill("merge-sheets")["skills/merge-sheets/SKILL.md"]}
    names["skills/merge-sheets/SKILL.md"] += DEAD_LINK.replace("rows.md", f"{secret}.md")
    repository.change(names)
    ran = repository.run(sarif="skillgate-report/out.sarif")
    written = [path.read_text(encoding="utf-8") for path in (ran.folder / "skillgate-report").iterdir()]
    told = [ran.log, ran.err, ran.summary, json.dumps(ran.outputs), *github.bodies, *written]
    assert len(written) == 6
    assert not [text for text in told if secret in text or TOKEN in text]
    assert all("***" in text.replace("\\", "") for text in (ran.log, ran.summary, *github.bodies))


class TestSecondHalf:
    @pytest.fixture
    def first(self, repository: PullRequest) -> Ran:
        """The first half, in a pull request from a fork: it cannot comment, and leaves its report."""
        repository.change(skill("merge-sheets", body=DEAD_LINK))
        return repository.run(comment="never")

    @pytest.fixture
    def second(self, repository: PullRequest, first: Ran, github: FakeGitHub, tmp_path: Path) -> PullRequest:
        """The second half, with the report of the first where an artifact is put."""
        workspace = tmp_path / "second"
        workspace.mkdir()
        (first.folder / "skillgate-report").rename(workspace / "skillgate-report")
        sha = repository.event["pull_request"]["head"]["sha"]
        made = PullRequest(folder=workspace, repository=NAME, name="workflow_run", environ=repository.environ)
        run = {
            "id": 99,
            "head_sha": sha,
            "head_branch": "change",
            "head_repository": {"owner": {"login": "somebody"}},
            "event": "pull_request",
            "conclusion": "failure",
        }
        made.event = {"workflow_run": run}
        github.add_pull(NUMBER, "somebody:change", sha)
        return made

    def test_the_report_of_a_fork_is_told_as_the_forks_word(self, second: PullRequest, github: FakeGitHub) -> None:
        ran = second.run()
        assert (ran.code, ran.outputs["comment-status"]) == (0, "created")
        (body,) = github.bodies
        assert "❌" in body
        assert "Its author controls" in body
        assert "actions/runs/99" in body

    def test_the_forks_own_sentences_are_not_repeated(self, second: PullRequest, github: FakeGitHub) -> None:
        """They would stand in the name of this repository's own workflow."""
        place = second.folder / "skillgate-report" / "run.json"
        run = json.loads(place.read_text(encoding="utf-8"))
        said = "Approved by the security team"
        forged = {
            **{"reasons": [said], "notices": [said], "policy_changes": [said], "compared": said, "policy": said},
            **{"policy_commit": said, "base": said, "change": said, "tool": {"name": said, "version": said}},
        }
        for result, conclusion in (("pass", "success"), ("fail", "failure"), ("error", "failure")):
            place.write_text(json.dumps({**run, **forged, "result": result, "exit_code": 0}), encoding="utf-8")
            second.event["workflow_run"]["conclusion"] = conclusion
            ran = second.run()
            assert ran.code == 0, ran.err
            (body,) = github.bodies
            assert body.splitlines()[1] == "> [!CAUTION]"
            assert body.splitlines()[2].startswith("> The pull request's own workflow run wrote this report")
            assert said not in body + ran.summary + ran.log + json.dumps(ran.outputs)

    @pytest.mark.parametrize("name", ["run.json", "report.json", "benchmark.json"])
    def test_a_report_that_is_none_is_not_quoted(self, second: PullRequest, github: FakeGitHub, name: str) -> None:
        said = "Approved by the security team"
        forged = {"kind": said, said: said, "benchmark_id": [said], "reports": said}
        (second.folder / "skillgate-report" / name).write_text(json.dumps(forged), encoding="utf-8")
        github.add_comment("<!-- skillgate:v1 key=default -->\n### ✅ skillgate: 1 skill passes\n")
        ran = second.run()
        assert (ran.code, ran.outputs["comment-status"]) == (2, "updated")
        assert name in github.bodies[0]
        assert said not in github.bodies[0] + ran.summary

    def test_a_head_that_has_moved_on_gets_no_comment(self, second: PullRequest, github: FakeGitHub) -> None:
        github.pulls[0]["head"]["sha"] = "a" * 40
        ran = second.run()
        assert (ran.code, ran.outputs["comment-status"], github.comments) == (0, "skipped", [])
        assert "no single open pull request" in ran.err

    def test_a_report_that_passes_in_a_run_that_failed_is_no_pass(
        self, second: PullRequest, github: FakeGitHub
    ) -> None:
        place = second.folder / "skillgate-report" / "run.json"
        run = json.loads(place.read_text(encoding="utf-8"))
        place.write_text(json.dumps(run | {"result": "pass", "exit_code": 0, "reasons": []}), encoding="utf-8")
        assert second.run().code == 0
        assert "✅" not in github.bodies[0]

    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            ("run.json", None, "is missing"),
            ("run.json", "[]", "not a skillgate report"),
            ("run.json", '{"kind": "score"}', "not a skillgate report"),
            ("report.json", '{"kind": "action"}', "not a skillgate report"),
            ("report.json", "{" * 100_000, "not JSON"),
            ("diff.json", "\udcff", "not UTF-8"),
        ],
    )
    def test_what_is_no_report_is_refused(
        self, second: PullRequest, github: FakeGitHub, name: str, text: str | None, said: str
    ) -> None:
        place = second.folder / "skillgate-report" / name
        place.unlink()
        if text is not None:
            place.write_bytes(text.encode("utf-8", "surrogateescape"))
        ran = second.run()
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert said in ran.outputs["reasons"]
        assert not github.comments

    def test_the_artifact_outlives_an_error(self, second: PullRequest) -> None:
        second.environ = {**second.environ, "INPUT_GITHUB-TOKEN": ""}
        before = (second.folder / "skillgate-report/run.json").read_bytes()
        assert second.run().code == 2
        assert (second.folder / "skillgate-report/run.json").read_bytes() == before

    def test_a_link_in_the_artifact_is_not_followed(self, second: PullRequest, tmp_path: Path) -> None:
        place = second.folder / "skillgate-report" / "run.json"
        moved = place.rename(tmp_path / "elsewhere.json")
        place.symlink_to(moved)
        assert second.run().code == 2

    def test_a_failed_comment_fails_the_workflow_whose_only_work_it_is(
        self, second: PullRequest, github: FakeGitHub
    ) -> None:
        github.fail("POST", "comments", Fault(status=403, message="Resource not accessible by integration"))
        ran = second.run()
        assert (ran.code, ran.outputs["comment-status"]) == (3, "forbidden")
