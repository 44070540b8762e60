"""A command that fetches a package and runs it, without naming a version.

Why:
    `npx -y`, `uvx`, `pnpm dlx` and `pipx run` run whatever was published last under a name, unasked. The skill changes
    its behaviour without a change of its own, and a hijacked release runs with the rights of whoever uses it. A tag
    such as `@latest` is no version. `npx` without `-y` asks, and mostly runs what the project has installed: silent,
    as is a package from a path, an address or a placeholder. One finding for each package of a file. In a command
    that Claude Code executes as it loads the skill it is a warning.

Bad:
    npx -y @acme/forms check

Good:
    npx -y @acme/forms@2.3.1 check

Source: npm, uv, pnpm, Bun and pipx documentation of these commands; OpenSSF guidance on pinned dependencies.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.finding import Rule, Severity
from skillgate.static.passages import hit, without_fences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.finding import Hit
    from skillgate.model.skill import Document, Skill

_RUNNER = (
    r"(?:npx|npm exec|bunx)(?:[ ]+-[\w-]+)*?[ ]+(?:-y|--yes)(?:[ ]+--)?(?:[ ]+(?:-p|--package)[ =])?"
    r"|uvx(?:[ ]+--from[ =])?|uv tool run(?:[ ]+--from[ =])?|(?:pnpm|yarn) dlx|pipx run"
)
_START = r"(?:^|[|;&]|\$\(|\bsudo |\bexec |\brun: |\bRUN |\bCMD )[ \t]*(?:[-$>*] )?(?:\w+=\S+ )*"
_PACKAGE = r"[ ]*['\"]?(?P<package>@?[a-z][\w.-]*(?:/[a-z][\w.-]*)?)(?P<rest>[^\s'\"`]*)"
_COMMAND = rf"{_START}(?P<runner>{_RUNNER}){_PACKAGE}"
_CONFIGURED = (
    r"\"(?P<runner>npx|uvx)\"\s*,\s*\"args\"\s*:\s*\[\s*(?:\"(?:-y|--yes|--from)\"\s*,\s*)?"
    r"\"(?P<package>@?[a-z][\w.-]*(?:/[a-z][\w.-]*)?)(?P<rest>[^\s\"]*)\""
)
_SPAN = r"(?P<executed>(?<!\S)!)?`(?P<code>[^`\n]+)`"
_PINNED = r"@v?\d|==\d|@[0-9a-f]{7,}"
_WORDS = ("npx", "bunx", "npm exec", "uvx", "uv tool run", "dlx", "pipx run")


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each package of a document, at its first command."""
    for document in skill.documents:
        if any(word in document.text for word in _WORDS):
            yield from _in(document, skill)


def _in(document: Document, skill: Skill) -> Iterator[Hit]:
    seen: set[str] = set()
    for line, match, executed in _commands(document):
        package = match["package"]
        if package in seen or not _is_unpinned(match):
            continue
        seen.add(package)
        runner = match["runner"].split()[0]
        found = hit(document, skill, line, f"{runner} runs whatever version of {package} was published last")
        main = executed and found.file is None
        yield found._replace(severity=Severity.WARNING) if main else found


def _is_unpinned(match: re.Match[str]) -> bool:
    """Tell a name alone, or with a tag such as ``@latest``, from a version, a path or a placeholder."""
    rest = match["rest"]
    if match["package"].endswith((".git", ".py", ".js", ".sh")) or re.match(_PINNED, rest):
        return False
    return not rest or rest.startswith("@") or rest[0] in "),;]"


def _commands(document: Document) -> Iterator[tuple[int, re.Match[str], bool]]:
    """Find the commands of code blocks and code spans: line, match, and whether Claude Code executes it on loading."""
    for block in document.code_blocks:
        for offset, line in enumerate(block.code.split("\n")):
            if not line.lstrip().startswith(("#", "//")) and any(word in line for word in _WORDS):
                for match in re.finditer(_COMMAND, line):
                    yield block.line + 1 + offset, match, block.language == "!"
        for match in re.finditer(_CONFIGURED, block.code):
            if match["runner"] == "uvx" or '"-' in match[0]:
                yield block.line + 1 + block.code.count("\n", 0, match.start()), match, False
    for row, text in enumerate(without_fences(document).split("\n"), start=1):
        for span in re.finditer(_SPAN, text) if "`" in text else ():
            found = re.match(_COMMAND, span["code"].strip())
            if found:
                yield row, found, span["executed"] is not None


RULE = Rule(
    id="UNPINNED_PACKAGE",
    severity=Severity.INFO,
    summary="a command runs the latest release of a package, whatever it is",
    fix="name the version: npx -y name@1.2.3, uvx name@1.2.3",
    find=find,
    group="code",
)
