"""List every rule and anti-pattern with its severity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.options import add_output, house_pages, json_text, output_format, style_of
from skillgate.errors import UsageError
from skillgate.model.finding import rule_url
from skillgate.report.formats import text
from skillgate.report.rules import group_of, page_markdown
from skillgate.report.tally import SEVERITIES
from skillgate.report.view import Cell, Row, Table, View, columns
from skillgate.static.catalogue import pages

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.console import Console
    from skillgate.model.finding import Page

GROUP = "reference"
FORMATS = ("text", "json", "markdown")
_LONGEST = 1_000  # columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the output."""
    add_output(parser, FORMATS)


def run(args: argparse.Namespace, session: Console) -> int:
    """Print the list."""
    if args.output_file:
        raise UsageError("rules prints to standard output; redirect it to a file")
    name = output_format(args)
    found = (*pages(), *house_pages(session))
    if name == "json":
        session.out(json_text({"rules": [_entry(page) for page in found]}))
    elif name == "markdown":
        session.out("\n".join(page_markdown(page) for page in found))
    else:
        style = style_of(session)
        if not style.terminal:
            style = style._replace(width=_LONGEST)  # a line for each rule, for programs that read it
        session.out(text.write(_view(found), style, verbose=True))
    return 0


def _view(found: Sequence[Page]) -> View:
    rows = tuple(
        Row(
            (
                page.rule.id,
                Cell(page.rule.severity.value, tone=SEVERITIES[page.rule.severity]),
                group_of(page),
                page.rule.summary + (" (opt-in)" if page.rule.optional else ""),
            )
        )
        for page in found
    )
    table = Table(columns("rule", "severity", "group", "what"), rows, noun="rule")
    return View("Run skillgate explain ID for the reason and good examples.", blocks=(table,), ends=True)


def _entry(page: Page) -> dict[str, str | bool | list[str]]:
    rule = page.rule
    return {
        "id": rule.id,
        "kind": page.kind,
        "group": group_of(page),
        "optional": rule.optional,
        "refused_by": [client.value for client in getattr(rule, "refused_by", ())],
        "about": [client.value for client in rule.about],
        "severity": rule.severity.value,
        "summary": rule.summary,
        "fix": rule.fix,
        "url": "" if page.kind == "house" else rule_url(rule.id),
    }
