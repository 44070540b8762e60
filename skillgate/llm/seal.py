"""Sign what is kept of models' answers, so that nobody without the key can add or change one.

A digest without a key finds damage and no forgery: whoever can write the directory can compute it. The key comes from
``SKILLGATE_CACHE_KEY``, or is derived from the provider's API key. It is written nowhere.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

OPENAI_KEY = "OPENAI_API_KEY"
"""The variable with the key of an OpenAI-compatible server, unless another one is named."""
VARIABLE = "SKILLGATE_CACHE_KEY"
MIN_CHARACTERS = 32
"""Of ``SKILLGATE_CACHE_KEY``: as many as ``openssl rand -hex 16`` makes."""
_MIN_API_KEY = 20  # characters; a mark under a shorter one would let whoever reads the cache guess it
_HASH = "sha256"
_SALT = b"skillgate kept answers 1"


class Seal:
    """Make and check marks with one key. Thread-safe."""

    def __init__(self, key: bytes) -> None:
        """Take the key, which should be random or derived from a secret."""
        self._key = key

    def mark(self, *parts: bytes) -> str:
        """Return an HMAC-SHA256 over byte strings, each told from its neighbours by its length, in hexadecimal."""
        message = hmac.new(self._key, digestmod=_HASH)
        for part in parts:
            message.update(len(part).to_bytes(8, "little"))
            message.update(part)
        return message.hexdigest()

    def fits(self, mark: str, *parts: bytes) -> bool:
        """Return whether a mark, whatever it is, was made with this key over these byte strings."""
        return hmac.compare_digest(self.mark(*parts).encode(), mark.encode("utf-8", "surrogatepass"))


def seal_of(environ: Mapping[str, str], provider: str, key_variable: str) -> Seal | None:
    """Return what signs kept answers; None without a key.

    Args:
        environ: the environment, which holds the keys.
        provider: who answers. Only static API keys count: a token that is renewed would make every run begin anew.
        key_variable: the variable with the key of an OpenAI-compatible server.

    Raises:
        UsageError: ``SKILLGATE_CACHE_KEY`` is too short; the message does not repeat it.
    """
    given = environ.get(VARIABLE, "").strip()  # an unset secret is an empty variable in GitHub's workflows
    if given:
        if len(given) < MIN_CHARACTERS:
            raise UsageError(
                f"{VARIABLE} is too short to keep answers from being forged: give at least {MIN_CHARACTERS} random"
                " characters, such as those of `openssl rand -hex 32`"
            )
        return Seal(_derived(given, b"cache key"))
    is_named = PROVIDERS.flag(provider, "KEY_VARIABLE_IS_NAMED")
    variable = key_variable if is_named else PROVIDERS.text(provider, "KEY_VARIABLE")
    api_key = environ.get(variable, "").strip()
    return Seal(_derived(api_key, b"api key")) if len(api_key) >= _MIN_API_KEY else None


def _derived(secret: str, purpose: bytes) -> bytes:
    """Derive a key from a secret as HKDF does (RFC 5869): another purpose gives another key, and no key the secret."""
    extracted = hmac.digest(_SALT, secret.encode("utf-8", "surrogateescape"), _HASH)
    return hmac.digest(extracted, purpose + b"\x01", _HASH)
