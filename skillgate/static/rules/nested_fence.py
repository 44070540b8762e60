"""A fenced code block inside another one with a fence of the same length.

Why:
    The inner block's closing fence ends the outer block. From there on text is read as code and code as text, until the
    document ends or another such pair puts it right again. The finding is at the outer fence. There are two usual
    causes: a template that contains code blocks, and a block that was not closed before the next one.

Bad:
    ```markdown
    ```bash
    make test
    ```
    ```

Good:
    ````markdown
    ```bash
    make test
    ```
    ````

Source: CommonMark 0.31, section 4.5: a closing fence is at least as long as the opening one, and has no language.
"""

from skillgate.model.finding import Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.code import nested_fences
from skillgate.static.text import hit


def find(skill: Skill) -> Hits:
    """Yield one hit at each outer fence."""
    for document in skill.documents:
        for nested in nested_fences(document) if document.complete else ():
            block = nested.block
            line = document.text.split("\n", block.line)[block.line - 1]
            span = Span(block.line, len(line) - len(line.lstrip()) + 1)
            message = f"line {nested.inner} opens a code block inside this one, and line {block.end_line} ends both"
            yield hit(document, skill, span, message)


RULE = rule(find, Severity.WARNING, "code", fix="use a longer fence around both, or close this one before the other")
