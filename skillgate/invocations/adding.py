"""The word ``add`` of ``log``: one invocation as the command line says it, or more signals of one that is there."""

from __future__ import annotations

import json
import sys
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillgate.cli.log_options import rubric_of
from skillgate.errors import EXIT_PASSED, UsageError
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
    import argparse

    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore

_MOST = 1_000_000  # characters of an invocation
_IDENTITY = frozenset(("invocation_id", "skill_name", "source"))


def add(args: argparse.Namespace, session: Session) -> int:
    """Record one invocation.

    Raises:
        UsageError: it is not valid, one with its id says something else, or the store cannot be used.
        IncompleteError: the database failed.
    """
    target, _ = named_store(args.store, session)
    require_packages(target)
    given = _given(args)
    if args.update and "invocation_id" not in given:
        raise UsageError("--update adds to an invocation: say which with --id")
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    rubric = rubric_of(args, session)
    store = open_invocations(target, create=not args.update)
    try:
        if args.update:
            scored, fate = _amended(given, store, args, session, rubric), Fate.UPDATED
        else:
            found = _new(given, args, session)
            scored = Scored(found, scorer(rubric)(found), digest_of(found))
            with store.importing(rubric, scorer(rubric)) as run:
                (fate,) = run.add([scored])
                if fate is Fate.CONFLICT:
                    message = "is in the store and says something else; --update adds to it"
                    raise UsageError(f"the invocation {found.invocation_id} {message}")
    finally:
        store.close()
    _tell(scored, fate, session)
    return EXIT_PASSED


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Put together what the words say.

    Raises:
        UsageError: something is no JSON, or no ``KEY=VALUE``.
    """
    found: dict[str, Any] = {}
    if args.invocation is not None:
        text = _piped() if args.invocation == "-" else args.invocation
        if len(text) > _MOST:
            raise UsageError(f"an invocation has up to {_MOST:,} characters")
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the invocation is no JSON: {str(error)[:200]}") from None
        if not isinstance(data, dict):
            raise UsageError("the invocation is no JSON object")
        found = data
    for word in args.set:
        _set(found, word)
    if args.skill is not None:
        found["skill_name"] = args.skill
    if args.id is not None:
        found["invocation_id"] = args.id
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


def _new(given: dict[str, Any], args: argparse.Namespace, session: Session) -> Invocation:
    if "skill_name" not in given and "skill" not in given:
        raise UsageError("say which skill was invoked, with --skill")
    made = {"timestamp": datetime.now(UTC).isoformat(), "invocation_id": str(uuid.uuid4())}
    return _read({**made, **given}, args, session)


def _amended(
    given: dict[str, Any], store: InvocationStore, args: argparse.Namespace, session: Session, rubric: str
) -> Scored:
    """Add what is given to an invocation that is in the store.

    Raises:
        UsageError: there is no such invocation, or it is of another skill.
    """
    name = str(given["invocation_id"])
    before = store.find(name) or store.find(stored_id(name))
    if before is None:
        raise UsageError(f"there is no invocation {printable(name)}; list their ids with `skillgate log list`")
    named = given.get("skill_name", given.get("skill"))
    if named is not None and before.skill_name not in (named, skill_name(str(named), keep_text=False)):
        raise UsageError(f"the invocation {printable(name)} is one of {printable(before.skill_name)}")
    own = {"skill_name": "same", "invocation_id": "same"}  # what is kept may be texts, which were asked for
    later = _read({"timestamp": before.timestamp.isoformat(), **given, **own}, args, session)
    fields = {name: value for name, value in later._asdict().items() if value is not None and name not in _IDENTITY}
    if "timestamp" not in given:
        del fields["timestamp"]
    if "extra" in fields:
        fields["extra"] = {key: value for key, value in fields["extra"].items() if key != SEEN_UNTIL}
    if not fields:
        raise UsageError("nothing would be added: null, interrupted and what is left out say nothing of an invocation")
    scored = store.amend(before.invocation_id, fields, rubric, scorer(rubric))
    if scored is None:
        raise UsageError(f"the invocation {before.invocation_id} was deleted meanwhile")
    return scored


def _read(data: dict[str, Any], args: argparse.Namespace, session: Session) -> Invocation:
    try:
        line = json.dumps(data).encode()
    except RecursionError:
        raise UsageError("this is no invocation: it is nested too deeply") from None
    options = Options(datetime.now(UTC), bool(args.keep_text), args.skill_category)
    for read in reader("jsonl")(iter([(1, line)]), options):
        for warning in read.warnings:
            session.note(warning)
        if read.invocation is not None:
            return read.invocation
        raise UsageError(f"this is no invocation: {read.problem}")
    raise UsageError("this is no invocation")


def _tell(scored: Scored, fate: Fate, session: Session) -> None:
    invocation, score = scored.invocation, scored.score
    if session.json:
        document = {"kind": "log-add", "invocation_id": invocation.invocation_id, "result": fate.value}
        document |= {"skill": invocation.skill_name, **score._asdict()}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
        return
    total = "not rated" if score.total is None else f"{score.total:.2f}"
    session.out(f"{printable(invocation.invocation_id)} {fate.value}: {total}, {100 * score.coverage:.0f} % observed")
