"""Which findings a run reports: profile and selection by path, known findings, findings of other tools."""
# ruff: noqa: PTH118, PTH120, PTH123

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.finding import Client
from skillgate.registry import Room
from skillgate.scoring.selection import Selection, unknown_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import PurePosixPath

    from skillgate.cli.session import Session
    from skillgate.config import Config
    from skillgate.model.finding import Finding
    from skillgate.model.layer import Layer
    from skillgate.model.report import Report
    from skillgate.model.setting import Value
    from skillgate.report.known import Known

_ROOMS = ("antipatterns", "rules", "across", "defects")
_MAX_BYTES = 50_000_000  # of a file that is read whole
_SKILL_FILE = r"(?i)[^\s'\"]+/SKILL\.md\b"


def rule_ids() -> frozenset[str]:
    """List the id of every rule: the names of their files, none of which is loaded for it."""
    return frozenset(name.upper() for room in _ROOMS for name in Room(f"skillgate.static.{room}").names())


def selections(config: Config) -> Callable[[PurePosixPath], Selection]:
    """Give what is asked of each skill's findings, by its shown path.

    Raises:
        UsageError: a rule is named that does not exist.
    """
    require_known_words(config)
    day = _today()

    def selection(path: PurePosixPath | None) -> Selection:
        profile, select, ignore = (config.get(key, path) for key in ("profile", "select", "ignore"))
        return Selection(
            profile=None if profile == "any" else Client(profile),
            select=frozenset(select) if isinstance(select, tuple) else frozenset({"default"}),
            ignore=frozenset(ignore) if isinstance(ignore, tuple) else frozenset(),
            today=day,
        )

    if config.scoped:
        return cache(selection)
    everywhere = selection(None)
    return lambda _: everywhere


def wants_optional(config: Config) -> bool:
    """Tell whether an opt-in rule may be selected anywhere: by its id, its group or ``all``."""
    words = {word for layer in config.layers for word in _words(layer.values.get("select"))}
    if not words - {"default"}:
        return False
    from skillgate.static.rules import OPTIONAL  # only where a selection is made

    return not words.isdisjoint({"all", "portability", *(name.upper() for name in OPTIONAL)})


def _words(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def load_known(config: Config, session: Session) -> Known | None:
    """Read the file of known findings, None where none is set.

    Raises:
        UsageError: there is no such file, or it is none of known findings.
    """
    wanted = config.get("known-findings")
    if not isinstance(wanted, str):
        return None
    from skillgate.report.known import Known, read  # most runs have none

    place = os.path.join(config.base("known-findings"), wanted)
    findings = read(_read(place, wanted, "the file of known findings"), source=wanted)
    # What is left out by options, or lies elsewhere, is not gone.
    partial = any(config.origin(key) == "option" for key in ("profile", "select", "ignore"))
    whole = not partial and all(map(_is_below(session.cwd, place), {finding.path for finding in findings}))
    return Known(findings, _seen_from(session.cwd, place), whole=whole)


def write_known(report: Report, name: str, session: Session) -> None:
    """Write the findings that stand, those of other tools too, to a file of known findings.

    Raises:
        UsageError: it cannot be written, or there is a file of another kind.
    """
    from skillgate.report.known import render

    place = os.path.join(session.cwd, name)
    _require_replaceable(place, name)
    findings = [*(finding for result in report.results for finding in result.findings), *report.outside]
    text = render(findings, _seen_from(session.cwd, place), report.tool)
    try:
        Path(place).write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {name}: {getattr(error, 'strerror', None) or error}") from error
    session.note(f"wrote {len(findings)} known finding{'s' * (len(findings) != 1)} to {name}")


def _require_replaceable(place: str, name: str) -> None:
    """Refuse to overwrite what is no file of known findings; an empty file has nothing to lose."""
    from skillgate.report.known import read

    if not os.path.lexists(place):
        return
    try:
        text = _read(place, name, "the file")
        if text.strip():
            read(text, source=name)
    except UsageError:
        message = f"{name} is there and is no file of known findings: it is left as it is; name another, or remove it"
        raise UsageError(message) from None


def merging(names: list[str], known: Known | None, session: Session) -> Callable[[Report], Report] | None:
    """Read findings of other tools, and give what adds them to a report; None where no file is named.

    Raises:
        UsageError: a file cannot be read, or is no SARIF.
    """
    if not names:
        return None
    from skillgate.report.merge import attach, read_sarif

    read = [read_sarif(_read(os.path.join(session.cwd, name), name, "the SARIF file"), source=name) for name in names]

    def attach_all(report: Report) -> Report:
        for one in read:
            report = attach(report, one, cwd=session.cwd)
        if known is None:
            return report
        from skillgate.report.known import without_known

        return without_known(report, known)

    return attach_all


def _read(place: str, shown: str, what: str) -> str:
    try:
        with open(place, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) <= _MAX_BYTES:
            return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{what} {shown} does not exist") from None
    except UnicodeDecodeError:
        raise UsageError(f"{what} {shown} is not UTF-8") from None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"{what} {shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    raise UsageError(f"{what} {shown} is larger than {_MAX_BYTES:,} bytes")


def _seen_from(cwd: str, file: str) -> Callable[[Finding], tuple[str, str]]:
    """Make what gives a finding's path and message as a file of known findings has them: with paths relative to it.

    So they are the same wherever the command runs and however its paths are given. Links on the way are resolved.
    """
    top = os.path.realpath(os.path.dirname(os.path.join(cwd, file)))

    @cache
    def folder(directory: str) -> str:
        real = os.path.realpath(os.path.join(cwd, directory))
        try:
            return os.path.relpath(real, top)
        except ValueError:  # another drive
            return real

    def path(shown: str) -> str:
        directory, name = os.path.split(shown)
        return os.path.normpath(os.path.join(folder(directory), name)).replace(os.sep, "/")

    def there(found: re.Match[str]) -> str:
        return path(found[0]) if os.path.lexists(os.path.join(cwd, found[0])) else found[0]

    return lambda finding: (path(str(finding.path)), re.sub(_SKILL_FILE, there, finding.message))


def _is_below(cwd: str, file: str) -> Callable[[str], bool]:
    """Make the test of whether a path of a file of known findings lies below the working directory."""
    top, inside = os.path.realpath(os.path.dirname(os.path.join(cwd, file))), os.path.join(os.path.realpath(cwd), "")
    return lambda path: os.path.normpath(os.path.join(top, path)).startswith(inside)


def require_known_words(config: Config) -> None:
    """Refuse a selection that names what is neither a rule nor a group, or that selects nothing at all.

    Raises:
        UsageError: with every problem.
    """
    problems = [problem for layer in config.layers for problem in _problems(layer)]
    if problems:
        raise UsageError("\n".join(problems))


def _problems(layer: Layer) -> Iterator[str]:
    """Say what is wrong with the words of a layer of the configuration."""
    for key in ("select", "ignore"):
        words = layer.values.get(key)
        if not isinstance(words, tuple):
            continue
        wrong = unknown_words(words, rule_ids())
        if key == "select" and not words:
            wrong = "it names no rule, and nothing would be reported"
        if wrong:
            origin = layer.origins[key]
            yield f"--{key}: {wrong}" if origin == "option" else f"{origin}: {key}: {wrong}"


def _today() -> str:
    from time import localtime, strftime

    return strftime("%Y-%m-%d", localtime())
