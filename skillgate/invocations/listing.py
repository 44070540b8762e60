"""The words ``list`` and ``show`` of ``log``: single invocations with their ids, and all that is kept of one."""

from __future__ import annotations

import json
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from skillgate.cli.log_options import days_of, now_of, rubric_of
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.invocations.changing import there
from skillgate.invocations.formats._names import stored_id
from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Tier
from skillgate.model.text import printable
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse

    from skillgate.model.invocation import Invocation, InvocationScore
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore, Record

_NAMED = 10  # ids that a message names


def list_invocations(args: argparse.Namespace, session: Session) -> int:
    """List invocations, the latest first.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    rubric, days, now = rubric_of(args, session), days_of(args, session), now_of(args)
    since = None if days is None else now - timedelta(days=days)
    store, shown = there(args, session)
    try:
        found = store.recent(rubric, skills=args.skills, since=since, until=args.at, most=args.limit)
        left = store.count_within(skills=args.skills, since=since, until=args.at) - len(found)
    finally:
        store.close()
    if session.json:
        document: dict[str, Any] = {"kind": "log-list", "store": shown, "rubric_version": rubric, "days": days}
        document |= {"invocations": [_row(one) for one in found], "left_out": left}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
        return EXIT_PASSED
    if not found and (args.skills or days is not None or args.at is not None):
        of = f" of {', '.join(map(printable, args.skills))}" if args.skills else ""
        within = "" if days is None else f" in the last {days:,} days; --all looks at all that is there"
        session.note(f"no invocation{of} is recorded{within}")
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_list

    session.out(render_list([(one.invocation, _first(one.scores)) for one in found], _style(session)))
    if left:
        session.note(f"{left:,} more; --limit N lists them")
    return EXIT_PASSED


def show(args: argparse.Namespace, session: Session) -> int:
    """Show all that is kept of one invocation.

    Raises:
        UsageError: the store cannot be used, or there is no single invocation with this id.
        IncompleteError: the database failed.
    """
    store, shown = there(args, session)
    try:
        record = _found(store, args.id)
    finally:
        store.close()
    rubric = rubric_of(args, session)
    score = scorer(rubric)(record.invocation)
    parts = explainer(rubric)(record.invocation)
    if session.json:
        document = {"kind": "log-show", "store": shown, **_row(record, score), "imported_at": record.imported_at}
        document["fields"] = _fields(record.invocation)
        document["added"] = {name: _plain(value) for name, value in sorted(record.added.items())}
        document["scores"] = [_score(one) for one in record.scores]
        document["parts"] = [{**part._asdict(), "component": part.component.value} for part in parts]
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_record

    about = {"origin": record.origin, "imported at": f"{record.imported_at} UTC"}
    fields = {name: (_shown(value), name in record.added) for name, value in _fields(record.invocation).items()}
    session.out(render_record(record.invocation, score, parts, about, fields, _style(session)))
    return EXIT_PASSED


def _found(store: InvocationStore, asked: str) -> Record:
    """Return the invocation with an id, or the only one whose id begins so.

    Raises:
        UsageError: there is none, or several begin so.
    """
    record = store.record(asked) or store.record(stored_id(asked))
    if record is None:
        ids = store.ids(asked, _NAMED + 1) if asked else ()
        if len(ids) > 1:
            more = ", …" if len(ids) > _NAMED else ""
            named = ", ".join(map(printable, ids[:_NAMED]))
            raise UsageError(f"several invocations begin with {printable(asked)!r}: {named}{more}")
        record = store.record(ids[0]) if ids else None
    if record is None:
        raise UsageError(f"there is no invocation {printable(asked)}; list their ids with `skillgate log list --all`")
    return record


def _row(record: Record, score: InvocationScore | None = None) -> dict[str, Any]:
    invocation, score = record.invocation, score or _first(record.scores)
    total = None if score is None else score.total
    return {
        "invocation_id": invocation.invocation_id,
        "skill": invocation.skill_name,
        "timestamp": _plain(invocation.timestamp),
        "source": invocation.source,
        "origin": record.origin,
        "outcome": _plain(invocation.ending),
        "error_count": invocation.error_count,
        "quality_score": total,
        "tier": None if total is None else Tier.of(total).value,
        "coverage": None if score is None else score.coverage,
        "added": sorted(record.added),
    }


def _score(score: InvocationScore) -> dict[str, Any]:
    return {
        "rubric_version": score.rubric,
        "quality_score": score.total,
        **{name: getattr(score, name) for name in ("completion", "efficiency", "quality", "satisfaction")},
        "coverage": score.coverage,
        "baseline_category": score.baseline,
    }


def _fields(invocation: Invocation) -> dict[str, Any]:
    """Return what is known of an invocation, by the names of fields."""
    return {name: _plain(value) for name, value in invocation._asdict().items() if value is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a value of any field
    if isinstance(value, Enum):
        return value.value
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else value


def _shown(value: Any) -> str:  # noqa: ANN401 - a plain value of any field
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first(scores: tuple[InvocationScore, ...]) -> InvocationScore | None:
    return scores[0] if scores else None


def _style(session: Session) -> Style:
    return Style(width=session.width, color=session.color)
