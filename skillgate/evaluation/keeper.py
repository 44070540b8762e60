"""Judges skills, and uses again what was judged before: a skill whose files are as they were costs reading and hashing.

What is kept depends on the skill's main file, on what judging it asked of the files around it, and on the programs that
judge. Configuration, suppressions' dates and the gate come after, so one entry serves every run.
"""
# ruff: noqa: PTH116, PTH118, PTH120

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.model import entry
from skillgate.model.digest import digest
from skillgate.skill.tree import DiskTree
from skillgate.skill.witness import holds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.cache import Cache
    from skillgate.evaluation.workers import Job
    from skillgate.model.assessment import Assessment, Member
    from skillgate.model.finding import Claim
    from skillgate.model.skill import SkillSource

FORMAT = 2  # of an entry: changes with what is written
_PARSERS = ("markdown_it", "yaml")


class Keeper:
    """Judges sources in their order, as ``pipeline.Assessor`` does.

    Attributes:
        reused: how many were not judged anew.
    """

    def __init__(
        self,
        cache: Cache | None,
        *,
        clock: Callable[[], int],
        optional: bool = True,
        made_by: bytes | None = None,
        use_processes: bool = True,
    ) -> None:
        """Take the cache and a clock of monotonic nanoseconds.

        Args:
            cache: None for none.
            clock: for how long judging takes.
            optional: whether opt-in rules are asked too.
            made_by: names the programs that judge; None for :func:`stamp`. Nothing that others made is used.
            use_processes: whether several processes may share the work.
        """
        self.reused = 0
        self._cache = cache
        self._clock = clock
        self._optional = optional
        self._use_processes = use_processes
        self._stamp = b"" if cache is None else stamp() if made_by is None else made_by

    @property
    def failure(self) -> str | None:
        """Why results could not be kept, None where they could, or were not to be."""
        return None if self._cache is None else self._cache.failure

    def assess(self, sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        """Give an assessment for each source, in their order."""
        keys = [self._key(source) for source in sources] if self._cache is not None else [""] * len(sources)
        kept = [self._kept(key, source) for key, source in zip(keys, sources, strict=True)]
        self.reused += sum(1 for facts in kept if facts is not None)
        missing = [source for source, facts in zip(sources, kept, strict=True) if facts is None]
        fresh = self._fresh(missing)
        for key, source, facts in zip(keys, sources, kept, strict=True):
            if facts is not None:
                yield facts
                continue
            text = next(fresh)
            if self._cache is not None:
                self._cache.put(key, text)
            yield entry.read(text.split("\n")[1:], self._again(source))

    def across(self, members: Sequence[Member]) -> Sequence[tuple[str, Claim]]:
        """Find what shows only beside other skills, as ``pipeline.Assessor`` does."""
        key = ""
        if self._cache is not None:
            key = self._digest("across", *((one.path, one.plugin, one.file, one.mark) for one in members))
            text = self._cache.get(key)
            try:
                if text is not None:
                    return entry.read_claims(text)
            except entry.Problems:
                pass  # of another make
        from skillgate.static.beside import claims_across  # only for what was not kept

        found = claims_across(members)
        if self._cache is not None:
            self._cache.put(key, entry.written_claims(found))
        return found

    def close(self) -> None:
        """End a run: let old entries go where there are too many."""
        if self._cache is not None:
            self._cache.close()

    def _fresh(self, sources: Sequence[SkillSource]) -> Iterator[str]:
        """Judge what is not kept, in several processes where that is sooner done."""
        if not sources:
            return
        done = 0
        jobs = _jobs(sources, optional=self._optional) if self._use_processes and len(sources) > 1 else []
        if jobs:
            from skillgate.evaluation.workers import LostError, entries, pays

            try:
                for text in entries(jobs) if pays(jobs) else ():
                    yield text
                    done += 1
            except LostError:
                pass  # the rest is judged here
        from skillgate.evaluation import assess  # brings in the parsers: only for what was not kept

        for source in sources[done:]:
            yield assess.entry(source, self._clock, optional=self._optional)

    def _kept(self, key: str, source: SkillSource) -> Assessment | None:
        text = self._cache.get(key) if self._cache is not None else None
        if text is None:
            return None
        try:
            questions, *rest = text.split("\n")
            return entry.read(rest, self._again(source)) if holds(source.root.tree, json.loads(questions)) else None
        except entry.Problems:
            return None  # of another make

    def _again(self, source: SkillSource) -> Callable[[], Assessment]:
        def judged() -> Assessment:
            from skillgate.evaluation import assess  # only where an entry was of another make after all

            return assess.assess(source, self._clock, optional=self._optional)

        return judged

    def _key(self, source: SkillSource) -> str:
        root = source.root
        origin: str = getattr(root.tree, "origin", "")
        place = (origin, root.directory, root.file_name, root.name, root.plugin)
        return self._digest((*place, source.size, source.siblings, self._optional), data=source.data)

    def _digest(self, *facts: object, data: bytes = b"") -> str:
        # As Python writes them: no two differ and look the same, and what UTF-8 lacks is escaped.
        return digest(self._stamp, repr(facts).encode(), data)


def stamp() -> bytes:
    """Name the programs that judge: this package's files, the interpreter, and what else is installed."""
    import skillgate

    top = os.path.dirname(skillgate.__file__)
    own, pending = [], [top]
    while pending:
        with os.scandir(pending.pop()) as found:
            for item in found:
                if item.name.endswith(".py"):
                    status = item.stat()
                    own.append((item.path, status.st_mtime_ns, status.st_size))
                elif item.name != "__pycache__" and item.is_dir():
                    pending.append(item.path)
    installed = [_changed(folder) for folder in sys.path if folder.endswith("-packages")]
    installed += [_changed(os.path.join(folder, name)) for folder in sys.path for name in _PARSERS]
    return digest(repr((FORMAT, __version__, sys.version, sorted(own), installed)).encode()).encode("ascii")


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _jobs(sources: Sequence[SkillSource], *, optional: bool = True) -> list[Job]:
    """Write sources down for other processes; empty where not all of their files are on disk."""
    from skillgate.evaluation.workers import Job

    jobs = []
    for root, data, size, siblings in sources:
        if isinstance(root.tree, DiskTree):
            place = (root.tree.root, root.directory, root.file_name, root.name, root.plugin)
            jobs.append(Job(*place, data, size, siblings, optional))
    return jobs if len(jobs) == len(sources) else []
