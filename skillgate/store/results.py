"""Which store a command uses, and what is written into it when it ends."""
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

    name: str | None = None  # what an option names, a path or a URL; None for the configuration's, else the default
    unused: bool = False  # whether no store is used at all


def named_store(name: str | None, session: Console) -> tuple[Target, bool]:
    """Return which store is meant, and whether it was named: by the option, the settings, else the default.

    Raises:
        UsageError: it is not valid.
    """
    from skillgate.files import require_place

    config = session.config
    url, path = config.get(settings.STORE_URL), config.get(settings.STORE)
    if name is not None:
        target, named = target_of(name, cwd=session.cwd), True
    elif url is not None:
        target, named = target_of(str(url), cwd=session.cwd), True
        if target.secrets:
            raise UsageError("store-url holds a password: keep it in ~/.pgpass or PGPASSWORD, and take it out there")
    elif path is not None:
        if "://" in str(path):
            raise UsageError(
                f"{config.origin(settings.STORE)}: store is a file's path; a URL is given with --store, or as store-url"
                " in your own configuration"
            )
        target, named = target_of(os.path.join(config.base(settings.STORE), str(path)), cwd=session.cwd), True
        target = target._replace(shown=str(path))
    else:
        target, named = target_of(DEFAULT, cwd=session.cwd), False
    if target.path is not None:
        require_place(target.path, session.cwd)
    return target, named


class Keeping:
    """What becomes of a run's report in the store; nothing where no store is wanted."""

    def __init__(self, target: Target | None, store: Store | None, session: Console) -> None:
        self._target, self._session = target, session
        self._store = store  # of PostgreSQL it is open already, a file is opened when the run has ended

    def keep(self, report: BenchReport) -> str | None:
        """Write a report; what to say where that failed: the report itself is written elsewhere, too."""
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
            return f"the results are not in the store, and skillgate history import takes the report in later: {error}"
        self._session.detail(f"kept in {self._target.shown}")
        return None


def keeping(choice: StoreChoice, session: Console) -> Keeping:
    """Make sure, before anything is run, that results can be kept where they are to be.

    Without the packages of the extra nothing is kept unless a store was named, and a note says so.

    Raises:
        UsageError: the store cannot be used.
    """
    if choice.unused:
        return Keeping(None, None, session)
    target, named = named_store(choice.name, session)
    if not named:
        missing = missing_package(target)
        if missing is not None:
            session.note(f"results are not kept: {missing} (--no-store says no more about it)")
            return Keeping(None, None, session)
    require_packages(target)
    if target.path is not None:
        require_file(target, create=True)  # without what a store needs: that is loaded when the run has ended
        return Keeping(target, None, session)
    from skillgate.store.keeper import open_store

    return Keeping(target, open_store(target, create=True), session)


def require_store(choice: StoreChoice, session: Console) -> None:
    """Make sure that a store which is named, or is there, can be used; nothing is made, and no server is asked.

    Raises:
        UsageError: it cannot.
    """
    if choice.unused:
        return
    target, named = named_store(choice.name, session)
    if named:
        require_packages(target)
    if target.path is not None and os.path.lexists(target.path):
        require_file(target, create=False)


def past_evaluations(choice: StoreChoice, session: Console, *, measured: bool) -> tuple[PastEvaluation, ...]:
    """Return the newest evaluations that the store holds; nothing where there is no store and none was named.

    With ``measured`` all of their results must have been measured.

    Raises:
        UsageError: a store that was named cannot be used.
        IncompleteError: it cannot be read.
    """
    if choice.unused:
        return ()
    target, named = named_store(choice.name, session)
    if not named:
        if target.path is None or not os.path.isfile(target.path):  # noqa: PTH113
            return ()
        missing = missing_package(target)
        if missing is not None:
            session.note(f"past results are not looked up: {missing} (--no-store says no more about it)")
            return ()
    require_packages(target)
    from skillgate.store.keeper import open_store

    store = open_store(target, create=False)
    try:
        return store.newest(measured=measured)
    finally:
        store.close()


def settled(code: int, problem: str | None, session: Console) -> int:
    """Put together how a run ended and what could not be kept: a gate that failed comes first.

    Raises:
        IncompleteError: the results could not be kept.
    """
    if problem is not None and code != EXIT_GATE_FAILED:
        raise IncompleteError(problem)
    if problem is not None:
        session.note(problem)
    return code


def _checked_out(session: Console) -> tuple[str | None, str | None]:
    """Name the commit and the branch of the working directory; a runner's variables say which branch it is about."""
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
    except IncompleteError:  # no git: what was evaluated is in the digests
        return None, branch
    return commit, branch
