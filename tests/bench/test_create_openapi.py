"""`create --from-openapi` writes a skill that calls the API itself, with tasks for the chosen operations."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import run
from tests.bench.test_create import evaluated, files
from tests.bench.test_http import serving, whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("httpx2", reason="httpx2 is of the extra bench")
pytest.importorskip("jsonschema", reason="schemas are checked by a package of an extra")


class Shop(BaseHTTPRequestHandler):
    """A small API of a shop, which notes what it was asked."""

    asked: ClassVar[list[tuple[str, str, dict[str, str], Any]]] = []

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.asked.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if "words" in self.path:
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n<html>")
        elif "away" in self.path:
            self._send(302, {}, ("Location", "http://127.0.0.1:9/elsewhere"))
        elif "missing" not in self.path:
            self._send(201 if body else 200, {"id": 7, "total": 2.5, "note": None})
        else:
            self._send(404, {"error": "no such thing"})

    do_POST = do_GET  # noqa: N815

    def _send(self, status: int, value: Any, *headers: tuple[str, str]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (*headers, ("Content-Length", str(len(data)))):
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def shop() -> Iterator[str]:
    Shop.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def document(url: str, **changes: Any) -> dict[str, Any]:
    order = {"$ref": "#/components/schemas/Order"}
    json_of = {"content": {"application/json": {"schema": order}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "2.1.0"},
        "servers": [{"url": url + "/{base}", "variables": {"base": {"default": "v1"}}}],
        "paths": {
            "/orders/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "get": {
                    "operationId": "getOrder",
                    "summary": "Get one order",
                    "parameters": [
                        {"name": "fields", "in": "query", "example": ["id", "a b"], "schema": {"type": "array"}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    ],
                    "responses": {"200": json_of},
                },
            },
            "/orders": {"post": {"requestBody": {"required": True, **json_of}, "responses": {"201": json_of}}},
        },
        "components": {
            "schemas": {
                "Order": {
                    "type": "object",
                    "required": ["id", "total"],
                    "properties": {
                        "id": {"type": "integer", "example": 7},
                        "total": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "example": 2.5},
                        "note": {"type": "string", "nullable": True},
                        "parent": {"$ref": "#/components/schemas/Order"},
                    },
                }
            }
        },
        **changes,
    }


def from_document(cwd: Path, value: Any, *words: str) -> Any:
    (cwd / "api.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return run(cwd, "create", "--name", "order", "--from-openapi", "api.json", *words)


def test_a_skill_of_an_operation_calls_the_api(shop: str, tmp_path: Path) -> None:
    pytest.importorskip("jsonschema", reason="schemas are checked by a package of an extra")
    done = from_document(tmp_path, document(shop), "--operation", "getOrder")
    assert done.code == 0, done.err
    assert done.out.endswith("--exit-on-fail --concurrency 1\n")
    assert run(tmp_path, "bench", "validate", "skills").code == 0
    assert run(tmp_path, "bench", "check", "skills/order/tests/basic.eval.json").code == 0
    done = evaluated(tmp_path, "skills/order", "--exit-on-fail")
    assert done.code == 0, done.out
    assert [asked[:2] for asked in Shop.asked] == [("GET", "/v1/orders/text?fields=id&fields=a+b")]
    spec = json.loads((tmp_path / "skills/order/skill.json").read_text())
    assert (spec["version"], spec["inputSchema"]["required"]) == ("2.1.0", ["id"])
    assert list(spec["inputSchema"]["properties"]) == ["id", "fields", "X_Trace"]
    assert spec["outputSchema"]["properties"]["total"] == {"type": "number", "exclusiveMinimum": 0}
    assert spec["outputSchema"]["properties"]["note"] == {"type": ["string", "null"]}
    assert spec["outputSchema"]["properties"]["parent"] == {}


def answered(cwd: Path, given: Any, **environ: str) -> Any:
    words = ("task", "--skill", "skills/order", "--input", json.dumps(given), "--contains", "7", "--json")
    return run(cwd, *words, **environ)


def test_what_it_is_given_reaches_the_api_in_its_place(shop: str, tmp_path: Path) -> None:
    from_document(tmp_path, document(shop), "--operation", "get /orders/{id}")
    answered(tmp_path, {"id": "a/../b?c", "X_Trace": "t1"})
    (asked,) = Shop.asked
    assert asked[1] == "/v1/orders/a%2F..%2Fb%3Fc"
    assert asked[2]["x-trace"] == "t1"
    for wrong in ({}, {"id": ".."}, {"id": ""}, {"id": None}, {"id": "1", "X_Trace": "a\r\nb: c"}):
        assert answered(tmp_path, wrong).code == 2
    assert len(Shop.asked) == 1


def test_a_body_is_sent_as_json_and_its_lack_is_a_task(shop: str, tmp_path: Path) -> None:
    from_document(tmp_path, document(shop), "--operation", "POST /orders")
    evaluated(tmp_path, "skills/order", "--concurrency", "1")
    assert [(asked[0], asked[3]) for asked in Shop.asked] == [("POST", {"id": 7, "total": 2.5}), ("POST", None)]
    tasks = json.loads((tmp_path / "skills/order/tests/basic.eval.json").read_text())["tasks"]
    assert [task["id"] for task in tasks] == ["POST /orders", "POST /orders without body"]
    assert tasks[1]["expectedOutput"] == {"type": "error"}


def secured(url: str, **scheme: Any) -> dict[str, Any]:
    value = document(url, security=[{"key": []}])
    value["components"]["securitySchemes"] = {"key": scheme}
    return value


@pytest.mark.parametrize(
    ("scheme", "token", "place"),
    [
        ({"type": "http", "scheme": "bearer"}, "s3cret", ("authorization", "Bearer s3cret")),
        ({"type": "oauth2", "flows": {}}, "s3cret", ("authorization", "Bearer s3cret")),
        ({"type": "http", "scheme": "Basic"}, "ada:s3cret", ("authorization", "Basic YWRhOnMzY3JldA==")),
        ({"type": "apiKey", "in": "header", "name": "X-Token"}, "s3cret", ("x-token", "s3cret")),
        ({"type": "apiKey", "in": "query", "name": "key"}, "s3c/ret", ("", "key=s3c%2Fret")),
    ],
)
def test_a_token_comes_from_a_variable(
    scheme: dict[str, str], token: str, place: tuple[str, str], shop: str, tmp_path: Path
) -> None:
    done = from_document(tmp_path, secured(shop, **scheme), "--operation", "getOrder")
    assert "SKILL_ORDER_TOKEN" in done.err
    assert "Set `SKILL_ORDER_TOKEN`" in (tmp_path / "skills/order/README.md").read_text()
    missing = evaluated(tmp_path, "skills/order")
    assert (missing.code, "SKILL_ORDER_TOKEN is not set" in missing.err) == (2, True)
    assert answered(tmp_path, {"id": "7"}, SKILL_ORDER_TOKEN=token).code == 0
    (asked,) = Shop.asked
    header, text = place
    assert asked[2][header] == text if header else asked[1].endswith("?" + text)
    away = answered(tmp_path, {"id": "away"}, SKILL_ORDER_TOKEN=token)
    assert (away.code, "302" in away.out, token in away.out + away.err) == (3, True, False)
    tasks = json.loads((tmp_path / "skills/order/tests/basic.eval.json").read_text())["tasks"]
    assert tasks[-1]["request"] == {"auth": False}
    evaluated(tmp_path, "skills/order", "--concurrency", "1", SKILL_ORDER_TOKEN=token)
    assert place[0] not in Shop.asked[-1][2]
    assert token not in Shop.asked[-1][1]


@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "apiKey", "in": "header", "name": "Host"},
        {"type": "apiKey", "in": "header", "name": "a\r\nb"},
        {"type": "apiKey", "in": "cookie", "name": "a"},
        {"type": "mutualTLS"},
    ],
)
def test_a_token_that_cannot_be_sent_is_named(scheme: dict[str, str], tmp_path: Path) -> None:
    done = from_document(tmp_path, secured("https://a.example", **scheme), "--operation", "getOrder")
    assert (done.code, "requires key, which this skill does not send" in done.err) == (0, True)
    assert "authType" not in (tmp_path / "skills/order/adapter.config.json").read_text()


def test_several_operations_are_one_skill(shop: str, tmp_path: Path) -> None:
    value = secured(shop, type="http", scheme="bearer")
    words = ("--operation", "getOrder", "--operation", "POST /orders", "--token-env", "SKILL_SHOP")
    assert from_document(tmp_path, value, *words).code == 0
    assert run(tmp_path, "bench", "validate", "skills").code == 0
    assert run(tmp_path, "bench", "check", "skills/order/tests/basic.eval.json").code == 0
    config = json.loads((tmp_path / "skills/order/adapter.config.json").read_text())
    assert (config["authTokenEnvKey"], "request" in config) == ("SKILL_SHOP", False)
    done = evaluated(tmp_path, "skills/order", "--json", SKILL_SHOP="s3cret")
    found = {row["taskId"]: row["status"] for row in done.json["reports"][0]["taskResults"]}
    assert (found["getOrder"], found["POST /orders"], len(found)) == ("pass", "pass", 5)
    assert {asked[1] for asked in Shop.asked} == {"/v1/orders/text?fields=id&fields=a+b", "/v1/orders"}


def test_a_form_is_sent_field_by_field(tmp_path: Path) -> None:
    fields = {"user": {"type": "string", "example": "a&b"}, "scope": {"type": "string"}}
    form = {"application/x-www-form-urlencoded": {"schema": {"required": ["user"], "properties": fields}}}
    with serving(whole(b"ok")) as server:
        from_document(tmp_path, only(server.url, requestBody={"required": True, "content": form}))
        evaluated(tmp_path, "skills/order", "--concurrency", "1")
    assert [request.rpartition(b"\r\n")[2] for request in server.requests] == [b"user=a%26b", b""]
    assert b"application/x-www-form-urlencoded" in server.requests[0]


def test_a_document_is_fetched_and_its_server_is_the_one_that_was_named(tmp_path: Path) -> None:
    value = json.dumps({**only(""), "servers": [{"url": "/api"}]}).encode()
    create = ("create", "--name", "a", "--force", "--from-openapi")
    with serving(whole(value)) as server:
        assert run(tmp_path, *create, f"{server.url}/openapi.json").code == 0
    assert json.loads((tmp_path / "skills/a/skill.json").read_text())["entrypoint"] == f"{server.url}/api"
    foreign = json.dumps(only("https://evil.example")).encode()
    moved = whole(b"", "302 Found", "Location: http://127.0.0.1:9/x")
    with serving(whole(foreign), whole(foreign), moved, whole(b"no", "404 Not Found")) as server:
        done = run(tmp_path, *create, server.url)
        assert (done.code, "--server" in done.err) == (2, True)
        assert run(tmp_path, *create, server.url, "--server", "https://api.example").code == 0
        assert [run(tmp_path, *create, server.url).code for _ in range(2)] == [3, 3]
    assert json.loads((tmp_path / "skills/a/skill.json").read_text())["entrypoint"] == "https://api.example"
    assert run(tmp_path, *create, "http://10.0.0.1/openapi.json").code == 2


@pytest.mark.parametrize(
    "server", ["ftp://x", "http://a:b@x", "http://x\r\ny", "//evil.example", "http://x?y#z", "x", "http://[::1"]
)
def test_a_server_is_an_address(server: str, tmp_path: Path) -> None:
    done = from_document(tmp_path, only("https://a.example"), "--server", server)
    assert (done.code, "--server" in done.err) == (2, True)
    hostile = from_document(tmp_path, {**only(""), "servers": [{"url": server}]})
    assert (hostile.code, "not a complete address" in hostile.err) == (0, True)
    assert json.loads((tmp_path / "skills/order/skill.json").read_text())["entrypoint"] == "http://127.0.0.1:8080"


@pytest.mark.parametrize("text", ["yaml", "json"])
def test_several_operations_are_listed_and_none_is_chosen(text: str, tmp_path: Path) -> None:
    import yaml

    value = document("https://api.example.org")
    done = from_document(tmp_path, yaml.safe_dump(value) if text == "yaml" else value)
    assert done.code == 2
    assert '"GET /orders/{id}" or getOrder' in done.err
    assert '"POST /orders"' in done.err
    assert from_document(tmp_path, value, "--operation", "DELETE /orders").code == 2
    assert files(tmp_path) == ["api.json"]


def only(url: str, **operation: Any) -> dict[str, Any]:
    return document(url, paths={"/x": {"get": {"responses": {"204": {}}, **operation}}})


def test_the_only_operation_is_taken_and_what_is_not_known_is_told(tmp_path: Path) -> None:
    value = only("/relative", parameters=[{"name": "c", "in": "cookie", "schema": {}}])
    done = from_document(tmp_path, {**value, "info": {"title": "x", "version": "1.2"}})
    assert done.code == 0, done.err
    assert "0.1.0" in done.err
    assert "entrypoint in skill.json is http://127.0.0.1:8080" in done.err
    assert "cookie parameter 'c'" in done.err
    assert run(tmp_path, "bench", "validate", "skills").code == 0


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("{", "not JSON"),
        ("a: [", "api.json:1"),
        ("[1]", "mapping"),
        ('{"swagger": "2.0"}', "openapi"),
        ('{"openapi": "3.1.0"}', "no operation"),
        ('{"openapi": "3.1.0", "paths": {"/x": 3}}', "paths./x"),
        (only("https://a.example", parameters=[{"$ref": "https://evil.example/p.json"}]), "bundle"),
        (only("https://a.example", parameters=[{"$ref": "other.json#/p"}]), "bundle"),
        (only("https://a.example", parameters=[{"$ref": "#/nowhere"}]), "does not exist"),
        (document("https://a.example", paths={"/x": {"$ref": "#/paths/~1x"}}), "circular"),
        (document("https://a.example", paths={"/x/{id}": {"get": {}}}), "{id}"),
        (document("https://a.example", paths={"@evil.example/x": {"get": {}}}), "is not a path"),
        (document("https://a.example", paths={"/x?a=b": {"get": {}}}), "is not a path"),
        (document("https://a.example", paths={"/../x": {"get": {}}}), "part . or .."),
        (document("https://a.example", paths={"/%2e%2E/x": {"get": {}}}), "part . or .."),
        (document("https://a.example", paths={"/x\r\ny": {"get": {}}}), "is not a path"),
        (only("https://a.example", parameters=[{"name": "a\nb", "in": "header", "required": True}]), "cannot be sent"),
        (only("https://a.example", parameters=[{"name": "Host", "in": "header", "required": True}]), "cannot be sent"),
        (only("https://a.example", parameters=[{"name": "c", "in": "cookie", "required": True}]), "cookie"),
        (
            only("https://a.example", requestBody={"required": True, "content": {"text/xml": {}}}),
            "nothing else can be sent",
        ),
        ('{"openapi": "3.1.0", "x": ' + "[" * 100 + "]" * 100 + "}", "levels"),
        ('{"openapi": "3.1.0", "x": "' + "a" * 2_000_000 + '"}', "larger"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_a_document_that_cannot_be_is_refused(value: Any, told: str, tmp_path: Path) -> None:
    done = from_document(tmp_path, value)
    assert done.code == 2, done.out
    assert told in done.err
    assert files(tmp_path) == ["api.json"]


def test_schemas_that_multiply_are_bounded(tmp_path: Path) -> None:
    value = only(
        "https://a.example", responses={"200": {"content": {"application/json": {"schema": {"$ref": "#/b0"}}}}}
    )
    for level in range(14):
        below = {"$ref": f"#/b{level + 1}"}
        value[f"b{level}"] = {"type": "object", "properties": dict.fromkeys("abcdef", below)}
    value["b14"] = {"type": "string"}
    done = from_document(tmp_path, value)
    assert done.code == 2
    assert "references" in done.err


def test_operations_of_a_large_real_document(tmp_path: Path) -> None:
    words = ("--from-openapi", str(ROOT / "tests/data/github-openapi.json"), "--server", "http://127.0.0.1:9")
    listed = run(tmp_path, "create", "--name", "hub", *words)
    names = re.findall(r" or (\S+)$", listed.err, flags=re.MULTILINE)
    assert (listed.code, len(names)) == (2, 8), listed.err
    chosen = [word for name in names for word in ("--operation", name)]
    assert run(tmp_path, "create", "--name", "hub", "--force", *words, *chosen).code == 0
    assert run(tmp_path, "bench", "validate", "skills").code == 0
    assert run(tmp_path, "bench", "check", "skills/hub/tests/basic.eval.json").code == 0
    assert (tmp_path / "skills/hub/tests/basic.eval.json").stat().st_size < 100_000


def test_a_shortened_schema_allows_what_the_whole_one_allows() -> None:
    from skillgate.bench.http.openapi import brief  # imports packages of extras
    from skillgate.bench.schemas import errors_of, schema_problem

    leaf = {"type": "string", "description": "x" * 500}
    deep: dict[str, Any] = {"type": "object", "required": ["a"], "properties": {"a": leaf}}
    for _ in range(9):
        deep = {"type": "object", "required": ["a"], "properties": {"a": deep}, "not": {"required": ["z"]}}
    whole = {"type": "array", "items": {"oneOf": [deep, {"type": "object", "required": ["b"], "not": deep}]}}
    value: Any = "text"
    for _ in range(10):
        value = {"a": value}
    for most in (10_000, 1_000, 300, 100, 10):
        schema = brief(whole, most)
        assert schema_problem(schema) is None
        assert not errors_of(schema, [value, {"b": 1}]).number
        assert errors_of(schema, 1).number
    assert brief(whole, 100_000) is whole
    assert len(json.dumps(brief(whole, 300))) <= 300
