"""Comments that set findings aside: where they count, what they cover, and which are refused."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from skillgate.model.skill import Problem, SkillSource
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.skill.suppressions import MAX_COMMENTS
from tests.skills import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.skill import Skill

HEAD = "---\nname: pdf\ndescription: Fills forms. Use when there is one.\n---\n"  # the body begins on line 5
BROKEN = "<!-- skillgate: ignore BROKEN_LINK: on purpose -->"


class Comment(NamedTuple):
    """A comment that counts: its line, its rules, what it covers, and its reason."""

    line: int
    rules: str
    lines: tuple[int, int]
    reason: str = "on purpose"
    until: str | None = None


def parsed(tmp_path: Path, text: str | bytes, **files: str) -> Skill:
    """Write a skill with this main file, and parse it."""
    others = {name.replace("_", "/") + ".md": content for name, content in files.items()}
    directory = write_bytes(tmp_path, "pdf", text if isinstance(text, bytes) else text.encode(), files=others)
    (root,) = discover([str(directory)]).roots
    source = read(root)
    assert isinstance(source, SkillSource)
    return parse(source)


def comments(tmp_path: Path, body: str, head: str = HEAD) -> list[Comment]:
    """Give the comments that count."""
    return [
        Comment(item.line, " ".join(item.rules), (item.first, item.last), item.reason, item.until)
        for item in parsed(tmp_path, head + body).waivers
    ]


def refused(skill: Skill) -> list[Problem]:
    return list(skill.problems_of("suppression_invalid"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(f"{BROKEN}\nA line.\nAnother.\n\nApart.\n", (5, 7), id="the block below"),
        pytest.param(f"{BROKEN}\n\n\nA line.\n\nApart.\n", (5, 8), id="the block below blank lines"),
        pytest.param(f"A line. {BROKEN}\nAnother.\n", (5, 5), id="its line"),
        pytest.param(f"{BROKEN} A line.\nAnother.\n", (5, 5), id="its line, from the front"),
        pytest.param(f"# Title {BROKEN}\nAnother.\n", (5, 5), id="a heading"),
        pytest.param(f"{BROKEN}\n```sh\na\n\nb\n```\nApart.\n", (5, 10), id="a whole code block"),
        pytest.param(f"{BROKEN}\n\n```sh\na\n\nb\n```\n", (5, 11), id="a whole code block below a blank line"),
        pytest.param(f"{BROKEN}\nRun:\n```sh\na\n\nb\n```\n", (5, 11), id="a paragraph and its code block"),
        pytest.param(f"{BROKEN}\n<!-- a remark -->\n\nA line.\n", (5, 8), id="past other comments"),
        pytest.param(f"- One.\n  {BROKEN}\n  Two.\n\n- Three.\n", (6, 7), id="in a list"),
        pytest.param(f"1. One.\n\n    {BROKEN}\n    Two.\n", (7, 8), id="indented in a list"),
        pytest.param(f"> {BROKEN}\n> Two.\n>\n> Three.\n", (5, 6), id="in a quotation"),
        pytest.param(f"| a |\n|---|\n| x | {BROKEN}\n", (7, 7), id="beside a table's row"),
        pytest.param(f"A line.\n{BROKEN}", (6, 6), id="at the end of the file"),
        pytest.param(
            "<!--\nskillgate: ignore\nBROKEN_LINK:\non purpose\n-->\nA line.\n", (5, 10), id="over several lines"
        ),
        pytest.param(
            "A <!-- skillgate: ignore\nBROKEN_LINK: on purpose --> line.\nB.\n", (5, 6), id="over two lines of text"
        ),
        pytest.param("<!--skillgate:ignore BROKEN_LINK:on purpose-->\nA.\n", (5, 6), id="without blanks"),
        pytest.param("<!-- skillgate: ignore BROKEN_LINK: on purpose\n\n-->\nA.\n", (5, 8), id="over a blank line"),
    ],
)
def test_a_comment_covers(body: str, expected: tuple[int, int], tmp_path: Path) -> None:
    (found,) = comments(tmp_path, body)
    assert (found.rules, found.lines, found.reason) == ("BROKEN_LINK", expected, "on purpose")


def test_two_comments_that_stand_together_cover_the_same_block(tmp_path: Path) -> None:
    second = BROKEN.replace("LINK", "ANCHOR")
    stacked = comments(tmp_path / "a", f"{BROKEN}\n{second}\nA line.\n\nApart.\n")
    assert stacked == [Comment(5, "BROKEN_LINK", (5, 7)), Comment(6, "BROKEN_ANCHOR", (6, 7))]
    apart = comments(tmp_path / "b", f"{BROKEN}\n\n{second}\n\nA line.\n")
    assert [item.lines for item in apart] == [(5, 9), (7, 9)]
    one_line = comments(tmp_path / "c", f"A line. {BROKEN}{second}\n")
    assert [(item.rules, item.lines) for item in one_line] == [("BROKEN_LINK", (5, 5)), ("BROKEN_ANCHOR", (5, 5))]


def test_several_rules_an_end_and_a_reason_with_colons(tmp_path: Path) -> None:
    text = "<!-- skillgate: ignore A_B, C1 ,A_B until 2027-01-31: see https://example.org: really -->"
    (found,) = comments(tmp_path, f"x {text}\n")
    assert found == Comment(5, "A_B C1", (5, 5), "see https://example.org: really", "2027-01-31")


def test_ignore_file_covers_the_whole_file_wherever_it_stands(tmp_path: Path) -> None:
    (found,) = comments(tmp_path, "# A\n\n```\nx\n```\n\n<!-- skillgate: ignore-file BROKEN_LINK: on purpose -->\n")
    assert found.lines[0] == 1
    assert found.lines[1] >= 11


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"```markdown\n{BROKEN}\n```\n", id="in a code block"),
        pytest.param(f"~~~\n{BROKEN}\n", id="in a code block that never closes"),
        pytest.param(f"Write `{BROKEN}` above.\n", id="in a code span"),
        pytest.param(f"Write `as in {BROKEN}, above` it.\n", id="amid a code span"),
        pytest.param(f"Write ``a ` {BROKEN}`` above.\n", id="in a code span of two"),
        pytest.param(f"Write `a\nb {BROKEN}\nb` above.\n", id="in a code span over lines"),
        pytest.param(f"Write:\n\n    {BROKEN}\n", id="in indented code"),
        pytest.param(f"- Write:\n\n      x\n      {BROKEN}\n", id="in indented code of a list"),
        pytest.param(f"<!-- an example:\n{BROKEN}\n", id="in another comment"),
        pytest.param(f"<!-- how to: {BROKEN}\n", id="in another comment on the line"),
        pytest.param(f"\\{BROKEN}\n", id="escaped"),
        pytest.param("See skillgate: ignore BROKEN_LINK: on purpose\n", id="in no comment"),
        pytest.param("# skillgate: ignore BROKEN_LINK: on purpose\n", id="as a heading"),
        pytest.param(f"See [it](a.md '{BROKEN}').\n", id="in a link's title"),
        pytest.param(f"![{BROKEN}](a.png)\n", id="in the words of a picture"),
        pytest.param(f"[it]: a.md '{BROKEN}'\n", id="in a definition's title"),
        pytest.param(f"[it]: a.md\n'a\nb {BROKEN}\n'\n", id="in lines of a definition's title"),
        pytest.param(f"A <b title='{BROKEN}'>word</b>.\n", id="in an attribute"),
        pytest.param(f"<div\n  title='\n{BROKEN}\n'>\n</div>\n", id="in an attribute of a block"),
        pytest.param(f"<script>\nconst text = '{BROKEN}'\n</script>\n", id="in a script"),
        pytest.param(f"<div><style>\n{BROKEN}\n</style></div>\n", id="in a style sheet below another element"),
        pytest.param(f"<?php\n{BROKEN}\n?>\n", id="in an instruction to a processor"),
        pytest.param(f"<!-- a remark {BROKEN}\n", id="in another comment"),
        pytest.param("<!-->skillgate: ignore BROKEN_LINK: on purpose -->\n", id="behind an empty comment"),
        pytest.param("<!-- see skillgate: ignore BROKEN_LINK: on purpose -->\n", id="not at the beginning"),
    ],
)
def test_what_is_no_comment_to_markdown_sets_nothing_aside(body: str, tmp_path: Path) -> None:
    skill = parsed(tmp_path, HEAD + body)
    assert skill.waivers == ()
    assert refused(skill) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"Use ` or {BROKEN}\n", id="a backtick alone"),
        pytest.param(f"Use ` here.\n\nThen {BROKEN} and `.\n", id="backticks of two paragraphs"),
        pytest.param(f"Use \\` and {BROKEN} and `.\n", id="an escaped backtick"),
        pytest.param(
            "<!-- skillgate: ignore BROKEN_LINK: on purpose, and `this --> and `that`\n", id="a backtick in the reason"
        ),
        pytest.param(f"Use `a` and {BROKEN} and `b`.\n", id="between code spans"),
        pytest.param(f"```\n`\n```\n{BROKEN}\nA `.\n", id="a backtick in a code block"),
        pytest.param(f"Write `a\n{BROKEN}\nb` above.\n", id="a line of its own, which ends what a backtick began"),
        pytest.param(f"See [it](a.md 'a title'). {BROKEN}\n", id="behind a title"),
        pytest.param(f"See [it](a.md '{BROKEN}').\n{BROKEN}\n", id="a real one behind a title that holds it"),
        pytest.param(f"See [it](a.md '<!--'). {BROKEN}\n", id="behind a title that opens one"),
        pytest.param(f"<div title='<!--'>\n{BROKEN}\n</div>\n", id="inside an element"),
        pytest.param(f"<script>\n1\n</script>\n{BROKEN}\n", id="below a script"),
        pytest.param(f"It's <b>a</b> {BROKEN} word.\n", id="beside tags"),
    ],
)
def test_a_comment_beside_code_counts(body: str, tmp_path: Path) -> None:
    assert [item.rules for item in comments(tmp_path, body)] == ["BROKEN_LINK"]


def test_in_frontmatter_it_covers_the_key_below(tmp_path: Path) -> None:
    head = (
        "---\nname: pdf\n"
        "# skillgate: ignore A_A: on purpose\n\n# a remark\nmetadata:\n  a: b\n\n  c: d\n"
        "# skillgate: ignore B_B: on purpose\nallowed-tools:\n- Read\n- Write\n"
        "license: MIT  # skillgate: ignore C_C: on purpose\n"
        "description: 'Fills # skillgate: ignore D_D: on purpose'\n"
        "# skillgate: ignore E_E: on purpose\n---\n"
    )
    assert comments(tmp_path, "# Title\n", head) == [
        Comment(3, "A_A", (3, 9)),
        Comment(10, "B_B", (10, 13)),
        Comment(14, "C_C", (14, 14)),
        Comment(16, "E_E", (16, 16)),
    ]


@pytest.mark.parametrize(
    "value",
    [
        "description: |\n  Fills forms.\n  # skillgate: ignore-file D_D: on purpose\n",
        "description: >-\n  Fills forms.\n\n  a # skillgate: ignore-file D_D: on purpose\n",
        "description: 'Fills\n  # skillgate: ignore-file D_D: on purpose\n  forms'\n",
        'description: "Fills\n\n  # skillgate: ignore-file D_D: on purpose\n  forms"\n',
        "metadata:\n  note: |2\n     Fills\n    # skillgate: ignore-file D_D: on purpose\n",
        "# see # skillgate: ignore-file D_D: on purpose\n",
        "description: Fills#skillgate:ignore-file,D_D\n",
    ],
    ids=["literal", "folded", "single quotes", "double quotes", "indented", "inside another comment", "a word"],
)
def test_in_a_value_of_the_frontmatter_it_is_text(value: str, tmp_path: Path) -> None:
    skill = parsed(tmp_path, f"---\nname: pdf\n{value}license: MIT  # skillgate: ignore C_C: on purpose\n---\n# A\n")
    assert [(item.rules, item.line) for item in skill.waivers] == [(("C_C",), value.count("\n") + 3)]
    assert refused(skill) == []


def test_behind_the_sign_of_a_block_of_text_it_counts(tmp_path: Path) -> None:
    head = "---\nname: pdf\ndescription: |  # skillgate: ignore A_A: on purpose\n  Fills forms.\n---\n"
    assert comments(tmp_path, "# A\n", head) == [Comment(3, "A_A", (3, 3))]


def test_a_tab_behind_a_key_hides_no_comment(tmp_path: Path) -> None:
    head = "---\nname:\tpdf\ndescription:\tFills forms.\t# skillgate: ignore A_A: on purpose\n---\n"
    assert comments(tmp_path, "# A\n", head) == [Comment(3, "A_A", (3, 3))]


@pytest.mark.parametrize("reason", ["x", "on", "TODO", "because", "x -", "- …", "ok."])
def test_a_word_is_no_reason(reason: str, tmp_path: Path) -> None:
    skill = parsed(tmp_path, f"{HEAD}<!-- skillgate: ignore BROKEN_LINK: {reason} -->\n")
    assert skill.waivers == ()
    (problem,) = refused(skill)
    assert problem.message.startswith("this comment suppresses nothing: ")


@pytest.mark.parametrize("reason", ["a draft", "misspelt", "発行前のため", "#123 open"])
def test_two_words_or_a_long_one_are_a_reason(reason: str, tmp_path: Path) -> None:
    (found,) = comments(tmp_path, f"<!-- skillgate: ignore BROKEN_LINK: {reason} -->\n")
    assert found.reason == reason


def test_a_comment_of_markdown_in_a_frontmatter_value_is_text(tmp_path: Path) -> None:
    assert comments(tmp_path, "# A\n", f"---\nname: pdf\ndescription: Fills forms {BROKEN}\n---\n") == []


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("<!-- skillgate: ignore BROKEN_LINK -->", "this comment suppresses nothing: write <!-- skillgate: ignore"),
        ("<!-- skillgate: ignore BROKEN_LINK: -->", "this comment suppresses nothing"),
        ("<!-- skillgate: ignore BROKEN_LINK: \u200b… -->", "this comment suppresses nothing"),
        ("<!-- skillgate: ignore broken_link: on purpose -->", "this comment suppresses nothing"),
        ("<!-- skillgate: ignore: on purpose -->", "this comment suppresses nothing"),
        ("<!-- skillgate: ignore-files BROKEN_LINK: on purpose -->", "this comment suppresses nothing"),
        ("<!-- skillgate: disable BROKEN_LINK: on purpose -->", "this comment suppresses nothing"),
        ("<!-- skillgate: ignore BROKEN_LINK until: on purpose -->", "this comment suppresses nothing"),
        ("<!-- skillgate: ignore BROKEN_LINK until 20270131: on purpose -->", "'20270131' is not a date"),
        ("<!-- skillgate: ignore BROKEN_LINK until 2027-02-29: on purpose -->", "'2027-02-29' is not a date"),
        ("<!-- skillgate: ignore BROKEN_LINK until \x1b[31m: on purpose -->", "'\\x1b[31m' is not a date"),
        ("<!-- skillgate: ignore BROKEN_LINK: on purpose", "this comment is never closed and suppresses nothing"),
        ("Text <!-- skillgate: ignore BROKEN_LINK: on purpose\n\n-->", "this comment is never closed"),
    ],
)
def test_a_comment_that_suppresses_nothing_is_refused(comment: str, said: str, tmp_path: Path) -> None:
    skill = parsed(tmp_path, f"{HEAD}# A\n\n{comment}\n")
    assert skill.waivers == ()
    (problem,) = refused(skill)
    assert problem.message.startswith(said)
    assert problem.span == (7, comment.index("<") + 1)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    text = f"{HEAD}{BROKEN}\nA line.\n\n<!--\nskillgate: ignore B_B:\non purpose -->\n\n```\na\n\nb\n```\n"
    plain = parsed(tmp_path / "a", text).waivers
    assert [(item.first, item.last) for item in plain] == [(5, 6), (8, 16)]
    assert parsed(tmp_path / "b", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()).waivers == plain


def test_comments_of_other_documents_are_theirs(tmp_path: Path) -> None:
    page = f"# A\n\n{BROKEN}\nA line.\n\n<!-- skillgate: ignore X -->\n"
    skill = parsed(tmp_path, f"{HEAD}See [a](references/a.md).\n", references_a=page)
    (found,) = skill.waivers
    assert (found.file.endswith("pdf/references/a.md"), found.first, found.last) == (True, 3, 4)
    assert [(problem.file or "").rpartition("/")[2] for problem in refused(skill)] == ["a.md"]


def test_each_rule_of_a_comment_may_turn_out_unused_or_over(tmp_path: Path) -> None:
    skill = parsed(tmp_path, f"{HEAD}<!-- skillgate: ignore A_A, B_B until 2027-01-31: on purpose -->\n{BROKEN}\n")
    said = [(problem.rule, problem.span.line, problem.message.split()[0]) for problem in skill.problems]
    assert [item for item in said if item[0] == "suppression_unused"] == [
        ("suppression_unused", 5, "A_A"),
        ("suppression_unused", 5, "B_B"),
        ("suppression_unused", 6, "BROKEN_LINK"),
    ]
    assert [item[2] for item in said if item[0] == "suppression_expired"] == ["A_A", "B_B"]


def test_a_file_has_only_so_many_comments(tmp_path: Path) -> None:
    skill = parsed(tmp_path, HEAD + f"{BROKEN}\n\n" * (MAX_COMMENTS + 2))
    assert len(skill.waivers) == MAX_COMMENTS
    (problem,) = refused(skill)
    assert problem.span.line == 5 + 2 * MAX_COMMENTS


@pytest.mark.parametrize(
    "text",
    [
        "<!-- " * 200_000,
        "`" + " ``" * 200_000,
        "".join("`" * count + " " for count in range(1, 1_200)),
        "a <!--\n\n" * 100_000,
        "\\" * 800_000 + "`",
        "    " * 200_000,
        "    x\n" * 100_000 + "    <!-- skillgate: ignore A: as code -->\n" * 5_000,
    ],
    ids=[
        "comments that never end",
        "backticks",
        "backticks of many lengths",
        "paragraphs",
        "backslashes",
        "blanks",
        "code",
    ],
)
def test_a_text_made_to_keep_a_search_busy_does_not(text: str) -> None:
    from skillgate.model.skill import Document
    from skillgate.skill.suppressions import waivers

    started = time.process_time()
    assert list(waivers(Document("SKILL.md", f"\n{text}\nno skillgate: x\n\n{text}"), main=True)) == []
    assert time.process_time() - started < 20  # quadratic work would take minutes


@pytest.mark.parametrize(
    "text",
    [
        "<!-- skillgate: " * 60_000,
        "a <!-- skillgate: \n\n" * 50_000,
        "<div>\n" + "<a '\"<a\"' <!-- skillgate: x\n" * 40_000,
        "| a |\n|---|\n" + "| b | <!-- skillgate: x\n" * 40_000,
        "<script\n" * 100_000 + "<!-- skillgate: x -->\n",
    ],
    ids=["on one line", "paragraphs", "tags", "a table", "scripts"],
)
def test_a_text_made_of_marks_keeps_nobody_busy(text: str) -> None:
    from skillgate.model.skill import Document
    from skillgate.skill.suppressions import waivers

    started = time.process_time()
    assert [item for item in waivers(Document("SKILL.md", text), main=True) if not isinstance(item, Problem)] == []
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "line", ["# skillgate: x\n", "a: '# skillgate: x'\n", "- # skillgate: x\n", "[# skillgate: x\n"]
)
def test_marks_in_a_frontmatter_keep_nobody_busy(line: str) -> None:
    from skillgate.model.skill import Document
    from skillgate.skill.suppressions import waivers

    started = time.process_time()
    for size in (65_000, 2_000_000):
        head = f"---\n{line * (size // len(line))}---\n"
        document = Document("SKILL.md", f"{head}# A\n", first_line=head.count("\n") + 1)
        assert all(isinstance(item, Problem) for item in waivers(document, main=True))
    assert time.process_time() - started < 20
