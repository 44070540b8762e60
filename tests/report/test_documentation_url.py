"""Where a finding's rule is documented, once it is known where the project lies."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from skillgate.format import Style
from skillgate.model.finding import Finding, Severity, rule_url
from skillgate.report.formats.text import write
from skillgate.report.view import Item, Items, Span, View
from tests.published import HOMEPAGE, REF


@pytest.mark.parametrize(
    ("identifier", "url"),
    [
        ("NAME_INVALID", f"{HOMEPAGE}/blob/{REF}/docs/rules.md#name_invalid"),
        ("a\x1b[31m", ""),
        ("a](https://evil.example)", ""),
        ("", ""),
    ],
)
def test_a_rule_has_a_page_and_a_text_that_is_no_id_has_none(identifier: str, url: str) -> None:
    assert rule_url(identifier) == url


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
