"""Answers to the tasks of text-processing, by other means than the reference skill."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from functools import cmp_to_key, lru_cache
from typing import Any


def slug(data: Any) -> str:
    found = ""
    for character in unicodedata.normalize("NFKD", data["text"]).lower():
        if "a" <= character <= "z" or "0" <= character <= "9":
            found += character
        elif not unicodedata.category(character).startswith("M") and found and not found.endswith("-"):
            found += "-"
    return found.removesuffix("-")


def wrap(data: Any) -> list[str]:
    if data["width"] < 1:
        raise ValueError("too narrow")
    plain = " ".join(data["text"].split())
    return textwrap.wrap(plain, data["width"], break_long_words=False, break_on_hyphens=False)


def word_counts(data: Any) -> list[list[Any]]:
    letters = "".join(one if one.isalpha() else " " for one in data["text"].casefold()).split()
    found: list[list[Any]] = [[word, letters.count(word)] for word in sorted(set(letters))]
    found.sort(key=lambda item: item[1], reverse=True)  # stable, also in reverse
    return found[: data["limit"]]


def shift(data: Any) -> str:
    lower = "abcdefghijklmnopqrstuvwxyz"
    by = data["by"] % 26
    moved = lower[by:] + lower[:by]
    return str(data["text"].translate(str.maketrans(lower + lower.upper(), moved + moved.upper())))


def fill_template(data: Any) -> str:
    try:
        return str(data["template"].format_map(data["values"]))
    except KeyError as error:
        raise ValueError(str(error)) from error


def edit_distance(data: Any) -> int:
    @lru_cache(None)
    def distance(one: str, other: str) -> int:
        if not one or not other:
            return len(one) + len(other)
        if one[0] == other[0]:
            return distance(one[1:], other[1:])
        return 1 + min(distance(one[1:], other), distance(one, other[1:]), distance(one[1:], other[1:]))

    return distance(data["one"], data["other"])


def natural_sort(data: Any) -> list[str]:
    def compare(one: str, other: str) -> int:
        """Compare character by character; runs of digits that begin at once by their numbers."""
        one, other = one.casefold(), other.casefold()
        while one and other:
            numbers = [re.match("[0-9]+", text) for text in (one, other)]
            if numbers[0] and numbers[1]:
                difference = int(numbers[0][0]) - int(numbers[1][0])
                if difference:
                    return difference
                one, other = one[numbers[0].end() :], other[numbers[1].end() :]
                continue
            if one[0] != other[0]:
                if numbers[0] or numbers[1]:
                    return -1 if numbers[0] else 1
                return ord(one[0]) - ord(other[0])
            one, other = one[1:], other[1:]
        return len(one) - len(other)

    return sorted(data["names"], key=cmp_to_key(compare))


def dedent(data: Any) -> str:
    return textwrap.dedent(data["text"])


def reverse(data: Any) -> str:
    text = ""
    held = ""
    for character in reversed(data["text"]):
        held = character + held
        if not unicodedata.category(character).startswith("M"):
            text, held = text + held, ""
    return text + held


def xml_escape(data: Any) -> str:
    return html.escape(data["text"]).replace("&#x27;", "&apos;")


def expand_tabs(data: Any) -> str:
    return str(data["text"].expandtabs(data["size"]))


SOLVERS = {
    "slug": slug,
    "wrap": wrap,
    "word-counts": word_counts,
    "shift": shift,
    "fill-template": fill_template,
    "edit-distance": edit_distance,
    "natural-sort": natural_sort,
    "dedent": dedent,
    "reverse": reverse,
    "xml-escape": xml_escape,
    "expand-tabs": expand_tabs,
}
