"""A code block without a language tag, although the language is certain.

Why:
    The tag shows a model whether to run, copy or read a block, and shows tools which parser to use. Only certain cases
    are reported: JSON that parses as an object, a shebang, an XML or HTML declaration, a shell prompt, a diff.

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

from skillgate.model.finding import Severity
from skillgate.model.skill import Skill
from skillgate.static import Hits, rule
from skillgate.static.code import certain_language
from skillgate.static.text import hit


def find(skill: Skill) -> Hits:
    """Yield one hit at the opening fence of each such block."""
    for document in skill.documents:
        for block in document.code_blocks:
            language = None if block.language or not block.closed else certain_language(block.code)
            if language:
                message = f"code block contains {language} but has no language tag"
                yield hit(document, skill, block.line, message, fix=f"add the tag: ```{language}")


RULE = rule(find, Severity.INFO, "code", fix="add the language to the opening fence", advice="tags")
