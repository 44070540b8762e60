"""One configuration file: found on the disk or in a commit, and read into layers.

A layer is what one file or the command line sets, and for which paths.
"""
# ruff: noqa: PTH113, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from skillgate.errors import UsageError
from skillgate.model.setting import UnfitError
from skillgate.model.text import did_you_mean
from skillgate.settings import BY_KEY

if TYPE_CHECKING:
    from skillgate.model.setting import Setting, Value

YAML_NAME = ".skillgate.yaml"
TOML_NAME = "pyproject.toml"
_TOML_MARK = b"skillgate"  # no file without these bytes is parsed
YAML_BYTES = 65536  # as the limits of skillgate.model.yaml_bounded
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
        return os.path.isfile(path)

    def is_there(self, path: str) -> bool:
        return os.path.lexists(path)

    def read(self, path: str, limit: int) -> bytes:
        with open(path, "rb") as file:
            return file.read(limit)


DISK: Files = _Disk()


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
    reader = LayerReader(label=label, base=base, places=document.places, declared=BY_KEY, personal=personal)
    for key, line in document.duplicates:
        reader.problems.append(f"{label}:{line}: the key {key} stands here a second time")
    return reader.layers(document.values)


def read_other(files: Files, path: str, *, label: str, base: str) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    """Read a configuration of eval-skills, YAML or JSON, as :func:`read_yaml`, and say what is not read of it."""
    told = f"{label}: read in the place of {YAML_NAME}, which comes before it where there is one"
    text = _text(files, path, label)
    if text is None:
        return (), (told,)
    from skillgate.eval_skills import translated
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping

    try:
        document = load_mapping(text)
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None
    found = translated(document.values, document.places)
    reader = LayerReader(label=label, base=base, places=found.places, declared=BY_KEY)
    return reader.layers(found.values), (told, *(f"{label}: {line}" for line in found.notices))


def read_toml(files: Files, path: str, *, label: str, base: str) -> tuple[Layer, ...] | None:
    """Read ``[tool.skillgate]`` of a file, as :func:`read_yaml`; None without the file or the table."""
    table = _toml_table(files, path, label)
    if table is None:
        return None
    return LayerReader(label=label, base=base, places={}, declared=BY_KEY).layers(table)


def _text(files: Files, path: str, label: str) -> str | None:
    """Give the text of a file of YAML; None for comments alone: a file that sets nothing yet."""
    data = read_bytes(files, path, label, limit=YAML_BYTES)
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
    data = read_bytes(files, path, label, limit=_TOML_BYTES)
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


def read_bytes(files: Files, path: str, label: str, *, limit: int = YAML_BYTES) -> bytes:
    """Read a file of configuration.

    Raises:
        UsageError: it cannot be read, or has more than ``limit`` bytes.
    """
    try:
        data = files.read(path, limit + 1)
    except OSError as error:
        raise UsageError(f"cannot read {label}: {error.strerror}") from error
    if len(data) > limit:
        raise UsageError(f"{label}: larger than {limit // 1024} KiB, which no configuration needs")
    return data


class Layer(NamedTuple):
    """Settings from one place, for every path or, with ``patterns``, for those that match one of them.

    Attributes:
        values: by setting key.
        origins: where each value was written, as shown to people.
        patterns: globs, matched by :func:`matches`; empty: the layer is not restricted.
        base: the absolute directory the patterns are relative to.
    """

    values: Mapping[str, Value]
    origins: Mapping[str, str]
    patterns: tuple[str, ...] = ()
    base: str = ""


def matches(pattern: str, path: str) -> bool:
    """Match a ``/``-separated path with a glob: ``**`` stands for any number of directories, none included.

    Within one directory's or file's name, ``*``, ``?`` and ``[…]`` work as in a shell; letter case counts. The whole
    path must match: ``legacy/**`` is ``legacy`` and everything below it, ``**/old`` is ``old`` at any depth.
    """
    from fnmatch import fnmatchcase  # brings in the regular expressions; only overrides need it

    parts = [part for part in path.split("/") if part not in ("", ".")]
    reached = {0}  # how many parts the pattern so far may have consumed
    for segment in pattern.strip("/").split("/"):
        if segment == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        elif segment not in ("", "."):
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], segment)}
    return len(parts) in reached


class LayerReader:
    """Turns the mapping of one file into layers and collects everything that is wrong with it.

    Attributes:
        label: the file as shown to people.
        base: the absolute directory its patterns are relative to.
        places: the line of each place in the file, under names such as ``overrides[0].threshold``; may be empty.
        declared: the settings by key.
        personal: whether it is the user's own, which may say where requests and keys go.
        problems: what is wrong so far, a line each.
    """

    def __init__(
        self,
        *,
        label: str,
        base: str,
        places: Mapping[str, int],
        declared: Mapping[str, Setting[Any]],
        personal: bool = False,
    ) -> None:
        self.label = label
        self.base = base
        self.places = places
        self.declared = declared
        self.personal = personal
        self.problems: list[str] = []

    def layers(self, table: Mapping[str, object]) -> tuple[Layer, ...]:
        """Read the whole mapping: the settings for every path first, then the overrides in their order.

        Raises:
            UsageError: with every problem of the file.
        """
        found = table.get("overrides")
        overrides = [] if found is None else found
        layers = [self._layer({key: table[key] for key in table if key != "overrides"}, "")]
        if not isinstance(overrides, list):
            self._problem("overrides", "overrides: expected a list of mappings with paths and settings")
            overrides = []
        for index, item in enumerate(overrides):
            place = f"overrides[{index}]"
            if isinstance(item, dict):
                layers.append(self._override(item, place))
            else:
                self._problem(place, f"{place}: expected a mapping with paths and settings, found {item!r:.80}")
        if self.problems:
            count = len(self.problems)
            head = [f"{self.label}: {count} problems"] if count > 1 else []
            raise UsageError("\n".join([*head, *self.problems]))
        return tuple(layers)

    def _override(self, item: Mapping[str, object], place: str) -> Layer:
        paths = item.get("paths")
        patterns = [paths] if isinstance(paths, str) else paths
        if not isinstance(patterns, list) or not patterns or not all(isinstance(p, str) and p for p in patterns):
            self._problem(f"{place}.paths", f"{place}.paths: expected a list of globs, found {paths!r:.80}", place)
            patterns = ["**"]
        given = {key: value for key, value in item.items() if key != "paths"}
        for key in [key for key in given if key in self.declared and not self.declared[key].per_path]:
            self._problem(f"{place}.{key}", f"{key} holds for a whole run; it cannot differ by path")
        return self._layer(given, place, patterns=tuple(patterns))

    def _layer(self, table: Mapping[str, object], place: str, *, patterns: tuple[str, ...] = ()) -> Layer:
        values: dict[str, Value] = {}
        origins: dict[str, str] = {}
        for key, value in table.items():
            at = f"{place}.{key}" if place else key
            try:
                values[key] = checked(self.declared, key, value, also="paths" if place else "overrides")
            except UnfitError as error:
                for path, message in error.parts:
                    self._problem(f"{place}.{path}" if place else path, f"{path}: {message}", at)
            except ValueError as error:
                self._problem(at, str(error))
            if key in values and self.declared[key].personal and not self.personal:
                self._problem(
                    at,
                    f"{key} decides where requests, keys or kept answers go, so a project's file may not"
                    f" set it; give --{key}, or set it in your own configuration (skillgate/config.yaml)",
                )
            origins[key] = self._where(at)
        return Layer(values=values, origins=origins, patterns=patterns, base=self.base)

    def _problem(self, place: str, message: str, instead: str = "") -> None:
        self.problems.append(f"{self._where(place if place in self.places else instead or place)}: {message}")

    def _where(self, place: str) -> str:
        line = self.places.get(place)
        return self.label if line is None else f"{self.label}:{line}"


def checked(declared: Mapping[str, Setting[Any]], key: str, value: object, also: str = "overrides") -> Value:
    """Check one key and its value; ``also`` is a word that may stand beside the settings.

    Raises:
        ValueError: there is no such key, or the value does not fit it.
    """
    setting = declared.get(key)
    if setting is None:
        raise ValueError(f"unknown key {key!r}{did_you_mean(key, (*declared, also))}")
    try:
        return setting.accept(value)
    except UnfitError as error:
        raise UnfitError(tuple((f"{key}.{path}", message) for path, message in error.parts)) from None
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
