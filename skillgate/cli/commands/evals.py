"""Lint the eval sets that skills bring, list them, or calibrate the judge by people's ratings."""

from __future__ import annotations

import argparse
import os
import posixpath
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__
from skillgate.cli.options import add_output, add_paths, output_format
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evals.lint import lint
from skillgate.evals.loading import load_json
from skillgate.evals.read import read_evals, usable
from skillgate.evals.recorded import is_recorded, recorded
from skillgate.evals.rule import THRESHOLD, Subject
from skillgate.evaluate import calibrating
from skillgate.evaluate.findings import read_whole
from skillgate.files import require_place, write
from skillgate.model.evals import EvalSet, EvalsReport, SetSummary, ShownCase, Unread
from skillgate.model.finding import Severity
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import Depth, Outcome
from skillgate.model.skill import Unreadable
from skillgate.report import evals as rendering
from skillgate.report.terminal import Style
from skillgate.skill.discover import discover
from skillgate.skill.parse import parse
from skillgate.skill.read import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.finding import Finding
    from skillgate.model.skill import SkillRoot
    from skillgate.session import Session

GROUP = "model"
FORMATS = ("text", "json")
_LEVELS = ("error", "warning", "never")
_LINT = "find eval sets that cannot tell a good skill from a bad one"
_SHOW = "list what was read of the eval sets: prompts, tasks, results"
_FORMS = """\
Eval sets lie in a skill's evals/: trigger sets and evals.json as skill-creator writes them, the cases of Claude Code's
plugin evals, and evals/triggers.yaml, a list of prompts with should_trigger. Only calibrate asks a model."""


class _Found(NamedTuple):
    """The eval sets of one skill or plugin: where it is shown, and what the rules look at."""

    path: PurePosixPath
    subject: Subject


class _Search(NamedTuple):
    """What paths led to: those that bring eval sets, how many skills there are, and whether all could be read."""

    found: tuple[_Found, ...]
    skills: int
    complete: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words, each with what it takes."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    for name, (help_text, declare, _) in _WORDS.items():
        declare(words.add_parser(name, help=help_text, description=f"{help_text.capitalize()}.\n\n{_FORMS}"))


def run(args: argparse.Namespace, session: Session) -> int:
    """Do what the word says.

    Raises:
        UsageError: a path or an option is not valid, or there is no eval set.
    """
    code: int = _WORDS[args.word][2](args, session)
    return code


def _declare_lint(parser: argparse.ArgumentParser) -> None:
    _declare_show(parser)
    parser.add_argument(
        "--threshold",
        metavar="SHARE",
        type=_share,
        help="the rate that the sets must be able to show, between 0 and 1; one that is asked for makes TOO_SMALL an"
        f" error (default: {THRESHOLD}, a warning)",
    )
    parser.add_argument(
        "--results",
        metavar="FILE",
        action="append",
        default=[],
        help="look at recorded results too: benchmark.json, grading.json, aggregate-result.json or what trigger runs"
        " write; those in evals/ are found; repeatable",
    )
    parser.add_argument(
        "--fail-on",
        metavar="LEVEL",
        choices=_LEVELS,
        default="error",
        help=f"exit 1 for findings of this severity or worse: {', '.join(_LEVELS)} (default: error)",
    )


def _declare_show(parser: argparse.ArgumentParser) -> None:
    add_paths(parser)
    parser.add_argument("--allow-empty", action="store_true", help="pass when there is no eval set at all")
    add_output(parser, FORMATS)


def _run_lint(args: argparse.Namespace, session: Session) -> int:
    _require_places(args, session)
    extra = [finding for name in args.results for finding in _results(name, session)]
    search = _search(args, session)
    findings = [finding for one in search.found for finding in lint(one.subject, one.path)] + extra
    gate = _gate(findings, args.fail_on)
    report = _report(search, findings, threshold=THRESHOLD if args.threshold is None else args.threshold, gate=gate)
    _publish(report, rendering.render_lint, args, session)
    if gate.passed is False:
        return EXIT_GATE_FAILED
    return EXIT_PASSED if report.complete else EXIT_INCOMPLETE


def _run_show(args: argparse.Namespace, session: Session) -> int:
    _require_places(args, session)
    args.threshold = None
    search = _search(args, session)
    unread = frozenset(("UNREAD",))
    findings = [finding for one in search.found for finding in lint(one.subject, one.path, only=unread)]
    report = _report(search, findings, cases=True)
    _publish(report, rendering.render_show, args, session)
    return EXIT_PASSED if report.complete else EXIT_INCOMPLETE


# A word more is one line here: what it does in a few words, what it takes, and what it does.
_WORDS: dict[str, tuple[str, Callable[..., None], Callable[..., int]]] = {
    "lint": (_LINT, _declare_lint, _run_lint),
    "show": (_SHOW, _declare_show, _run_show),
    "calibrate": (calibrating.HELP, calibrating.declare, calibrating.run),
}


def _search(args: argparse.Namespace, session: Session) -> _Search:
    """Read the eval sets of the skills that the paths mean, and of the plugins that lie there.

    Raises:
        UsageError: a path is not valid, or there is no eval set.
    """
    paths = args.paths or ["."]
    discovery = discover(paths, cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    subjects = [_Found(root.path, _subject(root, args.threshold, session)) for root in discovery.roots]
    if not discovery.single:
        subjects += _plugins(discovery.roots, args.threshold)
    found = tuple(one for one in subjects if not one.subject.evals.empty)
    if not found and discovery.complete and not args.allow_empty:
        where = ", ".join(paths)
        raise UsageError(
            f"no eval set found in {where}: a skill's eval sets lie in its evals/ (--allow-empty accepts none)"
        )
    refused = any(unread.unreadable for one in found for unread in one.subject.evals.unread)
    return _Search(found, len(discovery.roots), discovery.complete and not refused)


def _subject(root: SkillRoot, threshold: float | None, session: Session) -> Subject:
    """Read a skill's sets, and the skill where it brings any."""
    bare = Subject(read_evals(root.tree, root.directory, skills=(root.name,)), root.name, threshold=threshold)
    if bare.evals.empty:
        return bare
    source = read(root)
    if isinstance(source, Unreadable):
        session.note(f"{root.path}: {source.reason}; its prompts are not compared with it")
        unread = Unread(root.file_name, 1, source.reason, unreadable=True)
        return bare._replace(evals=bare.evals._replace(unread=(*bare.evals.unread, unread)))
    skill = parse(source)
    head = skill.frontmatter
    name = head.text("name") or root.name
    if name != root.name:  # graders look for the name that a client calls it by: either
        bare = bare._replace(evals=read_evals(root.tree, root.directory, skills=(root.name, name)))
    return bare._replace(
        name=name,
        description=f"{head.text('description')} {head.text('when_to_use')}".strip(),
        text=skill.documents[0].text if skill.documents else "",
    )


def _plugins(roots: tuple[SkillRoot, ...], threshold: float | None) -> Iterator[_Found]:
    """Read the sets that lie in plugins themselves; their cases are about no one skill, so they label no prompt."""
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
        yield _Found(PurePosixPath(shown), Subject(evals, name, threshold=threshold))


def _results(name: str, session: Session) -> tuple[Finding, ...]:
    """Look at a file of results by itself.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    text = read_whole(os.path.join(session.cwd, name), name, "the results file")  # noqa: PTH118
    loaded = load_json(text, name)
    if isinstance(loaded, Unread):
        raise UsageError(f"{name}:{loaded.line} {loaded.message}")
    if not is_recorded(loaded.value):
        raise UsageError(f"{name} holds no results of a form that is known; docs/how-to/eval-sets.md lists them")
    return lint(Subject(EvalSet(recorded=recorded(loaded, name))), PurePosixPath())


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
        sets=tuple(_summary(one, cases=cases) for one in search.found),
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


def _summary(one: _Found, *, cases: bool) -> SetSummary:
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


def _publish(report: EvalsReport, render: Callable[..., str], args: argparse.Namespace, session: Session) -> None:
    for form, path in args.output_file:
        text = rendering.render_json(report) if form == "json" else render(report, Style(), verbose=session.verbose)
        write(path, text.encode(errors="backslashreplace"), cwd=session.cwd)
    if output_format(args) == "json":
        session.out(rendering.render_json(report))
    else:
        style = Style(width=session.width, color=session.color)
        session.out(render(report, style, verbose=session.verbose))


def _require_places(args: argparse.Namespace, session: Session) -> None:
    output_format(args)
    for _, path in args.output_file:
        require_place(path, session.cwd)


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, such as 0.8, found {text!r}")
    return number
