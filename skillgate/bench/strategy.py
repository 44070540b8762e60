"""Reads a strategy: a YAML or JSON file that says how skills are selected."""
# ruff: noqa: PTH118, PTH123

from __future__ import annotations

import os
from typing import Any

from skillgate.bench.files import read_json
from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode
from skillgate.model.strategy import Strategy

_MOST_BYTES = 65_536


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
