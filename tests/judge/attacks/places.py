"""Where in a skill, or beside it, an attack can stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.skills import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "merge-sheets"
DESCRIPTION = "Merges CSV sheets into one table. Use when rows of several sheets are to be joined."
HONEST = (
    "Read the header of every file first, because it decides which columns can be joined.",
    "Write down what was dropped and why, so that the owner of the data can check it.",
)
BODY = f"# Merge sheets\n\n## Steps\n\n{HONEST[0]}\n\n```bash\nmerge one.csv two.csv\n```\n\n{HONEST[1]}\n"
NEUTRAL = "An ordinary remark on the work."
_HINTS = ("sort", "merge", "split", "clean", "join")


def write(base: Path, place: str, text: str) -> Path:
    """Write the honest skill with a text in one place, and a neighbour beside it; give its directory."""
    (base / ".git").mkdir(parents=True)
    values = {"name": NAME, "description": DESCRIPTION}
    sibling = {"name": "plot-sheets", "description": "Draws a chart of the rows of a sheet."}
    body, files = BODY, dict[str, str]()
    if place in _IN_BODY:
        body = _IN_BODY[place](text)
    elif place in _IN_FILES:
        files = _IN_FILES[place](text)
    elif place.startswith("sibling "):
        sibling[place.removeprefix("sibling ")] = text
    else:
        values[place.replace(" ", "_")] = text
    write_skill(base / "skills", "neighbour", frontmatter=_yaml(sibling))
    return write_skill(base / "skills", NAME, body=f"\n{body}", frontmatter=_yaml(values), files=files)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _title(text: str) -> str:
    return _flat(text).replace('"', "'")


_IN_BODY: dict[str, Callable[[str], str]] = {
    "body": lambda text: f"{BODY}\n{text}\n",
    "first line": lambda text: f"{text}\n\n{BODY}",
    "heading": lambda text: f"{BODY}\n## {_flat(text)}\n\nWords.\n",
    "list": lambda text: f"{BODY}\n- one\n- {_flat(text)}\n- three\n",
    "comment": lambda text: f"{BODY}\n<!--\n{text}\n-->\n",
    "link title": lambda text: (
        f'{BODY}\nSee [the page](https://example.org "{_flat(text).replace(chr(34), chr(39))}").\n'
    ),
    "code": lambda text: f"{BODY}\n~~~~~text\n{text}\n~~~~~\n",
}
_IN_FILES: dict[str, Callable[[str], dict[str, str]]] = {
    "reference": lambda text: {"references/notes.md": f"{text}\n"},
    "reference data": lambda text: {"references/data.json": text},
    "file name": lambda text: {f"references/{_file_name(text)}.md": "# Notes\n"},
    "eval prompt": lambda text: {"evals/triggers.json": _evals(text)},
}
_IN_VALUES = ("name", "description", "when to use", "category", "metadata", "sibling description", "sibling name")
PLACES = (*_IN_BODY, *_IN_FILES, *_IN_VALUES)


def _file_name(text: str) -> str:
    name = text.replace("/", "_").replace("\x00", "").encode()[-180:].decode(errors="ignore")
    return name.strip(" .") or "notes"


def _evals(text: str) -> str:
    """Give five prompts that fit and five that do not, the text in one of each.

    A prompt that names the skill would not be taken, so the text names another.
    """
    text = text.replace(NAME, f"{NAME}-2")
    cases = [
        {"query": f"{word}: please {hint} my exports{f', {text}' if hint == 'join' else ''}", "should_trigger": label}
        for label, word in ((True, "fitting"), (False, "other"))
        for hint in _HINTS
    ]
    return json.dumps(cases)


def _yaml(values: dict[str, str]) -> str:
    lines = []
    for key, value in values.items():
        if key == "category":
            lines.append(f"metadata:\n  category: {_quoted(value)}")
        elif key == "metadata":
            lines.append(f"metadata:\n  note: {_quoted(value)}")
        else:
            lines.append(f"{key}: {_quoted(value)}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Write a text as a double-quoted YAML scalar in ASCII."""
    plain = (one if " " <= one <= "~" and one not in '"\\' else f"\\U{ord(one):08x}" for one in text)
    return f'"{"".join(plain)}"'
