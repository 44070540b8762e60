"""The report as one HTML page that needs nothing else: no script, no request, whatever the skills hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.report.html_diff import compare_page, diff_page
from skillgate.report.html_score import score_page
from skillgate.report.html_shell import LIMIT, render
from skillgate.report.html_verdict import decide
from skillgate.report.links import Links

if TYPE_CHECKING:
    from skillgate.model.documents import ActionRun, Comparison, Diff
    from skillgate.model.report import Report

_LOCAL = Links()


def render_score(report: Report) -> str:
    """Write the page of a report."""
    return score_page(report, _LOCAL)


def render_compare(comparison: Comparison) -> str:
    """Write the page of a comparison."""
    return compare_page(comparison, _LOCAL)


def render_diff(diff: Diff) -> str:
    """Write the page of a diff."""
    return diff_page(diff, _LOCAL)


def page(
    *,
    report: Report | None,
    diff: Diff | None = None,
    run: ActionRun | None = None,
    repository_url: str = "",
    run_url: str = "",
    directory: str = "",
    trusted: bool = True,
    limit: int = LIMIT,
) -> str:
    """Write the page of a run of the Action.

    Args:
        report: the head's report; None where the run ended before there was one.
        diff: base against head.
        run: what was compared, under whose policy, and what came of it.
        repository_url: ``https://HOST/OWNER/NAME``, ``""`` where it is not known.
        run_url: the workflow run, likewise.
        directory: what the report's paths are relative to, in the repository.
        trusted: False where report, diff and run are somebody else's word: then nothing of them is led to.
        limit: of the page, in bytes.
    """
    head = run.head if run else ""
    links = Links(repository_url, run_url, commit=head, directory=directory, trusted=trusted)
    if report is not None:
        return score_page(report, links, diff=diff, run=run, limit=limit)
    return render("run.html.j2", decision=decide(None, (), run, links, diff), links=links, run=run)
