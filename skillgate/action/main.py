"""Run the Action: gate the checkout, or comment on the results of an earlier run, and publish them.

The earlier run executed a fork's pull request without write permission, so the fork's author may control its documents.
Each is read through the schema and within limits, none of them decides where to comment, and the comment names its
source.
"""
# ruff: noqa: PTH112, PTH118, PTH123

from __future__ import annotations

import dataclasses
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from skillgate import __version__, settings
from skillgate.action.comment.subject import Subject
from skillgate.action.github import LARGEST, Event, mode_of, read_event
from skillgate.action.history import continued, read_history, untrusted_text
from skillgate.action.outcome import Certificates, Publisher, prepare, repository_of, token
from skillgate.action.plan import (
    BENCH,
    BENCH_DIFF,
    DIFF,
    INVOCATIONS,
    REPORT,
    RUN,
    Publication,
    WriteCertificates,
    WriteFile,
    plan,
)
from skillgate.action.protocol import Redactor, secrets_of
from skillgate.action.request import (
    ActionRequest,
    ActionSession,
    read_inputs,
    remove_old_documents,
    request_of,
    require_certificate_paths,
    require_output_paths,
    unknown_inputs,
    variable,
    writable,
)
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, CodecError, SkillgateError, UsageError
from skillgate.homepage import publish_action
from skillgate.model.bench import BenchDiff, BenchReport
from skillgate.model.codec import decode
from skillgate.model.documents import ActionRun, Diff
from skillgate.model.report import Report, Tool
from skillgate.model.score import SCHEMA_VERSION
from skillgate.report import addresses
from skillgate.report.json import parsed, read
from skillgate.settings import INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.comment.subject import RunHistory
    from skillgate.action.outcome import Results
    from skillgate.console import Console
    from skillgate.model.finding import Page
    from skillgate.model.invocation import InvocationReport

_DOCUMENTS = ("run", "report", "diff", "bench", "bench_diff", "invocations", "history")
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def run(session: Console) -> int:
    """Gate or comment, and publish the results, including errors.

    Returns:
        The exit code of the step.

    Raises:
        UsageError: this is not a workflow.
    """
    environ = session.environ
    if environ.get("GITHUB_ACTIONS") != "true":
        raise UsageError(
            "this command only runs in a GitHub workflow (GITHUB_ACTIONS is not set); use skillgate check, score"
            " --baseline REV or report diff here"
        )
    _trust_system_programs(environ)
    publish_action(environ)
    workspace = environ.get("GITHUB_WORKSPACE", "")
    session = ActionSession(
        session,
        workspace=workspace if os.path.isdir(workspace) else session.cwd,
        redactor=Redactor(secrets_of(environ)),
    )
    fallback = _valid_request(environ)
    event, publication = Event(), Publication(comment="never")
    certificates: Certificates | None = None
    history: RunHistory | None = None
    try:
        event = read_event(environ, _payload(environ))
        publication = _publication(fallback, event, session.cwd)
        history = read_history(publication.report_dir, event, session)
        request = request_of(read_inputs(environ))
        for warning in unknown_inputs(environ):
            session.note(warning)
        if mode_of(event, request.mode) == "comment":
            subject, publication = comment_from_artifact(request, event, session, publication)
        else:
            results, certificates = _gate(request, event, session)
            subject = _subject(results, event, request.comment_key)
    except SkillgateError as error:
        subject = _failed(error, event, session, fallback.comment_key)
        is_gate = mode_of(event, fallback.mode) == "gate"
        # Never replace the documents of another run.
        folder = _cleared(publication.report_dir, session.cwd) if is_gate else ""
        publication = publication._replace(sarif="", report_dir=folder, certificate="", badges="")
    subject = subject._replace(history=continued(history, subject, event))
    return _publish(subject, publication, Publisher(session, event, certificates), session.redactor)


def _gate(request: ActionRequest, event: Event, session: ActionSession) -> tuple[Results, Certificates | None]:
    """Evaluate, or join the reports of earlier jobs; and prepare the certificate."""
    require_output_paths(session.cwd, request.report_dir, request.sarif)
    certificates = None
    if request.certificate or request.badges:
        require_certificate_paths(session.cwd, request.certificate, request.badges, request.report_dir)
        certificates = prepare(request, session)
    if request.reports:
        from skillgate.action.run import merge_reports  # most runs evaluate

        results = merge_reports(request, event, session)
    else:
        from skillgate.action.run import evaluate  # a comment evaluates nothing

        results = evaluate(request, event, session)
    remove_old_documents(session.cwd, request.report_dir)
    if certificates is not None:
        certificates = certificates._replace(config_digest=results.config_digest)
    return results, certificates


def _cleared(folder: str, workspace: str) -> str:
    """Clear the directory for the record of an error; ``""`` if that would destroy something."""
    try:
        if folder:
            require_output_paths(workspace, folder, "")
            remove_old_documents(workspace, folder)
    except UsageError:
        return ""
    return folder


def _publish(subject: Subject, publication: Publication, publisher: Publisher, redactor: Redactor) -> int:
    """Write the files first, so that failures are published with the rest."""
    pages: tuple[Page, ...] = ()
    if publication.sarif:
        from skillgate.static.catalogue import pages as every_page  # every rule's file

        pages = every_page()
    subject = subject._replace(**{name: redactor.clean_values(getattr(subject, name)) for name in _DOCUMENTS})
    effects = plan(subject, publication, token=token, pages=pages)
    files = (WriteFile, WriteCertificates)
    publisher.publish(effect for effect in effects if isinstance(effect, files))
    if publisher.failures and subject.run.exit_code == EXIT_PASSED:
        lost = dataclasses.replace(
            subject.run, result="error", exit_code=EXIT_INCOMPLETE, reasons=tuple(publisher.failures)
        )
        subject = subject._replace(run=lost)
        effects = plan(subject, publication, token=token, pages=pages)
    publisher.publish(effect for effect in effects if not isinstance(effect, files))
    if subject.trusted:
        code = subject.run.exit_code
        return EXIT_INCOMPLETE if code == EXIT_PASSED and publisher.failures else code
    # The verdict is from another run: only whether the comment could be written counts here.
    posted = publisher.posted
    return EXIT_PASSED if posted is None or posted.status not in ("failed", "forbidden") else EXIT_INCOMPLETE


def _valid_request(environ: Mapping[str, str]) -> ActionRequest:
    """Read the valid inputs, with defaults for the others: any error must replace an old verdict."""
    valid = {}
    for entry in INPUTS:
        name = variable(entry.key)
        if name in environ:
            with suppress(UsageError):
                read_inputs({name: environ[name]})
                valid[name] = environ[name]
    return request_of(read_inputs(valid))


def _publication(request: ActionRequest, event: Event, workspace: str) -> Publication:
    """Return what to publish where, without forbidden places."""
    return Publication(
        report_dir=writable(request.report_dir, workspace, folder=True),
        sarif=writable(request.sarif, workspace),
        pull_request=event.pull_request if request.pr_number is None else request.pr_number,
        comment=request.comment,
        annotations=request.annotations,
        issue=request.regression_issue and not event.is_change,  # issues are only for merged commits
        certificate=writable(request.certificate, workspace),
        badges=writable(request.badges, workspace, folder=True),
    )


def _subject(results: Results, event: Event, key: str) -> Subject:
    return Subject(
        results.run,
        results.report,
        results.diff,
        repository_url=event.repository_url,
        run_url=event.run_url,
        key=key,
        bench=results.bench,
        bench_diff=results.bench_diff,
        invocations=results.invocations,
    )


def _failed(error: SkillgateError, event: Event, session: ActionSession, key: str) -> Subject:
    """Return the record of an error, without a report."""
    record = ActionRun(
        result="error",
        exit_code=error.exit_code,
        tool=Tool(version=__version__),
        reasons=tuple(str(error).split("\n")),
        event=event.name,
        head=event.head_sha or event.sha or "",
        notices=session.notes,
    )
    return Subject(record, None, repository_url=event.repository_url, run_url=event.run_url, key=key)


def _payload(environ: Mapping[str, str]) -> str | None:
    place = environ.get("GITHUB_EVENT_PATH", "")
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST + 1)
    except OSError:
        return None


def _trust_system_programs(environ: Mapping[str, str]) -> None:
    """Search for Git in system directories before any place that a step or a change may have filled."""
    if environ is os.environ and os.name == "posix":
        os.environ["PATH"] = f"{_SYSTEM}:{os.environ.get('PATH', '')}"


MAX_BYTES = 30_000_000  # of one document: 300 skills with 10,000 findings need a third
MAX_SKILLS = 5_000
MAX_FINDINGS = 50_000
MAX_TASKS = 200_000
MAX_CHECKS = 50_000
T = TypeVar("T")


def comment_from_artifact(
    request: ActionRequest, event: Event, session: ActionSession, publication: Publication
) -> tuple[Subject, Publication]:
    """Read the results of another run, and find the pull request to comment on.

    Raises:
        UsageError: it is another event, or there is no token.
        IncompleteError: GitHub could not be asked for the pull request.
    """
    first = event.workflow_run
    if first is None:
        raise UsageError("mode comment only works in the event workflow_run")
    if not publication.report_dir:
        raise UsageError(f"input {settings.REPORT_DIR.key} is not in the workspace")
    publication = publication._replace(sarif="", annotations="none")
    if publication.pull_request is None:
        repository = repository_of(event, session.environ)
        number = repository.find_pull_request(first.head_owner, first.head_branch, first.head_sha)
        if number is None:
            session.note("not commented: no single open pull request has this commit as its head")
        publication = publication._replace(pull_request=number)
    key, folder = request.comment_key, publication.report_dir
    publication = publication._replace(report_dir="")
    try:
        return read_artifact(session.cwd, folder, event, key=key), publication
    except UsageError as error:
        return _unread(error, event, session, key), publication._replace(create=False)


def _unread(error: UsageError, event: Event, session: ActionSession, key: str) -> Subject:
    """Return a record of an unreadable run: an existing comment must not keep an old verdict."""
    first = event.workflow_run
    run = ActionRun(
        result="error",
        exit_code=error.exit_code,
        tool=Tool(version=__version__),
        reasons=(_without_quotation(error),),
        event=event.name,
        head=first.head_sha if first else "",
        notices=session.notes,
    )
    run_url = event.url_of_run(first.id if first else None)
    return Subject(run, None, repository_url=event.repository_url, run_url=run_url, key=key)


def _without_quotation(error: UsageError) -> str:
    """Return which document is invalid, without quotes from it, which its author may have chosen."""
    line = str(error).partition("\n")[0]
    for words in (" is not a skillgate report", " is not the expected document"):
        before, found, _ = line.partition(words)
        if found:
            return before + found
    return line


def read_artifact(workspace: str, folder: str, event: Event, *, key: str) -> Subject:
    """Read the documents of the finished run.

    ``workspace``: the absolute parent of the directory. ``event``: a ``workflow_run``.

    Raises:
        UsageError: it is another event, or a document is missing, too large, or not valid.
    """
    first = event.workflow_run
    if first is None:
        raise UsageError("there is no finished run")
    run = _document(workspace, f"{folder}/{RUN}", ActionRun)
    report = _optional(workspace, f"{folder}/{REPORT}", Report)
    diff = _optional(workspace, f"{folder}/{DIFF}", Diff)
    bench = _other_document(workspace, f"{folder}/{BENCH}", BenchReport)
    bench_diff = _other_document(workspace, f"{folder}/{BENCH_DIFF}", BenchDiff)
    from skillgate.model.invocation import InvocationReport  # only where another run left documents

    invocations = _other_document(workspace, f"{folder}/{INVOCATIONS}", InvocationReport)
    _require_bounds(report, diff)
    _require_bench_bounds(bench, bench_diff)
    _require_invocation_bounds(invocations)
    if run.result not in ("pass", "fail", "error"):
        raise UsageError(f"{folder}/{RUN}: result must be pass, fail or error")
    # The artifact must not decide its commit or its result.
    run = dataclasses.replace(_without_words(run), head=first.head_sha, event=first.event)
    if run.result == "pass" and (run.exit_code or first.conclusion not in ("success", "")):
        run = dataclasses.replace(
            run,
            result="error",
            reasons=(f"the run ended as {first.conclusion or 'failed'}, but its report says that it passed",),
        )
    return Subject(
        run,
        report,
        diff,
        repository_url=event.repository_url,
        run_url=event.url_of_run(first.id),
        trusted=False,
        key=key,
        bench=bench,
        bench_diff=bench_diff,
        invocations=invocations,
    )


def _without_words(run: ActionRun) -> ActionRun:
    """Keep only verdict, counts and commits of a record: its author may have chosen its sentences.

    Changes of the gate are removed too, since the record could hide or invent them.
    """
    is_version = re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}", run.tool.version)
    return dataclasses.replace(
        run,
        reasons=("the run did not finish; see its log",) if run.result == "error" else (),
        tool=run.tool if is_version else Tool(version="of an unknown version"),
        base=addresses.commit(run.base or "") or None,
        change=addresses.commit(run.change),
        compared="",
        policy="",
        policy_commit="",
        policy_changes=(),
        notices=(),
    )


def _optional(workspace: str, path: str, kind: type[T]) -> T | None:
    return _document(workspace, path, kind) if os.path.lexists(os.path.join(workspace, path)) else None


def _document(workspace: str, path: str, kind: type[T]) -> T:
    document = read(_text(os.path.join(workspace, path), path), source=path)
    if not isinstance(document, kind):
        raise UsageError(f"{path} is not the expected document")
    return document


def _other_document(workspace: str, path: str, kind: type[T]) -> T | None:
    """Read a document that is not about scores; None if it does not exist."""
    if not os.path.lexists(os.path.join(workspace, path)):
        return None
    data = parsed(_text(os.path.join(workspace, path), path), source=path)
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(f"{path} has schema version {version}, from a later skillgate")
    try:
        return decode(kind, data)
    except CodecError as error:
        raise UsageError(f"{path} is not the expected document: {error}") from None


def _text(place: str, shown: str) -> str:
    """Read a regular file, never through a link."""
    try:
        return untrusted_text(place, shown, MAX_BYTES)
    except FileNotFoundError:
        raise UsageError(f"{shown} is missing; download the artifact of the first run before this step") from None
    except UnicodeDecodeError:
        raise UsageError(f"{shown} is not UTF-8") from None
    except OSError as error:
        raise UsageError(f"cannot read {shown}: {error.strerror}") from error


def _require_bounds(report: Report | None, diff: Diff | None) -> None:
    skills = max(len(report.results) if report else 0, len(diff.skills) if diff else 0)
    findings = sum(len(result.findings) for result in report.results) if report else 0
    findings += sum(len(one.new) + len(one.fixed) for one in diff.skills) if diff else 0
    if skills > MAX_SKILLS or findings > MAX_FINDINGS:
        raise UsageError(f"the report is too large: {skills} skills and {findings} findings")


def _require_bench_bounds(report: BenchReport | None, diff: BenchDiff | None) -> None:
    skills = max(len(report.reports) if report else 0, len(diff.changes) if diff else 0)
    tasks = sum(len(one.task_results) for one in report.reports) if report else 0
    tasks += sum(len(one.tasks) for one in diff.changes) if diff else 0
    if skills > MAX_SKILLS or tasks > MAX_TASKS:
        raise UsageError(f"the benchmark is too large: {skills} skills and {tasks} tasks")


def _require_invocation_bounds(report: InvocationReport | None) -> None:
    skills, checks = (len(report.skills), len(report.gates)) if report else (0, 0)
    if skills > MAX_SKILLS or checks > MAX_CHECKS:
        raise UsageError(f"the gates are too large: {skills} skills and {checks} checks")
