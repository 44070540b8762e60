"""A stand-in for GitHub on the loopback: it keeps state, and holds every exchange against GitHub's own description."""

from __future__ import annotations

import copy
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"  # nobody's
NAME = "octo-org/skills"
NUMBER = 7
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"  # 1,800,000,000 seconds since the epoch
ACTIONS = "github-actions[bot]"
_FILE = Path(__file__).parents[1] / "data" / "github-openapi.json"
_SPEC = json.loads(_FILE.read_text(encoding="utf-8"))
_OPENAPI = OpenAPI.from_dict(_SPEC)
_SERVER = _SPEC["servers"][0]["url"]
_EXAMPLES = {name: item["value"] for name, item in _SPEC["components"]["examples"].items()}


class Exchange(NamedTuple):
    """One request as it came, and the status it got; 0 where the reply was lost."""

    verb: str
    target: str
    headers: dict[str, str]
    body: Any
    status: int

    @property
    def line(self) -> str:
        return f"{self.verb} {urlsplit(self.target).path} {self.status}"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the next request of a kind gets in place of its answer.

    ``after`` carries the request out before; ``lost`` closes the connection without a word; ``text`` is sent as it is;
    ``deletes`` deletes the comment or issue of the path first, as a person may at any time.
    """

    status: int = 500
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    lost: bool = False
    text: str | None = None
    deletes: bool = False


class FakeGitHub:
    """GitHub with one pull request, and issues.

    Attributes:
        viewer: who the token writes as.
        knows_viewer: whether GraphQL answers at all.
        person: whether the token is a person's: then ``GET /user`` answers.
        faults: by verb and the last part of the path, used up from the front.
        link_base: what addresses in Link headers begin with; None for no header at all.
        circle: a Link header in place of the right one.
        violations: where an exchange is not as GitHub describes it.
    """

    def __init__(self, *, base_path: str = "") -> None:
        self.base_path = base_path
        self.viewer, self.knows_viewer, self.person = ACTIONS, True, False
        self.comments: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.issues: list[dict[str, Any]] = []
        self.said: dict[int, list[str]] = {}  # comments on issues, by number
        self.faults: dict[tuple[str, str], list[Fault]] = {}
        self.exchanges: list[Exchange] = []
        self.violations: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self}))
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = self.origin + base_path
        self.link_base: str | None = self.url
        self.circle = ""
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> FakeGitHub:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def lines(self) -> list[str]:
        return [exchange.line.replace(f"{self.base_path}/repos/{NAME}", "") for exchange in self.exchanges]

    @property
    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def fail(self, verb: str, part: str, *faults: Fault) -> None:
        self.faults.setdefault((verb, part), []).extend(faults)

    def add_comment(self, body: str, login: str = ACTIONS, *, app: str | None = None) -> dict[str, Any]:
        """Add one as GitHub keeps it: with CR LF, as its web page sends it."""
        comment: dict[str, Any] = copy.deepcopy(_EXAMPLES["issue-comment"])
        number = 1000 + len(self.comments)
        page = f"https://github.com/{NAME}/pull/{NUMBER}#issuecomment-{number}"
        comment |= {"id": number, "body": body.replace("\n", "\r\n"), "html_url": page, "url": f"{self.url}/{number}"}
        comment["user"] |= {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}
        if app is not None:
            comment["performed_via_github_app"] = _app(app)
        self.comments.append(comment)
        return comment

    def add_issue(
        self, title: str, body: str, login: str = ACTIONS, *, app: str | None = None, is_pull: bool = False
    ) -> dict[str, Any]:
        """Add an open one, as GitHub keeps it; pull requests stand among the issues."""
        issue: dict[str, Any] = copy.deepcopy(_EXAMPLES["issue"])
        number = 100 + len(self.issues)
        page = f"https://github.com/{NAME}/issues/{number}"
        issue |= {"id": 9000 + number, "number": number, "title": title, "body": body.replace("\n", "\r\n")}
        issue |= {"html_url": page, "state": "open"}
        issue.pop("state_reason", None)  # of one that was never closed: None on GitHub, which its description forgets
        issue["user"] |= {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}
        if not is_pull:
            issue.pop("pull_request", None)
        if app is not None:
            issue["performed_via_github_app"] = _app(app)
        self.issues.append(issue)
        return issue

    def add_pull(self, number: int, label: str, sha: str) -> None:
        pull = copy.deepcopy(_EXAMPLES["pull-request-simple-items"][0])
        pull |= {"number": number, "id": number, "state": "open", "requested_teams": []}
        pull["head"] |= {"label": label, "ref": label.partition(":")[2], "sha": sha}
        self.pulls.append(pull)

    def answer(self, verb: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], Any]:
        """Answer a request, or raise ConnectionError where its reply is lost."""
        fault = self._fault(verb, urlsplit(target).path)
        if fault and fault.deletes:
            last = urlsplit(target).path.rpartition("/")[2]
            self.comments = [one for one in self.comments if str(one["id"]) != last]
            self.issues = [one for one in self.issues if str(one["number"]) != last]
        if fault and not fault.after:
            status, extra, data = fault.status, fault.headers, {"message": fault.message}
        else:
            status, extra, data = self._answer(verb, target, headers, body)
        self._hold(verb, target, body, None if fault else (status, data))
        lost = fault is not None and fault.lost
        sent = json.loads(body) if body else None
        self.exchanges.append(Exchange(verb, target, headers, sent, 0 if lost else status))
        if lost:
            raise ConnectionAbortedError
        return (
            (fault.status, fault.headers, fault.text or {"message": fault.message}) if fault else (status, extra, data)
        )

    def _fault(self, verb: str, path: str) -> Fault | None:
        waiting = self.faults.get((verb, path.rpartition("/")[2]), [])
        return waiting.pop(0) if waiting else None

    def _answer(self, verb: str, target: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], Any]:
        url = urlsplit(target)
        if headers.get("authorization") != f"token {TOKEN}":
            return 401, {}, {"message": "Bad credentials"}
        if url.path == (self.base_path.removesuffix("/v3") + "/graphql"):
            if not self.knows_viewer:
                return 404, {}, {"message": "Not Found"}
            assert json.loads(body) == {"query": "query { viewer { login } }"}
            return 200, {}, {"data": {"viewer": {"login": self.viewer}}}
        if not url.path.startswith(f"{self.base_path}/"):
            return 404, {}, {"message": "Not Found"}
        path, query = url.path.removeprefix(self.base_path), parse_qs(url.query)
        if re.fullmatch(r"/issues(/\d{3}(/comments)?)?", path.removeprefix(f"/repos/{NAME}")):
            return self._issues(verb, url.path, query, body)
        match verb, path.removeprefix(f"/repos/{NAME}"):
            case "GET", "/user":
                return self._user()
            case "GET", "/pulls":
                chosen = [pull for pull in self.pulls if [pull["head"]["label"]] == query.get("head")]
                return self._page(url.path, query, chosen)
            case "GET", place if place == f"/issues/{NUMBER}/comments":
                return self._page(url.path, query, self.comments)
            case "POST", place if place == f"/issues/{NUMBER}/comments":
                return self._write(None, json.loads(body)["body"])
            case "PATCH", place if place.startswith("/issues/comments/"):
                found = [item for item in self.comments if str(item["id"]) == place.rpartition("/")[2]]
                return self._write(found[0], json.loads(body)["body"]) if found else (404, {}, {"message": "Not Found"})
            case _:
                return 404, {}, {"message": "Not Found"}

    def _issues(
        self, verb: str, path: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[int, dict[str, str], Any]:
        sent, words = json.loads(body or b"{}"), path.partition("/issues")[2].split("/")
        if len(words) == 1:
            if verb == "POST":
                return 201, {}, self.add_issue(sent["title"], sent["body"], self.viewer)
            return self._page(
                path, query, [one for one in self.issues if [one["state"]] == query.get("state", ["open"])]
            )
        issue = next((one for one in self.issues if str(one["number"]) == words[1]), None)
        if issue is None or verb != ("POST" if words[2:] else "PATCH"):
            return 404, {}, {"message": "Not Found"}
        if verb == "PATCH":
            issue.update({key: text.replace("\n", "\r\n") for key, text in sent.items()})
            return 200, {}, issue
        self.said.setdefault(issue["number"], []).append(sent["body"])
        comments, self.comments = self.comments, []  # those of the pull request stay as they are
        written = self.add_comment(sent["body"], self.viewer)
        self.comments = comments
        return 201, {}, written

    def _user(self) -> tuple[int, dict[str, str], Any]:
        if not self.person:
            return 403, {}, {"message": "Resource not accessible by integration", "documentation_url": ""}
        user = _EXAMPLES["private-user-response-with-public-profile-information"]
        return 200, {}, {**user, "login": self.viewer, "user_view_type": "public"}

    def _write(self, comment: dict[str, Any] | None, body: str) -> tuple[int, dict[str, str], Any]:
        if len(body.encode("utf-16-le", "surrogatepass")) > 2 * 65_536:
            return 422, {}, {"message": "Validation Failed", "documentation_url": "", "errors": []}
        if comment is None:
            return 201, {}, self.add_comment(body, self.viewer)
        comment["body"] = body.replace("\n", "\r\n")
        return 200, {}, comment

    def _page(self, path: str, query: dict[str, list[str]], items: list[Any]) -> tuple[int, dict[str, str], Any]:
        size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
        chosen, more = items[(page - 1) * size : page * size], len(items) > page * size
        links = {"prev": page - 1 if page > 1 else None, "next": page + 1 if more else None}
        shown = [
            f'<{self.link_base}{path.removeprefix(self.base_path)}?per_page={size}&page={number}>; rel="{rel}"'
            for rel, number in links.items()
            if number
        ]
        link = self.circle or ", ".join(shown) * (self.link_base is not None)
        return 200, {"Link": link} if link else {}, chosen

    def _hold(self, verb: str, target: str, body: bytes, answer: tuple[int, Any] | None) -> None:
        """Hold an exchange against the description; a scripted fault is no answer of GitHub's."""
        url = urlsplit(target)
        if url.path.endswith("/graphql") or not url.path.startswith(f"{self.base_path}/"):
            return  # described elsewhere
        arguments = {key: values[0] for key, values in parse_qs(url.query).items()}
        path = url.path.removeprefix(self.base_path)
        request = MockRequest(_SERVER, verb, path, args=arguments, data=body or None)
        try:
            _OPENAPI.validate_request(request)
            if answer is not None and answer[0] not in (401, 429):  # described once for all operations, in words
                response = MockResponse(json.dumps(answer[1]).encode(), status_code=answer[0])
                _OPENAPI.validate_response(request, response)
        except OpenAPIError as error:
            self.violations.append(f"{verb} {target} {answer and answer[0]}: {error} {error.__cause__}")


class _Handler(BaseHTTPRequestHandler):
    fake: FakeGitHub
    protocol_version = "HTTP/1.1"  # connections stay open, as GitHub's do
    wbufsize = -1  # head and body of an answer in one packet: two would wait for each other

    def _exchange(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {key.lower(): value for key, value in self.headers.items()}
        try:
            status, extra, data = self.fake.answer(self.command, self.path, headers, body)
        except ConnectionAbortedError:
            self.close_connection = True
            return
        sent = data.encode() if isinstance(data, str) else json.dumps(data).encode()
        self.send_response_only(status)
        length = str(len(sent))
        for key, value in {"Date": DATE, "Content-Type": "application/json", "Content-Length": length, **extra}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_PATCH = _exchange  # noqa: N815 -- the names that http.server calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _app(slug: str) -> dict[str, Any]:
    owner = copy.deepcopy(_EXAMPLES["issue-comment"]["user"])
    return {
        "id": 1,
        "slug": slug,
        "node_id": "MDExOkludGVncmF0aW9uMQ==",
        "owner": owner,
        "name": slug,
        "description": "",
        "external_url": "https://example.com",
        "html_url": f"https://github.com/apps/{slug}",
        "created_at": "2017-07-08T16:18:44-04:00",
        "updated_at": "2017-07-08T16:18:44-04:00",
        "permissions": {"pull_requests": "write"},
        "events": [],
    }
