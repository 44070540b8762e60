"""Documentation: a SKILL.md or a README beside skill.json, with words in it."""
# ruff: noqa: PTH208

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillgate.bench.checks._found import Found, UncheckedError, beginning

if TYPE_CHECKING:
    from skillgate.bench.checks._found import Subject

LEAST = 15
"""Words that say something."""
_ENDINGS = (".md", ".rst", ".txt")


def check(skill: Subject) -> Found:
    """Check one skill: 1 for a SKILL.md or a README, a half for another page, the share of the words below 15."""
    try:
        names = sorted(os.listdir(skill.root))
    except OSError as error:
        raise UncheckedError(f"its directory cannot be read: {error.strerror}") from error
    best = Found(0.0, ("there is no documentation beside skill.json: add a SKILL.md or a README.md",))
    for name in names:
        main = name == "SKILL.md" or name.upper().split(".")[0] == "README"
        if not (main or name.lower().endswith(_ENDINGS)):
            continue
        data = beginning(skill, name)
        if data is None:
            continue
        words = len(data.decode("utf-8", "replace").split())
        score = round((1.0 if main else 0.5) * min(1.0, words / LEAST), 4)
        if score > best.score:
            said = f"{name} has {words} words, at least {LEAST}" if words < LEAST else f"{name} is no README"
            best = Found(score, () if score == 1 else (said,))
    return best
