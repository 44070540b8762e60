"""Takes reports that were written before into a store."""
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from skillgate.errors import EXIT_PASSED, CodecError, UsageError
from skillgate.evaluate.findings import read_whole
from skillgate.model.bench import BenchReport
from skillgate.model.codec import decode
from skillgate.model.documents import SingleReport
from skillgate.model.report import Report
from skillgate.model.score import SCHEMA_VERSION
from skillgate.report.json import kind_of, parsed

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session
    from skillgate.store.target import Target


def take_in(args: argparse.Namespace, target: Target, session: Session) -> int:
    """Import every file that can be.

    Raises:
        UsageError: some cannot, each with its reason; the others are in the store.
        IncompleteError: the database failed.
    """
    from skillgate.store.target import require_packages

    require_packages(target)
    from skillgate.store.keeper import Told, document_digest, open_store

    told = Told("import", commit_id=args.commit, branch=args.branch, at=args.at)
    rows: list[dict[str, str]] = []
    problems: list[str] = []
    store = open_store(target, create=True)
    try:
        for shown in args.files:
            try:
                data = parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)
                report = _report(data, shown)
                named = told._replace(source=os.path.basename(shown))  # noqa: PTH119
                new = store.write(report, document_digest(data), named)
            except UsageError as error:
                problem = str(error)
                problems.append(problem if problem.startswith(shown) or shown in problem else f"{shown}: {problem}")
                continue
            rows.append({"file": shown, "result": "imported" if new else "known"})
    finally:
        store.close()
    _tell(rows, problems, target, session)
    if problems:
        raise UsageError("\n".join(problems))
    return EXIT_PASSED


def _tell(rows: list[dict[str, str]], problems: list[str], target: Target, session: Session) -> None:
    if session.json:
        document = {"store": target.shown, "files": rows, "problems": problems}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
        return
    new = sum(row["result"] == "imported" for row in rows)
    known = f", {len(rows) - new} known already" if len(rows) > new else ""
    wrong = f", {len(problems)} not readable" if problems else ""
    session.out(f"{new} of {len(rows) + len(problems)} imported{known}{wrong}")


def _report(data: Any, shown: str) -> BenchReport | Report | SingleReport:  # noqa: ANN401 - JSON
    """Make a report of what a file holds.

    Raises:
        UsageError: it is none that a store takes.
    """
    kind = kind_of(data)
    if kind not in ("bench", "score"):
        found = "no kind" if kind is None else f"kind {kind!r}"
        raise UsageError(f"{shown}: expected a JSON report of eval, score or certify, found {found}")
    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(f"{shown} has schema version {version}: a later skillgate wrote it; update this one")
    shape: type[BenchReport | Report | SingleReport] = BenchReport
    if kind == "score":
        shape = Report if "results" in data else SingleReport
    try:
        return decode(shape, data)
    except (CodecError, RecursionError) as error:
        raise UsageError(f"{shown} is not a report of {kind}: {error}") from None
