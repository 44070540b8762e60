r"""A path that exists only for one user, system or client.

Why:
    Other machines and clients read the skill too. `/Users/ann/…` and `C:\Users\…` do not exist there, and
    `~/.claude/…` exists only if that client is installed. Write paths inside the skill relative to it. Silent if the
    skill, the file or the line is about that client, and for made-up users (`/home/user/…`). A path below a client's
    directory is only an info: the skill may need to find it. Opt-in: select `portability`.

Bad:
    Run ~/.claude/skills/pdf-forms/scripts/fill.py.

Good:
    Run scripts/fill.py.

Source: Agent Skills specification, file references: relative paths from the skill's root.
"""

import re

from skillgate.model.finding import Severity
from skillgate.model.skill import Document, Skill, Span
from skillgate.static import Hits, rule
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


def find(skill: Skill) -> Hits:
    """Yield one hit for each path of a document, at its first place."""
    for document in skill.documents:
        if any(word in document.text for word in _WORDS):
            yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Hits:
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
    """Return the line of a path, at most ``_AROUND`` characters to either side."""
    before, after = text[max(0, match.start() - _AROUND) : match.start()], text[match.end() : match.end() + _AROUND]
    return f"{before.rpartition(chr(10))[2]}{match[0]}{after.partition(chr(10))[0]}"


def _reason(match: re.Match[str]) -> str:
    if match["client"]:
        return "exists only if that client is installed"
    return "is in one user's home directory" if match["own"] else "exists only on Windows"


RULE = rule(
    find,
    Severity.WARNING,
    "portability",
    fix="write it relative to the skill, or say how to find it",
    optional=True,
)
