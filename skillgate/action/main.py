"""Run the Action: gate what is checked out, or comment on what an earlier run has found, and publish it."""
# ruff: noqa: PTH112, PTH123

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.action.comment.subject import Subject
from skillgate.action.github import LARGEST, Event, mode_of, read_event
from skillgate.action.plan import Publication, WriteCertificates, WriteFile, plan
from skillgate.action.protocol import Redactor, secrets_of
from skillgate.action.publish import Certificates, Publisher, token
from skillgate.action.request import ActionRequest, read_inputs, request_of, unknown_inputs, variable
from skillgate.action.workspace import (
    ActionSession,
    remove_old_documents,
    require_certificate_paths,
    require_output_paths,
    writable,
)
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, SkillgateError, UsageError
from skillgate.model.documents import ActionRun
from skillgate.model.report import Tool
from skillgate.settings import INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.outcome import Results
    from skillgate.console import Console
    from skillgate.model.finding import Page

_DOCUMENTS = ("run", "report", "diff", "bench", "bench_diff", "invocations")
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def run(session: Console) -> int:
    """Gate or comment, and publish what came of it; what cannot be evaluated is published too.

    Returns:
        The exit code of the step.

    Raises:
        UsageError: this is no workflow.
    """
    environ = session.environ
    if environ.get("GITHUB_ACTIONS") != "true":
        raise UsageError(
            "this is the Action, which a GitHub workflow runs (GITHUB_ACTIONS is not set); here use skillgate check,"
            " score --baseline REV or report diff"
        )
    _trust_system_programs(environ)
    workspace = environ.get("GITHUB_WORKSPACE", "")
    session = ActionSession(
        session,
        workspace=workspace if os.path.isdir(workspace) else session.cwd,
        redactor=Redactor(secrets_of(environ)),
    )
    fallback = _valid_request(environ)
    event, publication = Event(), Publication(comment="never")
    certificates: Certificates | None = None
    try:
        event = read_event(environ, _payload(environ))
        publication = _publication(fallback, event, session.cwd)
        request = request_of(read_inputs(environ))
        for warning in unknown_inputs(environ):
            session.note(warning)
        if mode_of(event, request.mode) == "comment":
            from skillgate.action.fork_comment import comment_from_artifact  # a gate reads nobody else's documents

            subject, publication = comment_from_artifact(request, event, session, publication)
        else:
            results, certificates = _gate(request, event, session)
            subject = _subject(results, event, request.comment_key)
    except SkillgateError as error:
        subject = _failed(error, event, session, fallback.comment_key)
        is_gate = mode_of(event, fallback.mode) == "gate"
        # What another run has left is not this one's to replace.
        folder = _cleared(publication.report_dir, session.cwd) if is_gate else ""
        publication = publication._replace(sarif="", report_dir=folder, certificate="", badges="")
    return _publish(subject, publication, Publisher(session, event, certificates), session.redactor)


def _gate(request: ActionRequest, event: Event, session: ActionSession) -> tuple[Results, Certificates | None]:
    """Evaluate, or join what earlier jobs have found; and prepare the certificate that is written of it."""
    require_output_paths(session.cwd, request.report_dir, request.sarif)
    certificates = None
    if request.certificate or request.badges:
        from skillgate.action.publish import prepare  # few runs ask for them

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
    """Clear the directory for the record of an error; ``""`` where that would destroy something."""
    try:
        if folder:
            require_output_paths(workspace, folder, "")
            remove_old_documents(workspace, folder)
    except UsageError:
        return ""
    return folder


def _publish(subject: Subject, publication: Publication, publisher: Publisher, redactor: Redactor) -> int:
    """Write the files first: whether they could be written is published with the rest."""
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
    # The verdict is another run's: what counts here is whether the comment could be written.
    posted = publisher.posted
    return EXIT_PASSED if posted is None or posted.status not in ("failed", "forbidden") else EXIT_INCOMPLETE


def _valid_request(environ: Mapping[str, str]) -> ActionRequest:
    """Read the inputs that are valid, and the default of the others: an old verdict is replaced by any error."""
    valid = {}
    for entry in INPUTS:
        name = variable(entry.key)
        if name in environ:
            with suppress(UsageError):
                read_inputs({name: environ[name]})
                valid[name] = environ[name]
    return request_of(read_inputs(valid))


def _publication(request: ActionRequest, event: Event, workspace: str) -> Publication:
    """Return what is published and where, as far as it may be written there."""
    is_change = event.pull_request is not None or event.name in ("merge_group", "workflow_run", "issue_comment")
    return Publication(
        report_dir=writable(request.report_dir, workspace, folder=True),
        sarif=writable(request.sarif, workspace),
        pull_request=event.pull_request if request.pr_number is None else request.pr_number,
        comment=request.comment,
        annotations=request.annotations,
        issue=request.regression_issue and not is_change,  # an issue is about what was merged
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
    """Return the record of an error: a run that has no report."""
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
    """Look for git where the system keeps it, before anywhere that a step or a change may have put a program."""
    if environ is os.environ and os.name == "posix":
        os.environ["PATH"] = f"{_SYSTEM}:{os.environ.get('PATH', '')}"
