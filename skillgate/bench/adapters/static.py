"""Check a skill's directory instead of running it: one function for each ``checkType`` of a task.

A check returns a score in [0, 1] and the reasons for anything below 1. A score of 1 passes.
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
from skillgate.format import plural, printable
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import CHECK_TYPE, CHECKS, OWN_ADAPTER, AdapterType
from skillgate.model.skill import Unreadable
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from skillgate.bench.ports import Call, Surroundings
    from skillgate.model.benchmark import AdapterConfig, Executable, Runnable
    from skillgate.model.skill import Skill

_SHOWN = 500  # characters of a reason, which may quote the skill
LEAST_DESCRIPTION, MOST_DESCRIPTION = 20, 1_024  # characters; the maximum is that of the SKILL.md specification
LEAST_WORDS = 15  # of useful documentation
_MOST_BYTES = 1_000_000
_MOST_NAMED = 5  # files, links or problems listed in a reason
_URLS = ("http://", "https://")
_NO_FRONTMATTER = "the frontmatter of SKILL.md is missing or not a YAML mapping"
# Placeholder text of skill templates: the description was never written.
_TEMPLATE = re.compile(
    r"\b(todo|fixme|tbd|lorem ipsum|changeme|replace (this|me|with)|your description|description (goes )?here"
    r"|describe (what )?(this|your|the) skill|(a )?(brief|short) description of|template skill|my first skill)\b",
    re.IGNORECASE,
)


def open_adapter(skill: Runnable, surroundings: Surroundings) -> StaticAdapter:
    """Prepare to check a skill; none of its programs is started."""
    path = surroundings.environ.get("PATH", os.defpath)
    return StaticAdapter(Subject(skill.spec, skill.config, skill.root, path))


class StaticAdapter:
    """Checks one skill."""

    def __init__(self, skill: Subject) -> None:
        self._skill = skill

    def invoke(self, call: Call) -> Reply:
        """Check once; the answer is ``{"score", "passed", "reasons"}``. A check that cannot be done is not measured."""
        try:
            result = check(self._skill, call.data.get(CHECK_TYPE))
        except (UncheckedError, UsageError) as error:
            return Reply(kind=ErrorKind.SCORER, error=str(error), answered=False)
        except OSError as error:
            why = f"the skill's files cannot be read: {error.strerror}"
            return Reply(kind=ErrorKind.SCORER, error=why, answered=False)
        reasons = [printable(reason)[:_SHOWN] for reason in result.reasons]
        output = {"score": result.score, "passed": result.score >= 1, "reasons": reasons}
        return Reply(output=output, timed=False)  # our reading time is not a latency of the skill

    def close(self) -> None:
        """Do nothing: no state outlives a call."""


class Subject(NamedTuple):
    """The skill to check."""

    spec: Executable  # of its skill.json, or made from its SKILL.md
    config: AdapterConfig
    root: str  # absolute directory
    path: str  # search path for programs, as in PATH

    @property
    def is_program(self) -> bool:
        """Whether the skill has a skill.json."""
        return os.path.isfile(os.path.join(self.root, SKILL_JSON))


class Found(NamedTuple):
    """The result of a check."""

    score: float
    reasons: tuple[str, ...] = ()


class UncheckedError(Exception):
    """The skill could not be checked, for a reason outside the skill; the message gives it."""


def check(skill: Subject, kind: object) -> Found:
    """Check one skill by the ``checkType`` of a task.

    Raises:
        UncheckedError: The skill could not be checked.
        UsageError: There is no such check.
    """
    if kind not in _CHECKS:
        raise UsageError(f"unknown {CHECK_TYPE} {kind!r}; known: {', '.join(CHECKS)}")
    return _CHECKS[str(kind)](skill)


def _parts(*parts: tuple[float, str | None]) -> Found:
    """Add up the shares of the parts that pass; a part passes if its reason is None."""
    score = sum(share for share, reason in parts if reason is None)
    return Found(round(score, 4), tuple(reason for _, reason in parts if reason is not None))


def _prose(skill: Subject) -> Skill | None:
    """Read the skill's SKILL.md; None if there is none."""
    if not os.path.isfile(os.path.join(skill.root, SKILL_MD)):
        return None
    here = [root for root in discover([skill.root]).roots if root.file_name == SKILL_MD]
    if not here:
        raise UncheckedError(f"{SKILL_MD} is in an ignored directory")
    source = read(here[0])
    if isinstance(source, Unreadable):
        raise UncheckedError(f"{SKILL_MD} cannot be read: {source.reason}")
    return parse(source)


def _accessibility(skill: Subject) -> Found:
    """Check that the program and its files exist, or that the URL is valid; for prose, the body and its links.

    For a program, the program counts one half and the files named in its command the other half.
    """
    kind = skill.spec.adapter_type
    if not skill.is_program or kind is AdapterType.SKILLMD:
        prose = _prose(skill)
        if prose is None:
            return Found(0.0, ("there is no SKILL.md",))
        dead = ", ".join([link.target for link in prose.links if link.dead][:_MOST_NAMED])
        return _parts(
            (0.5, None if prose.has_body else "SKILL.md has no instructions below its frontmatter"),
            (0.5, f"dead links: {dead}" if any(link.dead for link in prose.links) else None),
        )
    if kind is AdapterType.HTTP or skill.spec.entrypoint.startswith(_URLS):
        return _url(urljoin(skill.config.base_url or "", skill.spec.entrypoint))
    if kind is AdapterType.STATIC or (kind in OWN_ADAPTER and skill.config.command is None):
        return Found(1.0)  # its directory was read; what the entrypoint means is another program's affair
    return _command(skill)


def _url(url: str) -> Found:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    return _parts((1.0, None if good else f"the entrypoint is not an http or https URL: {url[:200]!r}"))


def _command(skill: Subject) -> Found:
    try:
        words = [skill.config.command, *skill.config.args] if skill.config.command else []
        words = words or shlex.split(skill.spec.entrypoint)
    except ValueError as error:
        return Found(0.0, (f"the entrypoint is not a command: {error}",))
    if not words:
        return Found(0.0, ("the entrypoint is not a command: it is empty",))
    missing = [problem for word in words[1:] if (problem := _file_problem(skill.root, word)) is not None]
    return _parts((0.5, _program_problem(skill, words[0])), (0.5, "; ".join(missing[:_MOST_NAMED]) or None))


def _program_problem(skill: Subject, word: str) -> str | None:
    if "/" in word or os.sep in word:
        path = os.path.join(skill.root, word)
        if not os.path.isfile(path):
            return f"the program {word} does not exist"
        return None if os.access(path, os.X_OK) else f"the program {word} is not executable"
    return None if shutil.which(word, path=skill.path) else f"program {word} is not on PATH"


def _file_problem(root: str, word: str) -> str | None:
    """Return what is wrong with a file named in a command; options, numbers and plain words are not files."""
    if word.startswith(("-", *_URLS)) or not os.path.splitext(word)[1][1:2].isalpha():
        return None
    path = os.path.join(root, word)
    if not os.path.isfile(path):  # also for names that no file can have
        return f"{word} does not exist"
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(root), "")):
        return f"{word} is outside the skill's directory"
    return None if os.access(path, os.R_OK) else f"{word} cannot be read"


def _description_length(skill: Subject) -> Found:
    """Check the length of the description: too short scores its share of the minimum, too long scores one half."""
    prose = _prose(skill)
    text = (skill.spec.description if prose is None else prose.frontmatter.text("description")).strip()
    template, length = _TEMPLATE.search(text), len(text)
    if template is not None:
        return Found(0.0, (f"the description still contains template text: {template[0]!r}",))
    if length < LEAST_DESCRIPTION:
        reason = f"the description is {plural(length, 'character')} long (minimum {LEAST_DESCRIPTION})"
        return Found(round(length / LEAST_DESCRIPTION, 4), (reason,))
    if length > MOST_DESCRIPTION:
        return Found(0.5, (f"the description is {length:,} characters long (maximum {MOST_DESCRIPTION:,})",))
    return Found(1.0)


def _directory_not_empty(skill: Subject) -> Found:
    """Check for documentation: 1 for a SKILL.md or README, one half for another page, less for few words."""
    try:
        names = sorted(os.listdir(skill.root))
    except OSError as error:
        raise UncheckedError(f"its directory cannot be read: {error.strerror}") from error
    best = Found(0.0, ("there is no documentation next to skill.json: add a SKILL.md or a README.md",))
    for name in names:
        main = name == SKILL_MD or name.upper().split(".")[0] == "README"
        data = _beginning(skill, name) if main or name.lower().endswith((".md", ".rst", ".txt")) else None
        if data is None:
            continue
        words = len(data.decode("utf-8", "replace").split())
        score = round((1.0 if main else 0.5) * min(1.0, words / LEAST_WORDS), 4)
        if score > best.score:
            short = f"{name} has {words} words (minimum {LEAST_WORDS})"
            reason = short if words < LEAST_WORDS else f"{name} is not a README"
            best = Found(score, () if score == 1 else (reason,))
    return best


def _beginning(skill: Subject, name: str) -> bytes | None:
    """Read the beginning of a skill's file; None if it is not a regular file."""
    path = os.path.join(skill.root, name)
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES)
    except OSError as error:
        raise UncheckedError(f"{name} cannot be read: {error.strerror}") from error


def _json_valid(skill: Subject) -> Found:
    """Check the manifest: one half for a valid skill.json, one quarter for each schema; for prose, the frontmatter."""
    if skill.is_program:  # loading the skill has refused an invalid one
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
    except ImportError as missing:  # not ModuleNotFoundError: a thread that waited for a failed import gets this
        hint = 'pip install "skillgate-action[bench]"'
        raise UncheckedError(f"checking schemas needs jsonschema: {hint}") from missing
    problem = schema_problem(dict(schema))
    return None if problem is None else f"skill.json: {key}: {problem}"


def _metadata(skill: Subject) -> Found:
    """Check name and description, in the frontmatter if there is a SKILL.md, else in skill.json."""
    prose = _prose(skill)
    if prose is None:
        spec = skill.spec
        return _parts(
            (0.5, None if spec.name.strip() else "skill.json has no name"),
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
