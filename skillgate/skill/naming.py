"""The naming rule of the Agent Skills specification, for everything that judges a name."""

from __future__ import annotations

import unicodedata

MAX_LENGTH = 64


def name_defect(name: str) -> str | None:
    """Say which part of the rule a non-empty name breaks first, None where it breaks none.

    A name has 1 to 64 lower-case letters (of any script, as the specification's text allows), digits and single
    hyphens, none of them at an end.
    """
    folded = unicodedata.normalize("NFKC", name)
    if len(folded) > MAX_LENGTH:
        return f"has {len(folded)} characters; {MAX_LENGTH} are the most"
    if folded != folded.lower():
        return "has capital letters"
    if not all(character.isalnum() or character == "-" for character in folded):
        return "has characters other than letters, digits and hyphens"
    if folded.startswith("-") or folded.endswith("-") or "--" in folded:
        return "has a hyphen at its start or end, or two in a row"
    return None


def same_name(one: str, other: str) -> bool:
    """Compare two names as the specification's validator does: after NFKC."""
    return unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other)
