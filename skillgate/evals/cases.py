"""The lists of prompts with a label that files hold, and what the formats of eval sets share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.evals import STYLES, TriggerCase, Unread
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.evals.loading import Loaded

MAX_CASES = 1_000  # of one file
MAX_PROMPT = 20_000  # characters
_PROMPTS = ("query", "prompt")  # skill-creator's word, and ours
_TRIGGER_KEYS = ("prompt", "query", "should_trigger", "style", "note")
_TRIGGER_LISTS = ("triggers", "queries", "prompts", "evals")


def trigger_place(loaded: Loaded) -> str | None:
    """Say where a document holds its trigger prompts: ``""`` for the document itself, else a key; None for nowhere."""
    value = loaded.value
    if isinstance(value, list):
        return "" if _labelled(value) else None
    if isinstance(value, dict):
        for key in _TRIGGER_LISTS:
            items = value.get(key)
            if isinstance(items, list) and (_labelled(items) or key == "triggers"):
                return key
    return None


def _labelled(items: list[Any]) -> bool:
    return any(isinstance(item, dict) and ("should_trigger" in item or "query" in item) for item in items)


def triggers(loaded: Loaded, file: str, place: str) -> Iterator[TriggerCase | Unread]:
    """Read the prompts at a place, as :func:`trigger_place` gives it."""
    items = loaded.value[place] if place else loaded.value
    if not items:
        yield Unread(file, loaded.line(place), "the file holds no prompt at all")
    for index, item in enumerate(items[:MAX_CASES]):
        yield from _trigger(item, f"{place}[{index}]", loaded, file)
    if len(items) > MAX_CASES:
        line = loaded.line(f"{place}[{MAX_CASES}]")
        yield Unread(
            file, line, f"the file holds {len(items):,} prompts; those after the first {MAX_CASES:,} were not read"
        )


def _trigger(item: Any, place: str, loaded: Loaded, file: str) -> Iterator[TriggerCase | Unread]:  # noqa: ANN401 - JSON
    line = loaded.line(place)
    if not isinstance(item, dict):
        yield Unread(file, line, f"expected a prompt with should_trigger, found {kind_of(item)}")
        return
    key = next((key for key in _PROMPTS if key in item), "prompt")
    label, style = item.get("should_trigger"), item.get("style", STYLES[0])
    line = loaded.line(f"{place}.{key}")
    wrong = why_no_prompt(item.get(key), key)
    if wrong is None and not isinstance(label, bool):
        wrong = f"should_trigger must be true or false, and is {kind_of(label)}"
    if wrong is None and style not in STYLES:
        wrong = f"style must be {' or '.join(STYLES)}, and is {kind_of(style)}"
    if wrong is not None:
        yield Unread(file, line, f"this prompt was not read: {wrong}")
        return
    yield TriggerCase(item[key], bool(label), file, line, style)
    if "style" in item or key == "prompt":  # our own form: a mistyped key would go unseen
        for other in item:
            if other not in _TRIGGER_KEYS:
                where = loaded.line(f"{place}.{other}")
                yield Unread(file, where, f"the key {str(other)[:60]!r} means nothing here", Severity.WARNING)


def named(value: Any, number: int) -> str:  # noqa: ANN401 - JSON
    """Give what a case is called, at most 200 characters of it; its number where it has no name that can be shown."""
    return str(value)[:200] if isinstance(value, str | int | float) else str(number)


def why_no_prompt(value: Any, key: str) -> str | None:  # noqa: ANN401 - JSON
    """Say why a value cannot be a prompt; None where it can."""
    if not isinstance(value, str):
        return f"{key} must be text, and is {kind_of(value)}"
    if not value.strip():
        return f"{key} is empty"
    if len(value) > MAX_PROMPT:
        return f"{key} has {len(value):,} characters; at most {MAX_PROMPT:,} are read"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{key} holds half of a surrogate pair, which is no character"
    return None


def kind_of(value: Any) -> str:  # noqa: ANN401 - JSON
    """Name what stands in the place of something else; short texts are quoted."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:39] + "…")
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")
