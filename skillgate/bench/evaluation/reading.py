"""Reads reports of benchmark runs: those of skillgate, and the bare lists that an older tool wrote."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from skillgate.errors import CodecError, UsageError
from skillgate.evaluation.findings import read_whole
from skillgate.model.bench import BenchReport
from skillgate.model.codec import decode
from skillgate.model.score import SCHEMA_VERSION
from skillgate.report.json import kind_of, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.session import Session

KIND = "bench"


def data_of(shown: str, session: Session) -> Any:  # noqa: ANN401 - JSON
    """Read a file of JSON.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    return parsed(read_whole(os.path.join(session.cwd, shown), shown, "the report"), source=shown)


def is_bench(data: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether a document is a benchmark report, by its kind; a list with something in it is an older tool's."""
    return (isinstance(data, list) and bool(data)) or kind_of(data) == KIND


def kinds_of(names: Iterable[str], session: Session) -> dict[str, str]:
    """Say of what kind each file is; ``""`` for what cannot be read, which whoever reads it tells."""
    found = {}
    for shown in names:
        try:
            data = data_of(shown, session)
        except UsageError:
            found[shown] = ""
            continue
        found[shown] = KIND if is_bench(data) else kind_of(data) or ""
    return found


def bench_of(data: Any, shown: str, session: Session) -> BenchReport:  # noqa: ANN401 - JSON
    """Make a report of a document; what an older one does not say is told on stderr.

    Raises:
        UsageError: it is none, or a later version's; the message names the file and the place in it.
    """
    if isinstance(data, list):
        from skillgate.bench.results.older import mapped  # few have such files

        report = mapped(data, shown)
        for notice in report.notices:
            session.note(f"{shown}: {notice}")
        return report
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(
            f"{shown} has schema version {version}: a later skillgate wrote it, and this one cannot read it"
        )
    try:
        return decode(BenchReport, data)
    except CodecError as error:
        raise UsageError(f"{shown} is not a benchmark report: {error}") from None


def read_bench(shown: str, session: Session) -> BenchReport:
    """Read a report; see :func:`bench_of`.

    Raises:
        UsageError: likewise.
    """
    return bench_of(data_of(shown, session), shown, session)
