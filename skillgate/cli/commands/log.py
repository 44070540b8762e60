"""Recorded invocations: import them, score what really happened, compare over time, gate, and show a dashboard.

Invocations are JSON Lines, transcripts of Claude Code, or OpenTelemetry spans. Each gets 0 to 100 points: completion
25, efficiency 20, output quality 30, satisfaction 25. Parts that were not observed neither add nor remove points. An
invocation with too few observations is not rated. Users' texts are not stored.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli import log_export, log_query, log_serve, log_skill, log_sync
from skillgate.cli.grading_options import (
    add_grading,
    grade_endings,
    grade_request,
    new_endings,
    require_answers,
    show_cost,
)
from skillgate.cli.options import (
    Rare,
    add_output,
    json_text,
    output_format,
    request_from,
    style_of,
    whole_number,
    write_text,
)
from skillgate.cli.store_options import add_store, day_of, past
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.files import require_place
from skillgate.format import Style, printable
from skillgate.invocations.records import (
    AddRequest,
    ImportRequest,
    PurgeRequest,
    RescoreRequest,
    ScoreRequest,
    Selection,
    ShowRequest,
)
from skillgate.model.invocation import Caller, Filters
from skillgate.registry import INVOCATION_FORMATS
from skillgate.report.rendering import formats_of, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.console import Console
    from skillgate.report.view import View

GROUP = "past"
_MOST_LISTED = 100_000
_LONGEST = 36_500  # days
FORMS = ("auto", *INVOCATION_FORMATS.listed())
_WORDS = {
    "import": "import recorded invocations",
    "serve": log_serve.SUMMARY,
    "sync": log_sync.SUMMARY,
    "add": "record one invocation, or add signals to a recorded one",
    "list": "list invocations with their ids, newest first",
    "show": "show everything stored about one invocation, and the parts of its score",
    "score": "score the invocations of a file, and store nothing",
    "rescore": "score all stored invocations again with another rubric",
    "stats": "show the figures of each skill",
    "trend": "compare the last seven days with the days before",
    "gate": "check skills against a gate: publish, feature, deprecation, or one from the configuration",
    "skill": log_skill.SUMMARY,
    "dashboard": "show leaderboard, tiers, trends and improvements, as tables, JSON or a page",
    "query": "answer one of the three queries that were published with the rubric",
    "export": "write invocations with their scores as CSV or Parquet",
    "purge": "delete invocations",
}
_MORE = {
    "serve": log_serve.MORE,
    "import": """\
A FILE contains JSON Lines, a transcript of Claude Code, OTLP JSON, or a portable log, or is another store. A
directory, such as ~/.claude/projects, means all of its .jsonl files; - is the standard input. Each file is one
transaction: if the program is killed, all of it is stored or nothing. Invalid lines are reported by line number and
skipped, and the exit code is 2. Stored invocations are skipped; the additions of `log add --update` stay. If a file
has no use of a skill in a known form, the message describes it and the exit code is 3. Users' texts and paths are only
stored with --keep-text or --project.""",
    "sync": log_sync.DESCRIPTION,
    "add": """\
INVOCATION is a JSON object with the fields of a line, or - for the standard input; --set adds fields. Missing times and
ids are generated. With --update the fields are added to the stored invocation with this id, for signals that come
later, such as the user's verdict. They stay when its recording is imported again. `log list` lists ids.""",
    "score": """\
For a file with one invocation, this shows each part of the score with its evidence, or why it has none.""",
    "show": """\
The beginning of an id is enough if it is unique.""",
    "rescore": """\
From then on, the view skill_invocations shows this rubric.""",
    "trend": """\
A change is reported if both windows have five rated invocations, it is at least 10 % and 3 points, and the 95 %
interval of the difference excludes 0. So fewer than one in twenty reported changes is due to chance alone.""",
    "gate": """\
A gate is either a requirement, which fails on too few invocations, or a trigger, which asks for a review if all of its
conditions hold. Without SKILL every skill in the store is checked. Exits with 1 if a requirement failed or a trigger
fired, and with 3 if there is not enough data to decide.""",
    "skill": log_skill.DETAILS,
    "query": log_query.DESCRIPTION,
    "export": log_export.DESCRIPTION,
    "purge": """\
In a SQLite file, deleted data is overwritten. On a terminal this asks first; elsewhere --yes is required.""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    words = parser.add_subparsers(dest="word", required=True, metavar="|".join(_WORDS))
    parsers = {}
    for word, summary in _WORDS.items():
        text = f"{summary[0].upper()}{summary[1:]}." + (f"\n\n{_MORE[word]}" if word in _MORE else "")
        parsers[word] = words.add_parser(word, help=summary, description=text)
        if word != "score":
            add_store(parsers[word])
    log_serve.add_arguments(parsers["serve"])
    _taking(parsers["import"], parsers["score"], parsers["add"])
    log_sync.add_arguments(parsers["sync"])
    _listing(parsers["list"], parsers["show"])
    _changing(parsers["rescore"], parsers["purge"])
    _reporting(parsers["stats"], parsers["trend"], parsers["gate"], parsers["dashboard"])
    _one_skill(parsers["skill"])
    _taking_out(parsers["query"], parsers["export"])


def _taking(
    importing: argparse.ArgumentParser, scoring: argparse.ArgumentParser, adding: argparse.ArgumentParser
) -> None:
    for one in (importing, scoring):
        one.add_argument(
            "files", metavar="FILE", nargs="+", help="files, directories, or -; put them before any option"
        )
        one.add_argument("--format", metavar="FORM", choices=FORMS, default="auto", help=f"{', '.join(FORMS)}")
    for one in (importing, scoring, adding):
        _add_rubric(one)
        one.add_argument("--skill-category", metavar="NAME", help=Rare("the category of invocations that name none"))
    for one in (importing, adding):
        one.add_argument(
            "--keep-text",
            action="store_true",
            help=Rare("store texts under unknown keys, and names and ids that look like text"),
        )
    importing.add_argument("--update", action="store_true", help="replace stored invocations with the same id")
    importing.add_argument(
        "--project",
        metavar="LABEL",
        help=Rare("store this name as the origin, instead of a digest of the files' directory"),
    )
    importing.add_argument(
        "--strict", action="store_true", help=Rare("import nothing from a file with an invalid line")
    )
    add_grading(importing, settings.LOG_IMPORT)
    adding.add_argument("invocation", metavar="INVOCATION", nargs="?", help="a JSON object, or -")
    adding.add_argument("--skill", metavar="NAME", help="the skill's name")
    adding.add_argument("--id", metavar="ID", help="the invocation's id")
    adding.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set a field; VALUE is JSON, else text; repeatable",
    )
    adding.add_argument("--update", action="store_true", help="add to the stored invocation with this id")


def _listing(listing: argparse.ArgumentParser, showing: argparse.ArgumentParser) -> None:
    _add_skills(listing)
    _add_window(listing)
    _add_day(listing)
    _add_filters(listing)
    listing.add_argument(
        "--limit",
        metavar="N",
        type=whole_number(f"a number from 1 to {_MOST_LISTED:,}", 1, _MOST_LISTED),
        default=50,
        help="list at most N (default: 50)",
    )
    showing.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    for one in (listing, showing):
        _add_rubric(one)


def _changing(rescoring: argparse.ArgumentParser, purging: argparse.ArgumentParser) -> None:
    _add_rubric(rescoring)
    rescoring.add_argument("--skill", metavar="NAME", help="only this skill")
    rescoring.add_argument(
        "--since", metavar="DATE|30d", type=past, help="only since this day (UTC), or of the last 30d, 8w"
    )
    purging.add_argument(
        "--before", metavar="DATE|90d", type=past, help="only invocations that began before this day (UTC), or 90d ago"
    )
    purging.add_argument("--skill", metavar="NAME", help="only this skill")
    purging.add_argument("--dry-run", action="store_true", help="show how many would be deleted; delete nothing")
    purging.add_argument("--yes", action="store_true", help="do not ask")


def _reporting(
    stats: argparse.ArgumentParser,
    trend: argparse.ArgumentParser,
    gate: argparse.ArgumentParser,
    dashboard: argparse.ArgumentParser,
) -> None:
    gate.add_argument("gate", metavar="GATE", help="the name of the gate")
    gate.add_argument(
        "--webhook-url-from",
        metavar="VARIABLE",
        help=Rare(
            "the environment variable with an address; if the gate fails or triggers, its result is posted there"
        ),
    )
    for one in (stats, trend, gate, dashboard):
        _add_skills(one)
        _add_rubric(one)
        _add_day(one)
        _add_window(one)
        _add_filters(one)
    for one in (stats, dashboard):
        one.add_argument(
            "--skills",
            metavar="DIR",
            dest="directory",
            help="also list every skill of DIR: used, used earlier, or not observed",
        )
    dashboard.add_argument(
        "--gate", metavar="GATE", dest="gates", action="append", default=[], help="also show a gate; repeatable"
    )
    add_output(dashboard, formats_of("invocations"))


def _taking_out(querying: argparse.ArgumentParser, exporting: argparse.ArgumentParser) -> None:
    log_query.add_arguments(querying)
    _add_skills(exporting)
    _add_rubric(exporting)
    _add_filters(exporting)
    for one in (querying, exporting):
        _add_day(one)
        _add_window(one)
    log_export.add_arguments(exporting)


def _one_skill(parser: argparse.ArgumentParser) -> None:
    log_skill.add_arguments(parser)
    for add in (_add_rubric, _add_day, _add_window, _add_filters):
        add(parser)
    parser.set_defaults(skills=())


def _add_rubric(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rubric",
        choices=settings.RUBRIC.choices,
        help=Rare(f"the version of the rubric (default: the configuration's, else {settings.RUBRIC.default})"),
    )


def _add_skills(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "skills",
        metavar="SKILL",
        nargs="*",
        default=[],
        help="names of skills; put them before any option (default: all)",
    )


def _add_day(parser: argparse.ArgumentParser) -> None:
    text = Rare("show the state at the end of this day, UTC (default: now)")
    parser.add_argument("--at", metavar="DATE", type=day_of, help=text)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skill-version", metavar="VERSION", help="only invocations of this version of a skill")
    parser.add_argument("--model", metavar="NAME", help="only invocations with this model")
    parser.add_argument("--project", metavar="LABEL", help="only invocations of this origin, see `log list --json`")
    parser.add_argument("--source", metavar="FORM", help="only invocations from this source, such as claude-code")
    parser.add_argument(
        "--caller", choices=[one.value for one in Caller], help="only invocations by this kind of caller"
    )


def _add_window(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--days",
        metavar="N",
        type=whole_number(f"a number of days from 1 to {_LONGEST:,}", 1, _LONGEST),
        help=f"how many days to look back (default: the configuration's, else {settings.LOG_DAYS.default})",
    )
    group.add_argument("--all", action="store_true", help="look at all invocations")


def _run_import(args: argparse.Namespace, session: Console) -> int:
    """Import files."""
    from skillgate.invocations.importing import import_files

    log_sync.require_label(args.project)
    request = request_from(
        ImportRequest, args, form=args.format, rubric=_rubric(args, session), category=args.skill_category
    )
    wanted = grade_request(args)
    if wanted is not None and wanted.models.dry_run:
        return show_cost(request, wanted, (".jsonl",), session)
    endings = new_endings(wanted)
    result = import_files(request, session, None if endings is None else endings.watch)
    graded = grade_endings(endings, request, wanted, session)
    if session.json:
        session.out(json_text({**result.document(), **({"graded": graded.document()} if graded is not None else {})}))
    else:
        for line in (*result.lines(verbose=session.verbose), *([graded.line()] if graded is not None else [])):
            session.out(line)
    result.require_all()
    require_answers(graded)
    return EXIT_PASSED


def _run_add(args: argparse.Namespace, session: Console) -> int:
    """Record one invocation."""
    from skillgate.invocations.records import add

    request = request_from(
        AddRequest, args, fields=tuple(args.set), rubric=_rubric(args, session), category=args.skill_category
    )
    done = add(request, session)
    session.out(json_text(done.document()) if session.json else done.line())
    return EXIT_PASSED


def _run_score(args: argparse.Namespace, session: Console) -> int:
    """Score the invocations of files."""
    from skillgate.invocations.scoring import score
    from skillgate.report.invocations.lists import scores

    found = score(ScoreRequest(tuple(args.files), args.format, _rubric(args, session), args.skill_category), session)
    if session.json:
        session.out(json_text(found.document()))
    elif found.scored:
        session.out(_shown(scores(found.scored, found.parts()), session))
    found.require_all()
    return EXIT_PASSED


def _run_list(args: argparse.Namespace, session: Console) -> int:
    """List invocations."""
    from skillgate.invocations.records import list_invocations
    from skillgate.report.invocations.lists import listed

    selection = _selection(args, session)
    found = list_invocations(selection, args.limit, session)
    if session.json:
        session.out(json_text(found.document()))
    elif not found.records and (selection.skills or selection.days is not None or selection.until is not None):
        of = f" of {', '.join(map(printable, selection.skills))}" if selection.skills else ""
        days = selection.days
        within = "" if days is None else f" in the last {days:,} days; use --all to look at all"
        session.note(f"no recorded invocation{of}{within}")
    else:
        session.out(_shown(listed(found.scored()), session))
        if found.left_out:
            session.note(f"{found.left_out:,} more; use --limit N to list them")
    return EXIT_PASSED


def _run_show(args: argparse.Namespace, session: Console) -> int:
    """Show one invocation."""
    from skillgate.invocations.records import show
    from skillgate.report.invocations.lists import record

    found = show(ShowRequest(args.store, args.id, _rubric(args, session)), session)
    stored = found.record
    about = {"origin": stored.origin, "imported at": f"{stored.imported_at} UTC"}
    if session.json:
        session.out(json_text(found.document()))
    else:
        session.out(_shown(record(stored.invocation, found.score, found.parts, about, found.fields()), session))
    return EXIT_PASSED


def _run_rescore(args: argparse.Namespace, session: Console) -> int:
    """Score stored invocations with another rubric."""
    from skillgate.invocations.records import counted, rescore

    rubric = _rubric(args, session)
    done = rescore(RescoreRequest(args.store, rubric, args.skill, args.since), session)
    document = {"kind": "log-rescore", "store": done.store, "rubric_version": rubric, "rescored": done.number}
    session.out(json_text(document) if session.json else f"{counted(done.number)} scored by rubric {rubric}")
    return EXIT_PASSED


def _run_purge(args: argparse.Namespace, session: Console) -> int:
    """Delete invocations."""
    from skillgate.invocations.records import counted, purge

    request = PurgeRequest(args.store, args.before, args.skill, dry_run=args.dry_run, agreed=args.yes)
    done = purge(request, session)
    document = {"kind": "log-purge", "store": done.store, "purged": done.number, "dry_run": args.dry_run}
    text = f"{counted(done.number)} {'would be ' if args.dry_run else ''}deleted"
    session.out(json_text(document) if session.json else text)
    return EXIT_PASSED


def _run_stats(args: argparse.Namespace, session: Console) -> int:
    """Show the figures of skills."""
    _require_statistics()
    from skillgate.invocations.reporting import stats
    from skillgate.report.invocations.lists import stats as figures

    found, style = stats(_selection(args, session), session, args.directory), style_of(session)
    if session.json or not found.skills:
        session.out(render(found, "invocations", "json" if session.json else "text", style))
    else:
        session.out(_shown(figures(found), session))
    return EXIT_PASSED


def _run_trend(args: argparse.Namespace, session: Console) -> int:
    """Show what changed."""
    _require_statistics()
    from skillgate.invocations.reporting import trend, trend_document
    from skillgate.report.invocations.lists import trends

    selection = _selection(args, session)
    found = trend(selection, session)
    if session.json:
        session.out(trend_document(found, selection))
    elif not found.trends and not found.invocations:
        session.out(render(found, "invocations", "text", style_of(session)))
    else:
        session.out(_shown(trends(found.trends), session))
    return EXIT_PASSED


def _run_gate(args: argparse.Namespace, session: Console) -> int:
    """Check skills against a gate.

    Returns:
        1 if one failed or was triggered, else 3 if one could not be decided, else 0.
    """
    _require_statistics()
    from skillgate.invocations.reporting import gate, gate_document
    from skillgate.invocations.summary import exit_code
    from skillgate.invocations.webhook import document, post, webhook_from
    from skillgate.report.invocations.lists import gates

    variable = args.webhook_url_from
    webhook = None if variable is None else webhook_from(variable, session.environ)
    selection = _selection(args, session)
    found = gate(args.gate, selection, session)
    text = gate_document(found, selection) if session.json else _shown(gates(found.gates), session)
    session.out(text)
    code = exit_code(found.gates)
    if webhook is not None and code == EXIT_GATE_FAILED:
        post(webhook, document(found), session)
    return code


def _run_dashboard(args: argparse.Namespace, session: Console) -> int:
    """Show the dashboard."""
    _require_statistics()
    from skillgate.invocations.reporting import dashboard

    form = output_format(args)
    for _, path in args.output_file:
        require_place(path, session.cwd)
    found = dashboard(_selection(args, session), args.gates, session, args.directory)
    for file_form, path in args.output_file:
        write_text(path, render(found, "invocations", file_form, Style()), session)
    session.out(render(found, "invocations", form, style_of(session), verbose=session.verbose))
    return EXIT_PASSED


def _run_export(args: argparse.Namespace, session: Console) -> int:
    """Export invocations."""
    return log_export.run(args, _selection(args, session), session)


def _run_skill(args: argparse.Namespace, session: Console) -> int:
    """Show one skill."""
    _require_statistics()
    return log_skill.run(args, session, _selection(args, session))


_RUN: dict[str, Callable[[argparse.Namespace, Console], int]] = {
    "import": _run_import,
    "serve": log_serve.run,
    "sync": log_sync.run,
    "add": _run_add,
    "list": _run_list,
    "show": _run_show,
    "score": _run_score,
    "rescore": _run_rescore,
    "stats": _run_stats,
    "trend": _run_trend,
    "gate": _run_gate,
    "dashboard": _run_dashboard,
    "skill": _run_skill,
    "query": log_query.run,
    "export": _run_export,
    "purge": _run_purge,
}


def _shown(view: View, session: Console) -> str:
    from skillgate.report.formats.text import write

    return write(view, style_of(session), verbose=True)


def _selection(args: argparse.Namespace, session: Console) -> Selection:
    days = args.days if args.days is not None else session.config.get(settings.LOG_DAYS)
    skills = tuple(args.skills)
    filters = Filters(
        version=args.skill_version, model=args.model, project=args.project, source=args.source, caller=args.caller
    )
    return Selection(args.store, skills, _rubric(args, session), None if args.all else days, args.at, filters)


def _rubric(args: argparse.Namespace, session: Console) -> str:
    return args.rubric or session.config.get(settings.RUBRIC)


def _require_statistics() -> None:
    """Raise UsageError if numpy or scipy is missing."""
    missing = [name for name in ("numpy", "scipy") if find_spec(name) is None]
    if missing:
        package = f"{missing[0]}, which is not installed: pip install 'skillgate-action[store,stats]'"
        raise UsageError(f"intervals need {package}")


def run(args: argparse.Namespace, session: Console) -> int:
    """Run the subcommand."""
    return _RUN[args.word](args, session)
