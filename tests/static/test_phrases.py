"""Phrases: the words that each match must hold are really in every match."""

import re
from pathlib import Path

import pytest

from skillgate.static import subchecks, text
from skillgate.static.text import Phrase

ROOT = Path(__file__).parents[2]
PHRASES = {
    name: value for module in (text, subchecks) for name, value in vars(module).items() if isinstance(value, Phrase)
}
LINES = sorted(
    {
        line.lower().strip("#| ")
        for folder in ("docs", "examples", "tests/static")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".md", ".py")
        for line in file.read_text(encoding="utf-8", errors="replace").split("\n")
    }
    | {"returns: the path of the report"}
)


@pytest.mark.parametrize("name", PHRASES)
def test_finds_what_its_pattern_finds(name: str) -> None:
    phrase = PHRASES[name]
    matching = [line for line in LINES if re.search(phrase.pattern, line)]
    assert matching, "no text of the project shows this phrase"
    assert [line for line in matching if phrase.search(line) is None] == []
