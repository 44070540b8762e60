"""Documents made to be slow to read: each a pattern repeated, up to a size, in one of three places of a SKILL.md.

A shape is a pattern that has made some reader of Markdown, YAML or prose take quadratic time or run out of stack, or
that could do so to this one. `write` gives a whole file of about the number of characters asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DESCRIPTION = "Use this skill when merging tables, fixing encodings, or removing duplicate rows."
PROSE = """# Title

Read the header of every file first, because it decides which columns can be joined with those of the others. Sort the
rows by date and keep the newest one where two of them share a key. Write down what was dropped and why it was dropped.

"""


def _repeat(unit: str, end: str = "") -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit)) + end


def _numbered(unit: str) -> Callable[[int], str]:
    return lambda size: "".join(unit.format(n=number) for number in range(size // len(unit.format(n=10_000))))


def _half(left: str, right: str) -> Callable[[int], str]:
    """Open half the size, close it again."""

    def make(size: int) -> str:
        count = size // (len(left) + len(right))
        return left * count + "x" + right * count

    return make


def _nested_list(size: int) -> str:
    """Give a list nested ever deeper; its indentation makes the size the square of the depth."""
    return "".join(f"{'  ' * depth}- x\n" for depth in range(int(size**0.5)))


def _wide_table(size: int) -> str:
    columns = size // 12
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|b" * columns + "|\n"


def _short_rows(size: int) -> str:
    """Give a table with a wide head and rows of one cell, which are filled up to the width of the head."""
    columns = int((size / 2) ** 0.5)
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|b|\n" * (size // 8)


def _ticks(size: int) -> str:
    """Give runs of backticks, each of another length, so that none closes another."""
    return " ".join("`" * length for length in range(1, int((2 * size) ** 0.5)))


def _definitions(size: int) -> str:
    count = size // 32
    text = "".join(f"[r{number}]: references/{number}.md\n" for number in range(count))
    return text + "\n" + "".join(f"[r{number}] " for number in range(count))


BODIES: dict[str, Callable[[int], str]] = {
    "one line": _repeat("word "),
    "one word": _repeat("x"),
    "spaces in a line": lambda size: "a" + " " * size + "b",
    "spaces and dashes": _repeat("a          -"),
    "output": _repeat("output "),
    "output format": _repeat("the output "),
    "manages": _repeat("manages coordinates "),
    "not": _repeat("not dispatch "),
    "MUST": _repeat("MUST "),
    "see also": _repeat("see also\n"),
    "full stops": _repeat(". "),
    "commas": _repeat("a, "),
    "slashes": _repeat("../"),
    "paths": _numbered("references/{n}.md "),
    "colons": _numbered("kit:sort-{n} "),
    "headings": _repeat("## x\n"),
    "deepening headings": _repeat("# x\n## x\n### x\n#### x\n##### x\n###### x\n"),
    "underlined headings": _repeat("x\n-\n\n"),
    "paragraphs": _repeat("x\n\n"),
    "lines of a paragraph": _repeat("x\n"),
    "blank lines": _repeat("\n"),
    "thematic breaks": _repeat("---\n"),
    "quotes": _repeat(">"),
    "quotes on lines": lambda size: "> " * 50 + "x\n" + ("> " * 50 + "x\n") * (size // 102),
    "list items": _repeat("- x\n"),
    "list markers": _repeat("- "),
    "numbered markers": _repeat("1. "),
    "nested list": _nested_list,
    "opening brackets": _repeat("["),
    "nested brackets": _half("[", "]"),
    "open links": _repeat("[a]("),
    "images in images": _half("![", "](x)"),
    "empty links": _repeat("[]() "),
    "links with titles": _repeat('[a](b "'),
    "dead links": _numbered("[a](references/{n}.md) "),
    "links to skills": _numbered("[a](../../skills/s-{n}/SKILL.md) "),
    "link in angle brackets": _repeat("[a](<b"),
    "parentheses in a link": lambda size: "[a](" + "(" * size,
    "definitions": _definitions,
    "same definition": _repeat("[a]: b\n"),
    "open definitions": _repeat("[a]: \n"),
    "backtick runs": _ticks,
    "single backticks": _repeat("`"),
    "code spans": _repeat("`a` "),
    "open code span": _repeat("`a"),
    "fences": _repeat("```\nx\n```\n"),
    "open fences": _repeat("```\n"),
    "long fence": lambda size: "```python\n" + "x = 1\n" * (size // 6) + "```\n",
    "python of brackets": lambda size: "```python\n" + "(" * (size // 2) + ")" * (size // 2) + "\n```\n",
    "small python blocks": _repeat("```python\nx = (1\n```\n"),
    "yaml blocks": _repeat("```yaml\na: [b, {c: d}]\n```\n"),
    "stars": _repeat("*"),
    "star words": _repeat("*a "),
    "stars and underscores": _repeat("*a_ "),
    "closing stars": _repeat("a** "),
    "nested emphasis": _half("*a ", " a*"),
    "underscores": _repeat("__a "),
    "entities": _repeat("&amp;"),
    "open entities": _repeat("&#"),
    "escapes": _repeat("\\*"),
    "comments": _repeat("<!-- x -->\n"),
    "open comments": _repeat("<!--"),
    "open comments in text": _repeat("a <!-- "),
    "open tags": _repeat("<a "),
    "declarations": _repeat("a <!A "),
    "instructions": _repeat("a <?"),
    "cdata": _repeat("a <![CDATA["),
    "tags": _repeat("<b>x</b> "),
    "html blocks": _repeat("<div>\nx\n</div>\n\n"),
    "angle addresses": _repeat("<http://a"),
    "wide table": _wide_table,
    "short rows": _short_rows,
    "table rows": lambda size: "|a|b|\n|-|-|\n" + "|c|d|\n" * (size // 6),
    "table heads": _repeat("|a|b|\n"),
    "escaped bars": lambda size: "|a|b|\n|-|-|\n|" + "\\|" * (size // 2) + "|\n",
    "tabs": _repeat("\t"),
    "ideographs": _repeat("表格、"),
    "bidirectional marks": _repeat("\u202ea\u202c "),
}

DESCRIPTIONS: dict[str, Callable[[int], str]] = {
    "when in the description": _repeat("when "),
    "use in the description": _repeat("use "),
    "use when in the description": _repeat("use this skill when x, "),
    "not in the description": _repeat("do not use "),
    "commas in the description": _repeat("when a, or "),
    "bullets in the description": _repeat("- use for:"),
    "colons in the description": _repeat("triggers: "),
}

HEADS: dict[str, Callable[[int], str]] = {
    "yaml brackets": _repeat("["),
    "yaml keys": _numbered("k{n}: v\n"),
    "yaml same key": _repeat("k: v\n"),
    "yaml braces": _repeat("{a: "),
    "yaml quotes": _repeat('"'),
    "yaml indentation": lambda size: "".join(f"{' ' * depth}a:\n" for depth in range(int((2 * size) ** 0.5))),
    "yaml bomb": lambda size: (
        "a: &a [x, x]\n" + "".join(f"k{n}: &k{n} [*{'a' if n == 0 else f'k{n - 1}'}, *a]\n" for n in range(size // 24))
    ),
}


def names() -> tuple[str, ...]:
    """List every shape."""
    return (*BODIES, *DESCRIPTIONS, *HEADS)


def write(name: str, size: int) -> str:
    """Give a SKILL.md of about ``size`` characters in that shape.

    The frontmatter is cut at 60,000 characters, under the limit beyond which it is not read at all.
    """
    if name in BODIES:
        return f"---\nname: shape\ndescription: {DESCRIPTION}\n---\n{PROSE}{BODIES[name](size)}\n"
    if name in DESCRIPTIONS:
        text = DESCRIPTIONS[name](min(size, 60_000))
        return f"---\nname: shape\ndescription: |\n  {text}\n---\n{PROSE}"
    return f"---\nname: shape\ndescription: {DESCRIPTION}\n{HEADS[name](min(size, 60_000))}\n---\n{PROSE}"
