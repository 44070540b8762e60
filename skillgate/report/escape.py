"""Text that comes from a skill, made inert in Markdown: no markup, no mention, no link, no HTML survives."""

from __future__ import annotations

import re

from skillgate.format import printable

_LINKED = re.compile(  # what GitHub makes a mention, a reference, a link, a formula or a picture of, without any markup
    r"[@#$]|(?i:https?|ftp|mailto|xmpp)(?=:)|(?i:www)(?=\.)|(?i:GH)(?=-\d)|:(?=[0-9A-Za-z_+-]{1,50}:)"
)
_COMMIT = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{7,64}(?![0-9A-Za-z])")  # after the others: they leave some behind
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_LEADING = re.compile(  # a list, a rule or an underline, at the start of a line
    r"^(\d{1,9}(?=[.)](?: |$))|(?=[-+=](?:[-+= ]|$)))"
)
_DIGITS = 6  # hexadecimal, in a row, that are no commit yet


def inert(text: str) -> str:
    """Make a text plain in any Markdown: every character that could begin markup is escaped or broken up.

    It is one line. An invisible space breaks what GitHub would link although nothing marks it up.
    """
    return _LEADING.sub(r"\1\\", _SPECIAL.sub(r"\\\1", inert_html(text)))


def inert_html(text: str) -> str:
    """Make a text plain in HTML within Markdown, where GitHub still links what it knows."""
    plain = _LINKED.sub(lambda found: f"{found[0][0]}\u200b{found[0][1:]}", printable(text).strip(" "))
    return _COMMIT.sub(_broken, plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _broken(match: re.Match[str]) -> str:
    return "\u200b".join(match[0][start : start + _DIGITS] for start in range(0, len(match[0]), _DIGITS))


def code(text: str) -> str:
    """Show a text as a code span, whatever backticks it holds.

    A bar would end a table cell and is replaced; an invisible space breaks what looks like a comment of HTML, since
    programs look for theirs in a page's source.
    """
    plain = printable(text).replace("|", "¦").replace("<!--", "<\u200b!--")
    if not plain.strip(" "):
        return "` `"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    edge = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{edge}{plain}{edge}{fence}"
