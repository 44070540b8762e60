"""What to do about a component that gives too few of its points: in sentences of our own."""

from __future__ import annotations

from skillgate.model.invocation import Component

ENOUGH = 0.7
"""The share of its points from which a component needs no advice. Source: the rubric's query of opportunities."""
LOW = 0.5
"""The share under which a component is low. Source: the rubric's 50 of 100, taken as a share (R18)."""

_WORDS = {
    Component.COMPLETION: {
        "low": "Many runs do not get to their end: write into SKILL.md what can go wrong, how it shows, and for each"
        " what to try next.",
        "medium": "Some runs stop early or take a detour: look at the ones that did, and say in SKILL.md what to do"
        " there.",
    },
    Component.EFFICIENCY: {
        "low": "Runs cost far more than their output calls for: keep SKILL.md to what every run needs, and move the"
        " rest into files that are read when they are needed.",
        "medium": "Runs cost more than need be: name the shortest order of tool calls, and which files need not be"
        " read.",
    },
    Component.QUALITY: {
        "low": "Outputs are often wrong or incomplete: show complete examples of good ones, and name the mistakes that"
        " come again and again.",
        "medium": "Outputs fall short now and then: end the workflow with a check of the output that the model must"
        " run.",
    },
    Component.SATISFACTION: {
        "low": "Users rework or drop what they get: ask some of them what they changed, and see which edits repeat.",
        "medium": "Users come back with corrections: let the skill ask about what is unclear before it starts.",
    },
}


def level(share: float) -> str | None:
    """Return ``low`` or ``medium`` for a share of a component's points, in [0, 1]; None from 0.7."""
    if share >= ENOUGH:
        return None
    return "low" if share < LOW else "medium"


def recommendation(component: Component, share: float) -> str | None:
    """Return what to do about a component that gives a share of its points; None where nothing need be done."""
    found = level(share)
    return None if found is None else _WORDS[component][found]
