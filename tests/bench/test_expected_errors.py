"""Tasks whose right answer is a refusal: of programs, MCP servers and HTTP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task
from tests.bench.test_http import TOKEN, serving, whole

if TYPE_CHECKING:
    from pathlib import Path

RPC = 'print(\'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Bad zone", "data": {"zone": "X"}}}\')'
EXIT = "import sys; sys.stderr.write('no such file'); sys.exit(3)"
BOTH = f"import sys; {RPC}; sys.exit(4)"


def result_of(cwd: Path, expected: dict[str, Any], *words: str, **environ: str) -> dict[str, Any]:
    benchmark(cwd / "b.json", task(expectedOutput={"type": "error", **expected}))
    done = run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words, **environ)
    assert done.out, done.err
    (result,) = done.json["reports"][0]["taskResults"]
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize(
    ("code", "expected", "status", "words"),
    [
        (RPC, {}, "pass", "-32602"),
        (RPC, {"code": -32602, "contains": "bad zone"}, "pass", "refused as expected"),
        (RPC, {"contains": '"zone": "X"'}, "pass", "refused as expected"),
        (RPC, {"code": -32601}, "fail", "expected an error with code -32601, found -32602"),
        (RPC, {"contains": "Denied"}, "fail", 'contains "Denied"'),
        (BOTH, {"code": -32602}, "pass", "refused as expected"),
        (EXIT, {"code": 3, "contains": "no such file"}, "pass", "3: "),
        (EXIT, {"code": 4}, "fail", "code 4, found 3"),
        (answering("data['n']"), {}, "fail", "expected an error, found the answer 1"),
    ],
)
def test_a_program_refuses(tmp_path: Path, code: str, expected: dict[str, Any], status: str, words: str) -> None:
    skill(tmp_path / "s", code)
    result = result_of(tmp_path, expected)
    assert (result["status"], result["scorerType"], words in result["reason"]) == (status, "error", True), result
    assert (result["score"], result["error"], result["errorKind"]) == (float(status == "pass"), None, None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import os; os.kill(os.getpid(), 9)", "crash"),
        ("import time; time.sleep(60)", "timeout"),
        ("print('hello')", "protocol"),
    ],
)
def test_what_is_no_refusal_stays_an_error(tmp_path: Path, code: str, kind: str) -> None:
    skill(tmp_path / "s", code)
    result = result_of(tmp_path, {}, "--timeout", "2s")
    assert (result["errorKind"], result["score"]) == (kind, 0), result


def test_only_what_is_not_expected_is_tried_again(tmp_path: Path) -> None:
    skill(tmp_path / "s", EXIT, config={"retries": 1})
    assert result_of(tmp_path, {"code": 3})["attempts"] == []
    assert len(result_of(tmp_path, {"code": 5})["attempts"]) == 1


@pytest.mark.parametrize(
    ("answer", "expected", "status"),
    [
        (whole(b'{"detail": "no such order"}', "404 Not Found"), {"code": 404, "contains": "No such order"}, "pass"),
        (whole(b"go away", "403 Forbidden"), {"code": 403}, "pass"),
        (whole(b"", "500 Internal Server Error"), {"code": 404}, "fail"),
        (whole(b'{"result": 1}'), {"code": 404}, "fail"),
    ],
)
def test_a_server_refuses(tmp_path: Path, answer: bytes, expected: dict[str, Any], status: str) -> None:
    with serving(answer) as server:
        skill(tmp_path / "s", adapterType="http", entrypoint=server.url)
        assert result_of(tmp_path, expected)["status"] == status


def test_a_refusal_is_kept_with_status_headers_and_body_and_without_the_token(tmp_path: Path) -> None:
    body = b'{"detail": "bad token %s"}' % TOKEN.encode()
    config = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
    with serving(whole(body, "401 Unauthorized", "Set-Cookie: session=1", "X-Reason: old")) as server:
        skill(tmp_path / "s", adapterType="http", entrypoint=server.url, config=config)
        result = result_of(tmp_path, {"code": 401, "contains": "[redacted]"}, SKILL_TOKEN=TOKEN)
    output = result["output"]["value"]
    assert (output["status"], output["body"]) == (401, {"detail": "bad token [redacted]"})
    assert output["headers"]["x-reason"] == "old"
    assert "set-cookie" not in output["headers"]
    assert TOKEN not in str(result)


def test_a_task_without_any_expectation_is_still_refused(tmp_path: Path) -> None:
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", task(expectedOutput={}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert (done.code, "nothing that a scorer can use" in done.err) == (2, True), done.err


def test_the_scorer_is_no_default(tmp_path: Path) -> None:
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", task())
    assert run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--evaluator", "error").code == 2
