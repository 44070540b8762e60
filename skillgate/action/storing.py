"""Keeps what a run has found in a store: a file that actions/cache carries from run to run, or a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.models import require_own
from skillgate.errors import IncompleteError, UsageError
from skillgate.store.target import require_file, require_packages, target_of

if TYPE_CHECKING:
    from skillgate.action.context import Stand
    from skillgate.action.listening import Listening
    from skillgate.action.run import Evaluated
    from skillgate.store.target import Target


def prepared(stand: Stand, session: Listening) -> Target | None:
    """Make sure, before anything is run, that results can be kept; None where nobody asks for it.

    Raises:
        UsageError: the store cannot be used, or a change could have filled it; or its address holds a password.
    """
    given = stand.inputs["store"]
    if not isinstance(given, str):
        return None
    if "://" not in given:
        require_own(stand, session.cwd, f"input store: {given}", given)
    target = target_of(given, cwd=session.cwd)
    if target.secrets:
        raise UsageError("input store: an address with a password is in the log; give the step PGPASSWORD under env")
    require_packages(target)
    if target.path is not None:
        require_file(target, create=True)
    return target


def keep(found: Evaluated, target: Target, stand: Stand, session: Listening) -> str | None:
    """Write the reports of the head, without secrets; what to say where that failed."""
    from skillgate.model.codec import encode
    from skillgate.store.keeper import Told, document_digest, open_store  # brings in the database's packages

    branch = session.environ.get("GITHUB_HEAD_REF") or session.environ.get("GITHUB_REF_NAME") or None
    clean = session.redactor.clean_values if session.redactor is not None else lambda value: value
    documents = [one for one in (found.report if found.report.results else None, found.bench) if one is not None]
    try:
        store = open_store(target, create=True)
        try:
            for one in map(clean, documents):
                store.write(one, document_digest(encode(one)), Told("action", None, stand.base.head or None, branch))
        finally:
            store.close()
    except (IncompleteError, UsageError) as error:
        return f"the results could not be kept: {error}"
    return None
