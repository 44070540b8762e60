"""Makes one HTTP request and returns its result: status and JSON, or what was wrong with the answer."""
# ruff: noqa: S310

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

MOST_PAGES = 50
PATIENCE_MS = 5000


def send(base, path, *, method="GET", query=None, body=None, token=None, timeout_ms=PATIENCE_MS):
    """Send one request; give its status and the bytes of its answer, whatever the status is."""
    url = urllib.parse.urljoin(base + "/", path.lstrip("/"))
    if query:
        url += "?" + urllib.parse.urlencode(query)
    headers = {"Accept": "application/json"}
    data = None
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout_ms / 1000) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:  # a status of its own is an answer
        with error:
            return error.code, error.read()


def told(status, data):
    if status == 204:
        return {"status": status, "body": None}
    try:
        return {"status": status, "body": json.loads(data)}
    except ValueError:
        return {"status": status, "error": "not_json"}


def collected(base, first):
    """Follow the pages of a list from the first one."""
    items, answer = [], first
    for _ in range(MOST_PAGES):
        items += answer["body"]["items"]
        following = answer["body"].get("next")
        if not following:
            break
        answer = told(*send(base, following))
        if answer["status"] != 200:
            return answer
    return {"status": 200, "body": items}


def answer(base, asked):
    token = None
    if "login" in asked:
        found = told(*send(base, asked["login"]["path"], method="POST", body=asked["login"]["json"]))
        if found["status"] != 200:
            return found
        token = found["body"]["token"]
    reply = told(
        *send(
            base,
            asked["path"],
            method=asked.get("method", "GET"),
            query=asked.get("query"),
            body=asked.get("json"),
            token=token,
            timeout_ms=asked.get("timeoutMs", PATIENCE_MS),
        )
    )
    return collected(base, reply) if asked.get("collect") and reply["status"] == 200 else reply


def main():
    request = json.load(sys.stdin)
    data = request["params"]
    try:
        result = answer(data["api"]["url"], data["request"])
    except TimeoutError:
        result = {"error": "timeout"}
    except urllib.error.URLError as error:
        result = {"error": "timeout" if isinstance(error.reason, TimeoutError) else "unreachable"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


main()
