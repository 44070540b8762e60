"""Find skills, evaluate them, select the best and report, in one step.

Every skill that the search finds is evaluated and listed in the report, with whether it was selected and why. Skills
are selected by --min-completion (default 0.7), the other limits, and --strategy. Exits with 1 if no skill is selected
(with --exit-on-fail also if any skill misses a limit), with 2 if none is found, and with 3 if a skill could not be
loaded. After the command, -q is the query; --quiet has no short form there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.bench_options import (
    add_benchmark,
    add_gates,
    add_query,
    add_ranking,
    add_results,
    add_running,
    add_write_back,
)
from skillgate.cli.options import add_model_answers, add_settings, style_of
from skillgate.cli.store_options import add_keeping

if TYPE_CHECKING:
    import argparse

    from skillgate.bench.evaluate import Selected
    from skillgate.console import Console

GROUP = "programs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_query(parser)
    add_ranking(parser, top_k=5)
    add_benchmark(parser, named=False)
    add_running(parser)
    add_model_answers(parser)
    add_gates(parser, settings.RUN)
    add_results(parser)
    add_keeping(parser)
    add_write_back(parser)
    add_settings(parser, settings.RUN)


def run(args: argparse.Namespace, session: Console) -> int:
    """Find, evaluate, select and report.

    Raises:
        UsageError: something is not valid, or no skill was found; nothing ran.
    """
    from skillgate.bench.evaluate import RunRequest, find_and_select, preview_search
    from skillgate.bench.finding import Wanted
    from skillgate.cli.bench_options import eval_request, strategy_request
    from skillgate.store.results import settled

    request = RunRequest(
        directory=args.skills_dir,
        wanted=Wanted(args.query, args.tag, args.adapter),
        evaluation=eval_request(args, session, skills=()),
        strategy=strategy_request(args),
    )
    if args.dry_run:
        from skillgate.cli.commands.eval import print_preview

        shown, notes = preview_search(request, session)
        return print_preview(shown, session, notes=notes)
    done = find_and_select(request, session)
    session.out(_shown(done, session))
    return settled(done.exit_code, done.problem, session)


def _shown(done: Selected, session: Console) -> str:
    from skillgate.bench.publishing import rendered

    if session.json:
        return rendered(done.report, "json", session)
    from skillgate.report.choosing import selected
    from skillgate.report.formats.text import write

    style = style_of(session)
    names, figures = [one.id for one in done.entrants], [one.figures for one in done.entrants]
    head = write(selected(names, figures, done.choices), style, verbose=session.verbose)
    return f"{head}\n{rendered(done.report, 'text', session)}"
