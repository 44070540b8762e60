"""The settings of matches against a corpus."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

SETTINGS = (
    Setting(
        key="corpus-dir",
        kind=Kind.TEXT,
        example=".skillgate/corpus",
        help="Where the corpus lies that skills are ranked against; unset: the system's place for data.",
    ),
    Setting(
        key="opponents",
        kind=Kind.INTEGER,
        default=16,
        minimum=1,
        maximum=100,
        help="How many skills of the corpus a skill is compared with, each in both orders.",
    ),
)
