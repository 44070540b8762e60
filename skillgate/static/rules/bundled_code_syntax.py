"""A bundled Python, JSON, TOML or YAML file that does not parse.

Why:
    A model runs the scripts of a skill and reads its data. What does not parse fails in the middle of a task, and the
    model repairs or replaces it without a word. Python is parsed by the version that runs this check. The marks
    of an unresolved merge conflict are an error in each language. Silent: code for Python 2 or a newer version and
    templates, if the parser stops at them; JSON with comments or as lines, tests and fixtures, and very large files.

Bad:
    scripts/fill.py: def fill(:

Good:
    scripts/fill.py: def fill(path):

Source: the parsers of the Python standard library for Python, JSON and TOML, and PyYAML for YAML 1.1.
"""

import re

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.skill.parse import TESTS
from skillgate.static import Hits, rule
from skillgate.static.code import CONFLICT, file_error
from skillgate.static.rules import MAX_PARSED

_LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
_SHOWN = {"python": "Python", "json": "JSON", "toml": "TOML", "yaml": "YAML"}
_APART = TESTS | {"fixtures", "fixture", "testdata", "examples", "templates", "template", "node_modules", "vendor"}
_NAMES = r"(?i)template|tmpl|broken|invalid|malformed|bad[_-]|cookiecutter|[{}]|tsconfig|jsonc|package-lock|^\."


def find(skill: Skill) -> Hits:
    """Yield one hit for each such file, where its parser stops."""
    parsed = 0
    for script in skill.scripts:
        *folders, name = skill.root.inside(script.file).lower().split("/")
        language = _LANGUAGES.get(name[name.rfind(".") :])
        if language is None or not _APART.isdisjoint(folders) or re.search(_NAMES, name) or not script.text.strip():
            continue
        parsed += len(script.text)
        if parsed > MAX_PARSED:
            return
        error = file_error(language, script.text)
        if error is not None:
            line, reason = error
            severity = Severity.ERROR if language == "python" or reason == CONFLICT else None
            yield Hit(
                Span(line),
                f"this file does not parse as {_SHOWN[language]}: {reason}",
                severity=severity,
                file=script.file,
            )


RULE = rule(find, Severity.WARNING, "code", fix="fix the file, or rename it if it is a template")
