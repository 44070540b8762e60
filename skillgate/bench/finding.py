"""List the skills below a directory by what their main files say, and find those that match: what ``find`` does.

A file that is no skill stops no other: it is listed with what is wrong with it.
"""
# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__
from skillgate.bench.choosing import by_skill, matches, of_past, ranked
from skillgate.bench.skills import (
    SKILL_MD,
    content_version,
    main_files,
    not_loaded,
    prose_id,
    read_executable,
    shown_path,
)
from skillgate.errors import UsageError
from skillgate.model.benchmark import AdapterType, FoundSkill, FoundSkills, NotLoaded, Past
from skillgate.model.report import Tool
from skillgate.skill.frontmatter import MAX_BYTES, parse, split
from skillgate.store.results import past_evaluations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.bench.choosing import Wanted
    from skillgate.console import Console
    from skillgate.store.results import StoreChoice

RESULTS = "benchmarkResults"  # the key of a skill.json's metadata with what the skill completed


class Listed(NamedTuple):
    """A skill as its main file describes it."""

    skill: FoundSkill
    file: str  # the absolute path of its skill.json or SKILL.md
    shown: str  # the path to show of that file
    own: Past | None = None  # what it says that it completed

    def version(self) -> str:
        """Return its version; that of a SKILL.md that names none is its content, which is read for it."""
        return self.skill.version or content_version(os.path.dirname(self.file))


class Listing(NamedTuple):
    """What is below a directory: the skills, what is none of those that could be read, how many were passed over."""

    found: tuple[Listed, ...]
    broken: tuple[NotLoaded, ...]
    left_out: int = 0


class FindRequest(NamedTuple):
    """What is searched for, and where."""

    directory: str
    wanted: Wanted
    prose: bool  # whether SKILL.md files are listed too
    store: StoreChoice  # where past evaluations are looked up


def find(request: FindRequest, session: Console) -> tuple[FoundSkills, int]:
    """Return the skills that match, the best first, and how many prose skills were left out.

    Raises:
        UsageError: there is no such directory, or a store that was named cannot be used.
        IncompleteError: the store cannot be read.
    """
    least = request.wanted.min_completion
    listing = list_skills(request.directory, "--skills-dir", cwd=session.cwd, prose=request.prose)
    skills = ranked(_with_history(matching(listing.found, request.wanted), request, session))
    unknown = 0
    if least is not None:
        known = [(skill, skill.completion.completion_rate) for skill in skills if skill.completion is not None]
        unknown = len(skills) - len(known)
        skills = [skill for skill, rate in known if rate >= least]
    document = FoundSkills(
        tool=Tool(version=__version__),
        skills=tuple(skills[: request.wanted.limit]),
        matched=len(skills),
        not_evaluated=unknown,
        not_loaded=listing.broken,
    )
    return document, listing.left_out


def matching(listed: Iterable[Listed], wanted: Wanted) -> list[Listed]:
    """Return the skills that match a query, tags and adapter, with how well they match."""
    return [one._replace(skill=skill) for one in listed if (skill := matches(one.skill, wanted))]


def _with_history(found: list[Listed], request: FindRequest, session: Console) -> Iterator[FoundSkill]:
    """Yield skills with what they completed when they were last evaluated."""
    known = by_skill(map(of_past, past_evaluations(request.store, session, measured=True))) if found else {}
    for one in found:
        some = known.get(one.skill.id, [])
        version = one.version() if some else None
        past = next((past for past in some if past.skill_version == version), None)
        completion = one.own
        if past is not None and past.figures.completion_rate is not None:
            rate = past.figures.completion_rate
            completion = Past(completion_rate=rate, source="store", benchmark_id=past.benchmark_id, measured_at=past.at)
        yield replace(one.skill, completion=completion)


def list_skills(folder: str, option: str, *, cwd: str, prose: bool) -> Listing:
    """List the skills below a directory, by path.

    Args:
        folder: as the user wrote it.
        option: that names it, for messages.
        cwd: the working directory, absolute.
        prose: whether SKILL.md files count too.

    Raises:
        UsageError: there is no such directory.
    """
    place = os.path.join(cwd, folder)
    if not os.path.isdir(place):
        word = "is no directory" if os.path.lexists(place) else "does not exist"
        raise UsageError(f"{option} {folder} {word}: name the directory that holds the skills with {option}")
    files, left = main_files(folder, cwd, prose=prose)
    found: list[Listed] = []
    broken: list[NotLoaded] = []
    for file in files:
        shown = shown_path(file, cwd)
        try:
            found.append(_prose(file, shown) if os.path.basename(file) == SKILL_MD else _program(file, shown))
        except UsageError as error:
            broken.append(not_loaded(shown, str(error).splitlines()))
    return Listing(tuple(sorted(found, key=lambda one: one.shown)), tuple(broken), left)


def _program(file: str, shown: str) -> Listed:
    spec, problems = read_executable(file, shown)
    if problems:
        raise UsageError("\n".join(problems))
    skill = FoundSkill(
        id=spec.id,
        name=spec.name,
        version=spec.version,
        adapter_type=spec.adapter_type,
        description=spec.description,
        tags=spec.tags,
        path=os.path.dirname(shown) or ".",
    )
    return Listed(skill, file, shown, _newest_past(spec.metadata.get(RESULTS), spec.version))


def _prose(file: str, shown: str) -> Listed:
    """Read the head of a SKILL.md; a head that does not parse leaves the directory's name, as it does in a run."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES + 64)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(data) - 4:  # not the cut through a character
            raise UsageError(f"{shown} is not UTF-8 (byte {error.start})") from None
        text = data[: error.start].decode("utf-8-sig")
    head, _ = parse(split(text.replace("\r\n", "\n")).yaml or "")
    name, metadata = head.text("name"), head.values.get("metadata")
    identifier = prose_id(name, os.path.dirname(file))
    inner: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    version = inner.get("version")
    skill = FoundSkill(
        id=identifier,
        name=name or identifier,
        version=str(version) if isinstance(version, str | float | int) else None,
        adapter_type=AdapterType.SKILLMD,
        description=head.text("description"),
        tags=_tags(inner.get("tags", head.values.get("tags"))),
        path=os.path.dirname(shown) or ".",
    )
    return Listed(skill, file, shown)


def _tags(value: object) -> tuple[str, ...]:
    """Return a SKILL.md's tags: a list of texts, or one text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    words = value if isinstance(value, list) else []
    return tuple(word.strip() for word in words if isinstance(word, str) and word.strip())


def _newest_past(results: object, version: str) -> Past | None:
    """Return the newest of what a skill.json says of itself; entries that are not valid say nothing."""
    found = [
        past
        for item in (results if isinstance(results, list | tuple) else ())
        if isinstance(item, Mapping) and item.get("skillVersion") in (None, version) and (past := _past(item))
    ]
    dated = [(past.measured_at, past) for past in found if past.measured_at is not None]
    if dated:
        return max(dated, key=lambda pair: pair[0])[1]
    return found[-1] if found else None


def _past(item: Mapping[str, Any]) -> Past | None:
    rate, benchmark = item.get("completionRate"), item.get("benchmarkId")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        return None
    return Past(
        completion_rate=float(rate),
        source="skill.json",
        benchmark_id=benchmark if isinstance(benchmark, str) else None,
        measured_at=_time(item.get("timestamp")),
    )


def _time(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
