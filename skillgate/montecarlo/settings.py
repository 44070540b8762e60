"""The settings of simulated sessions."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

SETTINGS = (
    Setting(
        key="model",
        kind=Kind.TEXT,
        example="claude-sonnet-5-5",
        help="The model under test, which may load the skill. Unset: the default of the dated table.",
    ),
    Setting(
        key="simulations",
        kind=Kind.INTEGER,
        default=50,
        minimum=5,
        maximum=500,
        help="How many sessions to simulate with prompts that should load the skill, each with a prompt of its own.",
    ),
    Setting(
        key="near-misses",
        kind=Kind.INTEGER,
        minimum=0,
        maximum=100,
        example=10,
        help="How many to simulate with prompts that should not. Unset: a fifth of the simulations.",
    ),
    Setting(
        key="seed",
        kind=Kind.INTEGER,
        default=0,
        minimum=0,
        maximum=1_000_000_000,
        help="The seed of the order in which skills are listed, and in which matches count.",
    ),
    Setting(
        key="max-turns",
        kind=Kind.INTEGER,
        default=10,
        minimum=2,
        maximum=50,
        help="How many requests one session may take; one that takes more has failed.",
    ),
    Setting(
        key="runner",
        kind=Kind.CHOICE,
        default="messages",
        choices=("messages", "agent-sdk"),
        personal=True,
        help="What runs a session: a loop over the Messages API, or Claude Code itself by its agent SDK (an extra).",
    ),
    Setting(
        key="min-activation",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        example=0.8,
        per_path=True,
        help="The least share of sessions with a prompt for it in which the model must load the skill.",
    ),
    Setting(
        key="max-failure-rate",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        example=0.1,
        per_path=True,
        help="The largest share of sessions that may fail.",
    ),
    Setting(
        key="early-stop",
        kind=Kind.FLAG,
        default=False,
        help="End the sessions of a skill once min-activation and max-failure-rate cannot change their verdict.",
    ),
)
