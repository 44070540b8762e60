"""Answers to the tasks of data-transformation, by other means than the reference skill."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from math import floor
from typing import Any


def csv_to_records(data: Any) -> list[dict[str, str]]:
    """Read character by character."""
    rows: list[list[str]] = [[]]
    field, quoted, text = "", False, data["csv"].replace('""', "\0").replace("\r\n", "\n").rstrip("\n")
    for character in text + "\n":
        if character == '"':
            quoted = not quoted
        elif not quoted and character in ",\n":
            rows[-1].append("" if field == "\0" else field.replace("\0", '"'))
            field = ""
            rows += [[]] if character == "\n" else []
        else:
            field += character
    names, *records = rows[:-1]
    if {len(record) for record in records} - {len(names)}:
        raise ValueError("ragged")
    return [{name: record[place] for place, name in enumerate(names)} for record in records]


def group_totals(data: Any) -> list[dict[str, Any]]:
    some = [
        (record[data["by"]], record["amount"])
        for record in data["records"]
        if isinstance(record.get(data["by"]), str) and isinstance(record.get("amount"), int)
    ]
    found = []
    for key, group in groupby(sorted(some), key=lambda pair: pair[0]):
        amounts = [amount for _, amount in group]
        found.append({"key": key, "total": sum(amounts), "count": len(amounts)})
    return found


def pivot(data: Any) -> dict[str, Any]:
    records = data["records"]
    rows, columns = (sorted({record[name] for record in records}) for name in ("row", "column"))

    def cell(row: str, column: str) -> Any:
        some = [one["value"] for one in records if (one["row"], one["column"]) == (row, column)]
        return some[-1] if some else None

    return {"columns": columns, "rows": [[row] + [cell(row, column) for column in columns] for row in rows]}


def left_join(data: Any) -> list[dict[str, Any]]:
    on, joined = data["on"], []
    for left in data["left"]:
        value = left.get(on)
        found = False
        for right in data["right"]:
            other = right.get(on)
            if value is not None and type(value) is type(other) and value == other:
                found = True
                joined.append({key: left[key] if key in left else right[key] for key in {*left, *right}})
        if not found:
            joined.append(left)
    return joined


def flatten(data: Any) -> dict[str, Any]:
    open_ones, closed = [("", data["value"])], {}
    while open_ones:
        path, value = open_ones.pop()
        if isinstance(value, list) and value:
            value = {str(place): item for place, item in enumerate(value)}
        if isinstance(value, dict) and value:
            open_ones += [(f"{path}.{key}", item) for key, item in value.items()]
        else:
            closed[path[1:]] = value
    return closed


def merge_patch(data: Any) -> Any:
    """Follow the pseudocode of RFC 7396, section 2."""

    def apply(target: Any, patch: Any) -> Any:
        if not isinstance(patch, dict):
            return patch
        if not isinstance(target, dict):
            target = {}
        removed = {name for name, value in patch.items() if value is None}
        changed = {name: apply(target.get(name), value) for name, value in patch.items() if value is not None}
        return {name: value for name, value in target.items() if name not in removed} | changed

    return apply(data["target"], data["patch"])


def latest(data: Any) -> list[Any]:
    records = data["records"]
    ids = list(dict.fromkeys(record["id"] for record in records))
    ranked = [sorted((one for one in records if one["id"] == name), key=lambda one: one["version"]) for name in ids]
    return [some[-1] for some in ranked]


def moving_average(data: Any) -> list[str]:
    numbers, window = data["numbers"], data["window"]
    found = []
    for start in range(len(numbers) - window + 1):
        exact = Fraction(sum(numbers[start : start + window]), window) * 100
        cents = floor(abs(exact) + Fraction(1, 2))
        found.append(f"{'-' if exact < 0 and cents else ''}{cents // 100}.{cents % 100:02d}")
    return found


def diff_records(data: Any) -> dict[str, list[str]]:
    before, after = ({one["id"]: one for one in data[side]} for side in ("before", "after"))

    def same(one: Any, other: Any) -> bool:
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        if isinstance(one, list):
            return len(one) == len(other) and all(map(same, one, other))
        return bool(one == other)

    return {
        "added": sorted(name for name in after if name not in before),
        "removed": sorted(name for name in before if name not in after),
        "changed": sorted(name for name in before if name in after and not same(before[name], after[name])),
    }


def pointer(data: Any) -> Any:
    """Write the pointers of everything in the document, and look one up."""
    known: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        known[path] = value
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            walk(item, path + "/" + str(key).replace("~", "~0").replace("/", "~1"))

    walk(data["document"], "")
    if data["pointer"] not in known:
        raise ValueError("nothing there")
    return known[data["pointer"]]


SOLVERS = {
    "csv-to-records": csv_to_records,
    "group-totals": group_totals,
    "pivot": pivot,
    "left-join": left_join,
    "flatten": flatten,
    "merge-patch": merge_patch,
    "latest": latest,
    "moving-average": moving_average,
    "diff-records": diff_records,
    "pointer": pointer,
}
