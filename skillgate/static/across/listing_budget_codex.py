"""Listed together, the skills take more characters than Codex lists.

Why:
    Codex shows its model the name and the description of every installed skill, in about two per cent of the context
    window: 8,000 characters where the window is not known. Over it all descriptions are shortened, which takes the
    words away that tell skills apart, and a very large catalogue loses whole skills. Skills of one plugin are counted
    together, those without a plugin likewise.

Bad:
    40 skills whose names and descriptions take 14,000 characters.

Good:
    The same 40, each told in 150 characters that begin with what only this skill is for.

Source: documentation of Codex, agent skills: the initial list of skills.
"""

from __future__ import annotations

from skillgate.model.assessment import CatalogueRule
from skillgate.model.finding import Client, Severity
from skillgate.scoring.listing import over_budget

RULE = CatalogueRule(
    id="LISTING_BUDGET_CODEX",
    severity=Severity.WARNING,
    summary="the skills listed together exceed what Codex lists",
    fix="shorten the longest descriptions, or split the catalogue into plugins that are installed apart",
    find=over_budget(Client.CODEX),
    about=(Client.CODEX,),
)
