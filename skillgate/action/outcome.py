"""The outcome of a run: result, exit code and reasons, the store, and publishing."""
# ruff: noqa: PTH103, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import dataclasses
import os
import random
import time
import uuid
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action.comment.issue import Issue, issues, marks
from skillgate.action.plan import (
    Effect,
    Log,
    PutComment,
    PutIssues,
    SetOutputs,
    Summarise,
    WriteCertificates,
    WriteFile,
)
from skillgate.action.protocol import command, outputs_text
from skillgate.action.request import ActionRequest, ActionSession, Checkout, require_untracked, variable
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, IncompleteError, SkillgateError, UsageError
from skillgate.evaluation.run import is_unjudged
from skillgate.files import write
from skillgate.model.bench import BenchDiff, Pairing
from skillgate.model.documents import ActionRun
from skillgate.model.finding import Severity
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.report import Report, SkillResult, Tool
from skillgate.model.score import Depth, Outcome
from skillgate.report.tally import blamed_outside, failures, worst_first
from skillgate.scoring.gate import sampled_layers
from skillgate.store.target import Target, require_file, require_packages, target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.action.api import Posted, Repository
    from skillgate.action.comment.subject import Subject
    from skillgate.action.context import RunContext
    from skillgate.action.github import Event
    from skillgate.evaluation.request import CertificateRequest, Scope
    from skillgate.model.bench import BenchReport
    from skillgate.model.documents import Content, Diff, SkillChange
    from skillgate.model.invocation import GateCheck, InvocationReport
    from skillgate.model.skill import SkillRoot

BENCHMARK = "benchmark"
"""The gate of benchmarks."""
_LAYERS = {JudgeLayer: "judged", MonteCarloLayer: "simulated", RankingLayer: "ranked"}
_FAILED = {"failed": "failed", "triggered": "fired"}
_MISSING = ("no_data", "unmeasured")


class Results(NamedTuple):
    """The documents of a run."""

    run: ActionRun
    report: Report
    diff: Diff | None
    bench: BenchReport | None = None
    bench_diff: BenchDiff | None = None
    invocations: InvocationReport | None = None  # recorded invocations of the skills, with their gates
    config_digest: str = ""  # of the effective configuration


def new_record(context: RunContext, event: Event) -> ActionRun:
    """Return the initial record of a run."""
    base = context.base
    return ActionRun(
        result="pass",
        exit_code=EXIT_PASSED,
        tool=Tool(version=__version__),
        event=event.name,
        head=base.head,
        change=base.change,
        base=context.compared.commit,
        compared=context.compared.how,
        policy="the base" if context.is_change else "this commit",
        policy_commit=base.tip or "",
        changed_only=context.changed_only,
    )


def with_scores(run: ActionRun, report: Report, diff: Diff | None, context: RunContext, *, complete: bool) -> ActionRun:
    """Return the run with the results of its report; ``complete``: whether all directories could be searched."""
    reasons = (*_failed(report, diff), *_unread(report, run.beside, complete=complete))
    code = EXIT_GATE_FAILED if report.gate.passed is False else EXIT_PASSED
    if code == EXIT_PASSED and reasons and context.request.on_unmeasured != "pass":
        code = EXIT_INCOMPLETE
    return _with_code(run, code, reasons)


def with_benchmark(
    run: ActionRun, report: BenchReport | None, diff: BenchDiff | None, context: RunContext, lost: tuple[str, ...] = ()
) -> ActionRun:
    """Return the run with the results of its benchmark.

    It fails if ``fail-on`` lists benchmark and a gate failed, a skill got worse by more than chance explains, or the
    change removes a skill only from the benchmark (``lost``, as sentences). A drop that chance may explain fails only
    with ``on-inconclusive: fail``; otherwise it is a notice, except with ``on-inconclusive: pass``. Unmeasured results
    are a reason, and make the exit code 3 (1 if ``fail-on`` lists unmeasured), unless ``on-unmeasured`` is pass.
    """
    fail_on, undecided = _fail_on(context), context.config.get(settings.ON_INCONCLUSIVE)
    failed = [*lost, *_failed_gates(report), *_regressions(diff, strict=undecided == "fail")]
    lines = tuple(f"benchmark: {line}" for line in failed)
    missing = tuple(f"benchmark: {line}" for line in _unmeasured(report))
    notices = run.notices
    if undecided in ("point", "warn"):
        notices = (*notices, *(f"benchmark: {line}" for line in _undecided(diff)))
    gates = BENCHMARK in fail_on
    if not gates:
        notices, lines = (*notices, *lines), ()
    code = _code(run, context, failed=gates and bool(failed), missing=bool(missing))
    return _with_code(dataclasses.replace(run, notices=notices), code, (*run.reasons, *lines, *missing))


def with_gates(run: ActionRun, checks: Sequence[GateCheck], context: RunContext, session: ActionSession) -> ActionRun:
    """Return the run with the gates on recorded invocations, each check by the path of its skill.

    A failed requirement or fired trigger fails the step, unless ``fail-on`` is never: then it is noted. An undecided
    gate is a reason, and makes the exit code 3 (1 if ``fail-on`` lists unmeasured), unless ``on-unmeasured`` is pass. A
    trigger with too few invocations has not fired.
    """
    failed = [f"{_gate(one)} {_FAILED[one.status]}: {_why(one)}" for one in checks if one.status in _FAILED]
    missing = [f"{_gate(one)} is undecided: {_why(one)}" for one in checks if one.status in _MISSING]
    if "never" in _fail_on(context):
        for line in failed:
            session.note(line)
        failed = []
    # What fails the step comes first, before unmeasured results.
    reasons = (*run.reasons, *failed) if run.exit_code == EXIT_GATE_FAILED else (*failed, *run.reasons)
    code = _code(run, context, failed=bool(failed), missing=bool(missing))
    return _with_code(run, code, (*reasons, *missing))


def with_budget(run: ActionRun, report: Report, spent: str | None) -> ActionRun:
    """Return the run with the budget that ended it early as the first reason: unmeasured skills are not at fault."""
    left = sum(is_unjudged(result) for result in report.results)
    if spent is None or not left:
        return run
    count = len(report.results) - len(run.beside)
    reason = f"budget: {spent}; {left} of {count} skill{'s' * (count != 1)} could not be fully measured"
    return dataclasses.replace(run, reasons=(reason, *run.reasons))


def with_failure(run: ActionRun, reason: str) -> ActionRun:
    """Return the run with a failed step: it does not pass."""
    code = EXIT_INCOMPLETE if run.exit_code == EXIT_PASSED else run.exit_code
    return _with_code(run, code, (*run.reasons, reason))


def _code(run: ActionRun, context: RunContext, *, failed: bool, missing: bool) -> int:
    """Return the exit code of a run after more gates: ``failed``: a gate failed; ``missing``: one is undecided."""
    code = run.exit_code
    if failed and code in (EXIT_PASSED, EXIT_INCOMPLETE):
        code = EXIT_GATE_FAILED
    if missing and context.request.on_unmeasured != "pass" and code == EXIT_PASSED:
        code = EXIT_GATE_FAILED if "unmeasured" in _fail_on(context) else EXIT_INCOMPLETE
    return code


def _with_code(run: ActionRun, code: int, reasons: tuple[str, ...]) -> ActionRun:
    result = {EXIT_PASSED: "pass", EXIT_GATE_FAILED: "fail"}.get(code, "error")
    return dataclasses.replace(run, result=result, exit_code=code, reasons=reasons)


def _fail_on(context: RunContext) -> tuple[str, ...]:
    return context.config.get(settings.FAIL_ON) or ()


def _failed(report: Report, diff: Diff | None) -> Iterator[str]:
    changes = {change.path: change for change in diff.skills} if diff else {}
    for result in worst_first(report.results):
        if result.gate.passed is False:
            old = _old_errors(result, changes.get(result.skill.path))
            yield f"{result.skill.path}: {'; '.join(failures(result))}{old}"
    yield from blamed_outside(report)


def _old_errors(result: SkillResult, change: SkillChange | None) -> str:
    """Return how many of the errors that fail a skill are old: a touched skill fails by these too."""
    errors = sum(finding.severity is Severity.ERROR for finding in result.findings)
    fails = any(outcome.gate == "error" and outcome.verdict is Outcome.FAIL for outcome in result.gate.outcomes)
    if change is None or change.before is None or not fails:
        return ""
    new = sum(finding.severity is Severity.ERROR for finding in change.new)
    if new == errors:
        return ""
    old = errors - new
    words = f"{old} of them existed before" if new else "existed before" if old == 1 else "all of them existed before"
    return f" (errors: {words})"


def _unread(report: Report, extras: Sequence[str], *, complete: bool) -> Iterator[str]:
    for result in report.results:
        if result.skill.path in extras:
            continue
        is_listed = any(one.gate == "unmeasured" and one.verdict is not Outcome.PASS for one in result.gate.outcomes)
        if result.composite.score is None and not is_listed:
            yield f"{result.skill.path} was not measured: {result.composite.reason}"
        for layer in sampled_layers(result):
            if result.composite.score is not None and layer.reason:
                yield f"{result.skill.path} was not fully {_LAYERS[type(layer)]}: {layer.reason}"
    if not complete:
        yield "not all directories could be searched: some skills may be missing"


def _failed_gates(report: BenchReport | None) -> Iterator[str]:
    for one in report.reports if report else ():
        if one.gate.passed is False:
            reasons = [outcome.reason for outcome in one.gate.outcomes if outcome.verdict is not Outcome.PASS]
            yield f"{one.skill_id} on {one.benchmark_id}: {'; '.join(reasons) or 'its gate failed'}"


def _regressions(diff: BenchDiff | None, *, strict: bool) -> Iterator[str]:
    for change in diff.changes if diff else ():
        test = change.test
        if test is not None and (test.verdict is Outcome.FAIL or (strict and test.verdict is Outcome.INCONCLUSIVE)):
            yield f"{change.skill_id} on {change.benchmark_id} got worse: {test.reason}"
        elif change.pairing is Pairing.REMOVED:
            yield f"{change.skill_id} on {change.benchmark_id} was removed"


def _undecided(diff: BenchDiff | None) -> Iterator[str]:
    for change in diff.changes if diff else ():
        if change.test is not None and change.test.verdict is Outcome.INCONCLUSIVE:
            yield f"{change.skill_id} on {change.benchmark_id}: may have got worse: {change.test.reason}"


def _unmeasured(report: BenchReport | None) -> Iterator[str]:
    for one in report.reports if report else ():
        counts = one.summary.counts
        if counts.skipped:
            whole = counts.total + counts.skipped
            why = next((result.error for result in one.task_results if result.status.value == "skipped"), None)
            yield f"{one.skill_id}: {counts.skipped} of {whole} results could not be measured: {why or 'no reason'}"
        elif one.incomplete is not None:
            yield f"{one.skill_id}: {one.incomplete}"


def _gate(check: GateCheck) -> str:
    return f"{check.skill}: the gate {check.gate} on recorded invocations"


def _why(check: GateCheck) -> str:
    return "; ".join(check.failures) or check.status.replace("_", " ")


def store_target(checkout: Checkout, address: str) -> Target:
    """Return the store of the input ``store``, before anything runs.

    Raises:
        UsageError: the store cannot be used, a change could have filled it, or its address has a password.
    """
    if "://" not in address:
        require_untracked(checkout, address, f"input store: {address}")
    target = target_of(address, cwd=checkout.workspace)
    if target.secrets:
        raise UsageError(
            "input store: the log would show the password in the address; set PGPASSWORD under env instead"
        )
    require_packages(target)
    if target.path is not None:
        require_file(target, create=True)
    return target


def write_results(results: Results, target: Target, head: str, session: ActionSession) -> str | None:
    """Save the reports of the commit ``head``, without secrets; return a message if that failed."""
    from skillgate.model.codec import encode
    from skillgate.store.keeper import Provenance, document_digest, open_store  # imports the database's packages

    branch = session.environ.get("GITHUB_HEAD_REF") or session.environ.get("GITHUB_REF_NAME") or None
    documents = [one for one in (results.report if results.report.results else None, results.bench) if one is not None]
    try:
        store = open_store(target, create=True)
        try:
            for one in map(session.redactor.clean_values, documents):
                store.write(one, document_digest(encode(one)), Provenance("action", None, head or None, branch))
        finally:
            store.close()
    except (IncompleteError, UsageError) as error:
        return f"results not saved: {error}"
    return None


class Certificates(NamedTuple):
    """The requested certificate and badges."""

    wanted: CertificateRequest  # what to write
    scope: Scope  # their skills
    before: Mapping[str, Content]  # their files before the evaluation, by shown path
    config_digest: str = ""  # of the effective configuration


def prepare(request: ActionRequest, session: ActionSession) -> Certificates:
    """Require that both can be written, and digest the skills' files, before anything is evaluated.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: Git is missing, or refuses the repository.
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
    """Write both, and yield the files, relative to the workspace.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: Git is missing, or refuses the repository.
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
    """Return the digest of each skill's files, by shown path, if it covers all of them; none if Git fails.

    Only depths with sessions can be certified, so other depths need none.
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
    """Add the digest of its files to each sampled result with unchanged files."""
    same = {path: digest for path, digest in before.items() if after.get(path) == digest}
    results = (
        one._replace(content=same[one.skill.path]) if one.skill.path in same and sampled_layers(one) else one
        for one in report.results
    )
    return report._replace(results=tuple(results))


def token() -> str:
    """Return 32 random hexadecimal digits, for unpredictable delimiters."""
    return uuid.uuid4().hex


class Publisher:
    """Publish effects; every text goes through the redactor first.

    Attributes:
        posted: the result of the comment, None if there is none.
        issue: the result of the regression issues, None if there are none.
        failures: sentences on what could not be written.
    """

    def __init__(self, session: ActionSession, event: Event, certificates: Certificates | None = None) -> None:
        """Store the session, the event, and the input of certificate and badges."""
        self.posted: Posted | None = None
        self.issue: Posted | None = None
        self.failures: list[str] = []
        self._session, self._redactor, self._event = session, session.redactor, event
        self._certificates = certificates

    def publish(self, effects: Iterable[Effect]) -> None:
        """Publish each; a failure does not stop the others."""
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
                case PutIssues(subject):
                    self._issues(subject)
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
        """Append to a file of the runner; outside of GitHub there is none."""
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
        # JSON is made from cleaned values; in its text a secret that equals one of our words would damage a key.
        cleaned = {
            name: text if name in ("scores", "gates") else self._redactor.clean(text) for name, text in known.items()
        }
        self._append("GITHUB_OUTPUT", outputs_text(cleaned, token))

    def _comment(self, effect: PutComment) -> None:
        body = self._redactor.clean(effect.body)
        self.posted = self._posted(
            lambda repository: repository.put_comment(effect.number, body, effect.marker, create=effect.create)
        )
        if self.posted.reason:
            # For a fork this is normal; a second workflow may comment.
            level = "notice" if self.posted.status == "forbidden" and self._event.is_fork else "warning"
            self._warn(f"comment {self.posted.status}: {self.posted.reason}", level=level)

    def _issues(self, subject: Subject) -> None:
        def exists(path: str) -> bool:
            return os.path.isdir(os.path.join(self._session.cwd, path))  # noqa: PTH112

        def decide(known: Collection[str]) -> list[Issue]:
            return [Issue(one.marker, *map(self._redactor.clean, one[1:])) for one in issues(subject, known, exists)]

        self.issue = self._posted(lambda to: to.update_issues(marks(subject.key), decide))
        if self.issue.reason:
            self._warn(f"issues {self.issue.status}: {self.issue.reason}")

    def _posted(self, act: Callable[[Repository], Posted]) -> Posted:
        from skillgate.action.api import Posted  # imports the client, only to comment

        try:
            return act(repository_of(self._event, self._session.environ))
        except UsageError as error:
            return Posted("skipped", reason=str(error))
        except SkillgateError as error:
            return Posted("failed", reason=str(error))

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
        UsageError: there is no token, or the repository is not known.
        IncompleteError: the address of the API is not usable.
    """
    from skillgate.action.api import open_repository  # imports the client, only to comment

    secret = environ.get(variable("github-token"), "").strip()
    if not secret or not event.repository:
        missing = "GITHUB_REPOSITORY is not set" if secret else "the input github-token is empty"
        raise UsageError(f"cannot comment: {missing}")
    return open_repository(
        event.api_url or "https://api.github.com",
        secret,
        event.repository,
        sleep=time.sleep,
        clock=time.monotonic,
        jitter=random.random,
    )


def _give_to_owner(workspace: str, path: str) -> None:
    """Give a file and its new directories to the owner of the workspace.

    The runner's user could not remove files of a container's root.
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
