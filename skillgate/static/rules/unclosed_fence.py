"""A fenced code block that is never closed.

Why:
    Everything after the fence is read as code: headings, links and instructions below it stop working, and a rendered
    page shows the rest of the document as one grey box. There are two usual causes. An editor or model cut the text
    off. In a list, the closing fence is not indented like the opening one. A block in a list item or quotation ends
    with it. If the block swallows nothing else, there or at the end of the document, the finding is a warning. Where a
    block inside another one is the cause, NESTED_FENCE reports it.

Bad:
    ```bash
    make test
    ## Next step

Good:
    ```bash
    make test
    ```
    ## Next step

Source: CommonMark 0.31, section 4.5: an unclosed block runs to the end of its container or of the document.
"""

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import CodeBlock, Document, Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.code import nested_fences
from skillgate.static.text import hit


def find(skill: Skill) -> Hits:
    """Yield one hit at each opening fence that has no end, the first of a document that swallows the rest."""
    for document in skill.documents:
        if not document.complete or all(block.closed for block in document.code_blocks):
            continue
        lines = document.text.rstrip().split("\n")
        is_nested = bool(nested_fences(document))
        for block in document.code_blocks:
            # A bare fence may be the end of a block that ended too early, which NESTED_FENCE reports.
            if not block.closed and not (is_nested and not block.language):
                yield _hit(skill, document, block, lines)
                break


def _hit(skill: Skill, document: Document, block: CodeBlock, lines: list[str]) -> Hit:
    line = lines[block.line - 1] if block.line <= len(lines) else ""
    span = Span(block.line, len(line) - len(line.lstrip()) + 1)
    severity = None
    swallowed = len(lines) - block.line
    outside = _closing_outside(block, lines)
    if swallowed <= 0:
        message = "this fence opens a code block at the end of the document and is never closed"
        severity = Severity.WARNING
    elif block.end_line >= len(lines):
        rest = "the line below it is" if swallowed == 1 else f"the {swallowed} lines below it are"
        message = f"this code block is never closed: {rest} read as code"
    elif outside:
        ends = "this code block ends with its list item"
        message = f"{ends}; the fence in line {outside} is outside the item and opens another block"
    else:
        message = f"this code block is never closed; it ends with its list item or quotation, in line {block.end_line}"
        severity = Severity.WARNING
    return hit(document, skill, span, message, severity=severity)


def _closing_outside(block: CodeBlock, lines: list[str]) -> int | None:
    """Find the line right below the block that would have closed it, were it indented as the opening one."""
    row = block.end_line
    while row < len(lines) and not lines[row].strip():
        row += 1
    bare = lines[row].strip() if row < len(lines) else ""
    return row + 1 if len(bare) >= 3 and set(bare) in ({"`"}, {"~"}) else None


RULE = rule(find, Severity.ERROR, "code", fix="close it where the code ends")
