"""Transcripts that are broken, hostile, huge, or full of what is nobody's business."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.formats import Options, claude_code
from skillgate.invocations.formats._input import REPLACED, REPLACED_WARNING
from skillgate.invocations.formats._ledger import MOST_LINES, MOST_PATHS
from skillgate.invocations.formats._session import MOST_WAITING
from tests.invocations.transcripts import BEGAN, NOW, Transcript, beside, example, use

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = {"type", "role", "name", "skill", "model", "id", "uuid", "parentUuid", "sessionId", "agentId", "timestamp"}
_IDS = {"tool_use_id", "sourceToolUseID", "sourceToolAssistantUUID", "requestSessionId"}
_FORMS = {"stop_reason", "subtype", "kind", "commandMode", "promptSource", "entrypoint", "status"}


@pytest.mark.parametrize("keep_text", [False, True])
def test_no_text_of_a_session_leaves_it_but_the_names_of_skills(keep_text: bool) -> None:
    agent = (
        Transcript(agent="a1", tag="s").user("count it").skill("plot-sheets", "toolu_inner").write("s.py", "x\n").say()
    )
    session = example().agent_call().agent_done("a1").say().compact().local("model").api_error().interrupt()
    session.entry("attachment", attachment={"type": "edited_text_file", "filename": "a.py", "snippet": "x"})
    secrets = itertools.count()
    told = [_with_secrets(one, secrets) for one in (session, agent)]
    found = told[0].reads(beside(told[1]), keep_text=keep_text)
    assert len([one for one in found if one.invocation is not None]) == 3
    assert next(secrets) > 200
    assert b"SECRET-200-" in told[0].data + told[1].data
    assert "SECRET" not in repr(found)


def _with_secrets(given: Transcript, secrets: Iterator[int]) -> Transcript:
    """Put a secret into each text but those that are names, ids and words of the format itself."""

    def put(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: put(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [put(one, key) for one in value]
        if isinstance(value, str) and key not in _NAMES | _IDS | _FORMS:
            return (
                f"{value}SECRET-{next(secrets)}-" if value[:1] in ("<", "[", "B") else f"SECRET-{next(secrets)}-{value}"
            )
        return value

    told = Transcript(agent=given.agent)
    for line in given.lines:
        told.raw(put(json.loads(line), ""))
    return told


@pytest.mark.parametrize(
    "line",
    [
        b"{broken",
        b"[1, 2]",
        b'"text"',
        b"\xff\xfe\xfd",
        b"[" * 100_000,
        b'{"type":"user","message":' + b"9" * 10_000 + b"}",
        b'{"type":"assistant","message":{"content":[{"type":"te',
    ],
)
def test_a_line_that_cannot_be_read_is_told_and_the_rest_is_read(line: bytes) -> None:
    session = Transcript().prompt().skill().raw(line).say()
    run, problem = session.reads()
    assert run.invocation is not None
    assert (run.line, run.invocation.tokens_used) == (2, 130)
    assert (problem.line, problem.invocation) == (5, None)
    assert problem.problem is not None
    assert problem.problem in ("invalid or truncated JSON", "not a JSON object")


def test_a_file_that_ends_within_a_line_gives_what_came_before() -> None:
    session = Transcript().prompt().skill().run().say()
    session.lines[-1] = session.lines[-1][:100]
    run, problem = session.reads()
    assert run.invocation is not None
    assert (run.invocation.tokens_used, run.invocation.ending, problem.line) == (130, None, 7)


def test_lines_of_no_known_kind_and_empty_ones_are_passed_over() -> None:
    session = Transcript().prompt().skill()
    for line in (b"", b"  ", b"{}", b'{"type":7}', b'{"type":"user"}', b'{"type":"assistant","message":"x"}'):
        session.raw(line)
    for kind in ("summary", "system", "queue-operation", "mode", "cost-state", "of-tomorrow"):
        session.raw({"type": kind, "message": {"role": "user", "content": "x"}})
    (found,) = session.say().runs()
    assert (found.tokens_used, found.follow_up_count) == (130, None)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "names no skill"),
        ("   ", "names no skill"),
        (None, "names no skill"),
        (7, "names no skill"),
        (["merge-sheets"], "names no skill"),
    ],
)
def test_a_name_that_can_be_none_is_rejected_with_the_line_of_its_call(name: object, why: str) -> None:
    session = Transcript().prompt().skill("before", "t1").reply(use("Skill", "t2", skill=name)).run(call="t3").say()
    first, second = session.reads()
    assert first.invocation is not None
    assert (first.invocation.skill_name, first.invocation.tool_call_count) == ("before", 0)
    assert (second.line, second.invocation) == (5, None)
    assert why in str(second.problem)


@pytest.mark.parametrize("name", ["merge-sheets", "büro:zusammenführen", "acme:team:Merge_2.0"])
def test_a_name_is_cached_as_it_is_given(name: str) -> None:
    (found,) = Transcript().prompt().skill(name).say().runs()
    assert found.skill_name == name


HIDING = ["a" * 201, *(f"merge{hidden}sheets" for hidden in ("\x1b[2J", "\n", "\u202e", "\u2028", "\ud800"))]


@pytest.mark.parametrize("name", [*HIDING, "merge my sheets", "<script>alert(1)</script>", "../../x", "=1+1"])
def test_a_name_that_does_not_look_like_one_is_replaced(name: str) -> None:
    session = Transcript().prompt().skill(name).say()
    (found,) = session.reads()
    assert found.invocation is not None
    assert (found.invocation.skill_name, found.warnings) == (REPLACED, (REPLACED_WARNING,))
    (kept,) = session.runs(keep_text=True)
    assert kept.skill_name == (REPLACED if name in HIDING else name)


@pytest.mark.parametrize("call", ["", "a b", "a\x00b", "a" * 500, None, 7, {}])
def test_a_call_without_an_id_is_rejected(call: Any) -> None:
    (told,) = Transcript().prompt().reply(use("Skill", call, skill="merge-sheets")).say().reads()
    assert (told.invocation, told.problem) == (None, "the call has no valid id")


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": "100", "output_tokens": 20},
        {"input_tokens": -1, "output_tokens": 20},
        {"input_tokens": 1.5, "output_tokens": 20},
        {"input_tokens": True, "output_tokens": 20},
        {"input_tokens": 10**30, "output_tokens": 20},
        {"input_tokens": 100, "output_tokens": {"a": 1}},
        [],
    ],
)
def test_tokens_that_cannot_be_true_leave_those_of_the_run_unknown(usage: object) -> None:
    session = Transcript().prompt().skill().run().reply({"type": "text", "text": "x"})
    record = json.loads(session.lines.pop())
    record["message"]["usage"] = usage
    (told,) = session.raw(record).reads()
    assert told.invocation is not None
    assert (told.invocation.tokens_used, told.invocation.tokens_output, told.invocation.tool_call_count) == (
        None,
        None,
        1,
    )
    assert "has no token counts" in told.warnings[0]


def test_tokens_of_a_server_that_counts_none_are_unknown() -> None:
    none = {"input_tokens": 0, "output_tokens": 0}
    (found,) = Transcript().prompt().skill().say(usage=none).runs()
    assert (found.tokens_used, found.tool_call_count) == (None, 0)


@pytest.mark.parametrize(
    "time", [None, "", "yesterday", 7, "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9" * 99]
)
def test_a_call_without_a_time_has_the_last_one_before_it(time: object) -> None:
    session = Transcript().prompt().reply(use("Skill", "t1", skill="merge-sheets"), timestamp=time).say()
    (told,) = session.reads()
    assert told.invocation is not None
    assert (told.invocation.timestamp, told.invocation.duration_ms) == (BEGAN + timedelta(seconds=1), 2000.0)
    assert "has no time" in told.warnings[0]


def test_without_any_time_before_it_a_call_is_rejected() -> None:
    session = Transcript().prompt(timestamp=None).reply(use("Skill", "t1", skill="a"), timestamp=None).say()
    (told,) = session.reads()
    assert (told.invocation, told.problem) == (None, "the call has no time")


def test_a_run_of_the_future_is_rejected() -> None:
    session = Transcript().prompt().skill().say()
    (told,) = session.reads(now=BEGAN - timedelta(days=1))
    assert (told.invocation, told.problem) == (None, "time is more than a day in the future")
    assert session.reads(now=BEGAN - timedelta(hours=23))[0].problem is None


def test_a_clock_that_was_set_back_leaves_the_duration_unknown() -> None:
    (found,) = Transcript().prompt().skill().wait(-3600).say().runs()
    assert found.duration_ms is None


def test_a_model_that_is_no_name_is_not_kept() -> None:
    message = {"id": "m", "role": "assistant", "model": "a\x1b[2J", "content": [use("Skill", "t1", skill="a")]}
    (found,) = Transcript().prompt().entry("assistant", message=message).runs()
    assert found.model is None


def test_more_runs_than_can_be_followed_are_told_in_their_order() -> None:
    session = Transcript().prompt()
    for number in range(MOST_WAITING + 2):
        session.reply(use("Skill", f"t{number}", skill=f"skill-{number}"))
    found = session.say().prompt().reads()
    assert [one.line for one in found] == list(range(2, MOST_WAITING + 4))
    first, last = found[0].invocation, found[-1].invocation
    assert first is not None
    assert last is not None
    assert (first.follow_up_count, last.follow_up_count) == (None, 0)
    assert "too many runs" in found[0].warnings[0]
    assert found[-1].warnings == ()


def test_a_transcript_of_any_length_is_read_in_bounded_memory() -> None:
    given = [0]

    def lines() -> Iterator[tuple[int, bytes]]:
        session = Transcript().prompt()
        for number in range(1_000):
            if number % 100 == 0:
                session.skill(call=f"k{number}")
            session.write(f"f{number % 50}.py", "".join(f"{line}{'x' * 200}\n" for line in range(200)), f"t{number}")
            yield from enumerate(session.prompt().lines, number * 10)
            given[0] += sum(map(len, session.lines))
            session.lines.clear()

    tracemalloc.start()
    try:
        found = list(claude_code.read(lines(), Options(now=NOW)))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 10
    assert given[0] > 80_000_000
    assert most < given[0] / 2
    first = found[0].invocation
    assert first is not None
    assert (first.output_size, first.user_edit_ratio) == (200.0, 0.0)


def test_a_run_that_writes_more_lines_than_can_be_followed_has_no_edit_ratio() -> None:
    text = "".join(f"{line}\n" for line in range(MOST_LINES))
    session = Transcript().prompt().skill().write("a.py", text).write("b.py", "x\n", "t2").say()
    (found,) = session.prompt().edit("a.py", "1", "2", "t3").runs()
    assert (found.output_size, found.user_edit_ratio) == (MOST_LINES + 1.0, None)


def test_a_run_that_writes_more_files_than_can_be_followed_has_no_edit_ratio() -> None:
    told = Transcript().prompt().skill("plot-sheets", "toolu_1")
    for number in range(MOST_PATHS + 1):
        told.write(f"{number}.py", "x\n")
    (found,) = told.say().prompt().reads()
    assert found.invocation
    assert found.invocation.user_edit_ratio is None
