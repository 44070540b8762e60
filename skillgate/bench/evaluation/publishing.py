"""What a benchmark run writes: its files, what stdout gets, and how far it is."""
# ruff: noqa: PTH103, PTH110, PTH112, PTH118, PTH120

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.files import require_place, write
from skillgate.model.bench_result import Status
from skillgate.report.rendering import ending, render, writer
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_result import TaskResult
    from skillgate.session import Session

NAME = "eval-result"
_TICK_S = 0.2


def require_output(formats: Sequence[str], output_dir: str, session: Session, *, make: bool = True) -> None:
    """Make the directory of reports, unless it is not to be made, and make sure that every file of it may be written.

    Raises:
        UsageError: one may not.
    """
    folder = os.path.join(session.cwd, output_dir)
    for form in formats:
        writer("bench", form)  # what a format needs and is not installed is said now
        name = os.path.join(output_dir, f"{NAME}.{ending(form)}")
        place = require_place(name, session.cwd)
        if os.path.isdir(place):
            raise UsageError(f"cannot write {name}: it is a directory; choose another --{settings.OUTPUT_DIR.key}")
        if os.path.exists(place) and not os.access(place, os.W_OK):
            raise UsageError(f"cannot write {name}: not permitted; choose another --{settings.OUTPUT_DIR.key}")
    try:
        if make:
            os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot write into {output_dir}: {error.strerror}; choose another --{settings.OUTPUT_DIR.key}"
        ) from error
    above = folder
    while not os.path.lexists(above):  # what is to be made is made in the nearest directory that is there
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        raise UsageError(f"cannot write into {output_dir}: Not a directory; choose another --{settings.OUTPUT_DIR.key}")
    if not os.access(above, os.W_OK):
        raise UsageError(f"cannot write into {output_dir}: not permitted; choose another --{settings.OUTPUT_DIR.key}")


def publish(report: BenchReport, formats: Sequence[str], output_dir: str, session: Session) -> None:
    """Write the report in every format, under a stable name and under one with its time."""
    stamp = (report.reports[0].timestamp if report.reports else datetime.now(UTC)).strftime("%Y-%m-%dT%H-%M-%SZ")
    for form in formats:
        data = rendered(report, form, session).encode(errors="backslashreplace")
        for name in (f"{NAME}.{ending(form)}", f"{NAME}-{stamp}.{ending(form)}"):
            write(os.path.join(output_dir, name), data, cwd=session.cwd, parents=True)
    if formats:
        names = ", ".join(f"{NAME}.{ending(form)}" for form in formats)
        session.note(f"wrote {names} to {output_dir}")


def rendered(report: BenchReport, form: str, session: Session, *, style: Style | None = None) -> str:
    """Render a report; only its format's module is loaded. Text is laid out for the terminal without a ``style``."""
    style = style or Style(width=session.width, color=session.color)
    return render(report, "bench", form, style, verbose=session.verbose)


def watching(progress: str, session: Session, total: int) -> Callable[[TaskResult | None], None]:
    """Say how far a run is: a line that is drawn anew, or an object a line with ``--progress json``; None ends it."""
    count = [0, 0]
    drawn = [0.0]
    bar = progress == "bar" and session.stderr.isatty() and not session.quiet

    def show(result: TaskResult | None) -> None:
        if result is None:
            if bar:
                session.show_progress("\r" + " " * 79 + "\r")
            return
        count[0] += 1
        count[1] += result.status is Status.PASS
        if progress == "json":
            line = {"done": count[0], "total": total, "skillId": result.skill_id, "taskId": result.task_id}
            line |= {"run": result.run, "status": result.status.value, "score": result.score}
            session.show_progress(json.dumps(line) + "\n")
        elif bar and (time.monotonic() - drawn[0] >= _TICK_S or count[0] == total):
            drawn[0] = time.monotonic()
            full = 20 * count[0] // total
            line_ = f"{'█' * full}{'░' * (20 - full)} {count[0]} of {total} · {count[1]} passed"
            session.show_progress("\r" + line_.ljust(79)[:79])

    return show
