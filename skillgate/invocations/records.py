"""Requests of the commands of ``log``; and single invocations of a store: add, list, show, rescore and delete them.

``store`` of a request is what ``--store`` names, None for that of the configuration.
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
from skillgate.format import plural, printable
from skillgate.invocations.formats import Options, digest_of, reader
from skillgate.invocations.formats._input import skill_name, stored_id
from skillgate.invocations.rubric import explainer, scorer
from skillgate.model.invocation import SEEN_UNTIL, Fate, Invocation, Scored, Tier
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.console import Console
    from skillgate.model.invocation import InvocationScore, Part
    from skillgate.store.invocations import InvocationStore, Record


class ImportRequest(NamedTuple):
    """Take files of recorded invocations into a store.

    Attributes:
        form: the files' format; ``auto`` recognises it.
        category: of invocations that name none.
        keep_text: whether texts under unknown keys are stored.
        update: whether what is there under the same id is replaced.
        strict: whether nothing is taken of a file with a bad line.
        project: what is stored as the origin, None for a digest of the files' folder.
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
    """Score the invocations of files, and store nothing; the attributes are those of an import."""

    files: tuple[str, ...]
    form: str
    rubric: str
    category: str | None


class AddRequest(NamedTuple):
    """Record one invocation, or more signals of one that is there.

    Attributes:
        invocation: a JSON object, ``-`` for the standard input, None for none.
        fields: each ``KEY=VALUE``.
        skill, id: the skill's name and the invocation's id; None where they are among the fields.
        update: whether it is there already.
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
    """Which invocations of a store are looked at, and by which rubric.

    Attributes:
        skills: by name; empty for all.
        days: how far to look back, None for all.
        until: what began later is left out; None for nothing, since a recorder's clock may be ahead.
    """

    store: str | None
    skills: tuple[str, ...]
    rubric: str
    days: int | None
    until: datetime | None


class ShowRequest(NamedTuple):
    """Show one invocation; ``id`` may be how its id begins."""

    store: str | None
    id: str
    rubric: str


class RescoreRequest(NamedTuple):
    """Score what is there by another rubric; ``skill`` and ``since`` are None for everything."""

    store: str | None
    rubric: str
    skill: str | None
    since: datetime | None


class PurgeRequest(NamedTuple):
    """Delete what is of a skill, and what began before a time; one of both is None at most.

    Attributes:
        dry_run: whether they are only counted.
        agreed: whether no question is needed.
    """

    store: str | None
    before: datetime | None
    skill: str | None
    dry_run: bool
    agreed: bool


_NAMED = 10  # ids that a message names
_MOST = 1_000_000  # characters of an invocation that is added
_IDENTITY = frozenset(("invocation_id", "skill_name", "source"))


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
            "invocations": [_row(one, one.scores[0] if one.scores else None) for one in self.records],
            "left_out": self.left_out,
        }

    def scored(self) -> list[tuple[Invocation, InvocationScore | None]]:
        """Return each with its score, None where the rubric has not scored it."""
        return [(one.invocation, one.scores[0] if one.scores else None) for one in self.records]


class Detail(NamedTuple):
    """All that is stored of one invocation, and what its score is made of."""

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
        """Return the text of every field that is known, and whether it was added by hand."""
        return {
            name: (
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
                name in self.record.added,
            )
            for name, value in _fields(self.record.invocation).items()
        }


class Changed(NamedTuple):
    """How many invocations of a store were rescored or deleted."""

    store: str
    number: int


class Addition(NamedTuple):
    """What became of an invocation that was added."""

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
        """Return it in a line."""
        name, score = printable(self.scored.invocation.invocation_id), self.scored.score
        total = "not rated" if score.total is None else f"{score.total:.2f}"
        return f"{name} {self.fate.value}: {total}, {100 * score.coverage:.0f} % observed"


@contextmanager
def existing_store(named: str | None, session: Console) -> Iterator[tuple[InvocationStore, str]]:
    """Open the store that is named, else that of the configuration, with its name for messages.

    Raises:
        UsageError: it cannot be used, or there is none.
    """
    target, _ = named_store(named, session)
    require_packages(target)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    store = open_invocations(target, create=False)
    try:
        yield store, target.shown
    finally:
        store.close()


def list_invocations(selection: Selection, most: int, session: Console) -> Listing:
    """List at most so many invocations, the latest first.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    _, skills, rubric, days, until = selection
    since = None if days is None else (until or datetime.now(UTC)) - timedelta(days=days)
    with existing_store(selection.store, session) as (store, shown):
        found = store.recent(rubric, skills=skills, since=since, until=until, most=most)
        left_out = store.count_within(skills=skills, since=since, until=until) - len(found)
    return Listing(shown, rubric, days, tuple(found), left_out)


def show(request: ShowRequest, session: Console) -> Detail:
    """Return all that is stored of one invocation.

    Raises:
        UsageError: the store cannot be used, or there is no single invocation with this id.
        IncompleteError: the database failed.
    """
    with existing_store(request.store, session) as (store, shown):
        record = _record(store, request.id)
    score = scorer(request.rubric)(record.invocation)
    return Detail(shown, record, score, explainer(request.rubric)(record.invocation))


def rescore(request: RescoreRequest, session: Console) -> Changed:
    """Score what is there by a rubric; where that is everything, it is the current one from then on.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    _, rubric, skill, since = request
    with existing_store(request.store, session) as (store, shown):
        whole = skill is None and since is None
        return Changed(shown, store.rescore(rubric, scorer(rubric), skill=skill, since=since, make_current=whole))


def purge(request: PurgeRequest, session: Console) -> Changed:
    """Delete invocations, after a question.

    Raises:
        UsageError: nothing says which, nobody agreed, or the store cannot be used.
        IncompleteError: the database failed.
    """
    _, before, skill, dry_run, agreed = request
    if before is None and skill is None:
        raise UsageError("log purge needs --before DATE, --skill NAME, or both")
    with existing_store(request.store, session) as (store, shown):
        count = store.purge(before=before, skill=skill, dry_run=True)
        if not dry_run:  # also of none: it clears what an earlier one had to leave
            if count and not agreed:
                _require_agreement(count, before, skill, session)
            count = store.purge(before=before, skill=skill, dry_run=False)
    return Changed(shown, count)


def counted(number: int) -> str:
    """Return how many invocations, in words."""
    return plural(number, "invocation")


def _require_agreement(count: int, before: datetime | None, skill: str | None, session: Console) -> None:
    when = "" if before is None else f" that began before {before:%Y-%m-%d %H:%M} UTC"
    which = "" if skill is None else f" of {skill}"
    question = f"delete {counted(count)}{which}{when}?"
    if not session.interactive:
        raise UsageError(f"{question} nobody is here to ask; say --yes")
    if not session.confirm(question):
        raise UsageError("nothing was deleted")


def _record(store: InvocationStore, name: str) -> Record:
    """Return the invocation with an id, or the only one whose id begins so; raise UsageError where there is none."""
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


def _fields(invocation: Invocation) -> dict[str, Any]:
    """Return what is known of an invocation, by the names of fields."""
    return {name: _plain(value) for name, value in invocation._asdict().items() if value is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a value of any field
    if isinstance(value, Enum):
        return value.value
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


# Adding


def add(request: AddRequest, session: Console) -> Addition:
    """Record one invocation that comes as fields, or more signals of one that is there.

    Raises:
        UsageError: it is not valid, one with its id says something else, or the store cannot be used.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    fields = _added_fields(request)
    if request.update and "invocation_id" not in fields:
        raise UsageError("--update adds to an invocation: say which with --id")
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    score = scorer(request.rubric)
    store = open_invocations(target, create=not request.update)
    try:
        if request.update:
            return Addition(_amended(fields, store, request, session), Fate.UPDATED)
        if "skill_name" not in fields and "skill" not in fields:
            raise UsageError("say which skill was invoked, with --skill")
        made = {"timestamp": datetime.now(UTC).isoformat(), "invocation_id": str(uuid.uuid4())}
        found = _read({**made, **fields}, request, session)
        scored = Scored(found, score(found), digest_of(found))
        with store.importing(request.rubric, score) as run:
            (fate,) = run.add([scored])
            if fate is Fate.CONFLICT:
                message = "is in the store and says something else; --update adds to it"
                raise UsageError(f"the invocation {found.invocation_id} {message}")
        return Addition(scored, fate)
    finally:
        store.close()


def _added_fields(request: AddRequest) -> dict[str, Any]:
    """Return the fields of a request; raise UsageError where something is no JSON, or no ``KEY=VALUE``."""
    found: dict[str, Any] = {}
    if request.invocation is not None:
        text = request.invocation
        if text == "-":
            if sys.stdin is None:
                raise UsageError("the standard input is closed")
            text = sys.stdin.read(_MOST + 1)
        if len(text) > _MOST:
            raise UsageError(f"an invocation has up to {_MOST:,} characters")
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the invocation is no JSON: {str(error)[:200]}") from None
        if not isinstance(data, dict):
            raise UsageError("the invocation is no JSON object")
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
        raise UsageError(f"expected KEY=VALUE, as in user_accepted=true, found {word[:80]!r}")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    for step in above:
        inner = found.setdefault(step, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {word[:80]}: {step} is no object")
        found = inner
    found[last] = value


def _amended(fields: dict[str, Any], store: InvocationStore, request: AddRequest, session: Console) -> Scored:
    """Add fields to an invocation that is in the store; raise UsageError where there is none, or it is another's."""
    name = str(fields["invocation_id"])
    before = store.find(name) or store.find(stored_id(name))
    if before is None:
        raise UsageError(f"there is no invocation {printable(name)}; list their ids with `skillgate log list`")
    skill = fields.get("skill_name", fields.get("skill"))
    if skill is not None and before.skill_name not in (skill, skill_name(str(skill), keep_text=False)):
        raise UsageError(f"the invocation {printable(name)} is one of {printable(before.skill_name)}")
    own = {"skill_name": "same", "invocation_id": "same"}  # what is stored may be texts, which --keep-text allowed
    later = _read({"timestamp": before.timestamp.isoformat(), **fields, **own}, request, session)
    added = {name: value for name, value in later._asdict().items() if value is not None and name not in _IDENTITY}
    if "timestamp" not in fields:
        del added["timestamp"]
    if "extra" in added:
        added["extra"] = {key: value for key, value in added["extra"].items() if key != SEEN_UNTIL}
    if not added:
        raise UsageError("nothing would be added: null, interrupted and what is left out say nothing of an invocation")
    scored = store.amend(before.invocation_id, added, request.rubric, scorer(request.rubric))
    if scored is None:
        raise UsageError(f"the invocation {before.invocation_id} was deleted meanwhile")
    return scored


def _read(data: dict[str, Any], request: AddRequest, session: Console) -> Invocation:
    try:
        line = json.dumps(data).encode()
    except RecursionError:
        raise UsageError("this is no invocation: it is nested too deeply") from None
    options = Options(datetime.now(UTC), request.keep_text, request.category)
    (read,) = reader("jsonl")(iter([(1, line)]), options)
    for warning in read.warnings:
        session.note(warning)
    if read.invocation is None:
        raise UsageError(f"this is no invocation: {read.problem}")
    return read.invocation
