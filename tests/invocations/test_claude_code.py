"""Transcripts of Claude Code: figures that were counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.formats import claude_code
from skillgate.model.invocation import Caller, Ending, Evidence, Invocation
from tests.invocations.transcripts import BEGAN, MODEL, SESSION, Transcript, example, tokens, use

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).parent / "sessions" / "session.jsonl"
FILE = "/home/user/project/join.py"


def only(transcript: Transcript, **changes: Any) -> Invocation:
    (found,) = transcript.runs(**changes)
    return found


def begun(**given: Any) -> Transcript:
    """Give a session of which three entries after the prompt load a skill."""
    return Transcript(**given).prompt().skill()


def test_a_plain_run_is_counted_from_the_call_to_the_last_reply() -> None:
    found = only(begun().run().run("Grep", "toolu_2").run(call="toolu_3").say())
    assert found._replace(extra=None) == Invocation(
        invocation_id="e0002-0000-4000-8000-000000000000:toolu_skill",
        skill_name="merge-sheets",
        timestamp=BEGAN.replace(second=2),
        session_id=SESSION,
        model=MODEL,
        source="claude-code",
        ending=Ending.COMPLETE,
        error_count=0,
        duration_ms=9000.0,
        tokens_input=440,
        tokens_output=80,
        tokens_used=520,
        tool_call_kinds=2,
        tool_call_count=3,
        tool_error_count=0,
        outcome_evidence=Evidence.REPORTED_SUCCESS,
        shared=False,
        called_by=Caller.MODEL,
        cost_usd=0.0021,
        cost_estimated=True,
    )
    assert found.extra == {"tokens_cache_read": 4000, "transcript_seen_until": int(BEGAN.timestamp()) + 11}


def test_the_example_beside_this_is_what_it_says() -> None:
    assert EXAMPLE.read_bytes() == example().data
    first, second = example().runs()
    assert (first.skill_name, first.ending, first.error_count) == ("merge-sheets", Ending.COMPLETE, 0)
    assert first.tool_error_count == 1
    assert (first.output_size, first.files_changed, first.user_edit_ratio) == (5.0, 1.0, 0.2)
    assert (first.skill_category, first.output_type, first.follow_up_count) == ("code_generation", "code", 1)
    assert (second.skill_name, second.ending, second.output_size) == ("plot-sheets", None, None)
    assert [one.line for one in example().reads()] == [3, 18]


def test_a_skill_that_calls_another_keeps_its_own_figures() -> None:
    session = begun().run().skill("plot-sheets", "toolu_next").run(call="toolu_2").say()
    first, second = session.runs()
    assert (first.tool_call_count, first.tokens_used, first.duration_ms) == (2, 260, 5000.0)
    assert (first.shared, first.tool_calls_most, first.tokens_most, first.duration_most_ms) == (True, 3, 520, 10_000.0)
    assert (second.tool_call_count, second.tokens_used, second.duration_ms) == (1, 260, 5000.0)
    assert (first.ending, second.ending) == (Ending.COMPLETE, Ending.COMPLETE)
    assert (first.follow_up_count, second.follow_up_count) == (None, None)


def test_calls_side_by_side_are_counted_once_each() -> None:
    session = begun().reply(use("Bash", "toolu_1"), use("Bash", "toolu_2"), use("Read", "toolu_3"))
    found = only(session.result("toolu_2").result("toolu_1", error=True).result("toolu_3").say())
    assert (found.tool_call_count, found.tool_call_kinds, found.tool_error_count) == (3, 2, 1)


def test_calls_after_the_skill_in_the_same_reply_are_its_own_and_tokens_are_not() -> None:
    session = Transcript().prompt().reply(use("Read", "toolu_0"), message="msg_a")
    session.reply(use("Skill", "toolu_1", skill="merge-sheets"), message="msg_a")
    session.reply(use("Bash", "toolu_2"), message="msg_a")
    found = only(session.result("toolu_0", error=True).loaded("merge-sheets", "toolu_1").result("toolu_2").say())
    assert (found.tool_call_count, found.tokens_used, found.error_count) == (1, 130, 0)


def test_the_reply_that_calls_the_skill_is_none_of_the_run() -> None:
    session = Transcript().prompt().reply(use("Skill", "toolu_1", skill="merge-sheets"), message="msg_a")
    found = only(session.reply(use("Bash", "toolu_2"), message="msg_a").result("toolu_2"))
    assert (found.tokens_used, found.tool_call_count, found.duration_ms) == (None, None, None)


def test_an_error_that_comes_to_light_after_the_next_skill_is_the_first_ones() -> None:
    session = begun().reply(use("Bash", "toolu_1"), use("Skill", "toolu_2", skill="plot-sheets"))
    first, second = session.result("toolu_1", error=True).loaded("plot-sheets", "toolu_2").say().runs()
    assert (first.tool_error_count, second.tool_error_count) == (1, 0)
    assert (second.ending, second.error_count) == (Ending.COMPLETE, 0)


def test_a_reply_spread_over_entries_counts_once_and_as_its_fullest_part_tells() -> None:
    session = begun()
    session.reply({"type": "thinking", "thinking": "hm"}, message="msg_a", stop=None, usage=tokens(output=1))
    session.reply(use("Bash", "toolu_1"), message="msg_a", usage=tokens(output=300))
    session.reply(use("Bash", "toolu_1"), message="msg_a", usage=tokens(output=300))
    session.result("toolu_1").say()
    found = only(session)
    assert (found.tokens_input, found.tokens_output, found.tool_call_count) == (220, 320, 1)


@pytest.mark.parametrize(
    ("rest", "ending", "errors", "of_tools"),
    [
        (lambda one: one.run(error=True).say(), Ending.COMPLETE, 0, 1),
        (lambda one: one.run(error=True).run(call="t2", error=True).say(), Ending.COMPLETE, 0, 2),
        (lambda one: one.say(stop=None), Ending.COMPLETE, 0, 0),
        (lambda one: one.api_error(), Ending.HARD_FAILURE, 1, 0),
        (lambda one: one.api_error().say(), Ending.COMPLETE, 0, 0),
        (lambda one: one.reply(use("Bash")).api_error().prompt().say(), Ending.HARD_FAILURE, 1, 0),
        (lambda one: one.run(error=True).interrupt(), None, None, 1),
        (lambda one: one.reply(use("Bash")).interrupt(in_call=True).prompt().say(), None, None, 0),
        (lambda one: one.say().interrupt(), None, None, 0),
        (lambda one: one.run(), None, None, 0),
        (lambda one: one.reply({"type": "text", "text": "x"}, use("Bash"), stop=None), None, None, 0),
        (lambda one: one.say(stop="tool_use").run(error=True).skill("b", "t3").say(), None, None, 0),
        (lambda one: one.reply(use("Bash")), None, None, 0),
        (lambda one: one.run().prompt("are you there").say(), None, None, 0),
        (lambda one: one.say(stop="max_tokens"), None, None, 0),
        (lambda one: one.say(stop="refusal"), None, None, 0),
        (lambda one: one, None, None, None),
        (lambda one: one.run(error=True).skill("plot-sheets", "t3").say(), Ending.COMPLETE, 0, 1),
        (lambda one: one.run(error=True).say(stop="tool_use").skill("b", "t3").say(), Ending.COMPLETE, 0, 1),
    ],
)
def test_an_ending_is_told_only_where_it_was_seen(
    rest: Callable[[Transcript], Transcript], ending: Ending | None, errors: int | None, of_tools: int | None
) -> None:
    found = rest(begun()).runs()[0]
    assert (found.ending, found.error_count, found.tool_error_count) == (ending, errors, of_tools)
    assert (found.crashed, found.partial_completion, found.workaround_used) == (None, None, None)


def test_a_skill_that_could_not_be_loaded_is_a_hard_failure() -> None:
    session = Transcript().prompt().reply(use("Skill", "toolu_1", skill="no-such"))
    session.result("toolu_1", "Bash command failed for pattern: no-such", error=True)
    found = only(session.run(call="toolu_2").say())
    assert (found.ending, found.error_count, found.outcome_evidence) == (
        Ending.HARD_FAILURE,
        1,
        Evidence.LOAD_FAILED,
    )
    assert (found.tokens_used, found.tool_call_count, found.duration_ms) == (None, None, None)


def test_a_call_that_names_its_skill_the_old_way_is_one() -> None:
    session = Transcript().prompt().reply(use("Skill", "toolu_1", command="office:merge-sheets")).say()
    assert only(session).skill_name == "office:merge-sheets"


def test_two_skills_in_one_reply_leave_the_first_without_figures() -> None:
    both = (use("Skill", "toolu_1", skill="merge-sheets"), use("Skill", "toolu_2", skill="plot-sheets"))
    session = Transcript().prompt().reply(*both).loaded("merge-sheets", "toolu_1").loaded("plot-sheets", "toolu_2")
    first, second = session.say().runs()
    assert (first.skill_name, first.ending, first.tokens_used, first.tool_call_count) == ("merge-sheets", *[None] * 3)
    assert (second.skill_name, second.ending, second.tokens_used) == ("plot-sheets", Ending.COMPLETE, 130)


def test_a_command_of_the_user_that_loads_a_skill_is_a_run() -> None:
    session = Transcript().command("merge-sheets").body("merge-sheets").run().say()
    found = only(session)
    assert found.invocation_id == "e0001-0000-4000-8000-000000000000:command"
    assert (found.skill_name, found.model) == ("merge-sheets", MODEL)
    assert (found.tool_call_count, found.tokens_used, found.duration_ms) == (1, 260, 4000.0)
    assert (found.ending, found.follow_up_count) == (Ending.COMPLETE, None)


def test_a_command_that_loads_none_is_none() -> None:
    session = Transcript().local("model").command("review").user([{"type": "text", "text": "Review."}], isMeta=True)
    assert session.say().runs() == []


@pytest.mark.parametrize(
    ("after", "count"),
    [
        (lambda one: one, None),
        (lambda one: one.prompt().say(), 0),
        (lambda one: one.prompt("no, by name").say().prompt("you forgot one").say(), 2),
        (lambda one: one.prompt("no, by name", origin=None, promptSource=None).say(), 1),
        (lambda one: one.prompt().skill("b", "t2").say().prompt("no").say(), 0),
        (lambda one: one.command("b").body("b").say().prompt("no").say(), 0),
        (lambda one: one.command("review").user([{"type": "text", "text": "Review."}], isMeta=True).say(), 0),
        (lambda one: one.local("model"), None),
        (lambda one: one.compact(), None),
        (lambda one: one.user("told", isVisibleInTranscriptOnly=True), None),
        (lambda one: one.prompt(origin=None, promptSource="system").say(), None),
        (lambda one: one.user("<bash-input>ls</bash-input>").user("<bash-stdout>a</bash-stdout>"), None),
        (lambda one: one.user("<task-notification>done</task-notification>").say(), None),
        (lambda one: one.prompt("done", origin={"kind": "task-notification"}).say(), None),
        (lambda one: one.user("note", isMeta=True).say(), None),
        (lambda one: one.user([{"type": "image", "source": {}}]).say(), 0),
        (lambda one: one.user([{"type": "text", "text": "[Request interrupted by user]"}]), 1),
        (lambda one: one.entry("attachment", attachment={"type": "queued_command", "commandMode": "prompt"}), None),
        (lambda one: one.entry("attachment", attachment={"type": "queued_command", "commandMode": "bash"}), None),
    ],
)
def test_follow_ups_are_the_users_prompts_until_the_next_skill(
    after: Callable[[Transcript], Transcript], count: int | None
) -> None:
    found = after(begun().say()).runs()[0]
    assert (found.follow_up_count, found.follow_up_open) == (count, None)


def test_a_prompt_during_a_run_does_not_end_it() -> None:
    queued = {"type": "queued_command", "prompt": "and d", "commandMode": "prompt", "origin": {"kind": "human"}}
    found = only(begun().run().entry("attachment", attachment=queued).run(call="toolu_2").say())
    assert (found.follow_up_count, found.tool_call_count, found.ending) == (None, 2, Ending.COMPLETE)


def test_where_a_program_asked_no_follow_up_is_not_known_to_be_none() -> None:
    assert only(begun(entrypoint="sdk-cli").say()).follow_up_count is None
    assert only(begun(entrypoint="sdk-py").say().prompt("no, by name").say()).follow_up_count == 1


@pytest.mark.parametrize(
    ("after", "ratio"),
    [
        (lambda one: one, None),
        (lambda one: one.prompt().say(), 0.0),
        (lambda one: one.prompt().edit(FILE, "b", "x", "t2").say(), 0.25),
        (lambda one: one.prompt().edit(FILE, "b\nc", "x", "t2").say(), 0.5),
        (lambda one: one.prompt().edit(FILE, "b", "x", "t2").edit(FILE, "x", "y", "t3").say(), 0.25),
        (lambda one: one.prompt().edit("/other.py", "b", "x", "t2").say(), 0.0),
        (lambda one: one.prompt().edit(FILE, "of somebody else", "x", "t2").say(), 0.0),
        (lambda one: one.prompt().edit(FILE, "a\nb\nc\nd", "x", "t2").say().prompt().say(), 1.0),
        (lambda one: one.prompt().skill("fix", "t2").edit(FILE, "a", "x", "t3").say(), 0.25),
        (lambda one: one.prompt().run("Edit", "t2", file_path=FILE, old_string="b", new_string="x").say(), None),
        (lambda one: one.prompt().run("Edit", "t2", error=True, file_path=FILE, old_string="b", new_string="x"), 0.0),
        (lambda one: one.entry("attachment", attachment={"type": "edited_text_file", "filename": FILE}).prompt(), None),
        (lambda one: one.entry("attachment", attachment={"type": "edited_text_file", "filename": "/o"}).prompt(), 0.0),
    ],
)
def test_the_edit_ratio_is_of_the_lines_that_were_changed_after_the_run(
    after: Callable[[Transcript], Transcript], ratio: float | None
) -> None:
    found = after(begun().write(FILE, "a\nb\nc\nd\n").say()).runs()[0]
    assert (found.output_size, found.user_edit_ratio) == (4.0, ratio)


def test_what_a_run_changes_of_its_own_lines_is_no_edit_after_it() -> None:
    found = only(begun().write(FILE, "a\nb\n").edit(FILE, "b", "x\ny").say().prompt().edit(FILE, "y", "z", "t4").say())
    assert (found.output_size, found.user_edit_ratio) == (4.0, 0.25)


def test_lines_that_a_run_wrote_in_an_unknown_way_leave_the_ratio_unknown() -> None:
    found = only(begun().run("Edit", file_path=FILE, old_string="b", new_string="x").say().prompt().say())
    assert (found.output_size, found.user_edit_ratio) == (1.0, None)


@pytest.mark.parametrize(
    ("tool", "given", "size", "files"),
    [
        ("Write", {"file_path": "a.py", "content": "a\n\nb"}, 3.0, 1.0),
        ("Write", {"file_path": "a.md", "content": "a\nb"}, None, 1.0),
        ("Edit", {"file_path": "a.ts", "old_string": "a\nb", "new_string": "a\nc\nd"}, 2.0, 1.0),
        ("Edit", {"file_path": "a.ts", "old_string": "a", "new_string": ""}, None, 1.0),
        ("MultiEdit", {"file_path": "a.go", "edits": [{"old_string": "a", "new_string": "b"}] * 2}, 2.0, 1.0),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "a\nb"}, 2.0, 1.0),
        ("Bash", {"command": "echo a > a.py"}, None, None),
        ("Write", {"file_path": 7, "content": "a"}, None, None),
        ("Write", {"file_path": "a.py", "content": ["a"]}, None, 1.0),
    ],
)
def test_the_size_is_in_lines_where_code_was_written(
    tool: str, given: dict[str, Any], size: float | None, files: float | None
) -> None:
    found = only(begun().run(tool, **given).say())
    assert (found.output_size, found.files_changed) == (size, files)
    failed = only(begun().run(tool, error=True, **given).say())
    assert (failed.output_size, failed.files_changed, failed.output_type) == (None, None, None)


def test_the_category_is_code_where_code_was_written_else_as_it_was_asked_for() -> None:
    prose = begun().run("Write", file_path="a.md", content="a\nb").say()
    assert (only(prose).skill_category, only(prose, category="design").skill_category) == (None, "design")
    assert only(prose, category="design").output_size is None
    code = begun().write("a.py", "a\n").say()
    assert only(code, category="design").skill_category == "code_generation"


def test_a_run_goes_on_after_compaction() -> None:
    found = only(begun().run().compact().run(call="toolu_2").say())
    assert (found.tool_call_count, found.tokens_used, found.follow_up_count) == (2, 390, None)
    assert (found.ending, found.duration_ms) == (Ending.COMPLETE, 9000.0)


def test_a_session_that_goes_on_in_another_file_gives_the_same_ids() -> None:
    session = begun().say()
    copied = Transcript("8d1fb03a-8a8c-4cff-b866-17c7b532338b", tag="f")
    for line in session.lines:
        there = line.replace(SESSION.encode(), copied.session.encode())
        copied.raw(
            there.replace(b'"type":"assistant"', b'"type":"assistant","requestSessionId":"%s"' % SESSION.encode())
        )
    copied.prompt().say()
    before, after = only(session), only(copied)
    assert (after.invocation_id, after.session_id) == (before.invocation_id, before.session_id)
    assert (before.follow_up_count, after.follow_up_count) == (None, 0)


def test_entries_that_are_there_twice_count_once() -> None:
    session = begun().run().say()
    for line in tuple(session.lines):
        session.raw(line)
    assert session.runs() == begun().run().say().runs()


def test_a_session_that_grew_gives_the_same_run_with_more_of_what_came_of_it() -> None:
    session = begun().write(FILE, "a\nb\n").say()
    before = only(session)
    after = only(session.prompt().edit(FILE, "a", "x", "toolu_2").say())
    assert after.invocation_id == before.invocation_id
    assert (before.user_edit_ratio, after.user_edit_ratio) == (None, 0.5)
    seen = [dict(one.extra or {})["transcript_seen_until"] for one in (before, after)]
    assert seen == [int(BEGAN.timestamp()) + count for count in (7, 11)]


def test_what_was_gone_back_on_was_done_all_the_same() -> None:
    session = begun().say()
    start = str(session.last)
    session.prompt("no, the other one").run().say()
    session.last = start
    assert only(session.prompt("no, the third one").say()).follow_up_count == 2


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (example().data, True),
        (b'{"type":"summary","summary":"x","leafUuid":"y"}\n', True),
        (b"{broken\n" + example().data, True),
        (example().lines[1][:60] + b'"timestamp":"","sessionId":"x"' + b"x" * 70_000, True),
        (b'{"skill_name":"a","timestamp":"2026-01-01T00:00:00Z","session_id":"s"}\n', False),
        (b'{"resourceSpans":[]}\n', False),
        (b'{"type":"user"}\n', False),
        (b"[" * 60_000 + b"\n", False),
        (b"\xff\xfe\n", False),
        (b"", False),
    ],
)
def test_a_transcript_is_known_by_its_head(head: bytes, is_one: bool) -> None:
    assert claude_code.is_it(head[:65_536]) is is_one
