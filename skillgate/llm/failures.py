"""What a server's refusal means: whether asking again can help, how long to wait, and a sentence without a secret."""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from math import isfinite
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_SHOWN = 240  # characters of a server's own words
_AGAIN = (408, 409, 425, 429)  # and every 5xx that is not named next
_NEVER = (501, 505)  # it cannot do what was asked, now or later
_SECRET = re.compile(r"\b(?:Bearer|Basic)\s+\S+|\b[spr]k-[\w*.\-]{6,}|\bA[KS]IA[A-Z0-9]{12,}")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_TOO_LONG = re.compile(
    r"(?:prompt|input) is too long|context[ _](?:window|length|size)|maximum context|too many (?:input )?tokens",
    re.IGNORECASE,
)
_UNPAID = re.compile(r"billing_error|insufficient_quota|credit balance", re.IGNORECASE)
_NO_MODEL = re.compile(r"model_not_found|invalid model name|no such model", re.IGNORECASE)


class Place(NamedTuple):
    """Where a request went, for messages.

    Attributes:
        endpoint: the address, without credentials.
        model: the one that was asked for.
        credentials: what to look at when the key is refused, as in ``check ANTHROPIC_API_KEY``.
        secrets: what no message may hold.
    """

    endpoint: str
    model: str
    credentials: str
    secrets: tuple[str, ...] = ()


def of_status(status: int, headers: Mapping[str, str], body: str, place: Place) -> ProviderError:
    """Say what an answer other than 2xx means.

    Args:
        status: of HTTP.
        headers: by their names in lower case.
        body: what came with it.
        place: where the request went.
    """
    said = words(body)
    cause = _cause(status, said)
    again = (status in _AGAIN or (status >= 500 and status not in _NEVER)) and cause in (Cause.RATE, Cause.SERVER)
    if headers.get("x-should-retry") == "false":
        again = False
    message = _sentence(status, cause, place)
    if said and status != 401:  # a refused key is often quoted, in part
        message += f": {shown(said, place.secrets)}"
    return ProviderError(cause, message, status=status, retry_after_s=asked_to_wait(headers), again=again)


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Give the seconds that ``retry-after`` asks for, as a number or a date; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """Make somebody else's words fit for a message: one line, not long, without what looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[redacted]")
    text = _UNPRINTABLE.sub(" ", _SECRET.sub("[redacted]", text)).strip()
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def words(body: str) -> str:
    """Give the type, code and message of an error document, as it stands there; ``""`` for anything else."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    found = document.get("error", document) if isinstance(document, dict) else None
    if isinstance(found, str):
        return found
    if not isinstance(found, dict):
        return ""
    parts = [found.get(name) for name in ("type", "code", "message", "detail")]
    return ": ".join(dict.fromkeys(part for part in parts if isinstance(part, str) and part))


def no_message(what: str, place: Place) -> ProviderError:
    """A 200 that is no message of the protocol; another try may give one."""
    return ProviderError(Cause.REPLY, f"{place.endpoint} answered with {what}", status=200, again=True)


def _cause(status: int, said: str) -> Cause:
    if status == 402 or (status in (400, 403, 429) and _UNPAID.search(said)):
        return Cause.BILLING
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(said)):
        return Cause.TOO_LONG
    if status == 404 or (status in (400, 422) and _NO_MODEL.search(said)):
        return Cause.MODEL
    if status in (401, 403):
        return Cause.CREDENTIALS
    if status == 429:
        return Cause.RATE
    return Cause.SERVER if status >= 500 or status in _AGAIN else Cause.REQUEST


def _sentence(status: int, cause: Cause, place: Place) -> str:
    where = f"{place.endpoint} ({status})"
    if 300 <= status < 400:
        return f"{where} sends requests elsewhere, which is not followed: give the final address as the base URL"
    match cause:
        case Cause.CREDENTIALS if status == 401:
            return f"the key was refused by {where}; {place.credentials}"
        case Cause.CREDENTIALS:
            return f'the key may not use the model "{shown(place.model)}" at {where}; {place.credentials}'
        case Cause.BILLING:
            return f"{where} asks for payment: the account has no credit left"
        case Cause.MODEL:
            return f'there is no model "{shown(place.model)}" at {where}: check the model and the base URL'
        case Cause.TOO_LONG:
            return f"the request is too long for {where}"
        case Cause.RATE:
            return f"the rate limit was reached at {where}"
        case Cause.SERVER:
            return f"the server failed at {where}"
        case _:
            return f"the request was refused by {where}"
