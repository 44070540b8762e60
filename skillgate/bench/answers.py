"""What of an answer is scored, and the text that it is: shared by the scorers."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

from skillgate.bench.pointer import at, steps_of
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.benchmark import Evaluator

WRAPPERS = ("result", "output", "answer")
_SHOWN = 120  # characters of an answer in a reason


def part(output: Any, evaluator: Evaluator) -> Any:  # noqa: ANN401 - JSON
    """Give what is scored: what the evaluator's path leads to; else an object's only value, where its key is a wrapper.

    Raises:
        NothingThere: the path leads nowhere.
    """
    if evaluator.path is not None:
        return at(output, evaluator.path)
    if isinstance(output, dict) and len(output) == 1:
        (key,) = output
        return output[key] if key in WRAPPERS else output
    return output


def require_path(evaluator: Evaluator) -> None:
    """Refuse a path that is no pointer.

    Raises:
        ValueError: naming the key.
    """
    if evaluator.path is not None:
        try:
            steps_of(evaluator.path)
        except ValueError as error:
            raise ValueError(f"evaluator.path: {error}") from None


def scalar_text(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Give a scalar's text: 25.0 is ``25``, true is ``true``; None for lists and objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return None


def searched(value: Any, scope: str) -> str:  # noqa: ANN401 - JSON
    """Give the text that is searched: the scalars of a value, a line each; in scope ``json`` the value as JSON."""
    if scope == "json":
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "\n".join(_leaves(value))


def _leaves(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            stack.extend(reversed(one.values()))
        elif isinstance(one, list):
            stack.extend(reversed(one))
        else:
            yield scalar_text(one) or ""


def folded(text: str, *, case_sensitive: bool, normalize: bool) -> str:
    """Bring a text into the form in which it is compared."""
    text = unicodedata.normalize("NFC", text) if normalize else text
    return text if case_sensitive else text.casefold()


def shown(value: Any) -> str:  # noqa: ANN401 - JSON
    """Give a value a short form for a reason."""
    text = printable(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
