"""Pages for the tests of HTML: reports, diffs and runs made by hand, and what any page must be."""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from skillgate.model.documents import ActionRun, Diff, DiffSide, DiffSummary, DimensionChange, Side, SkillChange, State
from skillgate.model.finding import AcrossChange, Client, ListingUse, Severity, Suppressed
from skillgate.model.report import (
    Advice,
    Composite,
    DimensionScore,
    GateOutcome,
    Report,
    SkillResult,
    StaticLayer,
    SubCheckScore,
    Tool,
)
from skillgate.model.score import Badge, Depth, Dimension, Evidence, Grade, Outcome
from tests.published import HOMEPAGE, REF
from tests.report.reports import FAILED, PASSED, a_finding, a_report, a_skill, failing

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = "https://github.example/team/skills"
RUN_URL = f"{REPOSITORY}/actions/runs/1"
HEAD, BASE = "a1b2c3d4" * 5, "e4f5a6b7" * 5
UNMEASURED = "not measured at quick depth"
EVIL = (
    '</script><script>window.owned = 1; alert("owned")</script>',
    "<img src=x onerror=\"window.owned=1;alert('owned')\">",
    "javascript:alert('owned')",
    "\"><svg onload=alert(1)> ' onfocus=alert(1) autofocus x='",
    "</title></style></textarea><iframe srcdoc='<script>parent.owned=1</script>'>",
    "{{ 7 * 7 }} {% raw %} {# #} ${7*7} <!-- --> ]]>",
    "\u202egpj.exe\u2066\u200b \x1b[31m \x00 \ud800 \u2028",
    "W" * 3000,
)
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_ALLOWED = set("\n\u200b\u200c\u200d")  # an invisible blank is what breaks workflow commands
_ELEMENTS = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "a", "header", "main", "footer", "p", "section"),
        *("h1", "h2", "h3", "h4", "ul", "ol", "li", "dl", "dt", "dd", "div", "span", "b", "small", "code"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "i"),
        *("svg", "rect", "line", "circle", "text", "script", "pre", "figure", "figcaption"),
    )
)
_ATTRIBUTES = frozenset(
    (
        *("lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "tabindex", "scope", "open"),
        *("aria-label", "aria-labelledby", "aria-hidden", "role", "colspan", "data-sort", "data-sortable"),
        *("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height"),
    )
)


class Page(HTMLParser):
    """A page taken apart: elements, attributes, addresses, ids, and the text that a reader sees."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.own: dict[str, str] = {}
        self._open: list[str] = []
        self.unclosed = 0
        self.feed(text)
        self.close()
        self.unclosed += len(self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.unclosed += 1

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("style", "script"):
            self.own[self._open[-1]] = self.own.get(self._open[-1], "") + data
        else:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    @property
    def text(self) -> str:
        """All that is to be read, with single blanks."""
        return " ".join(" ".join(self.words).split())

    def all(self, name: str) -> list[str]:
        """Give every value of an attribute."""
        return [attributes[name] or "" for _, attributes in self.elements if name in attributes]


def taken_apart(text: str, *addresses: str) -> Page:
    """Take a page apart and hold it to what holds for every page; ``addresses`` are beginnings that links may have."""
    page = Page(text)
    assert page.unclosed == 0
    assert {tag for tag, _ in page.elements} <= _ELEMENTS
    assert {name for _, attributes in page.elements for name in attributes} <= _ATTRIBUTES
    policy = next(each["content"] or "" for _, each in page.elements if each.get("http-equiv"))
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for name in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.own[name].encode()).digest()).decode()
        assert rules.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert set(rules) == {"default-src", "img-src", "base-uri", "form-action"}
    assert set(rules.values()) == {"'none'"}
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    known = {f"#{name}" for name in ids}
    leading = (f"{HOMEPAGE}/blob/{REF}/docs/rules.md#", *addresses)
    wrong = [url for url in page.all("href") if url not in known | {HOMEPAGE} and not url.startswith(leading)]
    assert not wrong
    assert {name for names in page.all("aria-labelledby") for name in names.split()} <= set(ids)
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in page.elements if tag == "th")
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption")
    assert tags.count("h1") == 1
    assert not {each for each in "".join(page.words) if unicodedata.category(each) in _HIDDEN} - _ALLOWED
    return page


def a_measured_skill(score: float = 72.5, path: str = "skills/one", **changes: Any) -> SkillResult:
    """Give a skill with everything that a page shows of one."""
    measured = {
        Dimension.TRIGGERING_ACCURACY: DimensionScore(0.82, Grade.B, weight=0.25),
        Dimension.OUTPUT_QUALITY: DimensionScore(None, None, weight=0.15, reason=UNMEASURED),
        Dimension.TOKEN_EFFICIENCY: DimensionScore(0.0, Grade.F, weight=0.06),
    }
    evidence = (Evidence("name", 0.15, 0.15, line=2), Evidence("no sign of “proactively”", 0.0, 0.09, line=3))
    check = SubCheckScore(0.82, Dimension.TRIGGERING_ACCURACY, evidence=evidence)
    badge = Badge.from_scores(score)
    result = a_skill(
        a_finding(path=f"{path}/SKILL.md"),
        path=path,
        composite=Composite(score=score, badge=badge, badge_reason="Gold needs 7.50 more points"),
        dimensions=measured,
        layers=(StaticLayer(duration_ms=0, sub_checks={"frontmatter_quality": check}),),
        advice=(
            Advice(
                "say when to use it", Dimension.TRIGGERING_ACCURACY, 11.8, "low", 0.82, 0.95, line=3, gain_per_hour=11.8
            ),
        ),
        suppressed=(Suppressed(a_finding(id="UNTAGGED_CODE"), "comment", "an example of how not to"),),
    )
    return result._replace(**changes)


def many(number: int) -> Report:
    """Give a report over many skills with scores from 40 to 99, with lists."""
    results = [a_measured_skill(40 + index * 7 % 60, f"skills/skill-{index}", gate=PASSED) for index in range(number)]
    report = a_report(*results, gate=PASSED)
    use = ListingUse(Client.CODEX, "skills", number, 8254, 8000, ("skills/skill-1",), before=7842)
    return report._replace(listing=(use, use._replace(client=Client.CLAUDE_CODE, characters=900, before=900)))


def _side(result: SkillResult, change: float = 0.0) -> Side:
    score = result.composite.score
    before = None if score is None else min(100.0, max(0.0, score - change))
    return Side(result.skill.path, before, Badge.from_scores(before), result.composite.reason, result.coverage)


def a_diff(results: Sequence[SkillResult], *, label: str = "base") -> Diff:
    """Give a diff: the first result regressed, the second is new, the others stayed; and one was removed."""
    skills = []
    for index, result in enumerate(results):
        change = (-16.3, 0.0)[index] if index < 2 else 0.0
        dimensions = {Dimension.TRIGGERING_ACCURACY: DimensionChange(a=0.9, b=0.82, change=-0.08, better="a")}
        outcome = GateOutcome("regression", Outcome.FAIL, f"{label}: dropped 16.30 points (allowed: 2)")
        skills.append(
            SkillChange(
                name=result.skill.name,
                state=(State.CHANGED, State.NEW)[index] if index < 2 else State.UNCHANGED,
                before=None if index == 1 else _side(result, change),
                after=_side(result),
                change=None if index == 1 else change,
                dimensions={} if index else dimensions,
                new=result.findings if index < 2 else (),
                fixed=(a_finding(id="MISSING_TRIGGER", message=label),) if not index else (),
                regression=outcome if not index else None,
            )
        )
    gone = Side("skills/gone", 66.0, Badge.BRONZE)
    skills.append(SkillChange(name="gone", state=State.REMOVED, before=gone, after=None))
    return Diff(
        depth=Depth.QUICK,
        coverage=0.78,
        config_digest="",
        tool=Tool("1.2.3"),
        a=DiffSide(label, BASE),
        b=DiffSide("head", HEAD),
        skills=tuple(skills),
        summary=DiffSummary(1, 1, 1, max(0, len(results) - 2), 0, 1, 2, 1, 0),
        across=AcrossChange((a_finding(id="INDISTINCT", severity=Severity.WARNING, message=label),), ()),
        gate=failing(("regression", label)),
        hints=(f"{label} was measured on less",),
    )


def a_run(text: str = "skills/one: dropped 16.30 points (allowed: 2)", **changes: Any) -> ActionRun:
    """Give the record of a run that failed, in which every text is the given one."""
    values: dict[str, Any] = {
        "result": "fail",
        "exit_code": 1,
        "tool": Tool("1.2.3"),
        "reasons": (text,),
        "event": "pull_request",
        "head": HEAD,
        "base": BASE,
        "compared": text,
        "policy": text,
        "policy_changes": (text,),
        "notices": (text,),
        "changed_only": True,
        "touched": 1,
    }
    return ActionRun(**{**values, **changes})


def hostile_report() -> Report:
    """Give a report in which every text wants to run, to lead elsewhere, or to break the layout."""
    results = []
    for index, text in enumerate(EVIL):
        path = f"{text}/{index}"
        found = a_finding(message=text, fix=text, path=f"{path}/SKILL.md", url="javascript:alert('owned')")
        foreign = found._replace(id=text, tool=text or "tool")
        check = SubCheckScore(0.5, Dimension.ROBUSTNESS, reason=text, evidence=(Evidence(text, 0.0, 0.1, line=1),))
        plain = a_measured_skill(50 + index, path, gate=failing(("threshold", text)))
        results.append(
            plain._replace(
                skill=plain.skill._replace(name=text),
                findings=(found, foreign),
                composite=plain.composite._replace(badge_reason=text, reason=text),
                dimensions={Dimension.ROBUSTNESS: DimensionScore(None, None, weight=0.1, reason=text)},
                layers=(StaticLayer(duration_ms=0, sub_checks={text: check}),),
                advice=(Advice(text, Dimension.ROBUSTNESS, 3.0, text, 0.1, 0.2),),
                suppressed=(Suppressed(found, text, text, text),),
            )
        )
    listing = tuple(ListingUse(Client.CODEX, text, 1, 9000, 8000, (text,), before=1) for text in EVIL)
    outside = tuple(a_finding(message=text, tool=text, id=text, path=text) for text in EVIL)
    report = a_report(*results, gate=FAILED, outside=outside)
    return report._replace(listing=listing, models=EVIL, profile=EVIL[0], config_digest=EVIL[1])
