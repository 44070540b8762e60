"""Decide what is stored of names, and of what stands under unknown keys.

A model may call a skill by a sentence, and a recorder may put a path or an address where a version or an id belongs: of
names only what looks like one is stored. Of what stands under unknown keys numbers and flags are stored, texts only
where they were asked for.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256

from skillgate.invocations.formats import is_key, short_key

MOST = 2**53  # the largest of the whole numbers that every reader of JSON keeps exactly
NAME_CHARACTERS = 200  # of a name or an id; see Invocation
MAX_KEYS = 64  # unknown ones of one record, those inside of objects and places in lists among them
MAX_BYTES = 16 * 1024  # under them, as JSON
REPLACED = "(not a name)"
"""Stands in place of a skill's name that does not look like one; no name can be equal to it."""
REPLACED_WARNING = f'the name of a skill does not look like one: stored as "{REPLACED}"'
_TOO_MUCH = (
    f"records hold more than {MAX_KEYS} unknown keys or {MAX_BYTES // 1024} KiB under them: the rest is left out"
)
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # controls, bidirectional marks, half surrogates, line ends
_PART = r"\w[\w.+-]{0,63}"
_SKILL = re.compile(rf"{_PART}(?::{_PART}){{0,3}}")  # plugin:skill, and namespaces of commands
_LABEL = re.compile(r"\w[\w.+:#=-]{0,199}")  # of a version, a session, a category, a kind of output, an id
_MODEL = re.compile(r"\w[\w.+:/\[\]-]{0,150}(?:@[\w-]{0,40})?")  # org/model, model@20260101; no address
_LOOKED_AT = 1_000  # unknown keys of one record; each that holds something odd gets a warning
_DEPTH = 8  # of what stands under one unknown key
_NOTHING = object()  # what has nothing in it to store


def fit_name(text: str) -> bool:
    """Whether a text can be shown and stored as a name: not blank, not too long, nothing hidden in it."""
    if not text or len(text) > NAME_CHARACTERS:
        return False
    if text.isprintable() and not text.isspace():
        return True
    return not text.isspace() and not any(unicodedata.category(character) in _HIDDEN for character in text)


def skill_name(name: str, *, keep_text: bool) -> str:
    """Return what is stored of the name of a skill: itself where it looks like one, or may be any text."""
    return name if _SKILL.fullmatch(name) or (keep_text and fit_name(name)) else REPLACED


def is_label(text: str) -> bool:
    """Whether a text is one plain word, as a version, a category or an id is."""
    return _LABEL.fullmatch(text) is not None


def is_model(text: str) -> bool:
    """Whether a text looks like the name of a model."""
    return _MODEL.fullmatch(text) is not None


def stored_id(text: str) -> str:
    """Return what is stored of an id: itself where it looks like one, else a digest of it."""
    return text if is_label(text) else f"id-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def sifted(unknown: Sequence[tuple[str, object]], *, text: bool) -> tuple[dict[str, object] | None, list[str]]:
    """Return what is stored of one record's unknown keys, None where that is nothing, and a warning for each key.

    Args:
        unknown: paths and values.
        text: whether texts are stored, and keys that are no names of fields.
    """
    extra: dict[str, object] = {}
    warnings: list[str] = []
    keys, size = 0, 0
    for key, value in unknown[:_LOOKED_AT]:
        sieve = _Sieve(text=text)
        found = sieve.sift(value, 0) if sieve.takes(key) else _NOTHING
        what = "kept, and used by no score"
        if sieve.texts:
            what = "it holds text, which is not kept unless that is asked for"
        elif found is _NOTHING or sieve.lost:
            what = "not all of it can be kept"
        warnings.append(f"unknown key {short_key(key)}: {what}")
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


class _Sieve:
    """Takes from one value what may be stored; ``lost`` and ``texts`` say what was not, ``leaves`` how much was."""

    def __init__(self, *, text: bool) -> None:
        self.text, self.lost, self.texts, self.leaves = text, False, False, 0

    def takes(self, key: str) -> bool:
        return fit_name(key) if self.text else is_key(key)

    def sift(self, value: object, depth: int) -> object:
        if type(value) is bool or (isinstance(value, int | float) and -MOST <= value <= MOST):
            self.leaves += 1
            return value
        if type(value) is str:
            # No database takes a NUL, or half of a pair.
            if self.text and "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value):
                self.leaves += 1
                return value
            self.lost, self.texts = True, self.texts or not self.text
        elif isinstance(value, dict | list) and depth < _DEPTH and self.leaves <= MAX_KEYS:
            return (self._object(value, depth) if isinstance(value, dict) else self._list(value, depth)) or _NOTHING
        else:
            self.lost |= value is not None
        return _NOTHING

    def _object(self, value: dict[str, object], depth: int) -> dict[str, object]:
        fit = {key: self.sift(inner, depth + 1) for key, inner in value.items() if self.takes(key)}
        self.lost |= len(fit) < len(value)
        return {key: inner for key, inner in fit.items() if inner is not _NOTHING}

    def _list(self, value: list[object], depth: int) -> list[object]:
        return [inner for inner in (self.sift(inner, depth + 1) for inner in value) if inner is not _NOTHING]
