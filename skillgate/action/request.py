"""The Action's inputs, their places in the workspace, and the session."""
# ruff: noqa: PTH107, PTH112, PTH118, PTH120, PTH208

from __future__ import annotations

import os
import re
from copy import copy
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate import settings
from skillgate.action.plan import DOCUMENTS
from skillgate.console import Console
from skillgate.errors import UsageError
from skillgate.files import require_place, toplevel
from skillgate.format import did_you_mean, printable
from skillgate.model.setting import KEY, SHARD, WORDS, Kind, Setting, Value
from skillgate.model.skill import SKILL_FILE
from skillgate.settings import BY_KEY, INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skillgate.action.protocol import Redactor
    from skillgate.config import Config, Files

R = TypeVar("R")
Input = str | float | bool | tuple[str, ...] | None
_REFUSED = {"run-as-caller": "only for the command line: programs of untrusted skills must not run as root"}
_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")
_MOST_SHARDS = 1000
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")  # as in the toolkit's getBooleanInput


def variable(name: str) -> str:
    """Return the environment variable of an input: the runner keeps hyphens and upper-cases letters."""
    return "INPUT_" + name.replace(" ", "_").upper()


def read_inputs(environ: Mapping[str, str]) -> dict[str, Input]:
    """Read every input, by name.

    Returns:
        Text as str, numbers as float or int, flags as bool, lists as tuples of str; None for an unset input without
            default. A default that GitHub fills in is empty here.

    Raises:
        UsageError: with every input that is not valid.
    """
    values: dict[str, Input] = {}
    problems = [f"input {name}: {why}" for name, why in _REFUSED.items() if environ.get(variable(name), "").strip()]
    for entry in INPUTS:
        text = environ.get(variable(entry.key), "").strip() or default_of(entry)
        try:
            values[entry.key] = _value(entry, text)
        except ValueError as error:
            problems.append(f"input {entry.key}: {error}")
    if problems:
        raise UsageError("\n".join(problems))
    return values


def unknown_inputs(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence about each unknown input; GitHub itself only warns."""
    known = {variable(entry.key): entry.key for entry in INPUTS}
    unknown = sorted(name for name in environ if name.startswith("INPUT_") and name not in known)
    return tuple(_unknown(name.removeprefix("INPUT_").lower(), known.values()) for name in unknown)


def _unknown(name: str, known: Iterable[str]) -> str:
    setting = BY_KEY.get(name)
    if setting is not None and not setting.personal:
        return f"unknown input {name!r} has no effect; set {name} in the configuration"
    return f"unknown input {name[:80]!r} has no effect{did_you_mean(name, known)}"


def set_options(inputs: Mapping[str, Input]) -> dict[str, Value]:
    """Collect the inputs that override the configuration, as for ``Config.with_options``."""
    over = (entry.key for entry in INPUTS if entry.configured and entry.action is not None and entry.action.configures)
    return {key: value for key in over if (value := inputs.get(key)) not in (None, ())}


def choices_of(entry: Setting[Any]) -> tuple[str, ...]:
    """Return the choices of an input; none if any text is allowed."""
    without = () if entry.action is None else entry.action.without
    return tuple(word for word in entry.choices if word not in without)


def default_of(entry: Setting[Any]) -> str:
    """Return the default text of an input, empty if GitHub fills it in."""
    default = "" if entry.action is None else entry.action.default
    return "" if default.startswith("${{") else default


def _value(entry: Setting[Any], text: str) -> Input:
    form = "" if entry.action is None else entry.action.form
    match entry.kind:
        case Kind.CHOICES:
            return tuple(_chosen(entry, word) for word in _words(text)) or None
        case Kind.TEXTS if form == WORDS:
            return _words(text) or None
        case Kind.TEXTS:
            return tuple(line.strip() for line in text.split("\n") if line.strip())
        case _ if not text:
            return None
        case Kind.CHOICE:
            return _chosen(entry, text)
        case Kind.FLAG:
            if text not in _TRUE + _FALSE:
                raise ValueError(f"expected true or false, found {text[:80]!r}")
            return text in _TRUE
        case Kind.NUMBER | Kind.INTEGER:
            return _accepted(entry, text)
        case _ if form == SHARD:
            return _shard(text)
        case _ if form == KEY and not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", text):
            raise ValueError(f"expected 1 to 64 {KEY}, found {text[:80]!r}")
        case _:
            return text


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in re.split(r"[,\n]", text) if word.strip()))


def _chosen(entry: Setting[Any], word: str) -> str:
    choices = choices_of(entry)
    if word in choices:
        return word
    raise ValueError(f"expected {', '.join(choices)}; found {word[:80]!r}{did_you_mean(word, choices)}")


def _shard(text: str) -> str:
    match = _SHARD.fullmatch(text)
    if match is None or not int(match[1]) <= int(match[2]) <= _MOST_SHARDS:
        raise ValueError(f"expected I/N with I from 1 to N and N up to {_MOST_SHARDS}, found {text[:80]!r}")
    return text


def _accepted(entry: Setting[Any], text: str) -> float:
    if re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]{1,6})?", text):
        number = float(text)
        try:
            accepted = entry.accept(int(number) if entry.kind is Kind.INTEGER and number.is_integer() else number)
        except ValueError:
            accepted = None
        if isinstance(accepted, int | float):
            return accepted
    raise ValueError(f"expected {entry.expected()}, found {text[:80]!r}")


class BenchmarkRequest(NamedTuple):
    """The benchmark to run, and how; each field is named after its input."""

    benchmark: str | None = None
    tasks: str | None = None
    skills: tuple[str, ...] = ()
    runs: int | None = None
    min_completion: float | None = None
    allow_exec: bool = False
    allow_env: tuple[str, ...] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether there is a benchmark to run."""
        return bool(self.benchmark or self.tasks)

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that are set."""
        return tuple(name.replace("_", "-") for name, value in self._asdict().items() if value)


class ActionRequest(NamedTuple):
    """The inputs of a run; each field is named after its input, and an empty text means none."""

    options: Mapping[str, Value]  # the inputs that are settings, for ``Config.with_options``
    mode: str
    paths: tuple[str, ...]  # skills or directories, relative to the working directory
    excluded: tuple[str, ...]  # excluded paths, relative to the working directory
    working_directory: str
    config: str | None
    baseline: str
    changed_only: str
    on_unmeasured: str  # what to do about skills without a score: ``fail`` or ``pass``
    cache_dir: str | None
    store: str | None
    shard: tuple[int, int] | None  # which part of how many to evaluate, from (1, 1) on; None for all skills
    reports: tuple[str, ...]
    merge_sarif: tuple[str, ...]
    benchmark: BenchmarkRequest
    invocations: tuple[str, ...]
    gate: tuple[str, ...]
    report_dir: str  # this and the next three are paths in the workspace
    sarif: str
    certificate: str
    badges: str
    comment: str
    comment_key: str
    pr_number: int | None
    regression_issue: bool
    annotations: str


def request_of(inputs: Mapping[str, Input]) -> ActionRequest:
    """Return the request of the inputs; ``inputs`` has all of them, by name."""

    def filled(kind: Callable[..., R], fields: Iterable[str], **own: object) -> R:
        return kind(**{name: inputs[name.replace("_", "-")] for name in fields if name not in own}, **own)

    paths, shard = inputs[settings.PATHS.key] or (), inputs[settings.REQUESTED_SHARD.key]
    assert isinstance(paths, tuple)
    return filled(
        ActionRequest,
        ActionRequest._fields,
        options=set_options(inputs),
        paths=tuple(path for path in paths if not path.startswith("!")),
        excluded=tuple(path.removeprefix("!").strip() for path in paths if path.startswith("!")),
        shard=tuple(map(int, shard.split("/"))) if isinstance(shard, str) else None,
        benchmark=filled(BenchmarkRequest, BenchmarkRequest._fields),
        gate=inputs[settings.INVOCATION_GATE.key] or (),
        **{place.key: inputs[place.key] or "" for place in (settings.SARIF, settings.CERTIFICATE, settings.BADGES)},
    )


_REPORT_DIR = f"input {settings.REPORT_DIR.key}"
_MOST = 50  # collected notes; all are written


class Checkout(NamedTuple):
    """The absolute directories of a run."""

    workspace: str  # where a step may read and write
    directory: str  # in the workspace; base of paths and configuration
    top: str  # of the repository; without one the workspace
    name: str = ""  # of a skill at the top, whose directory on a runner may have any name; "" if not known

    def inside(self, path: str, shown: str) -> str:
        """Return the absolute path of an input, relative to the directory.

        Raises:
            UsageError: it is outside of the workspace, or in Git's own directory.
        """
        return inside(self.workspace, os.path.join(self.directory, path), shown)


class Versions(NamedTuple):
    """The file versions for policy and comparison; without a change, all are the disk."""

    tip: Files  # at the base branch's tip
    start: Files  # at the commit where the change left the base branch
    head: Files  # in the working tree; for a change, never through a link out of it

    def is_removed(self, place: str) -> bool:
        """Whether the base branch has removed an absolute path since the change began."""
        return self.start is not self.tip and self.start.is_there(place) and not self.tip.is_there(place)


def inside(workspace: str, path: str, shown: str) -> str:
    """Return the absolute path of a place in the workspace, without resolving links.

    Raises:
        UsageError: it is outside, by name or through a link, or in Git's own directory.
    """
    place = os.path.normpath(os.path.join(workspace, path))
    for one, top in ((place, workspace), (os.path.realpath(place), os.path.realpath(workspace))):
        if one != top and not one.startswith(top.rstrip(os.sep) + os.sep):
            raise UsageError(f"{shown} leads out of the workspace")
        if ".git" in PurePath(os.path.relpath(one, top)).parts:
            raise UsageError(f"{shown} is in Git's own directory")
    return place


def require_untracked(checkout: Checkout, path: str, shown: str) -> None:
    """Refuse a place, relative to the workspace, that a change could have filled.

    Raises:
        UsageError: it is outside of the workspace, behind a link, or tracked.
    """
    workspace, top = checkout.workspace, checkout.top
    place = inside(workspace, path, shown)
    from skillgate.skill.git import is_tracked  # starts processes

    real = os.path.realpath(place)
    if real != os.path.join(os.path.realpath(workspace), os.path.relpath(place, workspace)):
        raise UsageError(f"{shown} is, or is behind, a symbolic link, which a change may have made")
    below = os.path.relpath(real, top).replace(os.sep, "/")
    folder = real if os.path.isdir(real) else os.path.dirname(real)
    if below == "." or is_tracked(top, below) or toplevel(folder) not in (None, top):
        raise UsageError(
            f"{shown} has files of the repository, which a change could replace; use a path that only actions/cache"
            " fills"
        )


def writable(path: str, workspace: str, *, folder: bool = False) -> str:
    """Return the path of an input, ``""`` if it must not be written."""
    try:
        if path:
            _require(os.path.join(path, DOCUMENTS[0]) if folder else path, workspace, path)
    except UsageError:
        return ""
    return os.path.normpath(path) if path else ""


def require_output_paths(workspace: str, report_dir: str, sarif: str) -> None:
    """Require that a run can write its documents, and overwrites nothing.

    Raises:
        UsageError: a path cannot be written, a file there is tracked, or it is a skill's directory, which must stay
            unchanged.
    """
    places = [_require(os.path.join(report_dir, name), workspace, _REPORT_DIR) for name in DOCUMENTS]
    if sarif:
        place = _require(sarif, workspace, "input sarif")
        if place in places:
            raise UsageError(
                f"input sarif: {sarif} is one of the documents in {settings.REPORT_DIR.key}; use another name"
            )
        places.append(place)
    folder = os.path.dirname(places[0])
    if os.path.isdir(folder) and any(name.upper() == SKILL_FILE.upper() for name in os.listdir(folder)):
        raise UsageError(f"{_REPORT_DIR}: {report_dir} is a skill; use another directory")
    from skillgate.skill.git import is_tracked  # starts processes

    top = toplevel(os.path.realpath(workspace))
    for place in places if top is not None else ():
        shown = os.path.relpath(place, workspace)
        if os.path.lexists(place) and is_tracked(top or "", os.path.relpath(os.path.realpath(place), top)):
            raise UsageError(f"{shown} is in the repository and would be overwritten; use another path")


def require_certificate_paths(workspace: str, certificate: str, badges: str, report_dir: str) -> None:
    """Require separate places for certificate and badges, outside of the repository's files and the report.

    Raises:
        UsageError: a place is already used.
    """
    from skillgate.skill.git import is_tracked  # starts processes

    documents = {_require(os.path.join(report_dir, name), workspace, _REPORT_DIR) for name in DOCUMENTS}
    top = toplevel(os.path.realpath(workspace))
    for name, place in (("certificate", certificate), ("badges", badges)):
        if not place:
            continue
        file = _require(os.path.join(place, "x.svg") if name == "badges" else place, workspace, f"input {name}")
        owned = os.path.dirname(file) if name == "badges" else file
        if owned in documents or owned == workspace:
            raise UsageError(f"input {name}: {place} is used for something else; use another path")
        if (
            top is not None
            and os.path.lexists(owned)
            and is_tracked(top, os.path.relpath(os.path.realpath(owned), top))
        ):
            raise UsageError(f"input {name}: {place} is in the repository and would be overwritten")


def remove_old_documents(workspace: str, report_dir: str) -> None:
    """Remove the documents of an earlier run, which would be mistaken for those of this one.

    Raises:
        UsageError: one cannot be removed.
    """
    for name in DOCUMENTS:
        shown = os.path.join(report_dir, name)
        try:
            os.remove(_require(shown, workspace, _REPORT_DIR))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UsageError(f"cannot write {shown}: {error.strerror}; remove it, or use another path") from error


def _require(name: str, workspace: str, shown: str) -> str:
    """Return the absolute path of a file that may be written."""
    inside(workspace, name, f"{shown}: {name!r}")
    place = require_place(name, workspace)
    above = os.path.dirname(place)
    while not os.path.isdir(above):
        if os.path.lexists(above):
            raise UsageError(f"{shown}: {os.path.relpath(above, workspace)} is a file, not a directory")
        above = os.path.dirname(above)
    if os.path.isdir(place):
        raise UsageError(f"{shown}: {name} is a directory; remove it, or use another path")
    return place


class ActionSession(Console):
    """A session in the workspace with redacted and collected notes.

    Attributes:
        redactor: removes secrets from notes.
    """

    signed_only = True  # a pull request may have filled the cache
    anew = f"use an empty {settings.CACHE_DIR.key} to ask everything again"

    def __init__(self, session: Console, *, workspace: str, redactor: Redactor) -> None:
        """Use the streams and the environment of ``session``."""
        super().__init__(
            stdout=session.stdout,
            stderr=session.stderr,
            environ=session.environ,
            cwd=workspace,
            no_color=True,
            verbose=session.verbose,
            quiet=session.quiet,
        )
        self.redactor = redactor
        self._notes: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes in order, without duplicates."""
        return tuple(self._notes)

    def with_config(self, config: Config) -> ActionSession:
        """Return the same session with a configuration; both collect notes together."""
        session = copy(self)
        session._config = config
        return session

    def note(self, text: str) -> None:
        """Write to stderr, and collect."""
        text = self.redactor.clean(text)
        shown = " ".join(printable(line) for line in text.split("\n"))
        if shown not in self._notes and len(self._notes) < _MOST:
            self._notes.append(shown)
        super().note(text)
