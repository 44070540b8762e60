"""Build the messages that tasks send to HTTP APIs, and check them before anything runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from skillgate.bench.answers import scalar_text, searched
from skillgate.bench.steps import PLACE, MissingValueError, filled, names_of
from skillgate.format import did_you_mean
from skillgate.model.benchmark import ABSENT, CAPTURED, METHODS, HttpRequest, Step

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from skillgate.model.benchmark import Task

HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
CARRIES_TOKEN = frozenset(("authorization", "x-api-key", "proxy-authorization", "cookie"))
OF_TRANSPORT = frozenset(
    (
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "accept-encoding"),
        *("te", "trailer", "upgrade", "expect"),
    )
)
_OPTIONAL = re.compile(rf"\{{\{{ *({CAPTURED})\? *\}}\}}")
_BRACES = re.compile(r"\{\{.*?\}\}")
_LITERAL = re.compile(r"/[^\x00-\x20\x7f?#\\{}]*")
_SHOWN = 80


class UnsendableError(ValueError):
    """A value cannot be sent where the request has it."""


class Message(NamedTuple):
    """A request with all values filled in."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


def merged(base: HttpRequest | None, over: HttpRequest | None) -> HttpRequest | None:
    """Return the request of a skill with the keys of a task; query and headers are merged by name."""
    if base is None or over is None:
        return over or base
    body = over if has_body(over) else base
    return HttpRequest(
        method=over.method or base.method,
        path=base.path if over.path is None else over.path,
        query={**base.query, **over.query},
        headers=overlaid(base.headers, over.headers),
        json=body.json,
        form=body.form,
        text=body.text,
        auth=base.auth if over.auth is None else over.auth,
    )


def has_body(request: HttpRequest) -> bool:
    """Whether a request names a body."""
    return request.json is not ABSENT or request.form is not None or request.text is not None


def method_of(request: HttpRequest) -> str:
    """Return the method of a request: by default POST with a body, else GET."""
    return request.method or ("POST" if has_body(request) else "GET")


def overlaid(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers with those of ``over`` replaced or added; case does not matter in names."""
    names = {name.lower() for name in over}
    return {**{name: value for name, value in base.items() if name.lower() not in names}, **over}


def message_of(
    request: HttpRequest,
    values: Mapping[str, Any],
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
) -> Message:
    """Fill in a request.

    Args:
        request: What to send.
        values: By name.
        url: The address of the API, to which the path is added. Nothing in a request can change its host.
        headers: Sent unless the request has them.
        query: Sent too.

    Raises:
        MissingValueError: A name has no value.
        UnsendableError: A value cannot be sent where it is used.
    """
    content, kind = _body(request, values)
    defaults = {**(headers or {}), **({} if kind is None else {"Content-Type": kind})}
    parts = urlsplit(url)
    path = parts.path if request.path is None else parts.path.rstrip("/") + _path(request.path, values)
    pairs = [*_pairs(request.query, values), *(query or {}).items()]
    filled_query = "&".join(filter(None, (parts.query, urlencode(pairs, errors="replace"))))
    return Message(
        method_of(request),
        urlunsplit((parts.scheme, parts.netloc, path or "/", filled_query, "")),
        overlaid(defaults, _headers(request, values)),
        content,
    )


def _path(template: str, values: Mapping[str, Any]) -> str:
    def encoded(found: re.Match[str]) -> str:
        text = _text(filled(found[0], values), found[1])
        if not text:
            raise UnsendableError(f"{found[0]} is empty, and the path would be another one")
        return quote(text, safe="", errors="replace")

    path = PLACE.sub(encoded, template)
    if any(unquote(part) in (".", "..") for part in path.split("/")):
        raise UnsendableError(f"the path {path[:_SHOWN]!r} has a part . or ..")
    return path


def _headers(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for name, value in _some(dict(request.headers), values).items():
        if value is None:
            continue
        found[name] = text = _text(value, name)
        if not text.isascii() or not text.isprintable():
            raise UnsendableError(f"header {name[:_SHOWN]}: expected printable ASCII on one line")
    return found


def _body(request: HttpRequest, values: Mapping[str, Any]) -> tuple[bytes | None, str | None]:
    """Return the body and its content type."""
    if request.form is not None:
        form = urlencode(_pairs(request.form, values), errors="replace")
        return form.encode(), "application/x-www-form-urlencoded"
    if request.text is not None:
        text = searched(filled(request.text, values), "json")
        return (text.encode("utf-8", "replace"), "text/plain; charset=utf-8") if text else (None, None)
    body = ABSENT if request.json is ABSENT else _some(request.json, values)
    if body is ABSENT:
        return None, None
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), "application/json"


def _pairs(template: Mapping[str, Any], values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and texts of a query or form: one for each item of a list, none for null."""
    pairs: list[tuple[str, str]] = []
    for name, value in _some(dict(template), values).items():
        items = value if isinstance(value, list) else [value]
        pairs += [(name, _text(item, name)) for item in items if item is not None]
    return pairs


def _some(template: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Fill in a template, without the optional values that are missing; ABSENT if it is one itself."""
    if isinstance(template, str):
        optional = _OPTIONAL.fullmatch(template)
        return filled(template, values) if optional is None else values.get(optional[1], ABSENT)
    if isinstance(template, dict):
        some = {key: _some(item, values) for key, item in template.items()}
        return {key: item for key, item in some.items() if item is not ABSENT}
    if isinstance(template, list | tuple):
        return [item for item in (_some(item, values) for item in template) if item is not ABSENT]
    return template


def _text(value: Any, name: str) -> str:  # noqa: ANN401 - JSON
    """Return a value as text for an address or header."""
    if value is None:
        raise UnsendableError(f"{name[:_SHOWN]} is null")
    if isinstance(value, list):
        return ",".join(_text(item, name) for item in value)
    text = scalar_text(value)
    return json.dumps(value, ensure_ascii=False) if text is None else text


def check_request(request: HttpRequest | None) -> Iterator[str]:
    """Yield the problems of a request in a file, each beginning with its key."""
    if request is None:
        return
    lines = [*_check_line(request), *_check_headers(request), *_check_places(request)]
    if sum((request.json is not ABSENT, request.form is not None, request.text is not None)) > 1:
        lines.append("json, form, text: expected one of them at most")
    yield from (f"request.{line}" for line in lines)


def _check_line(request: HttpRequest) -> Iterator[str]:
    method, path = request.method, request.path
    if method is not None and method not in METHODS:
        yield f"method: expected one of {', '.join(METHODS)}, found {method[:_SHOWN]!r}{did_you_mean(method, METHODS)}"
    if path is None:
        return
    literal = PLACE.sub("x", path)
    if not literal.startswith("/"):
        yield f"path: expected a path that begins with /, found {path[:_SHOWN]!r}; the address is the entrypoint"
    elif not _LITERAL.fullmatch(literal):
        hint = "write values as {{name}}, a query as query, and other characters with %"
        yield f"path: {path[:_SHOWN]!r} has a character that a path cannot have; {hint}"
    elif any(unquote(part) in (".", "..") for part in literal.split("/")):
        yield f"path: {path[:_SHOWN]!r} has a part . or .."


def _check_headers(request: HttpRequest) -> Iterator[str]:
    for name, value in request.headers.items():
        where = f"headers.{name[:_SHOWN]}" if HEADER.fullmatch(name) else "headers"
        if where == "headers":
            yield f"headers: {name[:_SHOWN]!r} is not a header name"
        elif name.lower() in OF_TRANSPORT:
            yield f"{where}: cannot be set here"
        elif value is not None and not (value.isascii() and value.isprintable()):
            yield f"{where}: expected printable ASCII on one line"
        elif value is not None and name.lower() in CARRIES_TOKEN and not PLACE.search(value):
            hint = "use authType and authTokenEnvKey, or a value such as {{token}} that an earlier step captures"
            yield f"{where}: a token does not belong in a file; {hint}"


def _check_places(request: HttpRequest) -> Iterator[str]:
    """Yield what looks like the name of a value but is not; JSON and texts may well have double braces."""
    texts = {"path": request.path or ""}
    for key, group in (("query", request.query), ("headers", request.headers), ("form", request.form or {})):
        texts |= {f"{key}.{name[:_SHOWN]}": value for name, value in group.items() if isinstance(value, str)}
    for where, text in texts.items():
        for found in _BRACES.findall(text):
            if _OPTIONAL.fullmatch(found) and (where == "path" or found != text):
                yield f"{where}: {found[:_SHOWN]} can be left out only where it is all of a value"
            elif not (PLACE.fullmatch(found) or _OPTIONAL.fullmatch(found)):
                yield f"{where}: {found[:_SHOWN]!r} is not the name of a value: expected letters, digits and _"


def unsendable(base: HttpRequest | None, task: Task, more: Collection[str] = ()) -> Iterator[str]:
    """Yield why a task cannot be done with the request of a skill; ``more`` are names of other values."""
    single = () if task.steps else (Step(request=task.request, input_data=task.input_data),)
    calls = [(f"{key}[{index}]", step)
             for key, group in (("setup", task.setup), ("steps", task.steps), ("teardown", task.teardown))
             for index, step in enumerate(group)]  # fmt: skip
    calls[len(task.setup) : len(task.setup)] = [("", step) for step in single]
    requests = [merged(base, step.request) for _, step in calls]
    if not any(requests):
        return
    known = {*more, *(task.input_data if task.steps else ())}
    for (where, step), request in zip(calls, requests, strict=True):
        if request is None:
            yield f"{where or 'request'}: has no request, and other calls of the task have one"
            continue
        lacking = sorted(names_of(request) - known - step.input_data.keys())
        key = f"{where}.request" if where else "request"
        if lacking:
            near = did_you_mean(lacking[0], known | step.input_data.keys())
            yield f"{key}: there is no value for {{{{{lacking[0]}}}}}{near}"
        elif len(calls) == 1:
            try:
                message_of(request, task.input_data, "http://localhost")
            except MissingValueError:  # among ``more``
                pass
            except UnsendableError as problem:
                yield f"{key}: {problem}"
        known |= step.capture.keys()
