"""Reads a strategy: a YAML or JSON file that says how skills are selected."""
# ruff: noqa: PTH118, PTH123

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.reading.files import read_json
from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode
from skillgate.model.strategy import Filters, Strategy

if TYPE_CHECKING:
    from skillgate.model.executable import AdapterType
    from skillgate.model.strategy import Order, SortKey

_MOST_BYTES = 65_536


class StrategyRequest(NamedTuple):
    """A strategy's file, and what holds over what it says; None leaves it as it is."""

    file: str | None = None
    min_completion_rate: float | None = None
    max_error_rate: float | None = None
    max_latency_p95_ms: float | None = None
    adapter_types: tuple[AdapterType, ...] | None = None
    required_tags: tuple[str, ...] | None = None
    sort_by: SortKey | None = None
    order: Order | None = None
    top_k: int | None = None


def strategy_of(request: StrategyRequest, *, cwd: str) -> Strategy:
    """Return the requested strategy.

    Raises:
        UsageError: its file is not valid.
    """
    base = Strategy() if request.file is None else read_strategy(request.file, cwd=cwd)
    values = {name: value for name, value in request._asdict().items() if value is not None}
    filters = {field.name: values[field.name] for field in fields(Filters) if field.name in values}
    own = {field.name: values[field.name] for field in fields(Strategy) if field.name in values}
    return replace(base, filters=replace(base.filters, **filters), **own)


def read_strategy(shown: str, *, cwd: str) -> Strategy:
    """Read one file: JSON where its name ends so, else YAML.

    Raises:
        UsageError: it cannot be read or is not valid; every problem, a line each.
    """
    place = os.path.join(cwd, shown)
    data = read_json(place, shown) if shown.lower().endswith(".json") else _yaml(place, shown)
    try:
        return decode(Strategy, data)
    except CodecError as error:
        raise UsageError("\n".join(f"{shown}: {line}" for line in str(error).splitlines())) from None


def _yaml(place: str, shown: str) -> Any:  # noqa: ANN401 - YAML
    from skillgate.model.yaml_bounded import YamlProblem, load_mapping  # only where there is such a file

    try:
        if not os.path.isfile(place):  # noqa: PTH113 - a pipe would never end
            raise UsageError(f"the strategy {shown} " + ("is no file" if os.path.lexists(place) else "does not exist"))
        with open(place, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{shown} is larger than {_MOST_BYTES // 1024} KiB, which no strategy needs")
    try:
        document = load_mapping(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{shown} is not UTF-8") from None
    except YamlProblem as problem:
        raise UsageError(f"{shown}:{problem.line}:{problem.column}: {problem.message}") from None
    if document.duplicates:
        key, line = document.duplicates[0]
        raise UsageError(f"{shown}:{line}: the key {key} stands here a second time")
    return document.values
