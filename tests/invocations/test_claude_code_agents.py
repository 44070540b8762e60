"""Sub-agents in transcripts of Claude Code: what they do counts for the run that opened them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.invocations.formats import Options, claude_code
from skillgate.model.invocation import Ending
from tests.invocations.transcripts import NOW, SESSION, Transcript, beside, use

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT = "aadf03377bf4f3ea2"
FILE = "/home/user/project/sub.py"


def sub(agent: str = AGENT, tag: str = "s") -> Transcript:
    """Give a sub-agent that replies twice and calls one tool."""
    return Transcript(agent=agent, tag=tag).user("count it").run(call="toolu_sub").say("report")


def opened() -> Transcript:
    return Transcript().prompt().skill().agent_call()


def test_tokens_and_calls_of_a_sub_agent_count_for_the_run_that_opened_it() -> None:
    (found,) = opened().agent_done(AGENT).say().runs(beside(sub()))
    assert (found.tokens_used, found.tool_call_count, found.tool_call_kinds) == (4 * 130, 2, 2)
    assert (found.duration_ms, found.error_count, found.ending) == (5000.0, 0, Ending.COMPLETE)


@pytest.mark.parametrize("place", [f"{SESSION}/subagents/agent-{AGENT}.jsonl", f"agent-{AGENT}.jsonl"])
def test_its_transcript_is_found_in_each_place_that_it_was_ever_kept_in(place: str) -> None:
    (found,) = opened().agent_done(AGENT).say().runs({place: sub()})
    assert found.tokens_used == 4 * 130


def test_without_its_transcript_the_figures_are_unknown() -> None:
    (told,) = opened().agent_done(AGENT).say().reads()
    assert told.invocation is not None
    assert (told.invocation.tokens_used, told.invocation.tool_call_count) == (None, None)
    assert told.invocation.ending is Ending.COMPLETE
    assert "missing or nested too deep" in told.warnings[0]


def test_one_that_never_came_back_leaves_the_figures_unknown() -> None:
    (told,) = opened().interrupt().prompt().say().reads()
    assert told.invocation is not None
    assert (told.invocation.tokens_used, told.invocation.ending) == (None, None)


def test_one_that_could_not_be_started_did_nothing() -> None:
    (found,) = opened().result("toolu_agent", error=True).say().runs()
    assert (found.tokens_used, found.tool_call_count, found.tool_error_count) == (260, 1, 1)


def test_one_in_the_background_counts_although_it_ends_later() -> None:
    session = opened().result("toolu_agent", details={"isAsync": True, "agentId": AGENT}).say()
    session.user("<task-notification>done</task-notification>", origin={"kind": "task-notification"}).say("It came.")
    (found,) = session.runs(beside(sub()))
    assert (found.tokens_most, found.duration_most_ms, found.follow_up_count) == (5 * 130, 7000.0, None)


def test_a_skill_that_a_sub_agent_uses_is_a_run_of_its_own() -> None:
    agent = Transcript(agent=AGENT, tag="s").user("count it").skill("plot-sheets", "toolu_inner")
    agent.write(FILE, "a\nb\n").run(call="toolu_sub", error=True).say()
    session = opened().agent_done(AGENT).say().prompt().edit(FILE, "b", "c").say()
    outer, inner = session.runs(beside(agent))
    assert [one.line for one in session.reads(beside(agent))] == [2, 6]
    assert (outer.skill_name, outer.tokens_used, outer.tool_call_count) == ("merge-sheets", 6 * 130, 4)
    assert (inner.skill_name, inner.tokens_used, inner.tool_call_count) == ("plot-sheets", 3 * 130, 2)
    assert (outer.output_size, outer.files_changed, outer.user_edit_ratio) == (2.0, 1.0, 0.5)
    assert (inner.output_size, inner.files_changed, inner.user_edit_ratio) == (2.0, 1.0, 0.5)
    assert (outer.tool_error_count, inner.tool_error_count, inner.ending) == (0, 1, Ending.COMPLETE)
    assert (outer.follow_up_count, inner.follow_up_count) == (1, None)
    assert inner.invocation_id == "s0002-0000-4000-8000-000000000000:toolu_inner"
    assert inner.session_id == SESSION


def test_a_sub_agent_outside_of_any_run_is_read_for_the_skills_that_it_uses() -> None:
    agent = Transcript(agent=AGENT, tag="s").user("count it").skill("plot-sheets", "toolu_inner").say()
    (found,) = Transcript().prompt().agent_call().agent_done(AGENT).say().runs(beside(agent))
    assert (found.skill_name, found.tokens_used) == ("plot-sheets", 130)


def test_a_skill_that_runs_in_a_sub_agent_has_what_that_does() -> None:
    session = Transcript().prompt().reply(use("Skill", "toolu_1", skill="merge-sheets"))
    session.result("toolu_1", details={"success": True, "status": "forked", "agentId": AGENT}).say()
    (found,) = session.runs(beside(sub()))
    assert (found.tokens_used, found.tool_call_count) == (3 * 130, 1)


def test_sub_agents_within_one_another_are_read_once_each() -> None:
    first = (
        Transcript(agent="a1", tag="s").user("count it").agent_call(call="toolu_deep").agent_done("a2", "toolu_deep")
    )
    first.say().agent_call(call="toolu_back").agent_done("a1", "toolu_back").say()
    files = {**beside(first), **beside(sub("a2", "t"))}
    asked: list[str] = []

    def lines(path: str) -> Iterator[tuple[int, bytes]] | None:
        asked.append(path)
        return enumerate(files[path].lines, 1)

    (found,) = opened().agent_done("a1").say().runs(sibling=lines)
    assert (found.tokens_used, found.tool_call_count) == (8 * 130, 4)
    assert asked == list(files)


def test_sub_agents_that_are_too_deep_leave_the_figures_unknown() -> None:
    files: dict[str, Transcript] = {}
    for depth in range(30):
        one = Transcript(agent=f"a{depth}", tag=f"s{depth}x").user("count it").agent_call()
        files |= beside(one.agent_done(f"a{depth + 1}").say())
    files |= beside(sub("a30", "t"))
    (told,) = opened().agent_done("a0").say().reads(files)
    assert told.invocation is not None
    assert told.invocation.tokens_used is None
    assert "too deep" in told.warnings[0]


def test_what_a_sub_agent_changes_while_the_run_goes_on_is_no_edit_after_it() -> None:
    agent = Transcript(agent=AGENT, tag="s").user("count it").edit(FILE, "b", "c").say()
    session = Transcript().prompt().agent_call().skill().write(FILE, "a\nb\n").agent_done(AGENT).say().prompt()
    (found,) = session.runs(beside(agent))
    assert (found.output_size, found.user_edit_ratio) == (2.0, 0.0)


def test_sub_agents_in_the_file_of_the_session_belong_to_the_calls_that_ask_the_same() -> None:
    session = Transcript().prompt().skill("merge-sheets", "toolu_a").agent_call("count it", "toolu_1")
    session.skill("plot-sheets", "toolu_b").agent_call("draw it", "toolu_2")
    for prompt, calls in (("count it", 1), ("draw it", 2)):
        session.last = None
        session.user(prompt, isSidechain=True)
        for number in range(calls):
            session.reply(use("Bash", f"toolu_{prompt}{number}"), isSidechain=True)
            session.result(f"toolu_{prompt}{number}")
            session.lines[-1] = session.lines[-1].replace(b'"isSidechain":false', b'"isSidechain":true')
    session.result("toolu_1", details={"totalTokens": 9}).result("toolu_2", details={"totalTokens": 9}).say()
    first, second = session.runs()
    assert (first.skill_name, first.tokens_used, first.tool_call_count) == ("merge-sheets", 3 * 130, 3)
    assert (second.skill_name, second.tokens_used, second.tool_call_count) == ("plot-sheets", 4 * 130, 3)


def test_the_transcript_of_a_sub_agent_by_itself_gives_nothing_but_a_word() -> None:
    agent = sub().skill("plot-sheets", "toolu_inner").say()
    (told,) = agent.reads()
    assert (told.invocation, told.problem) == (None, None)
    assert "together with its session's transcript" in told.warnings[0]


def test_lines_of_a_sub_agent_that_cannot_be_read_leave_the_figures_unknown() -> None:
    agent = sub().raw(b'{"type":"assistant","mess')
    (told,) = opened().agent_done(AGENT).say().reads(beside(agent))
    assert told.invocation is not None
    assert (told.invocation.tokens_used, told.invocation.error_count) == (None, 0)
    assert "invalid JSON" in told.warnings[0]


def test_the_agents_of_a_workflow_are_not_read_and_it_is_said() -> None:
    (told,) = Transcript().prompt().skill().run("Workflow").say().reads()
    assert told.invocation is not None
    assert (told.invocation.tokens_used, told.invocation.tool_call_count) == (None, None)
    assert "workflow" in told.warnings[0]


@pytest.mark.parametrize("agent", ["../../etc/passwd", "a/b", "", 7, None, "a" * 5000, ".."])
def test_no_path_is_made_of_what_is_no_id(agent: object) -> None:
    asked: list[str] = []
    session = opened().result("toolu_agent", details={"agentId": agent}).say()
    options = Options(now=NOW, sibling=asked.append)
    (told,) = claude_code.read(enumerate(session.lines, 1), options)
    assert told.invocation is not None
    assert (told.invocation.tokens_used, asked) == (None, [])
