"""What an editor shows at the pointer: the rule of a finding and what its fix gains, or the skill's score."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.lsp.text import Text
from skillgate.report.numbers import points, sentence
from skillgate.report.skill import step_item
from skillgate.report.steps import gained, main_file, steps
from skillgate.report.tally import badge_of
from skillgate.report.view import plain
from skillgate.skill.frontmatter import split
from skillgate.static.catalogue import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.lsp.analysis import Analysis
    from skillgate.model.finding import Finding, Page
    from skillgate.model.report import SkillResult

_STEPS = 3
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")  # of ASCII: a backslash makes each of them plain
_HEADING = re.compile(r"#{1,6}[ \t]")
_MARKS = re.compile(r"\*\*|^ {2}", re.MULTILINE)


def hover(analysis: Analysis, path: str, row: int, column: int, *, markdown: bool) -> str | None:
    """Return what to show at a line and character of a file, both from 0; None for nothing."""
    text = Text(analysis.texts[path])
    offset = text.start(min(row, text.lines - 1)) + column
    parts = []
    for finding in analysis.findings(path):
        start, stop = text.finding(finding.line, finding.column)
        if start <= offset <= stop:
            parts.append("\n\n".join(_finding(analysis, finding)))
    is_main = "/" not in path[len(analysis.home.folder) + 1 :].replace("\\", "/")
    if analysis.result is not None and is_main and _is_head(text, row):
        parts.append("\n".join(_score(analysis.result)))
    shown = "\n\n---\n\n".join(parts)
    return (shown if markdown else _plain(shown)) or None


@cache
def _pages() -> dict[str, Page]:
    return {page.rule.id: page for page in pages()}


def _finding(analysis: Analysis, finding: Finding) -> Iterator[str]:
    """Yield paragraphs: what was found, why it matters, how to fix it, what that gains."""
    page = _pages().get(finding.id)
    yield f"**{finding.id}** ({finding.severity.value}): {_inert(sentence(finding.message))}"
    if page is not None:
        yield page.sections.get("Why", page.title)
    else:
        own = analysis.house_pages.get(finding.id)
        yield _inert(own.title if own is not None else "A rule of this repository.")
    yield f"**Fix.** {_inert(sentence(finding.fix))}"
    step = analysis.step(finding)
    if step is not None and step.gain is not None and step.gain > 0:
        count = len(step.findings)
        what = "Fixing it" if count == 1 else f"Fixing all {plural(count, 'finding')} of this rule"
        yield f"{what} gains {_inert(gained(step.gain))} points."


def _score(result: SkillResult) -> Iterator[str]:
    """Yield lines: score and badge, or why there is none, and what to do next."""
    composite = result.composite
    if composite.score is None:
        yield f"**No score**: {_inert(composite.reason or 'it was not measured')}"
        return
    yield f"**Score {points(composite.score)}** · {_inert(badge_of(result, none='no badge', stars=True))}"
    if composite.badge_reason:
        yield f"\n{_inert(sentence(composite.badge_reason))}"
    found = [step_item(step, main_file(result)) for step in steps(result, None)[:_STEPS]]
    if found:
        yield "\nDo next:\n"
    for number, item in enumerate(found, 1):
        gain = f"**{_inert(item.label)}** " if item.label else ""
        below = "".join(f" ({_inert(plain(line))})" for line in item.below)
        yield f"{number}. {gain}{_inert(plain(item.line))}{below}"


def _is_head(text: Text, row: int) -> bool:
    """Whether a line is one of the frontmatter, or the first heading."""
    body = split("\n".join(text.line(number) for number in range(text.lines))).body_line - 1
    if row < body:
        return True
    heading = next((number for number in range(body, text.lines) if _HEADING.match(text.line(number))), None)
    return row == heading


def _inert(text: str) -> str:
    """Make a text plain in Markdown: names and texts of a skill must not become links or markup."""
    return _PUNCTUATION.sub(r"\\\1", printable(text))


def _plain(markdown: str) -> str:
    """Return our own Markdown without its marks, for editors that show plain text."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", _MARKS.sub("", markdown))
