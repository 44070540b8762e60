"""Invisible characters: bidirectional controls, tag characters, zero-width text.

Why:
    A model reads what a reviewer cannot see. Tag characters spell out instructions, bidirectional overrides show code
    in another order than it runs, and a zero-width space inside a word breaks searches and commands. Overrides, tag
    characters and runs of variation selectors are errors; an invisible character inside a word is a warning.
    Characters that a script needs are not reported: emoji sequences and flags, joiners of Arabic, Persian and Indic
    scripts, marks and embeddings next to right-to-left letters, and breaks in Thai or Chinese. Nor is a byte order mark
    at the start, or a character that keeps a shown code fence from being one. Scripts are checked as well as documents.

Bad:
    run the de<U+200B>ploy script

Good:
    run the deploy script

Source: Unicode Technical Report 36 and Technical Standard 39; CVE-2021-42574 (bidirectional overrides in source code).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.named_tuple import NamedTuple
from skillgate.static import Hits, rule

MAX_HITS = 20  # of one file, besides errors: a file full of icons needs no more
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FORMATS = "\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u061c\u3164\ufeff"
# Text, not compiled patterns: most files hold no such character, and then only the second is needed.
_RUN = (
    f"(?P<tags>[{_TAGS}]+)|(?P<bidi>[\u202a-\u202e\u2066-\u2069]+)|(?P<selectors>[{_SELECTORS}]{{4,}})"
    f"|(?P<formats>[{_FORMATS}]+)|(?P<private>[\ue000-\uf8ff\U000f0000-\U0010fffd]+)"
)
# What may be hidden: first characters, and those behind the last. Such a class takes long to compile.
_ANY = (
    "\u00ad\u00ae\u061c\u061d\u180e\u180f\u200b\u2010\u202a\u202f\u2060\u2065\u2066\u2070\u3164\u3165"
    "\ue000\uf900\ufeff\uff00\U000e0000\U000e0080\U000f0000\U0010fffe"
)
_OVERRIDES = frozenset("\u202d\u202e")
_FLAGS = ("gbeng", "gbsct", "gbwls")  # the flags of England, Scotland and Wales: a black flag and tag characters
_BLACK_FLAG, _CANCEL = "\U0001f3f4", "\U000e007f"
_JOINERS, _MARKS = frozenset("\u200c\u200d"), frozenset("\u200e\u200f\u061c")
_LONG_RUN = 4  # invisible characters in a row: text needs one at most, hidden bytes need many
_SHOWN = 60
_AROUND = 300
_MAX_RUNS = 5_000  # of one file
_NAMES = r"(?i)zero.?width|invisible|u\+(?:20|e0|fe|ad|18)|bidi|soft hyphen|override char|word joiner"
# First letters of blocks: Hebrew to Arabic Extended, the Indic and South-East Asian scripts up to Mongolian, and the
# ideographs, kana and Hangul, all of which have a use for joiners or for breaks without width.
_COMPLEX = ((0x0590, 0x08FF), (0x0900, 0x109F), (0x1780, 0x18AF), (0x2E80, 0x9FFF), (0xA840, 0xABFF), (0xAC00, 0xD7AF))
_COMPLEX_TOO = ((0xFB1D, 0xFDFF), (0xFE70, 0xFEFE), (0xFF00, 0xFFEF), (0x10A00, 0x11FFF), (0x20000, 0x3FFFF))
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"


def find(skill: Skill) -> Hits:
    """Yield one hit for each line, at the first run, and another if a worse one follows."""
    main = skill.documents[0].file if skill.documents else ""
    texts = [(document.file, document.text) for document in skill.documents]
    texts += [(script.file, script.text) for script in skill.scripts]
    for file, text in texts:
        if not text.isascii():
            yield from _in(text, None if file == main else file)


def _in(text: str, file: str | None) -> Hits:
    seen: dict[int, int] = {}  # lines, with the rank of the worst hit on each
    line, counted = 1, 0
    for item in _invisible(text):
        line += text.count("\n", counted, item.offset)
        counted = item.offset
        if item.severity.rank >= seen.get(line, Severity.INFO.rank + 1):
            continue
        if len(seen) >= MAX_HITS and item.severity is not Severity.ERROR:
            continue
        seen[line] = item.severity.rank
        span = Span(line, item.offset - text.rfind("\n", 0, item.offset))
        fix = item.specimen and f"to show the character on purpose, write {item.specimen} instead"
        yield Hit(span, item.message, severity=item.severity, fix=fix, file=file)


class _Invisible(NamedTuple):
    """A run of characters: where it begins, how bad it is, and the message.

    ``specimen`` is its code point, as ``U+200B``, if the line is about it: then it is shown on purpose.
    """

    offset: int
    severity: Severity
    message: str
    specimen: str | None = None


def _invisible(text: str) -> list[_Invisible]:
    """Find the runs of invisible characters that no script needs.

    These are needed:

    - joiners in emoji and in the scripts that need them
    - directional marks and embeddings on a line with letters written from right to left
    - breaks without width between letters of scripts without spaces
    - variation selectors behind what they vary
    - a byte order mark at the very start
    - the emoji of three flags
    """
    others = " ".join(re.findall(r"[^\x00-\x7f]+", text))  # few, and found many times as fast
    if not any(bisect_right(_ANY, character) % 2 for character in set(others)) and not (
        re.search(f"[{_SELECTORS}]{{{_LONG_RUN}}}", others)
    ):
        return []
    found = []
    for match in islice(re.finditer(_RUN, text), _MAX_RUNS):
        judged = _JUDGES[match.lastgroup or ""](text, match)
        if judged is None:
            continue
        severity, message = judged
        specimen = None
        if len(match[0]) < _LONG_RUN and re.search(_NAMES, _line(text, match.start())):
            severity, specimen = Severity.INFO, f"U+{ord(match[0][0]):04X}"
        found.append(_Invisible(match.start(), severity, message, specimen))
    return found


def _tags(text: str, match: re.Match[str]) -> tuple[Severity, str] | None:
    letters = "".join(chr(ord(character) - 0xE0000) for character in match[0])
    if text[match.start() - 1 : match.start()] == _BLACK_FLAG and match[0].endswith(_CANCEL) and letters[:-1] in _FLAGS:
        return None
    plain = "".join(letter for letter in letters if letter.isprintable())
    shown = plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"
    return Severity.ERROR, f"{_named(match[0])} hides text from readers: {shown!r}"


def _bidi(text: str, match: re.Match[str]) -> tuple[Severity, str] | None:
    if not _OVERRIDES.isdisjoint(match[0]):
        override = next(character for character in match[0] if character in _OVERRIDES)
        return Severity.ERROR, f"{_named(override)} displays text in another order than it is read"
    if re.search(_RIGHT_TO_LEFT, _line(text, match.start())):
        return None
    return Severity.WARNING, f"{_named(match[0])} changes the display order of text"


def _selectors(text: str, match: re.Match[str]) -> tuple[Severity, str]:
    del text
    return Severity.ERROR, f"{len(match[0])} variation selectors in a row can only be hidden data ({_named(match[0])})"


def _formats(text: str, match: re.Match[str]) -> tuple[Severity, str] | None:
    run = match[0]
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if len(run) >= _LONG_RUN:
        return Severity.WARNING, f"{len(run)} invisible characters in a row can only be hidden data ({_named(run)})"
    if (run == "\ufeff" and not match.start()) or _is_complex(before) or _is_complex(after):
        return None
    if _MARKS.issuperset(run) and re.search(_RIGHT_TO_LEFT, _line(text, match.start())):
        return None
    if re.match(r"`{3}|~{3}", text[match.end() : match.end() + 3]) and before in ("", "\n", " "):
        return None  # it keeps the fence of a shown block from being one
    inside = before.isalnum() and after.isalnum()
    if not inside and (_JOINERS.issuperset(run) or (before and before in "`'\"([“‘" and after and after in "`'\")]”’")):
        return None  # a joiner in an emoji, or the character shown alone
    message = f"{_named(run)} is invisible and inside a word" if inside else f"{_named(run)} is invisible"
    return (Severity.WARNING if inside and run != "\u00ad" else Severity.INFO), message


def _private(text: str, match: re.Match[str]) -> tuple[Severity, str]:
    del text
    return Severity.INFO, f"U+{ord(match[0][0]):04X} (private use) has a different meaning in each font"


_JUDGES = {"tags": _tags, "bidi": _bidi, "selectors": _selectors, "formats": _formats, "private": _private}


def _named(run: str) -> str:
    """Name the first character of a run, as ``U+200B (zero width space)``."""
    import unicodedata

    return f"U+{ord(run[0]):04X} ({unicodedata.name(run[0], 'unnamed').lower()})"


def _line(text: str, offset: int) -> str:
    """Return the line around a place, at most ``_AROUND`` characters to either side."""
    first, last = max(0, offset - _AROUND), min(len(text), offset + _AROUND)
    end = text.find("\n", offset, last)
    return text[text.rfind("\n", first, offset) + 1 or first : end if end >= 0 else last]


def _is_complex(character: str) -> bool:
    return bool(character) and any(first <= ord(character) <= last for first, last in _COMPLEX + _COMPLEX_TOO)


RULE = rule(find, Severity.WARNING, "text", fix="delete them")
