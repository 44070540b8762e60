"""What a model's last message is worth as an answer: the JSON that it is or holds, else its text."""

from __future__ import annotations

import json
import re
from typing import Any

_BLOCK = re.compile(r"^ {0,3}```[ \t]*([\w-]*)[ \t]*\n(.*?)^ {0,3}```[ \t]*$", re.MULTILINE | re.DOTALL)
_JSON = ("", "json")


def read_answer(text: str) -> Any:  # noqa: ANN401 - JSON
    """Read a message.

    Returns:
        The JSON value that the whole text is; else that of its only code block, where that is marked as JSON or not at
        all and is JSON; else the text, without white space around it.
    """
    text = text.strip()
    found, value = _decoded(text)
    if found:
        return value
    blocks = _BLOCK.findall(text)
    if len(blocks) == 1 and blocks[0][0].lower() in _JSON:
        found, value = _decoded(blocks[0][1])
    return value if found else text


def _decoded(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False, None


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON has no such number
    raise ValueError(word)
