"""Works on texts: one function for each operation."""

import json
import re
import sys
import unicodedata
from collections import Counter


def slug(data):
    decomposed = unicodedata.normalize("NFKD", data["text"])
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return re.sub("[^a-z0-9]+", "-", letters.lower()).strip("-")


def wrap(data):
    width, lines = data["width"], []
    if width < 1:
        raise ValueError("the width is below 1")
    for word in data["text"].split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def word_counts(data):
    counts = Counter(re.findall(r"[^\W\d_]+", data["text"].casefold()))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [list(item) for item in ranked[: data["limit"]]]


def shift(data):
    def moved(character):
        for first in "Aa":
            place = ord(character) - ord(first)
            if 0 <= place < 26:
                return chr(ord(first) + (place + data["by"]) % 26)
        return character

    return "".join(map(moved, data["text"]))


def fill_template(data):
    def filled(found):
        if found[0] in ("{{", "}}"):
            return found[0][0]
        if found[1] not in data["values"]:
            raise ValueError(f"there is no value for {found[1]}")
        return data["values"][found[1]]

    return re.sub(r"\{\{|\}\}|\{([a-z_]+)\}", filled, data["template"])


def edit_distance(data):
    row = list(range(len(data["other"]) + 1))
    for number, one in enumerate(data["one"], start=1):
        before, row = row, [number]
        for place, other in enumerate(data["other"]):
            row.append(min(before[place] + (one != other), before[place + 1] + 1, row[place] + 1))
    return row[-1]


def natural_sort(data):
    def key(name):
        parts = re.findall("[0-9]+|[^0-9]+", name.casefold())
        return [(0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts]

    return sorted(data["names"], key=key)


def dedent(data):
    lines = ["" if not line.strip(" ") else line for line in data["text"].split("\n")]
    least = min((len(line) - len(line.lstrip(" ")) for line in lines if line), default=0)
    return "\n".join(line[least:] for line in lines)


def reverse(data):
    groups = []
    for character in data["text"]:
        if groups and unicodedata.category(character).startswith("M"):
            groups[-1] += character
        else:
            groups.append(character)
    return "".join(reversed(groups))


def xml_escape(data):
    names = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
    return re.sub("[&<>\"']", lambda found: f"&{names[found[0]]};", data["text"])


def expand_tabs(data):
    lines = []
    for line in data["text"].split("\n"):
        column = ""
        for character in line:
            column += " " * (data["size"] - len(column) % data["size"]) if character == "\t" else character
        lines.append(column)
    return "\n".join(lines)


OPERATIONS = {
    "slug": slug,
    "wrap": wrap,
    "word-counts": word_counts,
    "shift": shift,
    "fill-template": fill_template,
    "edit-distance": edit_distance,
    "natural-sort": natural_sort,
    "dedent": dedent,
    "reverse": reverse,
    "xml-escape": xml_escape,
    "expand-tabs": expand_tabs,
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
