"""The configuration: defaults, the user's file, the project's file, and the command line over all of them.

A project is configured by ``.skillgate.yaml`` or by ``[tool.skillgate]`` in pyproject.toml, looked for from the working
directory upward to the one that holds ``.git`` (else to the home directory or the root); the first found is the only
one read. Either may say ``overrides``, a list of mappings with ``paths`` and settings that hold for these paths alone;
of several that match, the last wins. A later layer replaces a value as a whole, lists and mappings included.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar, cast

from skillgate.config_file import (
    DISK,
    TOML_NAME,
    YAML_NAME,
    Files,
    Layer,
    checked,
    defines_settings,
    matches,
    read_other,
    read_toml,
    read_yaml,
)
from skillgate.errors import UsageError
from skillgate.settings import BY_KEY, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePosixPath

    from skillgate.model.setting import Setting, Value

T = TypeVar("T")
OTHER_FILES = ("eval-skills.config.yaml", "eval-skills.config.yml", "eval-skills.config.json")
"""The files of eval-skills, which are read where there is none of ours; what they say is translated then."""


class Config:
    """The effective settings. It never changes; :meth:`with_options` gives a new one.

    Attributes:
        layers: from the weakest to the strongest, defaults not included.
        notices: what the user should know about how it was read.
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
        """Give a setting's value, with overrides applied where a skill's shown path is given.

        Patterns are relative to the directory of the file that holds them, wherever the command runs.
        """
        layer = self._deciding(setting.key, path)
        return cast("T", setting.default if layer is None else layer.values[setting.key])

    def origin(self, setting: Setting[Any], path: PurePosixPath | None = None) -> str:
        """Say where a value was set: ``default``, ``option``, or a file, with the line where it is known."""
        layer = self._deciding(setting.key, path)
        return "default" if layer is None else layer.origins[setting.key]

    def base(self, setting: Setting[Any]) -> str:
        """Give the absolute directory that a path set for a key is relative to: that of the file which sets it."""
        layer = self._deciding(setting.key, None)
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
            values = {key: checked(BY_KEY, key, value) for key, value in options.items()}
        except ValueError as error:
            raise UsageError(str(error)) from None
        layer = Layer(values=values, origins=dict.fromkeys(values, "option"))
        return Config(cwd=self._cwd, layers=(*self.layers, layer), notices=self.notices)

    def as_called(self) -> Config:
        """Give the same with overrides by the path that a skill is called by, wherever links on it lead."""
        return Config(cwd=self._cwd, layers=self.layers, notices=self.notices, called=True)

    def between(self, under: Layer, over: Layer) -> Config:
        """Lay a layer under all of them, and one over; their values are taken as they are."""
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
        place = os.path.join(os.path.realpath(self._cwd), path)  # noqa: PTH118
        place = os.path.normpath(place) if self._called else os.path.realpath(place)
        try:
            relative = os.path.relpath(place, os.path.realpath(layer.base))
        except ValueError:  # another drive
            return False
        return any(matches(pattern, relative.replace(os.sep, "/")) for pattern in layer.patterns)


def load(
    *,
    explicit: str | None,
    cwd: str,
    environ: Mapping[str, str],
    files: Files = DISK,
    shown_from: str | None = None,
) -> Config:
    """Find and read the configuration files.

    Args:
        explicit: the one project file to read, as ``--config`` names it; None to look for it.
        cwd: the working directory, absolute.
        environ: the environment, for the home directory and where configuration is kept.
        files: where the project's files are read; the user's own is always the one on this machine.
        shown_from: the absolute directory that the paths of skills are relative to; None for ``cwd``.

    Raises:
        UsageError: a file is not valid (with all of its problems), too large, or cannot be read.
    """
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    home = os.path.normpath(home) if home else ""
    layers: tuple[Layer, ...] = ()
    notices: tuple[str, ...] = ()
    user = user_file(environ)
    if user and DISK.is_file(user):
        label = "~" + user[len(home) :] if home and user.startswith(home + os.sep) else user
        layers += read_yaml(DISK, user, label=label, base=cwd, personal=True)
    if explicit is not None:
        own, notices = _read_explicit(files, explicit, cwd)
        return Config(cwd=shown_from or cwd, layers=layers + own, notices=notices)
    folders = [folder for folder in _upward(files, cwd, home) if not _is_skill_of_others(files, folder)]
    readings = ((read, folder) for read in (_read_folder, _read_other) for folder in folders)
    found = next((one for read, folder in readings if (one := read(files, folder, cwd)) is not None), None)
    if found is not None:
        layers, notices = layers + found[0], found[1]
    return Config(cwd=shown_from or cwd, layers=layers, notices=notices)


def read_file(path: str, *, cwd: str) -> Config | None:
    """Read one project file by itself; None for a pyproject.toml without ``[tool.skillgate]``.

    Raises:
        UsageError: it is not valid, too large, or cannot be read.
    """
    place = os.path.join(cwd, path)  # noqa: PTH118
    if not DISK.is_file(place):
        raise UsageError(f"there is no configuration file {path}")
    if os.path.basename(place) in OTHER_FILES:  # noqa: PTH119
        layers, notices = read_other(DISK, place, label=path, base=cwd)
        return Config(cwd=cwd, layers=layers, notices=notices)
    if not path.endswith(".toml"):
        return Config(cwd=cwd, layers=read_yaml(DISK, place, label=path, base=cwd))
    table = read_toml(DISK, place, label=path, base=cwd)
    return None if table is None else Config(cwd=cwd, layers=table)


def config_digest(config: Config) -> str:
    """Give 16 hexadecimal digits that are equal for equal effective settings, wherever they were written."""
    import hashlib  # only reports need it
    import json

    plain = {setting.key: config.get(setting) for setting in SETTINGS}
    scoped = [[layer.patterns, dict(layer.values)] for layer in config.layers if layer.patterns]
    text = json.dumps([plain, scoped], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def user_file(environ: Mapping[str, str]) -> str:
    """Give the path of the user's own file, whether there is one or not; ``""`` where there is no place for it."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    home = os.path.normpath(home) if home else ""
    if os.name == "nt":
        folder = environ.get("APPDATA", "")
    else:
        folder = environ.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(folder):  # noqa: PTH117 - the XDG specification: a relative path is ignored
            folder = os.path.join(home, ".config") if home else ""  # noqa: PTH118
    return os.path.join(folder, "skillgate", "config.yaml") if folder else ""  # noqa: PTH118


def _upward(files: Files, cwd: str, home: str) -> list[str]:
    folders = [cwd]
    while not files.is_there(os.path.join(folders[-1], ".git")):  # noqa: PTH118
        parent = os.path.dirname(folders[-1])  # noqa: PTH120
        if folders[-1] == home or parent == folders[-1]:
            break
        folders.append(parent)
    return folders


def _is_skill_of_others(files: Files, folder: str) -> bool:
    """Tell a skill's own directory: what is to be gated does not configure the gate. A repository's top may be both."""
    names = (os.path.join(folder, name) for name in ("SKILL.md", "skill.md"))  # noqa: PTH118
    return any(map(files.is_there, names)) and not files.is_there(os.path.join(folder, ".git"))  # noqa: PTH118


def _read_explicit(files: Files, explicit: str, cwd: str) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    path = os.path.join(cwd, explicit)  # noqa: PTH118
    if not files.is_file(path):
        raise UsageError(f"there is no configuration file {explicit}")
    if os.path.basename(path) in OTHER_FILES:  # noqa: PTH119
        return read_other(files, path, label=explicit, base=cwd)
    if not explicit.endswith(".toml"):
        return read_yaml(files, path, label=explicit, base=cwd), ()
    layers = read_toml(files, path, label=explicit, base=cwd)
    if layers is None:
        raise UsageError(f"{explicit} has no [tool.skillgate]")
    return layers, ()


def _read_other(files: Files, folder: str, cwd: str) -> tuple[tuple[Layer, ...], tuple[str, ...]] | None:
    """Read the configuration of eval-skills that a directory holds; None without one."""
    for name in OTHER_FILES:
        path = os.path.join(folder, name)  # noqa: PTH118
        if files.is_file(path):
            return read_other(files, path, label=os.path.relpath(path, cwd), base=folder)
    return None


def _read_folder(files: Files, folder: str, cwd: str) -> tuple[tuple[Layer, ...], tuple[str, ...]] | None:
    """Read what one directory holds; None when it configures nothing."""
    yaml_file, toml_file = os.path.join(folder, YAML_NAME), os.path.join(folder, TOML_NAME)  # noqa: PTH118
    has_yaml = files.is_file(yaml_file)
    label = os.path.relpath(toml_file, cwd)
    if not has_yaml:
        layers = read_toml(files, toml_file, label=label, base=folder)
        return None if layers is None else (layers, ())
    layers = read_yaml(files, yaml_file, label=os.path.relpath(yaml_file, cwd), base=folder)
    if defines_settings(toml_file, files):
        return layers, (f"{label}: [tool.skillgate] is not read, because {YAML_NAME} stands beside it",)
    return layers, ()
