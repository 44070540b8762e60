"""Past results in a store: list them, compare them over time, and take written reports in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__
from skillgate.errors import CodecError, UsageError
from skillgate.evaluation.request import read_whole
from skillgate.model.bench import BenchReport
from skillgate.model.codec import decode
from skillgate.model.documents import History, SingleReport
from skillgate.model.report import Report, Tool
from skillgate.model.score import SCHEMA_VERSION
from skillgate.report.json import kind_of, parsed
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from datetime import datetime

    from skillgate.console import Console

_MOST_ROWS = 100_000  # of each kind that are read, the newest


class HistoryRequest(NamedTuple):
    """Which results of a store are wanted; None for no condition."""

    store: str | None  # what ``--store`` names, None for that of the configuration
    skill: str | None  # for scores a name or a path too
    benchmark: str | None
    kind: str | None  # ``bench`` or ``score``
    limit: int | None  # how many of each kind, the newest, or how many trends
    since: datetime | None
    trend: bool  # whether they are compared over time


class HistoryImportRequest(NamedTuple):
    """Take JSON reports into a store."""

    store: str | None  # what ``--store`` names, None for that of the configuration
    files: tuple[str, ...]  # reports of eval, score and certify
    commit: str | None  # what was evaluated
    branch: str | None
    at: datetime | None  # when scores were made, None for now


class HistoryImport(NamedTuple):
    """What became of the files of an import."""

    store: str  # its name for messages
    files: tuple[tuple[str, bool], ...]  # each that could be read, with whether it is new
    problems: tuple[str, ...]  # what is wrong with the others, a text each

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        rows = [{"file": file, "result": "imported" if new else "known"} for file, new in self.files]
        return {"store": self.store, "files": rows, "problems": [*self.problems]}

    def line(self) -> str:
        """Return it in a line."""
        new = sum(is_new for _, is_new in self.files)
        known = f", {len(self.files) - new} known already" if len(self.files) > new else ""
        wrong = f", {len(self.problems)} not readable" if self.problems else ""
        return f"{new} of {len(self.files) + len(self.problems)} imported{known}{wrong}"


def history(request: HistoryRequest, session: Console) -> History:
    """Return past results, the newest first, or how they changed.

    Raises:
        UsageError: the store cannot be used, or a benchmark is asked for and scores alone.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    if request.kind == "score" and request.benchmark is not None:
        raise UsageError("--benchmark is of benchmarks; leave it out, or --kind score")
    require_packages(target)
    from skillgate.store.keeper import Filter, open_store  # brings in the database's packages

    most = _MOST_ROWS if request.trend or request.limit is None else request.limit
    wanted = Filter(skill=request.skill, benchmark=request.benchmark, since=request.since, limit=most)
    store = open_store(target, create=False)
    try:
        evaluations = () if request.kind == "score" else store.evaluations(wanted)
        scores = () if request.kind == "bench" or request.benchmark is not None else store.scores(wanted)
    finally:
        store.close()
    tool = Tool(version=__version__)
    if not request.trend:
        return History(tool=tool, store=target.shown, evaluations=evaluations, scores=scores)
    from skillgate.report.trends import bench_trends, score_trends  # scipy

    trends = (*bench_trends(evaluations), *score_trends(scores))
    return History(tool=tool, store=target.shown, trends=trends[: request.limit])


def import_reports(request: HistoryImportRequest, session: Console) -> HistoryImport:
    """Import every file that can be.

    Raises:
        UsageError: the store cannot be used.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    from skillgate.store.keeper import Provenance, document_digest, open_store  # brings in the database's packages

    about = Provenance("import", commit_id=request.commit, branch=request.branch, at=request.at)
    done: list[tuple[str, bool]] = []
    problems: list[str] = []
    store = open_store(target, create=True)
    try:
        for shown in request.files:
            try:
                place = os.path.join(session.cwd, shown)  # noqa: PTH118
                data = parsed(read_whole(place, shown, "the report"), source=shown)
                report = _report(data, shown)
                named = about._replace(source=os.path.basename(shown))  # noqa: PTH119
                done.append((shown, store.write(report, document_digest(data), named)))
            except UsageError as error:
                problem = str(error)
                problems.append(problem if shown in problem else f"{shown}: {problem}")
    finally:
        store.close()
    return HistoryImport(target.shown, tuple(done), tuple(problems))


def _report(data: Any, shown: str) -> BenchReport | Report | SingleReport:  # noqa: ANN401 - JSON
    """Return the report that a file holds."""
    kind = kind_of(data)
    if kind not in ("bench", "score"):
        what = "no kind" if kind is None else f"kind {kind!r}"
        raise UsageError(f"{shown}: expected a JSON report of eval, score or certify, found {what}")
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
