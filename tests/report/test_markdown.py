"""Markdown: whatever a text holds, no reader of Markdown makes anything of it but text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillgate.report.escape import code, inert
from tests.github.rendered import LIVE, read
from tests.report.reports import HOSTILE

PIECES = (
    *("@octocat", "@acme/owners", "#1", "GH-1", "gh-26", "acme/skills#2", "octocat@a1b2c3d", "a1b2c3d", "A1B2C3D4E5F6"),
    *("00d4a8470c2f2c37", "https://evil.example", "HTTP://x", "www.evil.example", "ftp://x", "mail@evil.example"),
    *(
        "mailto:x@y.z",
        "xmpp:a@b",
        "![x](https://evil.example/p.png)",
        "[x](y)",
        "[x]: y",
        "[^1]",
        "[ ] ",
        "- [x] ",
        "<b>",
    ),
    *(
        "<img src=x>",
        "<!-- skillgate:v1 key=default -->",
        "-->",
        "&#64;octocat",
        "&commat;x",
        "<https://x>",
        "</details>",
    ),
    *(
        "|",
        "\\|",
        "\\",
        "`",
        "``",
        "```",
        "~~x~~",
        "**x**",
        "_x_",
        "$x$",
        "$$",
        "$`x`$",
        ":tada:",
        ":+1:",
        "# x",
        "===",
        "---",
    ),
    *(
        "- ",
        "+ ",
        "* ",
        "1. ",
        "1) ",
        "> ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r",
        "\u2028",
        "\u202e",
        "::error::",
        "##[error]",
    ),
    *HOSTILE,
)
ANYTHING = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=6).map("".join)


@example("octocat@a1b2c3dftp://x")
@given(ANYTHING)
def test_an_inert_text_is_only_text(text: str) -> None:
    for place in ("{}", "- {}", "1. {}", "**x** {}", "> {}"):
        page = read(place.format(inert(text)))
        assert page.html + page.addresses == () == page.rows
        assert not page.kinds & {
            "image",
            "hr",
            "fence",
            "code_block",
            "code_inline",
            "heading_open",
            "hardbreak",
            "s_open",
        }
        assert not any(LIVE.search(told) for told in page.texts)
        assert len(page.texts) <= 1  # one block: no list in a list, no second paragraph
    assert "\n" not in inert(text)


@given(ANYTHING)
def test_code_is_only_code(text: str) -> None:
    page = read(f"| a |\n|---|\n| x {code(text)} |\n\nx {code(text)} x")
    assert page.rows == ((1, 1),)
    assert page.html == page.addresses == ()
    assert [told.split() for told in page.texts] == [["a"], ["x"], ["x", "x"]]
    assert "<!--" not in code(text)


@given(ANYTHING, ANYTHING)
def test_both_stand_in_a_table(one: str, other: str) -> None:
    page = read(f"| a | b |\n|---|---|\n| {inert(one)} | {code(other)} |")
    assert page.rows == ((2, 2),)
    assert page.html == page.addresses == ()
    assert not any(LIVE.search(told) for told in page.texts)


@given(ANYTHING)
def test_the_renderer_of_github_agrees(text: str) -> None:
    cmark = pytest.importorskip("cmarkgfm", reason="cmarkgfm is not installed")
    html = cmark.github_flavored_markdown_to_html(
        f"- {inert(text)}\n\n| a |\n|---|\n| {inert(text)} |\n\nx {code(text)}"
    )
    assert not any(
        f"<{tag}" in html for tag in ("a ", "img", "input", "h1", "h2", "hr", "pre", "del", "sup", "section")
    )
    assert html.count("<code>") == 1
    assert html.count("<td>") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.2.3 of -x", "1.2.3 of -x"),
        ("feedback in 123456 lines", "feedback in 123456 lines"),
        ("“Use when …”", "“Use when …”"),
        ("a_b & <c>", "a\\_b &amp; &lt;c&gt;"),
        ("- x", "\\- x"),
        ("7. x", "7\\. x"),
    ],
)
def test_a_plain_text_stays_legible(text: str, expected: str) -> None:
    assert inert(text) == expected


def test_a_run_of_backticks_is_no_burden() -> None:
    text = "`" * 200_000
    assert len(code(text)) < 3 * len(text) + 10
