"""What to publish of a run: files, log, summary, comment, issue and outputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.comment.comment import comment, headline, marker, summary
from skillgate.action.comment.verdict import has_moved
from skillgate.action.protocol import command, quiet
from skillgate.format import Style
from skillgate.model.bench import Flip
from skillgate.model.codec import encode
from skillgate.model.finding import Severity
from skillgate.report import bench, score
from skillgate.report import json as documents
from skillgate.report.formats import html, sarif
from skillgate.report.formats import text as terminal_text
from skillgate.report.formats.github import render_annotations
from skillgate.report.links import Links
from skillgate.report.skill import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.finding import Page
    from skillgate.model.report import Report


RUN, REPORT, DIFF = "run.json", "report.json", "diff.json"
BENCH, BENCH_DIFF = "benchmark.json", "benchmark-diff.json"
INVOCATIONS = "invocations.json"
HISTORY = "history.json"
"""The documents of a run in its report directory, which a second workflow reads."""
DOCUMENTS = (RUN, REPORT, DIFF, BENCH, BENCH_DIFF, INVOCATIONS, HISTORY, "report.html", "report.md")
"""All files that are written there."""
_WIDTH = 120  # columns of the log
_REASONS = 100  # in an output; run.json has all


class Output(NamedTuple):
    """One output: always written, even if the step fails; empty without a value."""

    name: str
    help: str


OUTPUTS = (
    Output("result", "pass, fail or error."),
    Output("reasons", "Why the result is not pass; one reason per line."),
    Output("skills", "How many skills were evaluated."),
    Output("errors", "How many errors they have."),
    Output("warnings", "How many warnings they have."),
    Output("score", "The lowest score among the skills."),
    Output("scores", "Every score as JSON, by path; null if there is none."),
    Output("coverage", "The measured share of the total weight, 0 to 1."),
    Output("model-calls", "How many requests a model answered."),
    Output("cached-answers", "How many answers came from the cache."),
    Output("cost-usd", "The cost of the calls; empty if a price is unknown."),
    Output("new-findings", "How many findings are new; empty without a base."),
    Output("fixed-findings", "How many findings were fixed; empty without a base."),
    Output("baseline-rev", "The commit of the baseline; empty without one."),
    Output("report-json", "The path of report.json in the workspace."),
    Output("report-html", "The path of report.html in the workspace."),
    Output("report-md", "The path of report.md in the workspace."),
    Output("sarif-file", "The path of the SARIF file; empty for none."),
    Output("completion", "The lowest completion rate among the skills of the benchmark, 0 to 1; empty without one."),
    Output("completions", "Every completion rate as JSON, by the skill's id; null if there is none."),
    Output("broken-tasks", "How many tasks passed in the base and now fail; empty without a base."),
    Output("benchmark-json", "The path of benchmark.json in the workspace; empty without a benchmark."),
    Output("gates", "The result of each gate on recorded invocations as JSON, by path and gate; empty without one."),
    Output("invocations-json", "The path of invocations.json in the workspace; empty without such a gate."),
    Output("comment-status", "created, updated, unchanged, skipped, forbidden or failed."),
    Output("comment-url", "The comment's address; empty without one."),
    Output(
        "issue-status",
        "forbidden, failed, created, updated, closed, unchanged or skipped: the first that applies to an issue.",
    ),
    Output("issue-url", "The addresses of the regression issues that were opened, updated or closed, one per line."),
    Output("certificate-file", "The path of the certificate; empty for none."),
    Output("badges-dir", "The directory of the badges; empty for none."),
)


class WriteFile(NamedTuple):
    """Write a file in the workspace, for its owner.

    JSON is made from values without secrets; in its text a secret that equals one of our words would damage a key.
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
    """Update the comment on a pull request; ``create`` allows a new one."""

    number: int
    body: str
    marker: str
    create: bool


class PutIssues(NamedTuple):
    """Open, update or close the issues about regressions of a run."""

    subject: Subject


class WriteCertificates(NamedTuple):
    """Write the requested certificate and badges of a report."""

    report: Report


class SetOutputs(NamedTuple):
    """Set outputs; those about comment and issue are added after posting."""

    values: tuple[tuple[str, str], ...]


Effect = WriteFile | Log | Summarise | PutComment | PutIssues | WriteCertificates | SetOutputs


class Publication(NamedTuple):
    """What to publish of a run, and where."""

    report_dir: str = ""  # for the documents, relative to the workspace; ``""`` for none
    sarif: str = ""  # the SARIF file, ``""`` for none
    pull_request: int | None = None  # the one to comment on, None for none
    comment: str = "always"  # ``always``, ``changes``, ``failures`` or ``never``
    annotations: str = "all"  # ``all``, ``errors`` or ``none``
    create: bool = True  # whether a pull request without a comment may get one
    issue: bool = False  # whether regressions open issues
    certificate: str = ""  # the certificate file, ``""`` for none
    badges: str = ""  # the directory of badges, ``""`` for none


def plan(
    subject: Subject, publication: Publication, *, token: Callable[[], str], pages: Sequence[Page] = ()
) -> tuple[Effect, ...]:
    """Decide what to write where.

    ``token``: returns unpredictable text (see :func:`skillgate.action.protocol.quiet`). ``pages``: every rule's page,
    for SARIF.

    Returns:
        Effects in the order to perform them.
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
    if publication.issue and subject.report is not None and subject.diff is not None:
        yield PutIssues(subject)
    yield SetOutputs(tuple(_outputs(subject, publication).items()))


def creates(subject: Subject, publication: Publication) -> bool:
    """Whether a pull request without a comment gets one; an existing comment is always updated."""
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
    """Return the log: first the reason, then the report, then the annotations."""
    run, report = subject.run, _scored_results(subject)
    lines = [quiet(headline(subject), token)]
    text = "".join(f"{line}\n" for line in (*run.reasons[1:], *run.policy_changes, *run.notices))
    if report is not None:
        text += terminal_text.write(score.view(report), Style(width=_WIDTH))
    if subject.bench is not None:
        text += terminal_text.write(bench.view(subject.bench), Style(width=_WIDTH))
    if subject.invocations is not None:
        from skillgate.report.invocations.lists import gates  # most runs have no such gate

        text += terminal_text.write(gates(subject.invocations.gates), Style(width=_WIDTH), verbose=True)
    lines.append(quiet(text, token))
    if run.result == "error":
        lines.append(command("error", (("title", "skillgate"),), "; ".join(run.reasons)) + "\n")
    if report is not None and publication.annotations != "none":
        lines.append(render_annotations(_errors(report) if publication.annotations == "errors" else report))
    return "".join(lines)


def _scored_results(subject: Subject) -> Report | None:
    """Leave out of the log skills with only shared findings, unless they fail."""
    report, extras = subject.report, subject.run.beside
    if report is None or not extras:
        return report
    results = [one for one in report.results if one.skill.path not in extras or one.gate.passed is False]
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
    values = {
        RUN: subject.run,
        REPORT: subject.report,
        DIFF: subject.diff,
        BENCH: subject.bench,
        BENCH_DIFF: subject.bench_diff,
        INVOCATIONS: subject.invocations,
    }
    for name, value in values.items():
        if value is not None:
            yield WriteFile(f"{folder}/{name}", documents.render(value), is_json=True)
    if subject.history is not None:
        yield WriteFile(f"{folder}/{HISTORY}", json.dumps(encode(subject.history)) + "\n", is_json=True)
    yield WriteFile(f"{folder}/report.md", markdown)
    links = Links(subject.repository_url, subject.run_url, commit=subject.run.head, trusted=subject.trusted)
    page = (
        score.run_view(subject.run, links)
        if subject.report is None
        else score.view(subject.report, diff=subject.diff, run=subject.run, context=Context(links))
    )
    yield WriteFile(f"{folder}/report.html", html.write(page))


def _outputs(subject: Subject, publication: Publication) -> dict[str, str]:
    run, report, diff, bench = subject.run, subject.report, subject.diff, subject.bench
    folder = publication.report_dir
    left = len(run.reasons) - _REASONS
    values = dict.fromkeys((output.name for output in OUTPUTS), "")
    values |= {
        "result": run.result,
        "reasons": "\n".join((*run.reasons[:_REASONS], *([f"{left} more"] if left > 0 else []))),
        "baseline-rev": run.base or "",
        "comment-status": "skipped",
        "issue-status": "skipped",
    }
    if folder:
        values |= {"report-html": f"{folder}/report.html", "report-md": f"{folder}/report.md"}
    if report is not None:
        values |= _score_outputs(report, run.beside)
        values |= {
            "report-json": f"{folder}/{REPORT}" if folder else "",
            "sarif-file": publication.sarif,
            "certificate-file": publication.certificate,
            "badges-dir": publication.badges,
        }
    if diff:
        values |= {"new-findings": str(diff.summary.findings_new), "fixed-findings": str(diff.summary.findings_fixed)}
    if bench is not None:
        rates = {one.skill_id: one.summary.completion_rate for one in bench.reports}
        known = [rate for rate in rates.values() if rate is not None]
        changed = subject.bench_diff
        broken = sum(one.flip is Flip.BROKEN for change in changed.changes for one in change.tasks) if changed else None
        values |= {
            "completion": f"{min(known):.4f}" if known else "",
            "completions": json.dumps(rates, ensure_ascii=True),
            "broken-tasks": "" if broken is None else str(broken),
            "benchmark-json": f"{folder}/{BENCH}" if folder else "",
        }
    if subject.invocations is not None:
        gates: dict[str, dict[str, str]] = {}
        for check in subject.invocations.gates:
            gates.setdefault(check.skill, {})[check.gate] = check.status
        values["gates"] = json.dumps(gates, ensure_ascii=True)
        values["invocations-json"] = f"{folder}/{INVOCATIONS}" if folder else ""
    return values


def _score_outputs(report: Report, extras: Collection[str]) -> dict[str, str]:
    """Return the outputs of the evaluated skills, with shared findings and findings outside of skills."""
    scores = {one.skill.path: one.composite.score for one in report.results if one.skill.path not in extras}
    known = [score for score in scores.values() if score is not None]
    counts, usage = report.summary.findings, report.usage
    return {
        "skills": str(len(scores)),
        "errors": str(counts.get("error", 0)),
        "warnings": str(counts.get("warning", 0)),
        "score": f"{min(known):.2f}" if known else "",
        "scores": json.dumps(scores, ensure_ascii=True),
        "coverage": f"{report.coverage:.2f}" if report.coverage is not None else "",
        "model-calls": str(usage.calls),
        "cached-answers": str(usage.cached),
        "cost-usd": f"{usage.cost_usd:.4f}" if usage.cost_usd is not None else "",
    }
