"""Reads a skill's directory in the place of running it: what the task's ``checkType`` names is checked and scored.

There is a function for each ``checkType``. It finds a score in [0, 1], of which 1 passes, and why it is no more than
that.
"""
# ruff: noqa: PTH113, PTH118, PTH122, PTH123, PTH208

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from skillgate.bench.ports import Reply
from skillgate.bench.skills import SKILL_JSON, SKILL_MD
from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import CHECK_TYPE, CHECKS, AdapterType
from skillgate.model.skill import Unreadable
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from skillgate.bench.ports import Call, Surroundings
    from skillgate.model.benchmark import AdapterConfig, Executable, Runnable
    from skillgate.model.skill import Skill

_SHOWN = 500  # characters of a reason, which may quote the skill
LEAST_DESCRIPTION, MOST_DESCRIPTION = 20, 1_024  # characters; the upper one is the specification's of SKILL.md
LEAST_WORDS = 15  # of documentation that says something
_MOST_BYTES = 1_000_000
_MOST_NAMED = 5  # files, links and problems in a reason
_URLS = ("http://", "https://")
_NO_FRONTMATTER = "the frontmatter of SKILL.md is missing or no YAML mapping"
# What templates of skills begin with: nobody has described anything yet.
_TEMPLATE = re.compile(
    r"\b(todo|fixme|tbd|lorem ipsum|changeme|replace (this|me|with)|your description|description (goes )?here"
    r"|describe (what )?(this|your|the) skill|(a )?(brief|short) description of|template skill|my first skill)\b",
    re.IGNORECASE,
)


def open_adapter(skill: Runnable, surroundings: Surroundings) -> StaticAdapter:
    """Make ready to read a skill; nothing of it is started."""
    path = surroundings.environ.get("PATH", os.defpath)
    return StaticAdapter(Subject(skill.spec, skill.config, skill.root, path))


class StaticAdapter:
    """Checks one skill."""

    def __init__(self, skill: Subject) -> None:
        self._skill = skill

    def invoke(self, call: Call) -> Reply:
        """Check once; the answer is ``{"score", "passed", "reasons"}``. What cannot be checked is not measured."""
        try:
            result = check(self._skill, call.data.get(CHECK_TYPE))
        except (UncheckedError, UsageError) as error:
            return Reply(kind=ErrorKind.SCORER, error=str(error), answered=False)
        except OSError as error:
            why = f"the skill's files cannot be read: {error.strerror}"
            return Reply(kind=ErrorKind.SCORER, error=why, answered=False)
        reasons = [printable(reason)[:_SHOWN] for reason in result.reasons]
        output = {"score": result.score, "passed": result.score >= 1, "reasons": reasons}
        return Reply(output=output, timed=False)  # how long we read is no latency of the skill

    def close(self) -> None:
        """Nothing stays between calls."""


class Subject(NamedTuple):
    """The skill that is checked."""

    spec: Executable  # its skill.json, or what takes its place
    config: AdapterConfig
    root: str  # the absolute directory that holds it
    path: str  # where programs are looked for, as in PATH

    @property
    def is_program(self) -> bool:
        """Whether it has a skill.json."""
        return os.path.isfile(os.path.join(self.root, SKILL_JSON))


class Found(NamedTuple):
    """What a check finds."""

    score: float
    reasons: tuple[str, ...] = ()


class UncheckedError(Exception):
    """It could not be checked, through no fault of the skill; the message says why."""


def check(skill: Subject, kind: object) -> Found:
    """Check one skill by the ``checkType`` of a task.

    Raises:
        UncheckedError: it could not be checked.
        UsageError: there is no such check.
    """
    if kind not in _CHECKS:
        raise UsageError(f"unknown {CHECK_TYPE} {kind!r}; known: {', '.join(CHECKS)}")
    return _CHECKS[str(kind)](skill)


def _parts(*parts: tuple[float, str | None]) -> Found:
    """Add up the shares of the parts of a check that hold; a part holds where its reason is None."""
    score = sum(share for share, reason in parts if reason is None)
    return Found(round(score, 4), tuple(reason for _, reason in parts if reason is not None))


def _prose(skill: Subject) -> Skill | None:
    """Read the skill's SKILL.md, None where it has none."""
    if not os.path.isfile(os.path.join(skill.root, SKILL_MD)):
        return None
    here = [root for root in discover([skill.root]).roots if root.file_name == SKILL_MD]
    if not here:
        raise UncheckedError(f"{SKILL_MD} is ignored where it lies")
    source = read(here[0])
    if isinstance(source, Unreadable):
        raise UncheckedError(f"{SKILL_MD} cannot be read: {source.reason}")
    return parse(source)


def _accessibility(skill: Subject) -> Found:
    """Check the way in: the program and its files are there, or the URL is one; of prose, the body and its links.

    Of a program half is the program, half the files that its command names.
    """
    kind = skill.spec.adapter_type
    if not skill.is_program or kind is AdapterType.SKILLMD:
        prose = _prose(skill)
        if prose is None:
            return Found(0.0, ("there is no SKILL.md to read",))
        dead = ", ".join([link.target for link in prose.links if link.dead][:_MOST_NAMED])
        return _parts(
            (0.5, None if prose.has_body else "SKILL.md has no instructions below its frontmatter"),
            (0.5, f"links lead nowhere: {dead}" if any(link.dead for link in prose.links) else None),
        )
    if kind is AdapterType.HTTP or skill.spec.entrypoint.startswith(_URLS):
        return _url(urljoin(skill.config.base_url or "", skill.spec.entrypoint))
    if kind is AdapterType.STATIC:
        return Found(1.0)  # it is read, and its directory was
    return _command(skill)


def _url(url: str) -> Found:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    return _parts((1.0, None if good else f"the entrypoint is no http or https URL: {url[:200]!r}"))


def _command(skill: Subject) -> Found:
    try:
        words = [skill.config.command, *skill.config.args] if skill.config.command else []
        words = words or shlex.split(skill.spec.entrypoint)
    except ValueError as error:
        return Found(0.0, (f"the entrypoint is no command: {error}",))
    if not words:
        return Found(0.0, ("the entrypoint is no command: it is empty",))
    missing = [problem for word in words[1:] if (problem := _file_problem(skill.root, word)) is not None]
    return _parts((0.5, _program_problem(skill, words[0])), (0.5, "; ".join(missing[:_MOST_NAMED]) or None))


def _program_problem(skill: Subject, word: str) -> str | None:
    if "/" in word or os.sep in word:
        path = os.path.join(skill.root, word)
        if not os.path.isfile(path):
            return f"the program {word} is not there"
        return None if os.access(path, os.X_OK) else f"the program {word} is not executable"
    return None if shutil.which(word, path=skill.path) else f"there is no program {word} on the PATH"


def _file_problem(root: str, word: str) -> str | None:
    """Return what is wrong with a file that a command names; options, numbers and plain words name none."""
    if word.startswith(("-", *_URLS)) or not os.path.splitext(word)[1][1:2].isalpha():
        return None
    path = os.path.join(root, word)
    if not os.path.isfile(path):  # also where no file can have such a name
        return f"{word} is not there"
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(root), "")):
        return f"{word} lies outside of the skill's directory"
    return None if os.access(path, os.R_OK) else f"{word} cannot be read"


def _description_length(skill: Subject) -> Found:
    """Check that somebody described this skill; what is too short has the share of its length, too long a half."""
    prose = _prose(skill)
    text = (skill.spec.description if prose is None else prose.frontmatter.text("description")).strip()
    template, length = _TEMPLATE.search(text), len(text)
    if template is not None:
        return Found(0.0, (f"the description still has a template's words: {template[0]!r}",))
    if length < LEAST_DESCRIPTION:
        reason = f"the description has {length} characters, at least {LEAST_DESCRIPTION}"
        return Found(round(length / LEAST_DESCRIPTION, 4), (reason,))
    if length > MOST_DESCRIPTION:
        return Found(0.5, (f"the description has {length:,} characters, at most {MOST_DESCRIPTION:,}",))
    return Found(1.0)


def _directory_not_empty(skill: Subject) -> Found:
    """Check for documentation: 1 for a SKILL.md or README, a half for another page; less where it has few words."""
    try:
        names = sorted(os.listdir(skill.root))
    except OSError as error:
        raise UncheckedError(f"its directory cannot be read: {error.strerror}") from error
    best = Found(0.0, ("there is no documentation beside skill.json: add a SKILL.md or a README.md",))
    for name in names:
        main = name == SKILL_MD or name.upper().split(".")[0] == "README"
        data = _beginning(skill, name) if main or name.lower().endswith((".md", ".rst", ".txt")) else None
        if data is None:
            continue
        words = len(data.decode("utf-8", "replace").split())
        score = round((1.0 if main else 0.5) * min(1.0, words / LEAST_WORDS), 4)
        if score > best.score:
            short = f"{name} has {words} words, at least {LEAST_WORDS}"
            reason = short if words < LEAST_WORDS else f"{name} is no README"
            best = Found(score, () if score == 1 else (reason,))
    return best


def _beginning(skill: Subject, name: str) -> bytes | None:
    """Read the beginning of a file of the skill; None where it is no plain file of the skill's own."""
    path = os.path.join(skill.root, name)
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise UncheckedError(f"{name} cannot be read: {error.strerror}") from error


def _json_valid(skill: Subject) -> Found:
    """Check the manifest: half is a valid skill.json, a quarter each of its schemas; of prose, the frontmatter."""
    if skill.is_program:  # it was read before, and what is not valid was refused
        schemas = (("inputSchema", skill.spec.input_schema), ("outputSchema", skill.spec.output_schema))
        return _parts((0.5, None), *((0.25, _schema_problem(key, schema)) for key, schema in schemas))
    prose = _prose(skill)
    if prose is None or not prose.frontmatter.valid:
        return Found(0.0, (_NO_FRONTMATTER,))
    problems = [problem.message for problem in prose.problems if problem.file is None]
    return Found(0.5 if problems else 1.0, tuple(problems[:_MOST_NAMED]))


def _schema_problem(key: str, schema: Mapping[str, Any]) -> str | None:
    if not schema:
        return f"skill.json declares no {key}"
    try:
        from skillgate.bench.schemas import schema_problem
    except ImportError as missing:  # not ModuleNotFoundError: a thread that waited for a load that failed gets this
        hint = 'pip install "skillgate-action[bench]"'
        raise UncheckedError(f"whether a schema is one is known to jsonschema: {hint}") from missing
    problem = schema_problem(dict(schema))
    return None if problem is None else f"skill.json: {key}: {problem}"


def _metadata(skill: Subject) -> Found:
    """Check name and description: in the frontmatter, which must be valid; of a program without one in skill.json."""
    prose = _prose(skill)
    if prose is None:
        spec = skill.spec
        return _parts(
            (0.5, None if spec.name.strip() else "skill.json names no name"),
            (0.5, None if spec.description.strip() else "skill.json has no description"),
        )
    frontmatter = prose.frontmatter
    if not frontmatter.valid:
        return Found(0.0, (_NO_FRONTMATTER,))
    missing = {key: f"the frontmatter of SKILL.md has no {key}" for key in ("name", "description")}
    return _parts(*((0.5, None if frontmatter.text(key).strip() else reason) for key, reason in missing.items()))


_CHECKS: dict[str, Callable[[Subject], Found]] = {
    "accessibility": _accessibility,
    "description_length": _description_length,
    "directory_not_empty": _directory_not_empty,
    "json_valid": _json_valid,
    "metadata": _metadata,
}
