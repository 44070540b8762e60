"""Real HTTP APIs are benchmarked as they are: httpbin, json-server, and a FastAPI application with authentication.

``SKILLGATE_HTTP_SERVERS`` is a directory with ``node_modules`` (npm's json-server) and a virtual environment ``python``
(PyPI's fastapi, httpbin, python-multipart and uvicorn).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import benchmark, run, skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.cli.running import Done

pytest.importorskip("httpx2", reason="httpx2 is of the extra bench")

SERVERS = os.environ.get("SKILLGATE_HTTP_SERVERS", "")
PYTHON = f"{SERVERS}/python/bin/python"
TOKEN = "s3cret-t0ken"
AUTHORIZATION = "/body/headers/Authorization"
pytestmark = pytest.mark.skipif(not SERVERS, reason="SKILLGATE_HTTP_SERVERS is not set")

HTTPBIN = """\
import sys
from httpbin import app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True)
"""
SHOP = """\
import sys
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, OAuth2PasswordRequestForm
from pydantic import BaseModel

app = FastAPI(title="Shop", version="1.2.0")
stored = {}

class Order(BaseModel):
    item: str
    quantity: int = 1

class Stored(Order):
    id: int

def signed_in(token: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]):
    if token.credentials not in ("s3cret-t0ken", "of-a-session"):
        raise HTTPException(401, "wrong token", {"WWW-Authenticate": "Bearer"})

@app.get("/orders", operation_id="listOrders")
def found(item: str, limit: int = 10) -> list[Stored]:
    return [one for one in stored.values() if item in one.item][:limit]

@app.post("/orders", operation_id="addOrder", status_code=201, dependencies=[Depends(signed_in)])
def add(order: Order) -> Stored:
    number = len(stored) + 1
    stored[number] = Stored(id=number, **order.model_dump())
    return stored[number]

@app.get("/orders/{id}", operation_id="getOrder", dependencies=[Depends(signed_in)])
def read(id: int) -> Stored:
    if id not in stored:
        raise HTTPException(404, f"no order {id}")
    return stored[id]

@app.delete("/orders/{id}", operation_id="dropOrder", status_code=204, dependencies=[Depends(signed_in)])
def drop(id: int) -> None:
    del stored[id]

@app.post("/token", operation_id="signIn")
def sign_in(form: Annotated[OAuth2PasswordRequestForm, Depends()]) -> dict[str, str]:
    if (form.username, form.password) != ("ada", "open"):
        raise HTTPException(400, "wrong password")
    return {"access_token": "of-a-session"}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""


@contextmanager
def running(command: Sequence[str], place: Path) -> Iterator[str]:
    """Start a server that takes a port as its last argument; yield its address once it answers connections."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (place / "log").open("wb") as log, subprocess.Popen(
        [*command, str(port)], cwd=place, stdout=log, stderr=log
    ) as server:  # fmt: skip
        try:
            until = time.monotonic() + 60
            while server.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert time.monotonic() < until, (place / "log").read_text()
                    time.sleep(0.05)
            assert server.poll() is None, (place / "log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def exact(value: Any, path: str = "/status") -> dict[str, Any]:
    return {"expectedOutput": {"type": "exact", "value": value}, "evaluator": {"path": path}}


def refusal(code: int, **more: Any) -> dict[str, Any]:
    return {"expectedOutput": {"type": "error", "code": code, **more}}


def all_pass(cwd: Path, tasks: list[dict[str, Any]], *words: str, **environ: str) -> Done:
    """Evaluate the skill ``s``; the verdicts are the same whatever the order and concurrency."""
    benchmark(cwd / "b.json", *tasks)
    for many, order in (("1", tasks), ("8", tasks[::-1])):
        benchmark(cwd / "b.json", *order)
        eval_ = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store", "--concurrency", many)
        done = run(cwd, *eval_, *words, **environ)
        assert done.out, done.err
        results = done.json["reports"][0]["taskResults"]
        assert len(results) == len(tasks)
        failed = [(one["taskId"], one["error"] or one["reason"]) for one in results if one["status"] != "pass"]
        assert not failed, failed
    return done


def test_httpbin(tmp_path: Path) -> None:
    every: list[dict[str, Any]] = [
        {"id": "query", "request": {"path": "/get", "query": {"a": "{{a}}"}}, "inputData": {"a": ["1", "x&y"]},
         **exact(["1", "x&y"], "/body/args/a")},
        {"id": "header", "request": {"path": "/headers", "headers": {"X-A": "{{a}}"}}, "inputData": {"a": "b"},
         **exact("b", "/body/headers/X-A")},
        {"id": "json", "request": {"method": "PUT", "path": "/put", "json": {"a": "{{a}}"}}, "inputData": {"a": [1]},
         **exact({"a": [1]}, "/body/json")},
        {"id": "form", "request": {"path": "/post", "form": {"a": "é&"}}, **exact("é&", "/body/form/a")},
        {"id": "text", "request": {"method": "PATCH", "path": "/patch", "text": "abc"}, **exact("abc", "/body/data")},
        {"id": "delete", "request": {"method": "DELETE", "path": "/delete"}, **exact(200)},
        {"id": "head", "request": {"method": "HEAD", "path": "/get"}, **exact(None, "/body")},
        {"id": "options", "request": {"method": "OPTIONS", "path": "/get"},
         "expectedOutput": {"type": "contains", "keywords": ["GET"]}, "evaluator": {"path": "/headers/allow"}},
        {"id": "path", "request": {"path": "/base64/{{word}}"}, "inputData": {"word": "YWI="}, **exact("ab", "/body")},
        {"id": "html", "request": {"path": "/html"}, "expectedOutput": {"type": "contains", "keywords": ["Moby-Dick"]}},
        {"id": "image", "request": {"path": "/image/png"}, **exact(8090, "/body/bytes")},
        {"id": "no body", "request": {"path": "/status/204"}, **exact(204)},
        {"id": "response header", "request": {"path": "/response-headers", "query": {"X-A": "b"}},
         **exact("b", "/headers/x-a")},
        {"id": "redirect", "request": {"path": "/redirect/2"}, **exact(200)},
        {"id": "location", "request": {"path": "/redirect/1"}, **refusal(302, contains="/get"),
         "evaluator": {"path": "/headers/location"}},
        {"id": "404", "request": {"path": "/status/404"}, **refusal(404)},
        {"id": "405", "request": {"method": "POST", "path": "/get"}, **refusal(405)},
        {"id": "teapot", "request": {"path": "/status/418"}, **refusal(418, contains="teapot")},
        {"id": "no token", "request": {"path": "/bearer"}, **refusal(401, contains="Bearer"),
         "evaluator": {"path": "/headers/www-authenticate"}},
        {"id": "uuid", "steps": [
            {"request": {"path": "/uuid"}, "capture": {"id": "/body/uuid"}},
            {"request": {"path": "/anything/{{id}}"}}],
         "expectedOutput": {"type": "regex", "patterns": ["/anything/[0-9a-f-]{36}$"]},
         "evaluator": {"path": "/body/url"}},
    ]  # fmt: skip
    with running([PYTHON, "-c", HTTPBIN], tmp_path) as url:
        skill(tmp_path / "s", adapterType="http", entrypoint=url)
        all_pass(tmp_path, every)
        config = {"authType": "basic", "authTokenEnvKey": "SKILL_USER", "request": {"path": "/basic-auth/ada/open-1"}}
        skill(tmp_path / "s", adapterType="http", entrypoint=url, config=config)
        signed_in = {"id": "basic", "inputData": {}, **exact({"authenticated": True, "user": "ada"}, "/body")}
        echoed = {"id": "echo", "request": {"path": "/headers"}, **exact("Basic [redacted]", AUTHORIZATION)}
        wrong = {"id": "wrong", "request": {"path": "/basic-auth/ada/other"}, **refusal(401)}
        all_pass(tmp_path, [signed_in, echoed, wrong], SKILL_USER="ada:open-1")


def test_a_fastapi_application_with_authentication(tmp_path: Path) -> None:
    add = {"request": {"method": "POST", "path": "/orders", "json": {"item": "{{item}}"}}}
    create = {**add, "capture": {"id": "/body/id"}, **exact(201)}
    get = {"request": {"path": "/orders/{{id}}"}}
    drop = {"request": {"method": "DELETE", "path": "/orders/{{id}}"}}
    sign_in = {
        "request": {"method": "POST", "path": "/token", "form": {"username": "ada", "password": "open"}, "auth": False},
        "capture": {"token": "/body/access_token"},
    }
    headers = {"Authorization": "Bearer {{token}}"}
    every: list[dict[str, Any]] = [
        {"id": "create and read", "inputData": {"item": "tea"}, "steps": [create, get], "teardown": [drop],
         **exact("tea", "/body/item")},
        {"id": "deleted", "inputData": {"item": "tea"}, "steps": [create, {**drop, **exact(204)}, get],
         **refusal(404, contains="no order")},
        {"id": "no token", **add, "inputData": {"item": "x"}, **refusal(401)},
        {"id": "wrong token", "request": {"path": "/orders/1", "headers": headers}, "inputData": {"token": "x"},
         **refusal(401, contains="wrong token")},
        {"id": "own token", "steps": [sign_in, {"request": {"path": "/orders/0", "headers": headers}}], **refusal(404)},
        {"id": "no number", "request": {"path": "/orders/{{id}}"}, "inputData": {"id": "x"},
         **refusal(422, contains="int_parsing"), "evaluator": {"path": "/body/detail/0/type"}},
    ]  # fmt: skip
    every[2]["request"] = {**add["request"], "auth": False}
    with running([PYTHON, "-c", SHOP], tmp_path) as url:
        config = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
        skill(tmp_path / "s", adapterType="http", entrypoint=url, config=config)
        done = all_pass(tmp_path, every, SKILL_TOKEN=TOKEN)
        assert TOKEN not in done.out
        create_ = ("create", "--name", "shop", "--from-openapi", f"{url}/openapi.json", "--token-env", "SKILL_TOKEN")
        listed = run(tmp_path, *create_)
        assert (listed.code, '"POST /orders" or addOrder' in listed.err) == (2, True), listed.err
        chosen = [word for name in ("listOrders", "addOrder", "getOrder") for word in ("--operation", name)]
        assert run(tmp_path, *create_, *chosen).code == 0
        suite = tmp_path / "skills/shop/tests/basic.eval.json"
        made = json.loads(suite.read_text(encoding="utf-8"))
        assert len(made["tasks"]) == 7
        assert run(tmp_path, "bench", "validate", "skills").code == 0
        assert run(tmp_path, "bench", "check", str(suite)).code == 0
        words = ("eval", "--skills", "skills/shop", "--tasks", str(suite), "--no-store", "--min-completion", "1")
        gate = run(tmp_path, *words, "--exit-on-fail", "--concurrency", "1", SKILL_TOKEN=TOKEN)
        assert (gate.code, TOKEN in gate.out + gate.err) == (0, False), gate.out


def test_json_server(tmp_path: Path) -> None:
    posts = [{"id": 1, "title": "first", "author": "ada"}, {"id": 2, "title": "second", "author": "bob"}]
    (tmp_path / "db.json").write_text(json.dumps({"posts": posts, "profile": {"name": "x"}}), encoding="utf-8")
    new = {"method": "POST", "path": "/posts", "json": {"title": "{{title}}", "tags": ["a"]}}
    create = {"request": new, "capture": {"id": "/body/id", "place": "/headers/location"}, **exact(201)}
    one = {"path": "/posts/{{id}}"}
    drop = {"request": {"method": "DELETE", **one}}
    every: list[dict[str, Any]] = [
        {"id": "read", "request": one, "inputData": {"id": 2}, **exact("second", "/body/title")},
        {"id": "filter", "request": {"path": "/posts", "query": {"author": "{{who}}"}}, "inputData": {"who": "ada"},
         **exact("first", "/body/0/title")},
        {"id": "page", "request": {"path": "/posts", "query": {"_page": 1, "_limit": 1}},
         "expectedOutput": {"type": "contains", "keywords": ['rel="next"']}, "evaluator": {"path": "/headers/link"}},
        {"id": "unknown", "request": one, "inputData": {"id": 999_999}, **refusal(404)},
        {"id": "create, change, read", "inputData": {"title": "new"},
         "steps": [create, {"request": {"method": "PATCH", **one, "json": {"title": "changed"}}}, {"request": one}],
         "teardown": [drop], **exact("changed", "/body/title")},
        {"id": "create, delete, read", "inputData": {"title": "new"},
         "steps": [create, drop, {"request": one}], **refusal(404)},
        {"id": "single", "setup": [create], "teardown": [drop], "inputData": {"title": "t"},
         "request": {"method": "PUT", **one, "json": {"title": "{{title}}"}}, **exact("t", "/body/title")},
    ]  # fmt: skip
    every[-1]["setup"][0] = {**create, "inputData": {"title": "t"}}
    server = ["node", f"{SERVERS}/node_modules/json-server/lib/cli/bin.js", "--quiet", "--host", "127.0.0.1", "db.json"]
    with running([*server, "--port"], tmp_path) as url:
        skill(tmp_path / "s", adapterType="http", entrypoint=url)
        all_pass(tmp_path, every)
