"""Sets one value in the user's own configuration; every other line of the file stays as it is."""
# ruff: noqa: PTH103, PTH105, PTH113, PTH120, PTH123

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.config import user_file
from skillgate.config_file import DISK, read_yaml
from skillgate.errors import UsageError
from skillgate.model.other_names import OTHER_NAMES
from skillgate.model.setting import Kind
from skillgate.model.text import did_you_mean, printable
from skillgate.settings import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.setting import Setting, Value
    from skillgate.session import Session

_LISTS = (Kind.CHOICES, Kind.TEXTS)
_WORDS = (Kind.TEXT, Kind.CHOICE)


class _Given(NamedTuple):
    """A file that is not written yet."""

    data: bytes

    def is_file(self, path: str) -> bool:  # noqa: ARG002 - as every place of files
        return True

    def is_there(self, path: str) -> bool:  # noqa: ARG002
        return True

    def read(self, path: str, limit: int) -> bytes:  # noqa: ARG002
        return self.data[:limit]


def set_value(word: str, text: str, session: Session) -> None:
    """Set a value and say where; note where it does not hold here, because something stronger is set.

    Raises:
        UsageError: there is no such setting, the value does not fit, or the file cannot be written.
    """
    known = BY_KEY
    key = OTHER_NAMES.get(word, word)
    if key not in known:
        raise UsageError(f"unknown key {word[:80]!r}{did_you_mean(word, (*known, *OTHER_NAMES))}")
    try:
        value = known[key].accept(_read(text, known[key]))
    except ValueError as error:
        raise UsageError(f"{word}: {error}") from None
    path = user_file(session.environ)
    if not path:
        raise UsageError("there is no place for your own configuration: neither HOME nor XDG_CONFIG_HOME is set")
    before = _values(DISK.read(path, 1 << 20), path) if os.path.isfile(path) else {}
    data = DISK.read(path, 1 << 20) if os.path.isfile(path) else b""
    changed = _with(data.decode("utf-8-sig"), key, value)
    if _values(changed.encode(), path) != {**before, key: value}:
        raise UsageError(f"{path}: {key} cannot be set without changing other lines; edit the file")
    _write(path, changed.encode())
    if session.json:
        session.out(json.dumps({"key": key, "value": value, "file": path}, indent=2, ensure_ascii=False))
    else:
        session.out(printable(f"{key} = {_plain(value)} in {path}"))
    _note_stronger(key, value, session)


def _read(text: str, setting: Setting[Any]) -> object:
    """Read a value: texts as they are, lists by commas too, anything else as JSON."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if setting.kind in _WORDS:
        return None if value is None else text
    if setting.kind in _LISTS and not isinstance(value, list) and value is not None:
        return [part.strip() for part in text.split(",")]
    return value


def _values(data: bytes, path: str) -> dict[str, Value]:
    layers = read_yaml(_Given(data), path, label=path, base=os.path.dirname(path), personal=True)
    plain: Mapping[str, Value] = next((layer.values for layer in layers if not layer.patterns), {})
    return dict(plain)


def _with(text: str, key: str, value: Value) -> str:
    """Give the text with the key's lines replaced, or with one more at its end."""
    line = f"{key}: {_plain(value)}\n"
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


def _plain(value: Value) -> str:
    """Write a value as JSON, which is YAML too."""
    whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if whole and isinstance(value, float) else value, ensure_ascii=False)


def _write(path: str, data: bytes) -> None:
    """Write a file at once; a link to it stays a link."""
    place = os.path.realpath(path)
    made = ""
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        number, made = tempfile.mkstemp(prefix=".config-", dir=os.path.dirname(place))
        with open(number, "wb") as file:
            file.write(data)
        os.replace(made, place)
    except OSError as error:
        with suppress(OSError):
            os.unlink(made)  # noqa: PTH108
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _note_stronger(key: str, value: Value, session: Session) -> None:
    with suppress(UsageError):  # a project's file that is not valid says so when it is used
        if session.config.get(BY_KEY[key]) != value:
            session.note(f"here {session.config.origin(BY_KEY[key])} sets {key} to something else, and comes before it")
