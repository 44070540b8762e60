"""``--merge-sarif``: the findings of other tools on their way into a report."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.evaluation.findings import read_whole
from skillgate.report.known import without_known
from skillgate.report.merge import attach, read_sarif

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.evaluation.findings import Reading
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report
    from skillgate.session import Session


class Merging:
    """Adds the findings of other tools to a report before its gate is asked, and shows what gates nothing after it.

    Under an option that asks about a part of the skills, what is about the other ones is left out, and what is about
    no skill at all is shown and fails nothing: nobody has told whether the change touches it.

    Attributes:
        aside: the shown paths of skills that were found and are not asked about; filled before :meth:`attaching` is
            used.
    """

    def __init__(
        self, names: Sequence[str], session: Session, *, part: str = "", reading: Reading = read_whole
    ) -> None:
        """Read the files.

        Args:
            names: SARIF files, as they were given.
            session: the run.
            part: the option by which the run asks about some skills only; ``""`` where it asks about all.
            reading: gives a file's text by its path, its shown path and what it is for.

        Raises:
            UsageError: a file cannot be read, or is no SARIF.
        """
        self.aside: set[str] = set()
        self._session, self._part = session, part
        places = [(name, os.path.join(session.cwd, name)) for name in names]
        self._read = [read_sarif(reading(place, name, "the SARIF file"), source=name) for name, place in places]
        self._held: tuple[Finding, ...] = ()

    def attaching(self, known: Callable[[Finding], bool] | None) -> Callable[[Report], Report]:
        """Give what adds the findings, less those that are known, as ``pipeline.evaluate`` takes it."""

        def attached(report: Report) -> Report:
            had = sum(report.summary.findings.values())
            for one in self._read:
                report = attach(report, one, cwd=self._session.cwd, aside=self.aside)
            left_out = had + sum(len(one.found) for one in self._read) - sum(report.summary.findings.values())
            if left_out:
                self._session.note(f"left out: {_counted(left_out)} about skills that are not changed")
            if known is not None:
                report = without_known(report, known)
            if not self._part:
                return report
            self._held = report.outside
            return report._replace(outside=())

        return attached

    def shown(self, report: Report) -> Report:
        """Add what was held back from the gate."""
        if not self._held:
            return report
        self._session.note(f"{_counted(len(self._held))} outside the skills: with {self._part} they fail nothing")
        return report._replace(outside=self._held)


def _counted(count: int) -> str:
    return f"{count} finding{'s' * (count != 1)} of other tools"
