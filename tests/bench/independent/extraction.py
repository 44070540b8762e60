"""Answers to the tasks of structured-extraction, by other means than the reference skill."""

from __future__ import annotations

import configparser
import re
from typing import Any
from urllib.parse import unquote_to_bytes


def _words(text: str) -> list[str]:
    """Split at single spaces outside of double quotes."""
    words, quoted, escaped = [""], False, False
    for character in text:
        if character == " " and not quoted:
            words.append("")
            continue
        if character == '"' and not escaped:
            quoted = not quoted
        escaped = character == "\\" and not escaped
        words[-1] += character
    return words


def log_records(data: Any) -> list[dict[str, Any]]:
    levels = {"DEBUG": 0, "INFO": 1, "WARN": 2, "ERROR": 3}
    found = []
    for line in data["text"].splitlines():
        time, _, rest = line.partition(" ")
        level, _, rest = rest.partition(" [")
        source, closing, rest = rest.partition("] ")
        if not closing or levels.get(level, -1) < levels[data["level"]]:
            continue
        words, fields = _words(rest), {}
        while re.match("[a-z_]+=.", words[-1]):
            name, _, value = words.pop().partition("=")
            if value.startswith('"'):
                value = value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
            fields[name] = value
        found.append({"time": time, "level": level, "source": source, "message": " ".join(words), "fields": fields})
    return found


def ini(data: Any) -> dict[str, dict[str, str]]:
    """Let Python's parser read it; it joins sections, so that each is numbered first."""
    lines, sections = ["[0 ]"], 0
    for line in data["text"].splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            sections += 1
            stripped = f"[{sections} {stripped[1:]}"
        lines.append(stripped)
    parser = configparser.RawConfigParser(delimiters="=", comment_prefixes=("#", ";"), default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string("\n".join(lines))
    found: dict[str, dict[str, str]] = {}
    for numbered in parser.sections():
        name, values = numbered.partition(" ")[2], dict(parser.items(numbered))
        if found.get(name, {}).keys() & values.keys():
            raise ValueError("twice")
        plain = {key: value[1:-1] if value.startswith('"') else value for key, value in values.items()}
        if name or plain:
            found[name] = {**found.get(name, {}), **plain}
    return found


def markdown_table(data: Any) -> list[dict[str, str]]:
    rows: list[list[str]] = []
    for line in data["text"].replace("\\|", "\0").splitlines():
        if "|" not in line and "\0" not in line:
            if rows:
                break
            continue
        cells = [cell.strip().replace("\0", "|") for cell in line.split("|")]
        if line.lstrip().startswith("|"):
            cells = cells[1:]
        if line.rstrip().endswith("|"):
            cells = cells[:-1]
        rows.append(cells)
    return [{name: row[at] if at < len(row) else "" for at, name in enumerate(rows[0])} for row in rows[2:]]


def _cents(text: str) -> int:
    return round(float(text.replace(".", "").replace(",", ".")) * 100)


def invoice(data: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"items": []}
    for line in data["text"].splitlines():
        if line.startswith("Invoice "):
            found["number"] = line.split(" ")[1]
        elif line.startswith("Date: "):
            found["date"] = "-".join(reversed(line[6:].split(".")))
        elif line.startswith("Total: "):
            found["totalCents"] = _cents(line[7:])
        elif " @ " in line:
            rest, _, price = line.rpartition(" @ ")
            quantity, _, name = rest.partition(" x ")
            amount = int(quantity.replace(".", ""))
            found["items"].append({"name": name, "quantity": amount, "unitCents": _cents(price)})
    if found["totalCents"] != sum(one["quantity"] * one["unitCents"] for one in found["items"]):
        raise ValueError("another total")
    return found


def headings(data: Any) -> list[list[Any]]:
    outside, fence = [], ""
    for line in data["text"].splitlines():
        if fence:
            if len(line) >= len(fence) and set(line) == {fence[0]}:
                fence = ""
        elif line.startswith(("```", "~~~")):
            fence = line[: len(line) - len(line.lstrip(line[0]))]
        else:
            outside.append(line)
    found = []
    for line in outside:
        marks, _, words = line.partition(" ")
        if marks in ("#", "##", "###", "####", "#####", "######"):
            last = words.split(" ")[-1]
            found.append([len(marks), words[: -len(last) - 1] if last and not last.strip("#") else words])
    return found


def links(data: Any) -> list[list[str]]:
    outside = "".join(part for place, part in enumerate(data["text"].split("`")) if place % 2 == 0)
    before, *after = outside.split("](")
    found = []
    for rest in after:
        mark, opening, words = before.rpartition("[")
        if opening and not mark.endswith("!"):
            found.append([words, rest.partition(")")[0]])
        before = rest
    return found


def durations(data: Any) -> list[int]:
    """Scan by hand: number, unit, and on while there is another part."""
    text, place, found = data["text"], 0, []
    sizes = {"sec": 1, "min": 60, "s": 1, "m": 60, "h": 3600, "d": 86_400}

    def part(at: int) -> tuple[float, int] | None:
        end = at
        while end < len(text) and (text[end].isdigit() or (text[end] == "." and text[end + 1 : end + 2].isdigit())):
            end += 1
        if end == at:
            return None
        unit_at = end + (text[end : end + 1] == " ")
        for unit, size in sizes.items():
            after = text[unit_at + len(unit) : unit_at + len(unit) + 1]
            if text.startswith(unit, unit_at) and not after.isalpha() and after != "_":
                return float(text[at:end]) * size, unit_at + len(unit)
        return None

    while place < len(text):
        if not text[place].isdigit() or (place and (text[place - 1].isalnum() or text[place - 1] in "._")):
            place += 1
            continue
        total, one = 0.0, part(place)
        place += 1
        while one is not None:
            total, place = total + one[0], one[1]
            one = part(place) or (part(place + 1) if text[place : place + 1] == " " else None)
        if total:
            found.append(round(total))
    return found


def url_parts(data: Any) -> dict[str, Any]:
    def decoded(text: str) -> str:
        return unquote_to_bytes(text).decode()

    address = data["url"].partition("#")[0]
    scheme, _, rest = address.partition("://")
    rest, _, query = rest.partition("?")
    authority, *segments = rest.split("/")
    host, _, port = authority.rpartition("@")[2].partition(":")
    pairs = [pair.replace("+", " ").partition("=") for pair in query.split("&")]
    return {
        "scheme": scheme.lower(),
        "host": host.lower(),
        "port": int(port) if port else None,
        "path": [decoded(segment) for segment in segments],
        "query": [[decoded(name), decoded(value)] for name, _, value in pairs],
    }


def contacts(data: Any) -> list[list[str]]:
    quoted = re.compile(r'"((?:[^"\\]|\\.)*)"')
    names = [re.sub(r"\\(.)", r"\1", one) for one in quoted.findall(data["header"])]
    found = []
    for entry in quoted.sub("\0", data["header"]).split(","):
        name, opening, address = entry.partition("<")
        plain = name.strip() if opening else ""
        found.append([names.pop(0) if plain == "\0" else plain, (address.strip(" >") if opening else entry.strip())])
    return found


SOLVERS = {
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
