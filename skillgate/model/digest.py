"""Digests of bytes without OpenSSL (loading it takes longer than a whole cached run), and the shards they decide."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that keeps it elsewhere
    from hashlib import blake2b

DIGEST_BYTES = 16  # 128 bits: no two contents are found to share one


def digest(*parts: bytes) -> str:
    """Return 32 hexadecimal digits for byte strings, each told from its neighbours by its length."""
    found = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def dealt(path: str, of: int) -> int:
    """Return which of ``of`` shards a skill belongs to, from 1, by its shown path alone.

    Answers are stored by shard between runs, and a skill that changed its shard would be paid for again.
    """
    return int(digest(path.encode("utf-8", "surrogatepass"))[:8], 16) % of + 1
