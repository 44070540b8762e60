"""The issue about regressions: one, kept up to date, closed when all is well, whatever skills are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("github", reason="PyGithub is not installed: pip install skillgate-action[action]")
pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from skillgate.action.api import open_repository
from skillgate.action.comment.comment import utf16
from skillgate.action.comment.issue import issue, mark_of
from skillgate.action.comment.sticky import bears, marker
from tests.github import build
from tests.github.fake_github import NAME, TOKEN, FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.api import Repository

MARK = mark_of("default")
BODY = f"{MARK}\nThese skills have got worse.\n"
NO_RIGHT = Fault(status=403, message="Resource not accessible by integration")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        yield server
    assert server.violations == []


def repository(fake: FakeGitHub) -> Repository:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    return open_repository(fake.url, TOKEN, NAME, sleep=sleep, clock=lambda: now[0], jitter=lambda: 0.0)


class TestKeeping:
    def test_the_first_regression_opens_one_and_the_next_night_brings_it_up_to_date(self, fake: FakeGitHub) -> None:
        first = repository(fake).put_issue(MARK, "one skill", BODY)
        assert (first.status, first.url) == ("created", fake.issues[0]["html_url"])
        assert repository(fake).put_issue(MARK, "one skill", BODY).status == "unchanged"
        assert repository(fake).put_issue(MARK, "two skills", BODY + "Another.\n").status == "updated"
        (only,) = fake.issues
        assert (only["title"], only["state"]) == ("two skills", "open")
        assert "Another." in only["body"]

    def test_the_end_of_it_closes_the_issue_and_says_so_once(self, fake: FakeGitHub) -> None:
        repository(fake).put_issue(MARK, "one skill", BODY)
        assert repository(fake).close_issue(MARK, "All is well.").status == "closed"
        (only,) = fake.issues
        assert (only["state"], only["state_reason"]) == ("closed", "completed")
        assert fake.said == {only["number"]: ["All is well."]}
        assert repository(fake).close_issue(MARK, "All is well.").status == "skipped"
        assert len(fake.said[only["number"]]) == 1

    def test_another_regression_after_it_opens_another_one(self, fake: FakeGitHub) -> None:
        repository(fake).put_issue(MARK, "one skill", BODY)
        repository(fake).close_issue(MARK, "All is well.")
        assert repository(fake).put_issue(MARK, "again", BODY).status == "created"
        assert [one["state"] for one in fake.issues] == ["closed", "open"]

    def test_what_others_wrote_is_never_touched(self, fake: FakeGitHub) -> None:
        fake.add_issue("mine", BODY, "mona")
        fake.add_issue("quoted", f"> {BODY}")
        fake.add_issue("a comment's", f"{marker('default')}\n")
        fake.add_issue("another job's", f"{mark_of('other')}\n")
        fake.add_issue("a pull request", BODY, is_pull=True)
        before = [dict(one) for one in fake.issues]
        assert repository(fake).put_issue(MARK, "ours", BODY).status == "created"
        assert repository(fake).close_issue(MARK, "Well.").status == "closed"
        assert fake.issues[:5] == before
        assert list(fake.said) == [fake.issues[5]["number"]]

    def test_a_second_one_of_ours_is_closed_and_points_to_the_first(self, fake: FakeGitHub) -> None:
        for _ in range(2):
            fake.add_issue("twice", BODY)
        assert repository(fake).put_issue(MARK, "twice", BODY).status == "unchanged"
        assert [one["state"] for one in fake.issues] == ["open", "closed"]
        assert fake.issues[0]["html_url"] in fake.issues[1]["body"]
        assert not bears(fake.issues[1]["body"], MARK)

    def test_one_that_was_deleted_after_it_was_listed_is_opened_again(self, fake: FakeGitHub) -> None:
        gone = fake.add_issue("one", f"{MARK}\nAn old night.\n")
        fake.fail("PATCH", str(gone["number"]), Fault(status=410, message="This issue was deleted", deletes=True))
        posted = repository(fake).put_issue(MARK, "two", BODY)
        assert (posted.status, [one["title"] for one in fake.issues]) == ("created", ["two"])

    def test_one_that_was_deleted_needs_no_closing(self, fake: FakeGitHub) -> None:
        gone = fake.add_issue("one", BODY)
        fake.fail("PATCH", str(gone["number"]), Fault(status=404, message="Not Found", deletes=True))
        posted = repository(fake).close_issue(MARK, "All is well.")
        assert (posted.status, posted.reason) == ("closed", "")

    def test_a_reply_that_is_lost_opens_no_second_one(self, fake: FakeGitHub) -> None:
        fake.fail("POST", "issues", Fault(after=True, lost=True))
        assert repository(fake).put_issue(MARK, "one", BODY).status == "created"
        assert len(fake.issues) == 1

    @pytest.mark.parametrize(
        ("fault", "status", "words"),
        [
            (NO_RIGHT, "forbidden", "issues: write"),
            (Fault(status=410, message="Issues has been disabled in this repository."), "failed", "are disabled"),
            (Fault(status=422, message="Validation Failed"), "failed", "rejects"),
        ],
        ids=["no right", "no issues", "refused"],
    )
    def test_a_failure_is_told_and_never_raised(self, fake: FakeGitHub, fault: Fault, status: str, words: str) -> None:
        fake.fail("POST", "issues", fault)
        posted = repository(fake).put_issue(MARK, "one", BODY)
        assert posted.status == status
        assert words in posted.reason
        assert TOKEN not in posted.reason

    def test_one_behind_a_hundred_others_is_found(self, fake: FakeGitHub) -> None:
        for number in range(130):
            fake.add_issue(f"issue {number}", "Something else.", "mona")
        fake.add_issue("ours", BODY)
        assert repository(fake).put_issue(MARK, "ours", BODY).status == "unchanged"

    def test_a_body_without_its_marker_or_too_long_is_not_sent(self, fake: FakeGitHub) -> None:
        assert repository(fake).put_issue(MARK, "one", "no marker").status == "failed"
        assert repository(fake).put_issue(MARK, "one", BODY + "x" * 66_000).status == "failed"
        assert fake.exchanges == []


class TestWords:
    def test_a_regression_is_told_with_both_scores_and_the_reason(self) -> None:
        found = issue(build.regression())
        assert found is not None
        assert bears(found.body, MARK)
        assert found.title == "skillgate: 1 skill has got worse"
        assert "csv-import" in found.body
        assert " → " in found.body
        assert found.closing == ""

    def test_a_run_without_one_closes_it(self) -> None:
        found = issue(build.all_pass())
        assert found is not None
        assert (found.title, found.body) == ("", "")
        assert "No skill is worse any more" in found.closing

    @pytest.mark.parametrize("situation", [build.no_base, build.unread, build.ended_early])
    def test_a_run_that_does_not_know_leaves_it_as_it_is(self, situation: object) -> None:
        assert callable(situation)
        found = issue(situation())
        assert found is None or bool(found.body)

    def test_whatever_skills_are_called_the_text_is_inert_and_bounded(self) -> None:
        evil = "skills/<!-- x -->@mona](https://evil.example/) ![x](y) #1 `" + "w" * 300
        pairs = [
            (
                build.skill(f"{evil}{n}", 80.0),
                build.skill(f"{evil}{n}", 40.0, build.finding(message="<img src=x> @mona https://evil.example " * 20)),
            )
            for n in range(300)
        ]
        found = issue(build.subject(build.run("fail"), *pairs))
        assert found is not None
        assert utf16(found.body) <= 65_000
        assert "evil" not in found.title
        assert "300 skills have got worse" in found.title
        assert "more skills in the [full report]" in found.body
        assert "- 280 more reasons" in found.body
        assert "<img" not in found.body
        assert " @mona" not in found.body.replace("`", "")
        assert found.body.count("<!--") == 1

    def test_a_key_has_an_issue_of_its_own(self) -> None:
        other = build.regression()._replace(key="weekly")
        found = issue(other)
        assert found is not None
        assert found.marker != MARK
        assert "(weekly)" in found.title
