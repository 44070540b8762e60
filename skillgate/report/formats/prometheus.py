"""Figures of recorded invocations in Prometheus' text format, for its node exporter's textfile collector or a gateway.

Source: prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4. All are gauges over the report's window. A
figure that was not measured has no sample. The number of series is bounded: the most used skills come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.invocation import InvocationReport, SkillFigures

POSITION = 10
SUFFIXES = (".prom",)
WRITERS = {"invocations": "render"}
MOST_SKILLS = 200
MOST_CHECKS = 500  # results of gates
_DECIDED: Mapping[str, int] = {"passed": 1, "clear": 1, "failed": 0, "triggered": 0}
_MS = 1_000

Labels = tuple[tuple[str, str], ...]


class _Metric(NamedTuple):
    """One gauge with its samples."""

    name: str
    text: str
    samples: Sequence[tuple[Labels, float | None]]


def render(report: InvocationReport) -> str:
    """Render it."""
    lines: list[str] = []
    for metric in _metrics(report):
        known: dict[str, float] = {}  # two names may look the same
        for labels, value in metric.samples:
            if value is not None:
                known.setdefault(_written(labels), value)
        if known:
            lines += [f"# HELP skillgate_{metric.name} {metric.text}", f"# TYPE skillgate_{metric.name} gauge"]
            lines += [f"skillgate_{metric.name}{labels} {value!r}" for labels, value in known.items()]
    return "\n".join(lines) + "\n"


def _metrics(report: InvocationReport) -> Iterator[_Metric]:
    skills = sorted(report.skills, key=lambda one: (-one.recorded, one.skill))[:MOST_SKILLS]
    changes = {one.skill: one.change for one in report.trends}
    info = (("version", report.tool.version), ("rubric", report.rubric_version))
    yield _Metric("build_info", "Version of the program and of the rubric.", [(info, 1)])
    yield _Metric("window_end_timestamp_seconds", "End of the window.", [((), report.until.timestamp())])
    yield _Metric("window_days", "Length of the window.", [((), report.days)])
    yield _Metric("invocations", "Recorded invocations of all skills.", [((), report.invocations)])
    yield _Metric("rated_invocations", "Rated invocations of all skills.", [((), report.rated)])
    left = len(report.skills) - len(skills)
    yield _Metric("skills_left_out", "Skills without series, since there are too many.", [((), left)])
    yield _of(skills, "skill_invocations", "Recorded invocations.", [one.recorded for one in skills])
    yield _of(skills, "skill_rated_invocations", "Rated invocations.", [one.invocation_count for one in skills])
    yield _of(skills, "skill_average_score", "Average of the totals, 0 to 100.", [one.avg_score for one in skills])
    yield _of(skills, "skill_error_ratio", "Share that met an error.", [one.error_rate for one in skills])
    yield _of(skills, "skill_failed_ratio", "Share that failed.", [one.unrecovered_rate for one in skills])
    change = [changes.get(one.skill) for one in skills]
    yield _of(skills, "skill_change_points", "Last 7 days less the days before, in points.", change)
    for name, text, field, unit in (
        ("skill_tokens", "Tokens of an invocation, by quantile.", "tokens", 1),
        ("skill_duration_seconds", "Duration of an invocation, by quantile.", "duration_ms", _MS),
        ("skill_cost_usd", "Cost of an invocation, by quantile.", "cost_usd", 1),
    ):
        samples: list[tuple[Labels, float | None]] = []
        for one in skills:
            if (spread := getattr(one, field)) is not None:
                for quantile, value in (("0.5", spread.p50), ("0.95", spread.p95)):
                    samples.append(((("skill", one.skill), ("quantile", quantile)), value / unit))
        yield _Metric(name, text, samples)
    spent = [one.cost_usd.total if one.cost_usd else None for one in skills]
    yield _of(skills, "skill_spent_usd", "Cost of all invocations.", spent)
    checks = sorted(report.gates, key=lambda one: _DECIDED.get(one.status, 2))[:MOST_CHECKS]
    results = [((("gate", one.gate), ("skill", one.skill)), _DECIDED.get(one.status)) for one in checks]
    yield _Metric("gate_passed", "1 where a gate passed or did not trigger, 0 where it failed or triggered.", results)


def _of(skills: Sequence[SkillFigures], name: str, text: str, values: Sequence[float | None]) -> _Metric:
    return _Metric(name, text, [((("skill", one.skill),), value) for one, value in zip(skills, values, strict=True)])


def _written(labels: Labels) -> str:
    """Write labels; their values are data."""
    escaped = (f'{name}="{_escaped(printable(value))}"' for name, value in labels)
    return f"{{{','.join(escaped)}}}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
