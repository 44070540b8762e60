"""Who called a skill of Claude Code, its version, what it cost, and how long it took without waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skillgate.llm import prices
from skillgate.model.exchange import Tokens
from skillgate.model.invocation import Caller
from tests.invocations.transcripts import MODEL, Transcript, beside, tokens, use

if TYPE_CHECKING:
    from skillgate.model.invocation import Invocation

CACHE = "/home/user/.claude/plugins/cache/market"
ONE = (100 * 2.0 + 10 * 2.5 + 1_000 * 0.1 + 20 * 10.0) / 1e6  # US dollars for a reply, by the list prices of MODEL


def body(session: Transcript, folder: str) -> Transcript:
    return session.user([{"type": "text", "text": f"Base directory for this skill: {folder}\n\n# It"}], isMeta=True)


def note(session: Transcript) -> Transcript:
    return session.user([{"type": "text", "text": "This skill only makes issues."}], isMeta=True)


def only(session: Transcript) -> Invocation:
    (found,) = session.runs()
    return found


# Commands and skills are one thing


@pytest.mark.parametrize(
    ("name", "is_use"),
    [
        ("acme:create-issues", True),
        ("acme:docs:create", True),
        ("create-issues", False),
        ("init", False),
        ("a:b (MCP)", False),
    ],
)
def test_a_plugins_command_is_a_use_whatever_its_text(name: str, is_use: bool) -> None:
    session = note(Transcript().command(name)).run().say()
    assert [(one.skill_name, one.called_by) for one in session.runs()] == ([(name, Caller.USER)] if is_use else [])


def test_a_plugins_command_that_prints_only_is_no_use() -> None:
    session = (
        Transcript().command("acme:status").user("<local-command-stdout>fine</local-command-stdout>").prompt().say()
    )
    assert session.runs() == []


# Who called it


def test_the_model_calls_a_skill_and_the_skill_another() -> None:
    session = Transcript().prompt().skill().skill("plot-sheets", "toolu_2").run().say()
    assert [one.called_by for one in session.runs()] == [Caller.MODEL, Caller.SKILL]


def test_a_skill_after_one_that_has_spoken_is_the_models() -> None:
    session = Transcript().prompt().skill().run().say(stop="tool_use").skill("plot-sheets", "toolu_2").run().say()
    assert [one.called_by for one in session.runs()] == [Caller.MODEL, Caller.MODEL]


def test_a_skill_that_a_sub_agent_of_a_skill_calls_is_the_skills() -> None:
    agent = Transcript(agent="a1", tag="s").user("count it").skill("plot-sheets", "toolu_2").say()
    session = Transcript().prompt().skill().agent_call().agent_done("a1").say()
    assert [one.called_by for one in session.runs(beside(agent))] == [Caller.MODEL, Caller.SKILL]


# Versions


@pytest.mark.parametrize(
    ("folder", "name", "version"),
    [
        (f"{CACHE}/acme/1.4.0/skills/release", "acme:release", "1.4.0"),
        (f"{CACHE}/acme/b10b583de281/skills/release", "acme:release", "b10b583de281"),
        (r"C:\Users\u\.claude\plugins\cache\market\acme\1.4.0\skills\release", "acme:release", "1.4.0"),
        (f"{CACHE}/acme/unknown/skills/release", "acme:release", None),
        (f"{CACHE}/acme/two words/skills/release", "acme:release", None),
        (f"{CACHE}/acme/1.4.0/skills/other", "release", None),
        ("/home/user/.claude/skills/release", "release", None),
        ("release", "release", None),
        ("", "release", None),
    ],
)
def test_the_version_of_a_plugin_is_in_the_path_of_its_skill(folder: str, name: str, version: str | None) -> None:
    session = Transcript().prompt().reply(use("Skill", "t1", skill="release")).result("t1", "Launching skill: release")
    found = only(body(session, folder).run().say())
    assert (found.skill_name, found.skill_version) == (name, version)


def test_the_version_of_a_skill_that_the_user_calls() -> None:
    found = only(body(Transcript().command("acme:release"), f"{CACHE}/acme/1.4.0/skills/release").run().say())
    assert (found.skill_name, found.skill_version, found.called_by) == ("acme:release", "1.4.0", Caller.USER)


def test_the_text_of_a_later_skill_changes_no_version() -> None:
    session = Transcript().prompt().skill("release").run().say()
    assert only(body(session, f"{CACHE}/acme/1.4.0/skills/release")).skill_version is None


# Costs


def test_a_use_costs_what_its_replies_cost_by_list_prices() -> None:
    found = only(Transcript().prompt().skill().run().say())
    assert (found.cost_usd, found.cost_estimated) == (round(2 * ONE, 9), True)


@pytest.mark.parametrize(
    ("hour", "usd"), [(None, 2.5), (0, 2.5), (4, (6 * 2.5 + 4 * 4.0) / 10), (10, 4.0), (99, 4.0), (-1, 2.5), ("x", 2.5)]
)
def test_tokens_cached_for_an_hour_cost_twice_the_input(hour: object, usd: float) -> None:
    made = {"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": hour}}
    found = only(Transcript().prompt().skill().say(usage={**tokens(), **made}))
    assert found.cost_usd == pytest.approx(ONE + 10 * (usd - 2.5) / 1e6)
    assert (found.tokens_input, found.tokens_output) == (110, 20)


def test_a_model_without_a_list_price_has_no_cost() -> None:
    found = only(by("some-model", Transcript().prompt().skill()))
    assert (found.cost_usd, found.cost_estimated, found.tokens_used) == (None, None, 130)


def by(model: str, session: Transcript) -> Transcript:
    """Add a reply of another model."""
    said: dict[str, Any] = {"id": "m", "role": "assistant", "model": model, "content": [], "usage": tokens()}
    return session.entry("assistant", message={**said, "stop_reason": None})


def test_a_sub_agent_costs_by_its_own_model() -> None:
    agent = by("claude-opus-5-5", Transcript(agent="a1", tag="s").user("count it"))
    (found,) = Transcript().prompt().skill().agent_call().agent_done("a1").say().runs(beside(agent))
    dear = prices.cost("claude-opus-5-5", Tokens(100, 20, cache_read=1_000, cache_write=10))
    assert dear is not None
    assert dear > ONE
    assert found.cost_usd == pytest.approx(2 * ONE + dear)


def test_a_reply_that_is_counted_later_costs_once() -> None:
    session = Transcript().prompt().skill()
    session.reply({"type": "thinking", "thinking": "hm"}, message="m", usage=tokens(output=1), stop=None)
    session.reply(use("Bash", "t1"), message="m", usage=tokens()).result("t1").say()
    assert only(session).cost_usd == round(2 * ONE, 9)


# Placeholders


def test_output_tokens_that_are_too_few_for_their_text_are_unknown() -> None:
    session = Transcript().prompt().skill().reply({"type": "text", "text": "word " * 20}, usage=tokens(output=1))
    (read,) = session.reads()
    found = read.invocation
    assert found is not None
    assert (found.tokens_input, found.tokens_output, found.tokens_used, found.cost_usd) == (110, None, None, None)
    assert ["placeholders" in warning for warning in read.warnings] == [True]


@pytest.mark.parametrize(("output", "known"), [(1, None), (2, None), (4, None), (5, 5), (60, 60)])
def test_a_call_takes_more_than_a_few_tokens(output: int, known: int | None) -> None:
    found = only(Transcript().prompt().skill().reply(use("Bash", "t1"), usage=tokens(output=output)).result("t1"))
    assert found.tokens_output == known


def test_a_short_text_may_be_one_token() -> None:
    assert (
        only(
            Transcript().prompt().skill().reply({"type": "text", "text": "Done."}, usage=tokens(output=1))
        ).tokens_output
        == 1
    )


# Durations


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
def test_a_question_to_the_user_takes_no_time_of_the_skill(tool: str) -> None:
    session = Transcript().prompt().skill().reply(use(tool, "t1")).wait(600).result("t1").say()
    assert only(session).duration_ms == 4_000


def test_a_denied_call_takes_no_time_of_the_skill() -> None:
    denied = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    session = Transcript().prompt().skill().reply(use("Bash", "t1")).wait(600).result("t1", denied, error=True).say()
    assert only(session).duration_ms == 4_000


def test_waits_that_overlap_count_once() -> None:
    session = Transcript().prompt().skill().reply(use("AskUserQuestion", "t1"), use("AskUserQuestion", "t2"))
    assert only(session.wait(600).result("t1").wait(60).result("t2").say()).duration_ms == 4_000


def test_a_call_that_takes_long_takes_time_of_the_skill() -> None:
    session = Transcript().prompt().skill().reply(use("Bash", "t1")).wait(600).result("t1").say()
    assert only(session).duration_ms == 605_000


def test_the_model_of_these_prices() -> None:
    assert MODEL == "claude-sonnet-5-5"
