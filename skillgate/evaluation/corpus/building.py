"""Bring a corpus up to date with the skills that lie in some directories: each is scored by the static layer."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cache import Cache, directory
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.corpus.entrants import Built, Candidate, built, entrant_of, text_of
from skillgate.evaluation.corpus.folder import is_below, origin_of
from skillgate.evaluation.corpus.listing import CorpusChange
from skillgate.evaluation.corpus.place import store_of
from skillgate.evaluation.keeper import Keeper
from skillgate.model.corpus import CorpusIndex
from skillgate.model.score import Badge
from skillgate.model.skill import SkillSource, Unreadable
from skillgate.model.text import printable
from skillgate.skill.discover import discover
from skillgate.skill.read import read
from skillgate.skill.tree import DiskTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.evaluation.corpus.folder import Store
    from skillgate.evaluation.corpus.request import BuildRequest
    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillRoot
    from skillgate.session import Session

_BADGES = tuple(badge.value.lower() for badge in reversed(Badge))


class _Found(NamedTuple):
    """What a search gave: candidates by path; how many are below the badge; where nothing could be read."""

    candidates: tuple[Candidate, ...]
    lesser: int
    unread: frozenset[str]
    complete: bool


def build(request: BuildRequest, session: Session) -> CorpusChange:
    """Search and score skills, and index them with their texts.

    Raises:
        UsageError: a path is not valid, no skill was found, or the corpus is broken.
        IncompleteError: another run writes the corpus.
    """
    store = store_of(request.corpus_dir, session, writes=True)
    before = store.index() or CorpusIndex()
    found = _search(request, session, store)
    with store.writing():
        index = store.index() or before
        done = built(index, found.candidates, is_gone=_leaves(request, session, store, found), played=_played(store))
        for candidate in found.candidates:
            store.put_text(text_of(candidate.entrant))
        store.put_index(done.corpus)
        store.keep_texts(one.digest for one in done.corpus.members)
    lines = _summary(done, found, request, store)
    return CorpusChange.of(lines, done.corpus, complete=found.complete and not found.unread)


def _search(request: BuildRequest, session: Session, store: Store) -> _Found:
    """Find and score the skills.

    Raises:
        UsageError: a path is not valid, or there is no skill.
    """
    discovery = discover(request.paths, cwd=session.cwd)
    for notice in discovery.notices:
        session.note(notice)
    if not discovery.roots:
        where = ", ".join(request.paths)
        raise UsageError(f"no skill found in {where}: a skill is a directory with a SKILL.md; the corpus is as it was")
    sources: list[SkillSource] = []
    unread: set[str] = set()
    for root in discovery.roots:
        source = read(root)
        if isinstance(source, Unreadable):
            session.note(f"{root.path} is left out: {source.reason}")
            unread.add(_origin(store, root))
        else:
            sources.append(source)
    candidates, lesser = [], 0
    for source, result in zip(sources, _scored(sources, request, session), strict=True):
        candidate = _candidate(source, result, store)
        if candidate is None:
            session.note(f"{source.root.path} is left out: {result.composite.reason or 'there is nothing to score'}")
        elif request.min_badge is not None and not _reaches(candidate.badge, request.min_badge):
            lesser += 1
            session.detail(f"{source.root.path} is left out: its badge is {candidate.badge or 'none'}")
        else:
            candidates.append(candidate)
    return _Found(tuple(candidates), lesser, frozenset(unread), discovery.complete)


def _scored(sources: Sequence[SkillSource], request: BuildRequest, session: Session) -> tuple[SkillResult, ...]:
    folder = directory(session.environ) if request.cached else ""
    cache = Cache(folder, now=time.time) if folder else None
    keeper = Keeper(cache, clock=time.perf_counter_ns, optional=False)
    evaluator = pipeline.Evaluator(pipeline.Assessor(keeper.assess, keeper.across), detail=False)
    results = pipeline.evaluate(sources, evaluator).report.results
    keeper.close()
    if keeper.failure is not None:
        session.note(keeper.failure)
    return results


def _candidate(source: SkillSource, result: SkillResult, store: Store) -> Candidate | None:
    entrant = None if result.composite.score is None else entrant_of(source)
    if entrant is None:
        return None
    badge = result.composite.badge
    return Candidate(
        entrant=entrant,
        path=str(source.root.path),
        origin=_origin(store, source.root),
        composite=result.composite.score,
        badge=None if badge is None else badge.value.lower(),
    )


def _origin(store: Store, root: SkillRoot) -> str:
    tree = root.tree
    if not isinstance(tree, DiskTree):
        raise UsageError(f"{str(root.path)!r} lies in a commit: a corpus is built from directories on disk")
    return origin_of(store.folder, os.path.join(tree.root, root.directory))  # noqa: PTH118


def _leaves(request: BuildRequest, session: Session, store: Store, found: _Found) -> Callable[[str], bool]:
    """Make the test of whether a member leaves where nothing was found: not where it could not be looked for."""
    tops = [os.path.join(session.cwd, path) for path in request.paths]  # noqa: PTH118

    def leaves(origin: str) -> bool:
        if origin in found.unread or not found.complete:
            return False
        return request.replace or any(is_below(store.folder, origin, top) for top in tops)

    return leaves


def _played(store: Store) -> frozenset[str]:
    return frozenset(digest for one in store.matches().played for digest in (one.first, one.second))


def _reaches(badge: str | None, least: str) -> bool:
    return badge is not None and _BADGES.index(badge) >= _BADGES.index(least)


def _summary(done: Built, found: _Found, request: BuildRequest, store: Store) -> Iterator[str]:
    members = len(done.corpus.members)
    yield (
        f"{members} skill{'s' * (members != 1)} in {printable(store.folder)}:"
        f" {done.added} added, {done.kept} kept, {done.changed} changed, {done.dropped} dropped"
    )
    if found.lesser:
        yield f"{found.lesser} left out below {request.min_badge}"
    if done.doubles:
        yield f"{done.doubles} found with the text of another one, which counts once"
    if not found.complete:
        yield "not everything could be searched: no skill was dropped"
    if any(not one.matches for one in done.corpus.members):
        yield "skills without a match stand at 1500: skillgate corpus rate plays them"
