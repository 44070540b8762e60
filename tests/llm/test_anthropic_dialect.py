"""Models and gateways that do not know all of the Messages API: what they refuse is left out, and nothing else."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")

from skillgate.model.exchange import Answer, Cause, Status
from tests.llm.requests import asking, connected, request
from tests.llm.server import ModelServer, message, refusal

if TYPE_CHECKING:
    from tests.llm.server import Behaviour


def asked(*behaviours: Behaviour) -> tuple[Answer, ModelServer]:
    """Ask one request of a server that behaves so; give the answer and the server, closed."""
    with ModelServer(*behaviours) as server:
        provider = connected(server.url)
        answer = asking(provider).ask(request())
        provider.close()
    return answer, server


def test_without_the_api_s_schema_the_instruction_carries_it() -> None:
    unknown = refusal(400, "invalid_request_error", "output_config: Extra inputs are not permitted")
    with ModelServer(unknown, message()) as server:
        provider = connected(server.url)
        asker = asking(provider)
        first, second = asker.ask(request()), asker.ask(request())
        provider.close()
    assert (first.status, first.sent, second.status, second.sent) == (Status.OK, 2, Status.OK, 1)
    for body in server.bodies[1:]:
        assert "output_config" not in body
        skill, question, instruction = body["messages"][0]["content"]
        assert skill == request().body["messages"][0]["content"][0]  # the cached prefix stays as it is
        assert question["text"] == "Question: output_quality"
        assert '"additionalProperties":false' in instruction["text"]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("output_config.effort: not supported by this model", {"format"}),
        ("output_config.format: not supported by this model", {"effort"}),
        ("This model does not support structured outputs", {"effort"}),
    ],
)
def test_only_what_is_refused_is_left_out(said: str, left: set[str]) -> None:
    answer, server = asked(refusal(400, "invalid_request_error", said), message())
    assert (answer.status, answer.sent) == (Status.OK, 2)
    assert set(server.bodies[1]["output_config"]) == left


def test_what_one_model_refuses_another_is_still_sent() -> None:
    with ModelServer(refusal(400, "invalid_request_error", "output_config"), message()) as server:
        provider = connected(server.url)
        asker = asking(provider)
        asker.ask(request(model="claude-old"))
        asker.ask(request())
        provider.close()
    assert ["output_config" in body for body in server.bodies] == [True, False, True]


def test_a_plain_reply_is_held_to_the_schema_all_the_same() -> None:
    unknown = refusal(400, "invalid_request_error", "output_config")
    answer, _ = asked(unknown, message('```json\n{"score": 12}\n```'))
    assert answer.status is Status.INVALID


def test_a_server_that_refuses_for_ever_is_not_asked_for_ever() -> None:
    answer, server = asked(refusal(400, "invalid_request_error", "output_config.effort, output_config.format"))
    assert (answer.status, answer.cause) == (Status.ERROR, Cause.REQUEST)
    assert ["output_config" in body for body in server.bodies] == [True, False]


def test_all_of_many_at_once_learn_what_a_model_does_not_know() -> None:
    def gateway(handler: Any) -> None:
        known = "output_config" not in server.bodies[-1]
        both.wait()  # so that both were sent before either was refused
        (message() if known else refusal(400, "invalid_request_error", "output_config"))(handler)

    both = threading.Barrier(2, timeout=120)
    with ModelServer(gateway) as server:
        provider = connected(server.url)
        asker = asking(provider)
        answers: list[Answer] = []
        threads = [threading.Thread(target=lambda: answers.append(asker.ask(request()))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        provider.close()
    assert [(answer.status, answer.sent) for answer in answers] == [(Status.OK, 2), (Status.OK, 2)]
