"""Mask what must not leave this machine in texts that a model is asked about, and shorten them.

Keys have known formats, and home directories have known places. A password has neither: only a small table of wordings
finds it. Each pattern takes linear time, since texts may be hostile.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.static.secrets import masked, secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 4_000
"""Maximum characters of a shortened text."""
_AROUND = 44_000  # characters beyond that are looked at: the longest secret is a private key
_HOME = re.compile(r"(?:/home/|/Users/|\b[A-Za-z]:[\\/]+Users[\\/]+)[^\s/\\\"'`]+|(?<![\w.~/-])/root(?![\w-]|\.\w)")
_SAFE = (  # what follows "the password is" and is none
    "a|about|again|also|always|an|asked|at|being|blank|changed|correct|empty|expired|fine|for|from|given|good|hidden"
    "|in|incorrect|invalid|it|just|masked|missing|needed|never|no|not|now|null|of|ok|okay|old|on|only|optional|read|ready"
    "|required|right|rotated|safe|set|still|stored|that|the|there|to|too|unset|unknown|used|valid|visible|weak|working"
    "|wrong|your|already|none|true|false"
)
_VALUE = r"""(?:"(?P<{0}a>[^"\n]+)"|'(?P<{0}b>[^'\n]+)'|`(?P<{0}c>[^`\n]+)`|(?P<{0}d>[^\s"'`,;]+))"""
_NOUN = (
    r"(?:pass(?:word|wd|phrase|code)s?|pwd|secret|token|(?:api|secret|access|private)[ _-]?key|credentials?|pin"
    r"|passwort|kennwort|mot de passe|contraseña)"
)
_WORDINGS = "|".join(
    (
        rf"\b{_NOUN}(?:\s{{1,4}}(?:for|of|to|on)(?:\s{{1,4}}[\w.@-]{{1,40}}){{1,3}}?)?\s{{1,4}}"
        rf"(?:is|was|are|remains|to|ist|lautet|est|es)\s{{1,4}}(?!(?i:{_SAFE})\b){_VALUE.format('w')}",
        rf"{_NOUN}\w{{0,20}}[\"'`\])]{{0,3}}\s{{0,4}}(?:=>|:=|[:=])\s{{0,4}}{_VALUE.format('s')}",
        rf"--?{_NOUN}[ =]{_VALUE.format('o')}",
        r"\b(?:bearer|basic)\s{1,4}(?P<bearer>[\w.~+/=-]{8,})",
        r"://[^\s/:@]{0,100}:(?P<address>[^\s/@]+)@",
        r"(?<!\S)(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:(?P<user>[^\s\"']+)",
        r"(?<![\w+=-])(?-i:(?P<random>(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])[\w+=-]{24,}|[0-9a-fA-F]{32,}))"
        r"(?![\w+=-])",
    )
)
_PASSWORDS = re.compile(_WORDINGS, re.IGNORECASE)
_MASK = "…"


def hidden(text: str) -> str:
    """Return a text without keys, passwords in known wordings, and home directories."""
    return _HOME.sub("~", _PASSWORDS.sub(_masked, masked(text)))


def beginning_of(text: str) -> str:
    """Return the first 4,000 characters, or fewer: nothing that :func:`hidden` masks is cut in two."""
    if len(text) <= MOST:
        return text
    end = MOST
    for start, until in sorted(_spans(text[: MOST + _AROUND]), reverse=True):
        if start < end < until:
            end = start
    return text[:end]


def end_of(text: str) -> str:
    """Return the last 4,000 characters, or fewer: nothing that :func:`hidden` masks is cut in two."""
    if len(text) <= MOST:
        return text
    text = text[-MOST - _AROUND :]
    begin = len(text) - MOST
    for start, until in sorted(_spans(text)):
        if start < begin < until:
            begin = until
    return text[begin:]


def _masked(found: re.Match[str]) -> str:
    """Return a wording without its value."""
    start, end = found.span(found.lastgroup or 0)
    return f"{found.string[found.start() : start]}{_MASK}{found.string[end : found.end()]}"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for secret in secrets(text):
        yield secret.start, secret.end
    for pattern in (_PASSWORDS, _HOME):
        for found in pattern.finditer(text):
            yield found.span()
