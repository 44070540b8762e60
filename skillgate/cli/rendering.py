"""Shows a document in a format; only what writes that format is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.registry import Room
from skillgate.report.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.report.terminal import Style

_REPORTS = Room("skillgate.report")


def require_format(kind: str, form: str) -> Callable[..., str]:
    """Return what writes a kind of document in a format.

    Raises:
        UsageError: it cannot be shown so, or what that needs is not installed.
    """
    known = KINDS[kind]
    if form not in known.formats:
        raise UsageError(f"{known.what} cannot be written as {form}; it can be as {', '.join(known.formats)}")
    module, _, name = known.writers.get(form, "json:render").partition(":")
    write: Callable[..., str] = getattr(_REPORTS.load(module), name)
    return write


def rendered(
    document: Any,  # noqa: ANN401 - any of the kinds
    kind: str,
    form: str,
    style: Style,
    *,
    verbose: bool = False,
    seconds: float | None = None,
) -> str:
    """Show a document; a report over one skill or of a check has the shape of one over several, but for JSON.

    Raises:
        UsageError: it cannot be shown in this format.
    """
    write = require_format(kind, form)
    if form == "text":
        return write(document, style, verbose=verbose, **({} if seconds is None else {"seconds": seconds}))
    if form == "sarif":
        from skillgate.static.catalogue import pages  # every rule's file

        return write(document, pages())
    return write(document)
