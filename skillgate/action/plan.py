"""What a run publishes: effects as plain values, decided here and performed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.comment.benchmark import has_moved
from skillgate.action.comment.comment import comment, headline, marker, summary
from skillgate.action.comment.issue import issue
from skillgate.action.github.outputs import SCORE_OUTPUTS, benchmark_outputs, gate_outputs, score_outputs
from skillgate.action.github.protocol import command, quiet
from skillgate.model.finding import Severity
from skillgate.report import bench_text, html
from skillgate.report import json as documents
from skillgate.report.formats import sarif
from skillgate.report.formats.github import render_annotations
from skillgate.report.terminal import Style
from skillgate.report.text import render_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.action.comment.issue import Issue
    from skillgate.action.comment.subject import Subject
    from skillgate.model.page import Page
    from skillgate.model.report import Report

RUN, REPORT, DIFF = "run.json", "report.json", "diff.json"
BENCH, BENCH_DIFF = "benchmark.json", "benchmark-diff.json"
INVOCATIONS = "invocations.json"
"""The documents of a run in its report directory: what a second workflow reads."""

DOCUMENTS = (RUN, REPORT, DIFF, BENCH, BENCH_DIFF, INVOCATIONS, "report.html", "report.md")
"""All that is written there."""

_WIDTH = 120  # columns of the log
_REASONS = 100  # that an output holds; all stand in run.json


class WriteFile(NamedTuple):
    """Write a file in the workspace, for whoever owns that.

    Of JSON secrets were taken out as values; in its text one that is a word of ours would take a key with it.
    """

    path: str
    text: str
    is_json: bool = False


class Log(NamedTuple):
    """Write whole lines to the log, as they are."""

    text: str


class Summarise(NamedTuple):
    """Add to the job summary."""

    text: str


class PutComment(NamedTuple):
    """Have a comment on a pull request say this; where there is none yet, make one only with ``create``."""

    number: int
    body: str
    marker: str
    create: bool


class PutIssue(NamedTuple):
    """Open the issue about regressions, bring it up to date, or close it."""

    issue: Issue


class WriteCertificates(NamedTuple):
    """Write the certificate and the badges that were asked for, of a report."""

    report: Report


class SetOutputs(NamedTuple):
    """Set outputs; those about comment and issue are known only when they are there."""

    values: tuple[tuple[str, str], ...]


Effect = WriteFile | Log | Summarise | PutComment | PutIssue | WriteCertificates | SetOutputs


class Publication(NamedTuple):
    """What of a run is published, and where.

    Attributes:
        report_dir: where the documents go, relative to the workspace; ``""`` for nowhere.
        sarif: where SARIF goes, ``""`` for nowhere.
        pull_request: which one to comment on, None for none.
        comment: ``always``, ``changes``, ``failures`` or ``never``.
        annotations: ``all``, ``errors`` or ``none``.
        create: whether a pull request without a comment may get one.
        issue: whether a regression opens an issue.
        certificate: where a certificate goes, ``""`` for nowhere.
        badges: the directory where badges go, ``""`` for nowhere.
    """

    report_dir: str = ""
    sarif: str = ""
    pull_request: int | None = None
    comment: str = "always"
    annotations: str = "all"
    create: bool = True
    issue: bool = False
    certificate: str = ""
    badges: str = ""


def plan(
    subject: Subject, publication: Publication, *, token: Callable[[], str], pages: Sequence[Page] = ()
) -> tuple[Effect, ...]:
    """Decide what is written where.

    Args:
        subject: the run; secrets were taken out of its texts.
        publication: what is published.
        token: gives random text, for what nobody may foresee (see :func:`skillgate.action.github.protocol.quiet`).
        pages: every rule's page, where SARIF is written.

    Returns:
        Effects in the order they are performed in.
    """
    return tuple(_effects(subject, publication, token, pages))


def _effects(
    subject: Subject, publication: Publication, token: Callable[[], str], pages: Sequence[Page]
) -> Iterator[Effect]:
    yield Log(_log(subject, publication, token))
    text = summary(subject)
    if publication.report_dir:
        yield from _files(subject, publication.report_dir, text)
    if publication.sarif and subject.report is not None:
        yield WriteFile(publication.sarif, sarif.render(subject.report, pages), is_json=True)
    if subject.report is not None and (publication.certificate or publication.badges):
        yield WriteCertificates(subject.report)
    yield Summarise(text)
    if publication.pull_request is not None and publication.comment != "never":
        yield PutComment(publication.pull_request, comment(subject), marker(subject.key), creates(subject, publication))
    told_of = issue(subject) if publication.issue else None
    if told_of is not None:
        yield PutIssue(told_of)
    yield SetOutputs(tuple(_outputs(subject, publication).items()))


def creates(subject: Subject, publication: Publication) -> bool:
    """Return whether a pull request without a comment gets one; one that has a comment never keeps an old verdict."""
    if not publication.create:
        return False
    if subject.run.result != "pass":
        return True
    if subject.run.changed_only and subject.run.touched == 0:
        return bool(subject.run.policy_changes)
    if publication.comment == "failures":
        return False
    if publication.comment == "changes" and subject.diff is not None:
        counts = subject.diff.summary
        is_other = counts.new or counts.removed or counts.changed or counts.moved or subject.run.policy_changes
        return bool(is_other) or has_moved(subject)
    return True


def _log(subject: Subject, publication: Publication, token: Callable[[], str]) -> str:
    """Write the reason first, then the report for people, then the annotations."""
    run, report = subject.run, _scored_results(subject)
    lines = [quiet(headline(subject), token)]
    text = "".join(f"{line}\n" for line in (*run.reasons[1:], *run.policy_changes, *run.notices))
    if report is not None:
        text += render_score(report, Style(width=_WIDTH))
    if subject.bench is not None:
        text += bench_text.render(subject.bench, Style(width=_WIDTH), verbose=False)
    if subject.invocations is not None:
        from skillgate.report.invocations_text import render_gates  # most runs ask no such gate

        text += render_gates(subject.invocations.gates, Style(width=_WIDTH))
    lines.append(quiet(text, token))
    if run.result == "error":
        lines.append(command("error", (("title", "skillgate"),), "; ".join(run.reasons)) + "\n")
    if report is not None and publication.annotations != "none":
        lines.append(render_annotations(_errors(report) if publication.annotations == "errors" else report))
    return "".join(lines)


def _scored_results(subject: Subject) -> Report | None:
    """Leave out of the log the skills that are only named beside others, unless they fail."""
    report, beside = subject.report, subject.run.beside
    if report is None or not beside:
        return report
    results = [one for one in report.results if one.skill.path not in beside or one.gate.passed is False]
    summary = report.summary._replace(skills=len(results))
    return report._replace(results=tuple(results), summary=summary)


def _errors(report: Report) -> Report:
    results = [
        result._replace(findings=tuple(one for one in result.findings if one.severity is Severity.ERROR))
        for result in report.results
    ]
    outside = tuple(one for one in report.outside if one.severity is Severity.ERROR)
    return report._replace(results=tuple(results), outside=outside)


def _files(subject: Subject, folder: str, markdown: str) -> Iterator[WriteFile]:
    yield WriteFile(f"{folder}/{RUN}", documents.render(subject.run), is_json=True)
    if subject.report is not None:
        yield WriteFile(f"{folder}/{REPORT}", documents.render(subject.report), is_json=True)
    if subject.diff is not None:
        yield WriteFile(f"{folder}/{DIFF}", documents.render(subject.diff), is_json=True)
    if subject.bench is not None:
        yield WriteFile(f"{folder}/{BENCH}", documents.render(subject.bench), is_json=True)
    if subject.bench_diff is not None:
        yield WriteFile(f"{folder}/{BENCH_DIFF}", documents.render(subject.bench_diff), is_json=True)
    if subject.invocations is not None:
        yield WriteFile(f"{folder}/{INVOCATIONS}", documents.render(subject.invocations), is_json=True)
    yield WriteFile(f"{folder}/report.md", markdown)
    page = html.page(
        report=subject.report,
        diff=subject.diff,
        run=subject.run,
        repository_url=subject.repository_url,
        run_url=subject.run_url,
        trusted=subject.trusted,
    )
    yield WriteFile(f"{folder}/report.html", page)


def _outputs(subject: Subject, publication: Publication) -> dict[str, str]:
    run, report, diff = subject.run, subject.report, subject.diff
    here = publication.report_dir and report is not None
    return {
        "result": run.result,
        "reasons": "\n".join((*run.reasons[:_REASONS], *_left(run.reasons))),
        **(score_outputs(report, run.beside) if report is not None else dict.fromkeys(SCORE_OUTPUTS, "")),
        "new-findings": str(diff.summary.findings_new) if diff else "",
        "fixed-findings": str(diff.summary.findings_fixed) if diff else "",
        "baseline-rev": run.base or "",
        "report-json": f"{publication.report_dir}/{REPORT}" if here else "",
        "report-html": f"{publication.report_dir}/report.html" if publication.report_dir else "",
        "report-md": f"{publication.report_dir}/report.md" if publication.report_dir else "",
        "sarif-file": publication.sarif if report is not None else "",
        **benchmark_outputs(subject, f"{publication.report_dir}/{BENCH}" if publication.report_dir else ""),
        **gate_outputs(subject, f"{publication.report_dir}/{INVOCATIONS}" if publication.report_dir else ""),
        "comment-status": "skipped",
        "comment-url": "",
        "issue-status": "skipped",
        "issue-url": "",
        "certificate-file": publication.certificate if report is not None else "",
        "badges-dir": publication.badges if report is not None else "",
    }


def _left(reasons: Sequence[str]) -> list[str]:
    left = len(reasons) - _REASONS
    return [f"{left} more"] if left > 0 else []
