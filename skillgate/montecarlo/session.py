"""One simulated session: a model, a request, and skills that it may load.

Either this program runs it, in a loop as a coding agent does: the loop ends with an answer, with a failure of the
model's or with an outage, which says nothing of the skill. Or a coding agent runs it itself: one request, with a body
that is not one of the Messages API, answered with the blocks of the whole transcript, in order.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.asking import provoked, reason_of, text_block
from skillgate.llm.prices import about
from skillgate.model.exchange import Cause, Request, Status
from skillgate.model.layers import COMPLETED, FAILED, NOT_MEASURED
from skillgate.model.skill import digest
from skillgate.montecarlo import tools
from skillgate.montecarlo.library import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.judge.subject import Opinion
    from skillgate.model.exchange import Answer, Reply, Steps
    from skillgate.model.layers import TriggerPrompt
    from skillgate.montecarlo.subject import Plan, Subject
    from skillgate.montecarlo.tools import Listing, Toolbox

    Block = Mapping[str, Any]

SIMULATION = "simulation"
RUNNER = "agent-sdk"
MAX_TOKENS = 16_000  # of one reply, thinking included: as much as the SDK takes in one piece, and room to spare
REFUSAL, TRUNCATED, CONTEXT, TURNS = "refusal", "truncated", "context exceeded", "max turns"
EMPTY, UNUSABLE = "empty answer", "unusable answer"
CALL_TOKENS, ANSWER_TOKENS = 150, 900  # of a reply as a rule, thinking included
_ANSWER_CHARACTERS = 1_560  # 600 tokens of the answer itself
_RARE = 10  # of so many sessions one goes the other way, in an estimate
_READS = 2  # likewise, of so many sessions that load the skill the first reads a file that its text names
_NAMED = re.compile(rf"(?<![\w-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w")

BASE = """\
You are an assistant that helps people with their work: with code, documents, data and whatever else they bring. You \
work on your own until the task is done, with the tools you are given and no others; nobody answers questions in \
between. Where something is not said, choose what is likely and say what you assumed. What you cannot do here, such as \
running a program or writing a file, you work out in your answer: whoever asked reads only your last message, so the \
whole result belongs in it. Be right and complete, and no longer than the task calls for.
"""


class Session(NamedTuple):
    """How one session went.

    Attributes:
        outcome: ``completed``, ``failed`` or ``not measured``, as of a
            :class:`~skillgate.model.layers.Simulation`.
        tokens: what the skill added: its line of the listing, what loading it and reading its files brought, each text
            once, and all output. Texts are counted as characters ÷ 2.6, output as the replies say. None where a reply
            does not, or where the skill was not loaded.
    """

    outcome: str
    kind: str | None  # of a failure, or of what prevented the measurement; None where it completed
    activated: bool | None  # whether the model called for the skill at any time; None: not measured
    answer: str  # the text of the last message; "" unless the session completed
    tokens: int | None
    turns: int  # requests that were answered
    loaded: tuple[str, ...]  # the listed names of the skills that were loaded, each once
    provoked: bool  # whether the session's texts can be why it was not measured
    reason: str  # for people, why there is no answer
    answers: tuple[Answer, ...]


class Ending(NamedTuple):
    """How a session ends: its outcome, the kind of it, and the last text or the reason."""

    outcome: str
    kind: str | None = None
    text: str = ""

    @property
    def answer(self) -> str:
        """The last text, ``""`` unless the session completed."""
        return self.text if self.outcome == COMPLETED else ""

    @property
    def reason(self) -> str:
        """Why there is no answer, ``""`` where there is one."""
        return "" if self.outcome == COMPLETED else self.text


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

    ``order`` is the number of the order of the listing, from 0. ``sample`` distinguishes sessions with the same prompt
    and order. ``index``, of the session in its run, and ``file``, as of :func:`named_file`, decide nothing but what an
    estimate takes for its answer.
    """
    listed = tools.listing(subject, plan.seed, order)
    toolbox = tools.Toolbox(listed, subject.library)
    system = f"{BASE}\n{listed.text}"

    def request(messages: Sequence[Block]) -> Request:
        typical = _typical(listed, index, should_trigger=case.should_trigger, turn=len(messages) // 2, file=file)
        return Request(
            question=SIMULATION,
            subject=subject.path,
            body=session_body(plan.model, text_block(system, cached=True), messages, tools.TOOLS),
            prompt_version=tools.PROMPT_VERSION,
            sample=sample,
            prefix=system_prefix(plan.model, system),
            typical_output=CALL_TOKENS if typical["type"] == "tool_use" else ANSWER_TOKENS,
            typical=(typical,),
        )

    end, answers = yield from converse(request, [text_block(tools.encodable(case.prompt))], toolbox, plan.max_turns)
    replies = [answer.reply for answer in answers if answer.reply is not None]
    is_loaded = listed.target in toolbox.loaded
    return _session(
        end,
        answers,
        activated=any(listed.target in tools.called(reply.content, listed) for reply in replies),
        tokens=added_tokens(listed, tuple(toolbox.added), replies) if is_loaded else None,
        turns=len(replies),
        loaded=tuple(toolbox.loaded),
    )


def converse(
    request: Callable[[Sequence[Block]], Request], content: Sequence[Block], toolbox: Toolbox | None, most_turns: int
) -> Steps[tuple[Ending, list[Answer]]]:
    """Send a first message and answer the calls of each reply, up to the end; without tools no call is answered."""
    messages: list[Block] = [{"role": "user", "content": list(content)}]
    answers: list[Answer] = []
    while len(answers) < most_turns:
        answer = yield request(messages)
        answers.append(answer)
        end = ending(answer)
        if end is not None:
            return end, answers
        if answer.reply is not None and toolbox is not None:
            said = answer.reply.content
            results = {"role": "user", "content": toolbox.answer(said)}
            messages = [*messages, {"role": "assistant", "content": list(said)}, results]
    return Ending(FAILED, TURNS, f"no answer within {most_turns} turns"), answers


def session_body(
    opinion: Opinion, system: Block, messages: Sequence[Block], offered: Sequence[Block]
) -> dict[str, Any]:
    """Return the body of a request for free text or calls of tools."""
    made: dict[str, Any] = {
        "model": opinion.model,
        "max_tokens": MAX_TOKENS,
        "system": [system],
        "messages": list(messages),
    }
    if offered:
        made |= {"tools": list(offered), "tool_choice": {"type": "auto"}}
    return made if opinion.effort is None else {**made, "output_config": {"effort": opinion.effort}}


def ending(answer: Answer) -> Ending | None:
    """Return how a session ends with an answer, None if it continues since the model calls tools."""
    failed = failure(answer)
    if failed is not None:
        return failed
    reply = answer.reply
    if reply is None:  # an answer that was made up for an estimate
        return Ending(COMPLETED, text=str(answer.value))
    open_calls = tools.calls(reply.content)
    if open_calls and all(isinstance(call.get("id"), str) for call in open_calls):
        return None
    if open_calls or reply.stop_reason == "tool_use":
        return Ending(FAILED, UNUSABLE, "the reply calls a tool in a form that cannot be answered")
    text = reply.text
    return Ending(COMPLETED, text=text) if text.strip() else Ending(FAILED, EMPTY, "the reply holds no text")


def failure(answer: Answer) -> Ending | None:
    """Return how a session ends where a reply is no answer, or did not come; None where it is one."""
    reason, reply = reason_of(answer), answer.reply
    match answer.status:
        case Status.OK:
            return None
        case Status.REFUSED:
            return Ending(FAILED, REFUSAL, reason)
        case Status.TRUNCATED:
            return Ending(FAILED, TRUNCATED, reason)
        case Status.INVALID:
            is_silent = reply is not None and not reply.text.strip() and not tools.calls(reply.content)
            return Ending(FAILED, EMPTY if is_silent else UNUSABLE, reason)
        case Status.ERROR:
            if answer.cause is Cause.TOO_LONG:
                return Ending(FAILED, CONTEXT, reason)
            return Ending(NOT_MEASURED, (answer.cause or Cause.UNKNOWN).value, reason)


def added_tokens(listed: Listing, added: Sequence[str], replies: Sequence[Reply]) -> int | None:
    """Count what the skill added to a session: its line of the listing, the texts that it brought in, and all output.

    None where a reply does not say how many tokens it took.
    """
    output = [reply.tokens.output for reply in replies if reply.tokens is not None]
    if len(output) < len(replies) or not replies:
        return None
    return about(len(listed.own) + sum(map(len, added))) + sum(output)


def system_prefix(opinion: Opinion, text: str) -> str:
    """Return the same text for sessions that begin alike."""
    return digest(opinion.model.encode(), str(opinion.effort).encode(), text.encode())


def _session(
    end: Ending, answers: Sequence[Answer], *, activated: bool, tokens: int | None, turns: int, loaded: tuple[str, ...]
) -> Session:
    is_measured = end.outcome != NOT_MEASURED
    return Session(
        outcome=end.outcome,
        kind=end.kind,
        activated=activated if is_measured else None,
        answer=end.answer,
        tokens=tokens,
        turns=turns,
        loaded=loaded,
        provoked=not is_measured and provoked(answers[-1]),
        reason=end.reason,
        answers=tuple(answers),
    )


def named_file(subject: Subject) -> str | None:
    """Return the first file that a skill's text names and a session can read, absolute; None where there is none."""
    library, name = subject.library, subject.name
    served = frozenset(library.files(name))
    named = dict.fromkeys(_NAMED.findall(library.body(name).text or "") if served else ())
    found = (path for path in named if path in served and library.file(name, path).text is not None)
    return next((f"{library.base(name)}/{path}" for path in found), None)


def _typical(listed: Listing, index: int, *, should_trigger: bool, turn: int, file: str | None) -> Block:
    """Return a block of a typical reply: load the skill where it fits, now and then read a file of it, then answer."""
    loads = should_trigger is (index % _RARE != _RARE - 1)
    if loads and turn == 0:
        return {"type": "tool_use", "id": "toolu_typical", "name": tools.SKILL, "input": {"skill": listed.target}}
    if loads and turn == 1 and file is not None and index % _READS == 0:
        return {"type": "tool_use", "id": "toolu_typical_read", "name": tools.READ, "input": {"file_path": file}}
    return typical_text()


@cache
def typical_text() -> Block:
    """Return the block of a typical final answer, of about 600 tokens."""
    sentence = "This sentence stands for a part of an answer, and says about as much as one would. "
    return text_block((sentence * _ANSWER_CHARACTERS)[:_ANSWER_CHARACTERS])


def transcript(subject: Subject, plan: Plan, case: TriggerPrompt, order: int, *, sample: int = 0) -> Steps[Session]:
    """Have a coding agent run one session, and read its transcript; the arguments are those of :func:`session`."""
    listed = tools.listing(subject, plan.seed, order)
    wanted: dict[str, Any] = {
        "runner": RUNNER,
        "model": plan.model.model,
        "prompt": tools.encodable(case.prompt),
        "system": BASE,
        "max_turns": plan.max_turns,
        "skills": [_laid_out(subject, listed, name) for name in listed.names],
        "target": listed.target,
    }
    if plan.model.effort is not None:
        wanted["output_config"] = {"effort": plan.model.effort}
    answer = yield Request(
        question=SIMULATION,
        subject=subject.path,
        body=wanted,
        prompt_version=tools.PROMPT_VERSION,
        sample=sample,
        typical_output=CALL_TOKENS + ANSWER_TOKENS,
        typical=(typical_text(),),
    )
    replies = () if answer.reply is None else (answer.reply,)
    content: Sequence[Block] = answer.reply.content if answer.reply is not None else ()
    results = {block.get("tool_use_id"): block for block in content if block.get("type") == "tool_result"}
    no_result = {"is_error": True}
    done = [call for call in tools.calls(content) if not results.get(call.get("id"), no_result).get("is_error")]
    loaded = tuple(dict.fromkeys(tools.called(done, listed)))
    tokens = None
    if listed.target in loaded:  # it brought in what loading it gives, and what was read below a directory of its name
        reads = [call for call in done if call.get("name") == tools.READ and _lies_in(call, listed.target)]
        text = tools.body(subject.library, subject.name)[0] or ""
        read = (_text(results[call.get("id")]) for call in reads)
        added = dict.fromkeys((tools.LAUNCHING.format(name=listed.target), text, *read))
        tokens = added_tokens(listed, tuple(added), replies)
    # Results come between the model's turns.
    turns = sum(not is_result for is_result, _ in groupby(block.get("type") == "tool_result" for block in content))
    activated = listed.target in tools.called(content, listed)
    return _session(
        transcript_ending(answer), (answer,), activated=activated, tokens=tokens, turns=turns, loaded=loaded
    )


def transcript_ending(answer: Answer) -> Ending:
    """Return how a transcript ends: with the text after its last call, or without one."""
    reply = answer.reply
    if reply is not None and reply.stop_reason == "max_turns":
        return Ending(FAILED, TURNS, "no answer within the turns it was given")
    failed = failure(answer)
    if failed is not None:
        return failed
    if reply is None:  # an answer that was made up for an estimate
        return Ending(COMPLETED, text=str(answer.value))
    done = [place for place, block in enumerate(reply.content) if block.get("type") in ("tool_use", "tool_result")]
    rest = reply.content[max(done, default=-1) + 1 :]
    text = "".join(str(block.get("text", "")) for block in rest if block.get("type") == "text")
    if text.strip():
        return Ending(COMPLETED, text=text)
    if reply.content and reply.content[-1].get("type") == "tool_use":
        return Ending(FAILED, UNUSABLE, "the transcript ends with a call that has no result")
    return Ending(FAILED, EMPTY, "the transcript ends without a text")


def _laid_out(subject: Subject, listed: Listing, name: str) -> dict[str, Any]:
    library, known = subject.library, listed.names[name]
    served = {path: library.file(known, path).text for path in library.files(known)}
    return {
        "name": name,
        "description": listed.descriptions[name],
        "body": library.body(known).text or "",
        "files": {path: text for path, text in served.items() if text is not None},
    }


def _lies_in(call: Block, name: str) -> bool:
    path = tools.arguments(call).get("file_path")
    return isinstance(path, str) and f"/{name}/" in path.replace("\\", "/")


def _text(result: Block) -> str:
    """Return the text of a result, which is a text itself or a list of blocks."""
    content = result.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else ()
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
