"""One task done with the skill's instructions, or without them, by the model under test.

With them its text stands before the task, as a coding agent gives it once the skill is loaded, and its files can be
read. Without them there is the task alone, and no tool. All else is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.sheet import provoked
from skillgate.model.exchange import Request
from skillgate.model.simulating import COMPLETED, FAILED, NOT_MEASURED
from skillgate.montecarlo import lift_wording, wording
from skillgate.montecarlo.session import MAX_TOKENS, TURNS, Ending, ending, system_prefix, typical_text
from skillgate.montecarlo.tools import READ, SKILL, TOOLS, Toolbox, encodable, listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.exchange import Answer, Steps
    from skillgate.montecarlo.subject import Plan, Subject
    from skillgate.montecarlo.tasks import Task

TASK = "task"
_READ_TOKENS, _ANSWER_TOKENS = 120, 900  # of a reply as a rule, thinking included
_READING = tuple(tool for tool in TOOLS if tool["name"] == READ)


class Attempt(NamedTuple):
    """How one task went in one arm.

    Attributes:
        outcome: ``completed``, ``failed`` or ``not measured``.
        kind: of a failure or of what kept it from being measured; None where it completed.
        answer: the text of the last message; ``""`` unless it completed.
        reason: for people, why there is no answer; ``""`` where there is one.
        tokens: of all replies, input and output, whatever the prompt cache held; None where a reply does not say.
        duration_s: from sending each request to its answer, when it was asked where it was kept; None where one is not
            known, as of batches.
        provoked: whether what the session held can be why it was not measured.
        answers: all that came, for the usage.
    """

    outcome: str
    kind: str | None
    answer: str
    reason: str
    tokens: int | None
    duration_s: float | None
    provoked: bool
    answers: tuple[Answer, ...]


class Opening(NamedTuple):
    """How a session begins: its first message, the tools, and what answers their calls."""

    content: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    toolbox: Toolbox | None = None
    prefix: str = ""
    read: str | None = None


def with_skill(subject: Subject, plan: Plan, task: Task) -> Steps[Attempt]:
    """Do a task with the skill's text loaded; the skill must have one."""
    listed = listing(subject._replace(siblings=()), plan.seed, 0)
    toolbox = Toolbox(listed, subject.library)
    loading = toolbox.answer([{"type": "tool_use", "id": "", "name": SKILL, "input": {"skill": listed.target}}])
    text = "\n\n".join(str(block.get("content") or block.get("text")) for block in loading)
    marked = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    files = subject.library.files(subject.name)
    opening = Opening(
        content=(marked, _typed(task)),
        tools=_READING if files else (),
        toolbox=toolbox,
        prefix=system_prefix(plan.model.model, plan.model.effort, text),
        read=f"{subject.library.base(subject.name)}/{files[0]}" if files else None,
    )
    return (yield from _attempt(subject, plan, task, opening))


def without_skill(subject: Subject, plan: Plan, task: Task) -> Steps[Attempt]:
    """Do a task with nothing but what the model knows; of the subject only its path for the records goes in."""
    return (yield from _attempt(subject, plan, task, Opening((_typed(task),))))


def _attempt(subject: Subject, plan: Plan, task: Task, opening: Opening) -> Steps[Attempt]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": list(opening.content)}]
    answers: list[Answer] = []
    end: Ending | None = None
    while end is None and len(answers) < plan.max_turns:
        answer = yield _request(subject, plan, task, opening, messages)
        answers.append(answer)
        end = ending(answer)
        if end is None and answer.reply is not None and opening.toolbox is not None:
            content = answer.reply.content
            turns = (
                {"role": "assistant", "content": list(content)},
                {"role": "user", "content": opening.toolbox.answer(content)},
            )
            messages = [*messages, *turns]
    end = end or Ending(FAILED, TURNS, f"no answer within {plan.max_turns} turns")
    return Attempt(
        outcome=end.outcome,
        kind=end.kind,
        answer=end.text if end.outcome == COMPLETED else "",
        reason="" if end.outcome == COMPLETED else end.text,
        tokens=_tokens(answers),
        duration_s=_seconds(answers),
        provoked=end.outcome == NOT_MEASURED and provoked(answers[-1]),
        answers=tuple(answers),
    )


def _typed(task: Task) -> Mapping[str, Any]:
    return {"type": "text", "text": encodable(task.prompt)}


def _request(
    subject: Subject, plan: Plan, task: Task, opening: Opening, messages: Sequence[Mapping[str, Any]]
) -> Request:
    model, effort = plan.model
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": [{"type": "text", "text": wording.BASE}],
        "messages": list(messages),
    }
    if opening.tools:
        body |= {"tools": list(opening.tools), "tool_choice": {"type": "auto"}}
    if effort is not None:
        body["output_config"] = {"effort": effort}
    reads = opening.read is not None and len(messages) == 1
    return Request(
        question=TASK,
        subject=subject.path,
        body=body,
        prompt_version=f"{lift_wording.PROMPT_VERSION}.{wording.PROMPT_VERSION}",
        sample=task.sample,
        prefix=opening.prefix,
        typical_output=_READ_TOKENS if reads else _ANSWER_TOKENS,
        typical=(_typical_read(str(opening.read)) if reads else typical_text(),),
    )


def _typical_read(path: str) -> Mapping[str, Any]:
    return {"type": "tool_use", "id": "toolu_typical", "name": READ, "input": {"file_path": path}}


def _seconds(answers: Sequence[Answer]) -> float | None:
    """Add up how long answers took: a run that finds some of them kept gives the times of the run that asked."""
    took = [answer.first_seconds if answer.cached else answer.seconds or None for answer in answers]
    known = [round(one, 3) for one in took if one is not None]
    return round(sum(known), 3) if len(known) == len(took) else None


def _tokens(answers: Sequence[Answer]) -> int | None:
    replies = [answer.reply for answer in answers if answer.reply is not None]
    known = [sum(reply.tokens) for reply in replies if reply.tokens is not None]
    return sum(known) if replies and len(known) == len(replies) else None
