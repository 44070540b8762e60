"""Which files of a skill a text names: by path, by name, by the stem as a word, or by their folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPACES = re.compile(r"[\s_-]+")


def folded(text: str) -> str:
    """Lower a text; hyphens, underscores and runs of white space become one space each."""
    return _SPACES.sub(" ", text.lower())


def named(paths: Iterable[str], text: str) -> set[str]:
    """Select the paths that a folded text names.

    Args:
        paths: relative to the skill, such as ``references/forms/tax.md``.
        text: as :func:`folded` gives it.
    """
    found, folders = set(), dict[str, bool]()
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0] or name
        if folder not in folders:
            folders[folder] = _names_folder(folder, text)
        if folders[folder] or _has_word(folded(name), text) or _has_word(folded(stem).lstrip("0123456789. "), text):
            found.add(path)
    return found


def _names_folder(folder: str, text: str) -> bool:
    """Tell whether a text speaks of all of a folder: ``references/``, ``references/*.md``, ``references/{x}.md``."""
    top, *below = folder.split("/")
    if any(_has_word(folded(name), text) for name in below):
        return True
    name = re.escape(folded(top))
    whole = rf"(?<![\w]){name}(?:/(?![\w.])|/?[`'\"]? (?:director|folder|files?\b|docs?\b|material))"
    return re.search(whole, text) is not None


def _has_word(word: str, text: str) -> bool:
    return bool(word) and word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
