"""Record one invocation that is given as fields, or more signals of one that is there."""

from __future__ import annotations

import json
import sys
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.invocations.formats._names import skill_name, stored_id
from skillgate.invocations.forms import reader
from skillgate.invocations.ports import Options
from skillgate.invocations.rubric import scorer
from skillgate.invocations.taking import digest_of
from skillgate.model.invocation import SEEN_UNTIL, Fate, Invocation, Scored
from skillgate.model.text import printable
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from skillgate.invocations.request import AddRequest
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore

_MOST = 1_000_000  # characters of an invocation
_IDENTITY = frozenset(("invocation_id", "skill_name", "source"))


class Addition(NamedTuple):
    """What became of one invocation."""

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
        invocation, score = self.scored.invocation, self.scored.score
        total = "not rated" if score.total is None else f"{score.total:.2f}"
        return (
            f"{printable(invocation.invocation_id)} {self.fate.value}: {total}, {100 * score.coverage:.0f} % observed"
        )


def add(request: AddRequest, session: Session) -> Addition:
    """Record one invocation.

    Raises:
        UsageError: it is not valid, one with its id says something else, or the store cannot be used.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    fields = _fields(request)
    if request.update and "invocation_id" not in fields:
        raise UsageError("--update adds to an invocation: say which with --id")
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    score = scorer(request.rubric)
    store = open_invocations(target, create=not request.update)
    try:
        if request.update:
            return Addition(_amended(fields, store, request, session), Fate.UPDATED)
        found = _new(fields, request, session)
        scored = Scored(found, score(found), digest_of(found))
        with store.importing(request.rubric, score) as run:
            (fate,) = run.add([scored])
            if fate is Fate.CONFLICT:
                message = "is in the store and says something else; --update adds to it"
                raise UsageError(f"the invocation {found.invocation_id} {message}")
        return Addition(scored, fate)
    finally:
        store.close()


def _fields(request: AddRequest) -> dict[str, Any]:
    """Return the fields that a request gives.

    Raises:
        UsageError: something is no JSON, or no ``KEY=VALUE``.
    """
    found: dict[str, Any] = {}
    if request.invocation is not None:
        text = _piped() if request.invocation == "-" else request.invocation
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


def _piped() -> str:
    if sys.stdin is None:
        raise UsageError("the standard input is closed")
    return sys.stdin.read(_MOST + 1)


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


def _new(fields: dict[str, Any], request: AddRequest, session: Session) -> Invocation:
    if "skill_name" not in fields and "skill" not in fields:
        raise UsageError("say which skill was invoked, with --skill")
    made = {"timestamp": datetime.now(UTC).isoformat(), "invocation_id": str(uuid.uuid4())}
    return _read({**made, **fields}, request, session)


def _amended(fields: dict[str, Any], store: InvocationStore, request: AddRequest, session: Session) -> Scored:
    """Add fields to an invocation that is in the store.

    Raises:
        UsageError: there is no such invocation, or it is of another skill.
    """
    name = str(fields["invocation_id"])
    before = store.find(name) or store.find(stored_id(name))
    if before is None:
        raise UsageError(f"there is no invocation {printable(name)}; list their ids with `skillgate log list`")
    skill = fields.get("skill_name", fields.get("skill"))
    if skill is not None and before.skill_name not in (skill, skill_name(str(skill), keep_text=False)):
        raise UsageError(f"the invocation {printable(name)} is one of {printable(before.skill_name)}")
    own = {"skill_name": "same", "invocation_id": "same"}  # what is stored may be texts, which were asked for
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


def _read(data: dict[str, Any], request: AddRequest, session: Session) -> Invocation:
    try:
        line = json.dumps(data).encode()
    except RecursionError:
        raise UsageError("this is no invocation: it is nested too deeply") from None
    options = Options(datetime.now(UTC), request.keep_text, request.category)
    for read in reader("jsonl")(iter([(1, line)]), options):
        for warning in read.warnings:
            session.note(warning)
        if read.invocation is not None:
            return read.invocation
        raise UsageError(f"this is no invocation: {read.problem}")
    raise UsageError("this is no invocation")
