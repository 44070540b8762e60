"""Which batches are out, on disk before anything depends on it: a run that was killed asks for them, and pays once.

A line of JSON each: what is about to be submitted (``intent``, with the keys of its requests and the time), the id it
got (``batch``), or that it was refused (``void``). A run that ends between submitting and the second line knows of a
batch without an id; it is looked for among the provider's recent ones.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.llm.batch_shapes import is_id
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORMAT = 1
MOST_BYTES = 512 << 20  # of a file that is read; 10,000 requests take about 0.4 MB


class Intent(NamedTuple):
    """A batch that was to be submitted.

    Attributes:
        name: tells it from the others of its file.
        at_s: when, in seconds since 1970, on this machine's clock.
        keys: of its requests.
        batch: its id, ``""`` where that was not written down.
    """

    name: str
    at_s: float
    keys: tuple[str, ...]
    batch: str = ""


class BatchJournal:
    """The file of a run's batches. For one process at a time.

    Attributes:
        intents: what earlier processes of this run submitted, oldest first, without what was refused.
        unread: lines that could not be read, as the last one of a process that was killed.
    """

    def __init__(self, file: str, *, now: Callable[[], float]) -> None:
        """Open the file, which may exist.

        Args:
            file: its path.
            now: a clock that gives seconds since 1970.

        Raises:
            UsageError: it cannot be read or written, or was written by another version.
        """
        self._now = now
        self._count = 0
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self._file = os.open(file, flags | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(os.dup(self._file), "rb") as reader:
                data = reader.read(MOST_BYTES + 1)
        except OSError as error:
            raise UsageError(f"{file}: the batches of a run cannot be kept there: {error.strerror}") from error
        if len(data) > MOST_BYTES:
            os.close(self._file)
            raise UsageError(f"{file} is larger than {MOST_BYTES >> 20} MiB: it is no list of batches")
        self.intents, self.unread = _read(data)
        self._known = {intent.batch for intent in self.intents if intent.batch}
        self._salt = digest(data)
        if data and not data.endswith(b"\n"):
            os.write(self._file, b"\n")  # a line that was cut off stays alone

    @property
    def known(self) -> frozenset[str]:
        """The ids of all batches of this run."""
        return frozenset(self._known)

    def intend(self, keys: Sequence[str]) -> Intent:
        """Write down that a batch is about to be submitted.

        Raises:
            OSError: it cannot be written: then it must not be submitted, or it would be paid for in vain.
        """
        self._count += 1
        name = digest(self._salt.encode(), str(os.getpid()).encode(), str(self._count).encode())
        intent = Intent(name, self._now(), tuple(keys))
        self._append({"format": FORMAT, "intent": name, "at": intent.at_s, "keys": list(keys)})
        return intent

    def submitted(self, intent: Intent, batch: str) -> None:
        """Write down the id that a batch got.

        Raises:
            OSError: it cannot be written.
        """
        self._known.add(batch)
        self._append({"batch": batch, "intent": intent.name})

    def void(self, intent: Intent) -> None:
        """Write down that a batch was not taken.

        Raises:
            OSError: it cannot be written.
        """
        self._append({"void": intent.name})

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _append(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


def _read(data: bytes) -> tuple[tuple[Intent, ...], int]:
    """Read the lines of a file.

    Raises:
        UsageError: it was written by another version.
    """
    found: dict[str, Intent] = {}
    unread = 0
    for text in data.split(b"\n"):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            taken = isinstance(line, dict) and _took(line, found)
        except (ValueError, RecursionError):
            taken = False
        unread += not taken
    return tuple(found.values()), unread


def _took(line: dict[str, Any], found: dict[str, Intent]) -> bool:
    """Put what a line says to what was found; give whether it says anything."""
    name, batch, void = line.get("intent"), line.get("batch"), line.get("void")
    if "keys" in line:
        if line.get("format") != FORMAT:
            raise UsageError(f"a list of batches of format {line.get('format')!r}: this version reads {FORMAT}")
        keys, at_s = line["keys"], line.get("at")
        if not (isinstance(name, str) and isinstance(keys, list) and isinstance(at_s, int | float)):
            return False
        if not all(isinstance(key, str) for key in keys):
            return False
        found[name] = Intent(name, float(at_s), tuple(keys))
        return True
    if isinstance(name, str) and name in found and is_id(batch):
        found[name] = found[name]._replace(batch=batch)
        return True
    return isinstance(void, str) and found.pop(void, None) is not None
