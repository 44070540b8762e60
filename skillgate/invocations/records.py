"""Single invocations of a store: list, show, rescore and delete them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.invocations.formats._names import stored_id
from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import Tier
from skillgate.model.text import printable
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from skillgate.invocations.request import PurgeRequest, RescoreRequest, Selection, ShowRequest
    from skillgate.model.invocation import Invocation, InvocationScore, Part
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore, Record

_NAMED = 10  # ids that a message names


class Listing(NamedTuple):
    """Invocations of a store, the latest first, and how many more there are."""

    store: str
    rubric: str
    days: int | None
    records: tuple[Record, ...]
    left_out: int

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": "log-list",
            "store": self.store,
            "rubric_version": self.rubric,
            "days": self.days,
            "invocations": [_row(one, _first(one)) for one in self.records],
            "left_out": self.left_out,
        }

    def scored(self) -> list[tuple[Invocation, InvocationScore | None]]:
        """Return each with its score, None where the rubric has not scored it."""
        return [(one.invocation, _first(one)) for one in self.records]


class Detail(NamedTuple):
    """All that is kept of one invocation, and what its score is made of."""

    store: str
    record: Record
    score: InvocationScore
    parts: tuple[Part, ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        record = self.record
        return {
            "kind": "log-show",
            "store": self.store,
            **_row(record, self.score),
            "imported_at": record.imported_at,
            "fields": _fields(record.invocation),
            "added": {name: _plain(value) for name, value in sorted(record.added.items())},
            "scores": [_score(one) for one in record.scores],
            "parts": [{**part._asdict(), "component": part.component.value} for part in self.parts],
        }

    def fields(self) -> dict[str, tuple[str, bool]]:
        """Return the text of every field that is known, and whether it was added by hand."""
        record = self.record
        return {name: (_text(value), name in record.added) for name, value in _fields(record.invocation).items()}


class Changed(NamedTuple):
    """How many invocations of a store were rescored or deleted."""

    store: str
    number: int


def list_invocations(selection: Selection, most: int, session: Session) -> Listing:
    """List at most so many invocations, the latest first.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    _, skills, rubric, days, until = selection
    since = None if days is None else (until or datetime.now(UTC)) - timedelta(days=days)
    store, shown = open_existing(selection.store, session)
    try:
        found = store.recent(rubric, skills=skills, since=since, until=until, most=most)
        left_out = store.count_within(skills=skills, since=since, until=until) - len(found)
    finally:
        store.close()
    return Listing(shown, rubric, days, tuple(found), left_out)


def show(request: ShowRequest, session: Session) -> Detail:
    """Return all that is kept of one invocation.

    Raises:
        UsageError: the store cannot be used, or there is no single invocation with this id.
        IncompleteError: the database failed.
    """
    store, shown = open_existing(request.store, session)
    try:
        record = _record(store, request.id)
    finally:
        store.close()
    score = scorer(request.rubric)(record.invocation)
    return Detail(shown, record, score, explainer(request.rubric)(record.invocation))


def rescore(request: RescoreRequest, session: Session) -> Changed:
    """Score what is there by a rubric; where that is everything, it is the current one from then on.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    _, rubric, skill, since = request
    store, shown = open_existing(request.store, session)
    try:
        whole = skill is None and since is None
        count = store.rescore(rubric, scorer(rubric), skill=skill, since=since, make_current=whole)
    finally:
        store.close()
    return Changed(shown, count)


def purge(request: PurgeRequest, session: Session) -> Changed:
    """Delete invocations, after asking.

    Raises:
        UsageError: nothing says which, nobody agreed, or the store cannot be used.
        IncompleteError: the database failed.
    """
    _, before, skill, dry_run, agreed = request
    if before is None and skill is None:
        raise UsageError("log purge needs --before DATE, --skill NAME, or both")
    store, shown = open_existing(request.store, session)
    try:
        count = store.purge(before=before, skill=skill, dry_run=True)
        if not dry_run:  # also of none: it clears what an earlier one had to leave
            if count and not agreed:
                _require_agreement(count, before, skill, session)
            count = store.purge(before=before, skill=skill, dry_run=False)
    finally:
        store.close()
    return Changed(shown, count)


def open_existing(named: str | None, session: Session) -> tuple[InvocationStore, str]:
    """Open the store that is named, else that of the configuration, and return its name for messages too.

    Raises:
        UsageError: it cannot be used, or there is none.
    """
    target, _ = named_store(named, session)
    require_packages(target)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    return open_invocations(target, create=False), target.shown


def counted(number: int) -> str:
    """Return how many invocations, in words."""
    return f"{number:,} invocation{'s' * (number != 1)}"


def _require_agreement(count: int, before: datetime | None, skill: str | None, session: Session) -> None:
    when = "" if before is None else f" that began before {before:%Y-%m-%d %H:%M} UTC"
    which = "" if skill is None else f" of {skill}"
    question = f"delete {counted(count)}{which}{when}?"
    if not session.interactive:
        raise UsageError(f"{question} nobody is here to ask; say --yes")
    if not session.confirm(question):
        raise UsageError("nothing was deleted")


def _record(store: InvocationStore, name: str) -> Record:
    """Return the invocation with an id, or the only one whose id begins so.

    Raises:
        UsageError: there is none, or several begin so.
    """
    record = store.record(name) or store.record(stored_id(name))
    if record is None:
        ids = store.ids(name, _NAMED + 1) if name else ()
        if len(ids) > 1:
            more = ", …" if len(ids) > _NAMED else ""
            named = ", ".join(map(printable, ids[:_NAMED]))
            raise UsageError(f"several invocations begin with {printable(name)!r}: {named}{more}")
        record = store.record(ids[0]) if ids else None
    if record is None:
        raise UsageError(f"there is no invocation {printable(name)}; list their ids with `skillgate log list --all`")
    return record


def _row(record: Record, score: InvocationScore | None) -> dict[str, Any]:
    invocation = record.invocation
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


def _text(value: Any) -> str:  # noqa: ANN401 - a plain value of any field
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first(record: Record) -> InvocationScore | None:
    return record.scores[0] if record.scores else None
