"""Whether a corpus is what it says: its own, and one that arrives from somewhere else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.evaluation.corpus.folder import is_digest
from skillgate.evaluation.corpus.place import TOOL, require_index, store_of
from skillgate.evaluation.corpus.stored import content_digest
from skillgate.llm.extras import missing_extra
from skillgate.model.corpus import CorpusVerify
from skillgate.model.score import Badge
from skillgate.ranking.standings import identity, misfits, refused_by, resting_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.evaluation.corpus.folder import Matches, Store
    from skillgate.model.corpus import CorpusExport, CorpusIndex, Indexed, Played, SkillText
    from skillgate.session import Session

LONGEST = 2_000  # characters of a name, a category or a path
MOST_PAGES = 1_000  # of one skill; a search keeps 300 and those it takes for instructions
MOST_CHARACTERS = 16 << 20  # of one skill; a search keeps 8 MB beside the main file
_BADGES = frozenset(badge.value.lower() for badge in Badge)
_RESULTS = {("win", "win"): 1.0, ("draw", "draw"): 0.5, ("loss", "loss"): 0.0}
_ORDERS = ("win", "draw", "loss")


def verify(corpus_dir: str | None, session: Session) -> tuple[CorpusVerify, str]:
    """Look a corpus through, and return its folder too; what cannot be read at all is a defect.

    Raises:
        UsageError: there is no corpus.
        IncompleteError: numpy is not installed, and there are ratings to be computed again.
    """
    store = store_of(corpus_dir, session)
    if not store.exists:
        require_index(store)
    try:
        index, matches = require_index(store), store.matches()
    except UsageError as error:
        return CorpusVerify(tool=TOOL, members=0, matches=0, defects=(str(error),), notes=()), store.folder
    try:
        found = tuple(defects(store, index, matches))
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    verified = CorpusVerify(
        tool=TOOL,
        members=len(index.members),
        matches=len(matches.played),
        defects=found,
        notes=tuple(notes(index, matches)),
    )
    return verified, store.folder


def defects(store: Store, index: CorpusIndex, matches: Matches) -> Iterator[str]:
    """Yield what is wrong with a corpus: a sentence each, without the folder."""
    yield from skill_faults((*index.members, *index.former))
    for one in index.members:
        kept = store.text(one.digest)
        if kept is None:
            yield f"the text of {one.name} ({one.digest}) is missing or cannot be read"
        elif kept.digest != one.digest or content_digest(kept.pages) != one.digest:
            yield f"the text of {one.name} ({one.digest}) is another one than was indexed"
    yield from rating_faults(index, matches)


def rating_faults(index: CorpusIndex, matches: Matches) -> Iterator[str]:
    """Yield where ratings are not those that the matches give: a sentence each. Reads no text."""
    yield from matches.problems
    yield from match_faults(index, matches.played)
    read, source = (0, "") if index.fit is None else (index.fit.read, index.fit.source)
    refused = refused_by(index, matches.played[:read], source) if index.fit is not None else None
    for one in index.members:
        if not one.rateable and refused is not None and one.digest not in refused:
            yield f"{one.name} ({one.digest}) is marked as not rateable, and no two pairs without a verdict say so"
    if index.fit is not None and index.fit.read > len(matches.played):
        yield f"ratings were fitted to {index.fit.read} matches, of which {len(matches.played)} are left"
    else:
        for one, standing in misfits(index, matches.played):
            yield (
                f"{one.name} ({one.digest}) is rated {one.rating:.2f} by {one.matches} matches; its matches give"
                f" {standing.rating:.2f} by {standing.matches}"
            )


def notes(index: CorpusIndex, matches: Matches) -> Iterator[str]:
    """Yield what is worth knowing of a corpus and no defect."""
    if matches.torn:
        yield "the last match was not written to its end, as when a run is killed; it counts as not played"
    read = 0 if index.fit is None else index.fit.read
    for one in index.members:
        if not one.rateable:
            yield f"{one.name} ({one.digest}) is not rateable: its text keeps the judge from verdicts; nobody meets it"
    pairs = resting_on(index, matches.played)
    if brought := sum(one.origin != "" for one in pairs):
        yield f"{brought} of {len(pairs)} rated pairs are decided by imported matches"
    if len(matches.played) > read:
        yield f"{len(matches.played) - read} matches are not in the ratings yet: skillgate corpus rate counts them"


def skill_faults(skills: Sequence[Indexed]) -> Iterator[str]:
    """Yield what is wrong with entries of an index."""
    for digest, count in Counter(one.digest for one in skills).items():
        if count > 1:
            yield f"the skill {digest[:80]} stands there {count} times"
    for one in skills:
        if not is_digest(one.digest):
            yield f"{one.digest[:80]!r} is no digest"
        if max(len(one.name), len(one.path), len(one.category)) > LONGEST:
            yield f"the name, path or category of {one.digest[:80]} has more than {LONGEST:,} characters"
        if one.badge is not None and one.badge not in _BADGES:
            yield f"{one.badge[:80]!r} of {one.digest[:80]} is no badge"


def match_faults(index: CorpusIndex, played: Iterable[Played]) -> Iterator[str]:
    """Yield what is wrong with matches."""
    known = {one.digest for one in (*index.members, *index.former)}
    seen = set()
    for number, one in enumerate(played, start=1):
        unknown = [digest[:80] for digest in (one.first, one.second) if digest not in known]
        if unknown:
            yield f"match {number} is of {' and '.join(unknown)}, which the corpus does not have"
        if one.first >= one.second:
            yield f"match {number} does not name two skills in the order of their digests"
        if len(one.orders) != 2 or not set(one.orders) <= set(_ORDERS):
            yield f"match {number} does not say how both orders came out"
        elif (one.result, one.position_bias) != (_RESULTS.get(one.orders, 0.5), one.orders not in _RESULTS):
            yield f"match {number} has another result than its two orders give"
        if identity(one) in seen:
            yield f"match {number} stands there a second time"
        seen.add(identity(one))


def arrival_faults(document: CorpusExport) -> Iterator[str]:
    """Yield what is wrong with a corpus that somebody else has written."""
    from skillgate.model.corpus import CorpusIndex

    index = CorpusIndex(members=document.members, former=document.former)
    yield from skill_faults((*index.members, *index.former))
    texts = Counter(text.digest for text in document.texts)
    members = Counter(one.digest for one in document.members)
    if texts != members:
        yield "the texts are not those of the members, one each"
    for text in document.texts:
        yield from _text_faults(text)
    yield from match_faults(index, document.matches)
    for number, one in enumerate(document.matches, start=1):
        if max(map(len, (one.model, one.prompt_version, one.source))) > LONGEST:
            yield f"match {number} names a model, a version or a source with more than {LONGEST:,} characters"


def _text_faults(text: SkillText) -> Iterator[str]:
    said = text.digest[:80]
    if not 1 <= len(text.pages) <= MOST_PAGES:
        yield f"the text {said} has {len(text.pages)} pages; 1 to {MOST_PAGES:,} are taken"
    elif max(len(page.path) for page in text.pages) > LONGEST:
        yield f"a path in the text {said} has more than {LONGEST:,} characters"
    elif sum(len(page.text) for page in text.pages) > MOST_CHARACTERS:
        yield f"the text {said} has more than {MOST_CHARACTERS:,} characters"
    elif content_digest(text.pages) != text.digest:
        yield f"the text {said} has another digest than it says: {content_digest(text.pages)}"
