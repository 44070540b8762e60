"""Write configuration: a new file for a project, or one value in the user's own file, keeping its other lines."""
# ruff: noqa: PTH103, PTH118, PTH120

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.config import DISK, OTHER_FILES, YAML_NAME, read_bytes, read_other, read_yaml
from skillgate.errors import UsageError
from skillgate.files import replace
from skillgate.homepage import page, raw
from skillgate.model.setting import Kind
from skillgate.settings import (
    BASELINE,
    DEPTH,
    EXCLUDE,
    FAIL_ON,
    IGNORE,
    KNOWN_FINDINGS,
    PROFILE,
    SETTINGS,
    THRESHOLD,
)

if TYPE_CHECKING:
    from skillgate.model.setting import Setting, Value

_PLAIN = re.compile(r"[A-Za-z./][A-Za-z0-9._/-]*(:[A-Za-z0-9._/:-]+)?")  # text that YAML reads as a string
_KEYS = (DEPTH, PROFILE, THRESHOLD, FAIL_ON, BASELINE, IGNORE, EXCLUDE, KNOWN_FINDINGS)  # what most projects set
_WITHOUT_ADDRESS = """\
# For help while editing run `skillgate schema config > skillgate.schema.json` and make the first line
# "# yaml-language-server: $schema=skillgate.schema.json"."""
_HEAD = """\
{schema}
# Settings of skillgate. What is not set here has its default; remove "# " before a key to set it.
# All settings: {page}

"""
_OVERRIDES = """
# Other values for some paths, relative to this file; ** matches any number of directories, the last match wins.
# overrides:
#   - paths: ["legacy/**"]
#     threshold: 50
"""


def new_file(values: Mapping[str, Value], *, profile: str = "") -> str:
    """Return a new configuration file: ``values`` are set, and the most common other keys are comments.

    Args:
        values: settings by key.
        profile: the client that the skills are probably for, as the example of its key.
    """
    settings = [setting for setting in SETTINGS if setting in _KEYS or setting.key in values]
    address = raw("schemas/config.schema.json")
    schema = f"# yaml-language-server: $schema={address}" if address else _WITHOUT_ADDRESS
    head = _HEAD.format(schema=schema, page=page("configuration.md") or "`skillgate config list`")
    return head + "".join(_section(setting, values, profile) for setting in settings) + _OVERRIDES


def with_ignored(before: bytes, wanted: Sequence[str]) -> tuple[bytes, tuple[str, ...]]:
    """Add lines to a ``.gitignore``, with its line endings; return it with the lines that it did not have."""
    present = {line.strip().strip(b"/") for line in before.splitlines()}
    added = tuple(line for line in wanted if line.encode().strip(b"/") not in present)
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = b"" if not before or before.endswith(b"\n") else end
    return before + gap + b"".join(line.encode() + end for line in added) if added else before, added


def carried_over(folder: str) -> tuple[Mapping[str, Value], tuple[str, ...]]:
    """Return the values of a configuration of eval-skills in a directory, with notices. Raises UsageError: invalid."""
    for name in OTHER_FILES:
        path = os.path.join(folder, name)
        if DISK.is_file(path):
            layers, notices = read_other(DISK, path, label=name, base=folder)
            notice = f"{name}: its settings were copied to {YAML_NAME}; it is no longer used"
            return {key: value for layer in layers for key, value in layer.values.items()}, (notice, *notices[1:])
    return {}, ()


def _section(setting: Setting[Any], values: Mapping[str, Value], profile: str) -> str:
    active = "" if setting.key in values else "# "
    value = setting.example if setting.default is None else setting.default
    if setting is PROFILE and profile:
        value = profile
    value = values.get(setting.key, value)
    words = re.split(r"[.;] ", setting.help)[0].rstrip(".")
    choices = f" ({', '.join(setting.choices)})" if setting.choices and setting.kind is not Kind.CHOICES else ""
    return f"# {words}{choices}.\n{active}{setting.key}: {_yaml(value)}\n"


def _yaml(value: object) -> str:
    """Write a value in YAML's short form."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_yaml(name)}: {_yaml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    # Copied values may be any text; those of the declarations need no quotes.
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def set_value(path: str, key: str, value: Value) -> None:
    """Set one value in the user's own YAML file, made if missing.

    Raises UsageError: it is not valid, cannot be written, or the key cannot be changed alone.
    """
    data = read_bytes(DISK, path, path) if DISK.is_file(path) else b""
    before = _own_values(data, path) if data else {}
    changed = _with_line(data.decode("utf-8-sig"), key, value).encode()
    if _own_values(changed, path) != {**before, key: value}:
        raise UsageError(f"{path}: {key} cannot be set without changing other lines; edit the file")
    place = os.path.realpath(path)  # a link to it stays a link
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        replace(place, changed)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def value_text(value: Value) -> str:
    """Write a value as JSON, which is YAML too."""
    whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if whole and isinstance(value, float) else value, ensure_ascii=False)


class _Unwritten(NamedTuple):
    """A file that is not written yet."""

    data: bytes

    def is_file(self, path: str) -> bool:  # noqa: ARG002 - the interface of Files
        return True

    def is_there(self, path: str) -> bool:  # noqa: ARG002
        return True

    def read(self, path: str, limit: int) -> bytes:  # noqa: ARG002
        return self.data[:limit]


def _own_values(data: bytes, path: str) -> dict[str, Value]:
    layers = read_yaml(_Unwritten(data), path, label=path, base=os.path.dirname(path), personal=True)
    plain: Mapping[str, Value] = next((layer.values for layer in layers if not layer.patterns), {})
    return dict(plain)


def _with_line(text: str, key: str, value: Value) -> str:
    """Return the text with the key's lines replaced, or a line added at the end."""
    line = f"{key}: {value_text(value)}\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    first = next((number for number, one in enumerate(lines) if one.startswith(f"{key}:")), None)
    if first is None:
        return "".join([*lines, line])
    last = first + 1
    while last < len(lines) and lines[last][:1] in (" ", "\t", "-") and lines[last].strip():
        last += 1
    return "".join([*lines[:first], line, *lines[last:]])
