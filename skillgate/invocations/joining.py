"""Read the invocations of another store, to import them; nothing is written to it."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.invocations.formats import Place, digest_of
from skillgate.invocations.formats._input import fit_name, is_label, is_model, sifted, skill_name, stored_id
from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import Read, Scored
from skillgate.store.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.invocations.records import ImportRequest
    from skillgate.model.invocation import Invocation
    from skillgate.store.invocations import InvocationStore

FORM = "store"


@contextmanager
def joined(shown: str, path: str, request: ImportRequest) -> Iterator[Iterator[Place]]:
    """Open a copy of another store, such as one that a CI run left, since opening may upgrade its schema.

    Raises:
        UsageError: it is not a store.
        IncompleteError: it contains values that skillgate did not write.
    """
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    with tempfile.TemporaryDirectory(prefix="skillgate-") as folder:
        copy = os.path.join(folder, "store.db")
        try:
            is_open = os.path.lexists(f"{path}-wal")  # else nothing may be written next to it
            place = f"{Path(path).as_uri()}?{'mode=ro' if is_open else 'immutable=1'}"
            with closing(sqlite3.connect(place, uri=True)) as own, closing(sqlite3.connect(copy)) as other:
                own.backup(other)
        except sqlite3.Error as error:
            raise UsageError(f"cannot read {shown}: {error}") from None
        source = open_invocations(Target(shown, copy), create=False)
        try:
            yield _places(source, request)
        finally:
            source.close()


def _places(source: InvocationStore, request: ImportRequest) -> Iterator[Place]:
    """Yield the invocations of another store, each with its origin unless a label is to replace it."""
    rate, keep_text = scorer(request.rubric), request.keep_text
    for number, one, digest, origin, added in source.joinable():
        found = one if keep_text else _without_text(one)
        own = {**found._asdict(), "extra": sifted(tuple((added.get("extra") or {}).items()), text=keep_text)[0]}
        fields = {name: own[name] for name, value in added.items() if own[name] is not None or value is None}
        scored = Scored(
            found,
            rate(found),
            digest if found == one else digest_of(found),
            None if request.project is not None or (origin is not None and not fit_name(origin)) else origin,
            fields or None,
        )
        yield Place(Read(number, found, unit="invocation"), scored)


def _without_text(one: Invocation) -> Invocation:
    """Remove from an invocation what may be a user's words, as the readers of recordings do."""
    names = ("skill_version", "skill_category", "session_id", "output_type", "model")
    fits = {name: is_model if name == "model" else is_label for name in names}
    found = {name: getattr(one, name) for name in names}
    odd: dict[str, Any] = {name: None for name, text in found.items() if text is not None and not fits[name](text)}
    return one._replace(
        invocation_id=stored_id(one.invocation_id),
        skill_name=skill_name(one.skill_name, keep_text=False),
        source=one.source if is_label(one.source) else FORM,
        extra=sifted(tuple((one.extra or {}).items()), text=False)[0],
        **odd,
    )
