"""What a change does to skills together, in sentences: findings across skills that came or went, lists that grew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.documents import Diff
    from skillgate.model.finding import Finding, ListingUse
    from skillgate.model.report import Report

_NAMES = {Client.CLAUDE_CODE: "Claude Code", Client.CODEX: "Codex"}


def change_lines(report: Report | Diff) -> Iterator[str]:
    """Say what differs from the baseline; nothing where there is none, or nothing differs. Texts are as they came."""
    if report.across is not None:
        yield from (f"new across skills: {_sentence(finding)}" for finding in report.across.new)
        yield from (f"gone across skills: {_sentence(finding)}" for finding in report.across.fixed)
    for use in report.listing:
        if use.before is not None and use.before != use.characters:
            yield _grown(use)


def _sentence(finding: Finding) -> str:
    return f"{finding.path}:{finding.line} {finding.id} {finding.message}"


def _grown(use: ListingUse) -> str:
    where = f" in {use.place}" if use.place not in ("", ".") else ""
    change = use.characters - (use.before or 0)
    over = ", over its budget" if use.characters > use.budget else ""
    name = _NAMES.get(use.client, use.client.value)
    return f"{name} lists {use.characters:,} of {use.budget:,} characters{where} ({change:+,}{over})"
