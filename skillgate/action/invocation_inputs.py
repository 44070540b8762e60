"""The Action's inputs and outputs about recorded invocations."""

from __future__ import annotations

from skillgate.action.declared import Form, Input, Origin, Output

INVOCATION_INPUTS = (
    Input(
        "invocations",
        "Recorded invocations that the input gate is asked of: files, or directories with .jsonl files, in a form that"
        " skillgate log import takes; of a change what git tracks is read as the tip of its base branch has it. Or the"
        " word store: what the store holds that the input store names. One per line.",
        Form.LINES,
        origin=Origin.BASE,
    ),
    Input(
        "gate",
        "The gates that the recorded invocations of each gated skill must pass: publish, feature, deprecation, or one"
        " of the configuration.",
        Form.NAMES,
    ),
)

INVOCATION_OUTPUTS = (
    Output("gates", "What came of each gate on recorded invocations as JSON, by path and gate; empty without one."),
    Output("invocations-json", "The path of invocations.json in the workspace; empty without such a gate."),
)
