"""The API of a small shop, with good and bad answers to test clients. It stores nothing."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from skillgate.bench.servers import Answer, Handler, Request, Service

_SLOW_S = 4.0
_CLIENT, _SECRET, _TOKEN = "lamplighter", "copper-kettle", "tok-7f3a91"
_PAGE = 3
_PARTS: tuple[dict[str, Any], ...] = (
    {"id": "p-101", "name": "brass hinge", "price": 4.5, "stock": 120, "shelf": "A1"},
    {"id": "p-102", "name": "oak dowel", "price": 0.8, "stock": 640, "shelf": "A2"},
    {"id": "p-103", "name": "slate tile", "price": 7.25, "stock": 0, "shelf": "B1"},
    {"id": "p-104", "name": "copper rivet", "price": 0.15, "stock": 9000, "shelf": "B2"},
    {"id": "p-105", "name": "felt washer", "price": 0.05, "stock": 0, "shelf": "B1"},
    {"id": "p-106", "name": "ash handle", "price": 12.0, "stock": 31, "shelf": "C4"},
    {"id": "p-107", "name": "zinc bracket", "price": 3.3, "stock": 77, "shelf": "A1"},
)


class _Api(Handler):
    def answer(self, request: Request) -> Answer:
        """Answer by method and path."""
        path = request.path.rstrip("/") or "/"
        fixed = _FIXED.get((request.method, path))
        if fixed is not None:
            return fixed
        if request.method == "GET" and path == "/parts":
            return _part_page(request.query)
        if request.method == "GET" and path.startswith("/parts/"):
            return _part(path.removeprefix("/parts/"))
        if path in ("/orders", "/token"):
            return _post(request, path)
        if path == "/ledger":
            return _ledger(request)
        return Answer(404, {"code": "not_found", "message": f"there is no {path[:80]}"})


def _part_page(query: dict[str, str]) -> Answer:
    """Return a page of parts, and the path of the next page."""
    parts = [part for part in _PARTS if query.get("shelf", part["shelf"]) == part["shelf"]]
    number = query.get("page", "1")
    if not (number.isascii() and number.isdigit()) or not 1 <= int(number[:4]) <= 100:
        return Answer(400, {"code": "bad_page", "message": "expected a page from 1 to 100"})
    first = (int(number[:4]) - 1) * _PAGE
    more = f"/parts?page={int(number[:4]) + 1}" if first + _PAGE < len(parts) else None
    if more and "shelf" in query:
        more += f"&shelf={query['shelf'][:8]}"
    return Answer(200, {"items": parts[first : first + _PAGE], "next": more, "total": len(parts)})


def _part(identifier: str) -> Answer:
    part = next((part for part in _PARTS if part["id"] == identifier), None)
    return Answer(404, {"code": "no_such_part", "id": identifier[:80]}) if part is None else Answer(200, part)


def _post(request: Request, path: str) -> Answer:
    if request.method != "POST":
        return Answer(405, {"code": "method_not_allowed"}, (("Allow", "POST"),))
    if not request.headers.get("content-type", "").startswith("application/json"):
        return Answer(415, {"code": "expected_json"})
    try:
        data = json.loads(request.body)
    except (ValueError, RecursionError):
        return Answer(400, {"code": "not_json"})
    if not isinstance(data, dict):
        return Answer(400, {"code": "expected_object"})
    return _order(data) if path == "/orders" else _token(data)


def _order(data: dict[str, Any]) -> Answer:
    """Accept an order; its number is derived from its content, and nothing is stored."""
    part = next((part for part in _PARTS if part["id"] == data.get("part")), None)
    count = data.get("count")
    if part is None or not isinstance(count, int) or isinstance(count, bool) or count < 1:
        fields = [name for name, wrong in (("part", part is None), ("count", not _is_count(count))) if wrong]
        return Answer(422, {"code": "invalid", "fields": fields})
    if count > part["stock"]:
        return Answer(409, {"code": "out_of_stock", "part": part["id"], "stock": part["stock"]})
    number = "o-" + hashlib.sha256(f"{part['id']} {count}".encode()).hexdigest()[:8]
    total = round(part["price"] * count, 2)
    return Answer(201, {"order": number, "part": part["id"], "total": total}, (("Location", f"/orders/{number}"),))


def _is_count(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _token(data: dict[str, Any]) -> Answer:
    if (data.get("client"), data.get("secret")) != (_CLIENT, _SECRET):
        return Answer(401, {"code": "unknown_client"}, (("WWW-Authenticate", "Bearer"),))
    return Answer(200, {"token": _TOKEN, "expiresIn": 3600})


def _ledger(request: Request) -> Answer:
    if request.headers.get("authorization") != f"Bearer {_TOKEN}":
        return Answer(401, {"code": "no_token", "tokenFrom": "/token"}, (("WWW-Authenticate", "Bearer"),))
    return Answer(200, {"balance": 4182.75, "currency": "florin", "entries": 19})


_FIXED = {
    ("GET", "/"): Answer(200, {"paths": ["/parts", "/parts/ID", "/orders", "/token", "/ledger", "/status/…"]}),
    ("GET", "/status/error"): Answer(500, {"code": "internal", "incident": "inc-2207"}),
    ("GET", "/status/slow"): Answer(200, {"slept": True}, after_s=_SLOW_S),
    ("GET", "/status/malformed"): Answer(200, b'{"items": [{"id": "p-101", "na'),
    ("GET", "/status/html"): Answer(502, b"<html><h1>Bad gateway</h1></html>", content_type="text/html"),
    ("GET", "/status/busy"): Answer(503, {"code": "busy"}, (("Retry-After", "30"),)),
    ("GET", "/status/moved"): Answer(301, b"", (("Location", "/parts/p-106"),)),
    ("DELETE", "/carts/c-9"): Answer(204),
}

SERVICE = Service(_Api, "api")
