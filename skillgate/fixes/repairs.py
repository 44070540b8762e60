"""Every repair, by the rule whose finding it fixes, where there is one right way to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import dirname, relpath
from typing import NamedTuple

from skillgate.fixes.frontmatter import (
    allowed_tools,
    directory_name,
    frontmatter_tab,
    metadata_shape,
    name_invalid,
    name_mismatch,
    quoted_metadata,
    specified_tools,
)
from skillgate.fixes.pages import BOM, Edit, Page
from skillgate.model.finding import Severity
from skillgate.model.skill import CodeBlock, Skill
from skillgate.skill.links import target_path
from skillgate.static import layer
from skillgate.static.code import certain_language, syntax_error


class Fix(NamedTuple):
    """The declaration of a repair: an entry of ``FIXES``.

    Attributes:
        find: gives the edits of a page, of which any part may be left out. No two repairs touch the same characters.
        silent: the parsed file stays the same, so the repair need not be tried before it is made.
        head: gives the values of the frontmatter that the repair changes, as they are afterwards.
        links: dead links of the file may lead somewhere afterwards.
        blocks: the text may be divided in another way afterwards.
    """

    find: Callable[[Page], Iterator[Edit]]
    silent: bool = False
    head: Callable[[Skill], Mapping[str, object]] | None = None
    links: bool = False
    blocks: bool = False


def _byte_order_mark(page: Page) -> Iterator[Edit]:
    """Take away the byte order mark.

    A file with two of them is left alone: readers take away one, and the second hides the frontmatter. To take both
    away would change what the file says.
    """
    if page.raw.startswith(BOM) and not page.raw.startswith(BOM + BOM):
        yield Edit(1, 0, 1, "")


def _line_ends(page: Page) -> Iterator[Edit]:
    """Make every line end a line feed."""
    wrong = "\r" if "\r" in page.ends else "\r\n"
    if wrong not in page.ends:
        return
    line = page.ends.index(wrong) + 1
    for start, text, end in zip(page.starts, page.lines, page.ends, strict=False):
        if end != "\n":
            yield Edit(line, start + len(text), start + len(text) + len(end), "\n")


def _no_final_newline(page: Page) -> Iterator[Edit]:
    """End the last line."""
    if page.document.text and page.lines[-1]:
        yield Edit(len(page.lines), len(page.raw), len(page.raw), "\n")


def _untagged_code(page: Page) -> Iterator[Edit]:
    """Name the language of a code block where its code leaves no doubt."""
    for block in page.document.code_blocks if page.document.complete else ():
        language = _language(block)
        text = page.lines[block.line - 1].rstrip(" \t")
        if language and text.endswith(("```", "~~~")):
            place = page.starts[block.line - 1] + len(text)
            yield Edit(block.line, place, place, language)


def _language(block: CodeBlock) -> str | None:
    """Return the language of an untagged block; None if a tag would add another finding."""
    if block.language or not block.closed or not block.lines:
        return None
    language = certain_language(block.code)
    return language if language and syntax_error(language, block.code) is None else None


_LINK_TO = "link to "  # how BROKEN_LINK names the one file that a link may mean


def _broken_link(page: Page) -> Iterator[Edit]:
    """Lead links to the one file that they can mean.

    Unsafe if the finding is no error: the link may then be meant for a file of the user's project.
    """
    document, skill = page.document, page.skill
    if not any(link.dead for link in document.links):
        return
    main = skill.documents[0]
    alone = skill._replace(documents=(main,) if page.main else (main, document))  # not all of them for each page
    for hit in layer.rule("broken_link").find(alone):
        if (hit.file or main.file) != document.file or not (hit.fix or "").startswith(_LINK_TO):
            continue
        first = next((link for link in document.links if link.dead and link.span == hit.span), None)
        place = str(hit.fix).removeprefix(_LINK_TO)
        if first is None or not re.fullmatch(r"[\w./-]+", place):
            continue
        wanted = relpath(f"{skill.root.directory}/{place}", dirname(document.file) or ".")
        alike = [link for link in document.links if link.dead and target_path(link.target) == target_path(first.target)]
        safe = hit.severity in (None, Severity.ERROR)
        found = [span for line in {link.span.line for link in alike} for span in _targets(page, line, first.target)]
        if len(found) == len(alike):
            yield from (Edit(hit.span.line, start, stop, wanted, safe) for start, stop in found)


def _targets(page: Page, line: int, target: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a target's path in the links of a line."""
    path = re.split(r"[#?]", target, maxsplit=1)[0]
    for found in re.finditer(rf"\]\(<?({re.escape(path)})(?=[#?>)\s])", page.lines[line - 1]):
        yield page.starts[line - 1] + found.start(1), page.starts[line - 1] + found.end(1)


_HASH_COMMENTS = r"(?:|ba|z|fi)sh|shell|console|python3?|py|ya?ml|toml|ruby|rb|perl|r|make(?:file)?|dockerfile|ini|text"


def _unclosed_fence(page: Page) -> Iterator[Edit]:
    """Close a code block above the first heading in it, as the author may have meant. Unsafe."""
    block = next((block for block in page.document.code_blocks if not block.closed), None)
    if block is None or block.language in ("markdown", "md", "mdx") or not page.document.complete:
        return
    fence = re.match(r"[ ]{0,3}(`{3,}|~{3,})", page.lines[block.line - 1])
    if fence is None:
        return
    heading = r"##+ \S" if re.fullmatch(_HASH_COMMENTS, block.language) else r"#+ \S"
    for row in range(block.line + 1, min(block.end_line, len(page.lines))):
        if not page.lines[row - 1].strip() and re.match(heading, page.lines[row]):
            while row > block.line and not page.lines[row - 1].strip():
                row -= 1
            if row > block.line:
                yield Edit(block.line, page.starts[row], page.starts[row], f"{fence[1]}\n", safe=False)
            return


FIXES = {
    "ALLOWED_TOOLS_SHAPE": Fix(allowed_tools, head=specified_tools),
    "BROKEN_LINK": Fix(_broken_link, links=True),
    "BYTE_ORDER_MARK": Fix(_byte_order_mark, silent=True),
    "FRONTMATTER_TAB": Fix(frontmatter_tab),
    "LINE_ENDS": Fix(_line_ends, silent=True),
    "METADATA_SHAPE": Fix(metadata_shape, head=quoted_metadata),
    "NAME_INVALID": Fix(name_invalid, head=directory_name),
    "NAME_MISMATCH": Fix(name_mismatch, head=directory_name),
    "NO_FINAL_NEWLINE": Fix(_no_final_newline),
    "UNCLOSED_FENCE": Fix(_unclosed_fence, blocks=True),
    "UNTAGGED_CODE": Fix(_untagged_code),
}
"""The repairs that need nothing but the parsed skill."""

UNSAFE = frozenset({"UNCLOSED_FENCE"})
"""The rules that have no safe repair."""

QUOTES = "FRONTMATTER_INVALID"
"""The repair that comes first: with it, the others have a frontmatter to look at."""
