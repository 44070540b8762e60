"""The file of known findings: read for a run, and written from one."""
# ruff: noqa: PTH112, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.findings import MAX_BYTES, read_whole
from skillgate.files import require_place, write
from skillgate.model.digest import digest
from skillgate.model.skill import SKILL_FILE
from skillgate.report.known import EXACT, Known, Seen, read, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.config import Config
    from skillgate.evaluation.findings import Reading
    from skillgate.evaluation.request import EvaluateRequest
    from skillgate.model.documents import KnownFinding
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report
    from skillgate.session import Session

_SKILL_FILE = r"(?i)[^\s'\"]+/SKILL\.md\b"
_DIGITS = 16  # of a line's digest: 64 bits, and a text that has it by chance would have to be an attack as well


def load_known(config: Config, session: Session, *, merges: bool, reading: Reading = read_whole) -> Known | None:
    """Read the file of known findings, None where none is set.

    Args:
        config: the configuration, with options.
        session: the run.
        merges: whether the findings of other tools are there to be met.
        reading: gives a file's text by its path, its shown path and what it is for, as :func:`read_whole` does.

    Raises:
        UsageError: there is no such file, or it is none of known findings.
    """
    wanted = config.get(settings.KNOWN_FINDINGS)
    if wanted is None:
        return None
    place = os.path.join(config.base(settings.KNOWN_FINDINGS), wanted)
    findings = read(reading(place, wanted, "the file of known findings"), source=wanted)
    # What is left out by options, or lies elsewhere, is not gone.
    partial = any(config.origin(one) == "option" for one in (settings.PROFILE, settings.SELECT, settings.IGNORE))
    partial = partial or (not merges and any(map(_is_foreign, findings)))
    whole = not partial and all(map(_is_below(session.cwd, place), {finding.path for finding in findings}))
    return Known(findings, _seen_from(session.cwd, place), whole=whole)


def require_writable(name: str, request: EvaluateRequest, session: Session) -> None:
    """Refuse a file that must not be written, and a run that leaves some findings out.

    Raises:
        UsageError: as said.
    """
    require_place(name, session.cwd)
    scope, config = request.scope, request.config
    partial = ["--changed"] * scope.changed + ["--files"] * scope.of_files
    selecting = (settings.PROFILE, settings.SELECT, settings.IGNORE)
    partial += [f"--{one.key}" for one in selecting if config.origin(one) == "option"]
    if partial:
        raise UsageError(f"--write-known-findings writes all that is known: run it without {', '.join(partial)}")


def write_known(name: str, report: Report, request: EvaluateRequest, session: Session, *, complete: bool) -> None:
    """Write the findings that stand, those of other tools too, to a file of known findings.

    Of a file that is there, what this run did not look at is kept: entries about files outside the paths that were
    given, of skills that could not be read, and of other tools where none is merged. Directories above it are made.

    Args:
        name: the file, as it was given.
        report: what was found.
        request: which paths were searched, and what was merged.
        session: the run.
        complete: whether all of the paths could be searched.

    Raises:
        UsageError: it cannot be written, or there is a file of another kind.
    """
    place = os.path.join(session.cwd, name)
    before = _before(place, name)
    findings = [*(finding for result in report.results for finding in result.findings), *report.outside]
    seen = _seen_from(session.cwd, place)
    rewritten = {seen(finding).path for finding in findings}
    unseen = _unseen(report, request, session.cwd, place, complete=complete)
    kept = [
        item for item in before if unseen(item) and (_is_foreign(item) or item.skills or item.path not in rewritten)
    ]
    write(
        name, render(findings, seen, report.tool, kept).encode(errors="backslashreplace"), cwd=session.cwd, parents=True
    )
    beside = f", and kept {sum(item.times for item in kept)} that this run did not look for" if kept else ""
    session.note(f"wrote {len(findings)} known finding{'s' * (len(findings) != 1)} to {name}{beside}")


def _before(place: str, name: str) -> tuple[KnownFinding, ...]:
    """Read what is to be overwritten: known findings, or an empty file, which has nothing to lose."""
    if not os.path.lexists(place):
        return ()
    try:
        text = read_whole(place, name, "the file")
        return read(text, source=name) if text.strip() else ()
    except UsageError:
        message = f"{name} is there and is no file of known findings: it is left as it is; name another, or remove it"
        raise UsageError(message) from None


def _unseen(
    report: Report, request: EvaluateRequest, cwd: str, place: str, *, complete: bool
) -> Callable[[KnownFinding], bool]:
    """Make the test of whether a run could not have met a known finding."""
    top = os.path.realpath(os.path.dirname(place))
    given = {_folder(os.path.join(cwd, path)) for path in request.scope.paths}
    skills = {os.path.realpath(os.path.join(cwd, one.skill.path)): one.evaluated for one in report.results}

    def unseen(item: KnownFinding) -> bool:
        if _is_foreign(item):
            return not request.merge_sarif
        several = item.skills if len(item.skills) > 1 else ()
        return any(unseen_at(f"{skill}/{SKILL_FILE}") for skill in several) if several else unseen_at(item.path)

    def unseen_at(path: str) -> bool:
        folders = list(_above(os.path.normpath(os.path.join(top, path))))
        for folder in folders:
            if folder in skills:
                return not skills[folder]
        return not complete or given.isdisjoint(folders)

    return unseen


def _is_foreign(item: KnownFinding) -> bool:
    """Tell a finding of another tool: its id begins with the tool's name and a slash."""
    return "/" in item.id


def _folder(path: str) -> str:
    real = os.path.realpath(path)
    return real if os.path.isdir(real) else os.path.dirname(real)


def _above(path: str) -> Iterator[str]:
    """Give the directories that a path lies in, the innermost first."""
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _seen_from(cwd: str, file: str) -> Callable[[Finding], Seen]:
    """Make what gives a finding as a file of known findings has it: with paths relative to it.

    So they are the same wherever the command runs and however its paths are given. Links on the way are resolved. Of
    the rules that are known by their text alone (``EXACT``), the message is followed by a digest of the line.
    """
    top = os.path.realpath(os.path.dirname(os.path.join(cwd, file)))

    @cache
    def folder(directory: str) -> str:
        try:
            real = os.path.realpath(os.path.join(cwd, directory))
            return os.path.relpath(real, top)
        except ValueError:  # another drive, or no name that a file could have
            return os.path.join(cwd, directory)

    def path(shown: str) -> str:
        directory, name = os.path.split(shown)
        return os.path.normpath(os.path.join(folder(directory), name)).replace(os.sep, "/")

    def there(found: re.Match[str]) -> str:
        return path(found[0]) if os.path.lexists(os.path.join(cwd, found[0])) else found[0]

    @cache
    def lines(shown: str) -> list[bytes]:
        return _lines(os.path.join(cwd, shown))

    def seen(finding: Finding) -> Seen:
        shown = str(finding.path)
        message = re.sub(_SKILL_FILE, there, finding.message)
        if finding.id in EXACT:
            text = b"".join(lines(shown)[finding.line - 1 : finding.line])
            message = f"{message} (line {digest(text)[:_DIGITS]})"
        skills = tuple(sorted(folder(skill).replace(os.sep, "/") for skill in finding.skills))
        return Seen(path(shown), message, skills)

    return seen


def _lines(place: str) -> list[bytes]:
    """Read the lines of a file, without their ends; none where it cannot be read."""
    try:
        with open(place, "rb") as file:
            return file.read(MAX_BYTES).splitlines()
    except (OSError, ValueError):
        return []


def _is_below(cwd: str, file: str) -> Callable[[str], bool]:
    """Make the test of whether a path of a file of known findings lies below the working directory."""
    top, inside = os.path.realpath(os.path.dirname(os.path.join(cwd, file))), os.path.join(os.path.realpath(cwd), "")
    return lambda path: os.path.normpath(os.path.join(top, path)).startswith(inside)
