"""A SKILL.md: instructions that a model follows, with tasks that a benchmark holds its answers against."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.bench.starters._wanted import TASKS, as_json, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.starters._wanted import Wanted

POSITION = 4
FIRST = "skillgate check {}"
HYPHENS = True
_TOLD = (
    "Rewrites a short text in capital letters, keeping accents, digits and punctuation. Use when the user asks for a"
    " text in capitals, when formatting a heading or label in upper case, or when a form takes capital letters only."
)
_REST = """\
license: MIT
metadata:
  version: "0.1.0"
  category: generator
"""
_BODY = """\
# Text in capital letters

Turn the text that the user gives into capital letters and return it, changed in nothing else.

## Input

- `query`: the text, of any length and in any language. It is the only parameter, and it is required.

## Output

One JSON object with the key `result`: the text in capital letters.

## Steps

1. Take the text from `query`. Where the user points at a file, read the file first.
2. Write every letter as its capital, letters with accents included: `é` becomes `É`.
3. Keep digits, punctuation, spaces and line breaks as they are.
4. Compare the result with the text once: both have the same words in the same order.
5. Return one JSON object with the key `result`, and nothing around it.

## Example

Input:

```json
{"query": "déjà vu, 7 times"}
```

Output:

```json
{"result": "DÉJÀ VU, 7 TIMES"}
```

## When it does not work out

- The text is empty: return `{"result": ""}`.
- There is no text, or it is not clear which one is meant: ask which text it is, and return nothing else.
- The file cannot be read: say which file, and what the error was.

## Limits

Translating, correcting and shortening are other tasks: leave the words alone, and say so when the user asked for both.
"""


def files(wanted: Wanted) -> Mapping[str, str]:
    """Give the files, by their path in the skill's directory."""
    description = json.dumps(wanted.description or _TOLD, ensure_ascii=False)  # a text of JSON is one of YAML
    head = f"---\nname: {wanted.id}\ndescription: {description}\n{_REST}---\n\n"
    return {"SKILL.md": head + _BODY, TASKS: as_json(tasks(wanted))}
