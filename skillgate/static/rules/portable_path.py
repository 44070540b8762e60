r"""A path that exists for one user, one system or one harness.

Why:
    A skill is read on other machines and by other clients: `/Users/ann/…` and `C:\Users\…` lead nowhere there, and
    `~/.claude/…` only where that client is installed. Paths inside of the skill are written relative to it. Silent
    where the skill, the file or the line is about that client, and for made-up users (`/home/user/…`). What lies below
    a client's directory is only an info: it may be what the skill is there to find. Opt-in: select `portability`.

Bad:
    Run ~/.claude/skills/pdf-forms/scripts/fill.py.

Good:
    Run scripts/fill.py.

Source: Agent Skills specification, file references: relative paths from the skill's root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Document, Skill, Span
from skillgate.static.text import hit

_HARNESS = (
    r"(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)[/\\]\.(?P<client>claude|codex|cursor|gemini|copilot|windsurf)\b[\w./\\-]*"
)
_EXAMPLE_USER = r"(?:user|username|name|me|you|your\w*|runner|alice|bob|ubuntu|node|vscode)/"
_OWN = rf"(?<![\w.:/])/(?:Users|home)/(?!{_EXAMPLE_USER})[a-z][\w.-]*(?:/[\w.@-]+)+"
_WINDOWS = r"(?<![\w])[A-Z]:\\(?!\\|n\b|Windows\b|Program Files)[\w. -]+(?:\\[\w. -]+)*"
_AROUND = 400
_WORDS = ("~/.", "HOME", "/Users/", "/home/", ":\\", "%USERPROFILE%")
_PATH = f"(?P<harness>{_HARNESS})|(?P<own>{_OWN})|(?P<windows>{_WINDOWS})"


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each path of a document, at its first place."""
    for document in skill.documents:
        if any(word in document.text for word in _WORDS):
            yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Iterator[Hit]:
    text = document.text
    about = f"{skill.frontmatter.text('name')} {skill.frontmatter.text('description')} {document.file}".lower()
    seen: set[str] = set()
    line, counted, begin = 1, 0, 0
    for match in re.finditer(_PATH, text):
        path, client, start = match[0].rstrip(". "), match["client"], match.start()
        line += text.count("\n", counted, start)
        begin = text.rfind("\n", counted, start) + 1 or begin
        counted = start
        if path in seen or (client and (client in about or client in _around(text, match).replace(path, "").lower())):
            continue
        seen.add(path)
        severity = Severity.INFO if client else None
        yield hit(document, skill, Span(line, start - begin + 1), f"{path} {_reason(match)}", severity=severity)


def _around(text: str, match: re.Match[str]) -> str:
    """Return the line of a path, at most so many characters of it to either side."""
    before, after = text[max(0, match.start() - _AROUND) : match.start()], text[match.end() : match.end() + _AROUND]
    return f"{before.rpartition(chr(10))[2]}{match[0]}{after.partition(chr(10))[0]}"


def _reason(match: re.Match[str]) -> str:
    if match["client"]:
        return "exists only where that client is installed"
    return "is in one user's home directory" if match["own"] else "exists only on Windows"


RULE = Rule(
    id="PORTABLE_PATH",
    severity=Severity.WARNING,
    summary="a path that exists for one user, system or harness",
    fix="write it relative to the skill, or say how to find it",
    find=find,
    group="portability",
    optional=True,
)
