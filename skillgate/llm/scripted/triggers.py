"""Prompts and predictions that a scripted model makes up, from nothing but words in common."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from skillgate.llm.scripted.material import description, told_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.llm.scripted.material import Fenced

# Each is filled with words of the skill's description; whoever predicts by words in common finds three and not one.
_SHOULD = (
    ("direct", "I need {0} and {1} done for the report of this week, {2} too."),
    ("direct", "Please do this now: {1}, {2} and {3}, from the files in the folder."),
    ("direct", "Can you take care of {2}, {3} and {4} for me before noon?"),
    ("indirect", "My colleague left me with {3}, {4} and {0}, and I am at a loss."),
    ("indirect", "Everything around {4}, {0} and {1} went wrong again since yesterday."),
)
_SHOULD_NOT = (
    ("direct", "What does the word {0} mean, in one sentence?"),
    ("direct", "Translate {1} into French."),
    ("direct", "Who invented {2}?"),
    ("indirect", "My aunt spoke of {3} at dinner and nobody listened."),
    ("indirect", "A street in our town is called {4}; it is closed today."),
)
_PADDING = ("papers", "figures", "notes", "tables", "drafts")
_LEAST_IN_COMMON = 2  # words


def prompts(parts: Sequence[Fenced]) -> dict[str, Any]:
    """Make up five prompts that should trigger a skill and five that should not."""
    told = told_words(description(parts))
    if len(told) < len(_PADDING):
        told += told_words(" ".join(line for part in parts for line in part.lines))[: len(_PADDING)]
    found = tuple(dict.fromkeys((*told, *_PADDING)))[: len(_PADDING)]
    made = [
        {"should_trigger": should, "style": style, "prompt": form.format(*found)}
        for should, forms in ((True, _SHOULD), (False, _SHOULD_NOT))
        for style, form in forms
    ]
    return {"prompts": made}


def predictions(parts: Sequence[Fenced]) -> dict[str, Any]:
    """Predict for each prompt shown the skill that has most words in common with it, rare ones first, or none."""
    entries = [entry for part in parts for line in part.lines if (entry := _entry(line)) is not None]
    skills = {number: _words(entry) for entry in entries if "description" in entry for number in _numbers(entry)}
    asked = {number: _words(entry) for entry in entries if "description" not in entry for number in _numbers(entry)}
    spread = Counter(word for words in skills.values() for word in words)
    return {
        "predictions": [
            {"prompt": number, "skill": _nearest(words, skills, spread)} for number, words in sorted(asked.items())
        ]
    }


def _nearest(words: frozenset[str], skills: Mapping[int, frozenset[str]], spread: Mapping[str, int]) -> int:
    """Give the number of the skill, 0 where none has enough words in common; the first of equals."""
    common = {number: words & known for number, known in skills.items()}
    weighed = {
        number: sum(math.log1p(len(skills) / spread[word]) for word in sorted(shared))
        for number, shared in common.items()
        if len(shared) >= _LEAST_IN_COMMON
    }
    return max(sorted(weighed), key=lambda number: weighed[number], default=0)


def _entry(line: str) -> Mapping[str, Any] | None:
    """Read a line that holds one JSON object."""
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _numbers(entry: Mapping[str, Any]) -> list[int]:
    return [value for value in entry.values() if isinstance(value, int) and not isinstance(value, bool)][:1]


def _words(entry: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(told_words(" ".join(value for value in entry.values() if isinstance(value, str))))
