"""The pages of rules, sub-checks, dimensions, grades and badges as Markdown: one text for documents and ``explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.score import Badge, Dimension, Grade, LayerName
from skillgate.scoring.composite import BLEND, PENALTY_FLOOR, PENALTY_STEP, PRIORITIES, WEIGHTS

if TYPE_CHECKING:
    from skillgate.model.finding import CheckPage, Page

_KINDS = {
    "anti-pattern": "Anti-pattern: each finding takes five per cent off the composite.",
    "rule": "Rule: a finding, and nothing in the score.",
    "across": "Across skills: a finding, and nothing in the score.",
    "house": "House rule: a finding, and nothing in the score.",
    "judge": "Reported while judging: a finding, and nothing in the score on its own.",
    "reading": "Reported while reading: a finding, and nothing in the score on its own.",
}


_BLOCKS = "As an error under any profile it withholds the badge, whatever is selected, ignored or suppressed."


def page_markdown(page: Page) -> str:
    """Write one rule's page, under a second-level heading that is its id."""
    rule, sections = page.rule, page.sections
    blocked = f" {_BLOCKS}" if getattr(rule, "blocks_badge", False) else ""
    parts = [
        f"## {rule.id}",
        page.title,
        f"**{rule.severity.value}** · {_KINDS[page.kind]}{blocked}{_clients(page)}",
    ]
    if "Why" in sections:
        parts.append(f"**Why.** {sections['Why']}")
    parts += [f"**{name}**\n\n{_fenced(sections[name])}" for name in ("Bad", "Good") if name in sections]
    parts.append(f"**Fix.** {rule.fix[:1].upper()}{rule.fix[1:]}.")
    if "Source" in sections:
        parts.append(f"**Source.** {sections['Source']}")
    return "\n\n".join(parts) + "\n"


def group_of(page: Page) -> str:
    """Give the word that stands for a rule and its like in ``--select`` and ``--ignore``."""
    return page.rule.group or page.kind


def _clients(page: Page) -> str:
    """Say which clients a rule is about, which refuse a skill for it, and how it is selected."""
    rule = page.rule
    said = ""
    refused = ", ".join(f"`{client.value}`" for client in getattr(rule, "refused_by", ()))
    about = ", ".join(f"`{client.value}`" for client in rule.about)
    if refused:
        said += f" An error under the profile {refused}."
    if about:
        said += f" It concerns {about} alone."
    if rule.optional:
        said += " Opt-in: it is reported where it, its group or `all` is selected."
    return f"{said} Group: `{group_of(page)}`."


def _fenced(text: str) -> str:
    """Put a text into a code block with a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"


def dimension_markdown(dimension: Dimension, check: CheckPage | None) -> str:
    """Write one dimension's page: weight, blend, and what the static layer measures of it."""
    shares = BLEND[dimension]
    blend = ", ".join(f"{layer.value} {share} %" for layer, share in shares.items() if share)
    parts = [f"## {dimension.value}", f"Weight {WEIGHTS[dimension]} % of the composite. Blend: {blend}."]
    if check is not None:
        parts.append(f"Static source: `{check.name}`.")
        parts.append(check.text)
    elif not shares[LayerName.STATIC]:
        parts.append(
            "No static source: at quick depth it is not measured, and the composite is over the other weights."
        )
    first = PRIORITIES[dimension]
    parts.append(
        f"**Fix first if** {first.fix_first_if}. Typical effort: {first.effort} ({first.work}). Gain per hour:"
        f" {first.gain_per_hour}. Source: PluginEval method, which dimension to improve first."
    )
    return "\n\n".join(parts) + "\n"


def grades_markdown() -> str:
    """Write the table of grades."""
    rows = [f"| {grade.value} | from {grade.at_least:.2f} | {grade.meaning} |" for grade in Grade]
    return "\n".join(["## grades", "", "| grade | score | meaning |", "|:-:|---|---|", *rows]) + "\n"


def badges_markdown() -> str:
    """Write the table of badges."""
    rows = [
        f"| {badge.value} {badge.stars} | {badge.composite:g} | {badge.elo:g} | {badge.meaning} |" for badge in Badge
    ]
    head = ["## badges", "", "| badge | composite from | Elo from | meaning |", "|---|--:|--:|---|"]
    note = (
        "The Elo condition holds only where a rating was computed. There is no badge while the frontmatter cannot"
        " be read or lacks a description, or while a field that clients need is no text or appears twice. Nor is there"
        " one while part of the file cannot be read, without instructions, or under 40 words of prose."
    )
    return "\n".join([*head, *rows, "", note]) + "\n"


def penalty_markdown() -> str:
    """Write how the penalty is made."""
    return (
        "## penalty\n\n"
        f"composite = weighted mean × 100 × max({PENALTY_FLOOR:g}, 1 − {PENALTY_STEP:g} × anti-pattern findings).\n\n"
        "One finding for each distinct target. Severity orders and gates findings; it does not enter the formula.\n"
    )
