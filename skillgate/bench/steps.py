"""Carry out a task of several calls in one session: set up, call, check, use values of earlier answers, tear down."""

from __future__ import annotations

import re
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.answers import MissingPartError, at, searched
from skillgate.bench.ports import Reply, WithSessions
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import ABSENT, CAPTURED, ERROR, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from skillgate.bench.ports import Adapter, Call, Checks, Scored, Scorer
    from skillgate.model.benchmark import HttpRequest, Task

_LEAST_S = 0.001


class Carried(NamedTuple):
    """What became of the calls of a task."""

    reply: Reply  # of the last call; with ``failure`` its scorer is not asked
    latency_ms: float  # of the steps, without setup and teardown
    failure: str = ""  # why the task failed at an earlier step; ``""`` if its own expectation decides
    passed: int = 0  # checks of steps that passed
    checks: int = 0  # checks of steps
    shown: tuple[dict[str, Any], ...] = ()  # what each step answered, for the report
    note: str = ""  # what went wrong in the teardown


class _Planned(NamedTuple):
    """A step, its name in messages, and its check."""

    name: str
    step: Step
    check: tuple[str, Scorer] | None


def has_steps(task: Task) -> bool:
    """Whether a task is more than one call."""
    return bool(task.steps or task.setup or task.teardown)


def walk(call: Call, adapter: Adapter, checks: Checks, clock: Callable[[], float]) -> Carried:
    """Make the calls of a task in one session.

    Args:
        call: The task, the evaluator's addition to each input as ``data``, and the time limit of all steps together.
        adapter: Of the skill.
        checks: Of the steps of setup, steps and teardown, in order.
        clock: For latencies, in seconds.
    """
    task = call.task
    if not task.steps:
        single = Step(tool=task.tool, request=task.request, input_data=task.input_data)
        checks = (*checks[: len(task.setup)], None, *checks[len(task.setup) :])
    steps = task.steps or (single,)
    groups = {"setup": task.setup, "step": steps, "teardown": task.teardown}
    named = [(f"{key} {number}", step) for key, group in groups.items() for number, step in enumerate(group, 1)]
    planned = [_Planned(name, step, check) for (name, step), check in zip(named, checks, strict=True)]
    first, last = len(task.setup), len(task.setup) + len(steps)
    sessions: AbstractContextManager[Adapter] = (
        adapter.session() if isinstance(adapter, WithSessions) else nullcontext(adapter)
    )
    with sessions as session:
        walking = _Walk(call, session, clock, dict(task.input_data) if task.steps else {})
        carried = walking.carried(planned[:last], first)
        notes = walking.torn_down(planned[last:])
    return carried._replace(note="; ".join(notes))


class _Walk:
    """The state of one task: the session, the captured values, the time left."""

    def __init__(self, call: Call, adapter: Adapter, clock: Callable[[], float], values: dict[str, Any]) -> None:
        self._call, self._adapter, self._clock, self._values = call, adapter, clock, values
        self._until = time.monotonic() + call.timeout_s

    def carried(self, planned: Sequence[_Planned], first: int) -> Carried:
        """Make all calls up to the first that fails; those before ``first`` are the setup."""
        reply, passed, latency_ms = Reply(), 0, 0.0
        shown: list[dict[str, Any]] = []
        checks = sum(one.check is not None for one in planned)
        failure = ""
        for index, one in enumerate(planned):
            is_last = index == len(planned) - 1
            try:
                reply, spent_ms = self._reply(one, self._until - time.monotonic(), is_last=is_last)
            except MissingValueError as missing:
                failure = f"{one.name}: there is no value for {{{{{missing}}}}}"
                break
            if index >= first:
                latency_ms += spent_ms
                shown.append({"step": one.name, **_shown(reply)})
            if one.check is not None:
                scored = _checked(one.check, reply)
                if scored is not None:
                    failure = "" if scored.passed else f"{one.name}: {scored.reason}"
                    passed += scored.passed
                    reply = reply if is_last else reply._replace(kind=None, error="")
            if reply.kind is not None and not is_last:
                reply = reply._replace(error=f"{one.name}: {reply.error}", refusal=None)
            if failure or reply.kind is not None:
                break
            failure = self._capture(one, reply.output)
            if failure:
                break
        return Carried(reply, latency_ms, failure, passed, checks, tuple(shown))

    def torn_down(self, planned: Sequence[_Planned]) -> list[str]:
        """Make the calls of the teardown, all of them; return what went wrong."""
        notes: list[str] = []
        for one in planned:
            try:
                reply, _ = self._reply(one, self._call.timeout_s)
            except MissingValueError:  # the step that makes it was not reached
                continue
            scored = one.check and _checked(one.check, reply)
            if scored is None and reply.kind is not None:
                notes.append(f"{one.name}: {reply.error}")
            elif scored is not None and not scored.passed:
                notes.append(f"{one.name}: {scored.reason}")
        return notes

    def _reply(self, one: _Planned, left_s: float, *, is_last: bool = False) -> tuple[Reply, float]:
        data = {**self._call.data, **filled(dict(one.step.input_data), self._values)}
        values = {**self._values, **data}
        for name in names_of(one.step.request):
            _value(name, values)
        refusable = (one.check is not None and one.check[0] == ERROR) or (is_last and self._call.refusable)
        call = self._call._replace(
            data=data,
            timeout_s=max(_LEAST_S, left_s),
            tool=one.step.tool,
            refusable=refusable,
            request=one.step.request,
            values=values,
        )
        began = self._clock()
        reply = self._adapter.invoke(call)
        if reply.kind is ErrorKind.TIMEOUT:
            reply = reply._replace(error=f"the task took longer than {self._call.timeout_s:g} s")
        return reply, (self._clock() - began) * 1000 if reply.latency_ms is None else reply.latency_ms

    def _capture(self, one: _Planned, output: Any) -> str:  # noqa: ANN401 - JSON
        """Capture a step's values from its answer; return what is missing, or ``""``."""
        for name, pointer in one.step.capture.items():
            try:
                self._values[name] = at(output, pointer)
            except MissingPartError as missing:
                return f"{one.name}: the answer has no value at {missing}, which {name} captures"
        return ""


def _checked(check: tuple[str, Scorer], reply: Reply) -> Scored | None:
    """Score a step's answer, or its refusal if the check expects one; None for a failure of the call."""
    name, scorer = check
    if reply.kind is None:
        return scorer.score(reply.output)
    return scorer.score(reply.refusal) if name == ERROR and reply.refusal is not None else None


def _shown(reply: Reply) -> Mapping[str, Any]:
    if reply.kind is None:
        return {"output": reply.output}
    return {"error": reply.error, **({"output": reply.output} if reply.answered else {})}


PLACE = re.compile(rf"\{{\{{ *({CAPTURED}) *\}}\}}")
"""A name in the input or request of a step, as a pattern."""


class MissingValueError(LookupError):
    """No value has the name."""


def names_in(data: Any) -> set[str]:  # noqa: ANN401 - JSON
    """Return the names that JSON uses."""
    if isinstance(data, str):
        return set(PLACE.findall(data))
    if isinstance(data, dict):
        return {name for value in data.values() for name in names_in(value)}
    return {name for value in data for name in names_in(value)} if isinstance(data, list | tuple) else set()


def names_of(request: HttpRequest | None) -> set[str]:
    """Return the names that a request cannot do without."""
    if request is None:
        return set()
    body = None if request.json is ABSENT else request.json
    parts = (request.path, dict(request.query), dict(request.headers), body, dict(request.form or {}), request.text)
    return {name for part in parts for name in names_in(part)}


def filled(data: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Replace names by values: a text that is only a name becomes the value, of any type; within a text it is text.

    Raises:
        MissingValueError: A value is missing.
    """
    if isinstance(data, str):
        whole = PLACE.fullmatch(data)
        if whole is not None:
            return _value(whole[1], values)
        return PLACE.sub(lambda found: searched(_value(found[1], values), "json"), data)
    if isinstance(data, dict):
        return {key: filled(value, values) for key, value in data.items()}
    return [filled(value, values) for value in data] if isinstance(data, list | tuple) else data


def _value(name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    if name not in values:
        raise MissingValueError(name)
    return values[name]
