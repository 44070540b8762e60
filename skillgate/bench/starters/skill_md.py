"""A SKILL.md with instructions for a model, and tasks with expected answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.bench.starters import TASKS, as_json, program, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters import Wanted

POSITION = 4
FIRST = "skillgate check {}"
HYPHENS = True
_DESCRIPTION = (
    "Rewrites a short text in capital letters, keeping accents, digits and punctuation. Use when the user asks for a"
    " text in capitals, when formatting a heading or label in upper case, or when a form takes capital letters only."
)
_REST = """\
license: MIT
metadata:
  version: "0.1.0"
  category: generator
"""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Return the files, by their path in the skill's directory."""
    description = json.dumps(wanted.description or _DESCRIPTION, ensure_ascii=False)  # a JSON string is valid YAML
    head = f"---\nname: {wanted.id}\ndescription: {description}\n{_REST}---\n\n"
    return {"SKILL.md": head + program("skill_md.md"), TASKS: as_json(tasks(wanted))}
