"""Scheduled runs: an issue for each skill that got worse, until it is well, and how scores moved in the summary."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.action.history import MOST
from tests.action.pull_request import LINK, PullRequest, Ran, skill
from tests.cli.running import commit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.github.fake_github import FakeGitHub

HISTORY = "skillgate-report/history.json"
POOR = "---\nname: {name}\ndescription: Files.\n---\n# Files\n\nDo it.\n" + LINK


@pytest.fixture
def repository(tmp_path: Path) -> PullRequest:
    from tests.cli.running import git

    folder = tmp_path / "workspace"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    made = PullRequest(folder=folder, name="schedule", event={"schedule": "23 4 * * *"})
    made.base({**skill("one"), **skill("two"), **skill("three"), ".gitignore": "skillgate-report\nbefore\n"})
    return made


def night(repository: PullRequest, **inputs: str) -> Ran:
    """Run as on a schedule; each night has the next number."""
    return attempt(repository, int(repository.environ.get("GITHUB_RUN_ID", "100")) + 1, **inputs)


def attempt(repository: PullRequest, number: int, **inputs: str) -> Ran:
    repository.environ |= {"GITHUB_RUN_ID": str(number)}
    return repository.run(**inputs)


def texts(repository: PullRequest, **skills: str) -> None:
    """Commit other texts of skills; ``good`` as at first, ``poor``, ``gone``, or a text."""
    for name, kind in skills.items():
        path = f"skills/{name}"
        if kind == "gone":
            shutil.rmtree(repository.folder / path)
        else:
            text = {"poor": POOR.format(name=name), "good": skill(name)[f"{path}/SKILL.md"]}.get(kind, kind)
            repository.write({f"{path}/SKILL.md": text})
    commit(repository.folder)


def runs(repository: PullRequest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((repository.folder / HISTORY).read_text(encoding="utf-8"))["runs"]
    return found


class TestIssues:
    @pytest.fixture
    def fake(self, repository: PullRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
        pytest.importorskip("openapi_core")
        pytest.importorskip("github")
        from tests.github.fake_github import TOKEN, FakeGitHub

        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with FakeGitHub() as server:
            repository.environ |= {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": server.url}
            yield server
        assert server.violations == []

    @pytest.fixture
    def compared(self, repository: PullRequest) -> dict[str, str]:
        """Give the inputs of a night that is compared with the skills as they are now."""
        assert night(repository).code == 0
        shutil.copytree(repository.folder / "skillgate-report", repository.folder / "before")
        return {"baseline": "report:before/report.json", "regression_issue": "true"}

    def test_each_skill_has_its_own_from_the_night_it_gets_worse_to_the_night_it_is_well(
        self, repository: PullRequest, compared: dict[str, str], fake: FakeGitHub
    ) -> None:
        texts(repository, one="poor", two="poor")
        first = night(repository, **compared)
        assert (first.code, first.outputs["issue-status"]) == (1, "created"), first.log
        titles = [issue["title"] for issue in fake.issues]
        assert titles == [f"skillgate: skills/{name} has got worse" for name in ("one", "two")]
        assert first.outputs["issue-url"].split("\n") == [issue["html_url"] for issue in fake.issues]
        texts(repository, one="good", two=POOR.format(name="two") + "\nDo it well.\n")
        second = night(repository, **compared)
        assert (second.code, second.outputs["issue-status"]) == (1, "updated")
        assert [issue["state"] for issue in fake.issues] == ["closed", "open"]
        (said,) = fake.said[fake.issues[0]["number"]]
        assert said.startswith("No longer worse: ")
        elsewhere = night(repository, **compared, paths="skills/three")
        assert (elsewhere.code, [issue["state"] for issue in fake.issues]) == (0, ["closed", "open"])
        texts(repository, two="gone")
        third = night(repository, **compared)
        assert (third.code, third.outputs["issue-status"]) == (0, "closed")
        assert "was removed" in fake.said[fake.issues[1]["number"]][0]
        assert night(repository, **compared).outputs["issue-status"] == "skipped"
        assert len(fake.issues) == 2

    def test_one_that_cannot_be_measured_is_left_open_as_it_is(
        self, repository: PullRequest, compared: dict[str, str], fake: FakeGitHub
    ) -> None:
        texts(repository, one="poor")
        night(repository, **compared)
        (issue,) = [dict(one) for one in fake.issues]
        (repository.folder / "skills/one/SKILL.md").write_bytes(b"\xff\xfe broken")
        commit(repository.folder)
        ran = night(repository, **compared)
        assert ran.code != 0
        assert ran.outputs["issue-status"] == "skipped"
        assert fake.issues == [issue]

    def test_a_stranger_s_issue_with_the_marker_is_not_touched(
        self, repository: PullRequest, compared: dict[str, str], fake: FakeGitHub
    ) -> None:
        from skillgate.action.comment.issue import mark_of

        forged = dict(fake.add_issue("mine", f"{mark_of('default', 'skills/one')}\nMine.\n", "mona"))
        assert night(repository, **compared).outputs["issue-status"] == "skipped"
        texts(repository, one="poor")
        assert night(repository, **compared).outputs["issue-status"] == "created"
        assert (fake.issues[0], len(fake.issues)) == (forged, 2)

    @pytest.mark.parametrize(("verb", "status"), [("GET", 500), ("POST", 403), ("POST", 422), ("GET", 404)])
    def test_a_failure_of_github_changes_no_result(
        self, repository: PullRequest, compared: dict[str, str], fake: FakeGitHub, verb: str, status: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        from tests.github.fake_github import Fault

        monkeypatch.setattr("time.sleep", lambda _: None)
        texts(repository, one="poor")
        fault = Fault(status=status, message="Resource not accessible by integration" if status == 403 else "No")
        fake.fail(verb, "issues", *[fault] * 9)
        ran = night(repository, **compared)
        assert (ran.code, ran.outputs["result"]) == (1, "fail")
        assert ran.outputs["issue-status"] == ("forbidden" if status == 403 else "failed")
        assert "::warning title=skillgate::issues " in ran.log
        texts(repository, one="good")
        fake.fail(verb, "issues", *[fault] * 9)
        assert night(repository, **compared).code == 0


class TestHistory:
    def test_a_first_run_begins_one_and_shows_no_trend(self, repository: PullRequest) -> None:
        ran = night(repository)
        (run,) = runs(repository)
        scores = {one["path"]: one["score"] for one in run["skills"]}
        assert list(scores) == ["skills/one", "skills/three", "skills/two"]
        assert (run["mean"], run["lowest"], run["badges"], run["errors"]) == (
            ran.document("report.json")["summary"]["mean"], min(scores.values()), 3, 0
        )  # fmt: skip
        assert "The last" not in ran.summary

    def test_the_summary_shows_how_catalogue_and_skills_moved_also_in_a_run_that_fails(
        self, repository: PullRequest
    ) -> None:
        night(repository)
        texts(repository, two="poor")
        ran = night(repository, min_badge="bronze")
        assert ran.code == 1
        assert "The last 2 runs" in ran.summary
        before, after = ({one["path"]: one["score"] for one in run["skills"]} for run in runs(repository))
        row = next(line for line in ran.summary.splitlines() if "skills/two" in line and "`█▁`" in line)
        assert f"{before['skills/two']:.2f} | {after['skills/two']:.2f} ▼" in row
        trend = ran.summary.partition("The last 2 runs")[2].partition("| skill | score")[0]
        assert "skills/one" not in trend
        assert "skills with a badge" in trend

    def test_a_run_that_measured_nothing_is_a_gap_and_never_nought(self, repository: PullRequest) -> None:
        night(repository)
        broken = night(repository, threshold="much")
        assert broken.code == 2
        assert runs(repository)[-1] == {"head": "", "run": 102, "mean": None, "lowest": None, "badges": None,
            "errors": None, "skills": []}  # fmt: skip
        texts(repository, two="poor")
        ran = night(repository)
        assert "`█·▁`" in ran.summary
        assert "not measured in that run" in ran.summary

    def test_it_holds_the_last_ten_runs_and_another_attempt_of_one_takes_its_place(
        self, repository: PullRequest
    ) -> None:
        attempt(repository, 7)
        history = json.loads((repository.folder / HISTORY).read_text(encoding="utf-8"))
        history["runs"] = [{**history["runs"][0], "run": number} for number in range(1, MOST + 1)]
        (repository.folder / HISTORY).write_text(json.dumps(history), encoding="utf-8")
        attempt(repository, 11)
        assert [run["run"] for run in runs(repository)] == [*range(2, MOST + 1), 11]
        attempt(repository, 11)
        assert [run["run"] for run in runs(repository)] == [*range(2, MOST + 1), 11]

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (lambda _: "{", "not JSON"),
            (lambda _: "[1]", "object"),
            (lambda text: text.replace('"score": 1', '"score": 1e9, "x": 1', 1).replace(": 1e9", ": 101"), "100"),
            (lambda text: text.replace('"runs": [', '"runs": [' + '{"head": "", "run": 1},' * MOST, 1), "more than 10"),
            (lambda text: text.replace('"head": "', '"head": "@mona', 1), "a commit is not one"),
            (lambda text: text.replace("skills/three", "skills/one"), "twice"),
            (lambda text: text.replace("skills/three", "s" * 2_000), "too long"),
            (lambda text: text.replace('"errors": 0', '"errors": 1' + "0" * 400), "a count is too large"),
            (lambda text: text + " " * 10_000_001, "larger than 10 MB"),
        ],
        ids=["broken", "other", "score", "runs", "commit", "twice", "long", "errors", "large"],
    )
    def test_one_that_is_not_valid_is_ignored_with_a_note(self, repository: PullRequest, change: Any, why: str) -> None:
        night(repository)
        place = repository.folder / HISTORY
        text = place.read_text(encoding="utf-8")
        text = text.replace('"score": ', '"score": 1', 1) if why == "100" else text
        forged = change(text)
        assert forged != text
        place.write_text(forged, encoding="utf-8")
        ran = night(repository)
        assert ran.code == 0
        (note,) = [one for one in ran.run["notices"] if "earlier runs are ignored" in one]
        assert why in note
        assert len(runs(repository)) == 1

    def test_a_link_in_its_place_is_not_followed(self, repository: PullRequest, tmp_path: Path) -> None:
        night(repository)
        (tmp_path / "elsewhere.json").write_text((repository.folder / HISTORY).read_text(encoding="utf-8"))
        (repository.folder / HISTORY).unlink()
        (repository.folder / HISTORY).symlink_to(tmp_path / "elsewhere.json")
        before = (tmp_path / "elsewhere.json").read_text()
        ran = night(repository)
        assert (tmp_path / "elsewhere.json").read_text() == before
        assert "The last" not in ran.summary

    def test_hostile_paths_in_it_are_inert(self, repository: PullRequest) -> None:
        night(repository)
        place = repository.folder / HISTORY
        history = json.loads(place.read_text(encoding="utf-8"))
        evil = "skills/@mona](https://evil.example)<img src=x>|`"
        for one in history["runs"][0]["skills"]:
            one["score"] = 1.0
        history["runs"][0]["skills"][0]["path"] = evil
        place.write_text(json.dumps(history), encoding="utf-8")
        ran = night(repository)
        assert "The last 2 runs" in ran.summary
        assert "evil" not in ran.summary  # it is no skill of the last run

    def test_runs_of_another_depth_or_of_a_change_are_not_compared(self, repository: PullRequest) -> None:
        night(repository)
        place = repository.folder / HISTORY
        text = place.read_text(encoding="utf-8")
        place.write_text(text.replace('"depth": "quick"', '"depth": "deep"'), encoding="utf-8")
        assert "The last" not in night(repository).summary
        assert len(runs(repository)) == 1
        repository.name = "pull_request"
        repository.change(skill("four"))
        ran = repository.run()
        assert ran.code == 0
        assert not place.exists()
        assert "The last" not in ran.summary
