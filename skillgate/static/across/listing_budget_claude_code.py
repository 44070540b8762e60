"""Listed together, the skills take more characters than Claude Code lists.

Why:
    Claude Code shows its model the name and the description of every installed skill, in one per cent of the context
    window: 8,000 characters where nothing else is known or set. Over it the skills used least keep their name alone,
    so that the model has nothing to choose them by. Skills of one plugin are counted together, those without a plugin
    likewise; skills that only a user or a path starts are not listed and cost nothing.

Bad:
    40 skills whose names and descriptions take 14,000 characters.

Good:
    The same 40, each told in 150 characters; or disable-model-invocation for those that only a person starts.

Source: documentation of Claude Code, skills: `skillListingBudgetFraction` and `skillListingMaxDescChars`.
"""

from __future__ import annotations

from skillgate.model.assessment import CatalogueRule
from skillgate.model.finding import Client, Severity
from skillgate.scoring.listing import over_budget

RULE = CatalogueRule(
    id="LISTING_BUDGET_CLAUDE_CODE",
    severity=Severity.WARNING,
    summary="the skills listed together exceed what Claude Code lists",
    fix="shorten the longest descriptions, or split the catalogue into plugins that are installed apart",
    find=over_budget(Client.CLAUDE_CODE),
    about=(Client.CLAUDE_CODE,),
)
