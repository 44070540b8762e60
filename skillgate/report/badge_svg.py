"""Draws a badge: one picture without scripts, fonts or anything else from elsewhere."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from skillgate.report.shields import NOT_MEASURED

if TYPE_CHECKING:
    from skillgate.report.shields import Shield

_HEIGHT = 20
_PAD = 7  # on either side of a text
_FONT = 11
_NARROW, _WIDE = frozenset("iljItf.,:;'|!()[] "), frozenset("mwMW@%—")
_LABEL_COLOUR, _LIGHT, _DARK = "#3d3d3d", "#ffffff", "#1b1b1b"


def svg(shield: Shield) -> str:
    """Draw a badge as SVG; each text is fitted into its width, whatever font there is.

    Texts may be hostile: they are escaped, and characters that XML has not are replaced.
    """
    label, message, title = (_allowed(text) for text in (shield.label, shield.message, shield.title))
    left, right = width(label) + 2 * _PAD, width(message) + 2 * _PAD
    ink = _DARK if shield.color == NOT_MEASURED else _LIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}"'
        f' viewBox="0 0 {left + right} {_HEIGHT}" role="img" aria-label={quoteattr(title)}>\n'
        f"  <title>{escape(title)}</title>\n"
        f'  <rect width="{left + right}" height="{_HEIGHT}" rx="4" fill="{_LABEL_COLOUR}"/>\n'
        f'  <path d="M{left} 0h{right - 4}a4 4 0 0 1 4 4v{_HEIGHT - 8}a4 4 0 0 1 -4 4h-{right - 4}z"'
        f' fill="{shield.color}"/>\n'
        f'  <g font-family="Verdana, DejaVu Sans, Geneva, sans-serif" font-size="{_FONT}" direction="ltr">\n'
        f"{_text(label, _PAD, _LIGHT)}{_text(message, left + _PAD, ink)}"
        "  </g>\n</svg>\n"
    )


def width(text: str) -> int:
    """Give how wide a text is drawn, in units of the picture.

    By three classes of Latin letters as they are in Verdana, and two of the others: what is missing or over is taken up
    by ``textLength``.
    """
    return max(1, round(sum(map(_advance, text))))


def _advance(character: str) -> float:
    if unicodedata.combining(character) or character in "\u200c\u200d":
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return float(_FONT)
    if character in _NARROW:
        return 4.0
    return 10.0 if character in _WIDE else 7.0


def _text(text: str, start: int, color: str) -> str:
    return (
        f'    <text x="{start}" y="14" fill="{color}" textLength="{width(text)}" lengthAdjust="spacingAndGlyphs"'
        f' unicode-bidi="isolate" xml:space="preserve">{escape(text)}</text>\n'
    )


def _allowed(text: str) -> str:
    """Replace what no XML document may hold: controls, surrogates, and the two that are no characters."""
    return "".join(one if one.isprintable() or one in "\u200b\u200c\u200d" else "\ufffd" for one in text)
