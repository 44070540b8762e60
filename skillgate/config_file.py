"""One configuration file: found on the disk or in a commit, and read into layers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from skillgate.errors import UsageError
from skillgate.model.layer import Layer, LayerReader
from skillgate.registry import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.setting import Setting

YAML_NAME = ".skillgate.yaml"
TOML_NAME = "pyproject.toml"
_TOML_MARK = b"skillgate"  # no file without these bytes is parsed
_YAML_BYTES = 65536  # as the limits of skillgate.model.yaml_bounded
_TOML_BYTES = 1 << 20


class Files(Protocol):
    """Where configuration is read from: the disk, or a commit of the repository that lies there."""

    def is_file(self, path: str) -> bool:
        """Tell whether an absolute path is a file, symbolic links followed."""

    def is_there(self, path: str) -> bool:
        """Tell whether an absolute path is anything at all, be it a link that leads nowhere."""

    def read(self, path: str, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a file.

        Raises:
            OSError: it cannot be read.
        """


class _Disk:
    """The files of this machine."""

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)  # noqa: PTH113

    def is_there(self, path: str) -> bool:
        return os.path.lexists(path)

    def read(self, path: str, limit: int) -> bytes:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(limit)


DISK: Files = _Disk()


def declared() -> dict[str, Setting]:
    """Give every setting that a room declares, by key."""
    return {setting.key: setting for setting in settings()}


def defines_settings(toml_file: str, files: Files = DISK) -> bool:
    """Say whether a pyproject.toml has a table for skillgate; one that cannot be read has none."""
    try:
        return _toml_table(files, toml_file, TOML_NAME) is not None
    except UsageError:
        return False


def read_yaml(files: Files, path: str, *, label: str, base: str, personal: bool = False) -> tuple[Layer, ...]:
    """Read a file of YAML.

    Args:
        files: where it lies.
        path: absolute.
        label: the path as shown to people.
        base: the absolute directory that its patterns are relative to.
        personal: whether it is the user's own.

    Raises:
        UsageError: it is not valid (with all of its problems), too large, or cannot be read.
    """
    text = _text(files, path, label)
    if text is None:
        return ()
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping  # brings in yaml: only with a file to read

    try:
        document = load_mapping(text)
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None
    reader = LayerReader(label=label, base=base, places=document.places, declared=declared(), personal=personal)
    for key, line in document.duplicates:
        reader.problems.append(f"{label}:{line}: the key {key} stands here a second time")
    return reader.layers(document.values)


def read_other(files: Files, path: str, *, label: str, base: str) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    """Read a configuration of eval-skills, YAML or JSON, as :func:`read_yaml`, and say what is not read of it."""
    told = f"{label}: read in the place of {YAML_NAME}, which comes before it where there is one"
    text = _text(files, path, label)
    if text is None:
        return (), (told,)
    from skillgate.model.other_names import translated
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping

    try:
        document = load_mapping(text)
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None
    found = translated(document.values, document.places)
    reader = LayerReader(label=label, base=base, places=found.places, declared=declared())
    return reader.layers(found.values), (told, *(f"{label}: {line}" for line in found.notices))


def read_toml(files: Files, path: str, *, label: str, base: str) -> tuple[Layer, ...] | None:
    """Read ``[tool.skillgate]`` of a file, as :func:`read_yaml`; None without the file or the table."""
    table = _toml_table(files, path, label)
    if table is None:
        return None
    return LayerReader(label=label, base=base, places={}, declared=declared()).layers(table)


def _text(files: Files, path: str, label: str) -> str | None:
    """Give the text of a file of YAML; None for comments alone: a file that sets nothing yet."""
    data = _read_bytes(files, path, label, limit=_YAML_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{label}:{line}: not UTF-8; save the file as UTF-8") from None
    blank = all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n"))
    return None if blank else text


def _toml_table(files: Files, path: str, label: str) -> Mapping[str, object] | None:
    """Give ``[tool.skillgate]`` of a file; None without the file or the table."""
    if not files.is_file(path):
        return None
    data = _read_bytes(files, path, label, limit=_TOML_BYTES)
    if _TOML_MARK not in data:
        return None
    import tomllib  # only with a table to read

    try:
        tool = tomllib.loads(data.decode("utf-8")).get("tool", {})
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or nested without end
        raise UsageError(f"{label}: not valid TOML: {error}") from None
    table = tool.get("skillgate") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{label}: tool.skillgate: expected a table")
    return table


def _read_bytes(files: Files, path: str, label: str, *, limit: int) -> bytes:
    try:
        data = files.read(path, limit + 1)
    except OSError as error:
        raise UsageError(f"cannot read {label}: {error.strerror}") from error
    if len(data) > limit:
        raise UsageError(f"{label}: larger than {limit // 1024} KiB, which no configuration needs")
    return data
