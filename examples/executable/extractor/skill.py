"""Extracts data from texts: one function for each operation."""

import json
import re
import sys
from email.utils import getaddresses
from urllib.parse import parse_qsl, unquote, urlsplit

LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
FIELD = r'([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))'
LINE = re.compile(rf"(\S+) ({'|'.join(LEVELS)}) \[([^\]]*)\] (.*?)((?: {FIELD})*)")
SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
PART = r"\d+(?:\.\d+)? ?(?:sec|min|[smhd])"


def log_records(data):
    records = []
    for line in data["text"].split("\n"):
        found = LINE.fullmatch(line)
        if found and LEVELS.index(found[2]) >= LEVELS.index(data["level"]):
            fields = {
                name: re.sub(r"\\(.)", r"\1", quoted) if quoted else plain
                for name, quoted, plain in re.findall(FIELD, found[5])
            }
            head = dict(zip(("time", "level", "source", "message"), found.groups(), strict=False))
            records.append({**head, "fields": fields})
    return records


def ini(data):
    sections, section = {}, ""
    for line in map(str.strip, data["text"].split("\n")):
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            section = line[1:-1]
            sections.setdefault(section, {})
            continue
        name, _, value = map(str.strip, line.partition("="))
        if name in sections.setdefault(section, {}):
            raise ValueError(f"{name} occurs twice")
        sections[section][name] = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    return sections


def markdown_table(data):
    rows = []
    for line in data["text"].split("\n"):
        if "|" in line:
            inner = line.strip().removeprefix("|")
            inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
            rows.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)])
        elif rows:
            break
    names, _, *rest = rows
    return [dict(zip(names, [*row, *[""] * len(names)], strict=False)) for row in rest]


def invoice(data):
    text = data["text"]
    day, month, year = re.search(r"^Date: (\d\d)\.(\d\d)\.(\d{4})$", text, re.MULTILINE).groups()
    items = [
        {"name": name, "quantity": int(quantity.replace(".", "")), "unitCents": cents(price)}
        for quantity, name, price in re.findall(r"^([\d.]+) x (.+) @ ([\d.,]+)$", text, re.MULTILINE)
    ]
    total = cents(re.search(r"^Total: ([\d.,]+)$", text, re.MULTILINE)[1])
    if total != sum(item["quantity"] * item["unitCents"] for item in items):
        raise ValueError("the total is not the sum of the items")
    number = re.search(r"^Invoice (\S+)$", text, re.MULTILINE)[1]
    return {"number": number, "date": f"{year}-{month}-{day}", "items": items, "totalCents": total}


def cents(text):
    whole, _, part = text.replace(".", "").partition(",")
    return int(whole) * 100 + int(part or 0)


def headings(data):
    found, fence = [], ""
    for line in data["text"].split("\n"):
        mark = re.match("(`{3,}|~{3,})", line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line[len(mark[1]) :].strip() else fence
        elif mark:
            fence = mark[1]
        elif heading := re.fullmatch(r"(#{1,6}) +(.*?)(?: +#+)? *", line):
            found.append([len(heading[1]), heading[2]])
    return found


def links(data):
    text = re.sub("`[^`]*`", "", data["text"])
    return [list(found) for found in re.findall(r"(?<!!)\[([^\[\]]*)\]\(([^()\s]*)\)", text)]


def durations(data):
    runs = re.findall(rf"(?<![\w.]){PART}(?: ?{PART})*(?!\w)", data["text"])
    parts = [re.findall(r"(\d+(?:\.\d+)?) ?(sec|min|[smhd])", run) for run in runs]
    return [round(sum(float(number) * SECONDS[unit] for number, unit in run)) for run in parts]


def url_parts(data):
    parts = urlsplit(data["url"])
    return {
        "scheme": parts.scheme,
        "host": parts.hostname,
        "port": parts.port,
        "path": [unquote(segment) for segment in parts.path.split("/")[1:]],
        "query": [list(pair) for pair in parse_qsl(parts.query, keep_blank_values=True)],
    }


def contacts(data):
    return [list(pair) for pair in getaddresses([data["header"]])]


OPERATIONS = {
    "log-records": log_records,
    "ini": ini,
    "markdown-table": markdown_table,
    "invoice": invoice,
    "headings": headings,
    "links": links,
    "durations": durations,
    "url-parts": url_parts,
    "contacts": contacts,
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
