"""What is stored of names: a text that looks like one. Anything else may be a person's words, a path or an address.

A model may call a skill by a sentence, and a recorder may put any text where a version or an id belongs.
"""

from __future__ import annotations

import re
from hashlib import sha256

from skillgate.invocations.formats._checks import fit_name

REPLACED = "(not a name)"
"""Stands in place of a skill's name that does not look like one; no name can be equal to it."""
REPLACED_WARNING = f'the name of a skill does not look like one: stored as "{REPLACED}"'
HASHED_WARNING = "invocation_id does not look like an id: a digest of it is stored"
_PART = r"\w[\w.+-]{0,63}"
_SKILL = re.compile(rf"{_PART}(?::{_PART}){{0,3}}")  # plugin:skill, and namespaces of commands
_LABEL = re.compile(r"\w[\w.+:#=-]{0,199}")  # of a version, a session, a category, a kind of output, an id
_MODEL = re.compile(r"\w[\w.+:/\[\]-]{0,150}(?:@[\w-]{0,40})?")  # org/model, model@20260101; no address


def skill_name(name: str, *, keep_text: bool) -> str:
    """Return what is stored of the name of a skill.

    Args:
        name: as it was recorded.
        keep_text: whether it is kept although it may be a person's words, as long as it can be shown.
    """
    return name if _SKILL.fullmatch(name) or (keep_text and fit_name(name)) else REPLACED


def is_label(text: str) -> bool:
    """Whether a text is one plain word, as a version, a category or an id is."""
    return _LABEL.fullmatch(text) is not None


def is_model(text: str) -> bool:
    """Whether a text looks like the name of a model."""
    return _MODEL.fullmatch(text) is not None


def stored_id(text: str) -> str:
    """Return what is stored of an id: itself where it looks like one, else a digest of it."""
    return text if is_label(text) else f"id-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
