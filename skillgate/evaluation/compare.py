"""Compare two skills, or two written reports."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.request import CompareRequest, chosen_depth, read_whole, require_able, require_fitting_options
from skillgate.evaluation.run import is_unjudged
from skillgate.model.documents import Comparison, Diff, DiffSide, SingleReport
from skillgate.model.report import Report, SkillResult, Verdict
from skillgate.model.score import Depth, Outcome
from skillgate.report.across_change import across_change, across_findings, listing_change
from skillgate.report.compare import compare
from skillgate.report.diff import diff
from skillgate.report.json import kind_of, parsed, shaped
from skillgate.scoring.gate import regression, sampled_drops
from skillgate.scoring.pairing import Pairs, names_of, paired, repository_path
from skillgate.skill.find import discover, discover_commit, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.console import Console
    from skillgate.evaluation.spending import DryRun
    from skillgate.model.finding import AcrossChange, ListingUse
    from skillgate.model.skill import SkillSource, Unreadable

_REMEDY = "Both must be score documents, as written by: skillgate score PATH --output-file REPORT.json"
_KINDS = {
    "check": "a check document, which holds findings and no scores to compare",
    "compare": "a comparison already",
    "diff": "a diff already",
    "action": "the record of a run of the Action; its report.json is what can be compared",
    "known-findings": "a file of known findings",
}
_LATER = ("bench", "invocations")  # documents that other versions know how to compare


def compare_skills(request: CompareRequest, session: Console) -> Comparison | DryRun:
    """Score both skills, and say what differs; in a dry run, what asking models would take.

    Raises:
        UsageError: an option is not valid, or a side names no skill or several.
        IncompleteError: the depth asked for cannot run.
    """
    config, depth = request.config, chosen_depth(request.config)
    sources = [_source(side, session) for side in (request.a, request.b)]
    models: tuple[str, ...] = ()
    if depth is Depth.QUICK:
        require_fitting_options(config, request.models, depth)
        a, b = (pipeline.evaluate([source], pipeline.Evaluator()).report.results[0] for source in sources)
    else:
        require_able(config, depth, replay=request.models.replay is not None)
        from skillgate.llm.extras import require_packages

        require_packages()
        from skillgate.evaluation.sampled import both_sides  # brings in the judge

        (a, b), models, estimate = both_sides(sources, request, session, depth=depth)
        if estimate is not None:
            return estimate
    comparison = compare(a, b, version=__version__, digest=config_digest(config), depth=depth, models=models)
    # Only now: findings are matched by the paths that both sides show, and a revision is in no path of theirs.
    comparison = replace(comparison, a=_shown_as(a, request.a), b=_shown_as(b, request.b))
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


def _is_in_git(side: str) -> bool:
    """Tell ``REV:path`` from a path.

    A directory of that name cannot take a revision's place; ./name:path is always a path, and ``C:`` a drive.
    """
    revision, colon, _ = side.partition(":")
    return bool(colon) and len(revision) > 1 and not side.startswith((".", "/"))


def _shown_as(result: SkillResult, side: str) -> SkillResult:
    return result._replace(skill=result.skill._replace(path=side)) if _is_in_git(side) else result


def _source(side: str, session: Console) -> SkillSource | Unreadable:
    """Read what one side names."""
    revision, _, path = side.partition(":")
    is_in_git = _is_in_git(side)
    discovery = discover_commit(revision, path, cwd=session.cwd) if is_in_git else discover([side], cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    roots = discovery.roots[:1] if discovery.single else discovery.roots
    if not roots:
        raise UsageError(f"{side} holds no skill: a skill is a directory with a SKILL.md")
    if len(roots) > 1:
        raise UsageError(f"{side} holds {len(roots)} skills; compare takes one on each side")
    return read(roots[0])


class DiffRequest(NamedTuple):
    """Which two documents to compare, what to call them, and what a regression is (None: as configured)."""

    a: str
    b: str
    label_a: str | None = None
    label_b: str | None = None
    max_drop: float | None = None
    gated: bool = False
    on_inconclusive: str | None = None


class _Side(NamedTuple):
    """One side of a diff: a file, what people read in its place, what it holds, and its skills."""

    shown: str
    label: str
    document: Report | SingleReport
    results: tuple[SkillResult, ...]


def diff_files(request: DiffRequest, session: Console) -> Diff:
    """Return what differs between two documents.

    Raises:
        UsageError: one cannot be read or is of a kind that cannot be compared, or the two are not comparable.
    """
    texts = {
        shown: parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)  # noqa: PTH118
        for shown in (request.a, request.b)
    }
    _require_scores({shown: kind_of(data) for shown, data in texts.items()})
    a, b = (
        _side(shown, label, shaped(texts[shown], source=shown))
        for shown, label in ((request.a, request.label_a), (request.b, request.label_b))
    )
    _require_comparable(a, b)
    pairs = paired(a.results, b.results)
    if len(pairs.pairs) > 1 and all(isinstance(side.document, SingleReport) for side in (a, b)):
        pairs = Pairs(((a.results[0], b.results[0]),))  # two documents about one skill each are about the same
    before, after = a.document, b.document
    listing, across = _together(a, b, pairs)

    def allowed(path: str) -> float:
        option = request.max_drop
        return session.config.get(settings.MAX_DROP, PurePosixPath(path)) if option is None else option

    return diff(
        pairs.pairs,
        a=DiffSide(a.label, tool=before.tool.version),
        b=DiffSide(b.label, tool=after.tool.version),
        version=__version__,
        max_drop=allowed,
        gated=request.gated,
        on_inconclusive=request.on_inconclusive or session.config.get(settings.ON_INCONCLUSIVE),
        digest=config_digest(session.config),
        depth=after.depth,
        scoring_version=after.scoring_version,
        models=after.models,
        profile=after.profile,
        listing=listing,
        across=across,
        hints=tuple(_hints(a, b, pairs)),
        rebased=pairs.rebased,
    )


def _require_scores(kinds: dict[str, str | None]) -> None:
    """Raise UsageError for documents that are not both scores, naming what each is and what to do."""
    every = set(kinds.values())
    if every == {"score"}:
        return
    if len(every) > 1 and None not in every:
        both = " and ".join(f"{shown} is of kind {kind}" for shown, kind in kinds.items())
        raise UsageError(f"{both}: only two documents of one kind can be compared\n{_REMEDY}")
    shown, kind = next((shown, kind) for shown, kind in kinds.items() if kind != "score")
    if kind in _LATER:
        raise UsageError(f"{shown} is of kind {kind}, which this version cannot compare; it compares score documents")
    what = _KINDS.get(kind or "", "no document of skillgate" if kind is None else f"of an unknown kind {kind[:40]!r}")
    raise UsageError(f"{shown} is {what}\n{_REMEDY}")


def _side(shown: str, label: str | None, document: object) -> _Side:
    if not isinstance(document, Report | SingleReport):
        raise TypeError(f"a score document became {type(document).__name__}")
    results = document.results if isinstance(document, Report) else (document.result(),)
    seen: set[str] = set()
    for index, result in enumerate(results):
        path = result.skill.path
        if path in seen:
            raise UsageError(f"{shown} is not a skillgate report: results[{index}].skill.path: {path!r} stands twice")
        seen.add(path)
    return _Side(shown, label or os.path.basename(shown) or shown, document, results)  # noqa: PTH119


def _require_comparable(a: _Side, b: _Side) -> None:
    """Raise UsageError for numbers that mean different things, saying all that differs."""
    one, other = a.document, b.document
    differing = (
        ("depth", one.depth.value, other.depth.value),
        ("scoring version", str(one.scoring_version), str(other.scoring_version)),
        ("models", ", ".join(one.models) or "none", ", ".join(other.models) or "none"),
    )
    problems = [
        f"{a.shown} has {what} {then}, {b.shown} {now}: their numbers are not comparable"
        for what, then, now in differing
        if then != now
    ]
    if problems:
        raise UsageError("\n".join([*problems, "Score both sides again, with the same skillgate and options"]))


def _together(a: _Side, b: _Side, pairs: Pairs) -> tuple[tuple[ListingUse, ...], AcrossChange | None]:
    """Return what differs between skills together, where both documents are over several."""
    before, after = a.document, b.document
    if isinstance(before, SingleReport) or isinstance(after, SingleReport):
        return (), None
    both = {then.skill.path: now.skill.path for then, now in pairs.pairs if then and now}
    moves = {**pairs.rebased, **{then: now for then, now in both.items() if then != now}}
    across = across_change(across_findings(a.results), across_findings(b.results), both.items(), moves)
    return listing_change(before.listing, after.listing, pairs.start), across


def _hints(a: _Side, b: _Side, pairs: Pairs) -> Iterator[str]:
    """Yield what a difference may come from, apart from the skills themselves."""
    before, after = a.document, b.document
    yield from _pairing_hints(a, b, pairs)
    if before.profile != after.profile:
        yield (
            f"{a.label} was made for profile {before.profile}, {b.label} for {after.profile}: findings may have come or"
            " gone by that alone"
        )
    if before.tool.version != after.tool.version:
        yield (
            f"{a.label} was written by skillgate {before.tool.version}, {b.label} by {after.tool.version}: a finding"
            " may be new because its rule is"
        )
    for side in (a, b):
        summary = side.document.summary if isinstance(side.document, Report) else None
        if summary is not None and summary.found is not None and summary.found > summary.skills:
            yield (
                f"{side.label} is about {summary.skills} of {summary.found} skills: what it leaves out looks new or"
                " removed and need not be"
            )


def _pairing_hints(a: _Side, b: _Side, pairs: Pairs) -> Iterator[str]:
    both = [(then.skill, now.skill) for then, now in pairs.pairs if then and now]
    if pairs.start is not None:
        then, now = (repr(start) if start else "nothing" for start in pairs.start)
        yield (
            f"no skill is shown by one path in both: paths in {a.label} begin with {then}, in {b.label} with {now};"
            " they are taken to be one place, and skills are paired by the rest of the path, then by name"
        )
    elif both and not any(
        then.path == now.path or repository_path(then) == repository_path(now) is not None for then, now in both
    ):
        named = any({then.name, *names_of("", then.path)} & {now.name, *names_of("", now.path)} for then, now in both)
        how = "skills are paired by name alone" if named else "the one skill of each is taken to be the same"
        yield f"no skill is shown by one path in both: {how}"
