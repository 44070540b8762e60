"""The configuration: defaults, the user's file, the project's file, and the command line, from weak to strong.

A project is configured by ``.skillgate.yaml`` or by ``[tool.skillgate]`` in pyproject.toml. They are searched from the
working directory up to the one with ``.git`` (else to the home directory or the root). Only the first is read. Either
may have ``overrides``, a list of mappings with ``paths`` and the settings for these paths only; the last match wins. A
later layer replaces a value as a whole, including lists and mappings.
"""
# ruff: noqa: PTH113, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from skillgate.errors import UsageError
from skillgate.format import did_you_mean
from skillgate.model.setting import UnfitError
from skillgate.named_tuple import NamedTuple
from skillgate.settings import BY_KEY, EXCLUDE, PER_FILE_IGNORES, RULES, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import PurePosixPath

    from skillgate.model.setting import Setting, Value
    from skillgate.model.yaml_bounded import MappingDocument

T = TypeVar("T")
YAML_NAME = ".skillgate.yaml"
TOML_NAME = "pyproject.toml"
OTHER_FILES = ("eval-skills.config.yaml", "eval-skills.config.yml", "eval-skills.config.json")
"""The configuration files of eval-skills; read and translated only if there is none of ours."""
YAML_BYTES = 65536  # as the limits of skillgate.model.yaml_bounded
_TOML_BYTES = 1 << 20
_TOML_MARK = b"skillgate"  # no file without these bytes is parsed


class Files(Protocol):
    """A source of configuration files, by absolute paths: the disk, or a commit of the repository there."""

    def is_file(self, path: str) -> bool:
        """Return whether a path is a file, symbolic links followed."""

    def is_there(self, path: str) -> bool:
        """Return whether a path exists, even as a broken link."""

    def read(self, path: str, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a file. Raises OSError: it cannot be read."""


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


class Layer(NamedTuple):
    """Settings from one place, for every path or, with ``patterns``, for matching ones."""

    values: Mapping[str, Value]
    origins: Mapping[str, str]  # where each value was set, as displayed
    patterns: tuple[str, ...] = ()  # globs, matched by :func:`matches`
    base: str = ""  # the absolute directory the patterns are relative to
    folder: str = ""  # the absolute directory of the file
    may_run_code: bool = True  # False if it is a skill's own file, which nobody named with ``--config``


class Config:
    """The effective settings: ``layers`` from the weakest to the strongest, without defaults.

    Immutable. ``notices`` are for the user, about how it was read.
    """

    __slots__ = ("_called", "_cwd", "layers", "notices")

    def __init__(
        self, *, cwd: str, layers: tuple[Layer, ...] = (), notices: tuple[str, ...] = (), called: bool = False
    ) -> None:
        self.layers = layers
        self.notices = notices
        self._cwd = cwd
        self._called = called

    def get(self, setting: Setting[T], path: PurePosixPath | None = None) -> T:
        """Return a setting's value, with overrides for the shown path of a skill.

        Patterns are relative to the directory of their file, wherever the command runs.
        """
        layer = self._deciding(setting.key, path)
        return cast("T", setting.default if layer is None else layer.values[setting.key])

    def origin(self, setting: Setting[Any], path: PurePosixPath | None = None) -> str:
        """Return where a value was set: ``default``, ``option``, or a file with its line if known."""
        layer = self._deciding(setting.key, path)
        return "default" if layer is None else layer.origins[setting.key]

    def base(self, setting: Setting[Any]) -> str:
        """Return the absolute base directory of a setting's path: that of the file that sets it."""
        layer = self._deciding(setting.key, None)
        return self._cwd if layer is None or not layer.base else layer.base

    def layer(self, setting: Setting[Any]) -> Layer | None:
        """Return the layer that sets a value for every path; None if the default applies."""
        return self._deciding(setting.key, None)

    @property
    def scoped(self) -> bool:
        """Whether anything differs by path."""
        by_file = any(layer.patterns or PER_FILE_IGNORES.key in layer.values for layer in self.layers)
        return by_file or any("paths" in table for table in (self.get(RULES) or {}).values())

    def excluded(self, given: Iterable[str]) -> Callable[[str], bool] | None:
        """Return whether ``exclude`` leaves out a directory, by its shown path; None if it leaves out nothing.

        A pattern has no effect below a path that was ``given`` and that it matches: what is named is searched.
        """
        layer = self._deciding(EXCLUDE.key, None)
        patterns = self.get(EXCLUDE)
        if layer is None or not patterns:
            return None
        starts = [(f"{place}/", tuple(_with_parents(place))) for place in (self._relative(layer, one) for one in given)]

        def is_left_out(shown: str) -> bool:
            place = self._relative(layer, shown)
            above = [parents for start, parents in starts if f"{place}/".startswith(start) or start == "./"]
            return any(
                matches_anywhere(pattern, place)
                and not any(matches_anywhere(pattern, one) for parents in above for one in parents)
                for pattern in patterns
            )

        return is_left_out

    def ignored_in(self, path: PurePosixPath) -> Callable[[str], frozenset[str]] | None:
        """Return what ``per-file-ignores`` suppresses in a file of the skill at a shown path; None for nothing."""
        layer = self._deciding(PER_FILE_IGNORES.key, None)
        lists = self.get(PER_FILE_IGNORES)
        if layer is None or not lists:
            return None
        folder = self._relative(layer, str(path), follow=not self._called)

        def ignored(file: str) -> frozenset[str]:
            found = (words for pattern, words in lists.items() if matches_anywhere(pattern, f"{folder}/{file}"))
            return frozenset(word for words in found for word in words)

        return ignored

    def inapplicable_in(self, path: PurePosixPath) -> Callable[[str], frozenset[str]] | None:
        """Return the house rules whose ``paths`` leave out a file of the skill at a shown path; None for none."""
        layer, rules = self._deciding(RULES.key, None), self.get(RULES) or {}
        limited = {name: globs for name, table in rules.items() if isinstance(globs := table.get("paths"), tuple)}
        if layer is None or not limited:
            return None
        folder = self._relative(layer, str(path), follow=not self._called)

        def inapplicable(file: str) -> frozenset[str]:
            place = f"{folder}/{file}"
            return frozenset(
                name for name, globs in limited.items() if not any(matches_anywhere(glob, place) for glob in globs)
            )

        return inapplicable

    def _relative(self, layer: Layer, shown: str, *, follow: bool = False) -> str:
        """Return a shown path relative to the base of a layer, with ``/``; links at its end are followed if asked."""
        place = os.path.join(os.path.realpath(self._cwd), shown)
        place = os.path.realpath(place) if follow else os.path.normpath(place)
        try:
            return os.path.relpath(place, os.path.realpath(layer.base)).replace(os.sep, "/")
        except ValueError:  # another drive
            return place.replace(os.sep, "/")

    def with_options(self, options: Mapping[str, Value]) -> Config:
        """Add values of the command line as the strongest layer. Raises UsageError: a key or value is not valid."""
        try:
            values = {key: checked(BY_KEY, key, value) for key, value in options.items()}
        except ValueError as error:
            raise UsageError(str(error)) from None
        layer = Layer(values=values, origins=dict.fromkeys(values, "option"))
        return Config(cwd=self._cwd, layers=(*self.layers, layer), notices=self.notices)

    def as_called(self) -> Config:
        """Return a copy that matches overrides with the path as written, without following links."""
        return Config(cwd=self._cwd, layers=self.layers, notices=self.notices, called=True)

    def between(self, under: Layer, over: Layer) -> Config:
        """Return a copy with a weakest and a strongest layer added; their values are not checked."""
        return Config(cwd=self._cwd, layers=(under, *self.layers, over), notices=self.notices)

    def _deciding(self, key: str, path: PurePosixPath | None) -> Layer | None:
        for layer in reversed(self.layers):
            if key in layer.values and (not layer.patterns or self._covers(layer, path)):
                return layer
        return None

    def _covers(self, layer: Layer, path: PurePosixPath | None) -> bool:
        if path is None:
            return False
        # Without links: another name for a skill must not lead to another gate.
        relative = self._relative(layer, str(path), follow=not self._called)
        return any(matches(pattern, relative) for pattern in layer.patterns)


_Read = tuple[tuple[Layer, ...], tuple[str, ...]]  # layers and notices


def load(
    *, explicit: str | None, cwd: str, environ: Mapping[str, str], files: Files = DISK, shown_from: str | None = None
) -> Config:
    """Find and read the configuration files.

    The project's are read from ``files``, or only the one that ``--config`` names (``explicit``); the user's own is
    always read from this machine. Paths of skills are relative to ``shown_from``, by default ``cwd``; both are
    absolute.

    Raises:
        UsageError: a file is not valid (with all of its problems), too large, or cannot be read.
    """
    home, user = _home(environ), user_file(environ)
    layers: tuple[Layer, ...] = ()
    if user and DISK.is_file(user):
        label = "~" + user[len(home) :] if home and user.startswith(home + os.sep) else user
        layers = read_yaml(DISK, user, label=label, base=cwd, personal=True)
    if explicit is not None:
        found: _Read | None = _read_explicit(files, explicit, cwd)
    else:
        folders = [folder for folder in _upward(files, cwd, home) if not _is_skill_of_others(files, folder)]
        readings = (read(files, folder, cwd) for read in (_read_own, _read_eval_skills) for folder in folders)
        found = next((one for one in readings if one is not None), None)
    own, notices = found or ((), ())
    if explicit is None:
        own = tuple(layer._replace(may_run_code=_may_run_code(files, layer)) for layer in own)
    return Config(cwd=shown_from or cwd, layers=layers + own, notices=notices)


def read_file(path: str, *, cwd: str) -> Config | None:
    """Read one project file; None for a pyproject.toml without our table. Raises UsageError like :func:`load`."""
    found = _read_named(DISK, path, cwd)
    return None if found is None else Config(cwd=cwd, layers=found[0], notices=found[1])


def config_digest(config: Config) -> str:
    """Return 16 hexadecimal digits that are equal for equal effective settings, wherever they were set."""
    import json  # only reports need these

    from skillgate.model.skill import sha256_of

    plain = {setting.key: config.get(setting) for setting in SETTINGS}
    scoped = [[layer.patterns, dict(layer.values)] for layer in config.layers if layer.patterns]
    text = json.dumps([plain, scoped], sort_keys=True, separators=(",", ":"))
    return sha256_of(text)[:16]


def user_file(environ: Mapping[str, str]) -> str:
    """Return the path of the user's own file, which may not exist; ``""`` if no directory is known for it."""
    if os.name == "nt":
        folder = environ.get("APPDATA", "")
    else:
        folder, home = environ.get("XDG_CONFIG_HOME", ""), _home(environ)
        if not os.path.isabs(folder):  # noqa: PTH117 - the XDG specification: a relative path is ignored
            folder = os.path.join(home, ".config") if home else ""
    return os.path.join(folder, "skillgate", "config.yaml") if folder else ""


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return os.path.normpath(home) if home else ""


def _upward(files: Files, cwd: str, home: str) -> list[str]:
    folders = [cwd]
    while not files.is_there(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if folders[-1] == home or parent == folders[-1]:
            break
        folders.append(parent)
    return folders


def _is_skill_of_others(files: Files, folder: str) -> bool:
    """Return whether this is a skill's directory, which must not configure its own gate; a repository may be both."""
    return _is_skill(files, folder) and not files.is_there(os.path.join(folder, ".git"))


def _may_run_code(files: Files, layer: Layer) -> bool:
    """Whether a configuration may name code: not one in a skill's directory or below it."""
    if _is_skill(files, layer.folder):
        return False
    folder = os.path.realpath(layer.folder)
    while files is DISK and RULES.key in layer.values:  # elsewhere it is of a commit that decides
        try:
            names = {name.casefold() for name in os.listdir(folder)}  # noqa: PTH208
        except OSError:
            return False
        if "skill.md" in names:
            return False
        if ".git" in names or folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return True


def _is_skill(files: Files, folder: str) -> bool:
    return any(files.is_there(os.path.join(folder, name)) for name in ("SKILL.md", "skill.md"))


def _read_named(files: Files, name: str, cwd: str) -> _Read | None:
    path = os.path.join(cwd, name)
    if not files.is_file(path):
        raise UsageError(f"configuration file {name} does not exist")
    if os.path.basename(path) in OTHER_FILES:
        return read_other(files, path, label=name, base=cwd)
    read = read_toml if name.endswith(".toml") else read_yaml
    layers = read(files, path, label=name, base=cwd)
    return None if layers is None else (layers, ())


def _read_explicit(files: Files, name: str, cwd: str) -> _Read:
    found = _read_named(files, name, cwd)
    if found is None:
        raise UsageError(f"{name} has no [tool.skillgate]")
    return found


def _read_eval_skills(files: Files, folder: str, cwd: str) -> _Read | None:
    for name in OTHER_FILES:
        path = os.path.join(folder, name)
        if files.is_file(path):
            return read_other(files, path, label=os.path.relpath(path, cwd), base=folder)
    return None


def _read_own(files: Files, folder: str, cwd: str) -> _Read | None:
    """Read the configuration in one directory; None if there is none."""
    yaml_file, toml_file = os.path.join(folder, YAML_NAME), os.path.join(folder, TOML_NAME)
    label = os.path.relpath(toml_file, cwd)
    if not files.is_file(yaml_file):
        table = read_toml(files, toml_file, label=label, base=folder)
        return None if table is None else (table, ())
    layers = read_yaml(files, yaml_file, label=os.path.relpath(yaml_file, cwd), base=folder)
    unread = f"{label}: [tool.skillgate] is ignored, because {YAML_NAME} is in the same directory"
    return layers, (unread,) if defines_settings(toml_file, files) else ()


def defines_settings(toml_file: str, files: Files = DISK) -> bool:
    """Return whether a readable pyproject.toml has a table for skillgate."""
    try:
        return _toml_table(files, toml_file, TOML_NAME) is not None
    except UsageError:
        return False


def read_yaml(files: Files, path: str, *, label: str, base: str, personal: bool = False) -> tuple[Layer, ...]:
    """Read a YAML file by its absolute path; ``label`` is its displayed name, patterns are relative to ``base``.

    Raises:
        UsageError: it is not valid (with all of its problems), too large, or cannot be read.
    """
    document = _document(files, path, label)
    if document is None:
        return ()
    reader = LayerReader(
        label=label,
        base=base,
        places=document.places,
        declared=BY_KEY,
        personal=personal,
        folder=os.path.dirname(path),
    )
    for key, line in document.duplicates:
        reader.problems.append(f"{label}:{line}: duplicate key {key}")
    return reader.layers(document.values)


def read_other(files: Files, path: str, *, label: str, base: str) -> _Read:
    """Read a configuration of eval-skills (YAML or JSON) like :func:`read_yaml`, with notices about ignored parts."""
    notice = f"{label}: used because there is no {YAML_NAME}"
    document = _document(files, path, label)
    if document is None:
        return (), (notice,)
    from skillgate.eval_skills import translated

    found = translated(document.values, document.places)
    reader = LayerReader(label=label, base=base, places=found.places, declared=BY_KEY)
    return reader.layers(found.values), (notice, *(f"{label}: {line}" for line in found.notices))


def read_toml(files: Files, path: str, *, label: str, base: str) -> tuple[Layer, ...] | None:
    """Read ``[tool.skillgate]`` of a file like :func:`read_yaml`; None without the file or the table."""
    table = _toml_table(files, path, label)
    if table is None:
        return None
    folder = os.path.dirname(path)
    return LayerReader(label=label, base=base, places={}, declared=BY_KEY, folder=folder).layers(table)


def _document(files: Files, path: str, label: str) -> MappingDocument | None:
    """Parse a YAML file; None if it has only comments."""
    data = read_bytes(files, path, label)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{label}:{line}: not UTF-8; save the file as UTF-8") from None
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return None
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping  # imports yaml: only with a file to read

    try:
        return load_mapping(text)
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None


def _toml_table(files: Files, path: str, label: str) -> Mapping[str, object] | None:
    if not files.is_file(path):
        return None
    data = read_bytes(files, path, label, limit=_TOML_BYTES)
    if _TOML_MARK not in data:
        return None
    import tomllib  # only with a table to read

    try:
        tool = tomllib.loads(data.decode("utf-8")).get("tool", {})
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or nested too deeply
        raise UsageError(f"{label}: invalid TOML: {error}") from None
    table = tool.get("skillgate") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{label}: tool.skillgate: expected a table")
    return table


def read_bytes(files: Files, path: str, label: str, *, limit: int = YAML_BYTES) -> bytes:
    """Read a configuration file. Raises UsageError: it cannot be read, or has more than ``limit`` bytes."""
    try:
        data = files.read(path, limit + 1)
    except OSError as error:
        raise UsageError(f"cannot read {label}: {error.strerror}") from error
    if len(data) > limit:
        raise UsageError(f"{label}: too large (maximum {limit // 1024} KiB)")
    return data


def matches(pattern: str, path: str) -> bool:
    """Match a ``/``-separated path with a glob: ``**`` matches any number of directories, also none.

    Within one directory's or file's name, ``*``, ``?`` and ``[…]`` work as in a shell; letter case counts. The whole
    path must match: ``legacy/**`` is ``legacy`` and everything below it, ``**/old`` is ``old`` at any depth.
    """
    from fnmatch import fnmatchcase  # imports the regular expressions; only overrides need it

    parts = [part for part in path.split("/") if part not in ("", ".")]
    reached = {0}  # how many parts the pattern so far may have consumed
    for segment in pattern.strip("/").split("/"):
        if segment == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        elif segment not in ("", "."):
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], segment)}
    return len(parts) in reached


def matches_anywhere(pattern: str, path: str) -> bool:
    """Match a path like :func:`matches`, but a glob without ``/`` at any depth: ``vendor`` is also ``a/vendor``."""
    return matches(pattern if "/" in pattern.rstrip("/") else f"**/{pattern}", path)


def _with_parents(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


class LayerReader:
    """Turns the mapping of one file into layers, and collects every error in ``problems``."""

    def __init__(
        self,
        *,
        label: str,  # the displayed name of the file
        base: str,
        places: Mapping[str, int],  # the line of each place in the file, such as ``overrides[0].threshold``
        declared: Mapping[str, Setting[Any]],
        personal: bool = False,  # whether it is the user's own file, which may say where requests and keys go
        folder: str = "",  # the absolute directory of the file
    ) -> None:
        self.label, self.base, self.places, self.declared, self.personal = label, base, places, declared, personal
        self.folder = folder
        self.problems: list[str] = []

    def layers(self, table: Mapping[str, object]) -> tuple[Layer, ...]:
        """Read the settings for every path, then the overrides in order. Raises UsageError with every problem."""
        overrides = [] if table.get("overrides") is None else table["overrides"]
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
        values = {key: value for key, value in item.items() if key != "paths"}
        for key in [key for key in values if key in self.declared and not self.declared[key].per_path]:
            self._problem(f"{place}.{key}", f"{key} applies to a whole run; it cannot differ by path")
        return self._layer(values, place, patterns=tuple(patterns))

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
                    f"{key} decides where requests, keys or cached answers go, so a project's file cannot set"
                    f" it; use --{key}, or set it in your own configuration (skillgate/config.yaml)",
                )
            origins[key] = self._where(at)
        return Layer(values=values, origins=origins, patterns=patterns, base=self.base, folder=self.folder)

    def _problem(self, place: str, message: str, instead: str = "") -> None:
        self.problems.append(f"{self._where(place if place in self.places else instead or place)}: {message}")

    def _where(self, place: str) -> str:
        line = self.places.get(place)
        return self.label if line is None else f"{self.label}:{line}"


def checked(declared: Mapping[str, Setting[Any]], key: str, value: object, also: str = "overrides") -> Value:
    """Check a key (of ``declared``, or ``also``) and its value. Raises ValueError: it is unknown or not valid."""
    setting = declared.get(key)
    if setting is None:
        raise ValueError(f"unknown key {key!r}{did_you_mean(key, (*declared, also))}")
    try:
        return setting.accept(value)
    except UnfitError as error:
        raise UnfitError(tuple((f"{key}.{path}", message) for path, message in error.parts)) from None
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
