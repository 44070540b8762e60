"""What stands under keys that nobody knows: numbers and flags are kept, texts only where they were asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence

from skillgate.invocations.formats._checks import MOST, fit_key, fit_name, short_key

MAX_KEYS = 64  # of one record, those inside of objects and places in lists among them
MAX_BYTES = 16 * 1024  # of one record, as JSON
_LOOKED_AT = 1_000  # unknown keys of one record; each that holds something odd is told
_DEPTH = 8  # of what stands under one key
_NOTHING = object()  # what has nothing in it to keep

_TOO_MUCH = (
    f"records hold more than {MAX_KEYS} unknown keys or {MAX_BYTES // 1024} KiB under them: the rest is left out"
)


def kept(unknown: Sequence[tuple[str, object]], *, text: bool) -> tuple[dict[str, object] | None, list[str]]:
    """Give what is kept of one record's unknown keys, None where that is nothing, and a warning for each key.

    Args:
        unknown: paths and values.
        text: whether texts are kept, and keys that are no names of fields.
    """
    extra: dict[str, object] = {}
    warnings: list[str] = []
    keys, size = 0, 0
    for key, value in unknown[:_LOOKED_AT]:
        sieve = _Sieve(text=text)
        found = sieve.sift(value, 0) if sieve.takes(key) else _NOTHING
        warnings.append(_warning(key, lost=found is _NOTHING or sieve.lost, texts=sieve.texts))
        if found is _NOTHING:
            continue
        keys += sieve.leaves
        size += len(key) + (24 if not isinstance(found, dict | list | str) else len(json.dumps(found)))
        if keys > MAX_KEYS or size > MAX_BYTES:
            warnings.append(_TOO_MUCH)
            break
        extra[key] = found
    else:
        warnings += (_TOO_MUCH,) if len(unknown) > _LOOKED_AT else ()
    return extra or None, warnings


def _warning(key: str, *, lost: bool, texts: bool) -> str:
    if texts:
        return f"unknown key {short_key(key)}: it holds text, which is not kept unless that is asked for"
    if lost:
        return f"unknown key {short_key(key)}: not all of it can be kept"
    return f"unknown key {short_key(key)}: kept, and used by no score"


class _Sieve:
    """Takes from one value what may be kept; ``lost`` and ``texts`` tell what was not, ``leaves`` how much was."""

    def __init__(self, *, text: bool) -> None:
        self.text, self.lost, self.texts, self.leaves = text, False, False, 0

    def takes(self, key: str) -> bool:
        return fit_name(key) if self.text else fit_key(key)

    def sift(self, value: object, depth: int) -> object:
        if type(value) is bool or (isinstance(value, int | float) and -MOST <= value <= MOST):
            self.leaves += 1
            return value
        if type(value) is str:
            return self._text(value)
        if isinstance(value, dict | list) and depth < _DEPTH and self.leaves <= MAX_KEYS:
            found = self._object(value, depth) if isinstance(value, dict) else self._list(value, depth)
            return found or _NOTHING
        self.lost |= value is not None
        return _NOTHING

    def _text(self, value: str) -> object:
        if not self.text:
            self.lost = self.texts = True
            return _NOTHING
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            self.lost = True  # no database keeps them
            return _NOTHING
        self.leaves += 1
        return value

    def _object(self, value: dict[str, object], depth: int) -> dict[str, object]:
        fit = {key: self.sift(inner, depth + 1) for key, inner in value.items() if self.takes(key)}
        self.lost |= len(fit) < len(value)
        return {key: inner for key, inner in fit.items() if inner is not _NOTHING}

    def _list(self, value: list[object], depth: int) -> list[object]:
        return [inner for inner in (self.sift(inner, depth + 1) for inner in value) if inner is not _NOTHING]
