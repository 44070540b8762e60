"""Skill-creator's ``evals.json``: tasks, and what their answers are held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.evals.loading import MAX_CASES, kind_of, named, why_no_prompt
from skillgate.model.evals import Check, TaskCase, Unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.evals.loading import Loaded

POSITION = 3
UNIT = "task"
_CHECKS = ("expectations", "assertions")  # skill-creator's own file, and the documentation of the format
_CHECK_TEXTS = ("text", "assertion", "expectation", "description", "value")


def is_it(loaded: Loaded, file: str) -> bool:  # noqa: ARG001 - as every format
    """Whether a document has the form of ``evals.json``."""
    return isinstance(loaded.value, dict) and isinstance(loaded.value.get("evals"), list)


def read(loaded: Loaded, file: str) -> Iterator[TaskCase | Unread]:
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
