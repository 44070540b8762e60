"""The issues about regressions: one for each skill, kept up to date, closed when it is well, whatever it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("github", reason="PyGithub is not installed: pip install skillgate-action[action]")
pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from skillgate.action.api import open_repository
from skillgate.action.comment.comment import utf16
from skillgate.action.comment.issue import MOST_OPEN, Issue, issues, mark_of, marks
from skillgate.action.comment.sticky import bears, marker
from tests.github import build
from tests.github.fake_github import NAME, TOKEN, FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.action.api import Posted, Repository
    from skillgate.action.comment.subject import Subject

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


def update(fake: FakeGitHub, *issues: Issue) -> Posted:
    return repository(fake).update_issues(marks("default"), lambda _: issues)


def known_to(fake: FakeGitHub) -> set[str]:
    """Give the markers of the issues that are taken for ours."""
    found: set[str] = set()

    def decide(known: frozenset[str]) -> tuple[Issue, ...]:
        found.update(known)
        return ()

    repository(fake).update_issues(marks("default"), decide)
    return found


def put(fake: FakeGitHub, title: str, body: str = BODY, mark: str = MARK) -> Posted:
    return update(fake, Issue(mark, title, body))


def close(fake: FakeGitHub, words: str = "All is well.") -> Posted:
    return update(fake, Issue(MARK, closing=words))


class TestKeeping:
    def test_the_first_regression_opens_one_and_the_next_night_brings_it_up_to_date(self, fake: FakeGitHub) -> None:
        first = put(fake, "one skill")
        assert (first.status, first.url) == ("created", fake.issues[0]["html_url"])
        assert put(fake, "one skill").status == "unchanged"
        assert put(fake, "two skills", BODY + "Another.\n").status == "updated"
        (only,) = fake.issues
        assert (only["title"], only["state"]) == ("two skills", "open")
        assert "Another." in only["body"]

    def test_the_end_of_it_closes_the_issue_and_says_so_once(self, fake: FakeGitHub) -> None:
        put(fake, "one skill")
        assert close(fake).status == "closed"
        (only,) = fake.issues
        assert (only["state"], only["state_reason"]) == ("closed", "completed")
        assert fake.said == {only["number"]: ["All is well."]}
        assert close(fake).status == "skipped"
        assert len(fake.said[only["number"]]) == 1

    def test_another_regression_after_it_opens_another_one(self, fake: FakeGitHub) -> None:
        put(fake, "one skill")
        close(fake)
        assert put(fake, "another").status == "created"
        assert [one["state"] for one in fake.issues] == ["closed", "open"]

    def test_what_others_wrote_is_never_touched_and_not_known(self, fake: FakeGitHub) -> None:
        fake.add_issue("mine", BODY, "mona")
        fake.add_issue("quoted", f"> {BODY}")
        fake.add_issue("a comment's", f"{marker('default')}\n")
        fake.add_issue("another job's", f"{mark_of('other')}\n")
        fake.add_issue("a pull request", BODY, is_pull=True)
        before = [dict(one) for one in fake.issues]
        assert known_to(fake) == set()
        assert put(fake, "ours").status == "created"
        assert close(fake).status == "closed"
        assert fake.issues[:5] == before
        assert list(fake.said) == [fake.issues[5]["number"]]

    def test_issues_about_several_skills_are_listed_once_and_each_is_kept_apart(self, fake: FakeGitHub) -> None:
        one, two = mark_of("default", "skills/one"), mark_of("default", "skills/two")
        wanted = (Issue(one, "one", f"{one}\nOne.\n"), Issue(two, "two", f"{two}\nTwo.\n"))
        assert update(fake, *wanted).url.split() == [issue["html_url"] for issue in fake.issues]
        fake.exchanges.clear()
        assert update(fake, *wanted).status == "unchanged"
        assert [line for line in fake.lines if "issues" in line] == ["GET /issues 200"]
        assert known_to(fake) == {one, two}
        assert update(fake, Issue(one, closing="Well."), wanted[1]).status == "closed"
        assert [issue["state"] for issue in fake.issues] == ["closed", "open"]

    def test_one_that_github_refuses_leaves_the_others_to_be_opened(self, fake: FakeGitHub) -> None:
        one, two = mark_of("default", "skills/one"), mark_of("default", "skills/two")
        fake.fail("POST", "issues", Fault(status=422, message="Validation Failed"))
        posted = update(fake, Issue(one, "one", f"{one}\nOne.\n"), Issue(two, "two", f"{two}\nTwo.\n"))
        assert (posted.status, posted.url) == ("failed", fake.issues[0]["html_url"])
        assert "rejects" in posted.reason
        assert [issue["title"] for issue in fake.issues] == ["two"]

    def test_a_second_one_of_ours_is_closed_and_points_to_the_first(self, fake: FakeGitHub) -> None:
        for _ in range(2):
            fake.add_issue("twice", BODY)
        assert put(fake, "twice").status == "unchanged"
        assert [one["state"] for one in fake.issues] == ["open", "closed"]
        assert fake.issues[0]["html_url"] in fake.issues[1]["body"]
        assert not bears(fake.issues[1]["body"], MARK)

    def test_one_that_was_deleted_after_it_was_listed_is_opened_again(self, fake: FakeGitHub) -> None:
        gone = fake.add_issue("one", f"{MARK}\nAn old night.\n")
        fake.fail("PATCH", str(gone["number"]), Fault(status=410, message="This issue was deleted", deletes=True))
        posted = put(fake, "two")
        assert (posted.status, [one["title"] for one in fake.issues]) == ("created", ["two"])

    def test_one_that_was_deleted_needs_no_closing(self, fake: FakeGitHub) -> None:
        gone = fake.add_issue("one", BODY)
        fake.fail("PATCH", str(gone["number"]), Fault(status=404, message="Not Found", deletes=True))
        posted = close(fake)
        assert (posted.status, posted.reason) == ("closed", "")

    def test_a_reply_that_is_lost_opens_no_second_one(self, fake: FakeGitHub) -> None:
        fake.fail("POST", "issues", Fault(after=True, lost=True))
        assert put(fake, "one").status == "created"
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
    @pytest.mark.parametrize("verb", ["GET", "POST"])
    def test_a_failure_is_told_and_never_raised(
        self, fake: FakeGitHub, fault: Fault, status: str, words: str, verb: str
    ) -> None:
        fake.fail(verb, "issues", fault)
        posted = put(fake, "one")
        assert posted.status == status
        assert words in posted.reason
        assert TOKEN not in posted.reason
        assert fake.issues == []

    def test_one_behind_a_hundred_others_is_found(self, fake: FakeGitHub) -> None:
        for number in range(130):
            fake.add_issue(f"issue {number}", "Something else.", "mona")
        fake.add_issue("ours", BODY)
        assert put(fake, "ours").status == "unchanged"

    def test_a_body_without_its_marker_or_too_long_is_not_sent(self, fake: FakeGitHub) -> None:
        assert put(fake, "one", "no marker").status == "failed"
        assert put(fake, "one", BODY + "x" * 66_000).status == "failed"
        assert [line for line in fake.lines if not line.startswith("GET")] == []


FELL = build.subject(
    build.run("fail"),
    (build.skill("skills/one", 80.0), build.skill("skills/one", 40.0)),
    (build.skill("skills/two", 80.0), build.skill("skills/two", 50.0)),
    build.same("skills/three"),
)
STAYS = "skills/stays"
ONE, TWO, THREE = (mark_of("default", f"skills/{name}") for name in ("one", "two", "three"))


def decided(subject: Subject, *known: str) -> dict[str, Issue]:
    """Give what becomes of the issues, by marker."""
    found = list(issues(subject, known, lambda path: path == STAYS))
    assert len({one.marker for one in found}) == len(found)
    return {one.marker: one for one in found}


def many(count: int, *, path: str = "skills/s", after: float = 40.0) -> Subject:
    """Give a run after which many skills are worse."""
    evil = build.finding(message="<img src=x> @mona https://evil.example " * 20)
    pairs = [(build.skill(f"{path}{n}", 80.0), build.skill(f"{path}{n}", after, evil)) for n in range(count)]
    return build.subject(build.run("fail", changed_only=False), *pairs)


class TestWords:
    def test_a_regression_is_told_with_both_scores_and_the_reason(self) -> None:
        (found,) = issues(build.regression(), (), bool)
        assert bears(found.body, mark_of("default", "skills/csv-import"))
        assert found.title == "skillgate: skills/csv-import has got worse"
        assert "csv-import" in found.body
        assert " → " in found.body
        assert "report-writer" not in found.body
        assert found.closing == ""

    def test_each_skill_has_an_issue_of_its_own(self) -> None:
        assert {mark: one.title for mark, one in decided(FELL).items()} == {
            ONE: "skillgate: skills/one has got worse",
            TWO: "skillgate: skills/two has got worse",
        }

    def test_one_that_has_recovered_is_closed_while_another_is_still_worse(self) -> None:
        found = decided(FELL, ONE, THREE)
        assert list(found) == [ONE, TWO, THREE]
        assert found[THREE].body == ""
        assert "No longer worse: 80.00 → 80.00 at" in found[THREE].closing
        assert f"[full report]({build.RUN_URL})" in found[THREE].closing

    def test_one_whose_skill_is_gone_is_closed_by_a_run_over_every_skill(self) -> None:
        run = build.run(changed_only=False)
        gone = build.subject(run, (build.skill("skills/one", 80.0), None), build.same("skills/three"))
        assert "was removed at" in decided(gone, ONE)[ONE].closing
        assert TWO not in decided(gone, TWO), "neither before nor now: a run over other paths"
        stays = build.subject(run, (build.skill(STAYS, 80.0), None))
        assert decided(stays, mark_of("default", STAYS)) == {}, "not in the paths of this run, and still there"
        assert decided(gone._replace(run=build.run()), ONE, TWO) == {}
        assert decided(gone._replace(run=build.run("error", changed_only=False)), ONE, TWO) == {}
        part = gone.report._replace(shard="1/4") if gone.report else None
        assert decided(gone._replace(report=part), ONE, TWO) == {}

    def test_a_skill_that_moved_while_it_was_worse_keeps_its_issue(self) -> None:
        moved = build.skill("skills/one", 80.0), build.skill("elsewhere/one", 40.0)
        found = decided(build.subject(build.run("fail", changed_only=False), moved), ONE)
        assert [(mark, bool(one.body)) for mark, one in found.items()] == [(ONE, True)]

    def test_a_skill_that_could_not_be_measured_keeps_its_issue_as_it_is(self) -> None:
        locked = build.skill("skills/one", None, reason="not evaluated: Permission denied", evaluated=False)
        unread = build.subject(build.run("error"), (build.skill("skills/one", 80.0), locked), build.same("skills/two"))
        assert list(decided(unread, ONE, TWO)) == [TWO]

    @pytest.mark.parametrize("situation", [build.no_base, build.ended_early])
    def test_a_run_that_does_not_know_leaves_all_as_they_are(self, situation: Callable[[], Subject]) -> None:
        assert decided(situation(), MARK, ONE) == {}

    def test_a_run_opens_ten_and_lists_the_others_in_one_more(self) -> None:
        fell = many(14)
        found = decided(fell)
        assert len(found) == MOST_OPEN + 1
        assert found[MARK].title == "skillgate: 4 more skills have got worse"
        assert found[MARK].body.count("skills/s") >= 4
        open_now = [mark for mark in found if mark != MARK]
        next_run = decided(fell, *open_now, MARK)
        assert list(next_run) == list(found)
        some = decided(fell, *open_now[2:], MARK)
        assert set(some) == set(found)  # the two that somebody closed are opened again, and no more

    def test_the_list_is_closed_when_no_skill_is_left_for_it(self) -> None:
        fell = many(3)
        assert "has its own issue" in decided(fell, MARK)[MARK].closing
        well = build.subject(build.run(changed_only=False), build.same("skills/one"))
        assert decided(well, MARK)[MARK].closing.startswith("No skill is worse")
        unknown = (build.skill("skills/x", 80.0), build.skill("skills/x", None, reason="no answer"))
        pairs = [(build.skill("skills/one", 80.0), build.skill("skills/one", 40.0)), unknown]
        assert MARK not in decided(build.subject(build.run("fail", changed_only=False), *pairs), MARK)

    def test_whatever_skills_are_called_the_text_is_inert_and_bounded(self) -> None:
        evil = "skills/<!-- x -->@mona](https://evil.example/) ![x](y) #1 `" + "w" * 300
        for one in issues(many(300, path=evil), (), bool):
            assert utf16(one.body) <= 65_000
            assert not set("<>@#`[]()!\n") & set(one.title)
            assert len(one.title) < 200
            assert "<img" not in one.body
            assert " @mona" not in one.body.replace("`", "")
            assert one.body.count("<!--") == 1
        listed = decided(many(300, path=evil))[MARK]
        assert "290 more skills" in listed.title
        assert "more skills in the [full report]" in listed.body
        assert "- 270 more reasons" in listed.body

    def test_a_key_has_issues_of_its_own(self) -> None:
        (found,) = issues(build.regression()._replace(key="weekly"), (), bool)
        assert marks("weekly").fullmatch(found.marker)
        assert not marks("default").fullmatch(found.marker)
        assert "(weekly)" in found.title
