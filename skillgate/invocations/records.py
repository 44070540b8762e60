"""Requests of the ``log`` commands; and add, list, show, rescore and delete invocations of a store.

``store`` of a request is the value of ``--store``; None for the configured store.
"""

from __future__ import annotations

import json
import sys
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.format import did_you_mean, plural, printable
from skillgate.invocations.formats import Options, digest_of, reader
from skillgate.invocations.formats._input import skill_name, stored_id
from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import SEEN_UNTIL, Fate, Filters, Invocation, Scored, Tier
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.console import Console
    from skillgate.model.invocation import InvocationScore, Part
    from skillgate.store.invocations import InvocationStore, Record


class ImportRequest(NamedTuple):
    """Import files of recorded invocations into a store.

    Attributes:
        form: the files' format; ``auto`` detects it.
        category: for invocations without one.
        keep_text: whether strings under unknown keys are stored.
        update: whether stored invocations with the same id are replaced.
        strict: whether a file with an invalid record is skipped as a whole.
        project: stored as the origin; None for a digest of the files' directory.
    """

    store: str | None
    files: tuple[str, ...]
    form: str
    rubric: str
    category: str | None
    keep_text: bool
    update: bool
    strict: bool
    project: str | None


class ScoreRequest(NamedTuple):
    """Score the invocations of files without storing them; attributes as for an import."""

    files: tuple[str, ...]
    form: str
    rubric: str
    category: str | None


class AddRequest(NamedTuple):
    """Record one invocation, or add fields to a stored one.

    Attributes:
        invocation: a JSON object, ``-`` for standard input, or None.
        fields: each ``KEY=VALUE``.
        skill, id: the skill's name and the invocation's id; None if they are among the fields.
        update: whether to add to a stored invocation.
    """

    store: str | None
    invocation: str | None
    fields: tuple[str, ...]
    skill: str | None
    id: str | None
    rubric: str
    category: str | None
    keep_text: bool
    update: bool


class Selection(NamedTuple):
    """A selection of a store's invocations, and the rubric that scores them.

    Attributes:
        skills: names; empty for all.
        days: length of the window; None for everything.
        until: leave out invocations that began later; None for no limit, since a recorder's clock may be ahead.
        filters: leave out others.
    """

    store: str | None
    skills: tuple[str, ...]
    rubric: str
    days: int | None
    until: datetime | None
    filters: Filters = Filters()


class ShowRequest(NamedTuple):
    """Show one invocation; ``id`` may be a prefix."""

    store: str | None
    id: str
    rubric: str


class RescoreRequest(NamedTuple):
    """Score stored invocations by another rubric; ``skill`` and ``since`` are None for all."""

    store: str | None
    rubric: str
    skill: str | None
    since: datetime | None


class PurgeRequest(NamedTuple):
    """Delete the invocations of a skill that began before a time; at most one of both is None.

    Attributes:
        dry_run: only count them.
        agreed: do not ask for confirmation.
    """

    store: str | None
    before: datetime | None
    skill: str | None
    dry_run: bool
    agreed: bool


_NAMED = 10  # maximum ids in a message
_MOST = 1_000_000  # maximum characters of an added invocation
_IDENTITY = frozenset(("invocation_id", "skill_name", "source"))


class Listing(NamedTuple):
    """Invocations of a store, latest first, and the number not listed."""

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
            "invocations": [_row(one, one.scores[0] if one.scores else None) for one in self.records],
            "left_out": self.left_out,
        }

    def scored(self) -> list[tuple[Invocation, InvocationScore | None]]:
        """Return each invocation with its score; None if this rubric has not scored it."""
        return [(one.invocation, one.scores[0] if one.scores else None) for one in self.records]


class Detail(NamedTuple):
    """Everything stored about one invocation, and the parts of its score."""

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
            "scores": [
                {
                    "rubric_version": one.rubric,
                    "quality_score": one.total,
                    **{name: getattr(one, name) for name in ("completion", "efficiency", "quality", "satisfaction")},
                    "coverage": one.coverage,
                    "baseline_category": one.baseline,
                }
                for one in record.scores
            ],
            "parts": [{**part._asdict(), "component": part.component.value} for part in self.parts],
        }

    def fields(self) -> dict[str, tuple[str, bool]]:
        """Return the text of every known field, and whether it was added later."""
        texts = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in _fields(self.record.invocation).items()
        }
        return {name: (text, name in self.record.added) for name, text in texts.items()}


class Changed(NamedTuple):
    """The number of a store's invocations that were rescored or deleted."""

    store: str
    number: int


class Addition(NamedTuple):
    """The result of adding an invocation."""

    scored: Scored
    fate: Fate

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        invocation, score = self.scored.invocation, self.scored.score
        return {
            "kind": "log-add",
            "invocation_id": invocation.invocation_id,
            "result": self.fate.value,
            "skill": invocation.skill_name,
            **score._asdict(),
        }

    def line(self) -> str:
        """Return it as one line."""
        name, score = printable(self.scored.invocation.invocation_id), self.scored.score
        total = "not rated" if score.total is None else f"{score.total:.2f}"
        return f"{name} {self.fate.value}: {total}, {100 * score.coverage:.0f} % observed"


@contextmanager
def existing_store(named: str | None, session: Console) -> Iterator[tuple[InvocationStore, str]]:
    """Open the named or else the configured store, with its name for messages.

    Raises:
        UsageError: it is unusable or does not exist.
    """
    target, _ = named_store(named, session)
    require_packages(target)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    store = open_invocations(target, create=False)
    try:
        yield store, target.shown
    finally:
        store.close()


def require_skills(store: InvocationStore, shown: str, skills: Sequence[str]) -> None:
    """Raise UsageError if a store has no invocations of one of the skills."""
    names = store.skills() if skills else ()
    missing = [name for name in skills if name not in set(names)]
    if missing:
        problems = [f"{shown} holds no invocations of {name!r}{did_you_mean(name, names)}" for name in missing[:20]]
        raise UsageError("\n".join(problems))


def list_invocations(selection: Selection, most: int, session: Console) -> Listing:
    """List at most ``most`` invocations, latest first.

    Raises:
        UsageError: the store is unusable.
        IncompleteError: the database failed.
    """
    _, skills, rubric, days, until, filters = selection
    since = None if days is None else (until or datetime.now(UTC)) - timedelta(days=days)
    with existing_store(selection.store, session) as (store, shown):
        found = store.recent(rubric, skills=skills, since=since, until=until, filters=filters, most=most)
        within = store.count_within(skills=skills, since=since, until=until, filters=filters)
    return Listing(shown, rubric, days, tuple(found), within - len(found))


def show(request: ShowRequest, session: Console) -> Detail:
    """Return everything stored about one invocation.

    Raises:
        UsageError: the store is unusable, or no or several invocations have this id.
        IncompleteError: the database failed.
    """
    with existing_store(request.store, session) as (store, shown):
        record = _record(store, request.id)
    score = scorer(request.rubric)(record.invocation)
    return Detail(shown, record, score, explainer(request.rubric)(record.invocation))


def rescore(request: RescoreRequest, session: Console) -> Changed:
    """Score stored invocations by a rubric; if all are rescored, it becomes the store's current rubric.

    Raises:
        UsageError: the store is unusable.
        IncompleteError: the database failed.
    """
    _, rubric, skill, since = request
    with existing_store(request.store, session) as (store, shown):
        whole = skill is None and since is None
        return Changed(shown, store.rescore(rubric, scorer(rubric), skill=skill, since=since, make_current=whole))


def purge(request: PurgeRequest, session: Console) -> Changed:
    """Delete invocations after confirmation.

    Raises:
        UsageError: nothing is selected, the deletion is not confirmed, or the store is unusable.
        IncompleteError: the database failed.
    """
    _, before, skill, dry_run, agreed = request
    if before is None and skill is None:
        raise UsageError("log purge needs --before DATE, --skill NAME, or both")
    with existing_store(request.store, session) as (store, shown):
        count = store.purge(before=before, skill=skill, dry_run=True)
        if not dry_run:  # even if the count is 0: this clears the rest of an earlier purge
            if count and not agreed:
                _require_agreement(count, before, skill, session)
            count = store.purge(before=before, skill=skill, dry_run=False)
    return Changed(shown, count)


def counted(number: int) -> str:
    """Return a number of invocations in words."""
    return plural(number, "invocation")


def _require_agreement(count: int, before: datetime | None, skill: str | None, session: Console) -> None:
    when = "" if before is None else f" that began before {before:%Y-%m-%d %H:%M} UTC"
    which = "" if skill is None else f" of {skill}"
    question = f"delete {counted(count)}{which}{when}?"
    if not session.interactive:
        raise UsageError(f"{question} Cannot ask without a terminal; confirm with --yes")
    if not session.confirm(question):
        raise UsageError("nothing was deleted")


def _record(store: InvocationStore, name: str) -> Record:
    """Return the invocation with an id or unique id prefix; raise UsageError if there is none."""
    record = store.record(name) or store.record(stored_id(name))
    if record is None:
        ids = store.ids(name, _NAMED + 1) if name else ()
        if len(ids) > 1:
            more = ", …" if len(ids) > _NAMED else ""
            named = ", ".join(map(printable, ids[:_NAMED]))
            raise UsageError(f"several invocation ids begin with {printable(name)!r}: {named}{more}")
        record = store.record(ids[0]) if ids else None
    if record is None:
        raise UsageError(f"no invocation {printable(name)!r}; list the ids with `skillgate log list --all`")
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


def _fields(invocation: Invocation) -> dict[str, Any]:
    """Return the known fields of an invocation by name."""
    return {name: _plain(value) for name, value in invocation._asdict().items() if value is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a value of any field
    if isinstance(value, Enum):
        return value.value
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


# Adding


def add(request: AddRequest, session: Console) -> Addition:
    """Record one invocation, or add fields to a stored one.

    Raises:
        UsageError: it is invalid, its id is taken by a different one, or the store is unusable.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    fields = _added_fields(request)
    if request.update and "invocation_id" not in fields:
        raise UsageError("--update needs the invocation's id; set it with --id")
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    score = scorer(request.rubric)
    store = open_invocations(target, create=not request.update)
    try:
        if request.update:
            return Addition(_amended(fields, store, request, session), Fate.UPDATED)
        if "skill_name" not in fields and "skill" not in fields:
            raise UsageError("no skill given; name the invoked skill with --skill")
        made = {"timestamp": datetime.now(UTC).isoformat(), "invocation_id": str(uuid.uuid4())}
        found = _read({**made, **fields}, request, session)
        scored = Scored(found, score(found), digest_of(found))
        with store.importing(request.rubric, score) as run:
            (fate,) = run.add([scored])
            if fate is Fate.CONFLICT:
                message = "is already in the store with other values; use --update to add to it"
                raise UsageError(f"invocation {found.invocation_id} {message}")
        return Addition(scored, fate)
    finally:
        store.close()


def _added_fields(request: AddRequest) -> dict[str, Any]:
    """Return the fields of a request; raise UsageError for invalid JSON or an invalid ``KEY=VALUE``."""
    found: dict[str, Any] = {}
    if request.invocation is not None:
        text = request.invocation
        if text == "-":
            if sys.stdin is None:
                raise UsageError("standard input is closed")
            text = sys.stdin.read(_MOST + 1)
        if len(text) > _MOST:
            raise UsageError(f"the invocation is longer than {_MOST:,} characters")
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the invocation is not valid JSON: {str(error)[:200]}") from None
        if not isinstance(data, dict):
            raise UsageError("the invocation is not a JSON object")
        found = data
    for word in request.fields:
        _set(found, word)
    if request.skill is not None:
        found["skill_name"] = request.skill
    if request.id is not None:
        found["invocation_id"] = request.id
    elif "id" in found:
        found.setdefault("invocation_id", found.pop("id"))
    return found


def _set(found: dict[str, Any], word: str) -> None:
    key, mark, text = word.partition("=")
    *above, last = key.strip().split(".")
    if not mark or not last:
        raise UsageError(f"expected KEY=VALUE, such as user_accepted=true, found {word[:80]!r}")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    for step in above:
        inner = found.setdefault(step, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {word[:80]}: {step} is not an object")
        found = inner
    found[last] = value


def _amended(fields: dict[str, Any], store: InvocationStore, request: AddRequest, session: Console) -> Scored:
    """Add fields to a stored invocation; raise UsageError if it is missing or of another skill."""
    name = str(fields["invocation_id"])
    before = store.find(name) or store.find(stored_id(name))
    if before is None:
        raise UsageError(f"no invocation {printable(name)!r}; list the ids with `skillgate log list`")
    skill = fields.get("skill_name", fields.get("skill"))
    if skill is not None and before.skill_name not in (skill, skill_name(str(skill), keep_text=False)):
        raise UsageError(f"invocation {printable(name)} belongs to skill {printable(before.skill_name)}")
    own = {"skill_name": "same", "invocation_id": "same"}  # the stored values may be texts that --keep-text allowed
    later = _read({"timestamp": before.timestamp.isoformat(), **fields, **own}, request, session)
    added = {name: value for name, value in later._asdict().items() if value is not None and name not in _IDENTITY}
    if "timestamp" not in fields:
        del added["timestamp"]
    if "extra" in added:
        added["extra"] = {key: value for key, value in added["extra"].items() if key != SEEN_UNTIL}
    if not added:
        raise UsageError("nothing to add: null values and the outcome interrupted hold no information")
    scored = store.amend(before.invocation_id, added, request.rubric, scorer(request.rubric))
    if scored is None:
        raise UsageError(f"invocation {before.invocation_id} was deleted in the meantime")
    return scored


def _read(data: dict[str, Any], request: AddRequest, session: Console) -> Invocation:
    try:
        line = json.dumps(data).encode()
    except RecursionError:
        raise UsageError("invalid invocation: nested too deeply") from None
    options = Options(datetime.now(UTC), request.keep_text, request.category)
    (read,) = reader("jsonl")(iter([(1, line)]), options)
    for warning in read.warnings:
        session.note(warning)
    if read.invocation is None:
        raise UsageError(f"invalid invocation: {read.problem}")
    return read.invocation
