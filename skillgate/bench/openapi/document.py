"""Reads an OpenAPI document, bounded: JSON or YAML, references within the document alone."""
# ruff: noqa: PTH118, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from typing import Any

from skillgate.bench.reading.files import parse_json
from skillgate.errors import UsageError

_MOST_BYTES = 2_000_000
_MOST_DEPTH = 64
_MOST_NODES = 200_000
_MOST_REFERENCES = 2_000
_DEEPEST_REFERENCE = 16


class Document:
    """An OpenAPI 3 document.

    Attributes:
        root: the whole of it, as JSON has it.
        shown: its path, for messages.
    """

    def __init__(self, root: Mapping[str, Any], shown: str) -> None:
        """Take a document as :func:`read` gives it."""
        self.root = root
        self.shown = shown
        self._followed = self._copied = 0

    def mapping(self, value: object, where: str) -> Mapping[str, Any]:
        """Give an object, the one that it refers to where it is a reference; an empty one where there is nothing.

        Raises:
            UsageError: it is no object, or refers to none.
        """
        for _ in range(_DEEPEST_REFERENCE):
            if value is None:
                return {}
            if not isinstance(value, Mapping):
                raise UsageError(f"{self.shown}: {where}: expected an object, found {str(value)[:80]!r}")
            if not isinstance(value.get("$ref"), str):
                return value
            value = self._target(value["$ref"])
        raise UsageError(f"{self.shown}: {where}: its references never end")

    def schema(self, value: object, above: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - JSON
        """Give a schema with all that it refers to in its place; what refers to itself allows anything there.

        Args:
            value: the schema, or a part of one.
            above: the references that lead to it.

        Raises:
            UsageError: a reference leads out of the document, nowhere, or there are too many.
        """
        self._copied += 1
        if self._copied > _MOST_NODES:
            raise UsageError(f"{self.shown}: the operation's schemas have more than {_MOST_NODES:,} values")
        if isinstance(value, list):
            return [self.schema(item, above) for item in value]
        if not isinstance(value, Mapping):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference in above or len(above) >= _DEEPEST_REFERENCE:
                return {}
            return self.schema(self._target(reference), (*above, reference))
        return {key: self.schema(item, above) for key, item in value.items()}

    def _target(self, reference: str) -> object:
        self._followed += 1
        if self._followed > _MOST_REFERENCES:
            raise UsageError(f"{self.shown}: the operation follows more than {_MOST_REFERENCES:,} references")
        if not reference.startswith("#/"):
            told = "only references within the document (#/…) are followed; bundle it first"
            raise UsageError(f"{self.shown}: $ref {reference[:120]!r}: {told}")
        place: object = self.root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and key.isascii() and key.isdigit() and int(key[:6]) < len(place):
                place = place[int(key[:6])]
            elif isinstance(place, Mapping) and key in place:
                place = place[key]
            else:
                raise UsageError(f"{self.shown}: $ref {reference[:120]!r} leads nowhere")
        return place


def read(path: str, *, cwd: str) -> Document:
    """Read a document.

    Raises:
        UsageError: it cannot be read, is too large, or is no OpenAPI 3 document.
    """
    place = os.path.join(cwd, path)
    try:
        if not os.path.isfile(place):  # noqa: PTH113 - a pipe would never end
            raise UsageError(f"--from-openapi: {path} does not exist, or is no file")
        with open(place, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} is larger than {_MOST_BYTES:,} bytes; cut it down to the operations you need")
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    root = _plain(parse_json(data, path) if is_json else _yaml(data, path), path, 0, [_MOST_NODES])
    version = root.get("openapi") if isinstance(root, Mapping) else None
    if not isinstance(version, str) or not version.startswith("3."):
        found = f"found {version!r:.80}" if version is not None else "found none"
        raise UsageError(f"{path}: openapi: expected a version 3.0 or 3.1, {found}; convert a Swagger 2 document first")
    return Document(root, path)


def _yaml(data: bytes, path: str) -> object:
    from skillgate.model.yaml_bounded import Limits, YamlProblem, load_mapping  # brings in yaml

    limits = Limits(bytes=_MOST_BYTES, depth=_MOST_DEPTH, nodes=_MOST_NODES, aliases=200)
    try:
        return load_mapping(data.decode("utf-8-sig"), limits=limits).values
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start})") from None
    except YamlProblem as problem:
        raise UsageError(f"{path}:{problem.line}:{problem.column}: {problem.message}") from None


def _plain(value: object, path: str, depth: int, left: list[int]) -> Any:  # noqa: ANN401 - JSON
    """Bring what YAML gives into what JSON has: keys are texts (``200:`` is one), dates are texts."""
    left[0] -= 1
    if depth > _MOST_DEPTH or left[0] < 0:
        told = f"{_MOST_DEPTH} levels" if depth > _MOST_DEPTH else f"{_MOST_NODES:,} values"
        raise UsageError(f"{path} has more than {told}; cut it down to the operations you need")
    if isinstance(value, Mapping):
        return {str(key): _plain(item, path, depth + 1, left) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, path, depth + 1, left) for item in value]
    if isinstance(value, date):  # times are dates too
        return value.isoformat()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None  # JSON has no such number
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
