"""The report as JSON: the same bytes for the same input, but for ``duration_ms``."""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, Any

from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode, encode
from skillgate.model.report import GateOutcome, Report, StaticLayer, Verdict
from skillgate.model.score import SCHEMA_VERSION, Outcome
from skillgate.report.rendering import KINDS, model_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from skillgate.model.bench import BenchDiff, BenchReport
    from skillgate.model.benchmark import FoundSkills
    from skillgate.model.check_report import CheckedSkill, CheckReport
    from skillgate.model.documents import ActionRun, Comparison, Diff, History
    from skillgate.model.invocation import InvocationReport
    from skillgate.model.report import SkillResult
    from skillgate.model.single_report import SingleReport

    Document: TypeAlias = Report | SingleReport | CheckReport | Comparison
    Written: TypeAlias = (
        Document | Diff | ActionRun | BenchReport | BenchDiff | History | FoundSkills | InvocationReport
    )


def render(document: Written) -> str:
    """Write a document, with two spaces of indent and a final line feed."""
    text = _indented(encode(document), "\n")
    return text.replace("##[", "\\u0023#[") + "\n"  # the same document; a CI runner would take the other for a command


_LEAVES: Mapping[type, Callable[[Any], str]] = {
    str: quoted,
    int: repr,
    float: repr,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
}


def _indented(value: Any, end: str) -> str:  # noqa: ANN401 - JSON
    """Write as ``json.dumps`` does with ``indent=2``, which is in Python, too, and takes twice as long."""
    kind = type(value)
    if kind in _LEAVES:
        return _LEAVES[kind](value)
    inner = f"{end}  "
    if kind is dict:
        items = [f"{quoted(key)}: {_indented(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{end}}}" if items else "{}"
    items = [_indented(item, inner) for item in value]
    return f"[{inner}{f',{inner}'.join(items)}{end}]" if items else "[]"


def document(report: Report | Comparison, *, command: str, single: bool) -> Document:
    """Shape a report for a command: ``check`` keeps findings and gate, one skill alone is a single object."""
    if not isinstance(report, Report):
        return report
    if command == "check":
        return _check_report(report)
    return alone(report) if single else report


def _check_report(report: Report) -> CheckReport:
    from skillgate.model.check_report import CheckReport  # each of the large types is loaded where it is written

    return CheckReport(
        findings=tuple(finding for result in report.results for finding in result.findings) + report.outside,
        suppressed=tuple(item for result in report.results for item in result.suppressed),
        profile=report.profile,
        listing=report.listing,
        across=report.across,
        skills=tuple(map(_checked, report.results)),
        summary=report.summary,
        gate=Verdict(passed=report.gate.passed, outcomes=tuple(_failures(report))),
        depth=report.depth,
        coverage=report.coverage,
        config_digest=report.config_digest,
        tool=report.tool,
        models=report.models,
    )


def _checked(result: SkillResult) -> CheckedSkill:
    from skillgate.model.check_report import CheckedSkill

    composite = result.composite
    return CheckedSkill(
        skill=result.skill,
        findings=len(result.findings),
        suppressed=len(result.suppressed),
        score=composite.score,
        badge=composite.badge,
        reason=composite.reason,
        badge_reason=composite.badge_reason,
        recoverable=next((layer.recoverable for layer in result.layers if isinstance(layer, StaticLayer)), 0.0),
        evaluated=result.evaluated,
        gate=result.gate,
    )


def _failures(report: Report) -> Iterator[GateOutcome]:
    for result in report.results:
        for outcome in result.gate.outcomes:
            if outcome.verdict is not Outcome.PASS:
                yield outcome._replace(reason=f"{result.skill.path}: {outcome.reason}")
    yield from (outcome for outcome in report.gate.outcomes if outcome.verdict is not Outcome.PASS)


def alone(report: Report) -> SingleReport:
    """Give a report over one skill the single-object shape.

    Raises:
        ValueError: when the report does not hold exactly one result.
    """
    from skillgate.model.single_report import SingleReport

    if len(report.results) != 1:
        message = f"a report over {len(report.results)} skills has no single-object shape"
        raise ValueError(message)
    result = report.results[0]
    # The document's gate is the run's: it may have failed by what belongs to no skill.
    gate = Verdict(passed=report.gate.passed, outcomes=(*result.gate.outcomes, *report.gate.outcomes))
    result = result._replace(gate=gate)
    values = {name: getattr(result, name) for name in result._fields}
    return SingleReport(
        **values,
        profile=report.profile,
        outside=report.outside,
        depth=report.depth,
        config_digest=report.config_digest,
        tool=report.tool,
        models=report.models,
        agreement=report.agreement,
        calibration=report.calibration,
        resumed=report.resumed,
        shard=report.shard,
    )


def read(text: str, *, source: str) -> Any:  # noqa: ANN401 - a document of any kind
    """Read a document that skillgate wrote.

    Raises:
        UsageError: when the text is not JSON, not such a document, or one of a later form; ``source`` names it in the
            message.
    """
    return shaped(parsed(text, source=source), source=source)


def parsed(text: str, *, source: str) -> Any:  # noqa: ANN401 - JSON
    """Read JSON.

    Raises:
        UsageError: when the text is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"{source} is not JSON: {error}"
        raise UsageError(message) from None


def kind_of(data: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return the kind of a document, None for other data."""
    kind = data.get("kind") if isinstance(data, dict) else None
    return kind if isinstance(kind, str) else None


def shaped(data: Any, *, source: str) -> Any:  # noqa: ANN401 - JSON, and a document of any kind
    """Make a document of what :func:`parsed` gave.

    Raises:
        UsageError: when it is not such a document, or one of a later form.
    """
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        message = f"{source} has schema version {version}; this skillgate reads {SCHEMA_VERSION}: a later one wrote it"
        raise UsageError(message)
    try:
        return _decode(data)
    except CodecError as error:
        message = f"{source} is not a skillgate report: {error}"
        raise UsageError(message) from None


def _decode(data: Any) -> Any:  # noqa: ANN401 - JSON, and a document of any kind
    kind = kind_of(data)
    if kind == "score" and "results" not in data:
        from skillgate.model.single_report import SingleReport

        return decode(SingleReport, data)
    if kind is None or kind not in KINDS:
        found = data.get("kind") if isinstance(data, dict) else None
        raise CodecError(f"kind: expected one of {', '.join(KINDS)}; found {found!r}")
    return decode(model_of(kind), data)
