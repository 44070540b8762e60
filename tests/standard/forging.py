"""An attacker who can write the directory of kept answers, and knows this program, but no key."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

from skillgate.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the key and the text of every entry."""
    cache = Cache(str(folder), now=time.time)
    for path in sorted(folder.glob("??/*")):
        key = path.parent.name + path.name
        text = cache.get(key)
        assert text is not None
        yield key, text


def forge(folder: Path, change: Callable[[str], str]) -> int:
    """Change the text of every entry, with a digest that fits; give how many were changed."""
    found = [(key, text, change(text)) for key, text in entries(folder)]
    cache = Cache(str(folder), now=time.time)
    for key, _, changed in found:
        cache.put(key, changed)
    return sum(text != changed for _, text, changed in found)


def best(text: str) -> str:
    """Make every rating but that of the control item a ten, and leave the mark as it is."""
    first, line, mark = text.partition("\n")
    entry = json.loads(first)
    for block in entry["reply"]["content"]:
        block["text"] = re.sub(r'("score": )[1-9]\b', r"\g<1>10", block["text"])
    return f"{json.dumps(entry)}{line}{mark}"


def unsigned(text: str) -> str:
    """Leave out the mark."""
    return best(text).partition("\n")[0]
