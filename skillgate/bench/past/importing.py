"""Import reports and databases into the store: the use case behind ``history import``."""
# ruff: noqa: PTH118, PTH119

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.past.database import evaluations_in, is_database
from skillgate.bench.past.eval_skills import digest_of_evaluation, report_of
from skillgate.errors import CodecError, UsageError
from skillgate.evaluation.request import read_whole
from skillgate.model.bench import BenchReport
from skillgate.model.codec import decode
from skillgate.model.report import Report
from skillgate.model.score import SCHEMA_VERSION
from skillgate.model.single_report import SingleReport
from skillgate.model.skill import digest
from skillgate.report.json import kind_of, parsed
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from skillgate.console import Console

    AnyReport = BenchReport | Report | SingleReport

_MOST_PROBLEMS = 20  # of a file
_NOT_ENDED = "the run did not end"


class HistoryImportRequest(NamedTuple):
    """Import reports into a store."""

    store: str | None  # the value of ``--store``, None for that of the configuration
    files: tuple[str, ...]  # reports of eval, score and certify; reports and databases of eval-skills
    commit: str | None  # what was evaluated
    branch: str | None
    at: datetime | None  # when scores were made, None for now


class ImportedFile(NamedTuple):
    """A readable file, and how many of its results are new. A report of skillgate is one result."""

    file: str
    new: int
    known: int


class HistoryImport(NamedTuple):
    """The result of an import."""

    store: str  # its name in messages
    files: tuple[ImportedFile, ...]
    problems: tuple[str, ...]  # why others failed, one text each

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        rows = [{**one._asdict(), "result": "imported" if one.new else "known"} for one in self.files]
        return {"store": self.store, "files": rows, "problems": [*self.problems]}

    def line(self) -> str:
        """Return it as one line."""
        new, old = sum(one.new for one in self.files), sum(one.known for one in self.files)
        known = f", {old} already known" if old else ""
        wrong = f", {len(self.problems)} not readable" if self.problems else ""
        return f"{new} of {new + old + len(self.problems)} imported{known}{wrong}"


class _Found(NamedTuple):
    """A report to store, or the problem with it."""

    report: AnyReport | None
    digest: str = ""
    problem: str = ""


def import_reports(request: HistoryImportRequest, session: Console) -> HistoryImport:
    """Import every readable file.

    Raises:
        UsageError: The store cannot be used.
        IncompleteError: The database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    from skillgate.store.keeper import Provenance, open_store  # imports the database's packages

    about = Provenance("import", commit_id=request.commit, branch=request.branch, at=request.at)
    done: list[ImportedFile] = []
    problems: list[str] = []
    store = open_store(target, create=True)
    try:
        for shown in request.files:
            named = about._replace(source=os.path.basename(shown))
            new = known = 0
            own: list[str] = []
            try:
                for found in _reports(os.path.join(session.cwd, shown), shown):
                    if found.report is None:
                        own.append(found.problem)
                    elif store.write(found.report, found.digest, named):
                        new += 1
                    else:
                        known += 1
            except UsageError as error:
                own.append(str(error))
            if new or known or not own:
                done.append(ImportedFile(shown, new, known))
            problems += (text if shown in text else f"{shown}: {text}" for text in own[:_MOST_PROBLEMS])
    finally:
        store.close()
    return HistoryImport(target.shown, tuple(done), tuple(problems))


def _reports(place: str, shown: str) -> Iterator[_Found]:
    """Yield the reports in a file, by its content.

    Raises:
        UsageError: It cannot be read, or is of another kind.
    """
    if is_database(place):
        equal: Counter[str] = Counter()  # evaluations of a database are different, even if their results are equal
        for evaluation in evaluations_in(place, shown):
            why = None if evaluation.ended else _NOT_ENDED
            found = _evaluation(evaluation.item, f"{shown}: evaluation {evaluation.name}", why)
            number = equal[found.digest]
            equal[found.digest] += 1
            yield found if number == 0 else found._replace(digest=digest(f"{found.digest} {number}".encode()))
        return
    data = parsed(read_whole(place, shown, "the report"), source=shown)
    if isinstance(data, list) and data and all(isinstance(one, dict) and "skillId" in one for one in data):
        for number, item in enumerate(data, 1):
            yield _evaluation(item, f"{shown}: object {number}")
        return
    from skillgate.store.keeper import document_digest

    yield _Found(_own_report(data, shown), document_digest(data))


def _evaluation(item: dict[str, Any], shown: str, incomplete: str | None = None) -> _Found:
    """Return one skill's evaluation by eval-skills as a report."""
    try:
        report = report_of([item], shown)
        identity = digest_of_evaluation(item)
    except (UsageError, RecursionError) as error:
        return _Found(None, problem=str(error) or f"{shown} is nested too deeply")
    reports = tuple(replace(one, incomplete=incomplete) for one in report.reports)
    return _Found(replace(report, reports=reports), identity)


def _own_report(data: Any, shown: str) -> AnyReport:  # noqa: ANN401 - JSON
    """Return a report of skillgate."""
    kind = kind_of(data)
    if kind not in ("bench", "score"):
        what = "another JSON document" if kind is None else f"kind {kind!r}"
        known = "a JSON report of eval, score or certify, or a report or database of eval-skills"
        raise UsageError(f"{shown}: expected {known}, found {what}")
    version = data.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UsageError(f"{shown} has schema version {version}, from a later skillgate; update this one")
    shape: type[AnyReport] = BenchReport
    if kind == "score":
        shape = Report if "results" in data else SingleReport
    try:
        return decode(shape, data)
    except (CodecError, RecursionError) as error:
        raise UsageError(f"{shown} is not a report of {kind}: {error}") from None
