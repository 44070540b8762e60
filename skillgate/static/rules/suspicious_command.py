"""A command that hides what it runs, opens the machine to others, deletes a home, or switches permissions off.

Why:
    A model runs the commands of a skill, often without a question to the user. Text that is decoded and piped to a
    shell cannot be reviewed, and a reverse shell gives the machine away (both are errors). `rm -rf ~` deletes more than
    anyone means to, and `--dangerously-skip-permissions` takes the user's last control away. A script that is
    downloaded and piped to a shell can change at any time (an info). Code blocks, code spans that a sentence orders to
    run, hooks in the frontmatter and bundled programs are read, and so are the scripts of a `package.json` and the
    commands of `.mcp.json`, `hooks.json` and `settings.json`. Silent: skills about security, sections and comments that
    warn of the command, deny lists, patterns and tables.

Bad:
    echo "$SETUP" | base64 -d | sh

Good:
    Run scripts/setup.sh.

Source: MITRE ATT&CK T1027 and T1059; Claude Code documentation, permission modes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.named_tuple import NamedTuple
from skillgate.static import Hits, rule
from skillgate.static.commands import MAX_LINE, Command, commands, configured, is_shown, programs
from skillgate.static.rules import COMMANDS

_SHELL = r"(?:sudo(?: -\w+(?: (?!ba|z|sh)\w+)?)* )?(?:/(?:usr/)?bin/)?(?:env )?(?:ba|z|da|k)?sh\b(?!\.)"
_RUNS = rf"(?:{_SHELL}|python3?\b|perl\b|node\b|ruby\b)(?!\s+[\w./~$-]*\.\w)(?! -[mc] )"
# An interpreter that runs what it reads: no program is named, neither as a file nor behind an option.
_PROGRAM = (
    r"(?:sudo(?: -\w+)* )?(?:/\S{1,40}/)?(?:env )?(?:uv run )?(?:python[\d.]*|perl|node|ruby|php)\b"
    r"(?:\s+(?:-[a-zA-Z]*[uIsSBE]\b|/dev/stdin\b))*"
    r"(?=\s*(?:-(?=[\s;&|)\"'`]|\Z)|[;&|)\"'`#]|\Z))"
)
_HERE = (
    r"(?:^|[;&|({]|\$\(|\b(?:then|do|else|sudo|exec|system|run|popen|call|eval|execSync"
    r"|spawn)\b[ (\[\"']*)\s*(?:[$>] )?"
)
_HANDED = r"(?:\bdup2\b|\bopen\s*\(?\s*STDIN\s*,\s*[\"'][<>]{1,2}&)"  # a connection becomes the input of a shell
_ANY_SHELL = r"(?:/bin/(?:ba|z|da)?sh\b|\bpty\.spawn|\bcmd\.exe)"
_SHOWN = 100  # characters before the match
_REACH = 25  # lines between the parts of such a program
_CONNECTED = r"\b(?:connect|create_connection|accept)\s*\("
_STEP = rf"{_CONNECTED}|{_HANDED}|{_ANY_SHELL}"
# Text that is only written to the terminal, and what uses it after all.
_ECHO = (
    r"\b(?:echo|printf)\b(?:[^'\"`$|;&<>()\\]|\\.|'[^']*+'|\"(?:[^\"\\`$]|\\.|\$(?!\())*+\"|\$(?!\()|>&\d)*+"
    r"\s*+(?=\|\||[;&)}]|\Z)"
)
_USED = r"(?<!\|)\|(?!\|)|\beval\b|\b(?:ba|z|da)?sh\b|[`>]|\$\(|<\("
_TO_NOWHERE = r"[\d&]?>(?:&\d|\s*/dev/null)"
_HOME = r"(?:/|/\*|~/?\*?|\"?\$\{?HOME\}?\"?/?\*?|%USERPROFILE%)"


class _Kind(NamedTuple):
    message: str
    severity: Severity
    pattern: str
    fix: str | None = None


_REVERSE_SHELL = _Kind(
    "this opens a shell to another machine",
    Severity.ERROR,
    r"\b(?:ba|z)?sh -i\b[^;\n]{0,40}/dev/(?:tcp|udp)/|/dev/(?:tcp|udp)/[^;\n]{0,120}\b(?:ba|z)?sh -i\b"
    r"|\bnc(?:at)?\b[^|;&]{0,120} (?:-[a-z]*e|-c|--(?:sh-)?exec)[ =]\"?(?:/bin/)?(?:ba|z)?sh\b"
    r"|\bmkfifo\b[^\n]{0,200}\|\s*(?:/bin/)?(?:ba)?sh\b[^\n]{0,60}\|\s*nc(?:at)?\b"
    rf"|socket\b(?>[^\n]{{0,300}}?{_HANDED})[^\n]{{0,400}}{_ANY_SHELL}"
    rf"|\b(?:TCPSocket|fsockopen)\b[^\n]{{0,300}}{_ANY_SHELL}",
    "remove it",
)
_DECODED = "this runs text that no one can read before it is decoded"
_KINDS = (
    _Kind(
        _DECODED,
        Severity.ERROR,
        r"\b(?:base64 (?:--?d\w*|-D)|base32 --?d\w*|xxd -(?:r -p|p -r|rp)|openssl (?:enc|base64)[^|]{0,80} -d)\b"
        rf"[^|]{{0,200}}\|\s*(?:(?:gunzip|gzip -d\w*|zcat|tr|rev)\b[^|]{{0,60}}\|\s*)?{_RUNS}",
        "put the commands into a script that can be read",
    ),
    _Kind(
        _DECODED,
        Severity.ERROR,
        r"\b(?:eval|(?:ba|z)?sh -c)\s+\"?\$\([^()]{0,300}\b(?:base64 (?:--?d|-D)|xxd -r)"
        r"|\b(?:exec|eval)\(\s*(?:compile\()?\s*(?:base64\.|codecs\.|zlib\.decompress\("
        r"|__import__\(['\"]base64['\"]\)\.|bytes\.fromhex|atob\()"
        r"|\beval\(\s*Buffer\.from\([^()]{0,4000},\s*['\"]base64|(?i:powershell|pwsh)\b[^|;]{0,80}\s(?i:-e(?:nc"
        r"|ncodedcommand)?) [A-Za-z0-9+/=]{40}",
        "put the commands into a script that can be read",
    ),
    _REVERSE_SHELL,
    _Kind(
        "this deletes all files of the user or of the machine",
        Severity.WARNING,
        rf"{_HERE}rm (?:-\w+ )*(?:-[a-zA-Z]*[rR][a-zA-Z]*f\w*|-[a-zA-Z]*f[a-zA-Z]*[rR]\w*|-[rR] -f|-f -[rR]"
        rf"|--recursive --force)"
        rf" (?:--no-preserve-root )?[\"']?{_HOME}(?=[\s\"';&|)]|\Z)|{_HERE}:\(\)\s*\{{\s*:\s*\|\s*:\s*&",
        "name the directory that the skill made",
    ),
    _Kind(
        "this runs an agent that asks for no permission",
        Severity.WARNING,
        r"(?<![\w-])--(?:allow-)?dangerously-(?:skip-permissions|bypass-approvals-and-sandbox)\b",
        "allow the tools that the task needs: --allowedTools",
    ),
    _Kind(
        "this runs a downloaded script without a look at it",
        Severity.INFO,
        rf"\b(?:curl|wget|iwr|irm)\b[^|;]{{0,300}}\|\s*(?:(?:tee|cat|gunzip|zcat|sed|tr)\b[^|]{{0,60}}\|\s*)?"
        rf"(?:{_SHELL}|{_PROGRAM}|iex\b|Invoke-Expression)"
        r"|\b(?:(?:ba|z)?sh|source|eval|python[\d.]*|perl|node|ruby)\s+(?:-[ce]\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b"
        r"|\b(?i:iex)\b[^;|]{0,40}\b(?:DownloadString|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b",
        "download it, read it, then run it; or install a pinned release",
    ),
)


def find(skill: Skill) -> Hits:
    """Yield one hit for each such command."""
    from skillgate.static.secrets import quoted  # few skills have a text that may be such a command

    main = skill.documents[0].file if skill.documents else ""
    said: set[tuple[str | None, int]] = set()
    found: set[tuple[str | None, int, int, _Kind]] = set()  # parts of a long line may hold it twice

    def hit(command: Command, kind: _Kind) -> Hit:
        said.add((command.file, command.line))
        file = None if command.file == main else command.file
        message = f"{kind.message}: {quoted(command.text)}"
        return Hit(Span(command.line, command.column), message, severity=kind.severity, fix=kind.fix, file=file)

    for command in (*_hooks(skill), *configured(skill), *commands(skill, COMMANDS)):
        text = _without_echo(command.text)
        kind = next((kind for kind in _KINDS if re.search(kind.pattern, text)), None)
        if kind is not None and (command.file, command.line, command.column, kind) not in found:
            found.add((command.file, command.line, command.column, kind))
            yield hit(command._replace(text=_visible(command.text, kind)), kind)
    for program in _socket_shells(skill):
        if (program.file, program.line) not in said:
            yield hit(program, _REVERSE_SHELL)


def _visible(text: str, kind: _Kind) -> str:
    """Return a command; a long one from the match on, since a message shows only its beginning."""
    match = re.search(kind.pattern, text)
    return f"… {text[match.start() :]}" if match and match.start() > _SHOWN else text


def _without_echo(text: str) -> str:
    """Return a command without the texts that it only writes to the terminal; nothing is left out if it uses them."""
    rest = re.sub(_ECHO, "", text) if "echo" in text or "printf" in text else text
    return text if re.search(_USED, re.sub(_TO_NOWHERE, "", rest)) else rest


def _socket_shells(skill: Skill) -> Iterator[Command]:
    """Yield the programs, over several lines, that give a shell to a connection."""
    for text, first, file in programs(skill, ("dup2", "STDIN")):
        lines = (line.strip()[:MAX_LINE] for line in text.split("\n"))
        steps = [(row, line) for row, line in enumerate(lines) if re.search(_STEP, line) and not is_shown(line, _STEP)]
        done = -1
        for at, (row, line) in enumerate(steps):
            if row <= done or not re.search(_HANDED, line):
                continue
            around = steps[max(0, at - _REACH) : at + _REACH + 1]
            program = " ".join(step for near, step in around if abs(near - row) <= _REACH)
            if all(re.search(part, program) for part in (_CONNECTED, _ANY_SHELL)):
                done = row + _REACH
                yield Command(program, first + row, file)


def _hooks(skill: Skill) -> Iterator[Command]:
    """Yield the commands of the hooks in the frontmatter, which a client runs on its own."""
    pending, left = [skill.frontmatter.values.get("hooks")], 500
    lines = skill.documents[0].text.split("\n") if skill.documents else []
    while pending and left:
        left -= 1
        value = pending.pop()
        if isinstance(value, dict):
            pending += [*value.values()]
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str):
            words = value.strip().split("\n")[0]
            rows = (row for row, line in enumerate(lines[:500], start=1) if words and words in line)
            yield Command(" ".join(value.split())[:2_000], next(rows, skill.frontmatter.line("hooks")), None)


RULE = rule(find, Severity.WARNING, "security", fix="remove it, or say what it does in a script that can be read")
