"""House rules: what the setting ``rules`` says of each, and what a valid one is."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillgate.model.setting import Table

TEMPLATES = ("required-section", "required-metadata", "forbidden-phrase", "licence-header")
CODE = ("python", "entry-point")
"""The kinds that run code."""
KINDS = (*TEMPLATES, *CODE)
_SHORTEST = 3
_PHRASES = 200
_CHARACTERS = 200


def kind_of(table: Table) -> str:
    """Return which of :data:`KINDS` a rule is."""
    return next(kind for kind in KINDS if kind in table)


def require_rule(identifier: str, table: Table) -> None:
    """Check one rule of the setting.

    Raises:
        ValueError: the id is not valid, or the rule is of no kind, of several, or sets what its kind does not take.
    """
    plain = identifier.replace("_", "")
    if not (plain.isalnum() and identifier[0].isalpha() and identifier.isupper() and len(identifier) >= _SHORTEST):
        raise ValueError("the id of a rule has 3 to 40 capital letters, digits and _, such as ACME_OWNER")
    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        raise ValueError(f"a rule needs one of {', '.join(KINDS)}; found {found}")
    value = table[kinds[0]]
    if not any(character.isalnum() for character in "".join(value if isinstance(value, tuple) else str(value))):
        raise ValueError(f"{kinds[0]}: expected letters or digits, found {str(value)[:80]!r}")
    if kinds[0] in CODE and "message" in table:
        raise ValueError(f"{kinds[0]} and message exclude each other; the rule writes its own messages")
    if kinds[0] == "python" and posixpath.splitext(str(value))[1] != ".py":
        raise ValueError(f"python: expected a file that ends in .py, found {str(value)[:80]!r}")
    if isinstance(value, tuple) and (len(value) > _PHRASES or any(len(phrase) > _CHARACTERS for phrase in value)):
        raise ValueError(f"{kinds[0]}: at most {_PHRASES} phrases of at most {_CHARACTERS} characters each")
