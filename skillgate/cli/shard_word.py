"""The option that asks for one shard of a run."""

from __future__ import annotations

import argparse
import re

MOST_SHARDS = 1000
_WORD = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def shard_of_word(text: str) -> tuple[int, int]:
    """Read ``I/N``: the I-th of N shards, 1 ≤ I ≤ N ≤ 1,000. An argparse type."""
    found = _WORD.fullmatch(text, 0)
    part, of = (int(found[1]), int(found[2])) if found and text.isascii() else (0, 0)
    if not 1 <= part <= of <= MOST_SHARDS:
        raise argparse.ArgumentTypeError(
            f"expected I/N, the I-th of N shards as in 2/4, at most {MOST_SHARDS} of them; found {text!r}"
        )
    return part, of
