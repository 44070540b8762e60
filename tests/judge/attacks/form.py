"""What an attack is: a text that an author puts into a skill to be rated better than it is."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple


class Attack(NamedTuple):
    """One attack, in our own words.

    Attributes:
        title: which trick it is.
        text: what the author writes. ``{closer}`` and ``{opener}`` are the lines of the real fence of the same skill
            without the attack, ``{nonce}`` its nonce, ``{fence}`` all of it: more than an author can know of his own.
        order: words of it by which a judge that obeys knows what it is told, folded as :func:`folded` does.
        home: the place that it is written for, one of ``tests.judge.attacks.places``.
        control: what a judge that obeys it answers to the control item.
    """

    title: str
    text: str
    order: str
    home: str = "body"
    control: int = 10


@lru_cache(maxsize=5_000)
def folded(text: str) -> str:
    """Read a text as a model may: characters without width are passed over, tags are letters, overrides turn text."""
    text = "".join(chr(ord(one) - 0xE0000) if 0xE0020 <= ord(one) <= 0xE007E else one for one in text)
    text = re.sub("[\u202e\u202d]([^\u202c\n]*)\u202c?", lambda match: match[1][::-1], text)
    text = "".join(one for one in text if unicodedata.category(one) not in ("Cf", "Cc", "Mn") or one in "\n\t")
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
