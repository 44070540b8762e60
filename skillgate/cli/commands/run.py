"""Find skills, evaluate them, select the best, report: in one go.

Every skill that the search finds is evaluated, and all of them stand in the report, marked as selected or not and why.
The bounds say who is selected: --min-completion (default 0.7), the others, and --strategy. Nothing selected makes the
exit code 1; with --exit-on-fail so does any skill that misses a bound. Nothing found makes it 2, and a skill that could
not be loaded 3. Here -q is the query; --quiet has no short form behind the command.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.cli.bench_options import add_benchmark, add_gates, add_results, add_running, asked_of
from skillgate.cli.choosing_options import add_query
from skillgate.cli.options import add_asking
from skillgate.errors import EXIT_INCOMPLETE, UsageError
from skillgate.store.results import add_keeping, add_write_back

if TYPE_CHECKING:
    import argparse

    from skillgate.bench.choosing.selecting import Searched
    from skillgate.bench.evaluation.running import Plan
    from skillgate.bench.selecting import Entrant
    from skillgate.cli.bench_options import Asked
    from skillgate.model.bench import BenchReport, NotLoaded
    from skillgate.model.strategy import Choice, Strategy
    from skillgate.session import Session

GROUP = "programs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from skillgate.bench.choosing.strategies import add_ranking

    add_query(parser)
    add_ranking(parser, top_k=5)
    add_benchmark(parser, named=False)
    add_running(parser)
    add_asking(parser)
    add_gates(parser, title="bounds: who misses one is not selected")
    add_results(parser)
    add_keeping(parser)
    add_write_back(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    """Find, evaluate, select and report.

    Raises:
        UsageError: something is not valid, or nothing was found; nothing was run.
    """
    from skillgate.bench.choosing.selecting import searched, with_bounds
    from skillgate.bench.choosing.strategies import strategy_of
    from skillgate.bench.evaluation.running import planned

    args.skills = [args.skills_dir]
    asked, strategy = with_bounds(asked_of(args, session), strategy_of(args, session))
    found = searched(args, strategy, session)
    left: list[NotLoaded] = []
    plan = planned(asked, session, skills=found.skills, left_out=left)
    found = found._replace(broken=(*found.broken, *left))
    try:
        if not plan.skills:
            raise UsageError("\n".join(["no skill that was found can be run", *(one.reason for one in left)]))
        if args.dry_run:
            return _told(plan, asked, found, session)
        return _ran(plan, asked, found, strategy, args, session)
    finally:
        plan.closing.close()


def _ran(
    plan: Plan, asked: Asked, found: Searched, strategy: Strategy, args: argparse.Namespace, session: Session
) -> int:
    from skillgate.bench.choosing.selecting import selected
    from skillgate.bench.evaluation.asking import require_leave
    from skillgate.bench.evaluation.publishing import require_output
    from skillgate.bench.evaluation.running import evaluated, exit_code
    from skillgate.bench.evaluation.writing_back import require_writable
    from skillgate.cli.commands.eval import delivered, require_required
    from skillgate.store.results import keeping, settled

    require_required(plan, asked)
    require_output(asked.formats, asked.output_dir, session)
    require_leave(plan)
    if args.write_metadata:
        require_writable(plan.skills, asked, session)
    kept = keeping(args, session)
    report, choices, entrants = selected(
        evaluated(plan, asked, session, kept),
        found,
        strategy,
        allow_skipped=asked.allow_skipped,
        strict=args.exit_on_fail,
    )
    problem = delivered(report, plan, asked, args, kept, session)
    session.out(_shown(report, choices, entrants, session))
    return settled(exit_code(report, allow_skipped=asked.allow_skipped), problem, session)


def _shown(report: BenchReport, choices: tuple[Choice, ...], entrants: tuple[Entrant, ...], session: Session) -> str:
    from skillgate.bench.evaluation.publishing import rendered

    if session.json:
        return rendered(report, "json", session)
    from skillgate.report.choosing_text import selected_text
    from skillgate.report.terminal import Style

    style = Style(width=session.width, color=session.color)
    figures = [one.figures for one in entrants]
    head = selected_text([one.id for one in entrants], figures, choices, style, verbose=session.verbose)
    return f"{head}\n{rendered(report, 'text', session)}"


def _told(plan: Plan, asked: Asked, found: Searched, session: Session) -> int:
    """Say what would be run, and what was found that would not be."""
    from skillgate.cli.commands.eval import foreseen_code, plan_document, plan_lines

    forecast = plan.models.forecast(plan.items, plan.adapters, plan.scorers, {}) if plan.models else None
    if session.json:
        session.out(json.dumps(plan_document(plan, forecast, found.broken), indent=2))
    else:
        lines = plan_lines(plan, asked)
        if plan.models is not None and forecast is not None:
            lines[-1:-1] = plan.models.lines(forecast)
        session.out("\n".join(lines))
    for one in found.misfits:
        session.note(f"{one.skill_id} would not be evaluated: {'; '.join(one.reasons)}")
    for broken in found.broken:
        session.note(f"{broken.path} cannot be loaded: {broken.reason}")
    return EXIT_INCOMPLETE if found.broken else foreseen_code(plan, asked)
