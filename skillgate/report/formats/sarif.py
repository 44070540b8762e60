"""The report as SARIF 2.1.0: one run for skillgate, one more for each tool with merged findings.

It keeps within what GitHub's code scanning takes in. Source of the limits: GitHub's page "SARIF support for code
scanning", sections "File compatibility" and "Supported properties".
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from skillgate.format import plural, printable
from skillgate.homepage import homepage
from skillgate.model.finding import Severity
from skillgate.report.findings import bounded, marked, place, with_fix
from skillgate.report.sarif_rules import descriptor, plain, rule_id
from skillgate.report.sarif_uri import artifact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.model.finding import Page, Suppressed
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.findings import Marked

POSITION = 7
SUFFIXES = (".sarif.json", ".sarif")
RULE_PAGES = True
WRITERS = {"score": "render", "check": "render"}

RUNS = 20  # in one file
RESULTS = 25_000  # in one run; more, and the whole file is refused (5,000 are shown, the worst: they stand first)
PACKED = 10_000_000  # bytes of the file, compressed
NUMBER = 2**31 - 1  # the largest line or column that readers with 32 bits take

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_OURS = "skillgate"

_Json = dict[str, Any]


def render(
    report: Report,
    pages: Sequence[Page] = (),
    *,
    suppressed: bool = False,
    results: int = RESULTS,
    packed: int = PACKED,
) -> str:
    """Write a report as SARIF.

    Args:
        report: the report.
        pages: what the rules say of themselves; without them a rule is described by its id and its fix.
        suppressed: also write suppressed findings, marked so. GitHub does not read the mark and shows them as
            open alerts, so that they are left out, and counted in a notification, unless asked for.
        results: the most of a run.
        packed: bytes of the compressed file.
    """
    groups: dict[str, list[Marked]] = {_OURS: []}
    left_out = 0 if suppressed else sum(len(result.suppressed) for result in report.results)
    for item in marked(report):
        if suppressed or item.suppressed is None:
            groups.setdefault(item.finding.tool, []).append(item)
    most = results
    while True:
        # On one line: indented it takes ten times as long, and programs read it.
        text = json.dumps(_log(report, groups, pages, most, left_out), ensure_ascii=False, separators=(",", ":"))
        text = text.replace("##[", "\\u0023#[") + "\n"  # the same document; no command to a CI runner
        # A character is four bytes at most; the fastest compression gives more bytes than that of an upload.
        if len(text) <= packed // 4 or len(zlib.compress(text.encode(), 1)) <= packed:
            return text
        most //= 2


def _log(
    report: Report, groups: Mapping[str, Sequence[Marked]], pages: Sequence[Page], most: int, left_out: int
) -> _Json:
    others = sorted((tool for tool in groups if tool != _OURS), key=lambda tool: (-len(groups[tool]), tool))
    notices = [_not_evaluated(result) for result in report.results if not result.evaluated]
    if left_out:
        notices.append(_notice(f"{plural(left_out, 'suppressed finding')} left out"))
    notices += [
        _notice(f"{len(groups[tool])} findings of {tool} are left out: a file holds {RUNS} runs")
        for tool in others[RUNS - 1 :]
    ]
    ours = _run(groups[_OURS], _driver(report), pages, most)
    invocation = ours["invocations"][0]
    invocation["executionSuccessful"] = not any(not result.evaluated for result in report.results)
    invocation["toolExecutionNotifications"] = notices + invocation["toolExecutionNotifications"]
    runs = [_run(groups[tool], {"name": bounded(tool, 100)}, (), most) for tool in sorted(others[: RUNS - 1])]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [ours, *runs]}


def _driver(report: Report) -> _Json:
    version = report.tool.version
    driver = {"name": _OURS, "version": version}
    if url := homepage():
        driver["informationUri"] = url
    numbers = version.split(".")
    if len(numbers) == 3 and all(number.isdigit() for number in numbers):
        driver["semanticVersion"] = version
    return driver


def _run(items: Sequence[Marked], driver: _Json, pages: Iterable[Page], most: int) -> _Json:
    reported = items[:most]
    examples = {rule_id(item.finding): item.finding for item in reversed(reported)}
    known = {page.rule.id: page for page in pages}
    places = {identifier: index for index, identifier in enumerate(sorted(examples))}
    notices = []
    if len(items) > len(reported):
        notices.append(
            _notice(f"{len(items) - len(reported)} more findings are left out: the worst {len(reported)} are here")
        )
    return {
        "tool": {"driver": {**driver, "rules": [descriptor(examples[name], known.get(name)) for name in places]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The directory that skillgate was run in."}}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notices}],
        "results": [_result(item, places[rule_id(item.finding)]) for item in reported],
    }


def _result(item: Marked, index: int) -> _Json:
    finding = item.finding
    result = {
        "ruleId": rule_id(finding),
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": plain(" ".join(filter(None, with_fix(finding))))},
        "locations": [_location(place(finding), line=finding.line, column=finding.column)],
        "partialFingerprints": {"skillgateFinding/v1": item.fingerprint},
    }
    if finding.clients:
        result["properties"] = {"clients": [client.value for client in finding.clients]}
    if item.suppressed is not None:
        result["suppressions"] = [_suppression(item.suppressed)]
    return result


def _location(path: str, **start: int) -> _Json:
    physical = {"artifactLocation": artifact(path)}
    if start:
        physical["region"] = {f"start{name.title()}": min(max(1, number), NUMBER) for name, number in start.items()}
    return {"physicalLocation": physical}


def _suppression(item: Suppressed) -> _Json:
    by = {"comment": "a comment in the file", "configuration": "the configuration", "known": "the known findings"}
    reason = item.reason or f"suppressed by {by.get(item.by, item.by)}"
    return {
        "kind": "inSource" if item.by == "comment" else "external",
        "status": "accepted",
        "justification": bounded(f"{reason} (until {item.until})" if item.until else reason),
    }


def _not_evaluated(result: SkillResult) -> _Json:
    reason = result.composite.reason or "not evaluated"
    notice = _notice(f"{printable(result.skill.path)}: {reason}", level="error")
    return {**notice, "locations": [_location(result.skill.path)]}


def _notice(text: str, *, level: str = "warning") -> _Json:
    return {"level": level, "message": {"text": plain(bounded(text))}}
