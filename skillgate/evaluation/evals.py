"""Read and lint eval sets, and calibrate the judge."""

from __future__ import annotations

import json
import os
import posixpath
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.errors import UsageError
from skillgate.evals.formats import results
from skillgate.evals.loading import load_json
from skillgate.evals.read import read_evals, usable
from skillgate.evals.rules import THRESHOLD, Subject, lint
from skillgate.evaluation.request import EvaluateRequest, read_whole
from skillgate.evaluation.run import evaluate
from skillgate.files import require_place, write
from skillgate.llm import require_packages
from skillgate.model.codec import encode
from skillgate.model.evals import EvalSet, EvalsReport, SetSummary, ShownCase, Unread
from skillgate.model.finding import Finding, Severity
from skillgate.model.layers import Estimate, JudgeLayer
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import Depth, Outcome
from skillgate.model.skill import SkillRoot, Unreadable
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.console import Console
    from skillgate.evaluation.sampled import DryRun


class LintRequest(NamedTuple):
    """Find eval sets that cannot distinguish a good skill from a bad one."""

    paths: tuple[str, ...]  # skills, or directories with skills
    allow_empty: bool  # whether no eval set at all is accepted
    threshold: float | None  # the rate that sets must be able to show; None for the default, which only warns
    results: tuple[str, ...]  # files of recorded results to check too
    fail_on: str  # findings of this severity or worse fail; ``never`` for none


class _Sets(NamedTuple):
    """The eval sets of one skill or plugin: its shown path, and the input of the rules."""

    path: PurePosixPath
    subject: Subject


class _Search(NamedTuple):
    """The result of a search: eval sets, number of skills, and whether everything could be read."""

    sets: tuple[_Sets, ...]
    skills: int
    complete: bool


def lint_sets(request: LintRequest, session: Console) -> EvalsReport:
    """Find defects of eval sets and recorded results, and gate.

    Raises:
        UsageError: a path is not valid, there is no eval set, or a file of results cannot be read.
    """
    extra = [finding for name in request.results for finding in _results(name, session)]
    search = _search(request.paths, request.threshold, session, allow_empty=request.allow_empty)
    findings = [finding for one in search.sets for finding in lint(one.subject, one.path)] + extra
    threshold = THRESHOLD if request.threshold is None else request.threshold
    return _report(search, findings, threshold=threshold, gate=_gate(findings, request.fail_on))


def show_sets(paths: tuple[str, ...], session: Console, *, allow_empty: bool) -> EvalsReport:
    """Return the contents of eval sets: prompts, tasks, results.

    Raises:
        UsageError: a path is not valid, or there is no eval set.
    """
    search = _search(paths, None, session, allow_empty=allow_empty)
    unread = frozenset(("UNREAD",))
    findings = [finding for one in search.sets for finding in lint(one.subject, one.path, only=unread)]
    return _report(search, findings, cases=True)


def _search(paths: tuple[str, ...], threshold: float | None, session: Console, *, allow_empty: bool) -> _Search:
    """Read the eval sets of the skills at the paths, and of their plugins."""
    discovery = discover(paths, cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    subjects = [_Sets(root.path, _subject(root, threshold, session)) for root in discovery.roots]
    if not discovery.single:
        subjects += _plugins(discovery.roots, threshold)
    sets = tuple(one for one in subjects if not one.subject.evals.empty)
    if not sets and discovery.complete and not allow_empty:
        where = ", ".join(paths)
        raise UsageError(
            f"no eval set found in {where}: eval sets are in a skill's evals/ directory (use --allow-empty to accept"
            " none)"
        )
    refused = any(unread.unreadable for one in sets for unread in one.subject.evals.unread)
    return _Search(sets, len(discovery.roots), discovery.complete and not refused)


def _subject(root: SkillRoot, threshold: float | None, session: Console) -> Subject:
    """Read a skill's sets, and the skill if it has any."""
    bare = Subject(read_evals(root.tree, root.directory, skills=(root.name,)), root.name, threshold=threshold)
    if bare.evals.empty:
        return bare
    source = read(root)
    if isinstance(source, Unreadable):
        session.note(f"{root.path}: {source.reason}; its prompts are not compared with the skill")
        unread = Unread(root.file_name, 1, source.reason, unreadable=True)
        return bare._replace(evals=bare.evals._replace(unread=(*bare.evals.unread, unread)))
    skill = parse(source)
    head = skill.frontmatter
    name = head.text("name") or root.name
    if name != root.name:  # graders look for the name that a client uses: either one
        bare = bare._replace(evals=read_evals(root.tree, root.directory, skills=(root.name, name)))
    return bare._replace(
        name=name,
        description=f"{head.text('description')} {head.text('when_to_use')}".strip(),
        text=skill.documents[0].text if skill.documents else "",
    )


def _plugins(roots: tuple[SkillRoot, ...], threshold: float | None) -> Iterator[_Sets]:
    """Read the sets of plugins themselves; their cases are not about a single skill, so they label no prompt."""
    seen = set()
    for root in roots:
        key = (id(root.tree), root.plugin)
        if root.plugin is None or root.plugin == root.directory or key in seen:
            continue
        seen.add(key)
        below = posixpath.relpath(root.directory or ".", root.plugin or ".")
        shown = posixpath.normpath(posixpath.join(str(root.path), *[".."] * len(below.split("/"))))
        evals = read_evals(root.tree, root.plugin)._replace(triggers=())
        name = posixpath.basename(root.plugin) or posixpath.basename(shown)
        yield _Sets(PurePosixPath(shown), Subject(evals, name, threshold=threshold))


def _results(name: str, session: Console) -> tuple[Finding, ...]:
    """Check a results file alone."""
    text = read_whole(os.path.join(session.cwd, name), name, "the results file")  # noqa: PTH118
    loaded = load_json(text, name)
    if isinstance(loaded, Unread):
        raise UsageError(f"{name}:{loaded.line} {loaded.message}")
    if not results.is_it(loaded, name):
        raise UsageError(f"{name} has no results in a known format; see docs/how-to/eval-sets.md")
    return lint(Subject(EvalSet(recorded=results.read(loaded, name))), PurePosixPath())


def _gate(findings: list[Finding], level: str) -> Verdict:
    if level == "never":
        return Verdict(passed=None)
    most = Severity(level).rank
    count = sum(1 for finding in findings if finding.severity.rank <= most)
    what = "error" if level == "error" else "error or warning"
    reason = f"{count} findings of severity {what}" if count != 1 else f"1 finding of severity {what}"
    passed = count == 0
    outcome = GateOutcome(gate=level, verdict=Outcome.PASS if passed else Outcome.FAIL, reason=reason)
    return Verdict(passed=passed, outcomes=(outcome,))


def _report(
    search: _Search,
    findings: list[Finding],
    *,
    threshold: float | None = None,
    gate: Verdict | None = None,
    cases: bool = False,
) -> EvalsReport:
    return EvalsReport(
        sets=tuple(_summary(one, cases=cases) for one in search.sets),
        skills=search.skills,
        findings=tuple(findings),
        threshold=threshold,
        complete=search.complete,
        gate=Verdict(passed=None) if gate is None else gate,
        depth=Depth.QUICK,
        coverage=None,
        config_digest="",
        tool=Tool(version=__version__),
    )


def _summary(one: _Sets, *, cases: bool) -> SetSummary:
    evals = one.subject.evals
    prompts = [ShownCase(case.prompt, case.should_trigger, case.file, case.line, case.style) for case in evals.triggers]
    tasks = [ShownCase(task.prompt, None, task.file, task.line, checks=len(task.checks)) for task in evals.tasks]
    return SetSummary(
        name=one.subject.name,
        path=str(one.path),
        files=evals.files,
        should=sum(case.should_trigger for case in evals.triggers),
        should_not=sum(not case.should_trigger for case in evals.triggers),
        tasks=len(evals.tasks),
        checks=sum(len(task.checks) for task in evals.tasks),
        recorded=len(evals.recorded),
        unread=len(evals.unread),
        judged=usable(evals.triggers) is not None,
        cases=(*prompts, *tasks) if cases else (),
    )


_MEASURES = ("kappa", "sensitivity", "specificity")


class CalibrateRequest(NamedTuple):
    """Judge skills, and write a calibration."""

    labels: str  # a file with human ratings
    file: str  # the calibration file to write
    evaluation: EvaluateRequest  # how to judge the skills


class Calibrated(NamedTuple):
    """A written calibration."""

    items: int  # how many of the ``labels`` it contains
    labels: int
    left_out: tuple[str, ...]  # why the others are missing, one line each
    measures: tuple[tuple[str, Estimate], ...]  # by name


def calibrate(request: CalibrateRequest, session: Console) -> Calibrated | DryRun:
    """Judge, pair with the labels, write; with ``dry_run`` return the estimated cost.

    Raises:
        UsageError: the labels or an option are not valid.
        IncompleteError: a package is missing.
    """
    require_packages()
    from skillgate.judge.calibration import build, read_labels, trust  # numpy

    require_place(request.file, session.cwd)
    place = os.path.join(session.cwd, request.labels)  # noqa: PTH118
    labels = read_labels(read_whole(place, request.labels, "the labels"), request.labels)
    if request.evaluation.models.calibration:
        raise UsageError("evals calibrate writes a calibration; leave out --calibration")
    evaluation = evaluate(request.evaluation, session)
    if evaluation.estimate is not None:
        return evaluation.estimate
    layers = {
        result.skill.path: layer
        for result in evaluation.report.results
        for layer in result.layers
        if isinstance(layer, JudgeLayer)
    }
    built = build(labels, layers, date=time.strftime("%Y-%m-%d", time.gmtime()))
    for line in built.left_out:
        session.note(line)
    text = json.dumps(encode(built.document), indent=2, ensure_ascii=False)
    write(request.file, f"{text}\n".encode(), cwd=session.cwd)
    known = trust(built.document, ())
    measures = tuple((name, getattr(known, name)) for name in _MEASURES)
    return Calibrated(len(built.document.items), len(labels), tuple(built.left_out), measures)
