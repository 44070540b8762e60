"""The API's door against a stand-in for GitHub, over real sockets; waiting is recorded and moves the test's clock."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("github", reason="PyGithub is not installed: pip install skillgate-action[action]")
pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")

from skillgate.action.api import MAX_WAIT_S, open_repository
from skillgate.action.comment import sticky
from skillgate.action.github import GitHubError
from tests.github.fake_github import ACTIONS, NAME, NUMBER, TOKEN, FakeGitHub, Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.api import Posted, Repository

MARK = sticky.marker("default")
BODY = f"{MARK}\n### passed\n\nAll is well.\n"
OTHER = f"{MARK}\n### failed\n"
LIST, POST = f"GET /issues/{NUMBER}/comments 200", f"POST /issues/{NUMBER}/comments 201"
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
NO_RIGHT = Fault(status=403, message="Resource not accessible by integration")


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def time() -> Time:
    return Time()


@contextlib.contextmanager
def _serving(base_path: str = "") -> Iterator[FakeGitHub]:
    with FakeGitHub(base_path=base_path) as fake:
        yield fake
    assert fake.violations == []


def test_the_stand_in_is_held_to_githubs_description(time: Time) -> None:
    with FakeGitHub() as fake:
        del fake.add_comment("opinion", "mona")["html_url"]
        assert _put(fake, time).status == "created"
    assert len(fake.violations) == 1
    assert "html_url" in fake.violations[0]


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with _serving() as server:
        yield server


def _repository(fake: FakeGitHub, time: Time, *, token: str = TOKEN, jitter: float = 0.0, url: str = "") -> Repository:
    return open_repository(
        url or fake.url, token, NAME, sleep=time.sleep, clock=lambda: time.now, jitter=lambda: jitter
    )


def _put(fake: FakeGitHub, time: Time, body: str = BODY) -> Posted:
    return _repository(fake, time).put_comment(NUMBER, body, MARK)


def test_the_first_run_creates_the_comment(fake: FakeGitHub, time: Time) -> None:
    posted = _put(fake, time)
    assert posted == ("created", f"https://github.com/{NAME}/pull/{NUMBER}#issuecomment-1000", "")
    assert fake.bodies == [BODY.replace("\n", "\r\n")]
    assert fake.lines == [LIST, POST]
    assert time.slept == []


def test_a_later_run_writes_its_own_comment_anew(fake: FakeGitHub, time: Time) -> None:
    first = _put(fake, time)
    assert _put(fake, time, OTHER) == ("updated", first.url, "")
    assert fake.bodies == [OTHER.replace("\n", "\r\n")]


def test_the_same_text_is_left_alone_though_github_has_changed_its_line_ends(fake: FakeGitHub, time: Time) -> None:
    first = _put(fake, time)
    assert _put(fake, time) == ("unchanged", first.url, "")
    assert not any(exchange.verb == "PATCH" for exchange in fake.exchanges)


def test_no_comment_is_made_where_none_was_asked_for(fake: FakeGitHub, time: Time) -> None:
    repository = _repository(fake, time)
    assert repository.put_comment(NUMBER, BODY, MARK, create=False) == ("skipped", "", "")
    assert fake.comments == []
    _put(fake, time)
    assert repository.put_comment(NUMBER, OTHER, MARK, create=False).status == "updated"


def test_one_key_leaves_the_comment_of_another_alone(fake: FakeGitHub, time: Time) -> None:
    _put(fake, time)
    docs = sticky.marker("docs")
    assert _repository(fake, time).put_comment(NUMBER, f"{docs}\nx", docs).status == "created"
    assert len(fake.comments) == 2


@pytest.mark.parametrize(("before", "pages"), [(98, 1), (99, 2), (100, 2), (131, 2), (199, 2), (200, 3)])
def test_its_own_comment_is_found_behind_many_others(fake: FakeGitHub, time: Time, before: int, pages: int) -> None:
    for number in range(before):
        fake.add_comment(f"opinion {number}", "mona")
    fake.add_comment(OTHER)
    assert _put(fake, time).status == "updated"
    assert len(fake.comments) == before + 1
    assert fake.lines.count(LIST) == pages  # a full page without a word of another one is not trusted to be the last


@pytest.mark.parametrize("login", ["mona", "echo[bot]"])
def test_a_marker_that_another_account_copied_is_not_touched(fake: FakeGitHub, time: Time, login: str) -> None:
    copied = fake.add_comment(OTHER, login)["body"]
    assert _put(fake, time).status == "created"
    assert fake.bodies == [copied, BODY.replace("\n", "\r\n")]


def test_an_apps_token_finds_what_the_app_wrote_and_no_other_bot(fake: FakeGitHub, time: Time) -> None:
    fake.viewer = "gate[bot]"
    fake.add_comment(OTHER, ACTIONS, app="github-actions")
    fake.add_comment(OTHER, "gate[bot]", app="gate")
    assert _put(fake, time).status == "updated"
    assert fake.bodies[0] == OTHER.replace("\n", "\r\n")
    assert fake.bodies[1] == BODY.replace("\n", "\r\n")


@pytest.mark.parametrize("knows_viewer", [True, False])
def test_a_persons_token_finds_what_the_person_wrote(fake: FakeGitHub, time: Time, knows_viewer: bool) -> None:
    fake.viewer, fake.person, fake.knows_viewer = "mona", True, knows_viewer
    fake.add_comment(OTHER)
    fake.add_comment(OTHER, "mona")
    assert _put(fake, time).status == "updated"
    assert fake.bodies[0] == OTHER.replace("\n", "\r\n")


def test_where_nobody_tells_who_writes_no_person_and_no_second_bot_is_touched(fake: FakeGitHub, time: Time) -> None:
    fake.knows_viewer = False
    copies = [fake.add_comment(OTHER, "mona")["body"], fake.add_comment(OTHER, "echo[bot]", app="echo")["body"]]
    fake.add_comment(OTHER)
    assert _put(fake, time).status == "updated"
    assert fake.bodies == [*copies, BODY.replace("\n", "\r\n")]


def test_nothing_is_edited_on_a_guess_while_github_cannot_tell_who_writes(fake: FakeGitHub, time: Time) -> None:
    fake.fail("POST", "graphql", *[Fault(status=502)] * 5)
    fake.add_comment(OTHER, "echo[bot]")
    posted = _put(fake, time)
    assert posted.status == "failed"
    assert "internal error (502" in posted.reason
    assert fake.bodies == [OTHER.replace("\n", "\r\n")]


def test_later_copies_of_its_own_become_pointers(fake: FakeGitHub, time: Time) -> None:
    kept = fake.add_comment(BODY)
    fake.add_comment("in between", "mona")
    fake.add_comment(BODY)
    fake.add_comment(OTHER)
    assert _put(fake, time) == ("unchanged", kept["html_url"], "")
    assert fake.bodies[1] == "in between"
    assert all(kept["html_url"] in body and "\n" not in body for body in fake.bodies[2:])
    before = len(fake.exchanges)
    assert _put(fake, time).status == "unchanged"
    assert not any(exchange.verb == "PATCH" for exchange in fake.exchanges[before:])


def test_a_copy_that_cannot_be_edited_is_a_word_beside_the_result(fake: FakeGitHub, time: Time) -> None:
    fake.add_comment(BODY)
    duplicate = fake.add_comment(BODY)
    fake.fail("PATCH", str(duplicate["id"]), Fault(status=422, message="Validation Failed"))
    posted = _put(fake, time)
    assert posted.status == "unchanged"
    assert posted.reason.startswith("a duplicate comment of an earlier run could not be edited")


def _deleted(comment: Any, fake: FakeGitHub, *, listed: bool = False) -> None:
    """Have somebody delete a comment after it was listed; GitHub's list may still name it once."""
    fake.fail("PATCH", str(comment["id"]), Fault(status=404, message="Not Found", deletes=not listed))


@pytest.mark.parametrize("listed", [False, True])
def test_a_comment_that_was_deleted_after_it_was_listed_is_created_again(
    fake: FakeGitHub, time: Time, *, listed: bool
) -> None:
    _deleted(fake.add_comment(OTHER), fake, listed=listed)
    posted = _put(fake, time)
    assert (posted.status, posted.reason) == ("created", "")
    assert fake.bodies[-1] == BODY.replace("\n", "\r\n")
    assert [line for line in fake.lines if "comments" in line][-1] == POST


def test_where_one_was_deleted_the_next_of_ours_is_kept(fake: FakeGitHub, time: Time) -> None:
    _deleted(fake.add_comment(OTHER), fake)
    fake.add_comment("in between", "mona")
    second = fake.add_comment(OTHER)
    assert _put(fake, time) == ("updated", second["html_url"], "")
    assert fake.bodies == ["in between", BODY.replace("\n", "\r\n")]


def test_a_deleted_comment_is_not_created_again_where_none_was_asked_for(fake: FakeGitHub, time: Time) -> None:
    _deleted(fake.add_comment(OTHER), fake)
    assert _repository(fake, time).put_comment(NUMBER, BODY, MARK, create=False) == ("skipped", "", "")
    assert fake.comments == []


def test_a_deleted_copy_needs_no_pointer(fake: FakeGitHub, time: Time) -> None:
    fake.add_comment(OTHER)
    _deleted(fake.add_comment(OTHER), fake)
    posted = _put(fake, time)
    assert (posted.status, posted.reason) == ("updated", "")


def test_a_pull_request_that_is_not_there_is_said_to_be_missing(fake: FakeGitHub, time: Time) -> None:
    posted = _repository(fake, time).put_comment(NUMBER + 1, BODY, MARK)
    assert posted.status == "failed"
    assert posted.reason.startswith("GitHub finds no such pull request")
    assert len(fake.exchanges) == 1


def test_a_second_passes_between_two_writes(fake: FakeGitHub, time: Time) -> None:
    for _ in range(3):
        fake.add_comment(OTHER)
    assert _put(fake, time).status == "updated"
    assert time.slept == [1.0, 1.0]


def test_a_comment_that_is_too_long_is_not_sent(fake: FakeGitHub, time: Time) -> None:
    posted = _put(fake, time, BODY + "x" * (65_537 - len(BODY)))
    assert posted.status == "failed"
    assert "65,537 characters" in posted.reason
    assert fake.exchanges == []


def test_a_comment_of_just_the_length_is_taken(fake: FakeGitHub, time: Time) -> None:
    assert _put(fake, time, BODY + "🎯" * ((65_536 - len(BODY)) // 2)).status == "created"


@pytest.mark.parametrize("part", [("GET", "comments"), ("POST", "comments")])
def test_a_token_without_the_right_is_final_and_says_what_to_do(
    fake: FakeGitHub, time: Time, part: tuple[str, str]
) -> None:
    fake.fail(*part, NO_RIGHT)
    posted = _put(fake, time)
    assert posted.status == "forbidden"
    assert "`permissions: pull-requests: write`" in posted.reason
    assert "fork" in posted.reason
    assert "workflow_run" in posted.reason
    assert time.slept == []
    assert fake.comments == []


FINAL = {
    "locked": (Fault(status=403, message="Unable to create comment because issue is locked."), "forbidden", "locked"),
    "right, whatever is left of a limit": (
        Fault(status=403, message=NO_RIGHT.message, headers={"x-ratelimit-remaining": "0", "Retry-After": "1"}),
        "forbidden",
        "pull-requests: write",
    ),
    "token": (Fault(status=401, message="Bad credentials"), "failed", "rejects the token"),
    "place": (Fault(status=404, message="Not Found"), "failed", "the token is for another repository"),
    "gone": (Fault(status=410, message="Issues has been disabled"), "failed", "comments or issues are disabled here"),
    "content": (Fault(status=422, message="Validation Failed"), "failed", "Validation Failed"),
    "other": (Fault(status=418, message="teapot"), "failed", "unexpected answer from GitHub (418: teapot)"),
    "no message": (Fault(status=403, message=""), "forbidden", "pull-requests: write"),
}


@pytest.mark.parametrize("case", FINAL)
def test_what_no_waiting_mends_is_not_tried_again(fake: FakeGitHub, time: Time, case: str) -> None:
    fault, status, words = FINAL[case]
    fake.fail("POST", "comments", fault)
    posted = _put(fake, time)
    assert posted.status == status
    assert words in posted.reason
    assert "\n" not in posted.reason
    assert time.slept == []
    assert len(fake.exchanges) == 2


def test_a_wrong_token_is_told_and_not_shown(fake: FakeGitHub, time: Time) -> None:
    posted = _repository(fake, time, token="ghp_wrong").put_comment(NUMBER, BODY, MARK)
    assert posted.status == "failed"
    assert "rejects the token" in posted.reason
    assert "ghp_wrong" not in posted.reason


def test_a_token_that_an_answer_quotes_is_not_repeated(fake: FakeGitHub, time: Time) -> None:
    fake.fail("POST", "comments", Fault(status=422, message=f"bad header token {TOKEN}\r\n::error::\x1b[31m"))
    reason = _put(fake, time).reason
    assert "bad header token ***" in reason
    assert reason.isprintable()


LIMITS = {
    "Retry-After": (Fault(status=403, message="slow down", headers={"Retry-After": "17"}), [17.0]),
    "Retry-After as a date": (
        Fault(status=429, message="slow down", headers={"Retry-After": "Fri, 15 Jan 2027 08:00:30 GMT"}),
        [30.0],
    ),
    "no time at all": (Fault(status=429, message="slow down", headers={"Retry-After": "0"}), [1.0]),
    "until a reset": (
        Fault(
            status=403,
            message="API rate limit exceeded",
            headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000041"},
        ),
        [42.0],
    ),
    "a reset that is past": (
        Fault(status=403, message="x", headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000000"}),
        [1.0],
    ),
    "only words": (Fault(status=403, message="You have exceeded a secondary rate limit."), [60.0]),
    "429 without more": (Fault(status=429, message="Too Many Requests"), [60.0]),
    "a reset without a clock to hold it against": (
        Fault(
            status=403,
            message="x",
            headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000041", "Date": "?"},
        ),
        [60.0],
    ),
    "Retry-After that is none": (
        Fault(status=429, message="Too Many Requests", headers={"Retry-After": "soon"}),
        [60.0],
    ),
}


@pytest.mark.parametrize("case", LIMITS)
@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_a_rate_limit_is_waited_for(fake: FakeGitHub, time: Time, case: str, verb: str) -> None:
    fault, slept = LIMITS[case]
    fake.fail(verb, "comments", fault)
    assert _put(fake, time).status == "created"
    assert time.slept == slept
    assert len(fake.comments) == 1


def test_a_rate_limit_beyond_the_time_that_is_allowed_is_not_waited_for(fake: FakeGitHub, time: Time) -> None:
    fake.fail("GET", "comments", Fault(status=403, message="API rate limit exceeded", headers={"Retry-After": "3600"}))
    posted = _put(fake, time)
    assert posted.status == "failed"
    assert "maximum of 120 s" in posted.reason
    assert "rate limit" in posted.reason
    assert "pull-requests: write" not in posted.reason
    assert time.slept == []


def test_all_waiting_of_a_run_has_one_limit(fake: FakeGitHub, time: Time) -> None:
    fake.fail("GET", "comments", *[Fault(status=429, headers={"Retry-After": "50"})] * 3)
    posted = _put(fake, time)
    assert posted.status == "failed"
    assert time.slept == [50.0, 50.0]
    assert sum(time.slept) <= MAX_WAIT_S


def test_a_servers_error_is_tried_again_after_growing_waits(fake: FakeGitHub, time: Time) -> None:
    fake.fail("GET", "comments", *[Fault(status=status) for status in (500, 502, 503, 504)])
    assert _put(fake, time).status == "created"
    assert time.slept == [1.0, 2.0, 4.0, 8.0]


def test_a_server_that_keeps_failing_is_given_up(fake: FakeGitHub, time: Time) -> None:
    fake.fail("GET", "comments", *[Fault()] * 9)
    posted = _put(fake, time)
    assert posted.status == "failed"
    assert "internal error (500: Server Error)" in posted.reason
    assert len(fake.exchanges) == 5


def test_waits_are_spread(fake: FakeGitHub, time: Time) -> None:
    fake.fail("GET", "comments", Fault(), Fault())
    _repository(fake, time, jitter=0.8).put_comment(NUMBER, BODY, MARK)
    assert time.slept == pytest.approx([1.2, 2.4])


def test_a_lost_reply_makes_no_second_comment(fake: FakeGitHub, time: Time) -> None:
    fake.fail("POST", "comments", Fault(after=True, lost=True))
    posted = _put(fake, time)
    assert posted.status == "created"
    assert posted.url == fake.comments[0]["html_url"]
    assert len(fake.comments) == 1
    assert [line for line in fake.lines if line.startswith("POST /issues")] == [POST.replace("201", "0")]


def test_an_error_after_the_comment_was_made_makes_no_second_comment(fake: FakeGitHub, time: Time) -> None:
    fake.fail("POST", "comments", Fault(status=502, after=True))
    assert _put(fake, time).status == "created"
    assert len(fake.comments) == 1


def test_a_request_that_was_lost_before_it_came_is_sent_again(fake: FakeGitHub, time: Time) -> None:
    fake.fail("POST", "comments", Fault(lost=True), Fault(status=500))
    assert _put(fake, time).status == "created"
    assert len(fake.comments) == 1
    assert fake.lines.count(LIST) == 3
    assert time.slept == [1.0, 2.0]


def test_a_lost_reply_to_an_edit_is_sent_again(fake: FakeGitHub, time: Time) -> None:
    fake.fail("PATCH", str(fake.add_comment(OTHER)["id"]), Fault(after=True, lost=True))
    assert _put(fake, time).status == "updated"
    assert fake.bodies == [BODY.replace("\n", "\r\n")]


def test_nobody_at_the_address_is_told_by_the_kind_of_error(time: Time) -> None:
    with FakeGitHub() as gone:
        url = gone.url
    posted = _repository(gone, time, url=url).put_comment(NUMBER, BODY, MARK)
    assert posted.status == "failed"
    assert posted.reason == "cannot reach GitHub (ConnectionError)"
    assert time.slept == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("slash", ["", "/"])
def test_an_enterprise_server_is_asked_below_its_base_path(time: Time, slash: str) -> None:
    with _serving("/api/v3") as fake:
        for number in range(101):
            fake.add_comment(f"opinion {number}", "mona")
        fake.add_comment(OTHER)
        repository = _repository(fake, time, url=fake.url + slash)
        assert repository.put_comment(NUMBER, BODY, MARK).status == "updated"
        paths = {exchange.target.partition("?")[0] for exchange in fake.exchanges}
        assert {path for path in paths if not path.startswith("/api/v3/repos/")} == {"/api/graphql"}


def test_pages_are_followed_by_the_address_that_github_gives(fake: FakeGitHub, time: Time) -> None:
    for number in range(250):
        fake.add_comment(f"opinion {number}", "mona")
    assert _put(fake, time).status == "created"
    queries = [parse_qs(urlsplit(exchange.target).query) for exchange in fake.exchanges if exchange.verb == "GET"]
    assert [query.get("page") for query in queries] == [None, ["2"], ["3"]]
    assert all(query["per_page"] == ["100"] for query in queries)


def test_a_page_on_another_host_is_never_asked_for(fake: FakeGitHub, time: Time) -> None:
    for number in range(131):
        fake.add_comment(f"opinion {number}", "mona")
    fake.add_comment(OTHER)
    with FakeGitHub() as elsewhere:
        fake.link_base = elsewhere.url
        assert _put(fake, time).status == "updated"
        assert elsewhere.exchanges == []
    assert fake.lines.count(LIST) == 2


@pytest.mark.parametrize(
    "prefix", ["https://127.0.0.1", "http://u:p@127.0.0.1:{port}", "http://localhost:{port}", "http://h:x", "", None]
)
def test_a_page_that_is_not_below_the_base_is_counted_to(fake: FakeGitHub, time: Time, prefix: str | None) -> None:
    for number in range(131):
        fake.add_comment(f"opinion {number}", "mona")
    fake.add_comment(OTHER)
    fake.link_base = prefix and prefix.format(port=fake.origin.rpartition(":")[2])
    assert _put(fake, time).status == "updated"
    assert fake.lines.count(LIST) == 2


@pytest.mark.parametrize("path", ["/api/v3x", "/api/v3/../..", "/api/v3/%2e%2e", ""])
def test_a_page_outside_of_the_base_path_is_counted_to(time: Time, path: str) -> None:
    with _serving("/api/v3") as fake:
        for number in range(101):
            fake.add_comment(f"opinion {number}", "mona")
        fake.link_base = fake.origin + path
        assert _put(fake, time).status == "created"
        assert all(exchange.target.startswith("/api/v3/repos/") for exchange in fake.exchanges)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_elsewhere_takes_no_token_there(fake: FakeGitHub, time: Time, status: int, host: str) -> None:
    with FakeGitHub() as elsewhere:
        place = elsewhere.url.replace("127.0.0.1", host) + f"/repos/{NAME}/issues/{NUMBER + 1}/comments"
        fake.fail("GET", "comments", Fault(status=status, headers={"Location": place}))
        assert _put(fake, time).status == "failed"
        assert elsewhere.exchanges == []
    assert fake.comments == []


def test_a_list_that_goes_in_a_circle_ends(fake: FakeGitHub, time: Time) -> None:
    for number in range(3):
        fake.add_comment(f"opinion {number}", "mona")
    fake.circle = f'<{fake.url}/repos/{NAME}/issues/{NUMBER}/comments?per_page=100&page=1>; rel="next"'
    assert _put(fake, time).status == "created"
    assert fake.lines.count(LIST) == 2


@pytest.mark.parametrize("text", [None, "<html>a proxy's greeting</html>", "[" * 100_000, '"'])
def test_an_answer_that_is_no_list_is_not_taken_for_an_empty_one(
    fake: FakeGitHub, time: Time, text: str | None
) -> None:
    fake.fail("GET", "comments", Fault(status=200, text=text))
    posted = _put(fake, time)
    assert posted.status == "failed"
    assert "not a list" in posted.reason
    assert fake.comments == []


def test_no_log_reaches_a_stream_whatever_its_level(fake: FakeGitHub) -> None:
    fake.fail("GET", "comments", Fault())
    program = f"""
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from skillgate.action.api import open_repository
logging.getLogger("github").setLevel(logging.DEBUG)
made = open_repository(sys.argv[1], {TOKEN!r}, {NAME!r}, sleep=lambda _: None, clock=lambda: 0.0, jitter=float)
print(made.put_comment({NUMBER}, {BODY!r}, {MARK!r}).status)
"""
    done = subprocess.run([sys.executable, "-c", program, fake.url], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("created\n", "")


def test_every_request_says_who_asks_and_by_which_version(fake: FakeGitHub, time: Time) -> None:
    _put(fake, time)
    for exchange in fake.exchanges:
        assert exchange.headers["user-agent"].startswith("skillgate/")
        assert exchange.headers["x-github-api-version"] == "2022-11-28"
        assert exchange.headers["accept"] == "application/vnd.github+json"


def test_a_netrc_does_not_take_the_tokens_place(
    fake: FakeGitHub, time: Time, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path_factory.mktemp("home") / "netrc"
    file.write_text("machine 127.0.0.1 login mona password other\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    assert _put(fake, time).status == "created"


def test_a_pull_request_is_found_by_its_exact_head(fake: FakeGitHub, time: Time) -> None:
    fake.add_pull(3, "mona:fix", SHA[::-1])
    fake.add_pull(9, "mona:feature/ä+b", SHA)
    repository = _repository(fake, time)
    assert repository.find_pull_request("mona", "feature/ä+b", SHA) == 9
    assert repository.find_pull_request("mona", "fix", SHA) is None
    assert repository.find_pull_request("mona", "gone", SHA) is None
    fake.add_pull(12, "mona:feature/ä+b", SHA)  # to another base: what was found beside one is not true of the other
    assert repository.find_pull_request("mona", "feature/ä+b", SHA) is None


@pytest.mark.parametrize(
    ("owner", "branch", "sha"), [("mona", "a\nb", SHA), ("mona", "\ud800", SHA), ("mona", "b", "")]
)
def test_what_no_branch_is_called_is_not_asked_for(
    fake: FakeGitHub, time: Time, owner: str, branch: str, sha: str
) -> None:
    assert _repository(fake, time).find_pull_request(owner, branch, sha) is None
    assert fake.exchanges == []


def test_a_pull_request_that_cannot_be_looked_for_is_an_error(fake: FakeGitHub, time: Time) -> None:
    fake.fail("GET", "pulls", NO_RIGHT)
    with pytest.raises(GitHubError, match="pull-requests: write") as caught:
        _repository(fake, time).find_pull_request("mona", "fix", SHA)
    assert caught.value.forbidden


@pytest.mark.parametrize(
    "url",
    ["", "api.github.com", "ftp://h", "https://", "https://h:x", "https://a:b@h", "https://h/?q", "https://h/ x"],
)
def test_an_address_that_is_none_is_refused(fake: FakeGitHub, time: Time, url: str) -> None:
    with pytest.raises(GitHubError, match="GITHUB_API_URL"):
        open_repository(url, TOKEN, NAME, sleep=time.sleep, clock=lambda: time.now, jitter=float)


@pytest.mark.parametrize("token", ["", "a b", "a\n", "ä"])
def test_a_token_that_is_none_is_refused_without_being_shown(fake: FakeGitHub, time: Time, token: str) -> None:
    with pytest.raises(GitHubError) as caught:
        _repository(fake, time, token=token)
    assert str(caught.value) == "the token for GitHub's API is missing or has invalid characters"


@pytest.mark.parametrize("name", ["", "a", "a/b/c", "../b", "a/..", "a/b?c", "a/b\n", "-/"])
def test_a_repository_that_is_none_is_refused(fake: FakeGitHub, time: Time, name: str) -> None:
    with pytest.raises(GitHubError, match="OWNER/NAME"):
        open_repository(fake.url, TOKEN, name, sleep=time.sleep, clock=lambda: time.now, jitter=float)
