"""Compute and write the report of a benchmark run, store and show progress, write results into skill.json."""
# ruff: noqa: PTH103, PTH107, PTH110, PTH112, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__, settings
from skillgate.bench.conformance import output_notices
from skillgate.bench.documents import MAX_BYTES, digest_of, parse_json, read_json, refuse
from skillgate.bench.metrics import gate, summarise
from skillgate.bench.reports import best_first, totals, whole_verdict
from skillgate.bench.skills import SKILL_JSON
from skillgate.config import config_digest
from skillgate.errors import CodecError, UsageError
from skillgate.files import replace, require_place, write
from skillgate.format import Style
from skillgate.model.bench import BenchReport, CompletionReport, ErrorKind, RunSettings, Status, TaskResult
from skillgate.model.benchmark import MAX_LATENCY_MS, AdapterType
from skillgate.model.codec import decode, encode
from skillgate.model.report import Tool
from skillgate.report.rendering import ending, render, writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from io import BufferedWriter

    from skillgate.bench.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.console import Console
    from skillgate.model.benchmark import Runnable

NAME = "eval-result"
METADATA, RESULTS = "metadata", "benchmarkResults"  # keys of a skill.json
_TICK_S = 0.2
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


def report_of(
    plan: Plan,
    request: EvalRequest,
    session: Console,
    results: Sequence[TaskResult],
    began: datetime,
    seconds: float,
    incomplete: str | None,
) -> BenchReport:
    """Compute the report; ``seconds`` is the run time, ``incomplete`` is why results are missing."""
    reports = best_first(_skill_report(skill, plan, request, results, began, incomplete) for skill in plan.skills)
    measured, _ = totals(reports)
    whole = len(plan.items)  # results that an interrupted run did not reach are unmeasured
    execution = request.execution
    return BenchReport(
        reports=reports,
        tool=Tool(version=__version__),
        config_digest=config_digest(session.config),
        run=RunSettings(
            runs=execution.runs,
            concurrency=execution.concurrency,
            timeout_ms=execution.timeout_ms,
            retries=execution.retries,
            evaluator=execution.evaluator,
            sandbox=plan.sandbox,
            isolated=plan.isolated,
            answers_readable=plan.answers_readable,
            run_as_caller=request.permissions.as_caller,
            shard="/".join(map(str, request.shard)) if request.shard else None,
            all_tasks=tuple(task.id for task in plan.loaded.benchmark.tasks) if request.shard else (),
            tasks=request.tasks.ids,
            tags=request.tasks.tags,
        ),
        coverage=measured / whole if whole else None,
        gate=whole_verdict(reports),
        duration_s=round(seconds, 3),
        models=plan.model_names,
        notices=(*(plan.models.notices() if plan.models else ()), *output_notices(plan.skills, results)),
        not_loaded=plan.not_loaded,
    )


def _skill_report(
    skill: Runnable,
    plan: Plan,
    request: EvalRequest,
    results: Sequence[TaskResult],
    began: datetime,
    incomplete: str | None,
) -> CompletionReport:
    own = tuple(result for result in results if result.skill_id == skill.key)
    benchmark = plan.loaded.benchmark
    figures = summarise(own, benchmark, runs=request.execution.runs)
    verdict = gate(figures, own, request.policy)
    if incomplete is not None and verdict.passed:
        verdict = verdict._replace(passed=False)
    return CompletionReport(
        skill_id=skill.key,
        skill_version=skill.spec.version,
        skill_digest=skill.digest,
        skill_path=skill.shown,
        adapter=benchmark.adapter or skill.spec.adapter_type.value,
        benchmark_id=benchmark.id,
        benchmark_version=benchmark.version,
        benchmark_digest=plan.loaded.digest,
        scoring_method=benchmark.scoring_method,
        max_latency_ms=benchmark.max_latency_ms or MAX_LATENCY_MS,
        timestamp=began,
        summary=figures.summary,
        latency=figures.latency,
        task_results=own,
        token_cost=figures.token_cost,
        by_tag=figures.by_tag,
        gate=verdict,
        incomplete=incomplete,
        model=plan.models.model if plan.models and skill.spec.adapter_type is AdapterType.SKILLMD else None,
    )


def require_output(formats: Sequence[str], output_dir: str, session: Console, *, make: bool = True) -> None:
    """Check that every report file is writable; make the directory unless ``make`` is False.

    Raises:
        UsageError: One is not.
    """
    folder = os.path.join(session.cwd, output_dir)
    hint = f"choose another --{settings.OUTPUT_DIR.key}"
    for form in formats:
        writer("bench", form)  # reports missing packages now
        name = os.path.join(output_dir, f"{NAME}.{ending(form)}")
        place = require_place(name, session.cwd)
        if os.path.isdir(place):
            raise UsageError(f"cannot write {name}: it is a directory; {hint}")
        if os.path.exists(place) and not os.access(place, os.W_OK):
            raise UsageError(f"cannot write {name}: not permitted; {hint}")
    try:
        if make:
            os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into {output_dir}: {error.strerror}; {hint}") from error
    above = folder
    while not os.path.lexists(above):  # find the nearest existing directory
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        raise UsageError(f"cannot write into {output_dir}: Not a directory; {hint}")
    if not os.access(above, os.W_OK):
        raise UsageError(f"cannot write into {output_dir}: not permitted; {hint}")


def publish(report: BenchReport, formats: Sequence[str], output_dir: str, session: Console) -> None:
    """Write the report in every format, under a fixed name and one with the time."""
    stamp = (report.reports[0].timestamp if report.reports else datetime.now(UTC)).strftime("%Y-%m-%dT%H-%M-%SZ")
    for form in formats:
        data = rendered(report, form, session).encode(errors="backslashreplace")
        for name in (f"{NAME}.{ending(form)}", f"{NAME}-{stamp}.{ending(form)}"):
            write(os.path.join(output_dir, name), data, cwd=session.cwd, parents=True)
    if formats:
        names = ", ".join(f"{NAME}.{ending(form)}" for form in formats)
        session.note(f"wrote {names} to {output_dir}")


def rendered(report: BenchReport, form: str, session: Console, *, style: Style | None = None) -> str:
    """Render a report; only the format's module is imported. Without ``style``, text fits the terminal."""
    style = style or Style(width=session.width, color=session.color)
    return render(report, "bench", form, style, verbose=session.verbose)


def watching(progress: str, session: Console, total: int) -> Callable[[TaskResult | None], None]:
    """Return a function that shows progress as a bar or JSON lines; call it with None at the end."""
    done = passed = 0
    drawn = 0.0
    bar = progress == "bar" and session.stderr.isatty() and not session.quiet

    def show(result: TaskResult | None) -> None:
        nonlocal done, passed, drawn
        if result is None:
            if bar:
                session.show_progress("\r" + " " * 79 + "\r")
            return
        done, passed = done + 1, passed + (result.status is Status.PASS)
        if progress == "json":
            line = {"done": done, "total": total, "skillId": result.skill_id, "taskId": result.task_id}
            line |= {"run": result.run, "status": result.status.value, "score": result.score}
            session.show_progress(json.dumps(line) + "\n")
        elif bar and (time.monotonic() - drawn >= _TICK_S or done == total):
            drawn = time.monotonic()
            full = 20 * done // total
            text = f"{'█' * full}{'░' * (20 - full)} {done} of {total} · {passed} passed"
            session.show_progress("\r" + text.ljust(79)[:79])

    return show


def require_writable(skills: Sequence[Runnable], request: EvalRequest, session: Console) -> None:
    """Check for ``--write-metadata``, before the run, that every skill.json is writable.

    Raises:
        UsageError: One is not writable, or only some of the tasks are run.
    """
    if request.tasks.ids or request.tasks.tags or request.shard is not None:
        raise UsageError("--write-metadata needs the results of all tasks; remove --task-id, --task-tag and --shard")
    problems = []
    for skill in _programs(skills):
        file = os.path.join(skill.root, SKILL_JSON)
        try:
            require_place(file, session.cwd)
        except UsageError as error:
            problems.append(str(error))
            continue
        if not _is_of(file, skill):
            problems.append(
                f"--write-metadata: {skill.shown} has no skill.json of {skill.spec.id}: it was read through a link or"
                " from a file with another name"
            )
        elif not (os.access(file, os.W_OK) and os.access(skill.root, os.W_OK)):
            problems.append(f"--write-metadata: {skill.shown}/{SKILL_JSON} cannot be written: not permitted")
    refuse(problems)


def write_back(skills: Sequence[Runnable], report: BenchReport, session: Console) -> str | None:
    """Write the result of each completely measured skill; return problems, or None."""
    by_key = {one.skill_id: one for one in report.reports}
    problems = []
    written = 0
    for skill in _programs(skills):
        one = by_key.get(skill.key)
        if one is None:
            continue
        result = _result(one)
        if result is None:
            session.note(f"{skill.shown}: metadata not written, because not everything was measured")
            continue
        try:
            _write(skill, result, session)
            written += 1
        except UsageError as error:
            problems.append(str(error))
    if written:
        session.note(f"wrote results into {written} skill.json")
    return "\n".join(problems) or None


def _is_of(file: str, skill: Runnable) -> bool:
    """Whether the skill was read from this skill.json."""
    try:
        data = read_json(file, file)
    except UsageError:
        return False
    return isinstance(data, dict) and (data.get("id"), data.get("version")) == (skill.spec.id, skill.spec.version)


def _programs(skills: Sequence[Runnable]) -> list[Runnable]:
    return [skill for skill in skills if skill.spec.adapter_type is not AdapterType.SKILLMD]


def _result(one: CompletionReport) -> dict[str, Any] | None:
    summary = one.summary
    if summary.completion_rate is None or summary.counts.skipped or one.incomplete is not None:
        return None
    return {
        "benchmarkId": one.benchmark_id,
        "benchmarkVersion": one.benchmark_version,
        "skillVersion": one.skill_version,
        "completionRate": summary.completion_rate,
        "compositeScore": summary.composite_score,
        "results": summary.counts.total,
        "timestamp": one.timestamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _write(skill: Runnable, result: dict[str, Any], session: Console) -> None:
    """Replace a skill.json atomically; raise UsageError if that fails, or the file has changed."""
    file, shown = os.path.join(skill.root, SKILL_JSON), f"{skill.shown}/{SKILL_JSON}"
    if not _is_of(file, skill):
        raise UsageError(f"cannot write {shown}: it has changed since it was read")
    require_place(file, session.cwd)
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES)
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        parse_json(data, shown)
        text = with_result(data.removeprefix(mark).decode("utf-8"), result)
        replace(file, mark + text.encode("utf-8"), status=os.stat(file))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {shown}: {getattr(error, 'strerror', None) or error}") from error


class _Member(NamedTuple):
    """Start and end of a member's value in a text."""

    key: str
    start: int
    end: int


def with_result(text: str, result: Mapping[str, Any]) -> str:
    """Add a result to the text of a skill.json, replacing the one on the same benchmark.

    Args:
        text: A JSON object; other entries of its list stay.
        result: With ``benchmarkId``.

    Raises:
        ValueError: ``metadata`` is not an object, or its results are not a list.
    """
    data = json.loads(text)
    metadata = data.get(METADATA, {})
    if not isinstance(metadata, dict):
        raise ValueError(f"{METADATA} is not an object")  # noqa: TRY004 - of the text
    results = metadata.get(RESULTS, [])
    if not isinstance(results, list):
        raise ValueError(f"{METADATA}.{RESULTS} is not a list")  # noqa: TRY004
    benchmark = result["benchmarkId"]
    others = [one for one in results if not (isinstance(one, dict) and one.get("benchmarkId") == benchmark)]
    value = [*others, dict(result)]
    start = _skip(text, 0)
    top = _members(text, start)
    inner = next((member for member in top if member.key == METADATA), None)
    if inner is None:
        return _put(text, start, top, METADATA, {RESULTS: value}, depth=1)
    return _put(text, inner.start, _members(text, inner.start), RESULTS, value, depth=2)


def _put(text: str, start: int, members: list[_Member], key: str, value: Any, *, depth: int) -> str:  # noqa: ANN401
    """Replace a member of the object at ``start``, or append it."""
    in_line = bool(members) and "\n" not in text[start : members[-1].end]
    found = None if in_line else _INDENT.search(text)
    unit = found[1] if found else None
    written = json.dumps(value, ensure_ascii=False, indent=unit)
    if unit is not None:
        written = written.replace("\n", f"\n{unit * depth}")
    known = next((member for member in members if member.key == key), None)
    if known is not None:
        return text[: known.start] + written + text[known.end :]
    newline = "\r\n" if "\r\n" in text else "\n"
    line = "" if unit is None else newline + unit * depth
    if members:
        end = members[-1].end
        return f"{text[:end]},{line or ' '}{json.dumps(key)}: {written}{text[end:]}"
    close = "" if unit is None else newline + unit * (depth - 1)
    return f"{text[: start + 1]}{line}{json.dumps(key)}: {written}{close}{text[_skip(text, start + 1) :]}"


def _members(text: str, start: int) -> list[_Member]:
    """List the members of the object at ``start``; the text is valid JSON."""
    found: list[_Member] = []
    place = _skip(text, start + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        value = _skip(text, _skip(text, place) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(text, value)
        found.append(_Member(key, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def _skip(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return place if blanks is None else blanks.end()


PROGRESS = "eval-progress.jsonl"


class Progress:
    """The file of a run's results: a line that identifies the run, then one line for each result.

    Attributes:
        finished: The results that the run already had.
    """

    def __init__(self, path: str, file: BufferedWriter, finished: tuple[TaskResult, ...]) -> None:
        self._path, self._file, self.finished = path, file, finished

    def add(self, result: TaskResult) -> None:
        """Store a result; one that the end of the run left unmeasured is not stored."""
        if result.error_kind is not ErrorKind.STOPPED:
            self._file.write(_line(encode(result)))
            self._file.flush()  # what the system has survives this process

    def close(self, *, complete: bool) -> None:
        """Close the file, and remove it if all results are in a report."""
        self._file.close()
        if complete:
            with suppress(FileNotFoundError):
                os.remove(self._path)


def started(plan: Plan, request: EvalRequest, session: Console, *, resume: bool) -> Progress:
    """Begin the file of a run, or continue that of the same run.

    Raises:
        UsageError: There is nothing to resume, it belongs to another run, or the file cannot be written.
    """
    shown = os.path.join(request.output.directory, PROGRESS)
    path = require_place(shown, session.cwd)
    head = {"run": _identity(plan, request)}
    finished: dict[tuple[str, str, int], TaskResult] = {}
    if resume:
        if not os.path.exists(path):
            raise UsageError(f"--resume: there is no {shown}; the last run into this directory was complete")
        lines = list(_read(path, shown))
        if not lines or lines[0] != head:
            what = "other skills, tasks or settings"
            raise UsageError(f"--resume: {shown} belongs to a run with {what}; repeat that command, or remove --resume")
        for result in map(_stored, lines[1:]):
            if result is not None:
                finished.setdefault((result.skill_id, result.task_id, result.run), result)
    elif os.path.exists(path):
        session.note(f"{shown} has results of a run that was interrupted; starting over without --resume")
    temporary = f"{path}.new"
    try:
        with open(temporary, "wb") as file:  # without a line that was cut off
            file.writelines([_line(head), *(_line(encode(one)) for one in finished.values())])
        os.replace(temporary, path)  # noqa: PTH105
        return Progress(path, open(path, "ab"), tuple(finished.values()))
    except OSError as error:
        raise UsageError(f"cannot write {shown}: {error.strerror}") from error


def _identity(plan: Plan, request: EvalRequest) -> str:
    """Return a digest of everything that must be the same for results to belong to one run."""
    execution = request.execution
    return digest_of(
        {
            "benchmark": plan.loaded.digest,
            "tasks": [task.id for task in plan.loaded.benchmark.tasks],
            "skills": [[skill.key, skill.spec.version, skill.digest] for skill in plan.skills],
            "settings": [execution.runs, execution.timeout_ms, execution.retries, execution.evaluator, plan.sandbox],
            "shard": request.shard,
            "models": plan.model_names,
        }
    )


def _line(data: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _read(path: str, shown: str) -> Iterator[Any]:
    """Yield the complete lines of a file; the last one may be cut off."""
    try:
        with open(path, "rb") as file:
            for line in file:
                with suppress(ValueError):
                    yield json.loads(line)
    except OSError as error:
        raise UsageError(f"--resume: {shown} cannot be read: {error.strerror}") from error


def _stored(data: Any) -> TaskResult | None:  # noqa: ANN401 - JSON
    try:
        return decode(TaskResult, data)
    except CodecError:
        return None
