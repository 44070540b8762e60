"""The program of a skill that calls an operation of an API; all that it knows of the API is in a file beside it."""

from __future__ import annotations

PROGRAM = '''\
"""Calls one operation of an HTTP API for one JSON-RPC request; operation.json beside it says which and how."""

import json
import os
import sys
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

OPERATION = json.loads(Path(__file__).with_name("operation.json").read_text(encoding="utf-8"))
MOST_BYTES = 5 * 1024 * 1024
TIMEOUT_S = 15


class Stay(HTTPRedirectHandler):
    """Follows no redirect: it would take the token with it."""

    def redirect_request(self, *_):
        return None


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value)
    return ",".join(map(text_of, value)) if isinstance(value, list) else str(value)


def request_of(params):
    """Put a call together. A ValueError tells the caller what is wrong with the input."""
    path, query = OPERATION["path"], []
    headers = {"Accept": "application/json"}
    for one in OPERATION["parameters"]:
        value = params.get(one["key"])
        if value is None:
            if one["required"]:
                raise ValueError(f"{one['key']}: expected a value")
            continue
        if one["in"] == "path":
            part = quote(text_of(value), safe="")
            if part in ("", ".", ".."):
                raise ValueError(f"{one['key']}: {part!r} cannot be part of a path")
            path = path.replace("{" + one["name"] + "}", part)
        elif one["in"] == "header":
            if not text_of(value).isprintable():
                raise ValueError(f"{one['key']}: expected one line")
            headers[one["name"]] = text_of(value)
        elif isinstance(value, list) and one["explode"]:
            query += [(one["name"], text_of(item)) for item in value]
        else:
            query.append((one["name"], text_of(value)))
    for one in OPERATION["auth"]:
        token = one["prefix"] + os.environ[one["variable"]]
        if one["in"] == "query":
            query.append((one["name"], token))
        else:
            headers[one["name"]] = token
    data = None
    if params.get("body") is not None and OPERATION["body"]:
        data = json.dumps(params["body"]).encode()
        headers["Content-Type"] = "application/json"
    elif OPERATION["body"] == "required":
        raise ValueError("body: expected a value")
    url = os.environ["API_BASE_URL"].rstrip("/") + path + ("?" + urlencode(query) if query else "")
    return Request(url, data=data, headers=headers, method=OPERATION["method"])


def answer(params):
    """Ask the API and give back the JSON that it answers, null for none."""
    with build_opener(Stay).open(request_of(params), timeout=TIMEOUT_S) as response:
        data = response.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(f"the API answered with more than {MOST_BYTES} bytes")
    try:
        return json.loads(data) if data.strip() else None
    except ValueError as error:
        raise OSError(f"the API answered no JSON: {error}") from None


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = answer(request["params"])
    except HTTPError as error:
        told = error.read(400).decode("utf-8", "replace")
        reply["error"] = {"code": -32000, "message": f"the API answered {error.code}: {told}"}
    except URLError as error:
        reply["error"] = {"code": -32001, "message": f"the API cannot be reached: {error.reason}"}
    except (OSError, HTTPException) as error:
        reply["error"] = {"code": -32001, "message": f"{type(error).__name__}: {error}"}
    except ValueError as error:
        reply["error"] = {"code": -32602, "message": str(error)}
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
'''
