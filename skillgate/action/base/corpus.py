"""The corpus that skills are ranked against, as the base of a change has it: a change brings no opponents."""
# ruff: noqa: PTH102, PTH118, PTH123

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.corpus.folder import Store, place_of
from skillgate.files import toplevel
from skillgate.model.text import printable
from skillgate.skill.git import changes, is_tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.action.checkout import Checkout
    from skillgate.action.context import RunContext
    from skillgate.action.session import ActionSession
    from skillgate.config import Config
    from skillgate.config_file import Files

MAX_BYTES = 256_000_000  # of a whole corpus: a thousand skills of 100 KB are less than half of it
_KEY = settings.CORPUS_DIR.key
_INDEX, _MATCHES, _TEXTS = "index.json", "matches.jsonl", "texts"


@contextmanager
def with_base_corpus(context: RunContext, session: ActionSession) -> Iterator[Config]:
    """Choose the configuration with the corpus that holds: of a change, that of its base, in a directory of its own.

    A corpus outside of the repository, or one in it that git does not know (a step before has put it there), is used
    as it is. One that only the change brings is not used, and that is noted.

    Raises:
        UsageError: it lies behind a link, or in a repository inside of this one, or is broken or too large.
        IncompleteError: git fails.
    """
    place = _place(context, session.environ)
    below = None if context.base.commit is None or not place else _below(context.checkout, place)
    if below is None:
        yield context.config
        return
    with tempfile.TemporaryDirectory(prefix="skillgate-corpus-") as folder:
        if context.files.tip.is_file(os.path.join(place, _INDEX)):
            _copy(context.files.tip, place, folder, below)
        elif is_tracked(context.checkout.top, below):
            is_gone = context.files.is_removed(os.path.join(place, _INDEX))
            why = (
                "is no longer in the base branch; nothing is ranked against it"
                if is_gone
                else "comes with this change; skills are ranked against it after the merge"
            )
            session.note(f"the corpus {printable(below)} {why}")
        else:
            _require_own(context.checkout, place, below)
            yield context.config
            return
        yield context.config.with_options({_KEY: folder})


def corpus_changes(context: RunContext, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Say what a change does to the corpus, in at most one sentence; it holds after the merge.

    Raises:
        UsageError: the corpus lies where it must not.
        IncompleteError: git fails.
    """
    place = _place(context, environ)
    below = None if context.base.commit is None or not place else _below(context.checkout, place)
    if below is None:
        return ()
    start = "" if below == "." else f"{below}/"
    touched = [
        path for path in changes(context.checkout.top, context.base.commit, committed=True) if path.startswith(start)
    ]
    if not touched:
        return ()
    return (f"{_KEY} {below}: {len(touched)} file{'s' * (len(touched) != 1)} of the corpus changed",)


def _place(context: RunContext, environ: Mapping[str, str]) -> str:
    """Return where the corpus lies, ``""`` where nobody names a place: the system's own is none that a change fills."""
    folder = context.config.get(settings.CORPUS_DIR)
    return "" if folder is None else place_of(environ, folder, context.config.base(settings.CORPUS_DIR))


def _below(checkout: Checkout, place: str) -> str | None:
    """Return a place in the repository relative to its top, with ``/``; None for one outside.

    Raises:
        UsageError: it is outside by its name, and a link leads into the repository.
    """
    top, real = os.path.realpath(checkout.top), os.path.realpath(place)
    for one in (checkout.top, top, checkout.workspace):
        if place == one or place.startswith(one.rstrip(os.sep) + os.sep):
            return os.path.relpath(place, one if one != checkout.workspace else checkout.top).replace(os.sep, "/")
    if real == top or real.startswith(top.rstrip(os.sep) + os.sep):
        raise UsageError(f"{_KEY} {_shown(place)} leads into the repository by a link: name the place itself")
    return None


def _require_own(checkout: Checkout, place: str, below: str) -> None:
    """Refuse what git does not know where the change may have brought it all the same.

    Raises:
        UsageError: it lies behind a link, or another repository's files are in its place.
    """
    real = os.path.realpath(place)
    if real != os.path.normpath(os.path.join(os.path.realpath(checkout.top), below)):
        raise UsageError(f"{_KEY} {_shown(below)} lies behind a symbolic link, which a change may have made")
    if os.path.lexists(real) and toplevel(real) not in (None, checkout.top, os.path.realpath(checkout.top)):
        raise UsageError(f"{_KEY} {_shown(below)} lies in a repository inside of this one, which a change may choose")


def _copy(files: Files, place: str, folder: str, shown: str) -> None:
    """Write index, matches and texts of a corpus in a commit to a directory; a text that is missing is left out.

    Raises:
        UsageError: the index is broken, or there is too much.
    """
    left = _write(files, os.path.join(place, _INDEX), os.path.join(folder, _INDEX), MAX_BYTES)
    try:
        index = Store(folder).index()
    except UsageError as error:
        raise UsageError(str(error).replace(folder, _shown(shown))) from None
    if files.is_file(os.path.join(place, _MATCHES)):
        left = _write(files, os.path.join(place, _MATCHES), os.path.join(folder, _MATCHES), left)
    os.mkdir(os.path.join(folder, _TEXTS))
    for member in index.members if index else ():
        name = os.path.join(_TEXTS, f"{member.digest}.json")
        if files.is_file(os.path.join(place, name)):
            left = _write(files, os.path.join(place, name), os.path.join(folder, name), left)


def _write(files: Files, place: str, to: str, left: int) -> int:
    data = files.read(place, left + 1)
    if len(data) > left:
        raise UsageError(f"the corpus in the base of the change has more than {MAX_BYTES:,} bytes")
    with open(to, "wb") as file:
        file.write(data)
    return left - len(data)


def _shown(path: str) -> str:
    return printable(path)[:120]
