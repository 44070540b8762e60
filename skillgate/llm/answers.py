"""A model's replies, kept between runs: what was asked once, to the byte, is not asked or paid for again.

An entry is found under a digest of all that its answer depends on. It holds the reply as the model gave it, and is
judged anew whenever it is used. Refusals and replies that were cut off or are of the wrong form are kept as well: they
are what the model did. A run that asked only for them again would draw them until they were good, and every figure
with them. What a provider did not answer is not kept. With a key an entry is signed, together with its request, and
what is not signed with that key is not used.
"""
# ruff: noqa: PTH118, PTH120 - as in the cache

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillgate.cache import MAX_BYTES, Cache, directory
from skillgate.llm import prices
from skillgate.llm.seal import VARIABLE, Seal
from skillgate.llm.turns import Turns
from skillgate.model.digest import digest
from skillgate.model.exchange import Answer, Reply, Status, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.llm.classify import Classified
    from skillgate.llm.port import Provider
    from skillgate.model.exchange import Request

API_VERSION = "2026-10-21"
"""Of the Messages API, as the SDK sends it: what bodies and replies mean."""
_LONGEST_S = 86_400.0  # that an answer can have taken
FORMAT = 1  # of an entry: changes with what is written
_UNREADABLE = (OverflowError, ValueError, RecursionError)
"""What reading a reply may raise, as where it is received: nor could the run that asked for it make anything of it."""


class Answers:
    """Answers by request. Thread-safe, and any number of runs may share the folder."""

    def __init__(
        self,
        folder: str,
        *,
        now: Callable[[], float],
        classify: Callable[[Request, Reply], Classified],
        refresh: bool = False,
        most_bytes: int = MAX_BYTES,
        stop: threading.Event | None = None,
        seal: Seal | None = None,
        signed_only: bool = False,
    ) -> None:
        """Take where they lie and what reads them.

        Args:
            folder: which need not exist; ``""``: nothing is kept.
            now: a clock that gives seconds since 1970.
            classify: gives how a reply ends its request, with the value, the cause and a reason.
            refresh: ask anew what is kept from earlier runs, good or not; what this run keeps is used.
            most_bytes: that all entries may take; the oldest go first.
            stop: once it is set, nothing waits for another run's answer any more.
            seal: signs and checks entries; None: they are not signed, and not checked.
            signed_only: whether nothing of earlier runs is used without a seal.
        """
        self._cache = Cache(folder, now=now, most_bytes=most_bytes) if folder else None
        self._turns = Turns(folder, stop=stop)
        self._now = now
        self._classify = classify
        self._refresh = refresh
        self._own: set[str] = set()
        self._keyless = signed_only and seal is None
        self._seal = Seal(os.urandom(32)) if self._keyless else seal
        self._ignored: set[str] = set()
        self._unusable: set[str] = set()

    @property
    def failure(self) -> str | None:
        """Why something could not be kept, None as long as all could; the runs go on without."""
        return None if self._cache is None else self._cache.failure

    @property
    def ignored(self) -> str | None:
        """How many entries were there and not used, since their author is not known, and why; None for none."""
        count = len(self._ignored)
        if not count:
            return None
        why = "they are not signed with this run's key"
        if self._keyless:
            why = f"without {VARIABLE} or a static API key nothing tells who wrote them"
        return f"{count} kept answer{'s were' if count > 1 else ' was'} ignored: {why}"

    @property
    def unusable(self) -> int:
        """How many requests were answered with a reply of an earlier run that is no answer."""
        return len(self._unusable)

    @property
    def remark(self) -> str | None:
        """That such replies were used; None where none was."""
        if not self._unusable:
            return None
        replies = "1 kept reply is" if self.unusable == 1 else f"{self.unusable:,} kept replies are"
        kinds = "refused, cut off, empty or of the wrong form"
        return f"{replies} no usable answer ({kinds})"

    def get(self, request: Request, provider: Provider) -> Answer | None:
        """Give what was kept, good or not; None where nothing was."""
        return self._get(_named(request, provider), request)

    @contextmanager
    def turn(self, request: Request, provider: Provider) -> Iterator[Answer | None]:
        """Give what :meth:`get` gives; where that is None, it is this caller's to ask, within the ``with``.

        Whoever wants the same at the same time, in this run or another one, waits here until the block ends, and is
        then given what :meth:`put` kept in it. So nothing is paid for twice.
        """
        name = _named(request, provider)
        kept = self._get(name, request)
        if kept is not None or self._cache is None:
            yield kept
            return
        with self._turns.turn(digest(*name)):
            yield self._get(name, request)  # another may have had the turn, and kept it, just now

    def put(self, request: Request, provider: Provider, reply: Reply, *, seconds: float | None = None) -> None:
        """Keep a reply, whatever it is worth, and how long it took; what cannot be written ``failure`` tells.

        One by another known model than the one that was asked for is not kept: it would answer in that one's name, in
        later runs too.
        """
        if self._cache is None or _is_swapped(request, reply):
            return
        name = _named(request, provider)
        date = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")
        self._cache.put(digest(*name), self._signed(_written(reply, provider.name, date, seconds), name))
        self._own.add(digest(*name))

    def close(self) -> None:
        """End a run: let old entries go where there are too many."""
        self._turns.close()
        if self._cache is not None:
            self._cache.close()

    def _get(self, name: tuple[bytes, ...], request: Request) -> Answer | None:
        key = digest(*name)
        if self._cache is None or (self._refresh and key not in self._own):
            return None
        text = self._cache.get(key)
        entry = None if text is None else self._checked(text, name)
        reply, seconds = (None, None) if entry is None else _read(entry)
        if reply is None or _is_swapped(request, reply):
            return None
        try:
            found = self._classify(request, reply)
        except _UNREADABLE:
            return None
        if found.status is not Status.OK and key not in self._own:
            self._unusable.add(key)
        return Answer(found.status, found.value, reply, found.cause, found.reason, cached=True, first_seconds=seconds)

    def _signed(self, entry: str, name: tuple[bytes, ...]) -> str:
        """Put a mark over an entry and its request below the entry, which is one line."""
        return entry if self._seal is None else f"{entry}\n{self._seal.mark(*name, _bytes(entry))}"

    def _checked(self, text: str, name: tuple[bytes, ...]) -> str | None:
        """Return the entry of a text; None where it is to be signed and is not."""
        entry, _, mark = text.partition("\n")
        if self._seal is None or self._seal.fits(mark, *name, _bytes(entry)):
            return entry
        self._ignored.add(digest(*name))
        return None


def folder_of(environ: Mapping[str, str], cache_dir: str | None, cwd: str) -> str:
    """Say where answers are kept; ``""`` where the system has no place for such.

    Args:
        environ: the environment, for the system's place.
        cache_dir: what the user asked for, relative to ``cwd``; None for the system's place.
        cwd: the working directory.
    """
    if cache_dir:
        return os.path.join(cwd, os.path.expanduser(cache_dir))  # noqa: PTH111
    place = directory(environ)
    return os.path.join(os.path.dirname(place), "answers") if place else ""


def identity(request: Request, provider: Provider) -> str:
    """Give the key of a request: a digest of all that its answer depends on; of a session also what runs it."""
    return digest(*_named(request, provider))


def _named(request: Request, provider: Provider) -> tuple[bytes, ...]:
    asked = (request.prompt_version, request.rubric_version, request.sample)
    variant = (getattr(provider, "session_variant", "") if "runner" in request.body else "") or provider.variant
    whom = (provider.name, provider.endpoint, variant)
    return _bytes(repr((FORMAT, API_VERSION, *whom, *asked))), canonical(request.body)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def canonical(body: Mapping[str, Any]) -> bytes:
    """Write a body down so that equal ones are equal to the byte: keys sorted, no white space, no escapes."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)
    return text.encode("utf-8", "surrogatepass")


def fields_of(reply: Reply) -> dict[str, Any]:
    """Give a reply as JSON has it; :func:`reply_of` makes a reply of it again."""
    return {**reply._asdict(), "content": [dict(block) for block in reply.content]}


def reply_of(fields: Any) -> Reply | None:  # noqa: ANN401 - any JSON
    """Make a reply of what :func:`fields_of` gave; None where it is of another make."""
    try:
        if not _is_whole(fields):
            return None
        tokens = None if fields["tokens"] is None else Tokens(*fields["tokens"])
        return Reply(**{**fields, "content": tuple(fields["content"]), "tokens": tokens})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def seconds_of(value: object) -> float | None:
    """Read how long an answer took; None for what cannot be a time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LONGEST_S else None


def _is_swapped(request: Request, reply: Reply) -> bool:
    return prices.is_other(str(request.body.get("model", "")), reply.model)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a request's body holds a {type(value).__name__}")


def _written(reply: Reply, provider: str, date: str, seconds: float | None) -> str:
    entry = {"format": FORMAT, "provider": provider, "date": date, "reply": fields_of(reply)}
    if seconds is not None:
        entry["seconds"] = round(seconds, 3)
    return json.dumps(entry, default=_plain)


def _read(text: str) -> tuple[Reply | None, float | None]:
    """Read the reply of an entry back, None where it is of another make; and how long it took, where that is known."""
    try:
        entry = json.loads(text)
        if entry["format"] != FORMAT:
            return None, None
        return reply_of(entry["reply"]), seconds_of(entry.get("seconds"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, None


def _is_whole(fields: Mapping[str, Any]) -> bool:
    """Say whether every field is of its type, for who can write the folder can write an entry."""
    named = (fields["stop_reason"], fields["model"], fields["request_id"], fields["category"])
    return (
        all(isinstance(block, dict) and _is_block(block) for block in fields["content"])
        and all(isinstance(text, str) for text in named)
        and all(prices.is_count(count) for count in fields["tokens"] or ())
    )


def _is_block(block: Mapping[str, Any]) -> bool:
    if block.get("type") == "tool_use":
        return isinstance(block.get("name"), str) and isinstance(block.get("input"), dict)
    return block.get("type") != "text" or isinstance(block.get("text"), str)
