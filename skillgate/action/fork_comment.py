"""Comment on a fork's pull request from the documents of its unprivileged run.

That run executed what the pull request brought, without any right to write; whoever wrote that may have written these
files too. So each is read through the schema, within bounds, nothing in them names what is commented on, and the
comment says whose word it is.
"""
# ruff: noqa: PTH118, PTH123

from __future__ import annotations

import dataclasses
import os
import re
import stat
from typing import TYPE_CHECKING, TypeVar

from skillgate import __version__, settings
from skillgate.action.comment.subject import Subject
from skillgate.action.plan import BENCH, BENCH_DIFF, DIFF, INVOCATIONS, REPORT, RUN, Publication
from skillgate.action.publish import repository_of
from skillgate.errors import CodecError, UsageError
from skillgate.model.bench import BenchDiff, BenchReport
from skillgate.model.codec import decode
from skillgate.model.documents import ActionRun, Diff
from skillgate.model.invocation import InvocationReport
from skillgate.model.report import Report, Tool
from skillgate.model.score import SCHEMA_VERSION
from skillgate.report import addresses
from skillgate.report.json import parsed, read

if TYPE_CHECKING:
    from skillgate.action.github import Event
    from skillgate.action.request import ActionRequest
    from skillgate.action.workspace import ActionSession

MAX_BYTES = 30_000_000  # of one document: 300 skills with 10,000 findings take a third of it
MAX_SKILLS = 5_000
MAX_FINDINGS = 50_000
MAX_TASKS = 200_000
MAX_CHECKS = 50_000
T = TypeVar("T")


def comment_from_artifact(
    request: ActionRequest, event: Event, session: ActionSession, publication: Publication
) -> tuple[Subject, Publication]:
    """Read what another run has found, and find the pull request to say it on.

    Raises:
        UsageError: it is another event, or there is no token.
        IncompleteError: GitHub could not be asked for the pull request.
    """
    first = event.workflow_run
    if first is None:
        raise UsageError("mode comment tells what another run has found: it works in the event workflow_run alone")
    if not publication.report_dir:
        raise UsageError(f"input {settings.REPORT_DIR.key} does not lie in the workspace")
    publication = publication._replace(sarif="", annotations="none")
    if publication.pull_request is None:
        repository = repository_of(event, session.environ)
        number = repository.find_pull_request(first.head_owner, first.head_branch, first.head_sha)
        if number is None:
            session.note(
                "no single open pull request has this commit as its head: it has moved on, and nothing is said"
            )
        publication = publication._replace(pull_request=number)
    key, folder = request.comment_key, publication.report_dir
    publication = publication._replace(report_dir="")
    try:
        return read_artifact(session.cwd, folder, event, key=key), publication
    except UsageError as error:
        return _unread(error, event, session, key), publication._replace(create=False)


def _unread(error: UsageError, event: Event, session: ActionSession, key: str) -> Subject:
    """Say that nothing is known of the run that has ended: a comment that is there must not keep an old verdict."""
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
    """Say which document does not do, without what a mistake quotes of it: that may be a sentence of its author's."""
    line = str(error).partition("\n")[0]
    for words in (" is not a skillgate report", " is not the document that belongs there"):
        before, found, _ = line.partition(words)
        if found:
            return before + found
    return line


def read_artifact(workspace: str, folder: str, event: Event, *, key: str) -> Subject:
    """Read the documents of the run that has ended.

    ``workspace``: the absolute directory that the folder lies in. ``event``: of the name ``workflow_run``.

    Raises:
        UsageError: it is another event, or a document is missing, too large, or not what it should be.
    """
    first = event.workflow_run
    if first is None:
        raise UsageError("there is no run that has ended")
    run = _document(workspace, f"{folder}/{RUN}", ActionRun)
    report = _optional(workspace, f"{folder}/{REPORT}", Report)
    diff = _optional(workspace, f"{folder}/{DIFF}", Diff)
    bench = _other_document(workspace, f"{folder}/{BENCH}", BenchReport)
    bench_diff = _other_document(workspace, f"{folder}/{BENCH_DIFF}", BenchDiff)
    invocations = _other_document(workspace, f"{folder}/{INVOCATIONS}", InvocationReport)
    _require_bounds(report, diff)
    _require_bench_bounds(bench, bench_diff)
    _require_invocation_bounds(invocations)
    if run.result not in ("pass", "fail", "error"):
        raise UsageError(f"{folder}/{RUN}: result is none of pass, fail and error")
    # Neither where it stands nor how it ended is the artifact's to say.
    run = dataclasses.replace(_without_words(run), head=first.head_sha, event=first.event)
    if run.result == "pass" and (run.exit_code or first.conclusion not in ("success", "")):
        run = dataclasses.replace(
            run,
            result="error",
            reasons=(f"the run ended as {first.conclusion or 'failed'}, and its report says that it passed",),
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
    """Keep of a record its verdict, its counts and its commits: its sentences may be whatever its author likes.

    What the change does to its own gate is left out too: it could leave a lowered gate out, or report another one.
    """
    is_version = re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}", run.tool.version)
    return dataclasses.replace(
        run,
        reasons=("the run did not come to an end; its log says why",) if run.result == "error" else (),
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
        raise UsageError(f"{path} is not the document that belongs there")
    return document


def _other_document(workspace: str, path: str, kind: type[T]) -> T | None:
    """Read a document that is about something else than scores; None where there is none."""
    if not os.path.lexists(os.path.join(workspace, path)):
        return None
    data = parsed(_text(os.path.join(workspace, path), path), source=path)
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(f"{path} has schema version {version}: a later skillgate wrote it")
    try:
        return decode(kind, data)
    except CodecError as error:
        raise UsageError(f"{path} is not the document that belongs there: {error}") from None


def _text(place: str, shown: str) -> str:
    """Read a regular file, never through a link."""
    try:
        descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{shown} is no file")
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{shown} is larger than {MAX_BYTES // 1_000_000} MB")
        return data.decode("utf-8")
    except FileNotFoundError:
        raise UsageError(f"{shown} is missing: download the artifact of the first run before this step") from None
    except UnicodeDecodeError:
        raise UsageError(f"{shown} is not UTF-8") from None
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from error


def _require_bounds(report: Report | None, diff: Diff | None) -> None:
    skills = max(len(report.results) if report else 0, len(diff.skills) if diff else 0)
    findings = sum(len(result.findings) for result in report.results) if report else 0
    findings += sum(len(one.new) + len(one.fixed) for one in diff.skills) if diff else 0
    if skills > MAX_SKILLS or findings > MAX_FINDINGS:
        raise UsageError(f"the report tells of {skills} skills and {findings} findings, which nobody could read")


def _require_bench_bounds(report: BenchReport | None, diff: BenchDiff | None) -> None:
    skills = max(len(report.reports) if report else 0, len(diff.changes) if diff else 0)
    tasks = sum(len(one.task_results) for one in report.reports) if report else 0
    tasks += sum(len(one.tasks) for one in diff.changes) if diff else 0
    if skills > MAX_SKILLS or tasks > MAX_TASKS:
        raise UsageError(f"the benchmark tells of {skills} skills and {tasks} tasks, which nobody could read")


def _require_invocation_bounds(report: InvocationReport | None) -> None:
    skills, checks = (len(report.skills), len(report.gates)) if report else (0, 0)
    if skills > MAX_SKILLS or checks > MAX_CHECKS:
        raise UsageError(f"the gates tell of {skills} skills and {checks} checks, which nobody could read")
