"""Choose the store of a command, and write and read its results."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.errors import EXIT_GATE_FAILED, IncompleteError, UsageError
from skillgate.store.target import DEFAULT, missing_package, require_file, require_packages, target_of

if TYPE_CHECKING:
    from skillgate.console import Console
    from skillgate.model.bench import BenchReport
    from skillgate.model.documents import PastEvaluation
    from skillgate.store.keeper import Store
    from skillgate.store.target import Target


class StoreChoice(NamedTuple):
    """Which store a command uses."""

    name: str | None = None  # path or URL of an option; None: from the configuration, else the default
    unused: bool = False  # whether to use no store


def named_store(name: str | None, session: Console) -> tuple[Target, bool]:
    """Return the store of the option, the settings or the default, and whether it was named explicitly.

    Raises:
        UsageError: It is not valid.
    """
    from skillgate.files import require_place

    config = session.config
    url, path = config.get(settings.STORE_URL), config.get(settings.STORE)
    if name is not None:
        target, named = target_of(name, cwd=session.cwd), True
    elif url is not None:
        target, named = target_of(str(url), cwd=session.cwd), True
        if target.secrets:
            raise UsageError("store-url contains a password; remove it and use ~/.pgpass or PGPASSWORD")
    elif path is not None:
        if "://" in str(path):
            raise UsageError(
                f"{config.origin(settings.STORE)}: store must be a file path; for a URL use --store, or store-url in"
                " your user configuration"
            )
        target, named = target_of(os.path.join(config.base(settings.STORE), str(path)), cwd=session.cwd), True
        target = target._replace(shown=str(path))
    else:
        target, named = target_of(DEFAULT, cwd=session.cwd), False
    if target.path is not None:
        require_place(target.path, session.cwd)
    return target, named


class Keeping:
    """Writes the report of a run into the store, if there is one."""

    def __init__(self, target: Target | None, store: Store | None, session: Console) -> None:
        self._target, self._session = target, session
        self._store = store  # PostgreSQL is open already; a file is opened after the run

    def keep(self, report: BenchReport) -> str | None:
        """Store a report; return the problem if that fails, since the report is also written elsewhere."""
        if self._target is None:
            return None
        from skillgate.model.codec import encode
        from skillgate.store.keeper import Provenance, document_digest, open_store

        commit, branch = _checked_out(self._session)
        try:
            store = self._store or open_store(self._target, create=True)
            try:
                store.write(report, document_digest(encode(report)), Provenance("eval", None, commit, branch))
            finally:
                store.close()
        except (IncompleteError, UsageError) as error:
            return f"results not saved in the store (import the report later with skillgate history import): {error}"
        self._session.detail(f"saved in {self._target.shown}")
        return None


def keeping(choice: StoreChoice, session: Console) -> Keeping:
    """Check before the run that results can be stored.

    If packages are missing and no store was named, nothing is stored, and a note is printed.

    Raises:
        UsageError: The store is unusable.
    """
    if choice.unused:
        return Keeping(None, None, session)
    target, named = named_store(choice.name, session)
    if not named:
        missing = missing_package(target)
        if missing is not None:
            session.note(f"results not saved: {missing} (use --no-store to hide this message)")
            return Keeping(None, None, session)
    require_packages(target)
    if target.path is not None:
        require_file(target, create=True)  # packages are imported after the run
        return Keeping(target, None, session)
    from skillgate.store.keeper import open_store

    return Keeping(target, open_store(target, create=True), session)


def require_store(choice: StoreChoice, session: Console) -> None:
    """Check a named or existing store without creating it or connecting to a server.

    Raises:
        UsageError: It is unusable.
    """
    if choice.unused:
        return
    target, named = named_store(choice.name, session)
    if named:
        require_packages(target)
    if target.path is not None and os.path.lexists(target.path):
        require_file(target, create=False)


def past_evaluations(choice: StoreChoice, session: Console, *, measured: bool) -> tuple[PastEvaluation, ...]:
    """Return the newest stored evaluations; nothing if there is no store and none was named.

    With ``measured``, only those without unmeasured results.

    Raises:
        UsageError: A named store is unusable.
        IncompleteError: It cannot be read.
    """
    if choice.unused:
        return ()
    target, named = named_store(choice.name, session)
    if not named:
        if target.path is None or not os.path.isfile(target.path):  # noqa: PTH113
            return ()
        missing = missing_package(target)
        if missing is not None:
            session.note(f"past results not used: {missing} (use --no-store to hide this message)")
            return ()
    require_packages(target)
    from skillgate.store.keeper import open_store

    store = open_store(target, create=False)
    try:
        return store.newest(measured=measured)
    finally:
        store.close()


def settled(code: int, problem: str | None, session: Console) -> int:
    """Combine a run's exit code with a problem of storing results; a failed gate takes precedence.

    Raises:
        IncompleteError: The results could not be stored.
    """
    if problem is not None and code != EXIT_GATE_FAILED:
        raise IncompleteError(problem)
    if problem is not None:
        session.note(problem)
    return code


def _checked_out(session: Console) -> tuple[str | None, str | None]:
    """Return commit and branch of the working directory; on a runner, the branch is from its variables."""
    from skillgate.files import toplevel
    from skillgate.skill.git import commit_of, git

    environ = session.environ
    branch = environ.get("GITHUB_HEAD_REF") or environ.get("GITHUB_REF_NAME") or None
    try:
        top = toplevel(session.cwd)
        commit = None if top is None else commit_of(top, "HEAD")
        if top is not None and branch is None:
            done = git(top, "symbolic-ref", "--quiet", "--short", "HEAD")
            branch = done.stdout.decode("utf-8", "replace").strip() or None
    except IncompleteError:  # no git; the digests identify what was evaluated
        return None, branch
    return commit, branch
