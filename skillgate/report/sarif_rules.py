"""The rules of a SARIF run, and text that is plain in SARIF's messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skillgate.model.finding import Severity
from skillgate.report.findings import bounded
from skillgate.report.rules import page_markdown

if TYPE_CHECKING:
    from skillgate.model.finding import Finding, Page

DESCRIPTION = 1024  # characters of a description, as GitHub takes them
NAME = 255  # characters of a rule's name
TAGS = 10  # that are read for a rule

_CONFIGURED = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEM = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_PLACEHOLDER = re.compile(r"\{(?=\d+\})")
_WORD = re.compile(r"[^\W_]+")


def plain(text: str) -> str:
    """Keep a text from being a link (``[x](y)``) or a placeholder (``{0}``) in a SARIF message."""
    return _PLACEHOLDER.sub("{\u200b", text.replace("](", "]\u200b("))


def rule_id(finding: Finding) -> str:
    """Give the id that the finding's own tool knows the rule by: without the tool's name before it."""
    name, slash, rest = finding.id.partition("/")
    return bounded(rest if slash and rest else name, NAME)


def descriptor(finding: Finding, page: Page | None) -> dict[str, Any]:
    """Describe a rule.

    Args:
        finding: one that it yielded; the worst, so that without a page its level is the rule's.
        page: what the rule says of itself, None if there is no such page.
    """
    identifier = rule_id(finding)
    severity = page.rule.severity if page else finding.severity
    described = _from_page(page) if page else _from_finding(finding)
    rule = {"id": identifier, **described, "defaultConfiguration": {"level": _CONFIGURED[severity]}}
    name = "".join(word[:1].upper() + _rest(word) for word in _WORD.findall(identifier))
    if name and name != identifier:
        rule["name"] = name
    if finding.url.startswith("https://"):
        rule["helpUri"] = finding.url
    rule["properties"] = {"tags": _tags(finding, page), "problem.severity": _PROBLEM[severity]}
    return rule


def _rest(word: str) -> str:
    return word[1:].lower() if word.isupper() else word[1:]


def _from_page(page: Page) -> dict[str, Any]:
    rule, sections = page.rule, page.sections
    why = " ".join(sections.get("Why", "").split())
    examples = [f"{name}:\n{sections[name]}" for name in ("Bad", "Good") if name in sections]
    text = "\n\n".join([page.title, why, *examples, f"Fix: {rule.fix}."])
    return {
        "shortDescription": {"text": _described(f"{rule.summary[:1].upper()}{rule.summary[1:]}.")},
        "fullDescription": {"text": _described(f"{page.title} {why}")},
        "help": {"text": plain(text), "markdown": page_markdown(page)},
    }


def _from_finding(finding: Finding) -> dict[str, Any]:
    words = " ".join(_WORD.findall(rule_id(finding))).lower() or "unnamed"
    help_text = plain(bounded(finding.fix)) or f"{bounded(finding.tool)} says nothing of this rule."
    return {
        "shortDescription": {"text": _described(f"{words[:1].upper()}{words[1:]}.")},
        "fullDescription": {"text": _described(help_text)},
        "help": {"text": help_text},
    }


def _described(text: str) -> str:
    return plain(bounded(text, DESCRIPTION - 24))  # room for what ``plain`` puts in


def _tags(finding: Finding, page: Page | None) -> list[str]:
    if finding.tool != "skillgate":
        return []
    of_page = (page.kind, page.rule.group) if page else ()
    tags = ("agent-skills", *of_page, *(client.value for client in finding.clients))
    return [tag for tag in dict.fromkeys(tags) if tag][:TAGS]
