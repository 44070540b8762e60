"""Findings of skillgate in public skills: counted by rule, saved as a snapshot, and judged by hand.

    python -m benchmarks.findings [--corpus DIR] [--write] [--sample]

DIR (by default `corpus/` of what SKILLGATE_TEST_DATA names) holds collections of skills. Each is checked by itself, as
its own repository would be, with default settings and no cache. `--write` brings `tests/data/corpus-findings.txt` and
the figures of `docs/findings-on-public-skills.md` up to date, and tells which errors and warnings nobody has judged
there yet. `--sample` prints the findings of least severity that are drawn to be judged.

Exit code: 0, or 1 where findings wait for a judgement, or 2 without data.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cli.main import main as skillgate
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, EXIT_USAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLLECTIONS = ("anthropics-skills", "getsentry-skills", "obra-superpowers", "wshobson-agents")
SEVERITIES = ("error", "warning", "info")
VERDICTS = ("true", "doubtful", "false")
ROOT = Path(__file__).parents[1]
SNAPSHOT = ROOT / "tests" / "data" / "corpus-findings.txt"
PAGE = ROOT / "docs" / "findings-on-public-skills.md"
EACH = 8  # findings of one rule that are drawn to be judged
SEED = 7
_ROW = re.compile(r"^\| (true|doubtful|false) \| (error|warning|info) \| (\w+) \| (\S+:\d+) \|", re.MULTILINE)
_JUDGED = ("<!-- judged -->", "<!-- /judged -->")


class Found(NamedTuple):
    """One finding without its words: in the snapshot a line `severity ID collection/path:line`."""

    severity: str
    rule: str
    place: str

    def __str__(self) -> str:
        return " ".join(self)


def check(corpus: Path, collection: str) -> list[Found]:
    """Check one collection with default settings.

    Raises:
        RuntimeError: skillgate did not come to an end, or found no skill.
    """
    out, err = io.StringIO(), io.StringIO()
    words = ("check", ".", "--no-cache", "--json")
    code = skillgate(words, stdout=out, stderr=err, environ={}, cwd=str((corpus / collection).resolve()))
    if code not in (EXIT_PASSED, EXIT_GATE_FAILED):
        message = f"{collection}: exit code {code}: {err.getvalue()}"
        raise RuntimeError(message)
    found = [item for item in json.loads(out.getvalue())["findings"] if not _was_left_out(item)]
    return [Found(item["severity"], item["id"], f"{collection}/{item['path']}:{item['line']}") for item in found]


def _was_left_out(finding: dict[str, str]) -> bool:
    """Return whether a file is only missing because the collections hold Markdown files alone."""
    return finding["id"] == "MENTIONED_FILE_MISSING" and ".md " not in finding["message"]


def check_all(corpus: Path) -> list[Found]:
    """Check every collection; sorted."""
    return sorted(item for collection in COLLECTIONS for item in check(corpus, collection))


def read_snapshot() -> list[Found]:
    """Read what was found when the snapshot was written."""
    return [Found(*line.split(" ", 2)) for line in SNAPSHOT.read_text(encoding="utf-8").splitlines()]


def counts_table(found: Iterable[Found]) -> str:
    """Lay out how often each rule fired, by severity; the rules by name."""
    counted = Counter((item.rule, item.severity) for item in found)
    rows = [
        f"| {rule} | " + " | ".join(str(counted[rule, severity] or "") for severity in SEVERITIES) + " |"
        for rule in sorted({rule for rule, _ in counted})
    ]
    sums = [sum(number for (_, which), number in counted.items() if which == severity) for severity in SEVERITIES]
    head = ("| Rule | Errors | Warnings | Infos |", "|---|---|---|---|")
    return "\n".join((*head, *rows, "| all | " + " | ".join(map(str, sums)) + " |"))


def judged(page: str) -> list[tuple[str, Found]]:
    """Read the verdicts that the page's table gives, each with its finding."""
    return [(verdict, Found(*rest)) for verdict, *rest in _ROW.findall(_between(page, *_JUDGED))]


def precision_table(verdicts: Iterable[tuple[str, Found]]) -> str:
    """Lay out, by severity, how many judged findings are true; a doubtful one counts once as false, once as true."""
    counted = Counter((found.severity, verdict) for verdict, found in verdicts)
    rows = []
    for severity in SEVERITIES:
        true, doubtful, false = (counted[severity, verdict] for verdict in VERDICTS)
        total = true + doubtful + false
        shares = (
            f"{true}/{total} = {true / total:.3f}",
            f"{true + doubtful}/{total} = {(true + doubtful) / total:.3f}",
        )
        rows.append(f"| {severity} | {total} | {true} | {doubtful} | {false} | {' | '.join(shares)} |")
    head = "| Severity | Judged | True | Doubtful | False | Precision, doubtful as false | Doubtful as true |"
    return "\n".join((head, "|---|---|---|---|---|---|---|", *rows))


def waiting(found: Iterable[Found], page: str) -> list[Found]:
    """Give the errors and warnings that the page does not judge."""
    grave = Counter(item for item in found if item.severity != "info")
    return sorted((grave - Counter(item for _, item in judged(page))).elements())


def sample(found: Iterable[Found]) -> list[Found]:
    """Draw, by a fixed seed, at most :data:`EACH` infos of each rule: else the most frequent would be nearly all."""
    draw = random.Random(SEED)
    infos: dict[str, list[Found]] = {}
    for item in sorted(item for item in found if item.severity == "info"):
        infos.setdefault(item.rule, []).append(item)
    return [item for rule in sorted(infos) for item in sorted(draw.sample(infos[rule], min(EACH, len(infos[rule]))))]


def written(page: str, found: Sequence[Found]) -> str:
    """Give the page with its figures brought up to date."""
    for name, table in (("counts", counts_table(found)), ("precision", precision_table(judged(page)))):
        marks = (f"<!-- {name} -->", f"<!-- /{name} -->")
        before, _, rest = page.partition(marks[0])
        page = f"{before}{marks[0]}\n\n{table}\n\n{marks[1]}{rest.partition(marks[1])[2]}"
    return page


def _between(page: str, start: str, end: str) -> str:
    return page.partition(start)[2].partition(end)[0]


def _write(found: Sequence[Found]) -> list[Found]:
    SNAPSHOT.parent.mkdir(exist_ok=True)
    SNAPSHOT.write_text("".join(f"{item}\n" for item in found), encoding="utf-8", newline="\n")
    page = written(PAGE.read_text(encoding="utf-8"), found)
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    return waiting(found, page)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the collections, print what was asked for, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.findings")
    parser.add_argument("--corpus", type=Path, default=Path(os.environ.get("SKILLGATE_TEST_DATA", "."), "corpus"))
    parser.add_argument("--write", action="store_true", help="update the snapshot and the page's figures")
    parser.add_argument("--sample", action="store_true", help="print the sampled infos to judge")
    options = parser.parse_args(arguments)
    if not all((options.corpus / collection).is_dir() for collection in COLLECTIONS):
        sys.stderr.write(f"{options.corpus} does not hold {', '.join(COLLECTIONS)}; name another with --corpus\n")
        return EXIT_USAGE
    found = check_all(options.corpus)
    sys.stdout.write(counts_table(found) + "\n")
    if options.sample:
        sys.stdout.writelines(f"{item}\n" for item in sample(found))
    left = _write(found) if options.write else []
    sys.stdout.writelines(f"not judged: {item}\n" for item in left)
    return EXIT_GATE_FAILED if left else EXIT_PASSED


if __name__ == "__main__":
    sys.exit(main())
