"""Compare two skills, or one skill with itself at another revision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skillgate import __version__, settings
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.depth import chosen_depth, require_able, require_no_models
from skillgate.evaluation.run import is_unjudged
from skillgate.model.report import Verdict
from skillgate.model.score import Depth, Outcome
from skillgate.report.compare import compare
from skillgate.scoring.drops import sampled_drops
from skillgate.scoring.regression import regression
from skillgate.skill.discover import discover, discover_commit
from skillgate.skill.read import read

if TYPE_CHECKING:
    from skillgate.evaluation.models.spending import DryRun
    from skillgate.evaluation.request import CompareRequest
    from skillgate.model.documents import Comparison
    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillSource, Unreadable
    from skillgate.session import Session


def compare_skills(request: CompareRequest, session: Session) -> Comparison | DryRun:
    """Score both skills, and say what differs; in a dry run, what asking models would take.

    Raises:
        UsageError: an option is not valid, or a side names no skill or several.
        IncompleteError: the depth asked for cannot run.
    """
    config = request.config
    depth = chosen_depth(config)
    sources = [_source(side, session) for side in (request.a, request.b)]
    models: tuple[str, ...] = ()
    if depth is Depth.QUICK:
        require_no_models(config, request.models)
        a, b = (pipeline.evaluate([source], pipeline.Evaluator()).report.results[0] for source in sources)
    else:
        require_able(config, depth, replay=request.models.replay is not None)
        from skillgate.llm.extras import require_packages

        require_packages()
        from skillgate.evaluation.standard import both_sides  # brings in the judge

        (a, b), models, estimate = both_sides(sources, request, session, depth=depth)
        if estimate is not None:
            return estimate
    comparison = compare(a, b, version=__version__, digest=config_digest(config), depth=depth, models=models)
    # Only now: findings are matched by the paths that both sides show, and a revision is in no path of theirs.
    comparison = replace(comparison, a=_called(a, request.a), b=_called(b, request.b))
    return _gated(comparison, request.max_drop, config.get(settings.ON_INCONCLUSIVE))


def exit_code(comparison: Comparison) -> int:
    """Return 1 for a failed gate, 3 where a side could not be read or judged, else 0."""
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
