"""Compare two skills, or one skill with itself at another revision (REV:path)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.cli.evaluation import is_unjudged, rendered_as, write_files
from skillgate.cli.options import add_depth, add_models, add_output, gate_options, output_format
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluate import pipeline
from skillgate.evaluate.depth import chosen_depth, require_able, require_no_models
from skillgate.model.report import Verdict
from skillgate.model.score import Depth, Outcome
from skillgate.report.compare import compare
from skillgate.report.kinds import formats_of
from skillgate.report.terminal import Style
from skillgate.scoring.drops import sampled_drops
from skillgate.scoring.regression import regression
from skillgate.skill.discover import discover, discover_commit
from skillgate.skill.read import read

if TYPE_CHECKING:
    import argparse

    from skillgate.model.documents import Comparison
    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillSource, Unreadable
    from skillgate.session import Session

GROUP = "everyday"
FORMATS = formats_of("compare")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two sides and what a regression is."""
    parser.add_argument("a", metavar="A", help="a skill, or REV:path of one in git")
    parser.add_argument("b", metavar="B", help="the other")
    add_depth(parser)
    parser.add_argument(
        "--max-drop",
        metavar="N",
        type=float,
        help="exit 1 when B scores more than N points below A, or loses its badge",
    )
    parser.add_argument(
        "--on-inconclusive",
        metavar="WHAT",
        choices=("point", "pass", "warn", "fail"),
        help="what a judged drop does that chance may explain: point, pass and warn let it pass, fail does not",
    )
    add_models(parser, no_cache=True)
    add_output(parser, FORMATS)


def run(args: argparse.Namespace, session: Session) -> int:
    """Score both sides and print what differs."""
    if args.max_drop is not None and not 0 <= args.max_drop < float("inf"):
        raise UsageError("--max-drop takes a number of at least 0")
    given = {key: value for key, value in gate_options(args).items() if key != "max-drop"}
    config = session.config.with_options(given)
    depth = chosen_depth(config)
    sources = [_source(side, session) for side in (args.a, args.b)]
    models: tuple[str, ...] = ()
    if depth is Depth.QUICK:
        require_no_models(args)
        a, b = (pipeline.evaluate([source], _plain()).results[0] for source in sources)
    else:
        require_able(config, depth, replay=args.replay is not None)
        from skillgate.llm.extras import require_packages

        require_packages()
        from skillgate.evaluate.standard import both_sides  # brings in the judge

        (a, b), models, estimate = both_sides(sources, args, config, session, _plain())
        if estimate is not None:
            from skillgate.evaluate.models.spending import estimated

            session.out(estimated(estimate, args))
            return EXIT_PASSED
    digest = config_digest(config)
    comparison = compare(a, b, version=__version__, digest=digest, depth=depth, models=models)
    # Only now: findings are matched by the paths that both sides show, and a revision is in no path of theirs.
    comparison = replace(comparison, a=_called(a, args.a), b=_called(b, args.b))
    comparison = _gated(comparison, args.max_drop, str(config.get(settings.ON_INCONCLUSIVE)))
    write_files(comparison, args, session, command="compare")
    style = Style(width=session.width, color=session.color)
    session.out(rendered_as(comparison, output_format(args), command="compare", style=style, verbose=session.verbose))
    if comparison.gate.passed is False:
        return EXIT_GATE_FAILED
    whole = all(side.evaluated and not is_unjudged(side) for side in (comparison.a, comparison.b))
    return EXIT_PASSED if whole else EXIT_INCOMPLETE


def _gated(comparison: Comparison, max_drop: float | None, on_inconclusive: str) -> Comparison:
    a, b = comparison.a, comparison.b
    if comparison.depth is not Depth.QUICK and (b.drop is None or max_drop is not None):
        (drop,) = sampled_drops([(a, b)], None if max_drop is None else [max_drop])
        b = b._replace(drop=drop)
        comparison = replace(comparison, b=b)
    if max_drop is None:
        return comparison
    outcome = regression(b.skill.path, a, b, max_drop, drop=b.drop, on_inconclusive=on_inconclusive)
    return replace(comparison, gate=Verdict(passed=outcome.verdict is Outcome.PASS, outcomes=(outcome,)))


def _plain() -> pipeline.Context:
    return pipeline.Context(version=__version__, clock=time.perf_counter_ns)


def _is_in_git(given: str) -> bool:
    """Tell ``REV:path`` from a path.

    A directory of that name cannot take a revision's place; ./name:path is always a path, and ``C:`` a drive.
    """
    revision, colon, _ = given.partition(":")
    return bool(colon) and len(revision) > 1 and not given.startswith((".", "/"))


def _called(result: SkillResult, given: str) -> SkillResult:
    return result._replace(skill=result.skill._replace(path=given)) if _is_in_git(given) else result


def _source(given: str, session: Session) -> SkillSource | Unreadable:
    """Read what one side names.

    Raises:
        UsageError: it names no skill, or several.
    """
    revision, _, path = given.partition(":")
    is_in_git = _is_in_git(given)
    discovery = discover_commit(revision, path, cwd=session.cwd) if is_in_git else discover([given], cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    roots = discovery.roots[:1] if discovery.single else discovery.roots
    if not roots:
        raise UsageError(f"{given} holds no skill: a skill is a directory with a SKILL.md")
    if len(roots) > 1:
        raise UsageError(f"{given} holds {len(roots)} skills; compare takes one on each side")
    return read(roots[0])
