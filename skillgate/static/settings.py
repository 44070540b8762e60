"""The settings of findings: which are reported, for which client, and which are known already."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

SETTINGS = (
    Setting(
        key="profile",
        kind=Kind.CHOICE,
        default="any",
        choices=("any", "spec", "claude-code", "claude-upload", "codex"),
        help="The client whose refusals are errors; any: what every client refuses.",
        per_path=True,
    ),
    Setting(
        key="select",
        kind=Kind.TEXTS,
        default=("default",),
        help="The rules to report, by id or group; default is every rule that is not opt-in, all every rule.",
        per_path=True,
    ),
    Setting(
        key="ignore",
        kind=Kind.TEXTS,
        example=("MISSING_TOC",),
        help="The rules to set aside, by id or group; what they find is counted, and fails nothing.",
        per_path=True,
    ),
    Setting(
        key="known-findings",
        kind=Kind.TEXT,
        example="reports/known-findings.json",
        help="The file of findings that are known already, so that only new ones count.",
    ),
)
