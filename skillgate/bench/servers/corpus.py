"""Search in short documents of invented facts, which cannot be known without reading them."""
# ruff: noqa: PTH100, PTH118, PTH120, PTH123

from __future__ import annotations

import json
import os
import re
from typing import Any

from skillgate.bench.servers import Answer, Handler, Request, Service

_FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "builtin", "corpus.jsonl")
_WORD = re.compile(r"\w+")
_MOST = 10  # default limit of results


def _read() -> bytes:
    with open(_FILE, "rb") as file:
        return file.read()


_DATA = _read()
_DOCUMENTS: dict[str, dict[str, Any]] = {one["id"]: one for one in map(json.loads, _DATA.decode().splitlines())}
_WORDS = {key: frozenset(_WORD.findall(f"{one['title']} {one['text']}".casefold())) for key, one in _DOCUMENTS.items()}


class _Corpus(Handler):
    def answer(self, request: Request) -> Answer:
        """Answer ``/search?q=…&limit=N``, ``/documents``, ``/documents/ID`` and ``/corpus.jsonl``."""
        if request.method not in ("GET", "HEAD"):
            return Answer(405, {"code": "method_not_allowed"}, (("Allow", "GET, HEAD"),))
        if request.path == "/search":
            return _search(request.query)
        if request.path == "/documents":
            return Answer(200, {"documents": [_summary(one) for one in _DOCUMENTS.values()]})
        if request.path == "/corpus.jsonl":
            return Answer(200, _DATA, content_type="application/jsonl")
        found = _DOCUMENTS.get(request.path.removeprefix("/documents/"))
        if found is not None and request.path.startswith("/documents/"):
            return Answer(200, found)
        paths = ["/search?q=WORDS&limit=N", "/documents", "/documents/ID", "/corpus.jsonl"]
        return Answer(200 if request.path == "/" else 404, {"paths": paths})


def _search(query: dict[str, str]) -> Answer:
    """Find documents by the number of matching words; the results have no text."""
    words = set(_WORD.findall(query.get("q", "").casefold()))
    limit = query.get("limit", str(_MOST))
    if not words or not (limit.isascii() and limit.isdigit()) or len(limit) > 3:
        return Answer(400, {"code": "bad_query", "message": "expected q=WORDS, and limit=N from 0 to 999"})
    ranked = sorted((-len(words & _WORDS[key]), key) for key in _DOCUMENTS if words & _WORDS[key])
    results = [{**_summary(_DOCUMENTS[key]), "matches": -score} for score, key in ranked[: int(limit)]]
    return Answer(200, {"query": query["q"], "results": results})


def _summary(one: dict[str, Any]) -> dict[str, Any]:
    return {"id": one["id"], "title": one["title"], "url": one["url"]}


SERVICE = Service(_Corpus, "corpus", ("corpus.jsonl", _DATA))
