"""The settings of recorded invocations."""

from __future__ import annotations

from skillgate.invocations.gates import MOST_GATES, REQUIREMENT, TRIGGER, built
from skillgate.model.setting import Kind, Setting

_BOUNDS = (
    Setting(key="min_score", kind=Kind.NUMBER, minimum=0, maximum=100, help="The least average."),
    Setting(key="max_score", kind=Kind.NUMBER, minimum=0, maximum=100, help="Of a trigger: the largest average."),
    Setting(
        key="min_invocations", kind=Kind.INTEGER, minimum=1, maximum=1_000_000_000, help="The least that are rated."
    ),
    Setting(
        key="max_error_rate",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        help="The largest share of invocations that may meet an error.",
    ),
    Setting(
        key="max_unrecovered_rate",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        help="The largest share of invocations that may fail.",
    ),
    Setting(
        key="max_age_without_improvement",
        kind=Kind.INTEGER,
        minimum=0,
        maximum=36_500,
        help="Days since the skill last got better; a trigger goes off at so many, a requirement allows no more.",
    ),
    Setting(
        key="min_coverage",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        help="The least share that must have been observed, on average.",
    ),
    Setting(
        key="kind",
        kind=Kind.CHOICE,
        choices=(REQUIREMENT, TRIGGER),
        help="Whether it fails unless all bounds hold, or goes off when all do.",
    ),
    Setting(key="description", kind=Kind.TEXT, maximum=200, help="What it is for."),
)

SETTINGS = (
    Setting(
        key="rubric",
        kind=Kind.CHOICE,
        default="1.1",
        choices=("1.0", "1.1"),
        help="The rubric that recorded invocations are scored by: 1.0 is the published one to the letter.",
    ),
    Setting(
        key="log-days",
        kind=Kind.INTEGER,
        default=30,
        minimum=1,
        maximum=36_500,
        help="How many days back the figures of recorded invocations reach.",
    ),
    Setting(
        key="gates",
        kind=Kind.TABLES,
        fields=_BOUNDS,
        maximum=MOST_GATES,
        check=built,
        example={"publish": {"min_score": 75, "max_unrecovered_rate": 0.05}},
        help="Gates of recorded invocations beside publish, feature and deprecation, or other bounds of these.",
    ),
)
