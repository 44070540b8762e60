"""Chat completions over a real socket: a judge's request translated, and every way the reply can end."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("httpx2")
pytest.importorskip("anthropic")

from skillgate.errors import UsageError
from skillgate.llm.answers import identity
from skillgate.llm.port import Connection, ProviderError
from skillgate.llm.providers import openai_compatible
from skillgate.model.exchange import Answer, Cause, Status, Tokens
from tests.llm.requests import KEY, SCHEMA, SKILL, asking, request
from tests.llm.server import (
    ModelServer,
    completion,
    cut,
    document,
    drip,
    echo_headers,
    hang,
    raw,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.exchange import Request
    from tests.llm.server import Behaviour


def connected(
    url: str | None, environ: Mapping[str, str] = MappingProxyType({}), *, temperature: float | None = None
) -> openai_compatible.OpenAICompatible:
    variable = "GATEWAY_KEY" if "GATEWAY_KEY" in environ else None
    connection = Connection(environ, base_url=url, key_variable=variable, temperature=temperature)
    return openai_compatible.connect(connection)


def asked(
    *behaviours: Behaviour, what: Request | None = None, timeout_s: float = 20.0, temperature: float | None = None
) -> tuple[Answer, ModelServer]:
    with ModelServer(*behaviours) as server:
        provider = connected(f"{server.url}/v1/", temperature=temperature)
        answer = asking(provider, timeout_s=timeout_s).ask(what or request(model="m-1"))
        provider.close()
    return answer, server


def test_a_judge_s_request_is_translated() -> None:
    answer, server = asked(completion())
    assert answer.value == {"score": 7}
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "m-1",
        "max_tokens": 8192,
        "messages": [
            {"role": "system", "content": "You judge skills."},
            {"role": "user", "content": f"{SKILL}\n\nQuestion: output_quality"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }
    assert "authorization" not in seen.headers  # a server on this machine may need no key


def test_system_blocks_and_turns_are_kept_apart() -> None:
    turns = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"},
    ]
    system = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    _, server = asked(completion(), what=request(messages=turns, system=system, schema=None))
    assert [(turn["role"], turn["content"]) for turn in server.bodies[0]["messages"]] == [
        ("system", "one\n\ntwo"),
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c"),
    ]
    assert "response_format" not in server.bodies[0]


def test_a_temperature_is_sent_here_where_one_is_asked_for() -> None:
    _, server = asked(completion(), temperature=0.0)
    assert server.bodies[0]["temperature"] == 0.0


def test_the_key_is_that_of_the_named_variable() -> None:
    with ModelServer(completion()) as server:
        for environ in ({"OPENAI_API_KEY": "sk-1"}, {"OPENAI_API_KEY": "sk-1", "GATEWAY_KEY": "gate-2"}):
            provider = connected(server.url, environ)
            provider.send(request(), timeout_s=20)
            provider.close()
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer sk-1", "Bearer gate-2"]


def test_elsewhere_than_on_this_machine_a_key_is_needed() -> None:
    provider = connected("https://models.example/v1")
    with pytest.raises(ProviderError, match="set OPENAI_API_KEY") as caught:
        provider.send(request(), timeout_s=1)
    provider.close()
    assert caught.value.cause is Cause.CREDENTIALS


@pytest.mark.parametrize("url", [None, "", "models.example"])
def test_an_address_is_needed(url: str | None) -> None:
    with pytest.raises(UsageError, match="base-url"):
        connected(url)


def test_tokens_read_from_a_cache_are_told_apart() -> None:
    answer, _ = asked(completion())
    assert answer.tokens == Tokens(100, 20, 10)
    assert answer.reply is not None
    assert (answer.reply.model, answer.reply.request_id) == ("m-1", "chat_1")


def test_a_reply_without_usage_has_an_unknown_cost() -> None:
    choice = {"finish_reason": "stop", "message": {"content": '{"score": 7}'}}
    answer, _ = asked(document({"choices": [choice]}))
    assert (answer.status, answer.cost_usd) == (Status.OK, None)
    assert answer.reply is not None
    assert answer.reply.tokens is None


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (completion(ended="length"), Status.TRUNCATED),
        (completion(None, ended="content_filter"), Status.REFUSED),
        (completion(None, refusal="I would rather not"), Status.REFUSED),
        (completion(None, ended="tool_calls"), Status.INVALID),
        (completion(ended=None), Status.INVALID),
        (completion(None), Status.INVALID),
        (completion("a 7"), Status.INVALID),
        (completion('{"score": 70}'), Status.INVALID),
    ],
)
def test_a_completion_that_is_no_answer_is_no_number(behaviour: Behaviour, status: Status) -> None:
    answer, server = asked(behaviour)
    assert (answer.status, answer.value, len(server.seen)) == (status, None, 1)


@pytest.mark.parametrize(
    ("behaviour", "cause", "tries"),
    [
        (refusal(401, "invalid_api_key"), Cause.CREDENTIALS, 1),
        (refusal(403, "forbidden"), Cause.CREDENTIALS, 1),
        (refusal(404, "model_not_found"), Cause.MODEL, 1),
        (refusal(400, "invalid_request_error", "Invalid model name passed in model=m-1"), Cause.MODEL, 1),
        (refusal(400, "invalid_request_error", "messages is empty"), Cause.REQUEST, 1),
        (
            refusal(400, "invalid_request_error", "This model's maximum context length is 8192 tokens"),
            Cause.TOO_LONG,
            1,
        ),
        (refusal(413, "too_large"), Cause.TOO_LONG, 1),
        (refusal(429, "insufficient_quota"), Cause.BILLING, 1),
        (refusal(429, "rate_limit_exceeded"), Cause.RATE, 4),
        (refusal(500, "server_error"), Cause.SERVER, 4),
        (raw(b"<html>", status=503), Cause.SERVER, 4),
        (raw(b"", status=302, headers={"location": "http://127.0.0.1:9/"}), Cause.REQUEST, 1),
        (cut, Cause.NETWORK, 4),
        (raw(b"<html>"), Cause.REPLY, 4),
        (document({"choices": []}), Cause.REPLY, 4),
        (document({"choices": [{"message": {"content": [1]}, "finish_reason": "stop"}]}), Cause.REPLY, 4),
        (document({"choices": [{"message": None}]}), Cause.REPLY, 4),
        (raw(b" " * ((8 << 20) + 1)), Cause.REPLY, 4),
    ],
)
def test_failures_are_told_and_tried_again_where_it_helps(behaviour: Behaviour, cause: Cause, tries: int) -> None:
    answer, server = asked(behaviour)
    assert (answer.status, answer.cause) == (Status.ERROR, cause)
    assert answer.sent == len(server.seen) == tries


@pytest.mark.parametrize("behaviour", [hang, drip])
def test_a_server_that_does_not_end_is_left(behaviour: Behaviour) -> None:
    answer, _ = asked(behaviour, timeout_s=0.1)
    assert (answer.status, answer.sent) == (Status.ERROR, 4)


def test_without_response_format_the_instruction_carries_the_schema() -> None:
    answer, server = asked(refusal(400, "invalid_request_error", "response_format is not supported"), completion())
    assert (answer.status, answer.sent) == (Status.OK, 2)
    assert "response_format" not in server.bodies[1]
    assert server.bodies[1]["messages"][1]["content"].count('"additionalProperties":false') == 1


def test_models_that_want_another_limit_get_it() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    answer, server = asked(refusal(400, "invalid_request_error", said), completion())
    assert (answer.status, answer.sent) == (Status.OK, 2)
    assert server.bodies[1]["max_completion_tokens"] == 8192
    assert "max_tokens" not in server.bodies[1]


def test_tools_are_not_for_this_provider() -> None:
    answer, server = asked(completion(), what=request(tools=[{"name": "Skill"}]))
    assert (answer.cause, server.seen) == (Cause.REQUEST, [])


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_a_key_that_a_server_quotes_is_in_no_message(status: int) -> None:
    with ModelServer(echo_headers(status)) as server:
        provider = connected(server.url, {"OPENAI_API_KEY": KEY})
        with pytest.raises(ProviderError) as caught:
            provider.send(request(), timeout_s=20)
        provider.close()
    assert KEY[:12] not in str(caught.value)


def test_an_address_with_a_password_is_refused_and_not_repeated() -> None:
    """It would go out in the key's place."""
    with pytest.raises(UsageError, match="a user or a password") as caught:
        connected("http://user:hunter2@127.0.0.1:9/v1", {"OPENAI_API_KEY": KEY})
    assert "hunter2" not in str(caught.value)


def test_a_temperature_tells_answers_apart() -> None:
    providers = [connected("http://127.0.0.1:9/v1", temperature=heat) for heat in (None, 0.0, 1.5)]
    assert len({identity(request(), provider) for provider in providers}) == 3
    assert [provider.variant for provider in providers] == ["", "temperature 0", "temperature 1.5"]


def test_counts_that_are_too_large_are_an_unknown_cost() -> None:
    choice = {"finish_reason": "stop", "message": {"content": '{"score": 7}'}}
    usage = {"prompt_tokens": 10**400, "completion_tokens": 1}
    answer, _ = asked(document({"choices": [choice], "usage": usage}))
    assert (answer.status, answer.cost_usd, answer.tokens) == (Status.OK, None, Tokens())


def test_one_connection_serves_many_requests() -> None:
    ports: set[Any] = set()

    def noting(handler: Any) -> None:
        ports.add(handler.client_address)
        completion()(handler)

    with ModelServer(noting) as server:
        provider = connected(server.url)
        for _ in range(5):
            provider.send(request(), timeout_s=20)
        provider.close()
    assert len(ports) == 1
