"""One document of every kind, and the kinds that the types of the model declare."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import skillgate.model
from skillgate import __version__
from skillgate.bench.diff import diff as bench_diff
from skillgate.bench.request import DiffPolicy
from skillgate.model.benchmark import AdapterType, FoundSkill, FoundSkills
from skillgate.model.corpus import (
    CorpusExport,
    CorpusIndex,
    CorpusList,
    CorpusShow,
    CorpusVerify,
    ListedSkill,
    ShownSkill,
)
from skillgate.model.documents import (
    ActionRun,
    Calibration,
    Certificate,
    CertificateCheck,
    CertifiedSkill,
    Change,
    Checked,
    Content,
    History,
    KnownFinding,
    KnownFindings,
    Pair,
    Trend,
)
from skillgate.model.evals import EvalsReport, SetSummary
from skillgate.model.report import Tool
from skillgate.model.score import Depth, Dimension, tag_of
from skillgate.report.compare import compare
from skillgate.report.json import document
from tests.report import invocations_made
from tests.report.diffs import every_kind as a_diff
from tests.report.reports import a_finding, a_report, a_skill
from tests.store import made as benches

_TOOL = Tool(version=__version__)


def declared() -> set[str]:
    """Return the kind of every document that a type of the model declares."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(skillgate.model.__path__, "skillgate.model.")
    ]
    types = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    tags = [tag_of(one) for one in types]
    return {tag[1] for tag in tags if tag is not None and tag[0] == "kind"}


def documents() -> dict[str, Any]:
    """Return a document of each kind."""
    report = a_report(a_skill(a_finding()), a_skill(path="skills/two"))
    bench = benches.document(benches.evaluation(1, 3))
    member = ListedSkill("tidy", "d" * 32, "skills/tidy", "", 40, 61.5, "bronze", 1510.0, 3)
    found = {
        "score": report,
        "check": document(report, command="check", single=False),
        "compare": compare(*report.results, version=__version__, digest=""),
        "diff": a_diff(),
        "bench": bench,
        "bench-diff": bench_diff(
            bench,
            benches.document(benches.evaluation(2, 3)),
            label_a="a",
            label_b="b",
            version="1",
            policy=DiffPolicy(),
        ),
        "invocations": invocations_made.eight(),
        "log-skill": invocations_made.skill_page(),
        "history": History(tool=_TOOL, store="sqlite:///x", trends=(_trend(),)),
        "find": FoundSkills(tool=_TOOL, skills=(FoundSkill(id="s", adapter_type=AdapterType.SUBPROCESS),), matched=1),
        "evals": _evals(),
        "corpus-list": CorpusList(tool=_TOOL, members=(member,), fit=None),
        "corpus-show": CorpusShow(tool=_TOOL, skills=(ShownSkill(member, ()),)),
        "corpus-verify": CorpusVerify(tool=_TOOL, members=1, matches=0, defects=("one",), notes=()),
        "corpus": CorpusExport(tool=_TOOL, members=(), former=(), texts=(), matches=()),
        "corpus-index": CorpusIndex(),
        "action": ActionRun(result="pass", exit_code=0, tool=_TOOL),
        "known-findings": KnownFindings(tool=_TOOL, findings=(KnownFinding("A", "a/SKILL.md", "m"),)),
        "calibration": Calibration("m", "1", "1", "2026-11-21", (Pair("a", Dimension.OUTPUT_QUALITY, 5.0, 6.0),)),
    }
    return found | _certificates()


def _trend() -> Trend:
    return Trend(
        kind="score",
        subject="skills/tidy",
        measured="quick",
        values=(60.0, 70.0),
        times=(benches.NOON, benches.NOON),
        first=60.0,
        last=70.0,
        best=70.0,
        change=Change.HIGHER,
        reason="it rose",
    )


def _evals() -> EvalsReport:
    one = SetSummary(
        "tidy", "skills/tidy", (), should=3, should_not=2, tasks=1, checks=1, recorded=0, unread=0, judged=False
    )
    head: dict[str, Any] = {"depth": Depth.QUICK, "coverage": None, "config_digest": "", "tool": _TOOL}
    return EvalsReport(sets=(one,), skills=1, findings=(a_finding(),), threshold=0.8, **head)


def _certificates() -> dict[str, Any]:
    issued, expires = "2026-11-22T12:30:00Z", "2027-02-22T12:30:00Z"
    skill = CertifiedSkill(
        path="skills/tidy", name="tidy", certified=True, content=Content("sha256:0", {}), composite=61.5, badge=None
    )
    head: dict[str, Any] = {"depth": Depth.CERTIFY, "coverage": 1.0, "config_digest": "", "tool": _TOOL}
    checked = Checked("skills/tidy", "tidy", ("its files are the same",), ())
    return {
        "certificate": Certificate(issued=issued, expires=expires, skills=(skill,), **head),
        "certificate-check": CertificateCheck(
            tool=_TOOL, certificate="c.json", issued=issued, expires=expires, holds=True, skills=(checked,), note=""
        ),
    }
