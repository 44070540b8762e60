"""The lists of cases that files hold: prompts with a label, and tasks with what their answers are held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.evals import STYLES, Check, TaskCase, TriggerCase, Unread
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.evals.loading import Loaded

MAX_CASES = 1_000  # of one file
MAX_PROMPT = 20_000  # characters
_PROMPTS = ("query", "prompt")  # skill-creator's word, and ours
_TRIGGER_KEYS = ("prompt", "query", "should_trigger", "style", "note")
_TRIGGER_LISTS = ("triggers", "queries", "prompts", "evals")
_CHECKS = ("expectations", "assertions")  # skill-creator's own file, and the documentation of the format
_CHECK_TEXTS = ("text", "assertion", "expectation", "description", "value")


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


def is_tasks(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Tell whether a document has the form of ``evals.json``."""
    return isinstance(value, dict) and isinstance(value.get("evals"), list)


def tasks(loaded: Loaded, file: str) -> Iterator[TaskCase | Unread]:
    """Read the tasks of a document of that form."""
    items = loaded.value["evals"]
    if not items:
        yield Unread(file, loaded.line("evals"), "holds no task at all")
    for index, item in enumerate(items[:MAX_CASES]):
        yield from _task(item, f"evals[{index}]", loaded, file, number=index + 1)
    if len(items) > MAX_CASES:
        line = loaded.line(f"evals[{MAX_CASES}]")
        yield Unread(
            file, line, f"the file holds {len(items):,} tasks; those after the first {MAX_CASES:,} were not read"
        )


def _task(item: Any, place: str, loaded: Loaded, file: str, *, number: int) -> Iterator[TaskCase | Unread]:  # noqa: ANN401
    line = loaded.line(f"{place}.prompt")
    if not isinstance(item, dict):
        yield Unread(file, line, f"expected a task with a prompt, found {kind_of(item)}")
        return
    wrong = why_no_prompt(item.get("prompt"), "prompt")
    if wrong is not None:
        yield Unread(file, line, f"this task was not read: {wrong}")
        return
    checks: list[Check] = []
    for key in _CHECKS:
        for found in _checks(item.get(key), f"{place}.{key}", loaded, file):
            if isinstance(found, Unread):
                yield found
            else:
                checks.append(found)
    expected, attached = item.get("expected_output"), item.get("files")
    if expected is not None and not isinstance(expected, str):
        where = loaded.line(f"{place}.expected_output")
        yield Unread(file, where, f"expected_output must be text, and is {kind_of(expected)}")
    if attached is not None and not isinstance(attached, list):
        yield Unread(file, loaded.line(f"{place}.files"), f"files must be a list, and is {kind_of(attached)}")
    yield TaskCase(
        id=named(item.get("id"), number),
        prompt=item["prompt"],
        file=file,
        line=line,
        expected=expected if isinstance(expected, str) else "",
        checks=tuple(checks),
        attached=tuple(name for name in attached if isinstance(name, str)) if isinstance(attached, list) else (),
    )


def _checks(items: Any, place: str, loaded: Loaded, file: str) -> Iterator[Check | Unread]:  # noqa: ANN401 - JSON
    if items is None:
        return
    if not isinstance(items, list):
        yield Unread(file, loaded.line(place), f"expected a list of sentences, found {kind_of(items)}")
        return
    for index, item in enumerate(items[:MAX_CASES]):
        line = loaded.line(f"{place}[{index}]")
        text = item
        if isinstance(item, dict):
            text = next((item[key] for key in _CHECK_TEXTS if isinstance(item.get(key), str)), None)
        if isinstance(text, str):
            yield Check("assertion", text, file, line)
        else:
            yield Unread(file, line, f"expected a sentence to hold the answer to, found {kind_of(item)}")
    if len(items) > MAX_CASES:
        line = loaded.line(f"{place}[{MAX_CASES}]")
        yield Unread(
            file, line, f"there are {len(items):,} sentences; those after the first {MAX_CASES:,} were not read"
        )


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
