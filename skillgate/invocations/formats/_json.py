"""Strict JSON from the bytes of one record, with words for what is wrong instead of an exception of the parser."""

from __future__ import annotations

import json
from typing import NoReturn


class NotJsonError(ValueError):
    """Bytes that are no JSON; its text says why, in words that may be shown."""


def parsed(raw: bytes) -> object:
    """Read one JSON value. Of a key that stands twice in an object the last counts, as everywhere.

    Raises:
        NotJsonError: no UTF-8, no JSON, NaN or Infinity, a number of thousands of digits, or nesting without end.
    """
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NotJsonError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        if _is_cut_off(error.doc.strip()):
            raise NotJsonError(f"it looks cut off: it ends after {len(raw):,} bytes inside its JSON") from None
        raise NotJsonError(f"it is not JSON at character {error.pos + 1:,}: {error.msg}") from None
    except _NotFiniteError as error:
        raise NotJsonError(f"it holds {error}, which JSON does not have") from None
    except RecursionError:
        raise NotJsonError("its JSON is nested too deeply") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits: it would take quadratic time
        raise NotJsonError("it holds a number of thousands of digits") from None


def _is_cut_off(text: str) -> bool:
    return text.startswith(("{", "[")) and not text.endswith(("}", "]"))


class _NotFiniteError(ValueError):
    """NaN or an infinity."""


def _refuse(word: str) -> NoReturn:
    raise _NotFiniteError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)
