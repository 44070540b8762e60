"""What gates on recorded invocations do to the verdict of a run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.action.context import Stand
    from skillgate.action.listening import Listening
    from skillgate.model.invocation_report import GateCheck
    from skillgate.model.run import ActionRun

_FAILED = {"failed": "failed", "triggered": "went off"}
_MISSING = ("no_data", "unmeasured")


def with_gates(run: ActionRun, checks: Sequence[GateCheck], stand: Stand, session: Listening) -> ActionRun:
    """Add to a run what gates on recorded invocations say, each check by the path of its skill.

    A requirement that failed or a trigger that went off fails the step, unless ``fail-on`` is never: then it is told.
    What could not be answered is told, and makes the exit code 3, or 1 where ``fail-on`` lists unmeasured, unless
    ``on-unmeasured`` is pass. A trigger with too few invocations has not gone off.
    """
    listed = stand.config.get(settings.FAIL_ON)
    words = listed if isinstance(listed, tuple) else ()
    failed = [f"{_named(one)} {_FAILED[one.status]}: {_why(one)}" for one in checks if one.status in _FAILED]
    missing = [f"{_named(one)} could not be answered: {_why(one)}" for one in checks if one.status in _MISSING]
    if "never" in words:
        for line in failed:
            session.note(line)
        failed = []
    code, reasons = run.exit_code, run.reasons
    # What fails the step stands first, before what could not be measured.
    reasons = (*reasons, *failed) if code == EXIT_GATE_FAILED else (*failed, *reasons)
    if failed and code in (EXIT_PASSED, EXIT_INCOMPLETE):
        code = EXIT_GATE_FAILED
    if missing and stand.inputs["on-unmeasured"] != "pass" and code == EXIT_PASSED:
        code = EXIT_GATE_FAILED if "unmeasured" in words else EXIT_INCOMPLETE
    result = {EXIT_PASSED: "pass", EXIT_GATE_FAILED: "fail"}.get(code, "error")
    return dataclasses.replace(run, exit_code=code, result=result, reasons=(*reasons, *missing))


def _named(check: GateCheck) -> str:
    return f"{check.skill}: the gate {check.gate} on recorded invocations"


def _why(check: GateCheck) -> str:
    return "; ".join(check.failures) or check.status.replace("_", " ")
