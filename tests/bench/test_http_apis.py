"""HTTP APIs as they are: the request of a skill and its tasks, and what scorers see of the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.documents import check_config, check_task, decoded
from skillgate.bench.http.messages import Message, UnsendableError, merged, message_of
from skillgate.bench.steps import MissingValueError
from skillgate.errors import UsageError
from skillgate.model.benchmark import AdapterConfig, HttpRequest, Task
from tests.bench.made import benchmark, run, skill, task
from tests.bench.test_http import TOKEN, Served, serving, whole

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("httpx2", reason="httpx2 is of the extra bench")

URL = "http://api.example/v1"
AUTH = {"authTokenEnvKey": "SKILL_T"}
VALUES = {
    "id": 7,
    "word": "a/../b?c#d",
    "list": ["x", "y z"],
    "null": None,
    "map": {"a": 1},
    "line": "a\r\nb: c",
    "e": "",
}


def filled(url: str = URL, **request: Any) -> Message:
    return message_of(decoded(HttpRequest, request, "request"), VALUES, url)


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({}, "GET http://api.example/v1"),
        ({"path": "/orders/{{id}}/x"}, "GET http://api.example/v1/orders/7/x"),
        ({"path": "/{{ word }}"}, "GET http://api.example/v1/a%2F..%2Fb%3Fc%23d"),
        ({"path": "/{{list}}"}, "GET http://api.example/v1/x%2Cy%20z"),
        ({"path": "//evil.example/{{id}}"}, "GET http://api.example/v1//evil.example/7"),
        ({"query": {"q": "{{word}}", "n": 2, "b": True}}, "GET http://api.example/v1?q=a%2F..%2Fb%3Fc%23d&n=2&b=true"),
        ({"query": {"q": "{{list}}", "a&b": "in {{id}}"}}, "GET http://api.example/v1?q=x&q=y+z&a%26b=in+7"),
        ({"query": {"q": "{{none?}}", "r": None, "s": "{{null}}", "t": "{{id?}}"}}, "GET http://api.example/v1?t=7"),
        ({"method": "DELETE"}, "DELETE http://api.example/v1"),
        ({"json": None}, "POST http://api.example/v1"),
        ({"method": "PUT", "text": "x"}, "PUT http://api.example/v1"),
        ({"text": ""}, "POST http://api.example/v1"),
    ],
)
def test_the_line_of_a_request(request_: dict[str, Any], line: str) -> None:
    message = filled(**request_)
    assert f"{message.method} {message.url}" == line


def test_a_path_is_added_to_that_of_the_address_and_a_query_to_its_own() -> None:
    assert filled("http://h/?a=1", path="/x", query={"b": 2}).url == "http://h/x?a=1&b=2"
    assert filled("http://h", path="//evil.example/x").url == "http://h//evil.example/x"


@pytest.mark.parametrize(
    ("request_", "content", "kind"),
    [
        ({"json": {"a": "{{id}}", "b": "no {{id}}", "c": "{{none?}}", "d": ["{{map}}", "{{none?}}"]}},
         b'{"a": 7, "b": "no 7", "d": [{"a": 1}]}', "application/json"),
        ({"json": "{{map?}}"}, b'{"a": 1}', "application/json"),
        ({"json": "{{none?}}"}, None, None),
        ({"json": None}, b"null", "application/json"),
        ({"form": {"a": "{{word}}", "b": "{{list}}", "c": "{{none?}}"}},
         b"a=a%2F..%2Fb%3Fc%23d&b=x&b=y+z", "application/x-www-form-urlencoded"),
        ({"text": "é {{id}}"}, "é 7".encode(), "text/plain; charset=utf-8"),
        ({"text": "<a/>", "headers": {"content-type": "text/xml"}}, b"<a/>", "text/xml"),
        ({"text": ""}, None, None),
    ],
)  # fmt: skip
def test_the_body_of_a_request(request_: dict[str, Any], content: bytes | None, kind: str | None) -> None:
    message = filled(**request_)
    kinds = [value for name, value in message.headers.items() if name.lower() == "content-type"]
    assert (message.content, kinds) == (content, [kind] if kind else [])


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"path": "/{{e}}"}, "is empty"),
        ({"path": "/{{null}}"}, "is null"),
        ({"path": "/x/.{{dot}}/y"}, "has a part . or .."),
        ({"headers": {"X-A": "{{line}}"}}, "printable ASCII on one line"),
        ({"headers": {"X-A": "é{{id}}"}}, "printable ASCII on one line"),
    ],
)
def test_a_value_that_would_make_another_request_is_not_sent(request_: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsendableError, match=words):
        message_of(decoded(HttpRequest, request_, "r"), {**VALUES, "dot": "."}, URL)


def test_a_missing_value_is_named() -> None:
    with pytest.raises(MissingValueError, match="none"):
        filled(path="/{{none}}")


def test_a_task_overrides_its_skill_key_by_key() -> None:
    base = {"method": "PUT", "path": "/a", "query": {"a": 1, "b": 2}, "headers": {"X-A": "1", "X-B": "1"}, "json": 1}
    over = {"path": "/b", "query": {"b": None, "c": 3}, "headers": {"x-a": "2"}, "form": {"f": 1}}
    both = merged(decoded(HttpRequest, base, "r"), decoded(HttpRequest, over, "r"))
    assert both is not None
    message = message_of(both, {}, "http://h")
    assert (message.method, message.url, message.content) == ("PUT", "http://h/b?a=1&c=3", b"f=1")
    assert message.headers == {"Content-Type": "application/x-www-form-urlencoded", "X-B": "1", "x-a": "2"}


WRONG = [
    ({"method": "get"}, "method: expected one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, found 'get'"),
    ({"method": "G\r\nET"}, "method: expected one of"),
    ({"path": "users"}, "path: expected a path that begins with /"),
    ({"path": "https://evil.example/x"}, "the address is the entrypoint"),
    ({"path": "/a b"}, "a character that a path cannot have"),
    ({"path": "/a?b=c"}, "a query as query"),
    ({"path": "/a\r\nHost: x"}, "a character that a path cannot have"),
    ({"path": "/users/{n}"}, "write values as {{name}}"),
    ({"path": "/a/../b"}, "has a part . or .."),
    ({"path": "/a/%2E%2e/b"}, "has a part . or .."),
    ({"path": "/{{n?}}"}, "can be left out only where it is all of a value"),
    ({"path": "/{{m}}"}, "there is no value for {{m}}"),
    ({"query": {"a": "x {{n?}}"}}, "query.a: {{n?}} can be left out only"),
    ({"query": {"a": "{{a-b}}"}}, "query.a: '{{a-b}}' is not the name of a value"),
    ({"headers": {"X-A": "a\r\nb"}}, "headers.X-A: expected printable ASCII on one line"),
    ({"headers": {"X A": "a"}}, "'X A' is not a header name"),
    ({"headers": {"Host": "evil"}}, "headers.Host: cannot be set here"),
    ({"headers": {"Content-Length": "5"}}, "headers.Content-Length: cannot be set here"),
    ({"headers": {"Authorization": "Bearer x"}}, "a token does not belong in a file"),
    ({"headers": {"Cookie": "a=b"}}, "a token does not belong in a file"),
    ({"json": 1, "text": "a"}, "json, form, text: expected one of them at most"),
]


@pytest.mark.parametrize(("request_", "words"), WRONG)
def test_a_request_that_cannot_be_is_refused_in_a_task_a_step_and_a_skill(request_: dict[str, Any], words: str) -> None:
    config = decoded(AdapterConfig, {"request": request_}, "c")
    found = [*check_config(config)]
    assert any(words in line for line in found) or "no value" in words
    single = decoded(Task, {**task(), "request": request_}, "t")
    assert any(line.startswith("request.") or words in line for line in check_task(single) if words in line)
    steps = decoded(Task, {**task(), "steps": [{"request": request_}]}, "t")
    assert any(line.startswith("steps[0].request") for line in check_task(steps) if words in line)


def test_an_unknown_key_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(UsageError, match=r"request.*query"):
        decoded(Task, {**task(), "request": {"queri": {}}}, "t")


def evaluated(cwd: Path, server: Served, *tasks: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    environ = {key: more.pop(key) for key in [*more] if key.startswith("SKILL_")}
    words = more.pop("words", ())
    skill(cwd / "s", adapterType="http", entrypoint=server.url, config=more.pop("config", {}), **more)
    benchmark(cwd / "b.json", *tasks)
    done = run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store", *words, **environ)
    assert done.out, done.err
    found: list[dict[str, Any]] = done.json["reports"][0]["taskResults"]
    return found


def expecting(path: str | None, expected: Any, **changes: Any) -> dict[str, Any]:
    expectation = {"type": "exact", "value": expected}
    return task(request={"path": "/x"}, expectedOutput=expectation, evaluator={"path": path}, **changes)


def plain(body: bytes, kind: str, status: str = "200 OK") -> bytes:
    return whole(body, status).replace(b"application/json", kind.encode())


@pytest.mark.parametrize(
    ("answer", "path", "expected"),
    [
        (whole(b'{"result": 1}'), None, {"result": 1}),
        (whole(b'{"a": [2]}'), "/body/a/0", 2),
        (whole(b"{}", "201 Created"), "/status", 201),
        (whole(b"{}", "200 OK", "X-Total: 3"), "/headers/x-total", "3"),
        (whole(b"{}", "200 OK", "Set-Cookie: a=b"), "/headers/set-cookie", ABSENT := "absent"),
        (plain(b"<h1>\xc3\xa9</h1>", "text/html"), None, "<h1>é</h1>"),
        (plain(b"123", "text/plain"), "/body", "123"),
        (plain(b"caf\xe9", "text/plain; charset=latin-1"), None, "café"),
        (whole(b"", "204 No Content"), None, None),
        (plain(b'{"a": 1}', "application/problem+json"), "/body/a", 1),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n17", None, 17),
        (plain(b"\x89PNG\xff", "image/png"), "/body/bytes", 5),
        (plain(b"abc", "text/plain; charset=undefined"), None, "abc"),
        (plain(b"xn--a", "text/plain; charset=idna"), None, "xn--a"),
        (plain(b"a\\q", "text/plain; charset=unicode_escape"), None, "a\\q"),
    ],
)
def test_a_task_checks_the_status_a_header_or_the_body(
    tmp_path: Path, answer: bytes, path: str | None, expected: Any
) -> None:
    with serving(answer) as server:
        (found,) = evaluated(tmp_path, server, expecting(path, expected))
    assert found["status"] == ("fail" if expected == ABSENT else "pass"), found
    assert found["output"]["value"].keys() == {"status", "headers", "body"}


SCHEMA = {"type": "object", "required": ["items"], "properties": {"items": {"type": "array"}}}


@pytest.mark.parametrize(
    ("body", "expected", "path", "reason"),
    [
        (b'{"items": []}', {"type": "json_schema", "schema": SCHEMA}, None, "valid"),
        (b'{"items": 1}', {"type": "json_schema", "schema": SCHEMA}, None, "/items: 1 is not of type 'array'"),
        (b'{"result": 1}', {"type": "json_schema", "schema": SCHEMA}, None, "'items' is a required property"),
        (b"[1]", {"type": "json_schema", "schema": {"type": "array"}}, None, "valid"),
        (b"[1]", {"type": "json_schema", "schema": {"maxItems": 0}}, None, "the answer: [1] is expected to be empty"),
        (b'{"items": []}', {"type": "exact", "value": 1}, "/items", "at /items (an HTTP answer has /status, /headers"),
        (b'{"items": []}', {"type": "exact", "value": 1}, "/body/none", "the answer has no value at /body/none"),
        (b'{"a": 1}', {"type": "error"}, None, 'expected an error, found the answer with status 200: {"a": 1}'),
    ],
)
def test_a_reason_is_about_the_body(
    tmp_path: Path, body: bytes, expected: dict[str, Any], path: str | None, reason: str
) -> None:
    with serving(whole(body)) as server:
        one = task(request={"path": "/x"}, expectedOutput=expected, evaluator={"path": path})
        (found,) = evaluated(tmp_path, server, one)
    assert reason in found["reason"], found
    assert (found["status"] == "pass") == (reason == "valid")
    assert "only the value of" not in found["reason"]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (whole(b"<html>"), "protocol", "its answer says that it is JSON, and is not"),
        (whole(b'{"a": NaN}'), "protocol", "NaN"),
        (whole(b'"\xff"'), "protocol", "byte 1 of its answer is not UTF-8"),
        (whole(b"x" * 6_000_000), "output_limit", "5,242,880 bytes"),
        (whole(b"{}", "404 Not Found"), "http_status", "status 404"),
    ],
)
def test_what_an_api_does_wrong_has_a_kind(tmp_path: Path, answer: bytes, kind: str, words: str) -> None:
    with serving(answer) as server:
        (found,) = evaluated(tmp_path, server, expecting(None, {}))
    assert (found["errorKind"], words in found["error"]) == (kind, True), found["error"]


@pytest.mark.parametrize(
    ("path", "contains", "status"),
    [
        (None, "no such", "pass"),
        ("/headers/x-reason", "GONE", "pass"),
        ("/headers/x-reason", "no such", "fail"),
        ("/body/detail/0/loc", "id", "pass"),
        ("/body/none", "id", "fail"),
    ],
)
def test_an_expected_error_is_checked_by_status_header_and_body(
    tmp_path: Path, path: str | None, contains: str, status: str
) -> None:
    body = b'{"detail": [{"loc": ["path", "id"], "msg": "no such order"}]}'
    with serving(whole(body, "422 Unprocessable", "X-Reason: gone")) as server:
        expected = {"type": "error", "code": 422, "contains": contains}
        evaluator = {} if path is None else {"path": path}
        one = task(request={"path": "/x"}, expectedOutput=expected, evaluator=evaluator)
        (found,) = evaluated(tmp_path, server, one)
    assert found["status"] == status, found


def test_a_redirect_is_followed_on_the_same_server_unless_it_is_expected(tmp_path: Path) -> None:
    moved = whole(b"", "302 Found", "Location: /there")
    with serving(moved, whole(b'{"n": 1}')) as server:
        (found,) = evaluated(tmp_path, server, expecting("/body/n", 1))
    assert found["status"] == "pass", found
    assert [request.split(b" HTTP")[0] for request in server.requests] == [b"GET /x", b"GET /there"]
    with serving(whole()) as other:
        for location, method in (("/there", "GET"), ("/there", "POST"), (other.url, "GET")):
            with serving(whole(b"", "302 Found", f"Location: {location}"), whole()) as server:
                expected = {"type": "error", "code": 302, "contains": location}
                request = {"method": method, "path": "/x"}
                evaluator = {"path": "/headers/location"}
                one = task(request=request, expectedOutput=expected, evaluator=evaluator)
                (found,) = evaluated(tmp_path, server, one)
            assert (found["status"], len(server.requests)) == ("pass", 1), found
        with serving(whole(b"", "302 Found", f"Location: {other.url}")) as server:
            (found,) = evaluated(tmp_path, server, expecting(None, {}))
        assert (found["errorKind"], other.requests) == ("redirect", [])


STEPS = [
    {"request": {"method": "POST", "path": "/orders", "json": {"item": "{{item}}"}}, "capture": {"id": "/body/id"},
     "expectedOutput": {"type": "exact", "value": 201}, "evaluator": {"path": "/status"}},
    {"request": {"path": "/orders/{{id}}"}},
]  # fmt: skip
DROP = {"request": {"method": "DELETE", "path": "/orders/{{id}}"}}


def test_steps_use_values_of_earlier_answers_and_the_teardown_cleans_up(tmp_path: Path) -> None:
    one = task(
        inputData={"item": "tea"},
        steps=STEPS,
        teardown=[DROP],
        expectedOutput={"type": "exact", "value": {"item": "tea"}},
    )
    with serving(whole(b'{"id": "a/b"}', "201 Created"), whole(b'{"item": "tea"}'), whole(b"", "204 No")) as server:
        (found,) = evaluated(tmp_path, server, one)
    assert found["status"] == "pass", found
    lines = [request.split(b" HTTP")[0] for request in server.requests]
    assert lines == [b"POST /orders", b"GET /orders/a%2Fb", b"DELETE /orders/a%2Fb"]
    with serving(whole(b"{}", "500 Oh")) as server:  # nothing was created, so nothing is deleted
        (found,) = evaluated(tmp_path, server, one)
    assert (len(server.requests), found["reason"] or "") == (1, "")


def test_a_captured_value_that_cannot_be_sent_is_the_servers_failure(tmp_path: Path) -> None:
    with serving(whole(b'{"id": ".."}', "201 Created")) as server:
        one = task(inputData={"item": "tea"}, steps=STEPS, expectedOutput={"type": "exact", "value": 1})
        (found,) = evaluated(tmp_path, server, one)
    assert (found["errorKind"], len(server.requests)) == ("protocol", 1)
    assert "nothing was sent: the path '/orders/..' has a part . or .." in found["error"]


def test_the_input_of_a_task_fills_the_request_of_the_skill(tmp_path: Path) -> None:
    request = {"method": "PUT", "path": "/n/{{n}}", "headers": {"X-Trace": "{{trace?}}"}, "json": {"n": "{{n}}"}}
    with serving(whole(b"1")) as server:
        (found,) = evaluated(tmp_path, server, task(), config={"request": request})
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert (found["status"], head.split(b"\r\n")[0], body) == ("pass", b"PUT /n/1 HTTP/1.1", b'{"n": 1}')
    assert b"x-trace" not in head.lower()
    assert b"skillId" not in server.requests[0]


@pytest.mark.parametrize(
    ("config", "token", "sent"),
    [
        ({"authType": "bearer"}, TOKEN, f"Authorization: Bearer {TOKEN}"),
        ({"authType": "basic"}, f"ada:{TOKEN}", "Authorization: Basic YWRhOnMzY3JldC10MGtlbi12YWx1ZQ=="),
        ({"authType": "api-key", "authName": "X-Token"}, TOKEN, f"X-Token: {TOKEN}"),
        ({"authType": "api-key", "authIn": "query", "authName": "key"}, f"{TOKEN}/+", f"?key={TOKEN}%2F%2B "),
    ],
)
def test_a_token_is_sent_to_the_server_alone_and_shown_nowhere(
    tmp_path: Path, config: dict[str, Any], token: str, sent: str
) -> None:
    coded, secret = sent.rpartition(" ")[2] or sent[5:-1], token.rpartition(":")[2]
    echo = json.dumps({"coded": coded, token: [token, f"Bearer {secret}"]}).encode()
    with serving(whole(b"", "307 T", f"Location: /y?{coded}"), whole(echo), whole(echo, "400 Bad")) as server:
        one, two = expecting("/body/coded", "[redacted]"), task("t2", request={"path": "/x", "auth": False})
        config = {**config, **AUTH}
        found = evaluated(tmp_path, server, one, two, config=config, SKILL_T=token, words=("--concurrency", "1"))
    assert [row["status"] for row in found] == ["pass", "error"], found
    assert sent.lower().encode() in server.requests[0].lower()
    assert sent.lower().encode() not in server.requests[2].lower()
    written = "".join(path.read_text() for path in (tmp_path / "reports").rglob("*") if path.is_file())
    assert secret not in json.dumps(found) + written
    assert coded not in json.dumps(found) + written


def test_basic_without_a_password_masks_the_user_alone(tmp_path: Path) -> None:
    with serving(whole(b"no key-of-ada:", "400 Bad")) as server:
        (found,) = evaluated(tmp_path, server, task(), config={"authType": "basic", **AUTH}, SKILL_T="key-of-ada:")
    assert "it answered with status 400: no [redacted]" in found["error"]


@pytest.mark.parametrize(
    ("changes", "one", "words"),
    [
        ({"config": {"request": {"path": "/{{m}}"}}}, task(), "there is no value for {{m}}"),
        ({"config": {"request": {"path": "/{{n}}"}}}, task(inputData={"n": ".."}), "has a part . or .."),
        ({"config": {"request": {"headers": {"A": "{{n}}"}}}}, task(inputData={"n": "a\nb"}), "on one line"),
        ({}, task(steps=[{"request": {"path": "/"}}, {"inputData": {}}]), "steps[1]: has no request"),
        ({"config": {"request": {"method": "GOT"}}}, task(), "did you mean 'GET'"),
        ({"config": {**AUTH, "authType": "bearer", "authName": "X"}}, task(), "only for authType"),
        ({"config": {**AUTH, "authType": "api-key", "authName": "Host"}}, task(), "is not a header"),
        ({"config": {**AUTH, "authType": "basic"}}, task(), "needs user:password"),
        ({"inputSchema": {"properties": {"nn": {}}}, "config": {"request": {"path": "/{{n}}"}}}, task(),
         "inputSchema has no property n"),
        ({"adapterType": "subprocess", "entrypoint": "python3 skill.py", "config": {"request": {}}}, task(),
         "request: only for adapterType http, found subprocess"),
        ({"adapterType": "subprocess", "entrypoint": "python3 skill.py"}, task(request={"path": "/"}),
         "has a request, which only http skills can make"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused_before_anything_runs(
    tmp_path: Path, changes: dict[str, Any], one: dict[str, Any], words: str
) -> None:
    with serving(whole()) as server:
        skill(tmp_path / "s", **{"adapterType": "http", "entrypoint": server.url, **changes})
        benchmark(tmp_path / "b.json", one)
        done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", SKILL_T="token")
        assert (done.code, words in done.err, server.requests) == (2, True, []), done.err


def test_validate_names_the_key_and_the_file(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="http", entrypoint="ftp://x", config={})
    benchmark(tmp_path / "b.eval.json", task(request={"method": "GETT", "headers": {"X": "a\r\nb"}}))
    done = run(tmp_path, "bench", "validate", ".")
    assert done.code == 1
    assert "expected an http:// or https:// address" in done.out + done.err
    assert "tasks[0].request.method" in done.out + done.err
    assert "tasks[0].request.headers.X" in done.out + done.err


def test_only_what_is_safe_is_sent_twice(tmp_path: Path) -> None:
    lost = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
    oh, wait = whole(b"{}", "500 Oh"), whole(b"{}", "429 Wait")
    for method, answer, many in (
        *(("GET", oh, 2), ("GET", lost, 2), ("DELETE", oh, 2)),
        *(("POST", oh, 1), ("PATCH", lost, 1), ("POST", wait, 2)),
    ):
        with serving(answer) as server:
            one = task(request={"method": method})
            evaluated(tmp_path, server, one, words=("--retries", "1", "--retry-delay-s", "0.01"))
        assert len(server.requests) == many, method
