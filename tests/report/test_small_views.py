"""Past results, found and selected skills, eval sets, corpora and certificates in every format."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("jinja2")

from skillgate.format import Style
from skillgate.model.benchmark import AdapterType, Choice, Figures, FoundSkill, FoundSkills, Past
from skillgate.model.corpus import CorpusList, CorpusShow, CorpusVerify, Fit, ListedSkill, ShownMatch, ShownSkill
from skillgate.model.documents import CertificateCheck, Change, Checked, History, PastEvaluation, PastScore, Trend
from skillgate.model.evals import EvalFile, EvalsReport, SetSummary, ShownCase
from skillgate.model.finding import Severity
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import Depth, Dimension, Outcome
from skillgate.report import certificate, choosing, corpus, evals, history
from skillgate.report.formats import html, markdown, text
from skillgate.report.formats.text import columns
from skillgate.report.view import View
from tests.published import HOMEPAGE, REF
from tests.report.invocations_made import BAD
from tests.report.pages import Page
from tests.report.reports import a_finding
from tests.report.tree import dump, matches_golden
from tests.store.made import NOON

TOOL = Tool(version="1.2.3")
EVALUATION = dict.fromkeys(PastEvaluation.__dataclass_fields__) | {
    **{"id": 1, "started_at": NOON, "skill_version": "1.0.0", "benchmark_version": "2", "origin": "eval", "total": 9},
    **{"completion_rate": 0.8, "completion_low": 0.6, "completion_high": 0.9, "composite_score": 0.75},
    **{"cost_usd": 0.5, "latency_p95_ms": 120.0, "gate_passed": False, "commit_id": "a" * 40},
}
SCORE = dict.fromkeys(PastScore.__dataclass_fields__) | {
    **{"id": 1, "scored_at": NOON, "depth": "quick", "composite": 61.5, "errors": 1, "gate_passed": True},
}


def views(name: str = "tidy", said: str = "said") -> dict[str, View]:
    """One view of each kind; ``name`` and ``said`` are the texts that others wrote."""
    comparable = '{"shard": "1/2", "tasks": ["a", "b"]}'
    evaluation: Any = EVALUATION | {"skill_id": name, "benchmark_id": name, "branch": said, "comparable": comparable}
    score: Any = SCORE | {"skill_path": name, "badge": "gold", "branch": said}
    past = History(
        tool=TOOL,
        store="",
        evaluations=(
            PastEvaluation(**evaluation),
            PastEvaluation(**evaluation | {"incomplete": said, "commit_id": None}),
        ),
        scores=(PastScore(**score), PastScore(**score | {"composite": None, "badge": None, "gate_passed": None})),
    )
    course: dict[str, Any] = {"kind": "bench", "subject": name, "measured": said, "reason": said, "left_out": 2}
    course |= {"values": (0.5, 0.75), "times": (NOON, NOON), "first": 0.5, "last": 0.75, "best": 0.75}
    trend = Trend(change=Change.HIGHER, **course)
    empty = replace(trend, values=(), times=(), change=Change.UNKNOWN, conditions=said)
    skill = FoundSkill(
        id=name,
        adapter_type=AdapterType.SUBPROCESS,
        name=said,
        tags=(said,),
        completion=Past(completion_rate=0.5, source="skill.json", benchmark_id=name),
    )
    found = FoundSkills(tool=TOOL, skills=(skill,), matched=3, not_evaluated=4)
    figures = Figures(completion_rate=0.9, error_rate=0.1, latency_p95_ms=20.0, composite_score=0.8, tokens=1234)
    choices = Choice(0, True, 1, ()), Choice(1, False, None, (said, "too slow"))
    member = ListedSkill(name, "d" * 32, said, said, 40, 61.5, "bronze", 1510.0, 3)
    refused = member._replace(rating=None, composite=None, badge=None, rateable=False)
    match = ShownMatch(name, "e" * 32, 1490.0, 1.0, True, (Dimension.ROBUSTNESS,), (), "m", "live", origin=said)
    lint: dict[str, Any] = {"depth": Depth.QUICK, "coverage": None, "config_digest": "", "tool": TOOL, "skills": 1}
    cases = tuple(ShownCase(said, label, "f", 1) for label in (True, False, None))
    files = (EvalFile(name, "trigger-set", 2), EvalFile(name, "fixtures", 1))
    sets = SetSummary(
        name, said, files, should=3, should_not=2, tasks=1, checks=2, recorded=1, unread=1, judged=False, cases=cases
    )
    findings = a_finding(message=said), a_finding(message=said, severity=Severity.INFO)
    failed = Verdict(passed=False, outcomes=(GateOutcome("error", Outcome.FAIL, said),))
    checked = Checked(name, name, ("it holds until 2027",), (said,))
    verified: dict[str, Any] = {"certificate": said, "issued": "2026", "expires": "2027", "holds": False, "note": said}
    return {
        "history": history.view(past),
        "trends": history.view(replace(past, trends=(trend, empty))),
        "find": choosing.view(found),
        "select": choosing.selected([name, name], [figures, None], choices),
        "corpus-list": corpus.list_view(
            CorpusList(tool=TOOL, members=(member, refused), fit=Fit("scripted", 3, 2, (said,)))
        ),
        "corpus-show": corpus.show_view(CorpusShow(tool=TOOL, skills=(ShownSkill(member, (match,)),))),
        "corpus-verify": corpus.verify_view(
            CorpusVerify(tool=TOOL, members=1, matches=0, defects=(said,), notes=(said,)), said
        ),
        "lint": evals.view(EvalsReport(sets=(sets,), findings=findings, threshold=0.8, gate=failed, **lint)),
        "show": evals.view(EvalsReport(sets=(sets,), findings=findings, threshold=None, **lint)),
        "certificate": certificate.view(CertificateCheck(tool=TOOL, skills=(checked,), **verified)),
    }


VIEWS = views()


def shown(name: str, width: int = 100, *, verbose: bool = False) -> str:
    return text.write(VIEWS[name], Style(width), verbose=verbose)


def test_what_is_shown_is_what_was_shown() -> None:
    assert matches_golden("small.tree", "\n".join(f"{name}:\n{dump(view)}" for name, view in VIEWS.items()))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("history", "benchmark tidy 2, shard 1/2, only a and 1 more"),
        ("history", "completed 80.0 % (60–90) · composite 0.750 · p95 120 ms · cost $0.5000"),
        ("history", "gate fail · of aaaaaaaa said"),
        ("history", "gate incomplete · of said"),
        ("history", "2026-03-01 12:00 tidy quick — — 1 — said"),
        (
            "trends",
            "↑ higher tidy on said ▅▆ first 50.0 % · last 75.0 % · best 75.0 % · 2 runs since 2026-03-01 said; 2 left",
        ),
        ("find", "note: 4 not evaluated, so --min-completion leaves them out"),
        ("find", "50.0 % (on tidy, self-reported)"),
        ("select", "1 of 2 skills selected"),
        ("select", "tidy said; too slow"),
        ("corpus-list", "(verdicts of the provider scripted, not of a real model: they show how it works)"),
        ("corpus-list", "tidy refused 3 — — said"),
        ("corpus-show", "tidy won 1490 robustness the order decided, imported"),
        ("corpus-verify", "1 defect: 1 skill and 0 matches in said defect said note said"),
        ("lint", "1 error, 1 info. 1 eval set with 5 trigger prompts and 1 task, in 1 skill. - gate failed: said"),
        ("show", "too few of a label: score generates its own 1 task with 2 checks 1 recorded result 1 place not read"),
        ("certificate", "✗ tidy: does not hold ✗ said ✓ it holds until 2027"),
    ],
)
def test_a_terminal_shows_it(name: str, words: str) -> None:
    assert words in " ".join(shown(name, 80 if name == "history" else 100).split())


def test_infos_are_shown_only_if_everything_is_asked_for() -> None:
    assert shown("lint").count("ORPHAN_REFERENCE") == 1
    assert shown("lint", verbose=True).count("ORPHAN_REFERENCE") == 2
    assert shown("lint", verbose=True).count("fix: ") == 1


@pytest.mark.parametrize("number", range(0, len(BAD), 3))
def test_nothing_that_others_wrote_is_obeyed(number: int) -> None:
    for name, view in views(BAD[number], BAD[-1 - number]).items():
        for width in (60, 80, 120):
            said = text.write(view, Style(width), verbose=True)
            assert not {each for each in said if ord(each) < 32 and each != "\n"}
            assert not {"\u202e", "\u2066", "\u2028"} & set(said)
            assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]
            if name not in ("lint", "show"):  # findings are on one line, however long
                assert max(map(columns, said.splitlines())) <= width
        page = Page(html.write(view))
        assert page.unclosed == 0
        assert not {"img", "iframe", "form", "link"} & {tag for tag, _ in page.elements}
        assert all(link.startswith(("#", "https://github.com/")) for link in page.all("href"))
        whole = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown.write(view))  # but for code, which is inert
        whole = re.sub(r"<summary>[^<\n]*(<code>[^<\n]*</code>[^<\n]*)*</summary>|</?details>|<br>", "", whole)
        whole = re.sub(rf"\]\({HOMEPAGE}/blob/{REF}/docs/rules\.md#[a-z_]+\)", "]", whole)  # our own pages
        assert "<" not in whole
        assert "](" not in re.sub(r"\\.", "", whole)
        assert "@team" not in whole
        assert "https:" not in whole
