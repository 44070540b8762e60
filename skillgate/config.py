"""The configuration: defaults, the user's file, the project's file, and the command line over all of them.

A project is configured by ``.skillgate.yaml`` or by ``[tool.skillgate]`` in pyproject.toml, looked for from the working
directory upward to the one that holds ``.git`` (else to the home directory or the root); the first found is the only
one read. Either may say ``overrides``, a list of mappings with ``paths`` and settings that hold for these paths alone;
of several that match, the last wins. A later layer replaces a value as a whole, lists and mappings included.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.layer import Layer, LayerReader, checked, matches
from skillgate.registry import settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePosixPath

    from skillgate.model.setting import Setting, Value

YAML_NAME = ".skillgate.yaml"
TOML_NAME = "pyproject.toml"
_TOML_MARK = b"skillgate"  # no file without these bytes is parsed
_YAML_BYTES = 65536  # as the limits of skillgate.model.yaml_bounded
_TOML_BYTES = 1 << 20


class Config:
    """The effective settings. It never changes; :meth:`with_options` gives a new one.

    Attributes:
        layers: from the weakest to the strongest, defaults not included.
        notices: what the user should know about how it was read.
    """

    __slots__ = ("_cwd", "_declared", "layers", "notices")

    def __init__(self, *, cwd: str, layers: tuple[Layer, ...] = (), notices: tuple[str, ...] = ()) -> None:
        self.layers = layers
        self.notices = notices
        self._cwd = cwd
        self._declared = _declared()

    def keys(self) -> tuple[str, ...]:
        """List every key there is, set or not."""
        return tuple(self._declared)

    def get(self, key: str, path: PurePosixPath | None = None) -> Value:
        """Give a setting's value, with overrides applied where a skill's shown path is given.

        Patterns are relative to the directory of the file that holds them, wherever the command runs.

        Raises:
            KeyError: no room declares the key.
        """
        layer = self._deciding(key, path)
        return self._declared[key].default if layer is None else layer.values[key]

    def origin(self, key: str, path: PurePosixPath | None = None) -> str:
        """Say where a value was set: ``default``, ``option``, or a file, with the line where it is known.

        Raises:
            KeyError: no room declares the key.
        """
        layer = self._deciding(key, path)
        return "default" if layer is None else layer.origins[key]

    def base(self, key: str) -> str:
        """Give the absolute directory that a path set for a key is relative to: that of the file which sets it.

        Raises:
            KeyError: no room declares the key.
        """
        layer = self._deciding(key, None)
        return self._cwd if layer is None or not layer.base else layer.base

    @property
    def scoped(self) -> bool:
        """Whether anything differs by path."""
        return any(layer.patterns for layer in self.layers)

    def with_options(self, options: Mapping[str, Value]) -> Config:
        """Lay values given on the command line over everything, overrides by path included.

        Raises:
            UsageError: a key or value is not valid.
        """
        try:
            values = {key: checked(self._declared, key, value) for key, value in options.items()}
        except ValueError as error:
            raise UsageError(str(error)) from None
        layer = Layer(values=values, origins=dict.fromkeys(values, "option"))
        return Config(cwd=self._cwd, layers=(*self.layers, layer), notices=self.notices)

    def _deciding(self, key: str, path: PurePosixPath | None) -> Layer | None:
        self._declared[key]  # an undeclared key is a mistake of the caller
        for layer in reversed(self.layers):
            if key in layer.values and (not layer.patterns or self._covers(layer, path)):
                return layer
        return None

    def _covers(self, layer: Layer, path: PurePosixPath | None) -> bool:
        if path is None:
            return False
        # Without links: another name for a skill must not lead to another gate.
        place = os.path.realpath(os.path.join(self._cwd, path))  # noqa: PTH118
        try:
            relative = os.path.relpath(place, os.path.realpath(layer.base))
        except ValueError:  # another drive
            return False
        return any(matches(pattern, relative.replace(os.sep, "/")) for pattern in layer.patterns)


def load(*, explicit: str | None, cwd: str, environ: Mapping[str, str]) -> Config:
    """Find and read the configuration files.

    Args:
        explicit: the one project file to read, as ``--config`` names it; None to look for it.
        cwd: the working directory, absolute.
        environ: the environment, for the home directory and where configuration is kept.

    Raises:
        UsageError: a file is not valid (with all of its problems), too large, or cannot be read.
    """
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    home = os.path.normpath(home) if home else ""
    layers: tuple[Layer, ...] = ()
    notices: tuple[str, ...] = ()
    user = _user_file(environ, home)
    if user and os.path.isfile(user):  # noqa: PTH113
        label = "~" + user[len(home) :] if home and user.startswith(home + os.sep) else user
        layers += _read_yaml(user, label=label, base=cwd)
    if explicit is not None:
        return Config(cwd=cwd, layers=layers + _read_explicit(explicit, cwd))
    for folder in _upward(cwd, home):
        if _is_skill_of_others(folder):
            continue
        found = _read_folder(folder, cwd)
        if found is not None:
            layers, notices = layers + found[0], found[1]
            break
    return Config(cwd=cwd, layers=layers, notices=notices)


def read_file(path: str, *, cwd: str) -> Config | None:
    """Read one project file by itself; None for a pyproject.toml without ``[tool.skillgate]``.

    Raises:
        UsageError: it is not valid, too large, or cannot be read.
    """
    place = os.path.join(cwd, path)  # noqa: PTH118
    if not os.path.isfile(place):  # noqa: PTH113
        raise UsageError(f"there is no configuration file {path}")
    if not path.endswith(".toml"):
        return Config(cwd=cwd, layers=_read_yaml(place, label=path, base=cwd))
    layers = _read_toml(place, label=path, base=cwd)
    return None if layers is None else Config(cwd=cwd, layers=layers)


def config_digest(config: Config) -> str:
    """Give 16 hexadecimal digits that are equal for equal effective settings, wherever they were written."""
    import hashlib  # only reports need it
    import json

    plain = {key: config.get(key) for key in config.keys()}  # noqa: SIM118 - a method of Config, not of a dict
    scoped = [[layer.patterns, dict(layer.values)] for layer in config.layers if layer.patterns]
    text = json.dumps([plain, scoped], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _declared() -> dict[str, Setting]:
    return {setting.key: setting for setting in settings()}


def _user_file(environ: Mapping[str, str], home: str) -> str:
    if os.name == "nt":
        folder = environ.get("APPDATA", "")
    else:
        folder = environ.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(folder):  # noqa: PTH117 - the XDG specification: a relative path is ignored
            folder = os.path.join(home, ".config") if home else ""  # noqa: PTH118
    return os.path.join(folder, "skillgate", "config.yaml") if folder else ""  # noqa: PTH118


def _upward(cwd: str, home: str) -> list[str]:
    folders = [cwd]
    while not os.path.exists(os.path.join(folders[-1], ".git")):  # noqa: PTH110, PTH118
        parent = os.path.dirname(folders[-1])  # noqa: PTH120
        if folders[-1] == home or parent == folders[-1]:
            break
        folders.append(parent)
    return folders


def _is_skill_of_others(folder: str) -> bool:
    """Tell a skill's own directory: what is to be gated does not configure the gate. A repository's top may be both."""
    names = (os.path.join(folder, name) for name in ("SKILL.md", "skill.md"))  # noqa: PTH118
    return any(map(os.path.lexists, names)) and not os.path.lexists(os.path.join(folder, ".git"))  # noqa: PTH118


def _read_explicit(explicit: str, cwd: str) -> tuple[Layer, ...]:
    path = os.path.join(cwd, explicit)  # noqa: PTH118
    if not os.path.isfile(path):  # noqa: PTH113
        raise UsageError(f"there is no configuration file {explicit}")
    if not explicit.endswith(".toml"):
        return _read_yaml(path, label=explicit, base=cwd)
    layers = _read_toml(path, label=explicit, base=cwd)
    if layers is None:
        raise UsageError(f"{explicit} has no [tool.skillgate]")
    return layers


def _read_folder(folder: str, cwd: str) -> tuple[tuple[Layer, ...], tuple[str, ...]] | None:
    """Read what one directory holds; None when it configures nothing."""
    yaml_file, toml_file = os.path.join(folder, YAML_NAME), os.path.join(folder, TOML_NAME)  # noqa: PTH118
    has_yaml = os.path.isfile(yaml_file)  # noqa: PTH113
    label = os.path.relpath(toml_file, cwd)
    if not has_yaml:
        layers = _read_toml(toml_file, label=label, base=folder)
        return None if layers is None else (layers, ())
    layers = _read_yaml(yaml_file, label=os.path.relpath(yaml_file, cwd), base=folder)
    if defines_settings(toml_file):
        return layers, (f"{label}: [tool.skillgate] is not read, because {YAML_NAME} stands beside it",)
    return layers, ()


def defines_settings(toml_file: str) -> bool:
    """Say whether a pyproject.toml has a table for skillgate; one that cannot be read has none."""
    try:
        return _toml_table(toml_file, TOML_NAME) is not None
    except UsageError:
        return False


def _read_yaml(path: str, *, label: str, base: str) -> tuple[Layer, ...]:
    data = _read_bytes(path, label, limit=_YAML_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{label}:{line}: not UTF-8; save the file as UTF-8") from None
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return ()  # comments alone: a file that sets nothing yet
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping  # brings in yaml: only with a file to read

    try:
        document = load_mapping(text)
    except YamlProblem as problem:
        raise UsageError(f"{label}:{problem.line}:{problem.column}: {problem.message}") from None
    reader = LayerReader(label=label, base=base, places=document.places, declared=_declared())
    for key, line in document.duplicates:
        reader.problems.append(f"{label}:{line}: the key {key} stands here a second time")
    return reader.layers(document.values)


def _read_toml(path: str, *, label: str, base: str) -> tuple[Layer, ...] | None:
    table = _toml_table(path, label)
    if table is None:
        return None
    return LayerReader(label=label, base=base, places={}, declared=_declared()).layers(table)


def _toml_table(path: str, label: str) -> Mapping[str, object] | None:
    """Give ``[tool.skillgate]`` of a file; None without the file or the table."""
    if not os.path.isfile(path):  # noqa: PTH113
        return None
    data = _read_bytes(path, label, limit=_TOML_BYTES)
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


def _read_bytes(path: str, label: str, *, limit: int) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read(limit + 1)
    except OSError as error:
        raise UsageError(f"cannot read {label}: {error.strerror}") from error
    if len(data) > limit:
        raise UsageError(f"{label}: larger than {limit // 1024} KiB, which no configuration needs")
    return data
