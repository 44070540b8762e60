"""Run the words of ``log``: build the request of each, call its use case, print what came of it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.cli.options import output_format
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.files import require_place, write
from skillgate.invocations.request import (
    AddRequest,
    ImportRequest,
    PurgeRequest,
    RescoreRequest,
    ScoreRequest,
    Selection,
    ShowRequest,
)
from skillgate.model.text import printable
from skillgate.report.rendering import render
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from skillgate.session import Session


def run_import(args: argparse.Namespace, session: Session) -> int:
    """Take files in.

    Raises:
        UsageError: the store cannot be used; or something was rejected, and all else is in the store.
        IncompleteError: the database failed; or a file that was named, or all of a directory, holds no use of a skill
            that can be read.
    """
    from skillgate.invocations.formats._checks import fit_name
    from skillgate.invocations.importing import import_files

    if args.project is not None and not fit_name(args.project):
        raise UsageError("--project: expected a name of at most 200 characters, none of them hidden")
    request = ImportRequest(
        store=args.store,
        files=tuple(args.files),
        form=args.format,
        rubric=_rubric(args, session),
        category=args.skill_category,
        keep_text=args.keep_text,
        update=args.update,
        strict=args.strict,
        project=args.project,
    )
    found = import_files(request, session)
    if session.json:
        _print_json(found.document(), session)
    else:
        for line in found.lines(verbose=session.verbose):
            session.out(line)
    found.require_all()
    return EXIT_PASSED


def run_add(args: argparse.Namespace, session: Session) -> int:
    """Record one invocation."""
    from skillgate.invocations.adding import add

    request = AddRequest(
        store=args.store,
        invocation=args.invocation,
        fields=tuple(args.set),
        skill=args.skill,
        id=args.id,
        rubric=_rubric(args, session),
        category=args.skill_category,
        keep_text=args.keep_text,
        update=args.update,
    )
    done = add(request, session)
    if session.json:
        _print_json(done.document(), session)
    else:
        session.out(done.line())
    return EXIT_PASSED


def run_score(args: argparse.Namespace, session: Session) -> int:
    """Score what files hold.

    Raises:
        UsageError: something could not be read; the others are shown.
        IncompleteError: a file holds no use of a skill that can be read; the others are shown.
    """
    from skillgate.invocations.scoring import score

    found = score(ScoreRequest(tuple(args.files), args.format, _rubric(args, session), args.skill_category), session)
    if session.json:
        _print_json(found.document(), session)
    elif found.scored:
        from skillgate.report.invocations_text import render_scores

        session.out(render_scores(found.scored, _style(session), parts=found.parts()))
    found.require_all()
    return EXIT_PASSED


def run_list(args: argparse.Namespace, session: Session) -> int:
    """List invocations."""
    from skillgate.invocations.records import list_invocations

    selection = _selection(args, session)
    found = list_invocations(selection, args.limit, session)
    if session.json:
        _print_json(found.document(), session)
        return EXIT_PASSED
    if not found.records and (selection.skills or selection.days is not None or selection.until is not None):
        of = f" of {', '.join(map(printable, selection.skills))}" if selection.skills else ""
        days = selection.days
        within = "" if days is None else f" in the last {days:,} days; --all looks at all that is there"
        session.note(f"no invocation{of} is recorded{within}")
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_list

    session.out(render_list(found.scored(), _style(session)))
    if found.left_out:
        session.note(f"{found.left_out:,} more; --limit N lists them")
    return EXIT_PASSED


def run_show(args: argparse.Namespace, session: Session) -> int:
    """Show one invocation."""
    from skillgate.invocations.records import show

    found = show(ShowRequest(args.store, args.id, _rubric(args, session)), session)
    if session.json:
        _print_json(found.document(), session)
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_record

    record = found.record
    about = {"origin": record.origin, "imported at": f"{record.imported_at} UTC"}
    session.out(render_record(record.invocation, found.score, found.parts, about, found.fields(), _style(session)))
    return EXIT_PASSED


def run_rescore(args: argparse.Namespace, session: Session) -> int:
    """Score what is there by another rubric."""
    from skillgate.invocations.records import counted, rescore

    rubric = _rubric(args, session)
    done = rescore(RescoreRequest(args.store, rubric, args.skill, args.since), session)
    if session.json:
        document = {"kind": "log-rescore", "store": done.store, "rubric_version": rubric, "rescored": done.number}
        _print_json(document, session)
    else:
        session.out(f"{counted(done.number)} scored by rubric {rubric}")
    return EXIT_PASSED


def run_purge(args: argparse.Namespace, session: Session) -> int:
    """Delete invocations."""
    from skillgate.invocations.records import counted, purge

    request = PurgeRequest(args.store, args.before, args.skill, dry_run=args.dry_run, agreed=args.yes)
    done = purge(request, session)
    if session.json:
        document = {"kind": "log-purge", "store": done.store, "purged": done.number, "dry_run": request.dry_run}
        _print_json(document, session)
    else:
        session.out(f"{counted(done.number)} {'would be ' if request.dry_run else ''}deleted")
    return EXIT_PASSED


def run_stats(args: argparse.Namespace, session: Session) -> int:
    """Show the figures of skills."""
    _require_statistics()
    from skillgate.invocations.reporting import stats

    found = stats(_selection(args, session), session)
    if session.json or not found.skills:
        session.out(render(found, "invocations", "json" if session.json else "text", _style(session)))
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_stats

    session.out(render_stats(found.skills, _style(session)))
    return EXIT_PASSED


def run_trend(args: argparse.Namespace, session: Session) -> int:
    """Show what changed."""
    _require_statistics()
    from skillgate.invocations.reporting import trend, trend_document

    selection = _selection(args, session)
    found = trend(selection, session)
    if session.json:
        session.out(trend_document(found, selection))
    elif not found.trends and not found.invocations:
        session.out(render(found, "invocations", "text", _style(session)))
    else:
        from skillgate.report.invocations_text import render_trends

        session.out(render_trends(found.trends, _style(session)))
    return EXIT_PASSED


def run_gate(args: argparse.Namespace, session: Session) -> int:
    """Hold skills to a gate.

    Returns:
        1 where one failed or was triggered, else 3 where one could not be decided, else 0.
    """
    _require_statistics()
    from skillgate.invocations.checking import exit_code
    from skillgate.invocations.reporting import gate, gate_document

    selection = _selection(args, session)
    found = gate(args.gate, selection, session)
    if session.json:
        session.out(gate_document(found, selection))
    else:
        from skillgate.report.invocations_text import render_gates

        session.out(render_gates(found.gates, _style(session)))
    return exit_code(found.gates)


def run_dashboard(args: argparse.Namespace, session: Session) -> int:
    """Draw the dashboard.

    Raises:
        UsageError: there is no such gate, the store cannot be used, or a file cannot be written.
        IncompleteError: the database failed.
    """
    _require_statistics()
    from skillgate.invocations.reporting import dashboard

    form = output_format(args)
    for _, path in args.output_file:
        require_place(path, session.cwd)
    found = dashboard(_selection(args, session), args.gates, session)
    for file_form, path in args.output_file:
        write(path, render(found, "invocations", file_form, Style()).encode(), cwd=session.cwd)
    session.out(render(found, "invocations", form, _style(session), verbose=session.verbose))
    return EXIT_PASSED


RUN: dict[str, Callable[[argparse.Namespace, Session], int]] = {
    "import": run_import,
    "add": run_add,
    "list": run_list,
    "show": run_show,
    "score": run_score,
    "rescore": run_rescore,
    "stats": run_stats,
    "trend": run_trend,
    "gate": run_gate,
    "dashboard": run_dashboard,
    "purge": run_purge,
}
"""What each word does."""


def _selection(args: argparse.Namespace, session: Session) -> Selection:
    days = args.days if args.days is not None else session.config.get(settings.LOG_DAYS)
    return Selection(
        store=args.store,
        skills=tuple(args.skills),
        rubric=_rubric(args, session),
        days=None if args.all else days,
        until=args.at,
    )


def _rubric(args: argparse.Namespace, session: Session) -> str:
    return args.rubric or session.config.get(settings.RUBRIC)


def _require_statistics() -> None:
    """Make sure that what computes intervals is there.

    Raises:
        UsageError: saying how to install it.
    """
    missing = [name for name in ("numpy", "scipy") if find_spec(name) is None]
    if missing:
        package = f"{missing[0]}, which is not installed: pip install 'skillgate-action[store,stats]'"
        raise UsageError(f"intervals need {package}")


def _print_json(document: dict[str, Any], session: Session) -> None:
    session.out(json.dumps(document, indent=2, ensure_ascii=False))


def _style(session: Session) -> Style:
    return Style(width=session.width, color=session.color)
