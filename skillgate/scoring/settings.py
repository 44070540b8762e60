"""The settings of scoring and of the gate."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

# The ten dimensions by name; their weights and blend stand in the tables of scoring.
_DIMENSIONS = (
    "triggering_accuracy",
    "orchestration_fitness",
    "output_quality",
    "scope_calibration",
    "progressive_disclosure",
    "token_efficiency",
    "robustness",
    "structural_completeness",
    "code_template_quality",
    "ecosystem_coherence",
)

SETTINGS = (
    Setting(
        key="depth",
        kind=Kind.CHOICE,
        default="quick",
        choices=("quick", "standard", "deep", "certify"),
        help="How deep to evaluate; quick reads the files and sends nothing anywhere.",
    ),
    Setting(
        key="threshold",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=100,
        example=70,
        per_path=True,
        help="The least composite score a skill may have.",
    ),
    Setting(
        key="min-badge",
        kind=Kind.CHOICE,
        choices=("bronze", "silver", "gold", "platinum"),
        example="silver",
        per_path=True,
        help="The least badge a skill may have.",
    ),
    Setting(
        key="min-dimension",
        kind=Kind.NUMBERS,
        choices=_DIMENSIONS,
        minimum=0,
        maximum=1,
        example={"triggering_accuracy": 0.7},
        per_path=True,
        help="The least score of single dimensions.",
    ),
    Setting(
        key="fail-on",
        kind=Kind.CHOICES,
        choices=(
            "error",
            "warning",
            "threshold",
            "badge",
            "dimension",
            "regression",
            "benchmark",
            "budget",
            "unmeasured",
            "never",
        ),
        example=("error", "threshold"),
        per_path=True,
        help="What makes the command fail; unset: error in check, what was asked for in score.",
    ),
    Setting(
        key="baseline",
        kind=Kind.TEXT,
        example="main",
        help="The report or git revision to compare with.",
    ),
    Setting(
        key="max-drop",
        kind=Kind.NUMBER,
        default=2.0,
        minimum=0,
        per_path=True,
        help="By how many points a score may fall below the baseline's.",
    ),
    Setting(
        key="on-inconclusive",
        kind=Kind.CHOICE,
        default="point",
        choices=("point", "pass", "warn", "fail"),
        per_path=True,
        help="What a bound does that lies inside a sampled score's interval: the point estimate decides, or this.",
    ),
    Setting(
        key="layers",
        kind=Kind.CHOICES,
        choices=("static", "judge", "montecarlo"),
        example=("static", "judge"),
        help="The layers to run; unset: those of the depth.",
    ),
)
