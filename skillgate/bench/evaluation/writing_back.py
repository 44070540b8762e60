"""Write what an evaluation measured into the skill.json of each skill: ``--write-metadata``."""
# ruff: noqa: PTH101, PTH105, PTH108, PTH116, PTH118, PTH123

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.reading.files import MAX_BYTES, parse_json, read_json
from skillgate.bench.reading.loading import SKILL_JSON
from skillgate.errors import UsageError
from skillgate.files import require_place
from skillgate.model.executable import AdapterType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.bench.request import EvalRequest
    from skillgate.model.bench import BenchReport, CompletionReport
    from skillgate.model.executable import Runnable
    from skillgate.session import Session

METADATA, RESULTS = "metadata", "benchmarkResults"
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


def require_writable(skills: Sequence[Runnable], request: EvalRequest, session: Session) -> None:
    """Make sure, before anything is run, that results can be written into every skill.json.

    Raises:
        UsageError: one cannot be written, or a part of the tasks is run, which is no result of the benchmark.
    """
    if request.tasks.ids or request.tasks.tags or request.shard is not None:
        raise UsageError("--write-metadata takes the results of all tasks; leave out --task-id, --task-tag, --shard")
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
                f"--write-metadata: {skill.shown} holds no skill.json of {skill.spec.id}: it was read through a link,"
                " or from a file of another name"
            )
        elif not (os.access(file, os.W_OK) and os.access(skill.root, os.W_OK)):
            problems.append(f"--write-metadata: {skill.shown}/{SKILL_JSON} cannot be written: not permitted")
    if problems:
        raise UsageError("\n".join(problems))


def write_back(skills: Sequence[Runnable], report: BenchReport, session: Session) -> str | None:
    """Write each skill's result, where everything was measured; give what went wrong, None for nothing."""
    by_key = {one.skill_id: one for one in report.reports}
    problems = []
    written = 0
    for skill in _programs(skills):
        one = by_key.get(skill.key)
        if one is None:
            continue
        result = _result(one)
        if result is None:
            session.note(f"{skill.shown}: nothing is written into its metadata: not everything was measured")
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
    """Return whether a file is the skill.json that a skill was read from."""
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


def _write(skill: Runnable, result: dict[str, Any], session: Session) -> None:
    """Write beside the file and put it in its place: a reader sees the old one or the new one.

    Raises:
        UsageError: it cannot be written, or is no longer what was read.
    """
    file, shown = os.path.join(skill.root, SKILL_JSON), f"{skill.shown}/{SKILL_JSON}"
    if not _is_of(file, skill):
        raise UsageError(f"cannot write {shown}: it is another one now")
    require_place(file, session.cwd)
    beside = f"{file}.{secrets.token_hex(6)}.tmp"
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES)
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        parse_json(data, shown)
        text = with_result(data.removeprefix(mark).decode("utf-8"), result)
        mode = os.stat(file).st_mode & 0o7777
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as opened:
            opened.write(mark + text.encode("utf-8"))
        os.chmod(beside, mode)
        os.replace(beside, file)
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise UsageError(f"cannot write {shown}: {getattr(error, 'strerror', None) or error}") from error


class _Member(NamedTuple):
    """Where a member's value stands in a text."""

    key: str
    start: int
    end: int


def with_result(text: str, result: Mapping[str, Any]) -> str:
    """Give the text of a skill.json with one result more; one on the same benchmark is replaced.

    Args:
        text: a JSON object; what is no result in its list is kept.
        result: with ``benchmarkId``.

    Raises:
        ValueError: ``metadata`` is no object, or what it holds of results is no list.
    """
    data = json.loads(text)
    metadata = data.get(METADATA, {})
    if not isinstance(metadata, dict):
        raise ValueError(f"{METADATA} is no object")  # noqa: TRY004 - of the text
    results = metadata.get(RESULTS, [])
    if not isinstance(results, list):
        raise ValueError(f"{METADATA}.{RESULTS} is no list")  # noqa: TRY004
    benchmark = result["benchmarkId"]
    kept = [one for one in results if not (isinstance(one, dict) and one.get("benchmarkId") == benchmark)]
    value = [*kept, dict(result)]
    top = _object_at(text, _skip(text, 0))
    inner = next((member for member in top if member.key == METADATA), None)
    if inner is None:
        return _put(text, _skip(text, 0), top, METADATA, {RESULTS: value}, depth=1)
    return _put(text, inner.start, _object_at(text, inner.start), RESULTS, value, depth=2)


def _put(text: str, start: int, members: list[_Member], key: str, value: Any, *, depth: int) -> str:  # noqa: ANN401
    """Replace a member of the object that begins at ``start``, or add it as the last one."""
    in_line = bool(members) and "\n" not in text[start : members[-1].end]
    unit = None if in_line else found[1] if (found := _INDENT.search(text)) else None
    written = _written(value, unit, depth)
    known = next((member for member in members if member.key == key), None)
    if known is not None:
        return text[: known.start] + written + text[known.end :]
    newline = "\r\n" if "\r\n" in text else "\n"
    line = "" if unit is None else newline + unit * depth
    if members:
        end = members[-1].end
        added = f",{line or ' '}{json.dumps(key)}: {written}"
        return text[:end] + added + text[end:]
    close = "" if unit is None else newline + unit * (depth - 1)
    end = _skip(text, start + 1)
    return f"{text[: start + 1]}{line}{json.dumps(key)}: {written}{close}{text[end:]}"


def _written(value: Any, unit: str | None, depth: int) -> str:  # noqa: ANN401 - JSON
    if unit is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return f"\n{unit * depth}".join(lines)


def _object_at(text: str, start: int) -> list[_Member]:
    """List the members of the object that begins at ``start``; the text is valid JSON."""
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
