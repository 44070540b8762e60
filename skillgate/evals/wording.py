"""How prompts and texts are compared: by their words alone."""

from __future__ import annotations

import unicodedata

_QUOTED = 70  # characters of a prompt that a message shows
_WORDS = 5  # a run of so many words is nobody's chance agreement
_LETTERS = 12  # the same for scripts that write no blanks between words


class _Fold(dict[int, int | str | None]):
    """A table for ``str.translate`` that fills itself: what belongs to words stays, all else becomes a blank."""

    def __missing__(self, code: int) -> int | str | None:
        character = chr(code)
        stays = character.isalnum() or unicodedata.category(character).startswith("M")
        self[code] = code if stays else " "
        return self[code]


_FOLD = _Fold({ord("'"): None, ord("’"): None})


def folded(text: str) -> str:
    """Fold a text to its words, in lower case, with one blank between them.

    Two prompts with the same words are the same question, whatever their punctuation and white space.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_FOLD).split())


def holds(text: str, words: str) -> bool:
    """Whether a folded text holds folded words one after the other."""
    if not words:
        return False
    return words in text if _is_unspaced(words) else f" {words} " in f" {text} "


def telling(words: str, *, least: int = _WORDS) -> bool:
    """Whether folded words are many enough that finding them again is no chance."""
    return words.count(" ") + 1 >= least or _is_unspaced(words)


def quoted(text: str) -> str:
    """Show the beginning of a prompt in a message, on one line."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"}"'


def _is_unspaced(words: str) -> bool:
    return len(words) >= _LETTERS and " " not in words and not words.isascii()
