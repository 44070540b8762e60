"""Where a finding's rule is documented, once it is known where the project lies."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from skillgate.format import Style
from skillgate.model.finding import HOMEPAGE, Finding, Severity, documentation_url
from skillgate.report.formats.text import write
from skillgate.report.view import Item, Items, Span, View


@pytest.mark.parametrize(
    ("identifier", "homepage", "url"),
    [
        ("NAME_INVALID", "https://github.com/acme/x", "https://github.com/acme/x/blob/main/docs/rules.md#name_invalid"),
        ("NAME_INVALID", "https://github.com/OWNER/x", ""),
        ("a\x1b[31m", "https://github.com/acme/x", ""),
        ("", "https://github.com/acme/x", ""),
    ],
)
def test_the_page_of_a_rule_is_known_with_the_address_of_the_project(identifier: str, homepage: str, url: str) -> None:
    assert documentation_url(identifier, homepage) == url


def test_the_packaged_address_decides() -> None:
    assert bool(documentation_url("NAME_INVALID")) is ("/OWNER/" not in HOMEPAGE)


def test_a_terminal_that_takes_links_gets_one_and_a_file_none() -> None:
    item = Item(("a: ", Span("NAME_INVALID", url="https://example.org/x"), " bad"))
    view = View("t", blocks=(Items((item,), raw=True),))
    assert "a: \x1b]8;;https://example.org/x\x1b\\NAME_INVALID\x1b]8;;\x1b\\ bad\n" in write(view, Style(links=True))
    assert "a: NAME_INVALID bad\n" in write(view, Style(color=True))
    hostile = View("t", blocks=(Items((item._replace(line=(Span("x", url="https://e\x1b\\"),)),), raw=True),))
    assert "\x1b" not in write(hostile, Style(links=True))


def test_a_finding_of_another_tool_is_not_linked_to_our_pages() -> None:
    from skillgate.report.tally import finding_line

    finding = Finding("X", Severity.ERROR, "m", PurePosixPath("a"), 1, 1, "f", "https://evil.example", tool="other")
    assert not any(isinstance(part, Span) and part.url for part in finding_line(finding))
