"""Profile a delimited text file, check it against optional rules, and print one JSON document.

Usage: python profile_csv.py FILE [--rules RULES.toml] [--delimiter CHAR] [--encoding NAME]

Exit code 0: no issue of severity error. 1: at least one. 2: the file or the rules could not be read.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

MISSING = frozenset({"", "na", "n/a", "null", "none"})
DELIMITERS = (",", ";", "\t", "|")
DOMINANT = 0.95  # the share of values that must agree before the others count as exceptions
DISTINCT_CAP = 10_000
INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)")  # a leading zero marks an identifier, which is text
DECIMAL = re.compile(r"[+-]?(0|[1-9]\d*)\.\d+")
EXPONENT = re.compile(r"[+-]?\d(\.\d+)?[eE][+-]?\d+")
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(slots=True)
class Column:
    """What one pass over a column has seen."""

    name: str
    missing: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    first_line: dict[str, int] = field(default_factory=dict)
    distinct: set[str] = field(default_factory=set)
    low: float | None = None
    high: float | None = None

    def kind(self) -> str:
        """Give the kind that at least 95 % of the values share, else text; whole numbers count as decimal too."""
        total = self.kinds.total()
        for kind in ("integer", "date", "boolean"):
            if total and self.kinds[kind] / total >= DOMINANT:
                return kind
        numbers = self.kinds["integer"] + self.kinds["decimal"]
        return "decimal" if total and numbers / total >= DOMINANT else "text"


def kind_of(value: str) -> str:
    """Name the narrowest kind a value reads as."""
    if INTEGER.fullmatch(value):
        return "integer"
    if DECIMAL.fullmatch(value):
        return "decimal"
    if EXPONENT.fullmatch(value):
        return "exponent"
    if value.lower() in {"true", "false"}:
        return "boolean"
    return "date" if is_date(value) else "text"


def is_date(value: str) -> bool:
    """Say whether a value is a real calendar day in ISO form."""
    try:
        return bool(ISO_DATE.fullmatch(value)) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def issue(check: str, severity: str, message: str, *, column: str | None = None, line: int = 1) -> dict[str, Any]:
    """Shape one entry of the report's list of issues."""
    return {"check": check, "severity": severity, "column": column, "line": line, "message": message}


def decode(data: bytes, encoding: str | None) -> tuple[str, str]:
    """Decode the file and name the encoding: the given one, a UTF-16 mark, UTF-8, and last Windows-1252."""
    marked = data[:2] in {b"\xff\xfe", b"\xfe\xff"}
    guesses = [encoding] if encoding else ["utf-16"] if marked else ["utf-8-sig", "cp1252"]
    for guess in guesses:
        try:
            return data.decode(guess), guess
        except UnicodeDecodeError:
            continue
    raise ValueError(f"not readable as {' or '.join(guesses)}: pass --encoding")


def guess_delimiter(text: str) -> str:
    """Give the candidate that splits most of the first 50 lines into the header's number of fields."""
    lines = text.splitlines()[:50]

    def agreement(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        return (sum(width == widths[0] for width in widths), widths[0]) if widths and widths[0] > 1 else (0, 0)

    return max(DELIMITERS, key=agreement)


def add(column: Column, raw: str, line: int) -> None:
    """Count one value of a column."""
    value = raw.strip()
    if value.lower() in MISSING:
        column.missing += 1
        return
    kind = kind_of(value)
    column.kinds[kind] += 1
    column.first_line.setdefault(kind, line)
    if raw != value:
        column.first_line.setdefault("padded", line)
    if len(column.distinct) < DISTINCT_CAP:
        column.distinct.add(value)
    if kind in {"integer", "decimal"}:
        number = float(value)
        column.low = number if column.low is None else min(column.low, number)
        column.high = number if column.high is None else max(column.high, number)


def header_issues(header: list[str]) -> list[dict[str, Any]]:
    """Find blank and repeated names in the header."""
    found = [issue("blank-header", "error", f"column {i} has no name") for i, name in enumerate(header, 1) if not name]
    repeated = (name for name, count in Counter(header).items() if name and count > 1)
    found += [issue("duplicate-header", "error", f"{name} names several columns", column=name) for name in repeated]
    return found


def column_issues(column: Column) -> list[dict[str, Any]]:
    """Find exceptions to a column's kind, padding, and numbers a spreadsheet has rewritten."""
    kind, found = column.kind(), []
    allowed = {kind, "integer"} if kind == "decimal" else {kind}
    for other in () if kind == "text" else sorted(set(column.kinds) - allowed):
        message = f"{column.kinds[other]} of {column.kinds.total()} values are {other}, the column is {kind}"
        found.append(issue("mixed-type", "error", message, column=column.name, line=column.first_line[other]))
    if "exponent" in column.kinds:
        line = column.first_line["exponent"]
        found.append(issue("exponent", "warning", "digits lost to exponent notation", column=column.name, line=line))
    if "padded" in column.first_line:
        line = column.first_line["padded"]
        found.append(issue("padding", "warning", "spaces around values", column=column.name, line=line))
    return found


def rule_issues(column: Column, rule: dict[str, Any]) -> list[dict[str, Any]]:
    """Check one column against its table in the rules file."""
    found = []
    kind, wanted = column.kind(), rule.get("type")
    if wanted and column.kinds and kind != wanted and (kind, wanted) != ("integer", "decimal") and wanted != "text":
        found.append(issue("type", "error", f"expected {wanted}, found {kind}", column=column.name))
    if rule.get("required") and column.missing:
        found.append(issue("required", "error", f"{column.missing} values are missing", column=column.name))
    extra = sorted(column.distinct - set(rule["allowed"])) if "allowed" in rule else []
    if extra:
        found.append(issue("allowed", "error", f"values outside the list: {', '.join(extra[:5])}", column=column.name))
    if "min" in rule and column.low is not None and column.low < rule["min"]:
        found.append(issue("min", "error", f"lowest value {column.low:g} is under {rule['min']}", column=column.name))
    if "max" in rule and column.high is not None and column.high > rule["max"]:
        found.append(issue("max", "error", f"highest value {column.high:g} is over {rule['max']}", column=column.name))
    return found


def profile(text: str, delimiter: str, rules: dict[str, Any]) -> dict[str, Any]:
    """Read every record once and give columns, row count and issues."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = [name.strip() for name in next(reader, [])]
    columns = [Column(name=name) for name in header]
    key_names = rules.get("file", {}).get("key", [])
    key = [header.index(name) for name in key_names if name in header]
    issues, seen, rows = header_issues(header), dict[tuple[str, ...], int](), 0
    for row in filter(None, reader):
        rows += 1
        if len(row) != len(header):
            message = f"{len(row)} fields, the header has {len(header)}"
            issues.append(issue("ragged", "error", message, line=reader.line_num))
            continue
        for column, value in zip(columns, row, strict=True):
            add(column, value, reader.line_num)
        identity = tuple(row[i] for i in key) if key else tuple(row)
        first = seen.setdefault(identity, reader.line_num)
        if first != reader.line_num:
            check, severity = ("key", "error") if key else ("duplicate-row", "warning")
            issues.append(issue(check, severity, f"repeats line {first}", line=reader.line_num))
    if not rows:
        issues.append(issue("empty", "error", "no record below the header"))
    wanted = rules.get("columns", {})
    absent = sorted({*wanted, *key_names}.difference(header))
    issues += [issue("absent", "error", "column is not in the file", column=name) for name in absent]
    for column in columns:
        issues += column_issues(column) + rule_issues(column, wanted.get(column.name, {}))
    return {"rows": rows, "columns": [summary(column) for column in columns], "issues": issues}


def summary(column: Column) -> dict[str, Any]:
    """Shape one entry of the report's list of columns."""
    distinct = len(column.distinct)
    limits = {"min": column.low, "max": column.high}
    return {"name": column.name, "type": column.kind(), "missing": column.missing, "distinct": distinct, **limits}


def verdict(issues: list[dict[str, Any]]) -> str:
    """Give fail for any error, warn for any warning, else pass."""
    severities = {entry["severity"] for entry in issues}
    return "fail" if "error" in severities else "warn" if severities else "pass"


def main() -> int:
    """Run the command line; the exit codes stand at the top of this file."""
    parser = argparse.ArgumentParser(description="Profile a delimited text file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--delimiter")
    parser.add_argument("--encoding")
    options = parser.parse_args()
    try:
        rules = tomllib.loads(options.rules.read_text(encoding="utf-8")) if options.rules else {}
        text, encoding = decode(options.file.read_bytes(), options.encoding)
        delimiter = options.delimiter or guess_delimiter(text)
        found = profile(text, delimiter, rules)
    except (OSError, ValueError, LookupError, TypeError, csv.Error) as error:
        sys.stderr.write(f"profile_csv: {error}\n")
        return 2
    if encoding == "cp1252":
        found["issues"].insert(0, issue("encoding", "warning", "not UTF-8; read as Windows-1252"))
    outcome = verdict(found["issues"])
    head = {"file": options.file.name, "encoding": encoding, "delimiter": delimiter, "verdict": outcome}
    sys.stdout.write(json.dumps(head | found, indent=2, ensure_ascii=False) + "\n")
    return 1 if outcome == "fail" else 0


if __name__ == "__main__":
    raise SystemExit(main())
