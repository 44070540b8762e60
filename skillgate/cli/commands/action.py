"""Run as the GitHub Action: gate a pull request and say it in one comment."""
# ruff: noqa: PTH112, PTH123

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.action.comment.subject import Subject
from skillgate.action.github.event import LARGEST, Event, mode_of, read_event
from skillgate.action.github.redaction import Redactor, secrets_of
from skillgate.action.inputs import read_inputs, unknown_inputs, variable
from skillgate.action.listening import Listening
from skillgate.action.output_paths import make_way, require_certificates_way, require_way, writable
from skillgate.action.plan import Publication, WriteCertificates, WriteFile, plan
from skillgate.action.publish import Performer, token
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, SkillgateError, UsageError
from skillgate.model.report import Tool
from skillgate.model.run import ActionRun
from skillgate.settings import INPUTS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from skillgate.action.inputs import Value
    from skillgate.action.run import Evaluated
    from skillgate.model.page import Page
    from skillgate.session import Session

GROUP = "reference"
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: inputs come as INPUT_* variables, as the runner sets them."""
    parser.epilog = "Inputs are read from the INPUT_* variables of the runner; see action.yml."


def run(args: argparse.Namespace, session: Session) -> int:
    """Gate or comment, and publish what came of it; what cannot be evaluated is published too."""
    environ = session.environ
    if environ.get("GITHUB_ACTIONS") != "true":
        raise UsageError(
            "this is the Action, which a GitHub workflow runs (GITHUB_ACTIONS is not set); here use skillgate check,"
            " score --baseline REV or report diff"
        )
    _trust_system_programs(environ)
    redactor = Redactor(secrets_of(environ))
    listening = _listening(args, session, redactor)
    event, valid = Event(), _valid(environ)
    publication = Publication(comment="never")
    try:
        event = read_event(environ, _payload(environ))
        publication = _publication(valid, event, listening.cwd)
        inputs = read_inputs(environ)
        for sentence in unknown_inputs(environ):
            listening.note(sentence)
        subject, publication = _subject(inputs, event, listening, publication)
    except SkillgateError as error:
        subject = _failed(error, event, listening, str(valid["comment-key"]))
        is_gate = mode_of(event, str(valid["mode"])) == "gate"
        # What another run has left is not this one's to replace.
        folder = _cleared(publication.report_dir, listening.cwd) if is_gate else ""
        publication = publication._replace(sarif="", report_dir=folder, certificate="", badges="")
    return _publish(subject, publication, Performer(listening, redactor, event), redactor)


def _cleared(folder: str, workspace: str) -> str:
    """Make way for the record of an error; ``""`` where that would destroy something."""
    try:
        if folder:
            require_way(workspace, folder, "")
            make_way(workspace, folder)
    except UsageError:
        return ""
    return folder


def _subject(
    inputs: Mapping[str, Value], event: Event, session: Listening, publication: Publication
) -> tuple[Subject, Publication]:
    """Evaluate, or read what another run has found.

    Raises:
        SkillgateError: neither can be done.
    """
    if mode_of(event, str(inputs["mode"])) == "comment":
        from skillgate.action.fork_comment import second_half  # a gate reads nobody else's documents

        return second_half(inputs, event, session, publication)
    require_way(session.cwd, str(inputs["report-dir"]), str(inputs["sarif"] or ""))
    _require_certificates(inputs, session)
    found = _found(inputs, event, session)
    make_way(session.cwd, str(inputs["report-dir"]))
    subject = Subject(
        found.run,
        found.report,
        found.diff,
        repository_url=event.repository_url,
        run_url=event.run_url,
        key=str(inputs["comment-key"]),
        bench=found.bench,
        bench_diff=found.bench_diff,
        invocations=found.invocations,
    )
    return subject, publication


def _found(inputs: Mapping[str, Value], event: Event, session: Listening) -> Evaluated:
    """Evaluate, or tell what earlier jobs have found.

    Raises:
        SkillgateError: neither can be done.
    """
    if inputs["reports"]:
        from skillgate.action.report_shards import retell  # most runs evaluate

        return retell(inputs, event, session)
    from skillgate.action.run import evaluate  # a comment evaluates nothing

    return evaluate(inputs, event, session)


def _require_certificates(inputs: Mapping[str, Value], session: Listening) -> None:
    """Make sure that certificate and badges can be written, before anything is paid for.

    Raises:
        UsageError: they cannot.
    """
    certificate, badges = str(inputs["certificate"] or ""), str(inputs["badges"] or "")
    if certificate or badges:
        from skillgate.action.certificates import prepare  # few runs ask for them

        require_certificates_way(session.cwd, certificate, badges, str(inputs["report-dir"]))
        session.certifying = prepare(inputs, session)


def _publish(subject: Subject, publication: Publication, performer: Performer, redactor: Redactor) -> int:
    """Write the files first: whether they could be written is told with the rest."""
    pages: tuple[Page, ...] = ()
    if publication.sarif:
        from skillgate.static.catalogue import pages as every_page  # every rule's file

        pages = every_page()
    subject = subject._replace(
        run=redactor.clean_values(subject.run),
        report=redactor.clean_values(subject.report),
        diff=redactor.clean_values(subject.diff),
        bench=redactor.clean_values(subject.bench),
        bench_diff=redactor.clean_values(subject.bench_diff),
        invocations=redactor.clean_values(subject.invocations),
    )
    effects = plan(subject, publication, token=token, pages=pages)
    files = (WriteFile, WriteCertificates)
    performer.perform(effect for effect in effects if isinstance(effect, files))
    if performer.failures and subject.run.exit_code == EXIT_PASSED:
        lost = dataclasses.replace(
            subject.run, result="error", exit_code=EXIT_INCOMPLETE, reasons=tuple(performer.failures)
        )
        subject = subject._replace(run=lost)
        effects = plan(subject, publication, token=token, pages=pages)
    performer.perform(effect for effect in effects if not isinstance(effect, files))
    if subject.trusted:
        code = subject.run.exit_code
        return EXIT_INCOMPLETE if code == EXIT_PASSED and performer.failures else code
    # Another run's verdict, told here: what counts is whether it was.
    told = performer.posted is None or performer.posted.status not in ("failed", "forbidden")
    return EXIT_PASSED if told else EXIT_INCOMPLETE


def _valid(environ: Mapping[str, str]) -> Mapping[str, Value]:
    """Read the inputs that are valid, and the default of the others: an old verdict is replaced by any error."""
    kept = {}
    for declared in INPUTS:
        name = variable(declared.key)
        if name in environ:
            with suppress(UsageError):
                read_inputs({name: environ[name]})
                kept[name] = environ[name]
    return read_inputs(kept)


def _publication(inputs: Mapping[str, Value], event: Event, workspace: str) -> Publication:
    number = inputs["pr-number"]
    return Publication(
        report_dir=writable(str(inputs["report-dir"]), workspace, folder=True),
        sarif=writable(str(inputs["sarif"] or ""), workspace),
        pull_request=number if isinstance(number, int) else event.pull_request,
        comment=str(inputs["comment"]),
        annotations=str(inputs["annotations"]),
        issue=inputs["regression-issue"] is True and not _is_change(event),
        certificate=writable(str(inputs["certificate"] or ""), workspace),
        badges=writable(str(inputs["badges"] or ""), workspace, folder=True),
    )


def _is_change(event: Event) -> bool:
    """Tell a run that is about a change, or another run's: an issue is about what was merged."""
    return event.pull_request is not None or event.name in ("merge_group", "workflow_run", "issue_comment")


def _failed(error: SkillgateError, event: Event, session: Listening, key: str) -> Subject:
    """Tell an error as a run that has no report."""
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


def _listening(args: argparse.Namespace, session: Session, redactor: Redactor) -> Listening:
    """Stand in the workspace, wherever the process was started."""
    workspace = session.environ.get("GITHUB_WORKSPACE", "")
    listening = Listening(
        stdout=session.stdout,
        stderr=session.stderr,
        environ=session.environ,
        cwd=workspace if os.path.isdir(workspace) else session.cwd,
        no_color=True,
        verbose=args.verbose,
        quiet=args.quiet,
    )
    listening.redactor = redactor
    return listening


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
