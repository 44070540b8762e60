"""What counts as a JSON-RPC reply, and what is said of the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.answers import read_reply
from skillgate.model.bench import BenchUsage, ErrorKind
from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"jsonrpc": "2.0", "id": 1, "result": 7}


def test_a_reply_is_found_between_noise() -> None:
    others = [{"jsonrpc": "2.0", "method": "log", "params": {}}, {"jsonrpc": "2.0", "id": 2, "result": 1}, {"a": 1}]
    noise = "\n".join(["loading", *map(json.dumps, others)])
    assert read_reply(f"{noise}\n{json.dumps(GOOD)}\n{noise}\n".encode()).output == 7


TWO = [
    [{**GOOD, "result": 1}, GOOD],
    [GOOD, GOOD],
    [GOOD, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}],
    [{**GOOD, "id": None}, GOOD],
    [{"jsonrpc": "2.0", "result": 1}, GOOD],
]


@pytest.mark.parametrize("replies", TWO)
def test_two_replies_with_one_id_are_an_error(replies: list[dict[str, Any]]) -> None:
    reply = read_reply("\n".join(["start", *map(json.dumps, replies), "end"]).encode())
    assert (reply.kind, reply.output, reply.answered) == (ErrorKind.PROTOCOL, None, False)
    assert reply.error == "it wrote 2 replies with id 1, expected 1"


def test_two_replies_of_a_skill_score_nothing(tmp_path: Path) -> None:
    forged = "print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': 1}), flush=True)\n"
    skill(tmp_path / "s", f"import json\n{forged}{answering('0')}")
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    (result,) = done.json["reports"][0]["taskResults"]
    assert (result["status"], result["errorKind"]) == ("error", "protocol")
    assert "2 replies with id 1" in result["error"]


@pytest.mark.parametrize("between", [[], ["loading"], [json.dumps({"a": 1})] * 3])
def test_two_replies_of_a_persistent_skill_that_come_together_score_nothing(tmp_path: Path, between: list[str]) -> None:
    code = f"""\
import json, os, sys
for line in sys.stdin:
    number = json.loads(line)["id"]
    first, second = [json.dumps({{"jsonrpc": "2.0", "id": number, "result": value}}) for value in (1, 0)]
    os.write(1, ("\\n".join([first, *{between!r}, second]) + "\\n").encode())
"""
    skill(tmp_path / "s", code, config={"persistent": True})
    benchmark(tmp_path / "b.json", task("a"), task("b"))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    results = done.json["reports"][0]["taskResults"]
    assert [(one["status"], one["errorKind"]) for one in results] == [("error", "protocol")] * 2
    assert all("2 replies with id 1" in one["error"] for one in results)


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
        (b'{"jsonrpc": "2.0", "id": 1, "result": %s}' % (b"9" * 5_000), "a number with too many digits"),
        (b'noise\n{"jsonrpc": "2.0", "id": 1, "result": %s}' % (b"9" * 5_000), "a number with too many digits"),
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
