"""Documents as the writers show them, for tests of subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.format import Style
from skillgate.report import score
from skillgate.report.formats import html as html_writer
from skillgate.report.links import Links
from skillgate.report.rendering import writer
from skillgate.report.skill import Context

if TYPE_CHECKING:
    from skillgate.model.documents import ActionRun, Diff
    from skillgate.model.report import Report


def text(document: Any, kind: str, style: Style | None = None, **options: Any) -> str:
    """Write a document for a terminal."""
    return writer(kind, "text")(document, style or Style(), **options)


def markdown(document: Any, kind: str) -> str:
    """Write a document as Markdown."""
    return writer(kind, "markdown")(document)


def html(document: Any, kind: str) -> str:
    """Write a document as a page."""
    return writer(kind, "html")(document)


def page(
    *,
    report: Report | None,
    diff: Diff | None = None,
    run: ActionRun | None = None,
    repository_url: str = "",
    run_url: str = "",
    directory: str = "",
    trusted: bool = True,
    limit: int = html_writer.LIMIT,
) -> str:
    """Write the page of a run of the Action."""
    links = Links(repository_url, run_url, run.head if run else "", directory, trusted)
    if report is None:
        assert run is not None
        return html_writer.write(score.run_view(run, links), limit=limit)
    return html_writer.write(score.view(report, diff=diff, run=run, context=Context(links)), limit=limit)
