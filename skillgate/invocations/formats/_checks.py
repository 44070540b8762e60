"""What single values of a record must be: each function gives the value to keep, or says what it expected instead."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from skillgate.model.invocation import Accuracy, Ending
from skillgate.model.text import printable

MOST = 2**53  # the largest of the whole numbers that every reader of JSON keeps exactly
NAME_CHARACTERS = 200  # of a name or an id; see Invocation
_SHOWN = 60  # characters of somebody's value in a message
_WORD = re.compile(r"[A-Za-z0-9_.:+-]{0,32}|[0-9/:.+ TZ-]{0,40}|\s+")  # anything else may be words, or a path
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")  # likewise, or the name of a file
_MILLISECONDS = 1e11  # seconds beyond it lie after the year 5000, milliseconds below it before 1973
_LAST_SECOND = 253_402_300_799  # of the year 9999, where the calendar of the standard library ends
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # controls, bidirectional marks, half surrogates, line ends
INTERRUPTED = "interrupted"  # an outcome that is no ending
_ENDINGS = {ending.value: ending for ending in Ending}
_ACCURACIES = {accuracy.value: accuracy for accuracy in Accuracy}
_RATINGS = {
    **dict.fromkeys(("positive", "up", "+1", 1), "positive"),
    **dict.fromkeys(("negative", "down", "-1", -1), "negative"),
}


class UnfitError(Exception):
    """A value that cannot stand where it does; ``step`` leads from the key to it, as in ``[2].count``."""

    def __init__(self, expected: str, value: object, step: str = "") -> None:
        super().__init__(expected, step)
        self.expected, self.value, self.step = expected, value, step

    def line(self, key: str) -> str:
        """Say it of a key, on one line."""
        return f"{key}{self.step}: expected {self.expected}, found {shown(self.value)}"


def shown(value: object) -> str:
    """Show a JSON value in a message: bounded, on one line, with nothing invisible in it; containers by their kind.

    A text that is not a single plain word may be a user's, and only its length is shown.
    """
    if isinstance(value, str):
        return f'"{short(value)}"' if _WORD.fullmatch(value) else f"a text of {len(value):,} characters"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return short(str(value))


def short(text: str) -> str:
    """Bound a text for a message, and write out what is invisible in it."""
    return printable(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def fit_key(key: str) -> bool:
    """Tell whether a key looks like the name of a field."""
    return _FIELD.fullmatch(key) is not None


def short_key(key: str) -> str:
    """Give a key for a message; for one that may be a user's words, others."""
    return short(key) if fit_key(key) else "(no name of a field)"


def fit_name(text: str) -> bool:
    """Tell whether a text can be shown and kept as a name: not blank, not too long, nothing hidden in it."""
    if not text or len(text) > NAME_CHARACTERS:
        return False
    if text.isprintable() and not text.isspace():
        return True
    return not text.isspace() and not any(unicodedata.category(character) in _HIDDEN for character in text)


def flag(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Take true or false."""
    if value is True or value is False:
        return bool(value)
    raise UnfitError("true or false", value)


def count(value: Any) -> int:  # noqa: ANN401 - JSON
    """Take a whole number of at least 0; 3.0 is one, since JavaScript writes 3 so."""
    if type(value) is int:
        if 0 <= value <= MOST:
            return value
    elif type(value) is float and value.is_integer() and 0 <= value <= MOST:
        return int(value)
    raise UnfitError("a whole number from 0 to 2^53", value)


def amount(value: Any) -> float:  # noqa: ANN401 - JSON
    """Take a number of at least 0."""
    if (type(value) is int or type(value) is float) and 0 <= value <= MOST:  # NaN is in no range
        return value
    raise UnfitError("a number from 0 to 2^53", value)


def amount_or_list(value: Any) -> float:  # noqa: ANN401 - JSON
    """Take a number of at least 0, or the length of a list."""
    return len(value) if type(value) is list else amount(value)


def ratio(value: Any) -> float:  # noqa: ANN401 - JSON
    """Take a number in [0, 1]."""
    if (type(value) is int or type(value) is float) and 0 <= value <= 1:
        return value
    raise UnfitError("a number from 0 to 1", value)


def name(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Take a name; an empty one says nothing."""
    if type(value) is str and (fit_name(value) or not value):
        return value or None
    raise UnfitError(f"a name of at most {NAME_CHARACTERS} characters, none of them hidden", value)


def skill(value: Any) -> str:  # noqa: ANN401 - JSON
    """Take the name of a skill: any text that is not blank; what is stored of it is decided later."""
    if type(value) is str and value.strip():
        return value
    raise UnfitError("a name that is not empty", value)


def identifier(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Take a name, or a whole number, as databases give them."""
    return str(value) if type(value) is int and abs(value) <= MOST else name(value)


def ending(value: Any) -> Ending | None:  # noqa: ANN401 - JSON
    """Take how it ended; an interrupted invocation has no ending."""
    if value == INTERRUPTED:
        return None
    if type(value) is str and value in _ENDINGS:
        return _ENDINGS[value]
    raise UnfitError(f"one of {', '.join(_ENDINGS)}, {INTERRUPTED}", value)


def accuracy(value: Any) -> Accuracy | None:  # noqa: ANN401 - JSON
    """Take what a user says of the output; ``unknown`` says nothing."""
    if value == "unknown":
        return None
    if type(value) is str and value in _ACCURACIES:
        return _ACCURACIES[value]
    raise UnfitError(f"one of {', '.join(_ACCURACIES)}, unknown", value)


def rating(value: Any) -> str:  # noqa: ANN401 - JSON
    """Take a thumb up or down."""
    if type(value) in (str, int) and value in _RATINGS:
        return _RATINGS[value]
    raise UnfitError("up, down, positive, negative, +1 or -1", value)


def moment(value: Any) -> datetime:  # noqa: ANN401 - JSON
    """Take a time, to the second below: ISO 8601 with a date and a time of day, or seconds or milliseconds since 1970.

    A text without an offset gives a naive time: the caller knows what to assume.
    """
    try:
        found = _written(value) if type(value) is str else _counted(value)
    except (ValueError, OverflowError):
        found = None
    if found is None or found.year < _EPOCH.year:
        raise UnfitError("a time from 1970 on, such as 2026-01-02T03:04:05Z", value)
    return found


def _written(text: str) -> datetime | None:
    if text[4:5] != "-" or text[7:8] != "-" or text[10:11] not in ("T", " ", "t"):
        return None  # the standard library reads far more as a date than anybody means
    found = datetime.fromisoformat(text.upper())
    if found.microsecond:
        found = found.replace(microsecond=0)
    return found if found.tzinfo is UTC or found.tzinfo is None else found.astimezone(UTC)


def _counted(value: Any) -> datetime | None:  # noqa: ANN401 - JSON
    if type(value) not in (int, float) or not 0 <= value <= _LAST_SECOND * 1000:
        return None
    seconds = value / 1000 if value > _MILLISECONDS else value
    return _EPOCH + timedelta(seconds=int(seconds))
