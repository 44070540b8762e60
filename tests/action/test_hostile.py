"""A hostile pull request gets the base's verdict, and nothing that it holds lives in anything that is told of it."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

pytest.importorskip("openapi_core", reason="openapi-core is not installed")

from skillgate.action.comment.comment import utf16
from skillgate.action.plan import OUTPUTS
from skillgate.report.formats.markdown import utf8
from skillgate.report.json import read as read_document
from tests.action.hostile import FINDINGS, LOWERED, MARKER, NAMES, SKILLS, TEXTS, hostile_change
from tests.action.pull_request import PullRequest, skill
from tests.browser import MISSING, Browser, program
from tests.github.fake_github import NAME, NUMBER, TOKEN, FakeGitHub
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.github.runner_protocol import Runner
from tests.github.test_comment_browser import STYLE
from tests.published import HOMEPAGE, REF
from tests.report.pages import taken_apart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.action.pull_request import Ran

REPOSITORY = f"https://github.example/{NAME}"
ADDRESS = re.compile(  # of ours: a commit, a run, or a place at the head, whose path is quoted
    re.escape(REPOSITORY) + r"/(?:commit/[0-9a-f]{40}|actions/runs/\d+|(?:blob|tree)/[0-9a-f]{40}[A-Za-z0-9._~%/-]*"
    r"(?:\?plain=1)?(?:#L\d+)?)|" + re.escape(f"{HOMEPAGE}/blob/{REF}") + r"/docs/rules\.md#[a-z_0-9]+"
)
ELEMENTS = frozenset(
    (
        *(
            "h3",
            "h4",
            "h5",
            "h6",
            "br",
            "p",
            "ul",
            "ol",
            "li",
            "blockquote",
            "strong",
            "code",
            "a",
            "sub",
            "details",
            "summary",
        ),
        *("table", "thead", "tbody", "tr", "th", "td"),
    )
)
LIMIT_S = 300  # ten to thirty times what it takes; that is printed


class Told(NamedTuple):
    """All that a run has told."""

    ran: Ran
    comments: list[str]
    folder: Path

    @property
    def comment(self) -> str:
        """The only comment, with the line ends that were sent."""
        (body,) = self.comments
        return body.replace("\r\n", "\n")

    @property
    def page(self) -> str:
        """The page of the artifact."""
        return (self.ran.folder / "skillgate-report" / "report.html").read_text(encoding="utf-8")

    @property
    def texts(self) -> dict[str, str]:
        """What is read as Markdown on GitHub."""
        return {"comment": self.comment, "summary": self.ran.summary}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Run the Action on the hostile pull request, once."""
    folder = tmp_path_factory.mktemp("hostile")
    made = hostile_change(folder)
    with FakeGitHub() as github:
        _comments_on(made, github)
        began = time.monotonic()
        ran = made.run(sarif="skillgate-report/out.sarif")
        print(f"{SKILLS} skills and {FINDINGS:,} findings in {time.monotonic() - began:.1f} s")
        assert time.monotonic() - began < LIMIT_S
        assert not github.violations
        return Told(ran, github.bodies, folder)


@pytest.fixture(scope="module")
def retold(told: Told, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Comment on the same from the second workflow, whose artifact is the fork's word."""
    folder = tmp_path_factory.mktemp("second")
    made = PullRequest(folder=folder / "work", repository=NAME, name="workflow_run")
    shutil.copytree(told.ran.folder / "skillgate-report", made.folder / "skillgate-report")
    head = told.ran.run["head"]
    made.event = {"workflow_run": {"id": 99, "head_sha": head, "head_branch": "x", "event": "pull_request"}}
    made.event["workflow_run"] |= {"conclusion": "failure", "head_repository": {"owner": {"login": "somebody"}}}
    with FakeGitHub() as github:
        github.add_pull(NUMBER, "somebody:x", head)
        _comments_on(made, github)
        return Told(made.run(), github.bodies, folder)


def _comments_on(made: PullRequest, github: FakeGitHub) -> None:
    made.repository = NAME
    made.environ = {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": github.url, "INPUT_COMMENT": "always"}


class TestVerdict:
    def test_it_is_the_bases(self, told: Told) -> None:
        run, report = told.ran.run, told.ran.document("report.json")
        assert (told.ran.code, told.ran.outputs["result"], run["result"]) == (1, "fail", "fail")
        assert (run["policy"], run["compared"]) == ("the base", "the commit that GitHub merged the change into")
        assert report["summary"]["skills"] == SKILLS == int(told.ran.outputs["skills"])
        assert int(told.ran.outputs["errors"]) > FINDINGS
        gates = {outcome["gate"] for result in report["results"] for outcome in result["gate"]["outcomes"]}
        assert {"new-error", "threshold"} <= gates
        assert [result["skill"]["path"] for result in report["results"] if result["gate"]["passed"] is not False] == []

    def test_what_it_does_to_its_gate_is_told_to_the_end(self, told: Told) -> None:
        changes = told.ran.run["policy_changes"]
        assert {"fail-on: not set → never", "threshold: 60 → 1"} <= set(changes)
        (override,) = [change for change in changes if change.startswith("threshold for")]
        assert override.endswith("(override 1): not set → 0")
        line = next(line for line in told.comment.splitlines() if line.startswith("- threshold for"))
        assert line.endswith("(override 1): not set → 0")
        assert sum("that suppresses ORPHAN_REFERENCE" in change for change in changes) > 40

    def test_the_worst_come_first_and_the_others_are_counted(self, told: Told) -> None:
        rows = [line for line in told.comment.splitlines() if line.startswith("| ❌ ")]
        assert [re.search(r"`skills/(\w+)`", row)[1] for row in rows[:2]] == ["bytes", "nul"]  # type: ignore[index]
        kinds = set(re.findall(r"(?m)^\| ❌ (.+?) \d+ ?`+(?:\]| \|)", told.comment))
        assert len(kinds) >= len(NAMES)
        assert f"{SKILLS} of {SKILLS} skills fail" in told.comment
        assert re.search(r"[\d,]+ more findings in the \[full report\]", told.comment)

    def test_a_fork_says_the_same(self, told: Told, retold: Told) -> None:
        assert (retold.ran.code, retold.ran.outputs["comment-status"]) == (0, "created")
        verdict = f"### ❌ skillgate: {SKILLS} of {SKILLS} skills fail"
        assert verdict in told.comment.splitlines()[1]
        _, warning, _, first = retold.comment.splitlines()[1:5]
        assert "Its author controls" in warning
        assert verdict in first

    def test_a_fork_does_not_say_what_it_does_to_its_gate(self, told: Told, retold: Told) -> None:
        assert "Changes to the gate itself" in told.comment
        assert "Changes to the gate itself" not in retold.comment


class TestMarkdown:
    @pytest.fixture(params=["comment", "summary", "retold"])
    def text(self, request: pytest.FixtureRequest, told: Told, retold: Told) -> str:
        return retold.comment if request.param == "retold" else told.texts[request.param]

    def test_there_is_one_comment_and_its_marker_stands_in_the_first_line_alone(self, told: Told, retold: Told) -> None:
        for body in (told.comment, retold.comment):
            assert body.split("\n", 1)[0] == MARKER
            assert body.count("<!--") == 1

    def test_it_is_bounded(self, told: Told, retold: Told) -> None:
        assert 20_000 < utf16(told.comment) <= 65_000
        assert utf16(retold.comment) <= 65_000
        assert 100_000 < utf8(told.ran.summary) <= 1 << 20

    def test_nothing_in_it_is_live_but_our_own(self, text: str) -> None:
        page = read(text)
        assert set(page.html) - OURS <= {MARKER}
        assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
        assert [address for address in page.addresses if not ADDRESS.fullmatch(address)] == []
        assert [found[0] for told in page.texts if (found := LIVE.search(told))] == []
        assert all(len(set(cells)) == 1 for cells in page.rows)
        assert unbalanced(reader().render(text)) == []

    def test_githubs_own_renderer_agrees(self, text: str) -> None:
        cmark = pytest.importorskip("cmarkgfm", reason="cmarkgfm is not installed")
        html = cmark.github_flavored_markdown_to_html(text, options=cmark.Options.CMARK_OPT_UNSAFE)
        assert html.count("<h3>") == 1
        page = _Elements(html)
        assert page.names <= ELEMENTS
        assert page.attributes <= {"href", "align"}
        assert [address for address in page.addresses if not ADDRESS.fullmatch(address)] == []


class _Elements(HTMLParser):
    """The names of elements and attributes, and where links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name == "href"]


class TestRunner:
    def test_it_obeys_our_annotations_alone(self, told: Told) -> None:
        runner = Runner().read(told.ran.log)
        assert not runner.stopped
        assert Counter(command.name for command in runner.obeyed) == {"error": 10, "warning": 10, "notice": 10}
        assert {command.properties["title"].split(" ")[0] for command in runner.obeyed} == {"skillgate"}
        assert all(set(item.properties) <= {"file", "line", "endLine", "col", "title"} for item in runner.obeyed)
        assert "owned" not in {command.data for command in runner.obeyed}

    def test_it_finds_no_command_in_stderr_nor_in_a_log_read_line_by_line(self, told: Told, retold: Told) -> None:
        assert Runner().read(told.ran.err + retold.ran.err).obeyed == []
        quoted = [line for line in told.ran.log.splitlines() if not line.startswith("::")]
        assert Runner().read("\n".join(quoted) + "\n").obeyed == []
        assert len(quoted) > 100

    def test_outputs_are_ours(self, told: Told) -> None:
        assert set(told.ran.outputs) == {output.name for output in OUTPUTS}
        assert told.ran.outputs["comment-status"] == "created"
        scores = json.loads(told.ran.outputs["scores"])
        assert (len(scores), scores["skills/nul"], scores["skills/bytes"]) == (SKILLS, None, None)


class TestDocuments:
    @pytest.mark.parametrize("name", ["run.json", "report.json", "diff.json"])
    def test_each_is_read_back(self, told: Told, name: str) -> None:
        text = (told.ran.folder / "skillgate-report" / name).read_text(encoding="utf-8")
        assert read_document(text, source=name)

    def test_the_page_in_markdown_is_the_summary(self, told: Told) -> None:
        text = (told.ran.folder / "skillgate-report" / "report.md").read_text(encoding="utf-8")
        assert text == told.ran.summary.removesuffix("\n")

    def test_sarif_is_json(self, told: Told) -> None:
        assert told.ran.document("out.sarif")["version"] == "2.1.0"

    def test_the_page_has_no_element_but_its_own(self, told: Told) -> None:
        page = taken_apart(told.page, REPOSITORY)
        assert "<img src=x onerror=alert(1)>" in page.text
        assert [url for url in page.all("href") if "evil" in url and not ADDRESS.fullmatch(url)] == []


class TestSmall:
    """A change of one sound skill, beside files whose names are attacks."""

    @pytest.fixture
    def made(self, tmp_path: Path) -> PullRequest:
        made = PullRequest(folder=tmp_path / "work", repository=NAME)
        made.base({**skill("merge-sheets"), ".skillgate.yaml": "threshold: 60\n"})
        made.write({f"docs/{name}": text for name, text in zip(NAMES, TEXTS, strict=True)})
        return made

    def test_it_passes_whatever_lies_beside(self, made: PullRequest) -> None:
        made.change(skill("merge-sheets", body="\nKeep the newest of two rows that share a key.\n"))
        ran = made.run()
        assert (ran.code, ran.outputs["result"], ran.outputs["reasons"], ran.run["policy_changes"]) == (
            0,
            "pass",
            "",
            [],
        )
        assert Runner().read(ran.log + ran.err).obeyed == []

    def test_a_configuration_that_is_refused_is_quoted_inertly(self, made: PullRequest) -> None:
        refused = json.dumps({**LOWERED, **{text: text for text in TEXTS}})
        made.change({**skill("merge-sheets", body="\nMore.\n"), ".skillgate.yaml": refused})
        ran = made.run()
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert ran.outputs["reasons"].startswith("the configuration of this change is not valid")
        assert set(ran.outputs) == {output.name for output in OUTPUTS}
        page = read(ran.summary)
        assert set(page.html) <= OURS
        assert [found[0] for told in page.texts if (found := LIVE.search(told))] == []
        (said,) = Runner().read(ran.log + ran.err).obeyed
        assert (said.name, said.properties) == ("error", {"title": "skillgate"})
        assert Runner().read(ran.err).obeyed == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def pages(told: Told) -> dict[str, Path]:
    """Write the comment and the summary about as GitHub shows them, and the page of the artifact."""
    start = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>x</title><style>{STYLE}</style></head>'
    texts = {name: f"{start}<body>{reader().render(text)}</body></html>" for name, text in told.texts.items()}
    texts["report"] = told.page
    places = {name: told.folder / f"{name}.html" for name in texts}
    for name, place in places.items():
        place.write_text(texts[name], encoding="utf-8")
    return places


@pytest.mark.skipif(program() is None, reason=MISSING)
@pytest.mark.parametrize("name", ["comment", "summary", "report"])
def test_in_a_browser_nothing_runs_and_nothing_is_asked_for(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.screen(1012)
    browser.open(pages[name].as_uri())
    browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
    shown: Any = browser.run(
        "[typeof window.owned,"
        " document.querySelectorAll('script, img, iframe, form, input:not([type=search]), object').length,"
        " document.documentElement.scrollWidth <= innerWidth, document.body.innerText.includes('<img src=x onerror')]"
    )
    assert shown == ["undefined", int(name == "report"), True, True]  # the page's own script, which adds filters
    assert browser.seen.requests == [pages[name].as_uri()]
    assert browser.seen.problems == []
