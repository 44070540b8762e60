"""What check and score share: from arguments to a report, from a report to stdout, files and an exit code."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, pipeline
from skillgate.cache import Cache, directory
from skillgate.cli.findings import load_known, merging, selections, wants_optional, write_known
from skillgate.cli.options import (
    add_depth,
    add_findings,
    add_gate,
    add_output,
    add_paths,
    gate_options,
    output_format,
)
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, IncompleteError, UsageError
from skillgate.keeper import Keeper
from skillgate.model.score import Badge
from skillgate.registry import Room
from skillgate.report.terminal import Style
from skillgate.scoring.gate import MAX_DROP, Policy
from skillgate.skill.discover import discover
from skillgate.skill.read import read

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from pathlib import PurePosixPath

    from skillgate.cli.session import Session
    from skillgate.config import Config
    from skillgate.model.assessment import Assessment
    from skillgate.model.documents import Comparison
    from skillgate.model.report import Report
    from skillgate.model.setting import Value
    from skillgate.model.skill import SkillRoot

RENDERERS = Room("skillgate.report")
_MANY = 100  # skills before progress is worth a line
_BOUNDS = {"threshold": "threshold", "badge": "min-badge", "dimension": "min-dimension", "regression": "baseline"}
_ELSEWHERE = ("benchmark", "budget")  # gates of other commands, which share the list


class Evaluation(NamedTuple):
    """A report, whether it is of one path that is itself a skill, how long it took, and whether all was searched."""

    report: Report
    single: bool
    seconds: float
    complete: bool = True


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
    """
    started = time.perf_counter()
    config = session.config.with_options(gate_options(args))
    require_quick(str(config.get("depth")))
    _require_bounds(config)
    discovery = discover(args.paths, cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    if not discovery.roots and not args.allow_empty and not args.changed:
        where = ", ".join(args.paths)
        raise UsageError(
            f"no skill found in {where}: a skill is a directory with a SKILL.md (--allow-empty accepts none)"
        )
    keeper = Keeper(_cache(args, session), clock=time.perf_counter_ns, optional=wants_optional(config))
    context = pipeline.Context(
        version=__version__,
        clock=time.perf_counter_ns,
        config_digest=_digest(config, args),
        policy=_policies(config, command=command, note=session.note),
        selection=selections(config),
        progress=_progress(len(discovery.roots), session),
        assess=keeper.assess,
        across=keeper.across,
        touched=_touched(args, discovery.roots, session),
        detail=command != "check",
    )
    report = _compared(args, config, session, context, discovery.roots)
    keeper.close()
    if keeper.failure is not None:
        session.note(keeper.failure)
    single = discovery.single and len(report.results) == 1
    return Evaluation(report, single, time.perf_counter() - started, discovery.complete)


def _compared(
    args: argparse.Namespace, config: Config, session: Session, context: pipeline.Context, roots: Sequence[SkillRoot]
) -> Report:
    """Evaluate, and where a baseline is set, beside what was there before."""
    if config.get("baseline") is None:
        return _reported(args, config, session, context, roots)
    from skillgate.cli.baseline import across_change, load_baseline  # most runs compare with nothing

    before = load_baseline(config, roots, args.paths, session, context)
    report = _reported(args, config, session, context._replace(baseline=before.results, before=before.listing), roots)
    if before.across is None:
        return report
    return report._replace(across=across_change(report, before.across))


def _reported(
    args: argparse.Namespace, config: Config, session: Session, context: pipeline.Context, roots: Sequence[SkillRoot]
) -> Report:
    """Evaluate, less what is known already; where known findings are to be written, they are what is found now."""
    sources = [read(root) for root in roots]
    context = context._replace(attach=merging(args.merge_sarif, None, session))
    if args.write_known_findings:
        report = pipeline.evaluate(sources, context)
        write_known(report, args.write_known_findings, session)
        config = config.with_options({"known-findings": args.write_known_findings})
    known = load_known(config, session)
    report = pipeline.evaluate(sources, context._replace(known=known, attach=merging(args.merge_sarif, known, session)))
    if known is not None and known.unmet and not args.changed and args.paths == ["."]:
        gone = "1 known finding is" if known.unmet == 1 else f"{known.unmet} known findings are"
        session.note(f"{gone} gone; --write-known-findings brings the file up to date")
    return report


def _cache(args: argparse.Namespace, session: Session) -> Cache | None:
    folder = "" if args.no_cache else directory(session.environ)
    return Cache(folder, now=time.time) if folder else None


def _touched(
    args: argparse.Namespace, roots: Sequence[SkillRoot], session: Session
) -> Callable[[SkillRoot, Assessment | None], bool] | None:
    if args.since is not None and not args.changed:
        raise UsageError("--since says what --changed compares with; give --changed too")
    if args.changed and args.write_known_findings:
        raise UsageError("--write-known-findings writes all that is known: run it without --changed")
    if not args.changed:
        return None
    from skillgate.cli.changed import touched  # starts git

    return touched(roots, args.since, session)


def exit_code(evaluation: Evaluation) -> int:
    """Give 1 for a failed gate, 3 where a skill or a directory could not be read, else 0."""
    if evaluation.report.gate.passed is False:
        return EXIT_GATE_FAILED
    whole = evaluation.complete and not evaluation.report.summary.not_evaluated
    return EXIT_PASSED if whole else EXIT_INCOMPLETE


def publish(evaluation: Evaluation, args: argparse.Namespace, session: Session, *, command: str) -> None:
    """Write the report to stdout and to every ``--output-file``.

    Raises:
        UsageError: a file cannot be written.
    """
    write_files(evaluation, args, session, command=command)
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
        try:
            (Path(session.cwd) / path).write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error


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
    renderer = RENDERERS.load(name)
    what = subject.report if isinstance(subject, Evaluation) else subject
    if name == "json":
        single = isinstance(subject, Evaluation) and subject.single
        text: str = renderer.render(renderer.document(what, command=command, single=single))
    elif name == "sarif":
        from skillgate.static.catalogue import pages  # every rule's file

        text = renderer.RENDERERS[command](what, pages())
    elif name == "text":
        text = renderer.RENDERERS[command](what, style, verbose=verbose, seconds=seconds)
    else:
        text = renderer.RENDERERS[command](what)
    return text


def _digest(config: Config, args: argparse.Namespace) -> str:
    """Digest the configuration for a JSON document; nothing else shows it, and hashing costs more than a short run."""
    documents = {output_format(args), *(name for name, _ in args.output_file)}
    return config_digest(config) if "json" in documents else ""


def require_quick(depth: str) -> None:
    """Refuse a depth that cannot run; it is never replaced by a lower one.

    Raises:
        IncompleteError: always, but for quick.
    """
    if depth == "quick":
        return
    raise IncompleteError(
        f"depth {depth} cannot run: this version measures the static layer alone, and a lower depth is never run in its"
        " place; ask for --depth quick, or set depth: quick in the configuration"
    )


def _require_bounds(config: Config) -> None:
    """Refuse a list of gates that could not fail: a gate without its bound, or one that nothing here measures.

    Raises:
        UsageError: saying what is missing.
    """
    decisive = [layer for layer in config.layers if layer.patterns and "fail-on" in layer.values]
    listed, origin = config.get("fail-on"), config.origin("fail-on")
    if origin == "option":
        decisive = []  # it stands above every override
    _require(config, listed, origin)
    for layer in decisive:
        _require(config, layer.values["fail-on"], layer.origins["fail-on"])


def _require(config: Config, listed: Value, origin: str) -> None:
    if not isinstance(listed, tuple):
        return
    where = "--fail-on" if origin == "option" else f"fail-on ({origin})"
    if "never" in listed and len(listed) > 1:
        others = ", ".join(word for word in listed if word != "never")
        raise UsageError(f"{where} lists never beside {others}: choose one")
    for gate, key in _BOUNDS.items():
        if gate in listed and not any(key in layer.values for layer in config.layers):
            raise UsageError(f"{where} lists {gate}, which needs {key}: without it the gate would always pass")
    unmeasured = [gate for gate in listed if gate in _ELSEWHERE]
    if unmeasured and (origin == "option" or len(unmeasured) == len(listed)):
        raise UsageError(f"{where} lists {', '.join(unmeasured)}, which this command does not measure")


def _policies(config: Config, *, command: str, note: Callable[[str], None]) -> Callable[[PurePosixPath], Policy]:
    told: set[str] = set()

    def policy(path: PurePosixPath) -> Policy:
        bounds = {gate: config.get(key, path) for gate, key in _BOUNDS.items()}
        asked = frozenset(gate for gate, bound in bounds.items() if bound or bound == 0)
        listed = config.get("fail-on", path)
        fail_on = asked | ({"error"} if command == "check" else frozenset())
        if isinstance(listed, tuple):
            # What the command line asks for is asked for, unless its own --fail-on says otherwise.
            own = config.origin("fail-on", path) == "option"
            insisted = frozenset(g for g in asked if not own and config.origin(_BOUNDS[g], path) == "option")
            fail_on = insisted if "never" in listed else frozenset(listed) | insisted
            for gate in sorted(asked - fail_on - told):
                told.add(gate)
                note(f"{_BOUNDS[gate]} is set, but fail-on does not list {gate}: it is shown, and fails nothing")
        return _policy(config, path, fail_on, bounds)

    return policy


def _policy(config: Config, path: PurePosixPath, fail_on: frozenset[str], bounds: dict[str, Value]) -> Policy:
    threshold, badge, dimensions = bounds["threshold"], bounds["badge"], bounds["dimension"]
    drop = config.get("max-drop", path)
    return Policy(
        fail_on=fail_on,
        threshold=threshold if isinstance(threshold, float) else None,
        min_badge=Badge(badge.title()) if isinstance(badge, str) else None,
        min_dimension=dimensions if isinstance(dimensions, Mapping) else {},
        max_drop=drop if isinstance(drop, float) else MAX_DROP,
    )


def _progress(total: int, session: Session) -> Callable[[int], None] | None:
    """Count on stderr while many skills are evaluated, where somebody is looking."""
    if total < _MANY or session.quiet or not session.stderr.isatty():
        return None

    def show(done: int) -> None:
        if done % 25 == 0 or done == total:
            session.show_progress(f"\r{done} of {total} skills" if done < total else "\r" + " " * 40 + "\r")

    return show
