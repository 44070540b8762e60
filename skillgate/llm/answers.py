"""A model's replies, cached between runs: what was sent once, to the byte, is not sent or paid for a second time.

An entry is found under a digest of all that its answer depends on. It holds the reply as the model gave it, and is
checked again whenever it is used. Refusals and replies that were cut off or are of the wrong form are cached as well:
they are what the model did. A run that repeated only those requests would sample until they were good, and would bias
every figure. What a provider did not answer is not cached.

With a key an entry is signed, together with its request. An entry that is not signed with that key is not used. A
digest without a key detects damage but no forgery, since all who can write the directory can compute it. The key comes
from ``SKILLGATE_CACHE_KEY``, or is derived from the provider's API key. It is written nowhere.
"""
# ruff: noqa: PTH118, PTH120 - as in the cache

from __future__ import annotations

import hmac
import json
import os
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillgate.cache import MAX_BYTES, Cache, directory
from skillgate.errors import UsageError
from skillgate.llm import prices
from skillgate.llm.flow import KeyLocks
from skillgate.llm.port import UNREADABLE
from skillgate.model.exchange import Answer, Reply, Status, Tokens
from skillgate.model.skill import digest
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.llm.port import Classified, Provider
    from skillgate.model.exchange import Request

API_VERSION = "2026-10-21"  # of the Messages API, as the SDK sends it: what bodies and replies mean
OPENAI_KEY = "OPENAI_API_KEY"  # the variable with the key of an OpenAI-compatible server, unless another one is named
VARIABLE = "SKILLGATE_CACHE_KEY"
MIN_CHARACTERS = 32  # of ``SKILLGATE_CACHE_KEY``: as many as ``openssl rand -hex 16`` makes
FORMAT = 1  # of an entry: changes with what is written
_MIN_API_KEY = 20  # characters; a mark under a shorter one would let a reader of the cache guess it
_HASH = "sha256"
_SALT = b"skillgate kept answers 1"
_LONGEST_S = 86_400.0  # that an answer can have taken


class Seal:
    """Make and check marks with one key, random or derived from a secret. Thread-safe."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def mark(self, *parts: bytes) -> str:
        """Return an HMAC-SHA256 over byte strings, each delimited by its length, in hexadecimal."""
        message = hmac.new(self._key, digestmod=_HASH)
        for part in parts:
            message.update(len(part).to_bytes(8, "little"))
            message.update(part)
        return message.hexdigest()

    def fits(self, mark: str, *parts: bytes) -> bool:
        """Return whether a mark, whatever it is, was made with this key over these byte strings."""
        return hmac.compare_digest(self.mark(*parts).encode(), mark.encode("utf-8", "surrogatepass"))


def seal_of(environ: Mapping[str, str], provider: str, key_variable: str) -> Seal | None:
    """Return what signs cached answers; None without a key.

    Only static API keys of the provider count: a renewed token would make every run begin from scratch. Raises
    UsageError where ``SKILLGATE_CACHE_KEY`` is too short; the message does not repeat it.
    """
    secret = environ.get(VARIABLE, "").strip()  # an unset secret is an empty variable in GitHub's workflows
    if secret:
        if len(secret) < MIN_CHARACTERS:
            raise UsageError(
                f"{VARIABLE} is too short to keep answers from being forged: give at least {MIN_CHARACTERS} random"
                " characters, such as those of `openssl rand -hex 32`"
            )
        return Seal(_derived(secret, b"cache key"))
    is_named = PROVIDERS.flag(provider, "KEY_VARIABLE_IS_NAMED")
    api_key = environ.get(key_variable if is_named else PROVIDERS.text(provider, "KEY_VARIABLE"), "").strip()
    return Seal(_derived(api_key, b"api key")) if len(api_key) >= _MIN_API_KEY else None


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
        """Take where they lie and what reads them; the folder ``""``: nothing is cached.

        With ``refresh`` nothing is used that earlier runs cached, good or not, and with ``signed_only`` nothing without
        a seal; else entries without one are neither signed nor checked. All may take ``most_bytes``; the oldest go
        first. Once ``stop`` is set, nothing waits for another run's answer any more.
        """
        self._cache = Cache(folder, now=now, most_bytes=most_bytes) if folder else None
        self._locks = KeyLocks(folder, stop=stop)
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
        """Why something could not be cached, None as long as all could; the run continues without the cache."""
        return None if self._cache is None else self._cache.failure

    @property
    def ignored(self) -> str | None:
        """How many entries were not used, since their author is not known, and why; None for none."""
        count = len(self._ignored)
        if not count:
            return None
        why = "they are not signed with this run's key"
        if self._keyless:
            why = f"without {VARIABLE} or a static API key the author of an answer cannot be verified"
        return f"{count} cached answer{'s were' if count > 1 else ' was'} ignored: {why}"

    @property
    def unusable(self) -> int:
        """How many requests were answered with a reply of an earlier run that is no answer."""
        return len(self._unusable)

    @property
    def remark(self) -> str | None:
        """That such replies were used; None where none was."""
        if not self._unusable:
            return None
        replies = "1 cached reply is" if self.unusable == 1 else f"{self.unusable:,} cached replies are"
        return f"{replies} no usable answer (refused, cut off, empty or of the wrong form)"

    def get(self, request: Request, provider: Provider) -> Answer | None:
        """Return what was cached, good or not; None where nothing was."""
        return self._get(_named(request, provider), request)

    @contextmanager
    def exclusive(self, request: Request, provider: Provider) -> Iterator[Answer | None]:
        """Yield what :meth:`get` returns; where that is None, this caller alone asks, within the ``with``.

        Who wants the same at the same time, in this run or another one, waits here until the block ends, and then gets
        what :meth:`put` cached in it. So nothing is paid for twice.
        """
        name = _named(request, provider)
        cached = self._get(name, request)
        if cached is not None or self._cache is None:
            yield cached
            return
        with self._locks.lock(digest(*name)):
            yield self._get(name, request)  # another may have had the lock, and cached it, just now

    def put(self, request: Request, provider: Provider, reply: Reply, *, seconds: float | None = None) -> None:
        """Cache a reply, whatever it is worth, and how long it took; a failure to write is in ``failure``.

        One by another known model than the one that was asked for is not cached: it would answer in that one's name, in
        later runs too.
        """
        if self._cache is None or _is_swapped(request, reply):
            return
        if request.private:
            reply = reply._replace(content=tuple(block for block in reply.content if block.get("type") == "text"))
        name = _named(request, provider)
        date = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")
        fields = {"format": FORMAT, "provider": provider.name, "date": date, "reply": fields_of(reply)}
        if seconds is not None:
            fields["seconds"] = round(seconds, 3)
        entry = json.dumps(fields, default=_plain)
        if self._seal is not None:  # a mark over the entry and its request, below the entry, which is one line
            entry += f"\n{self._seal.mark(*name, _bytes(entry))}"
        self._cache.put(digest(*name), entry)
        self._own.add(digest(*name))

    def close(self) -> None:
        """End a run: let old entries go where there are too many."""
        self._locks.close()
        if self._cache is not None:
            self._cache.close()

    def _get(self, name: tuple[bytes, ...], request: Request) -> Answer | None:
        key = digest(*name)
        if self._cache is None or (self._refresh and key not in self._own):
            return None
        text = self._cache.get(key)
        if text is None:
            return None
        entry, _, mark = text.partition("\n")
        if self._seal is not None and not self._seal.fits(mark, *name, _bytes(entry)):
            self._ignored.add(key)
            return None
        reply, seconds = _read(entry)
        if reply is None or _is_swapped(request, reply):
            return None
        try:
            result = self._classify(request, reply)
        except UNREADABLE:
            return None  # nor could the run that received it make anything of it
        if result.status is not Status.OK and key not in self._own:
            self._unusable.add(key)
        return result.answer(reply)._replace(cached=True, first_seconds=seconds)


def folder_of(environ: Mapping[str, str], cache_dir: str | None, cwd: str) -> str:
    """Return where answers are cached: ``cache_dir`` relative to ``cwd``, else the system's place, ``""`` for none."""
    if cache_dir:
        return os.path.join(cwd, os.path.expanduser(cache_dir))  # noqa: PTH111
    place = directory(environ)
    return os.path.join(os.path.dirname(place), "answers") if place else ""


def identity(request: Request, provider: Provider) -> str:
    """Return the key of a request: a digest of all that its answer depends on; of a session also what runs it."""
    return digest(*_named(request, provider))


def canonical(body: Mapping[str, Any]) -> bytes:
    """Write a body down so that equal ones are equal to the byte: keys sorted, no white space, no escapes."""
    return _bytes(json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain))


def fields_of(reply: Reply) -> dict[str, Any]:
    """Return a reply as JSON has it."""
    return {**reply._asdict(), "content": [dict(block) for block in reply.content]}


def reply_of(fields: Any) -> Reply | None:  # noqa: ANN401 - any JSON
    """Make a reply of what :func:`fields_of` returned; None where it is of another make."""
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


def _named(request: Request, provider: Provider) -> tuple[bytes, ...]:
    versions = (request.prompt_version, request.rubric_version, request.sample)
    variant = (getattr(provider, "session_variant", "") if "runner" in request.body else "") or provider.variant
    whom = (provider.name, provider.endpoint, variant)
    return _bytes(repr((FORMAT, API_VERSION, *whom, *versions))), canonical(request.body)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_swapped(request: Request, reply: Reply) -> bool:
    return prices.is_other(str(request.body.get("model", "")), reply.model)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a request's body holds a {type(value).__name__}")


def _read(text: str) -> tuple[Reply | None, float | None]:
    """Read the reply of an entry, None where it is of another make; and how long it took, where that is known."""
    try:
        entry = json.loads(text)
        if entry["format"] != FORMAT:
            return None, None
        return reply_of(entry["reply"]), seconds_of(entry.get("seconds"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, None


def _is_whole(fields: Mapping[str, Any]) -> bool:
    """Whether every field is of its type, for who can write the folder can write an entry."""
    names = (fields["stop_reason"], fields["model"], fields["request_id"], fields["category"])
    return (
        all(isinstance(block, dict) and _is_block(block) for block in fields["content"])
        and all(isinstance(text, str) for text in names)
        and all(prices.is_count(count) for count in fields["tokens"] or ())
    )


def _is_block(block: Mapping[str, Any]) -> bool:
    if block.get("type") == "tool_use":
        return isinstance(block.get("name"), str) and isinstance(block.get("input"), dict)
    return block.get("type") != "text" or isinstance(block.get("text"), str)


def _derived(secret: str, purpose: bytes) -> bytes:
    """Derive a key from a secret as HKDF does (RFC 5869): another purpose gives another key, and no key the secret."""
    extracted = hmac.digest(_SALT, secret.encode("utf-8", "surrogateescape"), _HASH)
    return hmac.digest(extracted, purpose + b"\x01", _HASH)
