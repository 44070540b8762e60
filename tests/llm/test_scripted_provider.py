"""The scripted model as a provider: no socket, but the failures, delays and cuts of one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from skillgate.errors import UsageError
from skillgate.llm.port import Connection, ProviderError
from skillgate.model.exchange import SCRIPTED_PREFIX, Cause, Request
from skillgate.registry import Room
from tests.llm.scripted_bodies import assessments, plain

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.llm.port import Provider

GREETING = Request(question="greeting", subject="a", body=plain())


def provider(folder: Path, rules: str | None = None) -> Provider:
    """Connect as a run does: by the provider's name."""
    if rules is not None:
        (folder / "rules.yaml").write_text(rules, encoding="utf-8")
    found: Provider = (
        Room("skillgate.llm.providers")
        .load("scripted")
        .connect(Connection(environ={}, file=None if rules is None else "rules.yaml", cwd=str(folder)))
    )
    return found


def failed(made: Provider, *, timeout_s: float = 5) -> ProviderError:
    """Give the error of a request."""
    with pytest.raises(ProviderError) as caught:
        made.send(GREETING, timeout_s=timeout_s)
    return caught.value


def test_it_is_never_taken_for_a_live_model(tmp_path: Path) -> None:
    made = provider(tmp_path)
    reply = made.send(assessments()["output_quality"], timeout_s=5)
    assert (made.name, made.live) == ("scripted", False)
    assert reply.model.startswith(SCRIPTED_PREFIX)
    assert reply.text.count("Scripted answer, not a judgement:") == 1
    assert reply.tokens is not None
    assert reply.tokens.input > reply.tokens.output > 0


def test_other_rules_are_another_model(tmp_path: Path) -> None:
    endpoints = [
        provider(tmp_path, rules).endpoint
        for rules in (None, "rules: []", "rules: [{reply: {text: a}}]", "rules: [{reply: {text: b}}]")
    ]
    assert len(set(endpoints)) == 4
    assert provider(tmp_path).endpoint == endpoints[0]


def test_the_question_is_known_without_being_written(tmp_path: Path) -> None:
    made = provider(tmp_path, "rules: [{match: {question: greeting}, reply: {text: good day}}]")
    assert made.send(GREETING, timeout_s=5).text == "good day"


@pytest.mark.parametrize(
    ("status", "cause", "again"),
    [
        (400, Cause.REQUEST, False),
        (401, Cause.CREDENTIALS, False),
        (402, Cause.BILLING, False),
        (403, Cause.CREDENTIALS, False),
        (404, Cause.MODEL, False),
        (409, Cause.SERVER, True),
        (413, Cause.TOO_LONG, False),
        (429, Cause.RATE, True),
        (500, Cause.SERVER, True),
        (529, Cause.SERVER, True),
    ],
)
def test_a_failure_means_what_it_would_mean_over_a_socket(
    status: int, cause: Cause, *, again: bool, tmp_path: Path
) -> None:
    error = failed(provider(tmp_path, f"rules: [{{reply: {{status: {status}, retry_after_s: 9}}}}]"))
    assert (error.cause, error.retryable, error.status, error.retry_after_s) == (cause, again, status, 9)


def test_a_cut_reply_and_one_too_late_may_be_tried_again(tmp_path: Path) -> None:
    for reply, timeout_s in (("{text: a, cut: true}", 5), ("{text: a, delay_ms: 60000}", 0.01)):
        error = failed(provider(tmp_path, f"rules: [{{reply: {reply}}}]"), timeout_s=timeout_s)
        assert (error.cause, error.retryable) == (Cause.NETWORK, True)


def test_closing_ends_a_delay(tmp_path: Path) -> None:
    made = provider(tmp_path, "rules: [{reply: {text: a, delay_ms: 60000}}]")
    closer = threading.Timer(0.05, made.close)
    closer.start()
    error = failed(made, timeout_s=60)
    closer.join()
    assert error.cause is Cause.STOPPED


def test_rules_that_cannot_be_read_end_the_run(tmp_path: Path) -> None:
    for file, said in (("none.yaml", "none.yaml: .* cannot be read"), ("a\0b", "cannot be read"), (".", "cannot be")):
        with pytest.raises(UsageError, match=said):
            Room("skillgate.llm.providers").load("scripted").connect(
                Connection(environ={}, file=file, cwd=str(tmp_path))
            )
    (tmp_path / "large.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(UsageError, match="larger than 1024 KiB"):
        Room("skillgate.llm.providers").load("scripted").connect(
            Connection(environ={}, file="large.yaml", cwd=str(tmp_path))
        )
