"""Reads two documents and says what differs between them, each by the kind that it is of."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.config import config_digest
from skillgate.errors import UsageError
from skillgate.evaluation.findings import read_whole
from skillgate.model.diff import Diff, DiffSide
from skillgate.model.documents import SingleReport
from skillgate.model.report import Report
from skillgate.report.across_change import across_change, across_findings, listing_change
from skillgate.report.diff import diff
from skillgate.report.json import kind_of, parsed, shaped
from skillgate.scoring.pairing import Pairs, names_of, paired, repository_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.across import AcrossChange, ListingUse
    from skillgate.model.report import SkillName, SkillResult
    from skillgate.session import Session

_REMEDY = "Both must be score documents, as written by: skillgate score PATH --output-file REPORT.json"
_SAY = {
    "check": "a check document, which holds findings and no scores to compare",
    "compare": "a comparison already",
    "diff": "a diff already",
    "action": "the record of a run of the Action; its report.json is what can be compared",
    "known-findings": "a file of known findings",
}
_LATER = ("bench", "invocations")  # documents that other versions know how to compare


class Scored(NamedTuple):
    """One side of a diff.

    Attributes:
        shown: the file as it was given.
        label: what people read in its place.
        document: what it holds.
        results: its skills.
    """

    shown: str
    label: str
    document: Report | SingleReport
    results: tuple[SkillResult, ...]


class DiffRequest(NamedTuple):
    """Which two documents to compare, what to call them, and what a regression is (None: as configured)."""

    a: str
    b: str
    label_a: str | None = None
    label_b: str | None = None
    max_drop: float | None = None
    gated: bool = False
    on_inconclusive: str | None = None


def diff_files(request: DiffRequest, session: Session) -> Diff:
    """Say what differs between two documents.

    Raises:
        UsageError: one cannot be read or is of a kind that cannot be compared, or the two are not comparable.
    """
    read = {shown: parsed(_text(shown, session), source=shown) for shown in (request.a, request.b)}
    _require_scores({shown: kind_of(data) for shown, data in read.items()})
    a, b = (
        _scored(shown, label, shaped(read[shown], source=shown))
        for shown, label in ((request.a, request.label_a), (request.b, request.label_b))
    )
    _require_comparable(a, b)
    return _diff(a, b, request, session)


def _text(shown: str, session: Session) -> str:
    return read_whole(os.path.join(session.cwd, shown), shown, "the report")  # noqa: PTH118


def _require_scores(kinds: dict[str, str | None]) -> None:
    """Refuse documents that are not both scores, naming what each is and what to do.

    Raises:
        UsageError: as said.
    """
    found = set(kinds.values())
    if found == {"score"}:
        return
    if len(found) > 1 and None not in found:
        told = " and ".join(f"{shown} is of kind {kind}" for shown, kind in kinds.items())
        raise UsageError(f"{told}: only two documents of one kind can be compared\n{_REMEDY}")
    shown, kind = next((shown, kind) for shown, kind in kinds.items() if kind != "score")
    if kind in _LATER:
        raise UsageError(f"{shown} is of kind {kind}, which this version cannot compare; it compares score documents")
    what = _SAY.get(kind or "", "no document of skillgate" if kind is None else f"of an unknown kind {kind[:40]!r}")
    raise UsageError(f"{shown} is {what}\n{_REMEDY}")


def _scored(shown: str, label: str | None, document: object) -> Scored:
    if isinstance(document, SingleReport):
        results: tuple[SkillResult, ...] = (document.result(),)
    elif isinstance(document, Report):
        results = document.results
        _require_distinct(shown, results)
    else:
        raise TypeError(f"a score document became {type(document).__name__}")
    return Scored(shown, label or os.path.basename(shown) or shown, document, results)  # noqa: PTH119


def _require_distinct(shown: str, results: tuple[SkillResult, ...]) -> None:
    seen: set[str] = set()
    for index, result in enumerate(results):
        path = result.skill.path
        if path in seen:
            raise UsageError(f"{shown} is not a skillgate report: results[{index}].skill.path: {path!r} stands twice")
        seen.add(path)


def _require_comparable(a: Scored, b: Scored) -> None:
    """Refuse numbers that mean different things.

    Raises:
        UsageError: saying all that differs.
    """
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


def _diff(a: Scored, b: Scored, request: DiffRequest, session: Session) -> Diff:
    pairs = _pairs(a, b)
    before, after = a.document, b.document
    listing, across = _together(a, b, pairs)
    return diff(
        pairs.pairs,
        a=DiffSide(a.label, tool=before.tool.version),
        b=DiffSide(b.label, tool=after.tool.version),
        version=__version__,
        max_drop=_allowed(request.max_drop, session),
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


def _pairs(a: Scored, b: Scored) -> Pairs:
    """Pair the skills; two documents that are about one skill each are about the same."""
    pairs = paired(a.results, b.results)
    single = isinstance(a.document, SingleReport) and isinstance(b.document, SingleReport)
    return Pairs(((a.results[0], b.results[0]),)) if single and len(pairs.pairs) > 1 else pairs


def _together(a: Scored, b: Scored, pairs: Pairs) -> tuple[tuple[ListingUse, ...], AcrossChange | None]:
    """Say what differs between skills together, where both documents are over several."""
    before, after = a.document, b.document
    if isinstance(before, SingleReport) or isinstance(after, SingleReport):
        return (), None
    both = {then.skill.path: now.skill.path for then, now in pairs.pairs if then and now}
    moves = {**pairs.rebased, **{then: now for then, now in both.items() if then != now}}
    across = across_change(across_findings(a.results), across_findings(b.results), both.items(), moves)
    return listing_change(before.listing, after.listing, pairs.start), across


def _allowed(max_drop: float | None, session: Session) -> Callable[[str], float]:
    """Give how far a skill's score may fall: as the option says, else as configured for its path."""
    if max_drop is not None:
        return lambda _: max_drop
    config = session.config
    return lambda path: config.get(settings.MAX_DROP, PurePosixPath(path))


def _hints(a: Scored, b: Scored, pairs: Pairs) -> Iterator[str]:
    """Say what a difference may come from beside the skills themselves."""
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


def _is_there(then: SkillName, now: SkillName) -> bool:
    """Whether a skill is where it was, in the repository or as it is shown."""
    return then.path == now.path or repository_path(then) == repository_path(now) is not None


def _pairing_hints(a: Scored, b: Scored, pairs: Pairs) -> Iterator[str]:
    both = [(then.skill, now.skill) for then, now in pairs.pairs if then and now]
    if pairs.start is not None:
        then, now = (repr(start) if start else "nothing" for start in pairs.start)
        yield (
            f"no skill is shown by one path in both: paths in {a.label} begin with {then}, in {b.label} with {now};"
            " they are taken to be one place, and skills are paired by the rest of the path, then by name"
        )
    elif both and not any(_is_there(then, now) for then, now in both):
        named = any({then.name, *names_of("", then.path)} & {now.name, *names_of("", now.path)} for then, now in both)
        how = "skills are paired by name alone" if named else "the one skill of each is taken to be the same"
        yield f"no skill is shown by one path in both: {how}"
