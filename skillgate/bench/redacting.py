"""Takes values of secrets out of what a skill answered: a server may give back what it was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.ports import Reply

MASK = "[redacted]"
_SHORTEST = 4  # characters: what is shorter stands in texts by chance


def redacted(reply: Reply, secrets: Sequence[str]) -> Reply:
    """Give a reply without the secrets, in output and error."""
    hidden = [secret for secret in secrets if len(secret) >= _SHORTEST]
    if not hidden:
        return reply
    return reply._replace(output=without(reply.output, hidden), error=_clean(reply.error, hidden))


def without(value: Any, secrets: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    """Give JSON without the secrets, in its keys too."""
    if isinstance(value, str):
        return _clean(value, secrets)
    if isinstance(value, list):
        return [without(item, secrets) for item in value]
    if isinstance(value, dict):
        return {_clean(key, secrets): without(item, secrets) for key, item in value.items()}
    return value


def _clean(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text
