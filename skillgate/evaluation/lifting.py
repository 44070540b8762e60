"""``--benchmark-json``: the lift of one skill in the form that skill-creator's viewer shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.files import require_folder, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.evaluation.request import ModelOptions
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot
    from skillgate.session import Session


def require_benchmark(path: str, options: ModelOptions, session: Session, roots: Sequence[SkillRoot]) -> None:
    """Make sure that the file can be written, and that there is one skill to write of, before anything is asked.

    Raises:
        UsageError: saying what is in the way.
    """
    if not options.lift:
        raise UsageError("--benchmark-json writes what --lift measures; give --lift too")
    if len(roots) != 1:
        raise UsageError(f"--benchmark-json writes of one skill, and there are {len(roots)}; name one")
    require_folder(path, session.cwd)


def write_benchmark(path: str, report: Report, session: Session) -> None:
    """Write the file where it was asked for.

    Raises:
        UsageError: it cannot be written.
    """
    from skillgate.report.benchmark_json import benchmark  # few runs write one

    found = [result for result in report.results if result.lift is not None]
    if not found:
        session.note(f"{path} is not written: there is no lift")
        return
    write(path, benchmark(found[0], timestamp=datetime.now(UTC)), cwd=session.cwd)
