"""The documents of a corpus as bytes: written on one line each, and read from whoever may have written them."""
# ruff: noqa: PTH105, PTH108, PTH120, PTH123

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from typing import Any, TypeVar

from skillgate import settings
from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode, encode

T = TypeVar("T")

MAX_BYTES = 256 << 20
"""Of one file; a corpus of 2,000 skills has about 30 MB of text and 10 MB of matches."""


def document(value: object, indent: int | None = None) -> bytes:
    """Write a value as JSON on one line, or indented; what UTF-8 lacks is escaped."""
    separators = (",", ":") if indent is None else (",", ": ")
    return (json.dumps(encode(value), indent=indent, separators=separators) + "\n").encode("ascii")


def loaded(data: bytes, where: str) -> Any:  # noqa: ANN401 - JSON
    """Parse JSON that anybody may have written.

    Raises:
        UsageError: it is none, or is nested too deep.
    """
    try:
        return json.loads(data, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {type(error).__name__}: {str(error)[:200]}") from None


def decoded(cls: type[T], data: Any, where: str) -> T:  # noqa: ANN401 - JSON
    """Read a value of a type.

    Raises:
        UsageError: it is none.
    """
    tag: tuple[str, str] | None = getattr(cls, "TAG", None)
    if tag is not None and (not isinstance(data, dict) or data.get(tag[0]) != tag[1]):
        raise UsageError(f"{where} is no document of the kind {tag[1]!r}")
    try:
        return decode(cls, data)
    except CodecError as error:
        raise UsageError(f"{where} is not valid: {str(error)[:2000]}") from None


def replace(path: str, data: bytes) -> None:
    """Put a file in the place of another, or of none, as a whole.

    Raises:
        UsageError: it cannot be written.
    """
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".skillgate-", suffix=".tmp", dir=os.path.dirname(path))
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise unwritable(path, error) from error


def read_bytes(path: str) -> bytes | None:
    """Read a file, None where there is none.

    Raises:
        UsageError: it cannot be read, is none, or is too large.
    """
    try:
        with open(path, "rb", opener=_waitless) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES:,} bytes")
    return data


def unwritable(path: str, error: OSError) -> UsageError:
    """Return the error that a file of the corpus cannot be written."""
    return UsageError(
        f"cannot write {path}: {error.strerror or error}; --{settings.CORPUS_DIR.key} names another folder"
    )


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _waitless(path: str, flags: int) -> int:
    """Open without waiting for the writer of a pipe that somebody may have put there."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
