"""A model that its vendor has shut down.

Why:
    Requests to a retired model fail. A skill that names one in `model` does not run with it, and code that calls one
    stops with an error. Reported are `model` in the frontmatter and models that code uses, such as
    `model="claude-3-opus-20240229"`, each once per file. Silent: text that names models, tables of them, and code below
    words such as "retired", "old", "before" or "migrate".

Bad:
    model: claude-2.1

Good:
    model: sonnet

Source: Anthropic's model deprecations page and OpenAI's deprecations page (both as of 2026-11).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Document, Skill, Span
from skillgate.static import Hits, rule

AS_OF = "2026-11-25"
RETIRED = {  # a pattern of the ids, and the day of their retirement on the vendor's own platform
    r"claude-(?:1(?:\.\d)?|instant-1(?:\.\d)?)": "2024-11-06",
    r"claude-2(?:\.[01])?": "2025-07-21",
    r"claude-3-sonnet-20240229": "2025-07-21",
    r"claude-3-5-sonnet-(?:20240620|20241022|latest)": "2025-10-28",
    r"claude-3-opus-(?:20240229|latest)": "2026-01-05",
    r"claude-3-7-sonnet-(?:20250219|latest)": "2026-02-19",
    r"claude-3-5-haiku-(?:20241022|latest)": "2026-02-19",
    r"claude-3-haiku-20240307": "2026-04-20",
    r"claude-(?:opus|sonnet)-4-(?:0|20250514)": "2026-06-15",
    r"claude-opus-4-1(?:-20250805)?": "2026-08-05",
    r"text-davinci-00[123]|code-davinci-00[12]": "2024-01-04",
    r"gpt-4-32k(?:-0314|-0613)?": "2025-06-06",
    r"gpt-3\.5-turbo(?:-0125)?|gpt-4(?:-0613|-1106-preview|-turbo(?:-2024-04-09)?)?|gpt-4o-2024-05-13": "2026-10-23",
}
_ID = "|".join(f"(?P<r{index}>{pattern})" for index, pattern in enumerate(RETIRED))
_DATES = tuple(RETIRED.values())
_USED = (
    rf"(?i)(?<![.\w])(?:default_)?model(?:: str)?(?:_?id|_?name|-id)?[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"'`]?"
    rf"(?:anthropic[/.]"
    rf"|openai/)?(?-i:{_ID})(?![\w.-])"
)
_OLD = (
    r"(?i)\b(?:retired?|retirement|deprecat\w*|legacy|old(?:er)?|obsolete|before|bad|wrong|avoid|never|do not|don['’]?t"
    r"|migrat\w*|replace\w*|upgrad\w*|outdated|no longer|invalid|removed|sunset|not found|previous\w*|historic\w*)\b|❌"
)
_GATE = r"claude-[123]|claude-instant|claude-opus-4-[012]|claude-sonnet-4-[02]|text-davinci|code-davinci|gpt-3\.5|gpt-4"
_TRACE = r"\bllm[\"']?\s*[:=]\s*\{[^{}]*\Z"  # what was recorded of a call, and no call
_AROUND = 300


def find(skill: Skill) -> Hits:
    """Yield a hit for the field, and one for each model that the code of a file uses."""
    head = skill.frontmatter
    match = re.fullmatch(_ID, head.text("model"))
    if match is not None:
        yield Hit(Span(head.line("model")), f"model is {_described(match)}")
    for document in skill.documents:
        file = None if document is skill.documents[0] else document.file
        yield from _in(_code(document), file) if re.search(_GATE, document.text) else ()
    for script in skill.scripts:
        yield from _in([(1, script.text)], script.file) if re.search(_GATE, script.text) else ()


def _code(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the code blocks of a document that nothing calls old, each with the line of its first row."""
    lines = document.text.split("\n")
    for block in document.code_blocks:
        place = bisect_right(document.headings, block.line, key=lambda heading: heading.line)
        heading = document.headings[place - 1].text if place else ""
        if not re.search(_OLD, f"{heading}\n" + "\n".join(lines[max(0, block.line - 4) : block.line - 1])[-_AROUND:]):
            yield block.line + 1, block.code


def _in(parts: Iterable[tuple[int, str]], shown: str | None) -> Hits:
    seen: set[str] = set()
    for first, text in parts:
        line, counted = first, 0
        for match in re.finditer(_USED, text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            name = match[match.lastgroup or 0]
            begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
            above = text[text.rfind("\n", 0, max(0, begin - 1)) + 1 : begin]
            around = (
                above[-_AROUND:] + text[max(begin, match.start() - _AROUND) : match.end() + _AROUND if end < 0 else end]
            )
            traced = re.search(_TRACE, text[max(0, match.start() - _AROUND) : match.start()])
            if name not in seen and not traced and not re.search(_OLD, around[: 3 * _AROUND]):
                seen.add(name)
                yield Hit(Span(line, match.start() - begin + 1), f"this code uses {_described(match)}", file=shown)


def _described(match: re.Match[str]) -> str:
    group = match.lastgroup or "r0"
    return f"{match[group]}, which was retired on {_DATES[int(group[1:])]}"


RULE = rule(find, Severity.WARNING, "code", fix="name a model that its vendor still serves")
