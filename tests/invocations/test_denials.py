"""Permissions that were denied within sessions: in every wording, beside other calls, and with what went on after."""

from __future__ import annotations

import pytest

from skillgate.model.invocation import Ending
from tests.invocations.transcripts import Transcript, beside, use

DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
WORDINGS = (
    DENIED,
    "The user doesn't want to take this action right now. STOP what you are doing.",
    "Permission for this tool use was denied. The tool use was rejected. Try a different approach.",
    "Permission for this action has been denied. Reason: it deletes files.",
    "Permission to use Bash with command cat <<E\nfirst\nsecond\nE has been denied.",
    f"Permission to use Bash with command echo {'x' * 1_500} has been denied.",
    "Claude requested permissions to write to /tmp/a\nb, but you haven't granted it yet.",
    "<tool_use_error>Claude requested permissions to edit /tmp/a, but you haven't granted it yet.</tool_use_error>",
    "This command requires approval",
    "This Bash command contains multiple operations. The following part requires approval: rm -r build",
    "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode.",
)


@pytest.mark.parametrize("words", WORDINGS)
def test_a_denied_call_is_no_error_of_the_skill_in_any_wording(words: str) -> None:
    made = Transcript().prompt().skill().reply(use("Bash", "toolu_2")).result("toolu_2", words, error=True).say()
    (run,) = made.runs()
    assert (run.error_count, run.ending) == (0, Ending.COMPLETE)


def test_a_denied_call_in_a_sub_agent_is_no_error_of_the_skill_that_runs_there() -> None:
    agent = Transcript(agent="a1", tag="a").prompt("count it").skill("inner", "toolu_i")
    agent.reply(use("Bash", "toolu_2")).result("toolu_2", WORDINGS[2], error=True).say()
    made = Transcript().prompt().agent_call().agent_done("a1").say()
    (run,) = made.runs(beside(agent))
    assert (run.skill_name, run.error_count) == ("inner", 0)


def test_a_skill_that_was_denied_in_a_sub_agent_is_not_counted() -> None:
    agent = Transcript(agent="a1", tag="a").prompt("count it").reply(use("Skill", "toolu_i", skill="inner"))
    agent.result("toolu_i", WORDINGS[2], error=True).say()
    assert Transcript().prompt().agent_call().agent_done("a1").say().runs(beside(agent)) == []


def test_of_two_skills_that_one_reply_calls_each_denied_one_is_not_counted() -> None:
    made = Transcript().prompt().skill("before", "toolu_0").say().prompt()
    made.reply(use("Skill", "toolu_1", skill="first"), use("Skill", "toolu_2", skill="second"))
    made.result("toolu_1", DENIED, error=True).result("toolu_2", DENIED, error=True).say().prompt("and now?").say()
    (run,) = made.runs()
    assert (run.skill_name, run.follow_up_count) == ("before", 0)


def test_of_two_skills_that_one_reply_calls_the_one_that_was_not_denied_is_followed() -> None:
    made = Transcript().prompt().reply(use("Skill", "toolu_1", skill="first"), use("Skill", "toolu_2", skill="second"))
    made.result("toolu_1", DENIED, error=True).loaded("second", "toolu_2").run().say()
    (run,) = made.runs()
    assert (run.skill_name, run.tool_call_count, run.ending) == ("second", 1, Ending.COMPLETE)


@pytest.mark.parametrize("words", [DENIED, "<tool_use_error>Unknown skill: extra</tool_use_error>"])
def test_a_run_goes_on_after_the_call_of_another_skill_was_denied(words: str) -> None:
    made = Transcript().prompt().skill("first").run(call="toolu_1")
    made.reply(use("Skill", "toolu_2", skill="extra")).result("toolu_2", words, error=True)
    (run,) = made.run(call="toolu_3", error=True).api_error().runs()
    assert (run.skill_name, run.tool_call_count, run.ending) == ("first", 2, Ending.HARD_FAILURE)
    assert run.tokens_used == 3 * 130


def test_a_skill_that_is_called_again_after_a_denial_counts_once() -> None:
    made = Transcript().prompt().skill("before", "toolu_0").say().prompt("release it")
    made.reply(use("Skill", "toolu_1", skill="release")).result("toolu_1", DENIED, error=True).interrupt(in_call=True)
    made.prompt("yes, do").skill("release", "toolu_2").run(call="toolu_3").say().prompt("thanks").say()
    first, second = made.runs()
    assert (first.skill_name, first.follow_up_count) == ("before", 0)
    assert (second.skill_name, second.follow_up_count, second.tool_call_count) == ("release", 0, 1)
    assert second.ending is Ending.COMPLETE
