"""What counts as a JSON-RPC reply, and what is said of the rest."""

from __future__ import annotations

import json

import pytest

from skillgate.bench.replies import read_reply
from skillgate.model.bench_result import BenchUsage, ErrorKind

GOOD = {"jsonrpc": "2.0", "id": 1, "result": 7}


def test_a_reply_is_found_below_noise_and_the_last_one_counts() -> None:
    text = f"loading\n{json.dumps({**GOOD, 'result': 1})}\n{json.dumps(GOOD)}\n"
    assert read_reply(text.encode()).output == 7


def test_a_reply_over_several_lines_counts() -> None:
    assert read_reply(json.dumps(GOOD, indent=2).encode()).output == 7


def test_null_is_an_answer() -> None:
    reply = read_reply(json.dumps({**GOOD, "result": None}).encode())
    assert (reply.kind, reply.output, reply.answered) == (None, None, True)


@pytest.mark.parametrize(
    ("stdout", "words"),
    [
        (b"", "it wrote nothing"),
        (b"hello", "no JSON-RPC reply"),
        (b'{"result": 1}', "jsonrpc is missing"),
        (b'{"jsonrpc": "1.0", "id": 1, "result": 1}', 'expected "2.0"'),
        (b'{"jsonrpc": "2.0", "id": 2, "result": 1}', "id 2, expected 1"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": 1, "error": {}}', "both result and error"),
        (b'{"jsonrpc": "2.0", "id": 1}', "neither result nor error"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": NaN}', "NaN"),
        ('{"jsonrpc": "2.0", "id": 1, "result": "é"}'.encode("latin-1"), "byte 39"),
    ],
)
def test_a_broken_reply_is_told_precisely(stdout: bytes, words: str) -> None:
    reply = read_reply(stdout)
    assert reply.kind is ErrorKind.PROTOCOL
    assert words in reply.error
    assert reply.retryable


def test_an_error_that_speaks_of_a_timeout_is_an_rpc_error() -> None:
    reply = read_reply(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "upstream timeout"}}')
    assert (reply.kind, reply.retryable) == (ErrorKind.RPC, False)


def test_tokens_are_read_where_they_are_counts() -> None:
    said = {**GOOD, "usage": {"input_tokens": 3, "output_tokens": 4}}
    assert read_reply(json.dumps(said).encode()).usage == BenchUsage(input=3, output=4, total=7)
    assert read_reply(json.dumps({**GOOD, "usage": {"input_tokens": -1}}).encode()).usage is None


def test_a_message_is_bounded_and_printable() -> None:
    reply = read_reply(("\x1b[31m" + "x" * 100_000).encode())
    assert len(reply.error) < 2_001
    assert "\x1b" not in reply.error
