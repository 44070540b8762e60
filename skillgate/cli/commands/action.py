"""Run as the GitHub Action: gate a pull request and say it in one comment."""
# ruff: noqa: PTH112, PTH123

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.cli.action.inputs import read_inputs, unknown_inputs
from skillgate.cli.action.listening import Listening
from skillgate.cli.action.perform import Performer, token
from skillgate.cli.writing import require_place
from skillgate.errors import EXIT_INCOMPLETE, EXIT_PASSED, SkillgateError
from skillgate.github.event import LARGEST, Event, mode_of, read_event
from skillgate.github.plan import RUN, Publication, plan
from skillgate.github.redaction import Redactor, secrets_of
from skillgate.github.subject import Subject
from skillgate.model.report import Tool
from skillgate.model.run import ActionRun

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from skillgate.cli.action.inputs import Value
    from skillgate.cli.session import Session
    from skillgate.model.page import Page

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: inputs come as INPUT_* variables, as the runner sets them."""
    parser.epilog = "Inputs are read from the INPUT_* variables of the runner; see action.yml."


def run(args: argparse.Namespace, session: Session) -> int:
    """Gate or comment, and publish what came of it; what cannot be evaluated is published too."""
    _trust_system_programs(session.environ)
    listening = _listening(args, session)
    environ = session.environ
    redactor = Redactor(secrets_of(environ))
    event, inputs = Event(), None
    try:
        event = read_event(environ, _payload(environ))
        inputs = read_inputs(environ)
        for name in unknown_inputs(environ):
            listening.note(f"there is no input {name}: it does nothing")
        subject, publication = _subject(inputs, event, listening)
    except SkillgateError as error:
        subject = _failed(error, event, listening, inputs)
        publication = _publication(inputs, event) if inputs is not None else Publication(comment="never")
        publication = publication._replace(report_dir=_writable(publication.report_dir, listening.cwd), sarif="")
    return _publish(subject, publication, Performer(listening, redactor, event), redactor)


def _subject(inputs: Mapping[str, Value], event: Event, session: Listening) -> tuple[Subject, Publication]:
    """Evaluate, or read what another run has found.

    Raises:
        SkillgateError: neither can be done.
    """
    publication = _publication(inputs, event)
    if mode_of(event, str(inputs["mode"])) == "comment":
        from skillgate.cli.action.second import second_half  # a gate reads nobody else's documents

        return second_half(inputs, event, session, publication)
    from skillgate.cli.action.evaluate import evaluate  # a comment evaluates nothing

    for place in filter(None, [f"{publication.report_dir}/report.json", publication.sarif]):
        require_place(place, session.cwd)
    found = evaluate(inputs, event, session)
    subject = Subject(
        found.run,
        found.report,
        found.diff,
        repository_url=event.repository_url,
        run_url=event.run_url,
        key=str(inputs["comment-key"]),
    )
    return subject, publication


def _writable(folder: str, workspace: str) -> str:
    """Give a report directory, ``""`` where nothing may be written in it."""
    try:
        require_place(f"{folder}/{RUN}", workspace)
    except SkillgateError:
        return ""
    return folder


def _publish(subject: Subject, publication: Publication, performer: Performer, redactor: Redactor) -> int:
    cleaned = subject._replace(
        run=redactor.clean_values(subject.run),
        report=redactor.clean_values(subject.report),
        diff=redactor.clean_values(subject.diff),
    )
    pages: tuple[Page, ...] = ()
    if publication.sarif:
        from skillgate.static.catalogue import pages as every_page  # every rule's file

        pages = every_page()
    performer.perform(plan(cleaned, publication, token=token, pages=pages))
    if not subject.trusted:  # another run's verdict, told here: what counts is whether it was
        told = performer.posted is None or performer.posted.status not in ("failed", "forbidden")
        return EXIT_PASSED if told else EXIT_INCOMPLETE
    code = subject.run.exit_code
    if code == EXIT_PASSED and performer.failures:
        return EXIT_INCOMPLETE
    return code


def _publication(inputs: Mapping[str, Value], event: Event) -> Publication:
    number = inputs["pr-number"]
    return Publication(
        report_dir=str(inputs["report-dir"]),
        sarif=str(inputs["sarif"] or ""),
        pull_request=int(number) if isinstance(number, float) else event.pull_request,
        comment=str(inputs["comment"]),
        summary=inputs["summary"] is True,
        annotations=str(inputs["annotations"]),
    )


def _failed(error: SkillgateError, event: Event, session: Listening, inputs: Mapping[str, Value] | None) -> Subject:
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
    key = str(inputs["comment-key"]) if inputs is not None else "default"
    return Subject(record, None, repository_url=event.repository_url, run_url=event.run_url, key=key)


def _listening(args: argparse.Namespace, session: Session) -> Listening:
    """Stand in the workspace, wherever the process was started."""
    workspace = session.environ.get("GITHUB_WORKSPACE", "")
    return Listening(
        stdout=session.stdout,
        stderr=session.stderr,
        environ=session.environ,
        cwd=workspace if os.path.isdir(workspace) else session.cwd,
        no_color=True,
        verbose=args.verbose,
        quiet=args.quiet,
    )


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
