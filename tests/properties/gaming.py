"""Ways to edit a skill: to win points without saying anything, to write it in another form, and to spoil it."""

from __future__ import annotations

import random
import re
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

from skillgate.skill.commonmark import parse_blocks
from skillgate.skill.language import word_set

if TYPE_CHECKING:
    from collections.abc import Callable

    Edit = Callable[[str, random.Random], str]

_NOUNS = sorted(
    word_set(
        "apple river stone table cloud garden window paper mountain forest bridge candle silver thunder orange basket",
        "mirror copper valley lantern meadow pepper rocket violin harbor canvas marble falcon timber ginger",
    )
)
_FRAME = sorted(word_set("the of and to in a is that it for on with as at by from or an be this which")) * 2
_LOREM = sorted(
    word_set(
        "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore",
        "magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo",
    )
)
_STUFFED = (
    "Use proactively when doing stuff, making things, or handling items; automatically trigger when working on anything"
    " or changing something."
)
_GERMAN = "Dieses Werkzeug hilft immer dann, wenn etwas mit Dateien zu tun ist, und es ist für alle gut."
_TOYS = (
    '```python\nx = 1\n```\n\n```bash\necho hi\n```\n\n```json\n{"a": 1}\n```\n\n```yaml\na: 1\n```\n\n'
    "```python\nprint(1)\n```"
)
_TITLES = ("Examples", "Usage", "Troubleshooting", "Output format", "Input", "When to use", "Related", "FAQ")
_BULLET = re.compile(r"^(\s*[-*] .{10,})$", re.MULTILINE)


def _words(count: int, rng: random.Random, pool: list[str] = _NOUNS) -> str:
    return " ".join(rng.choice(pool) for _ in range(count))


def _appended(write: Callable[[random.Random], str]) -> Edit:
    return lambda text, rng: f"{text.rstrip()}\n\n{write(rng)}\n"


def _described(description: str) -> Edit:
    pattern = re.compile(r"^description:.*?(?=^\S)", re.MULTILINE | re.DOTALL)
    return lambda text, _: pattern.sub(f'description: "{description}"\n', text, count=1)


def _lines(count: int, line: Callable[[int, random.Random], str], between: str = "\n") -> Edit:
    return _appended(lambda rng: between.join(line(number, rng) for number in range(1, count + 1)))


def _noun(rng: random.Random) -> str:
    return rng.choice(_NOUNS)


def _everything(rng: random.Random) -> str:
    heads = "\n\n".join(f"## {one}\n\nThis section says what has to be said about the matter." for one in _TITLES)
    words = "\n".join(_words(9, rng) for _ in range(110))
    return f"{words}\n\n{heads}\n\n{_TOYS}\n\n| a | b |\n|---|---|\n| 1 | 2 |"


STRATEGIES: dict[str, Edit] = {
    "a stuffed description": _described(_STUFFED),
    "numbers": _lines(204, lambda number, _: f"{number}. {number}"),
    "lines of random words": _lines(110, lambda _, rng: _words(9, rng)),
    "bullets that differ in a number": _lines(210, lambda number, _: f"- Consider aspect number {number} of the work"),
    "assignments": _appended(lambda _: "```python\n" + "\n".join(f"x{n} = 0" for n in range(210)) + "\n```"),
    "one sentence many times": _lines(130, lambda *_: "- Do the thing well and make it good for the user."),
    "all of the method's table": _appended(_everything),
    "70 sentences with a number": _lines(
        70, lambda number, _: f"Remember to look at item {number} with care and then go on to the next one.", "\n\n"
    ),
    "details of random words": _appended(lambda rng: "## Details\n\n" + "\n".join(_words(12, rng) for _ in range(150))),
    # our own
    "paragraphs of random words": _lines(110, lambda _, rng: f"{_words(9, rng).capitalize()}.", "\n\n"),
    "random words with function words": _lines(100, lambda _, rng: f"- {_words(10, rng, _NOUNS + _FRAME)}"),
    "random sentences": _lines(100, lambda _, rng: f"{_words(10, rng, _NOUNS + _FRAME).capitalize()}.", " "),
    "because in each bullet": lambda text, _: _BULLET.sub(r"\1 because it matters a lot", text),
    "a condition in each bullet": lambda text, _: _BULLET.sub(r"\1 if it is needed, and never without it", text),
    "slots for nouns": _lines(
        60,
        lambda _, rng: f"- Check the {_noun(rng)} of the {_noun(rng)} if the {_noun(rng)} is not in `{_noun(rng)}.py`.",
    ),
    "slots in reasons": _lines(
        60, lambda n, rng: f"- Never move the {_noun(rng)} before the {_noun(rng)}, because it fails with error {n}."
    ),
    "the body again": lambda text, _: f"{text}\n{text.split('---', 2)[-1]}",
    "lorem ipsum": _lines(100, lambda _, rng: f"{' '.join(rng.sample(_LOREM, 14)).capitalize()}.", "\n\n"),
    "comments": _lines(100, lambda *_: "<!-- if the file fails, never retry, because `x` is 3 -->"),
    "empty headings": _lines(100, lambda number, _: f"## Step {number}", "\n\n"),
    "toy code": _appended(lambda _: _TOYS),
    "praise": _lines(40, lambda _, rng: f"- Apply proven best practices for robust {_noun(rng)} patterns"),
    "assignments to words": _appended(
        lambda rng: "```python\n" + "\n".join(f"{_noun(rng)} = {n}" for n in range(210)) + "\n```"
    ),
    "capitals": _lines(40, lambda number, _: f"- You MUST ALWAYS do step {number}."),
    "short lines": _lines(150, lambda _, rng: _words(3, rng)),
    "questions": _lines(150, lambda _, rng: f"- What about {_noun(rng)} {_noun(rng)}?"),
    "a category": lambda text, _: text.replace("\n---\n", "\nmetadata:\n  category: generator\n---\n", 1),
    "dead links": _appended(lambda _: "See [more](references/zz.md) and [this](assets/zz.txt)."),
}
GERMAN_DESCRIPTION = _described(_GERMAN)


# -- Other forms of the same text


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change the lines of the body that are not in a fence."""
    head, mark, body = text.partition("\n---\n")
    rows, fenced = [], False
    for row in body.split("\n"):
        fence = row.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        rows.append(row if fenced or fence else change(row))
    return head + mark + "\n".join(rows)


def _wrapped(row: str) -> str:
    if len(row) <= 78 or row.startswith(("#", "|", "    ")):
        return row
    marker = re.match(r"\s*(?:[-*+] |\d+\. )?", row)
    indent = " " * len(marker[0]) if marker else ""
    return textwrap.fill(row, 78, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _setext(row: str) -> str:
    match = re.match(r"(##?) (\S.*)$", row)
    return f"{match[2]}\n{'===' if match[1] == '#' else '---'}" if match else row


def _sections(text: str) -> tuple[str, list[str]]:
    """Cut a skill into what is before its first section, and its sections under second-level headings."""
    head, mark, body = text.partition("\n---\n")
    rows = body.split("\n")
    tokens = parse_blocks(body).tokens
    starts = [
        one.map[0] for one in tokens if one.type == "heading_open" and one.tag == "h2" and not one.level and one.map
    ]
    cuts = [*starts, len(rows)]
    parts = ["\n".join(rows[start:end]).rstrip("\n") + "\n\n" for start, end in pairwise(cuts)]
    return head + mark + "\n".join(rows[: cuts[0]]) + "\n", parts


def _reversed(text: str, _: random.Random) -> str:
    before, parts = _sections(text)
    return before + "".join(reversed(parts))


FORMS: dict[str, Edit] = {
    "CRLF": lambda text, _: text.replace("\n", "\r\n"),
    "setext": lambda text, _: _outside_code(text, _setext),
    "bullets": lambda text, _: _outside_code(text, lambda row: re.sub(r"^(\s*)- ", r"\1* ", row)),
    "section order": _reversed,
    "wrapping": lambda text, _: _outside_code(text, _wrapped),
}


# -- Spoiled


def scrambled(text: str, rng: random.Random) -> str:
    """Shuffle the words of each line of prose."""

    def shuffled(row: str) -> str:
        marker = re.match(r"\s*(?:[-*+] |\d+\. |> |\| )?", row)
        start = marker[0] if marker else ""
        words = row[len(start) :].split()
        if row.startswith("#") or len(words) < 3:
            return row
        rng.shuffle(words)
        return start + " ".join(words)

    return _outside_code(text, shuffled)


def halves(text: str) -> tuple[str, ...]:
    """Return the skill without its second half of sections, its first, and every other one."""
    before, parts = _sections(text)
    middle = len(parts) // 2
    return tuple(before + "".join(kept) for kept in (parts[:middle], parts[middle:], parts[::2])) if middle else ()
