"""Which files of a skill a text names: by path, by name, by the stem as a word, or by their folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPACES = re.compile(r"[\s_-]+")
_WORD = r"\w+|[^\w ]"
_READ = r"(?:read|search|grep|load|consult|browse|scan|open|list|use|check|see|all|each|any|one)"


def folded(text: str) -> str:
    """Lower a text; hyphens, underscores and runs of white space become one space each."""
    return _SPACES.sub(" ", text.lower())


class Names:
    """What names each of some files, made once so that every text is gone through once, however many they are.

    Args:
        paths: relative to the skill, such as ``references/forms/tax.md``.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: dict[tuple[str, ...], set[str]] = {}
        self._tops: dict[str, set[str]] = {}
        for path in paths:
            top, *below = path.split("/")
            self._tops.setdefault(top, set()).add(path)
            for form in (*below, _stem(below[-1] if below else top)):
                words = tuple(re.findall(_WORD, folded(form)))
                if words:
                    self._paths.setdefault(words, set()).add(path)
        self._firsts = frozenset(words[0] for words in self._paths)
        self._lengths = sorted({len(words) for words in self._paths})

    def named_in(self, text: str) -> set[str]:
        """Select the paths that a folded text names."""
        found = {path for top, paths in self._tops.items() if _names_folder(top, text) for path in paths}
        words = re.findall(_WORD, text)
        for place, word in enumerate(words):
            if word in self._firsts:
                for length in self._lengths:
                    found |= self._paths.get(tuple(words[place : place + length]), frozenset())
        return found


def _stem(name: str) -> str:
    """Give a file's name without its suffix and the number before it: ``01-rates.md`` is ``rates``."""
    return folded(name.rpartition(".")[0] or name).lstrip("0123456789. ")


def named(paths: Iterable[str], text: str) -> set[str]:
    """Select the paths that a folded text names; see :class:`Names`."""
    return Names(paths).named_in(text)


def _names_folder(top: str, text: str) -> bool:
    """Tell whether a text speaks of all of a folder: ``references/*.md``, ``"references"``, "search the references"."""
    if folded(top) not in text:
        return False
    name = re.escape(folded(top))
    whole = rf"(?<!\w){name}(?:/(?![\w.])|/?[`'\"]? (?:director|folder|files?\b|docs?\b|material))|(['\"`]){name}\1"
    spoken = rf"\b(?:{_READ} (?:\w+ ){{0,3}}|(?:under|in|inside|within|from) (?:the )?){name}\b(?!/)"
    return re.search(whole, text) is not None or re.search(spoken, text) is not None
