"""Export a corpus as one document, and import one that anybody may have written."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.evaluation.corpus.checking import arrival_faults
from skillgate.evaluation.corpus.encoding import decoded, document, loaded, read_bytes
from skillgate.evaluation.corpus.entrants import joined
from skillgate.evaluation.corpus.listing import CorpusChange
from skillgate.evaluation.corpus.place import TOOL, require_index, rerated, store_of
from skillgate.evaluation.corpus.stored import content_digest
from skillgate.files import write
from skillgate.model.corpus import CORPUS_VERSION, LIVE, CorpusExport, CorpusIndex, Indexed
from skillgate.model.text import printable
from skillgate.ranking.standings import identity, resting_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.evaluation.corpus.folder import Store
    from skillgate.model.corpus import Played, SkillText
    from skillgate.session import Session

_MOST_FAULTS = 10
_ORIGIN = 200  # characters that are kept of a file's name


def export(file: str, corpus_dir: str | None, session: Session) -> CorpusExport:
    """Write a whole corpus to a file: skills with their texts, matches, ratings.

    Raises:
        UsageError: there is no corpus, it is broken, or the file cannot be written.
    """
    store = store_of(corpus_dir, session)
    index, matches = require_index(store), store.matches()
    if matches.problems:
        raise UsageError(f"{matches.problems[0]}: skillgate corpus verify lists what is wrong")
    exported = CorpusExport(
        tool=TOOL,
        members=tuple(map(_shareable, index.members)),
        former=tuple(map(_shareable, index.former)),
        texts=tuple(_text(store, one) for one in index.members),
        matches=tuple(one._replace(origin="") for one in matches.played),
        fit=index.fit,
    )
    write(file, document(exported, indent=1), cwd=session.cwd)
    return exported


def import_file(file: str, corpus_dir: str | None, session: Session) -> CorpusChange:
    """Check a document, take it in as a whole or not at all, and rate anew.

    Raises:
        UsageError: it is no such document, or something is wrong with it or with the corpus that is there.
        IncompleteError: another run writes the corpus, or a package is missing.
    """
    arriving = _read(file, session)
    store = store_of(corpus_dir, session, writes=True)
    with store.writing():
        before = store.index() or CorpusIndex()
        known = {identity(one) for one in store.matches().played}
        origin = printable(os.path.basename(file))[:_ORIGIN] or "a document"  # noqa: PTH119
        fresh = [one._replace(origin=origin) for one in arriving.matches if identity(one) not in known]
        index = joined(before, CorpusIndex(members=arriving.members, former=arriving.former))
        for text in arriving.texts:
            store.put_text(text)
        store.put_index(index)  # before the matches, which refer to it
        store.add(fresh)
        played = store.matches().played
        if played:
            index = rerated(index, played, _source(before, played))
        store.put_index(index)
    pairs = resting_on(index, played)
    brought = sum(one.origin != "" for one in pairs)
    taken = f"{len(index.members) - len(before.members)} skills and {len(fresh)} matches taken in"
    now = f"{len(index.members)} skills in {printable(store.folder)}, rated by the matches of both"
    lines = [f"{taken}; {now}"]
    if fresh and pairs:
        lines.append(
            f"imported matches decide {brought} of {len(pairs)} rated pairs; what was played here decides its own"
        )
    return CorpusChange.of(lines, index)


def _read(name: str, session: Session) -> CorpusExport:
    """Read a document and make sure that it is what it says.

    Raises:
        UsageError: it is not, with the first few reasons.
    """
    data = read_bytes(os.path.join(session.cwd, name))  # noqa: PTH118
    if data is None:
        raise UsageError(f"{name} does not exist")
    found = decoded(CorpusExport, loaded(data, name), name)
    if found.corpus_version != CORPUS_VERSION:
        raise UsageError(f"{name} is of version {found.corpus_version}, and this program reads {CORPUS_VERSION}")
    faults = list(islice(arrival_faults(found), _MOST_FAULTS))
    if faults:
        raise UsageError("\n".join([f"{name} is not taken in:", *(f"  {fault}" for fault in faults)]))
    return found


def _source(before: CorpusIndex, played: Sequence[Played]) -> str:
    """Return whose verdicts rate the corpus: a real model's where there are any, else those that did."""
    sources = {one.source for one in played}
    if LIVE in sources:
        return LIVE
    return min(sources) if before.fit is None else before.fit.source


def _text(store: Store, one: Indexed) -> SkillText:
    """Return a member's text.

    Raises:
        UsageError: it is gone, or another one.
    """
    text = store.text(one.digest)
    if text is None or content_digest(text.pages) != one.digest:
        raise UsageError(f"the text of {one.name} is gone or changed: skillgate corpus verify lists what is wrong")
    return text


def _shareable(one: Indexed) -> Indexed:
    """Leave out where a skill lies on this machine: a path from the root shows its last part alone."""
    is_inside = not os.path.isabs(one.path) and not one.path.startswith(("..", "~"))  # noqa: PTH117
    return one._replace(
        origin="", path=one.path if is_inside else one.path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    )
