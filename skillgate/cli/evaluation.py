"""What check and score share: from arguments to a report, from a report to stdout, files and an exit code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__
from skillgate.cache import Cache, directory
from skillgate.cli.options import (
    add_depth,
    add_findings,
    add_gate,
    add_output,
    add_paths,
    gate_options,
    output_format,
)
from skillgate.cli.rendering import rendered, require_format
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluate import pipeline
from skillgate.evaluate.depth import chosen_depth, require_able, require_no_models, require_sessions, static_depth
from skillgate.evaluate.findings import selections, wants_optional
from skillgate.evaluate.keeper import Keeper
from skillgate.evaluate.policies import policies, require_bounds
from skillgate.evaluate.reporting import Run, compared
from skillgate.files import require_place, write
from skillgate.model.score import Depth
from skillgate.model.simulating import MonteCarloLayer
from skillgate.report.terminal import Style
from skillgate.scoring.regression import sampled_layers
from skillgate.skill.discover import discover

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.config import Config
    from skillgate.model.assessment import Assessment
    from skillgate.model.documents import Comparison
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillRoot
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

    Touched = Callable[[SkillRoot, Assessment | None], bool]

_PART = ("changed", "files", "profile", "select", "ignore")  # options that leave some findings out
_MANY = 100  # skills before progress is worth a line


def _nothing() -> None:
    """There is nothing to go on from."""


class Evaluation(NamedTuple):
    """A report, whether it is of one path that is itself a skill, how long it took, and whether all was searched.

    ``estimate`` is what asking models would take, as text, where that was all that was wanted; ``finish`` is called
    once the report is written, so that a run that is cut short before can be gone on from.
    """

    report: Report
    single: bool
    seconds: float
    complete: bool = True
    estimate: str | None = None
    finish: Callable[[], None] = _nothing


def add_evaluation(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Declare what every evaluating command takes."""
    add_paths(parser)
    add_depth(parser)
    add_gate(parser)
    add_findings(parser)
    add_output(parser, formats)


def evaluate(args: argparse.Namespace, session: Session, *, command: str) -> Evaluation:
    """Find, read and evaluate the skills that the arguments name.

    Raises:
        UsageError: a path or an option is not valid, or no skill was found.
        IncompleteError: the depth asked for cannot run.
        KeyboardInterrupt: the user wants no more.
    """
    started = time.perf_counter()
    config = session.config.with_options(gate_options(args))
    depth = static_depth(config) if command == "check" else chosen_depth(config)
    require_bounds(config, depth)
    require_places(args, session)
    discovery = find(args, session)
    for notice in discovery.notices:
        session.note(notice)
    keeper = Keeper(_cache(args, session), clock=time.perf_counter_ns, optional=wants_optional(config))
    context = pipeline.Context(
        version=__version__,
        clock=time.perf_counter_ns,
        config_digest=_digest(config, args),
        policy=policies(config, command=command, note=session.note, depth=depth),
        selection=selections(config),
        progress=_progress(len(discovery.roots), session),
        assess=keeper.assess,
        across=keeper.across,
        touched=in_shard(args, discovery.roots, touching(args, discovery.roots, session)),
        detail=command != "check",
        depth=depth,
    )
    run = Run(args, config, session, discovery)
    estimate, finish = None, _nothing
    if depth is Depth.QUICK:
        require_no_models(args)
        report = compared(run, context)
    else:
        require_sessions(args, depth)
        require_able(config, depth, replay=args.replay is not None)
        if getattr(args, "benchmark_json", None) is not None:
            from skillgate.evaluate.lifting import require_benchmark  # few runs write one

            require_benchmark(args, session, discovery.roots)
        from skillgate.llm.extras import require_packages

        require_packages()
        from skillgate.evaluate.standard import compared_deeper  # brings in the judge

        report, estimate, finish = compared_deeper(run, context)
    keeper.close()
    if keeper.failure is not None:
        session.note(keeper.failure)
    if getattr(args, "shard", None) is not None:
        report = report._replace(shard="{}/{}".format(*args.shard))
    single = discovery.single and len(report.results) == 1
    return Evaluation(report, single, time.perf_counter() - started, discovery.complete, estimate, finish)


def find(args: argparse.Namespace, session: Session) -> Discovery:
    """Find the skills that the arguments name. Where not all could be searched, there may be some that nobody saw.

    Raises:
        UsageError: a path is not valid, or no skill was found.
    """
    discovery = discover(args.paths, cwd=session.cwd)
    if not discovery.roots and discovery.complete and args.paths and not args.allow_empty and not args.changed:
        where = ", ".join(args.paths)
        raise UsageError(
            f"no skill found in {where}: a skill is a directory with a SKILL.md (--allow-empty accepts none)"
        )
    return discovery


def require_places(args: argparse.Namespace, session: Session) -> None:
    """Refuse files that must not be written, before anything is done.

    Raises:
        UsageError: naming the first.
    """
    for name in {output_format(args), *(name for name, _ in args.output_file)}:
        require_format("score", name)  # whatever it needs must be there before anything is paid for
    for _, path in args.output_file:
        folder = os.path.dirname(require_place(path, session.cwd))  # noqa: PTH120
        if not os.path.isdir(folder):  # noqa: PTH112
            raise UsageError(f"cannot write {path}: there is no directory {os.path.dirname(path)}")  # noqa: PTH120
    if args.write_known_findings:
        require_place(args.write_known_findings, session.cwd)
        given = [f"--{name}" for name in _PART if getattr(args, name, None)]
        if given:
            raise UsageError(f"--write-known-findings writes all that is known: run it without {', '.join(given)}")


def _cache(args: argparse.Namespace, session: Session) -> Cache | None:
    folder = "" if args.no_cache else directory(session.environ)
    return Cache(folder, now=time.time) if folder else None


def touching(args: argparse.Namespace, roots: Sequence[SkillRoot], session: Session) -> Touched | None:
    """Give the test of whether a change touches a skill; None without ``--changed``.

    Raises:
        UsageError: a skill is in no repository, or there is no such revision.
        IncompleteError: git is missing or fails.
    """
    if args.since is not None and not args.changed:
        raise UsageError("--since says what --changed compares with; give --changed too")
    if not args.changed:
        return None
    from skillgate.evaluate.changed import touched  # starts git

    return touched(roots, args.since, session)


def in_shard(args: argparse.Namespace, roots: Sequence[SkillRoot], touched: Touched | None) -> Touched | None:
    """Narrow what is asked about to one shard of the skills, where one is asked for."""
    shard: tuple[int, int] | None = getattr(args, "shard", None)
    if shard is None:
        return touched
    from skillgate.model.shard import dealt  # few runs are split

    part, of = shard
    own = {root.path for root in roots if dealt(str(root.path), of) == part}
    return lambda root, facts: root.path in own and (touched is None or touched(root, facts))


def exit_code(evaluation: Evaluation) -> int:
    """Give 1 for a failed gate, 3 where a skill or a directory could not be read or judged, else 0."""
    if evaluation.report.gate.passed is False:
        return EXIT_GATE_FAILED
    report = evaluation.report
    whole = evaluation.complete and not report.summary.not_evaluated and not any(map(is_unjudged, report.results))
    return EXIT_PASSED if whole else EXIT_INCOMPLETE


def is_unjudged(result: SkillResult) -> bool:
    """Tell a skill that a sampled layer was asked about and did not wholly measure."""
    layers = sampled_layers(result)
    if any(layer.reason is not None for layer in layers) or (
        result.lift is not None and result.lift.reason is not None
    ):
        return True
    ended_early = any(isinstance(layer, MonteCarloLayer) and layer.stopped_early is not None for layer in layers)
    return bool(layers) and result.composite.score is None and not ended_early


def publish(evaluation: Evaluation, args: argparse.Namespace, session: Session, *, command: str) -> None:
    """Write the report to stdout and to every ``--output-file``.

    Raises:
        UsageError: a file cannot be written.
    """
    write_files(evaluation, args, session, command=command)
    if getattr(args, "benchmark_json", None) is not None:
        from skillgate.evaluate.lifting import write_benchmark

        write_benchmark(evaluation.report, args, session)
    style = Style(width=session.width, color=session.color)
    seconds = evaluation.seconds if session.stdout.isatty() else None
    name = output_format(args)
    session.out(rendered_as(evaluation, name, command=command, style=style, verbose=session.verbose, seconds=seconds))


def write_files(subject: Evaluation | Comparison, args: argparse.Namespace, session: Session, *, command: str) -> None:
    """Write what was asked for by ``--output-file``, each in the format of its suffix.

    Raises:
        UsageError: a file cannot be written.
    """
    for name, path in args.output_file:
        text = rendered_as(subject, name, command=command, style=Style())
        write(path, text.encode(errors="backslashreplace"), cwd=session.cwd)


def rendered_as(
    subject: Evaluation | Comparison,
    name: str,
    *,
    command: str,
    style: Style,
    verbose: bool = False,
    seconds: float | None = None,
) -> str:
    """Render a report or a comparison in one format; only that format's module is loaded."""
    what: Any = subject.report if isinstance(subject, Evaluation) else subject
    if name == "json":
        from skillgate.report.json import document  # only this one shapes it first

        what = document(what, command=command, single=isinstance(subject, Evaluation) and subject.single)
    return rendered(what, command, name, style, verbose=verbose, seconds=seconds)


def _digest(config: Config, args: argparse.Namespace) -> str:
    """Digest the configuration where it is shown; hashing costs more than a short run."""
    documents = {output_format(args), *(name for name, _ in args.output_file)}
    return config_digest(config) if documents & {"json", "html"} else ""


def _progress(total: int, session: Session) -> Callable[[int], None] | None:
    """Count on stderr while many skills are evaluated, where somebody is looking."""
    if total < _MANY or session.quiet or not session.stderr.isatty():
        return None

    def show(done: int) -> None:
        if done % 25 == 0 or done == total:
            session.show_progress(f"\r{done} of {total} skills" if done < total else "\r" + " " * 40 + "\r")

    return show
