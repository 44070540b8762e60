"""Run skills on a benchmark: tasks, scores, intervals and gates.

Everything is checked before the first process starts. An invalid skill that a path names is an error; an invalid skill
found in a directory is skipped, listed in the report, and the exit code is 3. Crashes, wrong answers and time-outs
count as failures of the skill. Unmeasured results are left out of the rates, counted separately, and make the command
exit with 3. A gate that an option sets fails the run; --exit-on-fail needs a completion rate of 0.7, or of
--min-completion.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cli.bench_options import add_benchmark, add_gates, add_results, add_running, add_shard, add_write_back
from skillgate.cli.options import Rare, add_model_answers, add_settings
from skillgate.cli.store_options import add_keeping
from skillgate.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.bench.evaluate import Preview
    from skillgate.console import Console

GROUP = "programs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_benchmark(parser)
    add_running(parser)
    add_shard(parser)
    parser.add_argument(
        "--resume", action="store_true", help=Rare("resume the same run into this directory after an interruption")
    )
    add_model_answers(parser)
    add_gates(parser, settings.EVAL)
    add_results(parser)
    add_keeping(parser)
    add_write_back(parser)
    add_settings(parser, settings.EVAL)


def run(args: argparse.Namespace, session: Console) -> int:
    """Evaluate.

    Raises:
        UsageError: something is not valid; nothing ran.
    """
    from skillgate.bench.evaluate import evaluate, preview
    from skillgate.bench.publishing import rendered
    from skillgate.cli.bench_options import eval_request
    from skillgate.store.results import settled

    if not args.skills:
        raise UsageError(
            "--skills PATH… is required: name a skill.json, or a directory with one\nTry: skillgate eval --help"
        )
    request = eval_request(args, session, skills=args.skills, shard=args.shard)._replace(resume=args.resume)
    if args.dry_run:
        return print_preview(preview(request, session), session)
    done = evaluate(request, session)
    session.out(rendered(done.report, "json" if session.json else "text", session))
    return settled(done.exit_code, done.problem, session)


def print_preview(shown: Preview, session: Console, *, notes: Sequence[str] = ()) -> int:
    """Print a dry run, and return the exit code."""
    session.out(json.dumps(shown.document, indent=2) if session.json else "\n".join(shown.lines))
    for note in notes:
        session.note(note)
    for broken in shown.not_loaded:
        session.note(f"cannot load {broken.path}: {broken.reason}")
    return shown.exit_code
