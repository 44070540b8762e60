"""Lists the skills below a directory by what their main files say of them; nothing else of a skill is read.

A file that is no skill stops no other: it is listed with what is wrong with it.
"""
# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from skillgate.bench.reading.loading import (
    SKILL_MD,
    content_version,
    main_files,
    not_loaded,
    prose_id,
    read_executable,
    shown_path,
)
from skillgate.errors import UsageError
from skillgate.model.bench import NotLoaded
from skillgate.model.choosing import FoundSkill, Past
from skillgate.model.executable import AdapterType
from skillgate.skill.frontmatter import MAX_BYTES, parse, split

RESULTS = "benchmarkResults"
"""The key of a skill.json's metadata that holds what it completed."""


class Listed(NamedTuple):
    """A skill as its main file describes it.

    Attributes:
        skill: what it says.
        file: the absolute path of its skill.json or SKILL.md.
        shown: the path to show of that file.
        own: what it says that it completed.
    """

    skill: FoundSkill
    file: str
    shown: str
    own: Past | None = None

    def version(self) -> str:
        """Give its version; that of a SKILL.md that names none is its content, which is read for it."""
        return self.skill.version or content_version(os.path.dirname(self.file))


class Listing(NamedTuple):
    """What is below a directory: the skills, what is none of those that could be read, how many were passed over."""

    found: tuple[Listed, ...]
    broken: tuple[NotLoaded, ...]
    left_out: int = 0


def list_skills(folder: str, option: str, *, cwd: str, prose: bool) -> Listing:
    """List the skills below a directory, by path.

    Args:
        folder: as it was given.
        option: that gave it, for messages.
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
    return Listed(skill, file, shown, past_of(spec.metadata.get(RESULTS), spec.version))


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
    root = os.path.dirname(file)
    identifier = prose_id(name, root)
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
    """Give a SKILL.md's tags: a list of texts, or one text with commas."""
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(word.strip() for word in words if isinstance(word, str) and word.strip())


def past_of(results: object, version: str) -> Past | None:
    """Give the newest of what a skill.json says of itself; entries that are not valid say nothing."""
    found = [
        past
        for item in (results if isinstance(results, list | tuple) else ())
        if isinstance(item, Mapping) and item.get("skillVersion") in (None, version) and (past := _past(item))
    ]
    dated = [past for past in found if past.measured_at is not None]
    if dated:
        return max(dated, key=lambda past: past.measured_at or datetime.min.replace(tzinfo=UTC))
    return found[-1] if found else None


def _past(item: Mapping[str, Any]) -> Past | None:
    rate, benchmark, time = item.get("completionRate"), item.get("benchmarkId"), item.get("timestamp")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        return None
    return Past(
        completion_rate=float(rate),
        source="skill.json",
        benchmark_id=benchmark if isinstance(benchmark, str) else None,
        measured_at=_time(time),
    )


def _time(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
        if found is None:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
