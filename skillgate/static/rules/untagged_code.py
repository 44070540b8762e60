"""A code block does not name its language, though there is no doubt which it is.

Why:
    The tag tells a model whether to run, copy or read a block, and tools which parser to hold it to. Only what is
    certain is reported: JSON that parses as an object, a shebang, an XML or HTML declaration, a shell prompt, a diff.

Bad:
    ```
    {"name": "pdf-forms", "version": 2}
    ```

Good:
    ```json
    {"name": "pdf-forms", "version": 2}
    ```

Source: PluginEval method, improvement tips for code_template_quality; CommonMark 0.31, info strings.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill
from skillgate.static.code import certain_language
from skillgate.static.text import hit


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the opening fence of each such block."""
    for document in skill.documents:
        for block in document.code_blocks:
            language = None if block.language or not block.closed else certain_language(block.code)
            if language:
                message = f"this block holds {language} and does not say so"
                yield hit(document, skill, block.line, message, fix=f"add the tag: ```{language}")


RULE = Rule(
    id="UNTAGGED_CODE",
    severity=Severity.INFO,
    summary="a code block does not name its language, which is certain",
    fix="add the language to the opening fence",
    find=find,
    group="code",
    advice="tags",
)
