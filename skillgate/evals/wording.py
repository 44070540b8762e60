"""Compare prompts and texts by their words, ignoring case, punctuation and white space."""

from __future__ import annotations

import unicodedata

_QUOTED = 70  # characters of a prompt that a message shows
_WORDS = 5  # a shared run of this many words is no coincidence
_LETTERS = 12  # the same for scripts without spaces between words


class _Fold(dict[int, int | str | None]):
    """A table for ``str.translate`` that fills itself: characters of words stay, all others become a space."""

    def __missing__(self, code: int) -> int | str | None:
        character = chr(code)
        stays = character.isalnum() or unicodedata.category(character).startswith("M")
        self[code] = code if stays else " "
        return self[code]


_FOLD = _Fold({ord("'"): None, ord("’"): None})


def folded(text: str) -> str:
    """Return a text's words in lower case, separated by single spaces.

    Two prompts with the same words are the same question.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_FOLD).split())


def holds(text: str, words: str) -> bool:
    """Whether a folded text contains folded words as one run."""
    if not words:
        return False
    return words in text if _is_unspaced(words) else f" {words} " in f" {text} "


def telling(words: str, *, least: int = _WORDS) -> bool:
    """Whether folded words are too many to recur by chance."""
    return words.count(" ") + 1 >= least or _is_unspaced(words)


def quoted(text: str) -> str:
    """Quote the beginning of a prompt for a message, on one line."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"}"'


def _is_unspaced(words: str) -> bool:
    return len(words) >= _LETTERS and " " not in words and not words.isascii()
