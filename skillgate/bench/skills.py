"""Read executable skills: a skill.json with its adapter's settings, or a SKILL.md."""
# ruff: noqa: PTH100, PTH112, PTH113, PTH114, PTH115, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.documents import check_config, check_executable, decoded, read_json, refuse
from skillgate.bench.ports import require_passable
from skillgate.errors import UsageError
from skillgate.format import did_you_mean, printable
from skillgate.model.benchmark import OWN_ADAPTER, AdapterConfig, AdapterType, Executable, NotLoaded, Runnable
from skillgate.model.score import key_of
from skillgate.model.skill import digest
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SKILL_JSON = "skill.json"
CONFIG_JSON = "adapter.config.json"
SKILL_MD = "SKILL.md"
_MOST_FILES = 5_000
_MOST_BYTES = 200_000_000
_BLOCK = 1 << 20
_MOST_MISSPELT = 5  # reported keys per file


class Skills(NamedTuple):
    """The skills found, sorted by path, and notices."""

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
    """Read the skills at paths: a skill.json, a SKILL.md, a skill's directory, or a directory that contains skills.

    Args:
        paths: As the user wrote them.
        cwd: The absolute working directory.
        prose: Whether to include SKILL.md files found by a search; a named one is always included.
        without: Absolute directories to leave out.
        lenient: Whether invalid skills only cause a notice, and duplicate ids are allowed.
        left: Receives invalid skills below a directory; if None, they are an error, as invalid named ones always are.
        runnable: Whether to check also that a run could start or ask the skill.

    Raises:
        UsageError: A path has no skill, a skill is not valid, or none is left; one problem per line.
    """
    files = _search(paths, cwd, prose=prose, without=without)
    problems, notices = files.problems, files.notices
    skills: list[Runnable] = []
    broken: list[NotLoaded] = []
    for file, shown in sorted(files.shown.items(), key=lambda item: item[1]):
        skill, own = _read(file, shown, runnable=runnable)
        if left is not None and own and file not in files.named:
            broken.append(not_loaded(shown, own))
            continue
        problems += own
        skills += [skill] if skill is not None else []
        if not own and not lenient and file.endswith(SKILL_JSON):
            notices += misspelt_keys(read_json(file, shown), shown)
    if lenient:
        return Skills(tuple(skills), tuple(problems))
    problems += _clashes(skills)
    if problems or not skills:
        raise UsageError("\n".join([*problems, *(f"{one.path}: {one.reason}" for one in broken)]))
    if left is not None:
        left += broken
    return Skills(tuple(_keyed(skills)), tuple(notices))


class _Files(NamedTuple):
    """The main files found: paths for display by real path, and which were named directly."""

    shown: dict[str, str]
    named: set[str]
    problems: list[str]
    notices: list[str]


def _search(paths: Sequence[str], cwd: str, *, prose: bool, without: Sequence[str]) -> _Files:
    files = _Files({}, set(), [], [])
    prose_left = 0
    for path in paths:
        found, skipped = main_files(path, cwd, prose=prose)
        prose_left += skipped
        inside = [file for file in found if not any(file.startswith(os.path.join(folder, "")) for folder in without)]
        if found and not inside:
            continue
        if not found:
            more = f" but {skipped} prose skills (use --prose to include them)" if skipped else ""
            files.problems.append(f"{path} contains no skill.json and no SKILL.md{more}")
        place = os.path.abspath(os.path.join(cwd, path))
        for file in inside:
            real = os.path.realpath(file)
            if real in files.shown:
                files.notices.append(f"{path} is the same as {files.shown[real]}; it is evaluated once")
            files.shown.setdefault(real, shown_path(file, cwd))
            if place in (file, os.path.dirname(file)):
                files.named.add(real)
    if prose_left and files.shown:
        files.notices.append(
            f"{prose_left} prose skills (SKILL.md) left out; use --prose to include them, or name them"
        )
    return files


def load_found(files: Mapping[str, str]) -> tuple[Skills, tuple[NotLoaded, ...]]:
    """Read the skills found by a search, given as main files with paths for display; return invalid ones separately.

    Later duplicates of an id and version are left out.
    """
    skills: list[Runnable] = []
    left: list[NotLoaded] = []
    seen: dict[tuple[str, str], Runnable] = {}
    for file, shown in files.items():
        skill, problems = _read(file, shown)
        if skill is not None:
            other = seen.setdefault((skill.spec.id, skill.spec.version), skill)
            if other is not skill:
                problems.append(f"{shown}: same id and version as {other.shown}")
            if not problems:
                skills.append(skill)
        if problems:
            left.append(not_loaded(shown, problems))
    return Skills(tuple(_keyed(skills)), ()), tuple(left)


def not_loaded(shown: str, problems: Iterable[str]) -> NotLoaded:
    """Return a left-out file with its problems, without the path at their beginning."""
    begins = (f"{shown}:", f"{shown} ")
    texts = (line[len(begins[0]) :].strip() if line.startswith(begins) else line for line in problems)
    return NotLoaded(shown, "; ".join(texts))


def read_skill(file: str, shown: str) -> Runnable:
    """Read one skill.json or SKILL.md by its absolute path; ``shown`` is its name in messages.

    Raises:
        UsageError: It is not valid; one problem per line.
    """
    root = os.path.dirname(file)
    if os.path.basename(file) == SKILL_MD:
        spec, config = _prose(root, shown), AdapterConfig()
    else:
        spec, config = _spec(file, shown)
    shown_root = os.path.dirname(shown) or "."
    return Runnable(spec=spec, config=config, root=root, shown=shown_root, digest=_digest(root), key=spec.id)


def _read(file: str, shown: str, *, runnable: bool = False) -> tuple[Runnable | None, list[str]]:
    """Read a skill and its problems; None if it is not valid."""
    try:
        skill = read_skill(file, shown)
    except UsageError as error:
        return None, str(error).splitlines()
    try:
        if runnable:
            check_runnable(skill)
    except UsageError as error:
        return skill, str(error).splitlines()
    return skill, []


def main_files(path: str, cwd: str, *, prose: bool) -> tuple[list[str], int]:
    """Find the main files at a path, and count the prose skills left out.

    Raises:
        UsageError: The path does not exist.
    """
    place = os.path.abspath(os.path.join(cwd, path))
    if os.path.isfile(place):
        fits = place.endswith(".json") or os.path.basename(place) == SKILL_MD
        return ([place] if fits else []), 0
    if not os.path.isdir(place):
        raise UsageError(f"{path} does not exist; pass a skill.json, a SKILL.md, or a directory with one")
    if own := _main(place):
        return [own], 0
    found: list[str] = []
    skipped = 0
    for folder, folders, _ in os.walk(place):
        main = _main(folder)
        folders[:] = [] if main else _entered(folders)
        if main is not None and (prose or main.endswith(SKILL_JSON)):
            found.append(main)
        elif main is not None:
            skipped += 1
    return found, skipped


def _main(folder: str) -> str | None:
    paths = (os.path.join(folder, name) for name in (SKILL_JSON, SKILL_MD))
    return next(filter(os.path.isfile, paths), None)


def _entered(folders: Iterable[str]) -> list[str]:
    return sorted(name for name in folders if name not in SKIPPED and name[:1] != ".")


def shown_path(file: str, cwd: str) -> str:
    """Return a path for display: relative if the file is below the working directory."""
    inside = file.startswith(os.path.join(cwd, ""))
    return (os.path.relpath(file, cwd) if inside else file).replace(os.sep, "/")


def read_executable(file: str, shown: str) -> tuple[Executable, list[str]]:
    """Read one skill.json, without other files, and its problems.

    Raises:
        UsageError: It does not have the shape of one; one problem per line.
    """
    spec = decoded(Executable, read_json(file, shown), shown)
    return spec, [f"{shown}: {line}" for line in check_executable(spec)]


def _spec(file: str, shown: str) -> tuple[Executable, AdapterConfig]:
    spec, problems = read_executable(file, shown)
    config_file = os.path.join(os.path.dirname(file), CONFIG_JSON)
    config = spec.adapter or AdapterConfig()
    if os.path.lexists(config_file):
        name = f"{shown.removesuffix(os.path.basename(file))}{CONFIG_JSON}"
        if spec.adapter is not None:
            problems.append(f"{shown}: adapter: {name} has adapter settings too; remove one of them")
        try:
            config = read_config(config_file, name)
        except UsageError as error:
            problems += str(error).splitlines()
        if config.type not in (None, spec.adapter_type):
            kinds = f"adapterType {spec.adapter_type.value} of {os.path.basename(shown)}"
            problems.append(f"{name}: type: expected the {kinds}, found {config.type.value!r}")
    refuse(problems)
    return _with_address(spec), config


def _with_address(spec: Executable) -> Executable:
    """Read ``mcp://HOST:PORT/tools/NAME``, as eval-skills writes it, as the address of a server."""
    found = re.fullmatch(r"mcp://([^/?#\s]+)/tools/[^/?#]+", spec.entrypoint.strip(), re.IGNORECASE)
    if spec.adapter_type is not AdapterType.MCP or found is None:
        return spec
    return replace(spec, entrypoint=f"http://{found[1]}/mcp")


def read_config(file: str, shown: str) -> AdapterConfig:
    """Read one adapter.config.json.

    Raises:
        UsageError: It is not valid; one problem per line.
    """
    config = decoded(AdapterConfig, read_json(file, shown), shown)
    refuse(f"{shown}: {line}" for line in check_config(config))
    # Files of eval-skills name the type that every call has anyway.
    own = ("content-type", "application/json")
    headers = {name: value for name, value in config.headers.items() if (name.lower(), value.lower()) != own}
    return replace(config, headers=headers)


def _prose(root: str, shown: str) -> Executable:
    """Describe a SKILL.md as a skill.json: the id is its name, the version is ``metadata.version`` or a digest."""
    from skillgate.model.skill import Unreadable
    from skillgate.skill.find import discover, read
    from skillgate.skill.parse import parse

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
    """Return an id from a prose skill's name, else from its directory."""
    return re.sub(r"[^a-z0-9_-]+", "-", (name or os.path.basename(root)).lower()).strip("-") or "skill"


def content_version(root: str) -> str:
    """Return a version for a prose skill without one, computed from its files."""
    return f"0.0.0+{_digest(root)[:12]}"


def _clashes(skills: Sequence[Runnable]) -> Iterator[str]:
    seen: dict[tuple[str, str], Runnable] = {}
    for skill in skills:
        key = (skill.spec.id, skill.spec.version)
        other = seen.setdefault(key, skill)
        if other is not skill:
            advice = "change the id or version of one"
            yield f"{skill.shown}: id {key[0]!r} version {key[1]} is the same as in {other.shown}; {advice}"


def _keyed(skills: Sequence[Runnable]) -> Iterator[Runnable]:
    ids = [skill.spec.id for skill in skills]
    for skill in skills:
        several = ids.count(skill.spec.id) > 1
        yield replace(skill, key=f"{skill.spec.id}@{skill.spec.version}") if several else skill


def _digest(root: str) -> str:
    """Return a digest of a skill's files without caches of tools; ``""`` if there are too many."""
    parts: list[bytes] = []
    count = size = 0
    for folder, folders, names in os.walk(root):
        folders[:] = _entered(folders)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".pyc"):
                continue
            if os.path.islink(path):  # never follow it: it may lead to an endless file
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


def misspelt_keys(data: Any, shown: str) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return notices about unknown keys of a skill.json that are similar to known ones."""
    known = {key_of(Executable, field.name) for field in fields(Executable)}
    notices = []
    for key in data if isinstance(data, dict) else ():
        # If the right key is there too, the other is not a typo.
        near = did_you_mean(key, known - data.keys()) if key not in known else ""
        if near:
            notices.append(f"{shown}: {printable(key)[:60]} is an unknown key{near}")
    return tuple(notices[:_MOST_MISSPELT])


def check_runnable(skill: Runnable) -> None:
    """Refuse a skill that no run could start or ask, whatever the options and variables.

    Raises:
        UsageError: With the reason.
    """
    kind = skill.spec.adapter_type
    if skill.config.request is not None and kind is not AdapterType.HTTP:
        raise UsageError(f"{skill.shown}: request: only for adapterType http, found {kind.value}")
    if kind is AdapterType.SKILLMD:
        from skillgate.bench.adapters.skillmd import subject_of  # imports sessions

        subject_of(skill)
    elif kind is AdapterType.HTTP or (kind is AdapterType.MCP and has_address(skill)):
        from skillgate.bench.addresses import check_target  # not needed by searches

        check_target(skill)
    elif kind in (AdapterType.SUBPROCESS, AdapterType.MCP, *OWN_ADAPTER):
        from skillgate.bench.program import command_of

        command_of(skill)
        for name in skill.config.pass_env:
            require_passable(name, {name}, where=f"{skill.shown}: passEnv")


def has_address(skill: Runnable) -> bool:
    """Whether an MCP server has an address; otherwise it is a program.

    Raises:
        UsageError: The address has another scheme, or the tool's name is not a string.
    """
    name = skill.spec.metadata.get("toolName")
    if name is not None and not isinstance(name, str):
        raise UsageError(f"{skill.shown}: metadata.toolName: expected a string")
    entrypoint = skill.spec.entrypoint.strip()
    is_address = re.match(r"https?://", entrypoint, re.IGNORECASE) is not None
    if skill.config.command is None and (is_address or skill.config.base_url is not None):
        return True
    if re.match(r"[a-z][a-z0-9+.-]*://", entrypoint, re.IGNORECASE):
        shown = entrypoint[:80]
        raise UsageError(f"{skill.shown}: entrypoint: expected a command, or an http(s) address, found {shown!r}")
    return False
