"""Shows a document in a format: which formats there are, which suffixes are theirs, and who writes what in them.

All of it is declared by the files of ``skillgate.report.formats``; only what writes the format in question is loaded.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.registry import OUTPUT_FORMATS
from skillgate.report.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.model.finding import Page
    from skillgate.report.terminal import Style

_EVERY = "*"


@cache
def _writers() -> dict[str, dict[str, str]]:
    return {form: OUTPUT_FORMATS.table(form, "WRITERS") for form in OUTPUT_FORMATS.listed()}


@cache
def suffixes() -> dict[str, str]:
    """Return every suffix of a format's files, with the format."""
    return {suffix: form for form in _writers() for suffix in OUTPUT_FORMATS.texts(form, "SUFFIXES")}


def formats_of(*kinds: str) -> tuple[str, ...]:
    """Return the formats that one of these kinds of document can be shown in; all formats where none is named."""
    return tuple(form for form, writers in _writers().items() if not kinds or writers.keys() & {_EVERY, *kinds})


def format_of(path: str) -> str:
    """Return the format that a file's suffix stands for, the longest that fits; ``""`` for none."""
    fitting = [suffix for suffix in suffixes() if path.lower().endswith(suffix)]
    return suffixes()[max(fitting, key=len)] if fitting else ""


def ending(form: str) -> str:
    """Return how the name of a file ends that is in a format, after a dot."""
    return OUTPUT_FORMATS.text(form, "ENDING") or OUTPUT_FORMATS.text(form, "SUFFIXES").removeprefix(".")


def writer(kind: str, form: str) -> Callable[..., str]:
    """Load what writes a kind of document in a format.

    Raises:
        UsageError: it cannot be shown so, or what that needs is not installed.
    """
    known = formats_of(kind)
    if form not in known:
        raise UsageError(f"{KINDS[kind].what} cannot be written as {form}; it can be as {', '.join(known)}")
    writers = _writers()[form]
    module, _, function = writers.get(kind, writers.get(_EVERY, "")).rpartition(":")
    loaded = importlib.import_module(f"skillgate.report.{module}") if module else OUTPUT_FORMATS.load(form)
    found: Callable[..., str] = getattr(loaded, function)
    return found


def render(
    document: Any,  # noqa: ANN401 - any of the kinds
    kind: str,
    form: str,
    style: Style,
    *,
    verbose: bool = False,
    seconds: float | None = None,
    pages: Callable[[], Sequence[Page]] = tuple,
) -> str:
    """Show a document.

    Args:
        document: the document; a report over one skill or of a check has the shape of one over several, but for JSON.
        kind: its kind.
        form: the format.
        style: of a terminal's text.
        verbose: whether a terminal's text says more.
        seconds: how long it took, for a terminal's text.
        pages: gives the pages of the rules, for formats that describe them.

    Raises:
        UsageError: it cannot be shown in this format.
    """
    write = writer(kind, form)
    if OUTPUT_FORMATS.flag(form, "TERMINAL"):
        return write(document, style, verbose=verbose, **({} if seconds is None else {"seconds": seconds}))
    return write(document, pages()) if OUTPUT_FORMATS.flag(form, "RULE_PAGES") else write(document)
