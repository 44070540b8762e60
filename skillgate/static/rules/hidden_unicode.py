"""Characters that no reader sees: bidirectional controls, tag characters, text without width.

Why:
    What a reviewer does not see, a model still reads: tag characters spell out instructions, bidirectional overrides
    show code in another order than it runs, and a space without width inside a word makes a search and a command miss
    it. Overrides, tag characters and runs of variation selectors are errors; what stands inside a word is a warning.
    What writing calls for is silent: emoji sequences and flags, joiners of Arabic, Persian and Indic scripts, marks
    and embeddings beside letters written from right to left, breaks in Thai or Chinese, a byte order mark at the
    start. Scripts are looked at as well as documents.

Bad:
    run the de<U+200B>ploy script

Good:
    run the deploy script

Source: Unicode Technical Report 36 and Technical Standard 39; CVE-2021-42574 (bidirectional overrides in source code).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Span
from skillgate.static.invisible import invisible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

MAX_HITS = 20  # of one file: a file full of icons is one matter


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each line, at the first run, and again where a worse one follows."""
    main = skill.documents[0].file if skill.documents else ""
    texts = [(document.file, document.text) for document in skill.documents]
    texts += [(script.file, script.text) for script in skill.scripts]
    for file, text in texts:
        if not text.isascii():
            yield from _in(text, None if file == main else file)


def _in(text: str, file: str | None) -> Iterator[Hit]:
    seen: dict[int, int] = {}  # lines, with the rank of the worst that was said of them
    line, counted = 1, 0
    for item in invisible(text):
        line += text.count("\n", counted, item.offset)
        counted = item.offset
        if item.severity.rank >= seen.get(line, Severity.INFO.rank + 1):
            continue
        if len(seen) == MAX_HITS:
            return
        seen[line] = item.severity.rank
        span = Span(line, item.offset - text.rfind("\n", 0, item.offset))
        fix = item.specimen and f"where it is shown on purpose, write {item.specimen} in its place: that can be seen"
        yield Hit(span, item.message, severity=item.severity, fix=fix, file=file)


RULE = Rule(
    id="HIDDEN_UNICODE",
    severity=Severity.WARNING,
    summary="characters that no reader sees",
    fix="delete them",
    find=find,
    group="text",
)
