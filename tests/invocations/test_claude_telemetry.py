"""Claude Code's logs and traces: which events are uses of skills, what belongs to them, and what is left open."""

from __future__ import annotations

from typing import Any

import pytest

from skillgate.model.invocation import Caller, Ending, Evidence, Invocation
from tests.invocations.claude_telemetry import activated, claude_span, event, logs, request, result, text
from tests.invocations.readings import one, read
from tests.invocations.traces import traces

PDF = "pdf"


def uses(*records: dict[str, Any]) -> list[Invocation]:
    return [found.invocation for found in read("otlp", logs(*records)) if found.invocation]


def effort(found: Invocation) -> tuple[object, ...]:
    """Calls, tokens, whether shared, and the most of calls and tokens."""
    return found.tool_call_count, found.tokens_used, found.shared, found.tool_calls_most, found.tokens_most


TAG: dict[str, Any] = {"skill__name": PDF}
LOG_CASES: tuple[tuple[str, list[dict[str, Any]], tuple[object, ...]], ...] = (
    ("nothing follows", [activated(PDF, 1)], (None, None, None, None, None)),
    (
        "requests name the skill until another work begins",
        [activated(PDF, 1), request(2, **TAG), result(3), text(4), result(5), request(6), result(7)],
        (2, 15, False, None, None),
    ),
    (
        "a tag comes back",
        [activated(PDF, 1), request(2, **TAG), result(3), request(4), result(5), request(6, **TAG), result(7)],
        (2, 30, True, 3, 45),
    ),
    (
        "no tag, but texts: the least is what precedes the next text",
        [activated(PDF, 1), request(2), result(3), request(4), text(4.1), result(5), request(6)],
        (1, 30, True, 2, 45),
    ),
    (
        "no tag, and the first request speaks: calls after it are not sure",
        [activated(PDF, 1), request(2), text(2.1), result(3)],
        (None, 15, True, 1, 15),
    ),
    (
        "neither tags nor texts: only the most is known",
        [activated(PDF, 1), request(2), result(3), request(4)],
        (None, None, True, 1, 30),
    ),
    (
        "the next prompt is another matter",
        [activated(PDF, 1), request(2, **TAG), request(9, prompt="p-2"), result(10, prompt="p-2"), text(11)],
        (0, 15, False, None, None),
    ),
    (
        "a sub-agent's text is not for the user",
        [activated(PDF, 1), event("assistant_response", 2, query_source="agent:builtin:Explore"), result(3), text(4)],
        (1, None, False, None, None),
    ),
    (
        "cached tokens are left out, written ones are not",
        [activated(PDF, 1), request(2, (1, 2, 90_000), cache_creation_tokens=100, **TAG)],
        (0, 103, False, None, None),
    ),
    (
        "numbers of earlier versions are strings",
        [activated(PDF, 1), event("api_request", 2, input_tokens="7", output_tokens="3", cost_usd="0.25", **TAG)],
        (0, 10, False, None, None),
    ),
)


@pytest.mark.parametrize(("case", "records", "expected"), LOG_CASES, ids=[case for case, _, _ in LOG_CASES])
def test_what_follows_an_activation_belongs_to_it(case: str, records: list[Any], expected: tuple[object, ...]) -> None:
    (found,) = uses(*records)
    assert effort(found) == expected
    assert effort(*uses(*reversed(records))) == expected, "the order of records does not matter"
    assert effort(*uses(*records, *records)) == expected, "records that are sent twice count once"


def test_a_use_has_its_name_trigger_cost_and_session() -> None:
    records = [activated("fill", 1, "user-slash", plugin__name="pdf"), request(2, skill__name="fill"), request(3)]
    found = one(read("otlp", logs(*records)))
    assert (found.skill_name, found.called_by, found.session_id) == ("pdf:fill", Caller.USER, "s-1")
    assert (found.cost_usd, found.cost_estimated, found.model) == (0.5, True, "claude-opus-5")
    assert (found.duration_ms, found.source) == (1000, "otlp")
    assert found.extra == {"transcript_seen_until": 1777888803, "tokens_cache_read": 1000}
    assert "alice" not in repr(found)


def test_a_caller_keeps_what_precedes_the_skill_that_it_calls() -> None:
    records = [activated("release", 1, "user-slash"), request(2), result(3), activated("notes", 4, "nested-skill")]
    records += [request(5), result(6), request(7), text(7.1), result(8)]
    caller, called = uses(*records)
    assert effort(caller) == (1, 15, True, 3, 45)
    assert effort(called) == (1, 30, True, 2, 30)
    assert called.called_by is Caller.SKILL


@pytest.mark.parametrize(
    ("records", "ending", "evidence"),
    [
        ([result(2, "Skill", "false")], Ending.HARD_FAILURE, Evidence.LOAD_FAILED),
        ([result(2, "Skill", "false", tool_parameters='{"skill_name": "other"}')], None, None),
        ([request(2, **TAG), event("api_error", 3)], Ending.HARD_FAILURE, Evidence.ENDED_IN_ERROR),
        ([event("api_error", 2), request(3, **TAG)], None, None),
        ([request(2, **TAG), result(3, success="false")], None, None),
    ],
)
def test_an_outcome_needs_evidence(records: list[Any], ending: object, evidence: object) -> None:
    (found,) = uses(activated(PDF, 1), *records)
    assert (found.ending, found.outcome_evidence) == (ending, evidence)
    assert found.error_count == (None if ending is None else 1)


def test_a_failing_call_is_an_error_of_a_tool() -> None:
    (found,) = uses(activated(PDF, 1), request(2, **TAG), result(3, success="false"), result(4))
    assert (found.error_count, found.tool_error_count, found.tool_call_count) == (None, 1, 2)


def test_hidden_names_are_reported_and_end_what_precedes_them() -> None:
    hidden = activated("custom_skill", 3)
    named, unnamed = read("otlp", logs(activated(PDF, 1), request(2), text(2.1), hidden, request(4)))
    assert named.invocation
    assert unnamed.invocation is None
    assert unnamed.warnings[0].endswith("set OTEL_LOG_TOOL_DETAILS=1 where it runs")
    *_, last = read("otlp", logs(hidden))
    assert (last.unused or "").startswith("1 use of skills without a name: Claude Code hides")


def test_logs_without_a_use_say_so() -> None:
    other = {"timeUnixNano": "1", "body": {"stringValue": "anything"}, "attributes": []}
    (found,) = read("otlp", logs(request(1), other))
    assert found.unused == "none of 2 log records is a use of a skill; a use is claude_code.skill_activated"


def test_a_broken_log_record_leaves_figures_open() -> None:
    broken, found = read("otlp", logs(activated(PDF, 1), 7, request(2, **TAG)))  # type: ignore[arg-type]
    assert broken.problem == "invalid log record: expected a log record, found 7"
    assert found.invocation
    assert effort(found.invocation) == (None,) * 5
    assert found.warnings == (
        "not all events of a session could be read or held; its tokens, tool calls and errors are unknown",
    )


def test_many_uses_of_one_prompt_take_linear_time() -> None:
    records = [activated(f"s{number}", number) for number in range(3_000)]
    records += [request(3_000 + number) for number in range(3_000)]
    found = uses(*records)
    assert len(found) == 3_000
    assert [one.shared for one in found if one.shared is not None] == [True] * 20


# Traces: the load of a skill is a span without work below it


def turn(*more: dict[str, Any], load: dict[str, Any] | None = None) -> bytes:
    loads = {"tool_name": "Skill", "skill_name": PDF, **(load or {})}
    return traces(
        claude_span("interaction", 1, None, 0, 60),
        claude_span("llm_request", 2, 1, 0, 4, input_tokens=2, output_tokens=9, cache_read_tokens=80_000),
        claude_span("tool", 3, 1, 4, 5, **loads),
        claude_span("tool.execution", 4, 3, 4, 5, success=True),
        *more,
    )


def test_a_load_has_what_follows_in_its_turn_as_the_most() -> None:
    follows = [
        claude_span("llm_request", 5, 1, 6, 9, model="claude-opus-5", input_tokens=3, output_tokens=40),
        claude_span("tool", 6, 1, 10, 20, tool_name="Agent"),
        claude_span("llm_request", 7, 6, 11, 19, input_tokens=5, output_tokens=50, cache_creation_tokens=2),
        claude_span("llm_request", 8, 1, 21, 30, input_tokens=1, output_tokens=9),
    ]
    found = one(read("otlp", turn(*follows)))
    assert (found.skill_name, found.called_by, found.model) == (PDF, Caller.MODEL, "claude-opus-5")
    assert effort(found) == (None, None, True, 1, 110)
    assert (found.duration_ms, found.duration_most_ms) == (None, 26_000)


def test_a_load_in_a_sub_agent_has_what_follows_there() -> None:
    agent = [
        claude_span("tool", 5, 1, 6, 30, tool_name="Agent"),
        claude_span("tool", 6, 5, 7, 8, tool_name="Skill", skill_name="notes"),
        claude_span("llm_request", 7, 5, 9, 12, input_tokens=1, output_tokens=1),
        claude_span("llm_request", 8, 1, 40, 50, input_tokens=100, output_tokens=100),
    ]
    outer, inner = [found.invocation for found in read("otlp", turn(*agent))]
    assert outer
    assert inner
    assert (inner.skill_name, effort(inner)) == ("notes", (None, None, True, 0, 2))
    assert effort(outer) == (None, None, True, 2, 202)


def test_a_failed_load_is_a_failure_and_a_denied_one_is_no_use() -> None:
    found = one(read("otlp", turn(claude_span("tool.execution", 5, 3, 4, 5, success=False))))
    assert (found.ending, found.outcome_evidence, found.error_count) == (
        Ending.HARD_FAILURE,
        Evidence.LOAD_FAILED,
        1,
    )
    (denied,) = read("otlp", turn(claude_span("tool.blocked_on_user", 5, 3, 4, 5, decision="reject")))
    assert (denied.unused or "").startswith("none of 5 spans is a use of a skill")


def test_a_load_without_a_name_says_what_to_set() -> None:
    hidden, unused = read("otlp", turn(load={"skill_name": None}))
    assert hidden.invocation is None
    assert "set OTEL_LOG_TOOL_DETAILS=1" in (unused.unused or "")


def test_a_session_with_logs_and_traces_counts_once() -> None:
    both = turn() + b"\n" + logs(activated(PDF, 4.5, session="s-1"), request(7, **TAG))
    found = one(read("otlp", both))
    assert found.invocation_id.startswith("claude-")
