"""Reads skills that can be run: skill.json with its adapter's settings, or a SKILL.md."""
# ruff: noqa: PTH100, PTH112, PTH113, PTH114, PTH115, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.checking import check_config, check_executable, unsupported
from skillgate.bench.reading.files import read_json
from skillgate.bench.reading.misspelt import misspelt_in_skill
from skillgate.errors import CodecError, UsageError
from skillgate.model.bench import NotLoaded
from skillgate.model.codec import decode
from skillgate.model.digest import digest
from skillgate.model.executable import AdapterConfig, AdapterType, Executable, Runnable
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SKILL_JSON = "skill.json"
CONFIG_JSON = "adapter.config.json"
SKILL_MD = "SKILL.md"
_MOST_FILES = 5_000
_MOST_BYTES = 200_000_000
_BLOCK = 1 << 20


class Skills(NamedTuple):
    """What paths led to: the skills by shown path, and what a reader should know."""

    found: tuple[Runnable, ...]
    notices: tuple[str, ...]


def load_skills(
    paths: Sequence[str],
    *,
    cwd: str,
    prose: bool = False,
    without: Sequence[str] = (),
    lenient: bool = False,
    left: list[NotLoaded] | None = None,
    runnable: bool = False,
) -> Skills:
    """Read every skill that paths mean: a skill.json, a SKILL.md, a skill's directory, or one that holds some.

    Args:
        paths: as they were given.
        cwd: the working directory, absolute.
        prose: whether a SKILL.md that a search meets counts too; one that was named always does.
        without: absolute directories whose skills are left out.
        lenient: whether what is not valid is left out and told, and what shares its id with another taken in.
        left: takes the skills below a directory that are not valid, so that they keep no other one from its turn; None:
            they are an error, as those are that a path names.
        runnable: whether a skill must also be one that a run could start or ask.

    Raises:
        UsageError: a path leads to no skill, a skill is not valid, or none is left; every problem, a line each.
    """
    files = _searched(paths, cwd, prose=prose, without=without)
    problems, notices = list(files.problems), list(files.notices)
    skills: list[Runnable] = []
    broken: list[NotLoaded] = []
    for file, shown in sorted(files.shown.items(), key=lambda item: item[1]):
        own: list[str] = []
        found = tuple(_read(file, shown, own, runnable=runnable))
        if left is not None and own and file not in files.named:
            broken.append(not_loaded(shown, own))
            continue
        problems += own
        skills += found
        if not own and not lenient and file.endswith(SKILL_JSON):
            notices += misspelt_in_skill(read_json(file, shown), shown)
    if lenient:
        return Skills(tuple(skills), tuple(problems))
    problems += _clashes(skills)
    if problems or not skills:
        raise UsageError("\n".join([*problems, *(f"{one.path}: {one.reason}" for one in broken)]))
    if left is not None:
        left += broken
    return Skills(tuple(_keyed(skills)), tuple(notices))


class _Files(NamedTuple):
    """The main files that paths lead to: the path to show by the real one, and which of them a path names."""

    shown: dict[str, str]
    named: set[str]
    problems: tuple[str, ...]
    notices: tuple[str, ...]


def _searched(paths: Sequence[str], cwd: str, *, prose: bool, without: Sequence[str]) -> _Files:
    problems: list[str] = []
    notices: list[str] = []
    files: dict[str, str] = {}
    named: set[str] = set()
    prose_left = 0
    for path in paths:
        found, skipped = main_files(path, cwd, prose=prose)
        prose_left += skipped
        if without:
            kept = [file for file in found if not any(_is_below(file, folder) for folder in without)]
            if found and not kept:
                continue
            found = kept
        if not found:
            more = f" but {skipped} prose skills (--prose takes them in)" if skipped else ""
            problems.append(f"{path} holds no skill.json and no SKILL.md{more}")
        place = os.path.abspath(os.path.join(cwd, path))
        for file in found:
            real = os.path.realpath(file)
            if real in files:
                notices.append(f"{path} leads to {files[real]} again; it is evaluated once")
            files.setdefault(real, shown_path(file, cwd))
            if place in (file, os.path.dirname(file)):
                named.add(real)
    if prose_left and files:
        notices.append(f"{prose_left} prose skills (SKILL.md) were left out; --prose takes them in, or name them")
    return _Files(files, named, tuple(problems), tuple(notices))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def load_found(files: Mapping[str, str]) -> tuple[Skills, tuple[NotLoaded, ...]]:
    """Read skills that a search met, by their main files with the paths to show; what is wrong with one stops no other.

    Of two with one id and version the later is left out.
    """
    skills: list[Runnable] = []
    left: list[NotLoaded] = []
    seen: dict[tuple[str, str], Runnable] = {}
    for file, shown in files.items():
        problems: list[str] = []
        for skill in _read(file, shown, problems):
            other = seen.setdefault((skill.spec.id, skill.spec.version), skill)
            if other is not skill:
                problems.append(f"{shown}: its id and version are also those of {other.shown}")
            if not problems:
                skills.append(skill)
        if problems:
            left.append(not_loaded(shown, problems))
    return Skills(tuple(_keyed(skills)), ()), tuple(left)


def not_loaded(shown: str, problems: Iterable[str]) -> NotLoaded:
    """Return that a file was left out, with its problems, each without the path that it begins with."""
    begins = (f"{shown}:", f"{shown} ")
    return NotLoaded(
        shown, "; ".join(line[len(begins[0]) :].strip() if line.startswith(begins) else line for line in problems)
    )


def read_skill(file: str, shown: str) -> Runnable:
    """Read one skill.json or SKILL.md.

    Args:
        file: its absolute path.
        shown: the path to name it by.

    Raises:
        UsageError: it is not valid; every problem, a line each.
    """
    root = os.path.dirname(file)
    if os.path.basename(file) == SKILL_MD:
        spec, config = _prose(root, shown), AdapterConfig()
    else:
        spec, config = _spec(file, shown)
    shown_root = os.path.dirname(shown) or "."
    return Runnable(spec=spec, config=config, root=root, shown=shown_root, digest=_digest(root), key=spec.id)


def _read(file: str, shown: str, problems: list[str], *, runnable: bool = False) -> Iterator[Runnable]:
    try:
        skill = read_skill(file, shown)
    except UsageError as error:
        problems += str(error).splitlines()
        return
    try:
        if (why := unsupported(skill.spec)) is not None:
            problems.append(f"{shown}: {why}")
        elif runnable:
            from skillgate.bench.reading.runnable import check_runnable  # searches need none of what starts programs

            check_runnable(skill)
    except UsageError as error:
        problems += str(error).splitlines()
    yield skill


def main_files(path: str, cwd: str, *, prose: bool) -> tuple[list[str], int]:
    """Find the main files that a path means, and count the prose skills that were passed over.

    Raises:
        UsageError: it does not exist.
    """
    place = os.path.abspath(os.path.join(cwd, path))
    if os.path.isfile(place):
        fits = place.endswith(".json") or os.path.basename(place) == SKILL_MD
        return ([place] if fits else []), 0
    if not os.path.isdir(place):
        raise UsageError(f"{path} does not exist: a skill is a skill.json, a SKILL.md, or a directory with one")
    own = _main(place)
    if own is not None:
        return [own], 0
    found: list[str] = []
    skipped = 0
    for folder, folders, _ in os.walk(place):
        main = _main(folder)
        folders[:] = [] if main else sorted(name for name in folders if name not in SKIPPED and name[:1] != ".")
        if main is not None and (prose or main.endswith(SKILL_JSON)):
            found.append(main)
        skipped += main is not None and not (prose or main.endswith(SKILL_JSON))
    return found, skipped


def _main(folder: str) -> str | None:
    for name in (SKILL_JSON, SKILL_MD):
        if os.path.isfile(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def shown_path(file: str, cwd: str) -> str:
    """Give the path to show: relative where a file lies below the working directory."""
    inside = file.startswith(os.path.join(cwd, ""))
    return (os.path.relpath(file, cwd) if inside else file).replace(os.sep, "/")


def read_executable(file: str, shown: str) -> tuple[Executable, list[str]]:
    """Read one skill.json alone, and say what is wrong with what it says.

    Raises:
        UsageError: it has not the shape of one; every problem, a line each.
    """
    data = read_json(file, shown)
    try:
        spec = decode(Executable, data)
    except CodecError as error:
        raise UsageError("\n".join(f"{shown}: {line}" for line in str(error).splitlines())) from None
    return spec, [f"{shown}: {line}" for line in check_executable(spec)]


def _spec(file: str, shown: str) -> tuple[Executable, AdapterConfig]:
    spec, problems = read_executable(file, shown)
    beside = os.path.join(os.path.dirname(file), CONFIG_JSON)
    config = spec.adapter or AdapterConfig()
    if os.path.lexists(beside):
        name = f"{shown.removesuffix(os.path.basename(file))}{CONFIG_JSON}"
        if spec.adapter is not None:
            problems.append(f"{shown}: adapter: {name} holds the adapter's settings too; leave one of them out")
        try:
            config = read_config(beside, name)
        except UsageError as error:
            problems += str(error).splitlines()
    if problems:
        raise UsageError("\n".join(problems))
    return spec, config


def read_config(file: str, shown: str) -> AdapterConfig:
    """Read one adapter.config.json.

    Raises:
        UsageError: it is not valid; every problem, a line each.
    """
    try:
        config = decode(AdapterConfig, read_json(file, shown))
    except CodecError as error:
        raise UsageError("\n".join(f"{shown}: {line}" for line in str(error).splitlines())) from None
    problems = [f"{shown}: {line}" for line in check_config(config)]
    if problems:
        raise UsageError("\n".join(problems))
    return config


def _prose(root: str, shown: str) -> Executable:
    """Give a SKILL.md the form of a skill.json: its name is its id, its version ``metadata.version`` or a digest."""
    from skillgate.model.skill import Unreadable
    from skillgate.skill.discover import discover
    from skillgate.skill.parse import parse
    from skillgate.skill.read import read

    source = read(discover([root]).roots[0])
    if isinstance(source, Unreadable):
        raise UsageError(f"{shown} cannot be read: {source.reason}")
    frontmatter = parse(source).frontmatter
    name, metadata = frontmatter.text("name"), frontmatter.values.get("metadata")
    version = metadata.get("version") if isinstance(metadata, Mapping) else None
    identifier = prose_id(name, root)
    return Executable(
        id=identifier,
        name=name or identifier,
        version=str(version) if isinstance(version, str | float | int) else content_version(root),
        adapter_type=AdapterType.SKILLMD,
        entrypoint=SKILL_MD,
        description=frontmatter.text("description"),
    )


def prose_id(name: str, root: str) -> str:
    """Make an id of a prose skill's name, else of its directory's."""
    return re.sub(r"[^a-z0-9_-]+", "-", (name or os.path.basename(root)).lower()).strip("-") or "skill"


def content_version(root: str) -> str:
    """Give the version of a prose skill that names none: its files are read."""
    return f"0.0.0+{_digest(root)[:12]}"


def _clashes(skills: Sequence[Runnable]) -> Iterator[str]:
    seen: dict[tuple[str, str], Runnable] = {}
    for skill in skills:
        key = (skill.spec.id, skill.spec.version)
        other = seen.setdefault(key, skill)
        if other is not skill:
            yield (
                f"{skill.shown}: id {key[0]!r} version {key[1]} is also that of {other.shown}: give one of them another"
                " id or version"
            )


def _keyed(skills: Sequence[Runnable]) -> Iterator[Runnable]:
    ids = [skill.spec.id for skill in skills]
    for skill in skills:
        several = ids.count(skill.spec.id) > 1
        yield replace(skill, key=f"{skill.spec.id}@{skill.spec.version}") if several else skill


def _digest(root: str) -> str:
    """Digest the files of a skill, but what tools leave behind; ``""`` where there is too much of them."""
    parts: list[bytes] = []
    count = size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and name[:1] != ".")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".pyc"):
                continue
            if os.path.islink(path):  # never through it: it may lead to what has no end
                parts += [os.fsencode(os.path.relpath(path, root)), b"link", os.fsencode(os.readlink(path))]
                continue
            if not os.path.isfile(path):
                continue
            count, size = count + 1, size + os.path.getsize(path)  # noqa: PTH202
            if count > _MOST_FILES or size > _MOST_BYTES:
                return ""
            parts += [os.fsencode(os.path.relpath(path, root)), _file_digest(path)]
    return digest(*parts)


def _file_digest(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            blocks = iter(lambda: file.read(_BLOCK), b"")
            return digest(*blocks).encode()
    except OSError as error:
        return f"unreadable: {error.errno}".encode()
