"""One simulated session: a model, a request, and skills that it may load, in a loop as a coding agent runs it.

The loop ends with an answer, with a failure of the model's (it refused, was cut off, took too many turns, said nothing,
went beyond its context) or with an outage, which says nothing of the skill.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.sheet import provoked, reason_of
from skillgate.llm.prices import about
from skillgate.model.digest import digest
from skillgate.model.exchange import Cause, Request, Status
from skillgate.model.simulating import COMPLETED, FAILED, NOT_MEASURED
from skillgate.montecarlo import wording
from skillgate.montecarlo.library import FOLDERS
from skillgate.montecarlo.tools import READ, SKILL, TOOLS, Toolbox, called, calls, encodable, listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.exchange import Answer, Reply, Steps
    from skillgate.model.judging import TriggerPrompt
    from skillgate.montecarlo.subject import Plan, Subject
    from skillgate.montecarlo.tools import Listing

SIMULATION = "simulation"
MAX_TOKENS = 16_000  # of one reply, thinking included: as much as the SDK takes in one piece, and room to spare
REFUSAL, TRUNCATED, CONTEXT, TURNS = "refusal", "truncated", "context exceeded", "max turns"
EMPTY, UNUSABLE = "empty answer", "unusable answer"
_CALL_TOKENS, _ANSWER_TOKENS = 150, 900  # of a reply as a rule, thinking included
_ANSWER_CHARACTERS = 1_560  # 600 tokens of the answer itself
_RARE = 10  # of so many sessions one goes the other way, in an estimate
_READS = 2  # likewise, of so many sessions that load the skill the first reads a file that its text names
_NAMED = re.compile(rf"(?<![\w-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w")


class Session(NamedTuple):
    """How one session went.

    Attributes:
        outcome: ``completed``, ``failed`` or ``not measured``, as of a
            :class:`~skillgate.model.simulating.Simulation`.
        kind: of a failure, or of what kept it from being measured; None where it completed.
        activated: whether the model called for the skill at any time, whatever happened after; None: not measured.
        answer: the text of the last message; ``""`` unless the session completed.
        tokens: what the skill added: its line of the listing, what loading it and reading its files brought, each text
            once, and all output. Texts are counted as characters ÷ 2.6, output as the replies say. None where a reply
            does not, or where the skill was not loaded.
        turns: requests that were answered.
        loaded: the listed names of the skills that were loaded, each once.
        provoked: whether what the session held can be why it was not measured.
        reason: for people, why there is no answer; ``""`` where there is one.
        answers: all that came, for the usage.
    """

    outcome: str
    kind: str | None
    activated: bool | None
    answer: str
    tokens: int | None
    turns: int
    loaded: tuple[str, ...]
    provoked: bool
    reason: str
    answers: tuple[Answer, ...]


class Ending(NamedTuple):
    """How a session ends: its outcome, the kind of it, and the last text or the reason."""

    outcome: str
    kind: str | None = None
    text: str = ""


def session(
    subject: Subject,
    plan: Plan,
    case: TriggerPrompt,
    order: int,
    index: int,
    *,
    sample: int = 0,
    file: str | None = None,
) -> Steps[Session]:
    """Run one session.

    Args:
        subject: the skill, its siblings and what serves them.
        plan: the model, and how many turns it has.
        case: what the user says, and whether the skill is meant for it.
        order: which of the orders of the listing, from 0.
        index: of the session in its run, from 0; it decides nothing but what an estimate takes for its answer.
        sample: tells sessions with the same prompt and order apart.
        file: what an estimate takes some sessions to read, as of :func:`named_file`; it decides nothing else.
    """
    listed = listing(subject, plan.seed, order)
    tools = Toolbox(listed, subject.library)
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": encodable(case.prompt)}]}]
    answers: list[Answer] = []
    end: Ending | None = None
    while end is None and len(answers) < plan.max_turns:
        typical = _typical(listed, index, should_trigger=case.should_trigger, turn=len(answers), file=file)
        answer = yield _request(subject, plan, listed, messages, typical=typical, sample=sample)
        answers.append(answer)
        end = ending(answer)
        if end is None and answer.reply is not None:
            content = answer.reply.content
            turns = (
                {"role": "assistant", "content": list(content)},
                {"role": "user", "content": tools.answer(content)},
            )
            messages = [*messages, *turns]
    end = end or Ending(FAILED, TURNS, f"no answer within {plan.max_turns} turns")
    return _session(end, listed, tools, answers)


def ending(answer: Answer) -> Ending | None:
    """Say how a session ends with an answer, None where it goes on since the model calls tools."""
    failed = failure(answer)
    if failed is not None:
        return failed
    reply = answer.reply
    if reply is None:  # an answer that was made up for an estimate
        return Ending(COMPLETED, text=str(answer.value))
    open_calls = calls(reply.content)
    if open_calls and all(isinstance(call.get("id"), str) for call in open_calls):
        return None
    if open_calls or reply.stop_reason == "tool_use":
        return Ending(FAILED, UNUSABLE, "the reply calls a tool in a form that cannot be answered")
    text = reply.text
    return Ending(COMPLETED, text=text) if text.strip() else Ending(FAILED, EMPTY, "the reply holds no text")


def failure(answer: Answer) -> Ending | None:
    """Say how a session ends where a reply is no answer, or did not come; None where it is one."""
    match answer.status:
        case Status.OK:
            return None
        case Status.REFUSED:
            return Ending(FAILED, REFUSAL, reason_of(answer))
        case Status.TRUNCATED:
            return Ending(FAILED, TRUNCATED, reason_of(answer))
        case Status.INVALID:
            return Ending(FAILED, EMPTY if _is_silent(answer.reply) else UNUSABLE, reason_of(answer))
        case Status.ERROR:
            if answer.cause is Cause.TOO_LONG:
                return Ending(FAILED, CONTEXT, reason_of(answer))
            kind = answer.cause.value if answer.cause is not None else Cause.UNKNOWN.value
            return Ending(NOT_MEASURED, kind, reason_of(answer))


def added_tokens(listed: Listing, added: Sequence[str], replies: Sequence[Reply]) -> int | None:
    """Count what the skill added to a session, None where a reply does not say how many tokens it took.

    Args:
        listed: its line is part of every session.
        added: the texts that it brought in, each once.
        replies: all of them.
    """
    output = [reply.tokens.output for reply in replies if reply.tokens is not None]
    if len(output) < len(replies) or not replies:
        return None
    return about(len(listed.own) + sum(map(len, added))) + sum(output)


def system_prefix(model: str, effort: str | None, text: str) -> str:
    """Give the same text for sessions that begin alike."""
    return digest(model.encode(), str(effort).encode(), text.encode())


def _session(end: Ending, listed: Listing, tools: Toolbox, answers: Sequence[Answer]) -> Session:
    replies = [answer.reply for answer in answers if answer.reply is not None]
    wanted = any(listed.target in called(reply.content, listed) for reply in replies)
    is_loaded = listed.target in tools.loaded
    return Session(
        outcome=end.outcome,
        kind=end.kind,
        activated=None if end.outcome == NOT_MEASURED else wanted,
        answer=end.text if end.outcome == COMPLETED else "",
        tokens=added_tokens(listed, tuple(tools.added), replies) if is_loaded else None,
        turns=len(replies),
        loaded=tuple(tools.loaded),
        provoked=end.outcome == NOT_MEASURED and provoked(answers[-1]),
        reason="" if end.outcome == COMPLETED else end.text,
        answers=tuple(answers),
    )


def _request(
    subject: Subject,
    plan: Plan,
    listed: Listing,
    messages: Sequence[Mapping[str, Any]],
    *,
    typical: Mapping[str, Any],
    sample: int,
) -> Request:
    model, effort = plan.model
    system = f"{wording.BASE}\n{listed.text}"
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
        "messages": list(messages),
        "tools": list(TOOLS),
        "tool_choice": {"type": "auto"},
    }
    if effort is not None:
        body["output_config"] = {"effort": effort}
    return Request(
        question=SIMULATION,
        subject=subject.path,
        body=body,
        prompt_version=wording.PROMPT_VERSION,
        sample=sample,
        prefix=system_prefix(model, effort, system),
        typical_output=_CALL_TOKENS if typical["type"] == "tool_use" else _ANSWER_TOKENS,
        typical=(typical,),
    )


def named_file(subject: Subject) -> str | None:
    """Give the first file that a skill's text names and a session can read, absolute; None where there is none.

    Args:
        subject: the skill, and what serves its text and its files.
    """
    library, name = subject.library, subject.name
    served = frozenset(library.files(name))
    named = dict.fromkeys(_NAMED.findall(library.body(name).text or "") if served else ())
    found = (path for path in named if path in served and library.file(name, path).text is not None)
    return next((f"{library.base(name)}/{path}" for path in found), None)


def _typical(listed: Listing, index: int, *, should_trigger: bool, turn: int, file: str | None) -> Mapping[str, Any]:
    """Give the block of a typical reply: load the skill where it fits, now and then read a file of it, then answer."""
    loads = should_trigger is (index % _RARE != _RARE - 1)
    if loads and turn == 0:
        return typical_call(listed)
    if loads and turn == 1 and file is not None and index % _READS == 0:
        return {"type": "tool_use", "id": "toolu_typical_read", "name": READ, "input": {"file_path": file}}
    return typical_text()


def typical_call(listed: Listing) -> Mapping[str, Any]:
    """Give the block of a typical reply that loads the skill."""
    return {"type": "tool_use", "id": "toolu_typical", "name": SKILL, "input": {"skill": listed.target}}


@cache
def typical_text() -> Mapping[str, Any]:
    """Give the block of a typical final answer, of about 600 tokens."""
    sentence = "This sentence stands for a part of an answer, and says about as much as one would. "
    return {"type": "text", "text": (sentence * _ANSWER_CHARACTERS)[:_ANSWER_CHARACTERS]}


def _is_silent(reply: Reply | None) -> bool:
    return reply is not None and not reply.text.strip() and not calls(reply.content)
