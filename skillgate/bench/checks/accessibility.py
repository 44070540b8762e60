"""The way in: the program and its files are there, or the URL is one; of prose: a body whose links lead somewhere."""
# ruff: noqa: PTH113, PTH118, PTH122

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from skillgate.bench.checks._found import Found, is_program, portion, prose
from skillgate.model.executable import AdapterType

if TYPE_CHECKING:
    from skillgate.bench.checks._found import Subject

_URLS = ("http://", "https://")
_MOST_TOLD = 5


def check(skill: Subject) -> Found:
    """Check one skill; of a program half is the program, half the files that its command names."""
    kind = skill.spec.adapter_type
    if not is_program(skill) or kind is AdapterType.SKILLMD:
        return _prose(skill)
    if kind is AdapterType.HTTP or skill.spec.entrypoint.startswith(_URLS):
        return _url(urljoin(skill.config.base_url or "", skill.spec.entrypoint))
    if kind is AdapterType.STATIC:
        return Found(1.0, ())  # it is read, and its directory was
    return _command(skill)


def _prose(skill: Subject) -> Found:
    found = prose(skill)
    if found is None:
        return Found(0.0, ("there is no SKILL.md to read",))
    dead = [link.target for link in found.links if link.dead]
    return portion(
        (0.5, None if found.has_body else "SKILL.md has no instructions below its frontmatter"),
        (0.5, f"links lead nowhere: {', '.join(dead[:_MOST_TOLD])}" if dead else None),
    )


def _url(url: str) -> Found:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    return portion((1.0, None if good else f"the entrypoint is no http or https URL: {url[:200]!r}"))


def _command(skill: Subject) -> Found:
    try:
        words = [skill.config.command, *skill.config.args] if skill.config.command else []
        words = words or shlex.split(skill.spec.entrypoint)
    except ValueError as error:
        return Found(0.0, (f"the entrypoint is no command: {error}",))
    if not words:
        return Found(0.0, ("the entrypoint is no command: it is empty",))
    missing = [problem for word in words[1:] if (problem := _file_problem(skill.root, word)) is not None]
    return portion((0.5, _program_problem(skill, words[0])), (0.5, "; ".join(missing[:_MOST_TOLD]) or None))


def _program_problem(skill: Subject, word: str) -> str | None:
    if "/" in word or os.sep in word:
        path = os.path.join(skill.root, word)
        if not os.path.isfile(path):
            return f"the program {word} is not there"
        return None if os.access(path, os.X_OK) else f"the program {word} is not executable"
    return None if shutil.which(word, path=skill.path) else f"there is no program {word} on the PATH"


def _file_problem(root: str, word: str) -> str | None:
    """Say what is wrong with a file that a command names; options, numbers and plain words name none."""
    names_one = not word.startswith("-") and not word.startswith(_URLS) and os.path.splitext(word)[1][1:2].isalpha()
    if not names_one:
        return None
    path = os.path.join(root, word)
    if not os.path.isfile(path):  # also where no file can have such a name
        return f"{word} is not there"
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(root), "")):
        return f"{word} lies outside of the skill's directory"
    return None if os.access(path, os.R_OK) else f"{word} cannot be read"
