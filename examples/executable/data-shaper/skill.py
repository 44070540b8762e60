"""Changes the shape of data: one function for each operation."""

import csv
import io
import json
import sys
from decimal import ROUND_HALF_UP, Decimal


def csv_to_records(data):
    names, *rows = csv.reader(io.StringIO(data["csv"], newline=""), strict=True)
    if any(len(row) != len(names) for row in rows):
        raise ValueError("a record has another number of fields than the first")
    return [dict(zip(names, row, strict=True)) for row in rows]


def group_totals(data):
    groups = {}
    for record in data["records"]:
        key, amount = record.get(data["by"]), record.get("amount")
        if key is not None and amount is not None:
            groups.setdefault(key, []).append(amount)
    return [{"key": key, "total": sum(groups[key]), "count": len(groups[key])} for key in sorted(groups)]


def pivot(data):
    cells = {(record["row"], record["column"]): record["value"] for record in data["records"]}
    columns = sorted({column for _, column in cells})
    rows = sorted({row for row, _ in cells})
    return {"columns": columns, "rows": [[row, *(cells.get((row, column)) for column in columns)] for row in rows]}


def left_join(data):
    joined = []
    for left in data["left"]:
        wanted = json.dumps(left.get(data["on"]))
        matches = [right for right in data["right"] if wanted != "null" and json.dumps(right.get(data["on"])) == wanted]
        joined += [{**right, **left} for right in matches] or [left]
    return joined


def flatten(data):
    found = {}

    def walk(value, path):
        items = value.items() if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else ()
        for key, item in items:
            walk(item, [*path, str(key)])
        if not items:
            found[".".join(path)] = value

    walk(data["value"], [])
    return found


def merge_patch(data):
    return _patched(data["target"], data["patch"])


def _patched(target, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _patched(result.get(key), value)
    return result


def latest(data):
    found = {}
    for record in data["records"]:
        known = found.get(record["id"])
        if known is None or record["version"] >= known["version"]:
            found[record["id"]] = record
    return list(found.values())


def moving_average(data):
    numbers, window = data["numbers"], data["window"]
    averages = []
    for end in range(window, len(numbers) + 1):
        exact = Decimal(sum(numbers[end - window : end])) / window
        rounded = exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
        averages.append(str(rounded if rounded else abs(rounded)))
    return averages


def diff_records(data):
    before, after = ({record["id"]: record for record in data[side]} for side in ("before", "after"))
    texts = [{key: json.dumps(record, sort_keys=True) for key, record in side.items()} for side in (before, after)]
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(key for key in before.keys() & after.keys() if texts[0][key] != texts[1][key]),
    }


def pointer(data):
    value = data["document"]
    for part in data["pointer"].split("/")[1:]:
        if isinstance(value, list):
            if not part.isdecimal() or str(int(part)) != part or int(part) >= len(value):
                raise ValueError("the pointer leads nowhere")
            value = value[int(part)]
        else:
            value = (value if isinstance(value, dict) else {})[part.replace("~1", "/").replace("~0", "~")]
    return value


OPERATIONS = {
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


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = OPERATIONS[request["params"]["operation"]](request["params"])
    except (KeyError, ValueError) as error:
        reply["error"] = {"code": -32602, "message": f"refused: {error}"}
    print(json.dumps(reply))


main()
