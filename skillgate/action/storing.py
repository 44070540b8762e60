"""Write what a run has found to a store: a file that actions/cache carries from run to run, or a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.checkout import require_untracked
from skillgate.errors import IncompleteError, UsageError
from skillgate.store.target import require_file, require_packages, target_of

if TYPE_CHECKING:
    from skillgate.action.checkout import Checkout
    from skillgate.action.outcome import Results
    from skillgate.action.session import ActionSession
    from skillgate.store.target import Target


def store_target(checkout: Checkout, address: str) -> Target:
    """Return the store that the input ``store`` names, before anything is run.

    Raises:
        UsageError: the store cannot be used, or a change could have filled it; or its address holds a password.
    """
    if "://" not in address:
        require_untracked(checkout, address, f"input store: {address}")
    target = target_of(address, cwd=checkout.workspace)
    if target.secrets:
        raise UsageError("input store: an address with a password is in the log; give the step PGPASSWORD under env")
    require_packages(target)
    if target.path is not None:
        require_file(target, create=True)
    return target


def write_results(results: Results, target: Target, head: str, session: ActionSession) -> str | None:
    """Write the reports of the commit ``head``, without secrets; return what to say where that failed."""
    from skillgate.model.codec import encode
    from skillgate.store.keeper import Told, document_digest, open_store  # brings in the database's packages

    branch = session.environ.get("GITHUB_HEAD_REF") or session.environ.get("GITHUB_REF_NAME") or None
    documents = [one for one in (results.report if results.report.results else None, results.bench) if one is not None]
    try:
        store = open_store(target, create=True)
        try:
            for one in map(session.redactor.clean_values, documents):
                store.write(one, document_digest(encode(one)), Told("action", None, head or None, branch))
        finally:
            store.close()
    except (IncompleteError, UsageError) as error:
        return f"the results could not be kept: {error}"
    return None
