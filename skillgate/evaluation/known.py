"""Known findings, and findings of other tools, on their way into a report."""
# ruff: noqa: PTH112, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.errors import UsageError
from skillgate.evaluation.request import MAX_BYTES, read_whole
from skillgate.files import require_place, write
from skillgate.model.skill import SKILL_FILE, digest
from skillgate.report.known import EXACT, Known, Seen, read, render, without_known
from skillgate.report.merge import attach, read_sarif

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.request import EvaluateRequest, Reading
    from skillgate.model.documents import KnownFinding
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report

_SKILL_FILE = r"(?i)[^\s'\"]+/SKILL\.md\b"
_DIGITS = 16  # of a line's digest: 64 bits; a text with the same one by chance would also have to be an attack
_SELECTING = (settings.PROFILE, settings.SELECT, settings.IGNORE)


def load_known(config: Config, session: Console, *, merges: bool, reading: Reading = read_whole) -> Known | None:
    """Read the file of known findings, None if none is set; ``merges``: whether findings of other tools are merged.

    Raises:
        UsageError: there is no such file, or it is not a file of known findings.
    """
    wanted = config.get(settings.KNOWN_FINDINGS)
    if wanted is None:
        return None
    place = os.path.join(config.base(settings.KNOWN_FINDINGS), wanted)
    findings = read(reading(place, wanted, "the file of known findings"), source=wanted)
    # Findings left out by options, or elsewhere, are not gone.
    partial = any(config.origin(one) == "option" for one in _SELECTING)
    partial = partial or (not merges and any(map(_is_foreign, findings)))
    top, below = os.path.realpath(os.path.dirname(place)), os.path.join(os.path.realpath(session.cwd), "")
    paths = {os.path.normpath(os.path.join(top, finding.path)) for finding in findings}
    whole = not partial and all(path.startswith(below) for path in paths)
    return Known(findings, _seen_from(session.cwd, place), whole=whole)


def require_writable(name: str, request: EvaluateRequest, session: Console) -> None:
    """Raise UsageError if the file must not be written, or the run leaves out some findings."""
    require_place(name, session.cwd)
    scope, config = request.scope, request.config
    partial = ["--changed"] * scope.changed + ["--files"] * scope.of_files
    partial += [f"--{one.key}" for one in _SELECTING if config.origin(one) == "option"]
    if partial:
        raise UsageError(f"--write-known-findings writes all known findings; leave out {', '.join(partial)}")


def write_known(name: str, report: Report, request: EvaluateRequest, session: Console, *, complete: bool) -> None:
    """Write the findings of a report, including those of other tools, to a file of known findings.

    Entries of an existing file that this run did not check stay: those outside its paths, of unreadable skills, and of
    other tools if none is merged. Missing directories are made.

    ``name``: the file, as the user wrote it. ``request``: the searched paths and merged files. ``complete``: whether
    all of the paths could be searched.

    Raises:
        UsageError: it cannot be written, or is a file of another kind.
    """
    place = os.path.join(session.cwd, name)
    before = _before(place, name)
    findings = [*(finding for result in report.results for finding in result.findings), *report.outside]
    seen = _seen_from(session.cwd, place)
    rewritten = {seen(finding).path for finding in findings}
    unseen = _unseen(report, request, session.cwd, place, complete=complete)
    staying = [
        item for item in before if unseen(item) and (_is_foreign(item) or item.skills or item.path not in rewritten)
    ]
    data = render(findings, seen, report.tool, staying).encode(errors="backslashreplace")
    write(name, data, cwd=session.cwd, parents=True)
    rest = f", and left {sum(item.times for item in staying)} that this run did not check" if staying else ""
    session.note(f"wrote {len(findings)} known finding{'s' * (len(findings) != 1)} to {name}{rest}")


def _before(place: str, name: str) -> tuple[KnownFinding, ...]:
    """Read the file that will be overwritten: known findings, or an empty file."""
    if not os.path.lexists(place):
        return ()
    try:
        text = read_whole(place, name, "the file")
        return read(text, source=name) if text.strip() else ()
    except UsageError:
        message = f"{name} exists and is not a file of known findings; use another name, or remove it"
        raise UsageError(message) from None


def _unseen(
    report: Report, request: EvaluateRequest, cwd: str, place: str, *, complete: bool
) -> Callable[[KnownFinding], bool]:
    """Return a test of whether a run could not have found a known finding."""
    top = os.path.realpath(os.path.dirname(place))
    searched = {os.path.realpath(os.path.join(cwd, path)) for path in request.scope.paths}
    searched = {path if os.path.isdir(path) else os.path.dirname(path) for path in searched}
    skills = {os.path.realpath(os.path.join(cwd, one.skill.path)): one.evaluated for one in report.results}

    def unseen(item: KnownFinding) -> bool:
        if _is_foreign(item):
            return not request.merge_sarif
        if len(item.skills) > 1:
            return any(unseen_at(f"{skill}/{SKILL_FILE}") for skill in item.skills)
        return unseen_at(item.path)

    def unseen_at(path: str) -> bool:
        folders = list(_above(os.path.normpath(os.path.join(top, path))))
        for folder in folders:
            if folder in skills:
                return not skills[folder]
        return not complete or searched.isdisjoint(folders)

    return unseen


def _is_foreign(item: KnownFinding) -> bool:
    """Whether a finding is from another tool: its id starts with the tool's name and a slash."""
    return "/" in item.id


def _above(path: str) -> Iterator[str]:
    """Yield the parent directories of a path, innermost first."""
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _seen_from(cwd: str, file: str) -> Callable[[Finding], Seen]:
    """Return a function from a finding to its form in a file of known findings, with paths relative to that file.

    So they are the same wherever the command runs and however its paths are written. Links on the way are resolved. For
    the rules that need the exact text (``EXACT``), the message ends with a digest of the line.
    """
    top = os.path.realpath(os.path.dirname(os.path.join(cwd, file)))

    @cache
    def folder(directory: str) -> str:
        try:
            return os.path.relpath(os.path.realpath(os.path.join(cwd, directory)), top)
        except ValueError:  # another drive, or not a valid file name
            return os.path.join(cwd, directory)

    def path(shown: str) -> str:
        directory, name = os.path.split(shown)
        return os.path.normpath(os.path.join(folder(directory), name)).replace(os.sep, "/")

    def existing(match: re.Match[str]) -> str:
        return path(match[0]) if os.path.lexists(os.path.join(cwd, match[0])) else match[0]

    @cache
    def lines(shown: str) -> list[bytes]:
        try:
            with open(os.path.join(cwd, shown), "rb") as stream:
                return stream.read(MAX_BYTES).splitlines()
        except (OSError, ValueError):
            return []

    def seen(finding: Finding) -> Seen:
        shown = str(finding.path)
        message = re.sub(_SKILL_FILE, existing, finding.message)
        if finding.id in EXACT:
            text = b"".join(lines(shown)[finding.line - 1 : finding.line])
            message = f"{message} (line {digest(text)[:_DIGITS]})"
        skills = tuple(sorted(folder(skill).replace(os.sep, "/") for skill in finding.skills))
        return Seen(path(shown), message, skills)

    return seen


class OtherFindings:
    """Add the findings of other tools to a report before its gate, and those that gate nothing after it.

    With an option that selects a part of the skills, findings about other skills are left out. Findings about no skill
    are shown but fail nothing, since it is not known whether the change touches them.

    Attributes:
        aside: the shown paths of found skills that are not reported; filled before :meth:`attaching` is used.
    """

    def __init__(
        self, names: Sequence[str], session: Console, *, part: str = "", reading: Reading = read_whole
    ) -> None:
        """Read SARIF files; ``part`` is the option that selects a part of the skills, ``""`` for all.

        Raises:
            UsageError: a file cannot be read, or is not SARIF.
        """
        self.aside: set[str] = set()
        self._session, self._part = session, part
        self._read = [
            read_sarif(reading(os.path.join(session.cwd, name), name, "the SARIF file"), source=name) for name in names
        ]
        self._held: tuple[Finding, ...] = ()

    def attaching(self, known: Callable[[Finding], bool] | None) -> Callable[[Report], Report]:
        """Return a function for ``pipeline.evaluate`` that adds the findings, without known ones."""

        def attached(report: Report) -> Report:
            total = sum(report.summary.findings.values()) + sum(len(one.found) for one in self._read)
            for one in self._read:
                report = attach(report, one, cwd=self._session.cwd, aside=self.aside)
            left_out = total - sum(report.summary.findings.values())
            if left_out:
                self._session.note(f"left out: {_counted(left_out)} about unchanged skills")
            if known is not None:
                report = without_known(report, known)
            if not self._part:
                return report
            self._held = report.outside
            return report._replace(outside=())

        return attached

    def shown(self, report: Report) -> Report:
        """Add the findings that were held back from the gate."""
        if not self._held:
            return report
        self._session.note(f"{_counted(len(self._held))} outside of skills: with {self._part} they fail nothing")
        return report._replace(outside=self._held)


def _counted(count: int) -> str:
    return f"{count} finding{'s' * (count != 1)} of other tools"
