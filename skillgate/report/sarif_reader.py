"""Reading the SARIF 2.1.0 of other tools: text in, findings out. Nothing it names is opened or fetched.

Source: SARIF 2.1.0, sections 3.27 (result), 3.4 (artifactLocation), 3.11 (message); levels from a security score as
GitHub's page "SARIF support for code scanning" has them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode
from skillgate.model.finding import Finding
from skillgate.report.findings import bounded
from skillgate.report.sarif_paths import Located, locate
from skillgate.report.sarif_shape import array, entry, number, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIZE = 50_000_000  # characters of one file
RESULTS = 25_000  # in one file: what GitHub takes of one run
_NAME = 100  # characters of a tool's name
_RULE = 200  # of a rule's id
_URL = 2000
_TEMPLATE = 2000  # of a message before its arguments are put in
_ARGUMENT = 300

_LEVELS = {"error": "error", "warning": "warning", "note": "info"}
_SILENT = ("pass", "notApplicable", "informational")  # kinds that say that nothing is wrong
_UNDECIDED = ("open", "review")  # kinds whose level is none unless it is written
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,4})\}")

_Object = dict[str, Any]


class Foreign(NamedTuple):
    """A finding of another tool.

    ``finding.path`` is where the file says it is, bases resolved. ``written`` is what the result itself said where
    that was relative to a base: the same file, wherever the tool may have run. None where there is no such path.
    """

    finding: Finding
    written: str | None = None


class Merged(NamedTuple):
    """What one file gave; ``suppressed`` counts, by tool, the results that it says are suppressed."""

    found: tuple[Foreign, ...]
    suppressed: Mapping[str, int]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Give the findings, with paths as the file has them."""
        return tuple(item.finding for item in self.found)


class _Run(NamedTuple):
    """What the results of one run refer to."""

    tool: str
    components: tuple[tuple[_Object, ...], ...]  # the rules of the driver, then those of each extension
    rules: Mapping[str, _Object]
    messages: _Object
    bases: _Object
    artifacts: list[Any]


def read_sarif(text: str, *, source: str) -> Merged:
    """Read a SARIF file of another tool.

    What passed, what is suppressed and what a baseline says is gone is left out.

    Args:
        text: the file's text.
        source: the file's name, for messages.

    Raises:
        UsageError: it is too large, or not SARIF 2.1.0; the message says what was found where.
    """
    if len(text) > SIZE:
        raise UsageError(f"{source} has {len(text):,} characters; at most {SIZE:,} are read")
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        message = f"{source} is not JSON: {error}"
        raise UsageError(message) from None
    try:
        return _log(data)
    except CodecError as error:
        message = f"{source} is not SARIF 2.1.0: {error}"
        raise UsageError(message) from None


def _log(data: object) -> Merged:
    log = entry({"": data}, "", "the document")
    if log.get("version") != "2.1.0":
        raise CodecError(f"version: expected '2.1.0', found {bounded(repr(log.get('version')), 40)}")
    if not isinstance(log.get("runs"), list):
        raise CodecError("runs: expected an array")
    total = sum(len(array(entry(run, None, "runs[]"), "results", "runs[]")) for run in log["runs"])
    if total > RESULTS:
        raise CodecError(f"it holds {total:,} results; at most {RESULTS:,} are read: ask the tool for its worst")
    found: list[Foreign] = []
    suppressed: Counter[str] = Counter()
    for index, item in enumerate(log["runs"]):
        _read_run(item, f"runs[{index}]", found, suppressed)
    return Merged(tuple(found), dict(suppressed))


def _read_run(data: _Object, where: str, found: list[Foreign], suppressed: Counter[str]) -> None:
    run = _run(data, where)
    for index, item in enumerate(array(data, "results", where)):
        place = f"{where}.results[{index}]"
        result = entry(item, None, place)
        rule_id, rule = _rule(result, run, place)
        level = _level(result, rule, place)
        if level is None or result.get("baselineState") == "absent":
            continue
        if _is_suppressed(result, place):
            suppressed[run.tool] += 1
            continue
        found.append(_foreign(result, rule_id, rule, level, run, place))


def _run(data: _Object, where: str) -> _Run:
    tool = entry(data, "tool", where)
    driver = entry(tool, "driver", f"{where}.tool")
    name = bounded(text_of(driver, "name", f"{where}.tool.driver").strip(), _NAME)
    if not name:
        raise CodecError(f"{where}.tool.driver.name: expected the tool's name")
    parts = [driver, *(entry(item, None, f"{where}.tool.extensions[]") for item in array(tool, "extensions", where))]
    components = tuple(
        tuple(entry(rule, None, f"{where} rules[]") for rule in array(part, "rules", f"{where}.tool")) for part in parts
    )
    rules: dict[str, _Object] = {}
    for rule in (rule for component in components for rule in component):
        rules.setdefault(text_of(rule, "id", f"{where} rules[]"), rule)
    return _Run(
        tool=name,
        components=components,
        rules=rules,
        messages=entry(driver, "globalMessageStrings", f"{where}.tool.driver"),
        bases=entry(data, "originalUriBaseIds", where),
        artifacts=array(data, "artifacts", where),
    )


def _rule(result: _Object, run: _Run, where: str) -> tuple[str, _Object]:
    """Find a result's rule by its id, one level of it, or its index; the rule is empty where nothing describes it."""
    reference = entry(result, "rule", where)
    identifier = text_of(result, "ruleId", where) or text_of(reference, "id", where)
    if identifier:
        return identifier, run.rules.get(identifier) or run.rules.get(identifier.rpartition("/")[0]) or {}
    component = number(entry(reference, "toolComponent", where), "index")
    rules = _at(run.components, -1 if component is None else component, 1) or ()
    index = number(result, "ruleIndex")
    rule = _at(rules, number(reference, "index") if index is None else index) or {}
    return text_of(rule, "id", where) or "unnamed", rule


def _at(items: tuple[Any, ...], index: int | None, offset: int = 0) -> Any:  # noqa: ANN401 - whatever stands there
    place = -1 if index is None else index + offset
    return items[place] if 0 <= place < len(items) else None


def _level(result: _Object, rule: _Object, where: str) -> str | None:
    """Give a result's severity; None for one that says that nothing is wrong."""
    kind, level = text_of(result, "kind", where), text_of(result, "level", where)
    if kind in _SILENT or level == "none" or (kind in _UNDECIDED and not level):
        return None
    default = text_of(entry(rule, "defaultConfiguration", where), "level", where)
    if not level and default == "none":
        return None
    score = entry(rule, "properties", where).get("security-severity")
    return _LEVELS.get(level) or _LEVELS.get(default) or _scored(score)


def _scored(score: object) -> str:
    """Give the severity of a security score in (0, 10]: high from 7, medium from 4."""
    try:
        value = float(score) if isinstance(score, str | int | float) else 0.0
    except (ValueError, OverflowError):
        value = 0.0
    if not 0 < value <= 10:
        return "warning"
    return "error" if value >= 7 else "warning" if value >= 4 else "info"


def _is_suppressed(result: _Object, where: str) -> bool:
    """Return whether suppressions apply: there is one, and none that is still under review or was rejected."""
    listed = [entry(item, None, f"{where}.suppressions[]") for item in array(result, "suppressions", where)]
    return bool(listed) and all(item.get("status", "accepted") == "accepted" for item in listed)


def _foreign(result: _Object, rule_id: str, rule: _Object, level: str, run: _Run, where: str) -> Foreign:
    located = next(_locations(result, run, where), Located())
    identifier = "/".join("-".join(part.split()) for part in (run.tool.replace("/", "-"), bounded(rule_id, _RULE)))
    url = text_of(rule, "helpUri", where)
    url = url if url.startswith("https://") and len(url) <= _URL and bounded(url, _URL).split() == [url] else ""
    fields = {
        "id": identifier,
        "severity": level,
        "message": bounded(_message(result, rule, run, where)),
        "path": located.path,
        "line": located.line,
        "column": located.column,
        "fix": f"see {url}" if url else f"see what {run.tool} says of {bounded(rule_id, _RULE)}",
        "url": url,
        "tool": run.tool,
    }
    return Foreign(decode(Finding, fields), located.written)


def _locations(result: _Object, run: _Run, where: str) -> Iterator[Located]:
    for item in array(result, "locations", where)[:1]:
        yield locate(entry(item, None, f"{where}.locations[0]"), run.bases, run.artifacts, f"{where}.locations[0]")


def _message(result: _Object, rule: _Object, run: _Run, where: str) -> str:
    message = entry(result, "message", where)
    named = text_of(message, "id", where)
    strings = entry(rule, "messageStrings", where)
    templates = (
        message,
        entry(strings, named, where) if named else {},
        entry(run.messages, named, where) if named else {},
        entry(rule, "shortDescription", where),
        entry(rule, "fullDescription", where),
    )
    text = next((text for item in templates for key in ("text", "markdown") if (text := text_of(item, key, where))), "")
    return _filled(text[:_TEMPLATE], array(message, "arguments", where)) or "no message"


def _filled(template: str, arguments: list[Any]) -> str:
    """Put arguments in for ``{0}``, ``{1}`` … in one pass, so that none can hold a placeholder for another."""
    if not arguments:
        return template

    def argument(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]  # a brace, written twice
        index = int(match[1])
        return str(arguments[index])[:_ARGUMENT] if index < len(arguments) else match[0]

    return _PLACEHOLDER.sub(argument, template)
