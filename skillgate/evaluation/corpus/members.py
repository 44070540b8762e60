"""The members of a corpus: build, list, export and import them."""
# ruff: noqa: PTH117, PTH118

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cache import Cache, directory
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.corpus.store import (
    TOOL,
    Matches,
    Store,
    arrival_faults,
    content_digest,
    document,
    is_below,
    origin_of,
    read_bytes,
    read_document,
    require_index,
    rerated,
    store_of,
)
from skillgate.evaluation.request import ModelOptions
from skillgate.files import write
from skillgate.format import did_you_mean, printable
from skillgate.judge.dossier import gather, inside
from skillgate.judge.siblings import listed
from skillgate.model.corpus import (
    CORPUS_VERSION,
    LIVE,
    CorpusExport,
    CorpusIndex,
    CorpusList,
    CorpusShow,
    Indexed,
    ListedSkill,
    PageText,
    Played,
    ShownMatch,
    ShownSkill,
    SkillText,
)
from skillgate.model.score import Badge
from skillgate.model.setting import Value
from skillgate.model.skill import Skill, SkillRoot, SkillSource, Unreadable, digest
from skillgate.ranking import MEDIAN
from skillgate.ranking.corpus import Entrant, Member, Text, identity, resting_on
from skillgate.skill import frontmatter
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.skill.tree import DiskTree
from skillgate.static.text import needs_no_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.model.report import SkillResult

_BADGES = tuple(badge.value.lower() for badge in reversed(Badge))
_LEAST_DIGITS = 6
_MOST_FAULTS = 10
_ORIGIN = 200  # characters stored of a file name


class BuildRequest(NamedTuple):
    """Update a corpus from the skills in some directories."""

    corpus_dir: str | None  # the directory of the corpus; None for that of the configuration
    paths: tuple[str, ...]  # directories, or skills
    min_badge: str | None  # skills with a lower one are left out
    replace: bool  # whether to remove all members that are not found now
    cached: bool  # whether to use and fill the cache of scores


class RateRequest(NamedTuple):
    """Compare the skills of a corpus with one another."""

    corpus_dir: str | None  # the directory of the corpus; None for that of the configuration
    options: Mapping[str, Value]  # settings given as options, by key
    models: ModelOptions


class CorpusChange(NamedTuple):
    """The result of a command on a corpus."""

    lines: tuple[str, ...]  # a description
    members: CorpusList  # the current members
    complete: bool = True  # whether all of it was done
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, lines: Iterable[str], index: CorpusIndex, *, complete: bool = True, notes: Iterable[str] = ()
    ) -> CorpusChange:
        """Return it with the members of an index."""
        return cls(tuple(lines), _listing(index), complete, tuple(notes))


class Candidate(NamedTuple):
    """A found skill that may become a member; fields as in :class:`~skillgate.model.corpus.Indexed`."""

    entrant: Entrant
    path: str
    origin: str
    composite: float | None
    badge: str | None


class Built(NamedTuple):
    """An index after a search, with counts of skills."""

    corpus: CorpusIndex  # current and former members; ratings are unchanged
    added: int  # a returning member gets its rating and matches back
    stayed: int  # found, and already members
    changed: int  # new text in the same place
    dropped: int  # removed members, without the changed ones
    doubles: int  # found with the same text as another one


class ListedMember(NamedTuple):
    """A member as a client lists it: name, description (with ``when_to_use``), and the text that a model loads."""

    name: str
    description: str
    body: str


class _Search(NamedTuple):
    """The result of a search."""

    candidates: tuple[Candidate, ...]  # by path
    lesser: int  # number of skills below the badge
    unread: frozenset[str]  # unreadable places
    complete: bool


class StoredCorpus:
    """A corpus on disk, as in its current index; a :class:`~skillgate.ranking.corpus.Corpus`.

    Attributes:
        digest: of members and ratings.
        members: all of them, by name and digest.
        store, index: its files, and its index.
    """

    def __init__(self, store: Store, index: CorpusIndex) -> None:
        """Store the files and their index."""
        self.store = store
        self.index = index
        self.members = tuple(sorted(map(member, index.members), key=lambda one: (one.name, one.digest)))
        self.digest = ratings_digest(self.members)

    def entrant(self, member: Member) -> Entrant | None:
        """Return a member with its text; None if its text is missing or changed."""
        text = self.store.text(member.digest)
        if text is None or not text.pages or content_digest(text.pages) != member.digest:
            return None
        pages = tuple(Text(page.path, page.text) for page in text.pages)
        return Entrant(member.name, member.digest, member.category, member.lines, pages)


def open_corpus(folder: str) -> StoredCorpus | None:
    """Read the corpus in a directory; None if there is none.

    Raises:
        UsageError: it is broken.
    """
    store = Store(folder)
    index = store.index() if folder else None
    if index is None:
        return None
    digests = [one.digest for one in index.members]
    if len(set(digests)) != len(digests):
        raise UsageError(f"the corpus in {folder} has a duplicate skill; run skillgate corpus verify")
    return StoredCorpus(store, index)


def siblings(corpus: StoredCorpus) -> Iterator[ListedMember]:
    """Yield the members that a client lists next to a single skill, by name.

    Members that a model does not see, or without description or text, are left out.
    """
    for one in corpus.members:
        entrant = corpus.entrant(one)
        parts = None if entrant is None else frontmatter.split(entrant.pages[0].text)
        if entrant is None or parts is None or parts.yaml is None:
            continue
        head = frontmatter.parse(parts.yaml)[0]
        description = listed(head.text("description"), head.text("when_to_use"))
        root: SkillRoot | None = None  # it has no place; only its frontmatter is used
        if description and not needs_no_trigger(Skill(root, head)):  # type: ignore[arg-type]
            yield ListedMember(entrant.name, description, parts.body)


def member(indexed: Indexed) -> Member:
    """Return what matches need of a skill in the index."""
    return Member(**{name: getattr(indexed, name) for name in Member._fields})


def ratings_digest(members: Iterable[Member]) -> str:
    """Return the digest of members and ratings; matches with equal digests are comparable."""
    parts = sorted(f"{one.digest} {one.rating!r} {one.matches}{'' if one.rateable else ' -'}" for one in members)
    return digest(*(part.encode("ascii") for part in parts))


def entrant_of(source: SkillSource) -> Entrant | None:
    """Return a skill as used in matches; None if there is nothing to score."""
    skill = parse(source)
    if skill.unscored is not None:
        return None
    documents = {inside(skill, document.file): document for document in skill.documents}
    pages = tuple(Text(page.path, page.text) for page in gather(skill, documents).pages)
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    return Entrant(
        name=skill.frontmatter.text("name") or source.root.name,
        digest=content_digest(pages),
        category=category.strip() if isinstance(category, str) else "",
        lines=skill.lines,
        pages=pages,
    )


def text_of(entrant: Entrant) -> SkillText:
    """Return the stored text of a skill."""
    return SkillText(entrant.digest, tuple(PageText(page.path, page.text) for page in entrant.pages))


def build(request: BuildRequest, session: Console) -> CorpusChange:
    """Search and score skills, and index them with their texts.

    Raises:
        UsageError: a path is not valid, no skill was found, or the corpus is broken.
        IncompleteError: another run is writing the corpus.
    """
    store = store_of(request.corpus_dir, session, writes=True)
    before = store.index() or CorpusIndex()
    search = _search(request, session, store)
    tops = [os.path.join(session.cwd, path) for path in request.paths]

    def leaves(origin: str) -> bool:  # where nothing was found, not where the search failed
        if origin in search.unread or not search.complete:
            return False
        return request.replace or any(is_below(store.folder, origin, top) for top in tops)

    with store.writing():
        index = store.index() or before
        played = frozenset(digest for one in store.matches().played for digest in (one.first, one.second))
        done = built(index, search.candidates, is_gone=leaves, played=played)
        for candidate in search.candidates:
            store.put_text(text_of(candidate.entrant))
        store.put_index(done.corpus)
        store.keep_texts(one.digest for one in done.corpus.members)
    lines = _summary(done, search, request, store)
    return CorpusChange.of(lines, done.corpus, complete=search.complete and not search.unread)


def _search(request: BuildRequest, session: Console, store: Store) -> _Search:
    """Find and score the skills."""
    discovery = discover(request.paths, cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    if not discovery.roots:
        where = ", ".join(request.paths)
        raise UsageError(f"no skill found in {where}: a skill is a directory with a SKILL.md; the corpus is unchanged")
    sources: list[SkillSource] = []
    unread: set[str] = set()
    for root in discovery.roots:
        source = read(root)
        if isinstance(source, Unreadable):
            session.note(f"left out {root.path}: {source.reason}")
            unread.add(_origin(store, root))
        else:
            sources.append(source)
    candidates, lesser = [], 0
    for source, result in zip(sources, _scored(sources, request, session), strict=True):
        entrant = None if result.composite.score is None else entrant_of(source)
        badge = None if result.composite.badge is None else result.composite.badge.value.lower()
        path, least = str(source.root.path), request.min_badge
        if entrant is None:
            session.note(f"left out {path}: {result.composite.reason or 'there is nothing to score'}")
        elif least is not None and (badge is None or _BADGES.index(badge) < _BADGES.index(least)):
            lesser += 1
            session.detail(f"left out {path}: its badge is {badge or 'none'}")
        else:
            candidates.append(Candidate(entrant, path, _origin(store, source.root), result.composite.score, badge))
    return _Search(tuple(candidates), lesser, frozenset(unread), discovery.complete)


def _scored(sources: Sequence[SkillSource], request: BuildRequest, session: Console) -> tuple[SkillResult, ...]:
    folder = directory(session.environ) if request.cached else ""
    assessor = pipeline.Assessor(Cache(folder, now=time.time) if folder else None, optional=False)
    evaluator = pipeline.Evaluator(assessor.assess, assessor.across, detail=False)
    results = pipeline.evaluate(sources, evaluator).report.results
    assessor.close()
    if assessor.failure is not None:
        session.note(assessor.failure)
    return results


def _origin(store: Store, root: SkillRoot) -> str:
    tree = root.tree
    if not isinstance(tree, DiskTree):
        raise UsageError(f"{str(root.path)!r} is in a commit; build a corpus from directories on disk")
    return origin_of(store.folder, os.path.join(tree.root, root.directory))


def built(
    index: CorpusIndex, candidates: Sequence[Candidate], *, is_gone: Callable[[str], bool], played: Collection[str]
) -> Built:
    """Update an index with the found skills.

    Args:
        index: the old index.
        candidates: the found skills, by path; of equal ones the first becomes the member.
        is_gone: whether a member of this origin, where nothing was found, must be removed.
        played: the digests of all skills with a match; only these are remembered as former members.
    """
    before = {one.digest: one for one in (*index.former, *index.members)}
    members = {one.digest: one for one in index.members}
    found: dict[str, Indexed] = {}
    for candidate in candidates:
        found.setdefault(candidate.entrant.digest, _indexed(candidate, before.get(candidate.entrant.digest)))
    staying = {digest: one for digest, one in members.items() if digest not in found}
    origins = {candidate.origin for candidate in candidates}
    leaving = {digest for digest, one in staying.items() if one.origin in origins or is_gone(one.origin)}
    now = {**{digest: one for digest, one in staying.items() if digest not in leaving}, **found}
    left_origins = {members[digest].origin for digest in leaving}
    changed = {digest for digest, one in found.items() if digest not in members and one.origin in left_origins}
    replaced = {found[digest].origin for digest in changed}
    former = (one for key, one in before.items() if key not in now and key in played)
    return Built(
        corpus=_index(index, now.values(), former),
        added=len(found.keys() - members.keys() - changed),
        stayed=len(found.keys() & members.keys()),
        changed=len(changed),
        dropped=sum(1 for digest in leaving if members[digest].origin not in replaced),
        doubles=len(candidates) - len(found),
    )


def _index(index: CorpusIndex, members: Iterable[Indexed], former: Iterable[Indexed]) -> CorpusIndex:
    members, former = (sorted(ones, key=lambda one: (one.name, one.digest)) for ones in (members, former))
    return CorpusIndex(members=tuple(members), former=tuple(former), fit=index.fit, provoked=index.provoked)


def _indexed(candidate: Candidate, before: Indexed | None) -> Indexed:
    entrant = candidate.entrant
    fresh = Indexed(
        name=entrant.name,
        digest=entrant.digest,
        path=candidate.path,
        category=entrant.category,
        lines=entrant.lines,
        composite=candidate.composite,
        badge=candidate.badge,
        origin=candidate.origin,
    )
    return fresh if before is None else _rated_as(fresh, before)


def _rated_as(one: Indexed, other: Indexed) -> Indexed:
    return one._replace(rating=other.rating, matches=other.matches, anchor=other.anchor, rateable=other.rateable)


def _summary(done: Built, search: _Search, request: BuildRequest, store: Store) -> Iterator[str]:
    members = len(done.corpus.members)
    yield (
        f"{members} skill{'s' * (members != 1)} in {printable(store.folder)}: {done.added} added, {done.stayed}"
        f" unchanged, {done.changed} changed, {done.dropped} removed"
    )
    if search.lesser:
        yield f"{search.lesser} left out: badge below {request.min_badge}"
    if done.doubles:
        yield f"{done.doubles} with the same text as another skill; it counts once"
    if not search.complete:
        yield "not everything could be searched: no skill was removed"
    if any(not one.matches for one in done.corpus.members):
        yield "skills without a match are rated 1500; run skillgate corpus rate to play matches"


def members(corpus_dir: str | None, session: Console) -> CorpusList:
    """List the members of a corpus, best rating first.

    Raises:
        UsageError: there is no corpus, or it cannot be read.
    """
    return _listing(require_index(store_of(corpus_dir, session)))


def show(name: str, corpus_dir: str | None, session: Console) -> CorpusShow:
    """Return the members with a name, or whose digest begins with it, with their matches.

    Raises:
        UsageError: there is no corpus, it cannot be read, or no member matches.
    """
    store = store_of(corpus_dir, session)
    index, matches = require_index(store), store.matches()
    is_digest = len(name) >= _LEAST_DIGITS
    meant = [one for one in index.members if one.name == name or (is_digest and one.digest.startswith(name))]
    if not meant:
        near = did_you_mean(name, {one.name for one in index.members})
        raise UsageError(f"no skill {name!r} in the corpus in {store.folder}{near}")
    return CorpusShow(tool=TOOL, skills=tuple(_shown(one, index, matches) for one in meant))


def _listing(index: CorpusIndex) -> CorpusList:
    def place(one: ListedSkill) -> tuple[bool, float, str, str]:
        return one.rating is None, -(one.rating or 0.0), one.name, one.digest

    return CorpusList(tool=TOOL, members=tuple(sorted(map(_listed, index.members), key=place)), fit=index.fit)


def _listed(one: Indexed) -> ListedSkill:
    """Return a member for display: without a match it has no rating."""
    shown = ListedSkill(**{name: getattr(one, name) for name in ListedSkill._fields})
    return shown if one.matches else shown._replace(rating=None)


def _shown(one: Indexed, index: CorpusIndex, matches: Matches) -> ShownSkill:
    """Return a member with the matches behind its rating."""
    everyone = {other.digest: other for other in (*index.members, *index.former)}
    played = resting_on(index, matches.played)
    own = [_seen(match, one.digest, everyone) for match in played if one.digest in (match.first, match.second)]
    return ShownSkill(_listed(one), tuple(sorted(own, key=lambda match: (-match.result, match.opponent))))


def _seen(match: Played, digest: str, everyone: dict[str, Indexed]) -> ShownMatch:
    """Return a match from the view of one of its skills."""
    is_first = match.first == digest
    opponent = everyone[match.second if is_first else match.first]
    return ShownMatch(
        opponent=opponent.name,
        opponent_digest=opponent.digest,
        opponent_rating=opponent.rating if opponent.matches else None,
        result=match.result if is_first else 1.0 - match.result,
        position_bias=match.position_bias,
        won=match.won if is_first else match.lost,
        lost=match.lost if is_first else match.won,
        model=match.model,
        source=match.source,
        origin=match.origin,
    )


def export(file: str, corpus_dir: str | None, session: Console) -> CorpusExport:
    """Write a whole corpus to a file: skills with their texts, matches, ratings.

    Raises:
        UsageError: there is no corpus, it is broken, or the file cannot be written.
    """
    store = store_of(corpus_dir, session)
    index, matches = require_index(store), store.matches()
    if matches.problems:
        raise UsageError(f"{matches.problems[0]}; run skillgate corpus verify for all problems")
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


def _text(store: Store, one: Indexed) -> SkillText:
    """Return a member's text."""
    text = store.text(one.digest)
    if text is None or content_digest(text.pages) != one.digest:
        raise UsageError(f"the text of {one.name} is missing or changed; run skillgate corpus verify for all problems")
    return text


def _shareable(one: Indexed) -> Indexed:
    """Remove the skill's place on this machine: of a path outside the directory only the last part stays."""
    is_inside = not os.path.isabs(one.path) and not one.path.startswith(("..", "~"))
    path = one.path if is_inside else one.path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    return one._replace(origin="", path=path)


def import_file(file: str, corpus_dir: str | None, session: Console) -> CorpusChange:
    """Check a document, import it completely or not at all, and compute all ratings again.

    Raises:
        UsageError: it is not such a document, or it or the existing corpus is not valid.
        IncompleteError: another run is writing the corpus, or a package is missing.
    """
    arriving = _read_export(file, session)
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
            # The verdicts of a real model rate the corpus if there are any, else those used before.
            sources = {one.source for one in played}
            others = min(sources) if before.fit is None else before.fit.source
            index = rerated(index, played, LIVE if LIVE in sources else others)
        store.put_index(index)
    pairs = resting_on(index, played)
    brought = sum(one.origin != "" for one in pairs)
    taken = f"{len(index.members) - len(before.members)} skills and {len(fresh)} matches imported"
    lines = [f"{taken}; {len(index.members)} skills in {printable(store.folder)}, rated by all matches"]
    if fresh and pairs:
        lines.append(
            f"imported matches decide {brought} of {len(pairs)} rated pairs; matches played here decide theirs"
        )
    return CorpusChange.of(lines, index)


def _read_export(name: str, session: Console) -> CorpusExport:
    """Read and check a document."""
    data = read_bytes(os.path.join(session.cwd, name))
    if data is None:
        raise UsageError(f"{name} does not exist")
    exported = read_document(CorpusExport, data, name)
    if exported.corpus_version != CORPUS_VERSION:
        raise UsageError(f"{name} has version {exported.corpus_version}; this program reads version {CORPUS_VERSION}")
    faults = list(islice(arrival_faults(exported), _MOST_FAULTS))
    if faults:
        raise UsageError("\n".join([f"cannot import {name}:", *(f"  {fault}" for fault in faults)]))
    return exported


def joined(index: CorpusIndex, arriving: CorpusIndex) -> CorpusIndex:
    """Add the skills of another corpus; known skills stay as they are.

    Imported ratings are ignored: ratings are computed again from all matches.
    """
    members = {one.digest: one for one in index.members}
    former = {one.digest: one for one in index.former}
    for one in arriving.members:
        back = former.pop(one.digest, None)
        members.setdefault(one.digest, _arriving(one) if back is None else _rated_as(_arriving(one), back))
    for one in arriving.former:
        if one.digest not in members:
            former.setdefault(one.digest, _arriving(one))
    return _index(index, members.values(), former.values())


def _arriving(one: Indexed) -> Indexed:
    """Remove everything that an untrusted file must not decide."""
    return one._replace(rating=MEDIAN, matches=0, anchor=False, origin="", rateable=True)
