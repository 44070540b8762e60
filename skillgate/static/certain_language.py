"""The language of a code block without a tag, where there can be no doubt about it."""

from __future__ import annotations

import re

MAX_CHARACTERS = 65_536  # a larger block is not looked at
_INTERPRETERS = {
    "sh": "bash",
    "bash": "bash",
    "zsh": "zsh",
    "fish": "fish",
    "python": "python",
    "python3": "python",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "pwsh": "powershell",
}
_SHEBANG = r"#![ \t]*(?:\S*/)?(?:env[ \t]+)?(?P<name>[a-z0-9.]+)(?=\s|\Z)"
_PROMPT = r"\$ [a-z./~][^\n]*"
# How a document of a language begins and nothing else does, compared in lower case.
_BEGINNINGS = (
    ("<?xml ", "xml"),
    ("<?php", "php"),
    ("<!doctype html", "html"),
    ("diff --git a/", "diff"),
    (">>> ", "pycon"),
)


def certain_language(code: str) -> str | None:
    """Name the language as the tag of a fence, or None where another reading is possible.

    Args:
        code: the content of a block. JSON counts from one member or one object on: ``{}`` and ``[1, 2]`` are written
            alike in many languages.
    """
    text = code.strip()
    if not text or len(code) > MAX_CHARACTERS:
        return None
    if text[0] in "{[":
        return "json" if _is_json(text) else None
    if text.startswith("#!"):
        shebang = re.match(_SHEBANG, text)
        return _INTERPRETERS.get(shebang["name"].rstrip(".0123456789")) if shebang else None
    if text.startswith("$ "):
        return "console" if re.match(_PROMPT, text) else None
    beginning = text[:32].lower()
    return next((tag for start, tag in _BEGINNINGS if beginning.startswith(start)), None)


def _is_json(text: str) -> bool:
    if text[-1] not in "}]" or '"' not in text:
        return False
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        return False
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and item for item in value)
    return bool(value)
