"""Publish what a run has planned: the one place where the Action writes to GitHub and to the workspace."""
# ruff: noqa: PTH103, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import os
import random
import time
import uuid
from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.plan import Effect, Log, PutComment, PutIssue, SetOutputs, Summarise, WriteCertificates, WriteFile
from skillgate.action.protocol import command, outputs_text
from skillgate.action.request import ActionRequest, variable
from skillgate.errors import IncompleteError, SkillgateError, UsageError
from skillgate.files import write
from skillgate.model.score import Depth
from skillgate.scoring.gate import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.action.comment.issue import Issue
    from skillgate.action.github import Event
    from skillgate.action.repository import Posted, Repository
    from skillgate.action.workspace import ActionSession
    from skillgate.evaluation.request import CertificateRequest, Scope
    from skillgate.model.documents import Content
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot


class Certificates(NamedTuple):
    """Certificate and badges that are wanted."""

    wanted: CertificateRequest  # what is to be written
    scope: Scope  # the skills that it is about
    before: Mapping[str, Content]  # what their files were before anything was evaluated, by shown path
    config_digest: str = ""  # of the configuration that held


def prepare(request: ActionRequest, session: ActionSession) -> Certificates:
    """Require that both can be written, and take down what the skills' files are, before anything is evaluated.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    from skillgate.evaluation.certify import contents_of, require_certificates
    from skillgate.evaluation.request import CertificateRequest, Scope

    for folder in (os.path.dirname(request.certificate), request.badges):
        try:
            os.makedirs(os.path.join(session.cwd, folder), exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {folder}: {error.strerror}") from error
    wanted = CertificateRequest(request.certificate or None, badges=request.badges or None)
    paths = (os.path.normpath(os.path.join(request.working_directory, path)) for path in request.paths or (".",))
    scope = Scope(tuple(paths), shard=request.shard)
    require_certificates(wanted, scope, session)
    return Certificates(wanted, scope, contents_of(scope, session, wanted))


def write_certificates(report: Report, certificates: Certificates, session: ActionSession) -> Iterator[str]:
    """Write both, and return the files, relative to the workspace.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    from skillgate.evaluation import certify

    wanted, scope, before, digest = certificates
    contents: Mapping[str, Content] = {}
    if wanted.certificate is not None:
        contents = certify.unmoved(before, certify.contents_of(scope, session, wanted))
    certify.write_certificates(report._replace(config_digest=digest), contents, wanted, session)
    if wanted.certificate is not None:
        yield wanted.certificate
    if wanted.badges is not None:
        for name in sorted(os.listdir(os.path.join(session.cwd, wanted.badges))):
            yield os.path.join(wanted.badges, name)


def digests(roots: Sequence[SkillRoot], depth: Depth, cwd: str) -> dict[str, str]:
    """Return the digest of each skill's files, by shown path, where it covers all of them; none where git cannot tell.

    Only skills that are measured by sessions can be certified, and only theirs are digested.
    """
    if depth not in (Depth.DEEP, Depth.CERTIFY):
        return {}
    from skillgate.evaluation.certify import content_of  # few runs go as deep

    try:
        found = {str(root.path): content_of(os.path.join(cwd, str(root.path))) for root in roots}
    except IncompleteError:
        return {}
    return {path: one.digest for path, one in found.items() if one.digest is not None and one.reason is None}


def with_digests(report: Report, before: Mapping[str, str], after: Mapping[str, str]) -> Report:
    """Put into each result that a model was asked about what its files were, where they are so still."""
    same = {path: digest for path, digest in before.items() if after.get(path) == digest}
    results = (
        one._replace(content=same[one.skill.path]) if one.skill.path in same and sampled_layers(one) else one
        for one in report.results
    )
    return report._replace(results=tuple(results))


def token() -> str:
    """Return 32 random hexadecimal digits, for delimiters that nobody can foresee."""
    return uuid.uuid4().hex


class Publisher:
    """Publish effects; every text goes through the redactor first.

    Attributes:
        posted: what became of the comment, None while none was asked for.
        issue: what became of the issue about regressions, likewise.
        failures: what could not be written, in sentences.
    """

    def __init__(self, session: ActionSession, event: Event, certificates: Certificates | None = None) -> None:
        """Take the run, where to comment, and what certificate and badges are made with."""
        self.posted: Posted | None = None
        self.issue: Posted | None = None
        self.failures: list[str] = []
        self._session, self._redactor, self._event = session, session.redactor, event
        self._certificates = certificates

    def publish(self, effects: Iterable[Effect]) -> None:
        """Publish each; what cannot be written is a failure, and keeps none of the others from being done."""
        for effect in effects:
            match effect:
                case WriteFile(path, text, is_json):
                    self._file(path, text if is_json else self._redactor.clean(text))
                case Log(text):
                    self._say(text)
                case Summarise(text):
                    self._append("GITHUB_STEP_SUMMARY", self._redactor.clean(text) + "\n")
                case PutComment():
                    self._comment(effect)
                case PutIssue(issue):
                    self._issue(issue)
                case WriteCertificates(report):
                    self._write_certificates(report)
                case SetOutputs(values):
                    self._outputs(dict(values))

    def _say(self, text: str) -> None:
        if text:
            self._session.out(self._redactor.clean(text))

    def _file(self, path: str, text: str) -> None:
        data = text.encode(errors="backslashreplace")
        try:
            write(path, data, cwd=self._session.cwd, parents=True)
            _give_to_owner(self._session.cwd, path)
        except UsageError as error:
            self._fail(str(error))

    def _append(self, variable: str, text: str) -> None:
        """Add to a file of the runner's; outside of GitHub there is none."""
        place = self._session.environ.get(variable, "")
        if not place:
            return
        try:
            with open(place, "ab") as file:
                file.write(text.encode(errors="backslashreplace"))
        except OSError as error:
            self._fail(f"cannot write the file that {variable} names: {error.strerror}")

    def _outputs(self, values: Mapping[str, str]) -> None:
        known = dict(values)
        if self.posted is not None:
            known |= {"comment-status": self.posted.status, "comment-url": self.posted.url}
        if self.issue is not None:
            known |= {"issue-status": self.issue.status, "issue-url": self.issue.url}
        # JSON was made from cleaned values; in its text a secret that is a word of ours would take a key with it.
        cleaned = {
            name: text if name in ("scores", "gates") else self._redactor.clean(text) for name, text in known.items()
        }
        self._append("GITHUB_OUTPUT", outputs_text(cleaned, token))

    def _comment(self, effect: PutComment) -> None:
        from skillgate.action.repository import Posted  # brings in the client: only for who comments

        try:
            repository = repository_of(self._event, self._session.environ)
            body = self._redactor.clean(effect.body)
            self.posted = repository.put_comment(effect.number, body, effect.marker, create=effect.create)
        except UsageError as error:
            self.posted = Posted("skipped", reason=str(error))
        except SkillgateError as error:
            self.posted = Posted("failed", reason=str(error))
        if self.posted.reason:
            # Of a fork it is nothing unusual, and the second workflow may be there.
            level = "notice" if self.posted.status == "forbidden" and self._event.is_fork else "warning"
            self._warn(f"comment {self.posted.status}: {self.posted.reason}", level=level)

    def _issue(self, issue: Issue) -> None:
        from skillgate.action.repository import Posted  # brings in the client: only for who writes

        clean = self._redactor.clean
        try:
            repository = repository_of(self._event, self._session.environ)
            if issue.body:
                self.issue = repository.put_issue(issue.marker, clean(issue.title), clean(issue.body))
            else:
                self.issue = repository.close_issue(issue.marker, clean(issue.closing))
        except UsageError as error:
            self.issue = Posted("skipped", reason=str(error))
        except SkillgateError as error:
            self.issue = Posted("failed", reason=str(error))
        if self.issue.reason:
            self._warn(f"issue {self.issue.status}: {self.issue.reason}")

    def _write_certificates(self, report: Report) -> None:

        if self._certificates is None:
            return
        try:
            for path in write_certificates(report, self._certificates, self._session):
                _give_to_owner(self._session.cwd, path)
        except SkillgateError as error:
            self._fail(str(error))

    def _fail(self, text: str) -> None:
        self.failures.append(text)
        self._warn(text)

    def _warn(self, text: str, *, level: str = "warning") -> None:
        self._say(command(level, (("title", "skillgate"),), text) + "\n")


def repository_of(event: Event, environ: Mapping[str, str]) -> Repository:
    """Open the repository that the workflow runs in.

    Raises:
        UsageError: there is no token, or nothing says which repository it is.
        IncompleteError: the address of the API does not do.
    """
    from skillgate.action.repository import open_repository  # brings in the client: only for who comments

    secret = environ.get(variable("github-token"), "").strip()
    if not secret or not event.repository:
        missing = "GITHUB_REPOSITORY is not set" if secret else "the input github-token is empty"
        raise UsageError(f"nothing to comment with: {missing}")
    return open_repository(
        event.api_url or "https://api.github.com",
        secret,
        event.repository,
        sleep=time.sleep,
        clock=time.monotonic,
        jitter=random.random,
    )


def _give_to_owner(workspace: str, path: str) -> None:
    """Hand a file, and the directories that were made for it, to whoever owns the workspace.

    A container's root would leave what the runner's own user cannot remove.
    """
    change_owner = getattr(os, "lchown", None)
    if change_owner is None or os.geteuid() != 0:
        return
    owner = os.lstat(workspace)
    place = os.path.normpath(os.path.join(workspace, path))
    while place.startswith(workspace.rstrip(os.sep) + os.sep):
        if os.lstat(place).st_uid != 0:
            break
        change_owner(place, owner.st_uid, owner.st_gid)
        place = os.path.dirname(place)
