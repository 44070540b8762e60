"""List every rule and anti-pattern with its severity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.options import add_output, house_pages, json_text, output_format
from skillgate.errors import UsageError
from skillgate.model.finding import rule_url
from skillgate.report.rules import group_of, page_markdown
from skillgate.static.catalogue import pages

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console
    from skillgate.model.finding import Page

GROUP = "reference"
FORMATS = ("text", "json", "markdown")


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
        wide = max(len(page.rule.id) for page in found)
        lines = [
            f"{page.rule.id:{wide}}  {page.rule.severity.value:8} {group_of(page):12}  {page.rule.summary}"
            + (" (opt-in)" if page.rule.optional else "")
            for page in found
        ]
        session.out("\n".join([*lines, "", "Run skillgate explain ID for the reason and good examples."]))
    return 0


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
