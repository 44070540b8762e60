"""Shows a document in a format, with the pages of the rules for formats that describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.report.rendering import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.page import Page
    from skillgate.report.terminal import Style


def rendered(
    document: Any,  # noqa: ANN401 - any of the kinds
    kind: str,
    form: str,
    style: Style,
    *,
    verbose: bool = False,
    seconds: float | None = None,
) -> str:
    """Show a document; the arguments are those of :func:`skillgate.report.rendering.render`.

    Raises:
        UsageError: it cannot be shown in this format.
    """
    return render(document, kind, form, style, verbose=verbose, seconds=seconds, pages=_pages)


def _pages() -> Sequence[Page]:
    from skillgate.static.catalogue import pages  # every rule's file

    return pages()
