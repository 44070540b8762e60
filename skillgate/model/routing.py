"""What a description tells a router about when its skill is for."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Language(Enum):
    """Whether a text is English, as far as its letters and function words tell."""

    ENGLISH = "english"
    OTHER = "other"  # mostly non-Latin letters, or the function words of another language clearly dominate
    UNKNOWN = "unknown"  # Latin letters without one function word: a list of keywords, a name, nothing


class Trigger(NamedTuple):
    """An accepted trigger phrase, as written; ``start`` and ``end`` are its offsets in the text, end exclusive."""

    phrase: str
    start: int
    end: int


class Routing(NamedTuple):
    """The signs of a description.

    Attributes:
        language: whether the text is English; a missing trigger phrase means something only where it is.
        triggers: the trigger phrases, in order.
        use_cases: the distinct use cases of the trigger clauses, folded for case and white space, in order.
        proactive: whether it says "proactively".
        automatic: whether it says to use the skill automatically or always, to trigger or to invoke it.
        context: the first "when … ing", "for … ing" or "during … ing", as written; None without one.
    """

    language: Language = Language.UNKNOWN
    triggers: tuple[Trigger, ...] = ()
    use_cases: tuple[str, ...] = ()
    proactive: bool = False
    automatic: bool = False
    context: str | None = None
