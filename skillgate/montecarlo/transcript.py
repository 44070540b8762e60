"""A session that a coding agent runs itself: one request, answered with the blocks of its whole transcript.

The body is not one of the Messages API: whoever runs the agent lays the skills out, gives it the prompt and hands back
what was said and done, in order: ``text`` and ``tool_use`` blocks of the model, and a ``tool_result`` for each call.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from skillgate.judge.sheet import provoked
from skillgate.model.exchange import Request
from skillgate.model.simulating import COMPLETED, FAILED, NOT_MEASURED
from skillgate.montecarlo import wording
from skillgate.montecarlo.session import (
    EMPTY,
    SIMULATION,
    TURNS,
    UNUSABLE,
    Ending,
    Session,
    added_tokens,
    failure,
    typical_text,
)
from skillgate.montecarlo.tools import READ, body, called, calls, encodable, listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.exchange import Answer, Steps
    from skillgate.model.judging import TriggerPrompt
    from skillgate.montecarlo.subject import Plan, Subject
    from skillgate.montecarlo.tools import Listing

    Block = Mapping[str, Any]

RUNNER = "agent-sdk"
_OUT_OF_TURNS = "max_turns"
_TYPICAL_OUTPUT = 1_050  # tokens of a call and an answer, thinking included


def transcript(subject: Subject, plan: Plan, case: TriggerPrompt, order: int, *, sample: int = 0) -> Steps[Session]:
    """Have one session run, and read its transcript; the arguments are those of a session of this program's own."""
    listed = listing(subject, plan.seed, order)
    answer = yield _request(subject, plan, listed, case.prompt, sample=sample)
    return _read(subject, listed, answer)


def ending(answer: Answer) -> Ending:
    """Say how a transcript ends: with the text after its last call, or without one."""
    reply = answer.reply
    if reply is not None and reply.stop_reason == _OUT_OF_TURNS:
        return Ending(FAILED, TURNS, "no answer within the turns it was given")
    failed = failure(answer)
    if failed is not None:
        return failed
    if reply is None:  # an answer that was made up for an estimate
        return Ending(COMPLETED, text=str(answer.value))
    last = max((place for place, block in enumerate(reply.content) if _is_done(block)), default=-1)
    rest = reply.content[last + 1 :]
    text = "".join(str(block.get("text", "")) for block in rest if block.get("type") == "text")
    if text.strip():
        return Ending(COMPLETED, text=text)
    if reply.content and reply.content[-1].get("type") == "tool_use":
        return Ending(FAILED, UNUSABLE, "the transcript ends with a call that has no result")
    return Ending(FAILED, EMPTY, "the transcript ends without a text")


def _read(subject: Subject, listed: Listing, answer: Answer) -> Session:
    end = ending(answer)
    replies = () if answer.reply is None else (answer.reply,)
    content: Sequence[Block] = answer.reply.content if answer.reply is not None else ()
    results = {block.get("tool_use_id"): block for block in content if block.get("type") == "tool_result"}
    done = [call for call in calls(content) if _succeeded(results.get(call.get("id")))]
    loaded = tuple(dict.fromkeys(called(done, listed)))
    tokens = None
    if listed.target in loaded:
        tokens = added_tokens(listed, _added(subject, listed, done, results), replies)
    return Session(
        outcome=end.outcome,
        kind=end.kind,
        activated=None if end.outcome == NOT_MEASURED else listed.target in called(content, listed),
        answer=end.text if end.outcome == COMPLETED else "",
        tokens=tokens,
        turns=_turns(content),
        loaded=loaded,
        provoked=end.outcome == NOT_MEASURED and provoked(answer),
        reason="" if end.outcome == COMPLETED else end.text,
        answers=(answer,),
    )


def _added(subject: Subject, listed: Listing, done: Sequence[Block], results: Mapping[Any, Block]) -> tuple[str, ...]:
    """Give what the skill brought in: what loading it gives, and what was read below a directory of its name."""
    text, _ = body(subject.library, subject.name)
    reads = [call for call in done if call.get("name") == READ and _lies_in(call, listed.target)]
    texts = (
        wording.LAUNCHING.format(name=listed.target),
        text or "",
        *(_text(results[call.get("id")]) for call in reads),
    )
    return tuple(dict.fromkeys(texts))


def _request(subject: Subject, plan: Plan, listed: Listing, prompt: str, *, sample: int) -> Request:
    model, effort = plan.model
    wanted: dict[str, Any] = {
        "runner": RUNNER,
        "model": model,
        "prompt": encodable(prompt),
        "system": wording.BASE,
        "max_turns": plan.max_turns,
        "skills": [_laid_out(subject, listed, name) for name in listed.names],
        "target": listed.target,
    }
    if effort is not None:
        wanted["output_config"] = {"effort": effort}
    return Request(
        question=SIMULATION,
        subject=subject.path,
        body=wanted,
        prompt_version=wording.PROMPT_VERSION,
        sample=sample,
        typical_output=_TYPICAL_OUTPUT,
        typical=(typical_text(),),
    )


def _laid_out(subject: Subject, listed: Listing, name: str) -> dict[str, Any]:
    known = listed.names[name]
    served = {path: subject.library.file(known, path).text for path in subject.library.files(known)}
    return {
        "name": name,
        "description": listed.descriptions[name],
        "body": subject.library.body(known).text or "",
        "files": {path: text for path, text in served.items() if text is not None},
    }


def _succeeded(result: Block | None) -> bool:
    return result is not None and not result.get("is_error")


def _is_done(block: Block) -> bool:
    return block.get("type") in ("tool_use", "tool_result")


def _lies_in(call: Block, name: str) -> bool:
    given = call.get("input")
    path = given.get("file_path") if isinstance(given, dict) else None
    return isinstance(path, str) and f"/{name}/" in path.replace("\\", "/")


def _text(result: Block) -> str:
    """Give the text of a result, which is a text itself or a list of blocks."""
    content = result.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list | tuple) else ()
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _turns(content: Sequence[Block]) -> int:
    """Count the model's turns: results stand between them."""
    kinds = [block.get("type") == "tool_result" for block in content]
    return sum(not is_result for is_result, _ in groupby(kinds))
