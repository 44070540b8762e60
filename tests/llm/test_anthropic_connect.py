"""Where the Messages API is found and with what key: the given environment first, then the SDK's own ways."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from skillgate.errors import UsageError
from skillgate.llm.port import Connection, ProviderError
from skillgate.llm.providers import anthropic
from skillgate.model.exchange import Cause, Status
from tests.llm.requests import KEY, asking, connected, request
from tests.llm.server import ModelServer, echo_headers, message, refusal

if TYPE_CHECKING:
    from pathlib import Path


def failed(provider: anthropic.Messages, timeout_s: float = 20.0) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        provider.send(request(), timeout_s=timeout_s)
    provider.close()
    return caught.value


def no_credentials(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    for name in os.environ:
        if name.startswith("ANTHROPIC_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("APPDATA", str(home))


def test_without_a_key_nothing_is_sent_and_the_message_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_credentials(monkeypatch, tmp_path)
    with ModelServer(message()) as server:
        provider = anthropic.connect(Connection({}, base_url=server.url))
        answer = asking(provider).ask(request())
        provider.close()
    assert (answer.status, answer.cause, server.seen) == (Status.ERROR, Cause.CREDENTIALS, [])
    assert "ANTHROPIC_API_KEY" in answer.reason


def test_credentials_that_cannot_be_read_are_told_when_something_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")
    provider = anthropic.connect(Connection({}))
    assert provider.endpoint == "https://api.anthropic.com"
    error = failed(provider)
    assert error.cause is Cause.CREDENTIALS
    assert "nobody" in str(error)


def test_the_given_environment_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-process")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    with ModelServer(message()) as server:
        environ = {"ANTHROPIC_AUTH_TOKEN": "a-token", "ANTHROPIC_BASE_URL": f"{server.url}/gateway/"}
        provider = anthropic.connect(Connection(environ))
        provider.send(request(), timeout_s=20)
        provider.close()
    assert server.seen[0].headers["authorization"] == "Bearer a-token"
    assert server.seen[0].path == "/gateway/v1/messages"
    assert provider.endpoint == f"{server.url}/gateway"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_key_that_a_server_quotes_is_in_no_message(status: int) -> None:
    with ModelServer(echo_headers(status)) as server:
        error = failed(connected(server.url))
        told = "".join(traceback.format_exception(error))
    assert KEY in server.seen[0].headers["authorization"]
    assert KEY[:12] not in told
    assert "Bearer" not in told


def test_an_address_in_messages_holds_no_query() -> None:
    provider = connected("http://127.0.0.1:9/v1?token=abc")
    assert provider.endpoint == "http://127.0.0.1:9/v1"
    assert "abc" not in str(failed(provider))


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter2@127.0.0.1:9/v1",
        "http://hunter2@127.0.0.1:9",
        "http://:hunter2@127.0.0.1:9",
        "user:hunter2@127.0.0.1",
        "http://user:hunter2@",
        "http://user:hunter2@[",
        "ftp://user:hunter2@host",
    ],
)
@pytest.mark.parametrize("variable", [False, True])
def test_an_address_with_a_user_or_a_password_is_refused_and_not_repeated(url: str, *, variable: bool) -> None:
    environ = {"ANTHROPIC_BASE_URL": url} if variable else {}
    with pytest.raises(UsageError, match="a user or a password") as caught:
        anthropic.connect(Connection(environ, base_url=None if variable else url))
    assert "hunter2" not in str(caught.value)
    assert ("ANTHROPIC_BASE_URL" if variable else "base-url") in str(caught.value)


@pytest.mark.parametrize("status", [400, 403, 500])
def test_the_values_of_headers_of_one_s_own_are_in_no_message(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    headers = (
        "X-Team: a\nX-Gateway-Token: gw7f3secretsecret\n X-Login : Token hunter2hunter2 \nX-Basic: Basic dXNlcjpwdw=="
    )
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)  # where the SDK reads them
    with ModelServer(echo_headers(status)) as server:
        error = failed(connected(server.url, ANTHROPIC_CUSTOM_HEADERS=headers))
    assert server.seen[0].headers["x-gateway-token"] == "gw7f3secretsecret"
    assert not [word for word in ("gw7f3", "hunter2", "dXNlcjpwdw") if word in str(error)]


def test_one_s_own_headers_are_in_no_message_in_part_either(monkeypatch: pytest.MonkeyPatch) -> None:
    headers = "X-Login: Token hunter2hunter2\nX-Team: a"
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)
    said = 'hunter2hunter2 is wrong, as is "Basic dXNlcjpwdw=="; a team that is not known'
    with ModelServer(refusal(400, "invalid_request_error", said)) as server:
        error = failed(connected(server.url, ANTHROPIC_CUSTOM_HEADERS=headers))
    assert str(error).endswith('[redacted] is wrong, as is "[redacted] a team that is not known')


def test_a_server_s_words_are_one_short_line() -> None:
    said = "a\nb\x1b[31m\u202e" + "x" * 5_000 + "\ud800"
    with ModelServer(refusal(400, "invalid_request_error", said)) as server:
        error = failed(connected(server.url))
    assert len(str(error)) < 400
    assert str(error).isprintable()


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://host", "http://", "http://[", "http://host:99999"])
def test_what_is_no_address_is_a_mistake_of_the_user(url: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        connected(url)


# The platforms


def test_bedrock_is_spoken_with_its_own_key_and_path() -> None:
    environ = {
        "SKILLGATE_ANTHROPIC_PLATFORM": "bedrock",
        "AWS_REGION": "eu-west-1",
        "AWS_BEARER_TOKEN_BEDROCK": "bedrock-key",
    }
    with ModelServer(message()) as server:
        provider = connected(server.url, **environ)
        reply = provider.send(request(model="anthropic.claude-sonnet-5-5"), timeout_s=20)
        provider.close()
    assert reply.text == '{"score": 7}'
    assert server.seen[0].path == "/model/anthropic.claude-sonnet-5-5/invoke"
    assert server.seen[0].headers["authorization"] == "Bearer bedrock-key"
    assert "output_config" in server.seen[0].body


def test_bedrock_without_credentials_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with ModelServer(message()) as server:
        error = failed(connected(server.url, SKILLGATE_ANTHROPIC_PLATFORM="bedrock", AWS_REGION="eu-west-1"))
    assert (error.cause, server.seen) == (Cause.CREDENTIALS, [])


def test_vertex_without_a_region_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOUD_ML_REGION", raising=False)
    error = failed(connected("http://127.0.0.1:9", SKILLGATE_ANTHROPIC_PLATFORM="vertex"))
    assert error.cause is Cause.CREDENTIALS
    assert "CLOUD_ML_REGION" in str(error)


def test_a_platform_that_is_not_known_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match="bedrock, vertex"):
        connected("http://127.0.0.1:9", SKILLGATE_ANTHROPIC_PLATFORM="azure")
