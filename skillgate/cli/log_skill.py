"""``log skill``: one skill on one page: promised, tested, observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.cli.options import add_output, output_format, style_of, write_text
from skillgate.errors import EXIT_PASSED
from skillgate.files import require_place
from skillgate.format import Style
from skillgate.report.rendering import formats_of, render

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console
    from skillgate.invocations.records import Selection

SUMMARY = "show one skill on one page: promised by its score, tested by benchmarks, observed in use"
DETAILS = """\
Scores and benchmarks come from the same store (`history`). The page also shows how well scores agree with what was
observed, as a rank correlation over all skills of the store: unknown for fewer than ten skills with both."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("skill", metavar="NAME", help="the skill's name, with or without that of its plugin")
    parser.add_argument("--certificate", metavar="FILE", help="also show what this certificate says of it")
    add_output(parser, formats_of("log-skill"))


def run(args: argparse.Namespace, session: Console, selection: Selection) -> int:
    """Show it."""
    from skillgate.invocations.skill_page import PageRequest, page

    form = output_format(args)
    for _, path in args.output_file:
        require_place(path, session.cwd)
    found = page(PageRequest(args.skill, selection, args.certificate), session)
    for file_form, path in args.output_file:
        write_text(path, render(found, "log-skill", file_form, Style()), session)
    session.out(render(found, "log-skill", form, style_of(session), verbose=True))
    return EXIT_PASSED
