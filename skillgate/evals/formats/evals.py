"""Read skill-creator's ``evals.json``: tasks, and the checks of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.evals.loading import MAX_CASES, beyond, kind_of, named, sort_out, why_no_prompt
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
        yield Unread(file, loaded.line("evals"), "the file has no tasks")
    for index, item in enumerate(items[:MAX_CASES]):
        yield from _task(item, f"evals[{index}]", loaded, file, number=index + 1)
    yield from beyond(items, "tasks", "evals", loaded, file)


def _task(item: Any, place: str, loaded: Loaded, file: str, *, number: int) -> Iterator[TaskCase | Unread]:  # noqa: ANN401
    line = loaded.line(f"{place}.prompt")
    if not isinstance(item, dict):
        yield Unread(file, line, f"expected a task with a prompt, found {kind_of(item)}")
        return
    wrong = why_no_prompt(item.get("prompt"), "prompt")
    if wrong is not None:
        yield Unread(file, line, f"task skipped: {wrong}")
        return
    checks: list[Check] = []
    for key in _CHECKS:
        yield from sort_out(_checks(item.get(key), f"{place}.{key}", loaded, file), checks)
    expected, attached = item.get("expected_output"), item.get("files")
    if expected is not None and not isinstance(expected, str):
        where = loaded.line(f"{place}.expected_output")
        yield Unread(file, where, f"expected_output must be a string, not {kind_of(expected)}")
    if attached is not None and not isinstance(attached, list):
        yield Unread(file, loaded.line(f"{place}.files"), f"files must be a list, not {kind_of(attached)}")
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
            yield Unread(file, line, f"expected a sentence to check the answer against, found {kind_of(item)}")
    yield from beyond(items, "sentences", place, loaded, file)
