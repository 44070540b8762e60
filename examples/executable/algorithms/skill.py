"""Solves small algorithmic problems: one function each, chosen by the problem's name."""

import csv
import heapq
import itertools
import json
import sys

ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def fibonacci(data):
    one, other = 0, 1
    for _ in range(data["n"]):
        one, other = other, one + other
    return one


def sort_unique(data):
    return sorted(set(data["numbers"]), reverse=True)


def group_by_initial(data):
    groups = {}
    for word in sorted(data["words"]):
        groups.setdefault(word[0], []).append(word)
    return groups


def matrix_product(data):
    columns = list(zip(*data["right"], strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in data["left"]]


def merge_intervals(data):
    merged = []
    for first, last in sorted(data["intervals"]):
        if merged and first <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    return merged


def run_lengths(data):
    return [[character, len(list(run))] for character, run in itertools.groupby(data["text"])]


def build_order(data):
    needs = {thing: set(others) for thing, others in data["needs"].items()}
    order = []
    while needs:
        ready = min((thing for thing, others in needs.items() if others <= set(order)), default=None)
        if ready is None:
            raise ValueError("the needs go in a circle")
        order.append(ready)
        del needs[ready]
    return order


def roman_to_number(data):
    values = [ROMAN[letter] for letter in data["numeral"]]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def split_csv(data):
    return next(csv.reader([data["line"]]))


def shortest_path(data):
    roads = {}
    for one, other, cost in data["roads"]:
        roads.setdefault(one, []).append((other, cost))
        roads.setdefault(other, []).append((one, cost))
    queue, seen = [(0, [data["start"]])], set()
    while queue:
        cost, path = heapq.heappop(queue)
        if path[-1] == data["goal"]:
            return {"cost": cost, "path": path}
        if path[-1] not in seen:
            seen.add(path[-1])
            for place, more in roads.get(path[-1], ()):
                heapq.heappush(queue, (cost + more, [*path, place]))
    raise ValueError("no way leads there")


SOLVERS = {
    "fibonacci": fibonacci,
    "sort-unique": sort_unique,
    "group-by-initial": group_by_initial,
    "matrix-product": matrix_product,
    "merge-intervals": merge_intervals,
    "run-lengths": run_lengths,
    "build-order": build_order,
    "roman-to-number": roman_to_number,
    "split-csv": split_csv,
    "shortest-path": shortest_path,
}


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = SOLVERS[request["params"]["problem"]](request["params"])
    except (KeyError, ValueError) as error:
        reply["error"] = {"code": -32602, "message": str(error)}
    print(json.dumps(reply))


main()
