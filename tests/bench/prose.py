"""Prose skills, and the command line with a scripted model behind a real socket, for the tests of benchmarks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.bench import made
from tests.standard.asking import KEY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done
    from tests.standard.asking import Model

INSTRUCTIONS = "# Adder\n\nAdd the numbers a and b, and answer with the sum.\n"


def prose(folder: Path, body: str = INSTRUCTIONS, **files: str) -> Path:
    """Write a prose skill; ``files`` lie in references/, by their stems."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f"---\nname: {folder.name}\ndescription: Adds numbers. Use when numbers are to be added.\n---\n\n"
    (folder / "SKILL.md").write_text(head + body, encoding="utf-8")
    for stem, text in files.items():
        (folder / "references").mkdir(exist_ok=True)
        (folder / f"references/{stem}.md").write_text(text, encoding="utf-8")
    return folder


def run(cwd: Path, *words: str, at: Model | None = None, key: str = KEY, **environ: str) -> Done:
    """Run the command line with a model's address and a key, which nothing may show."""
    base = {} if at is None else {"ANTHROPIC_BASE_URL": at.server.base_url}
    keys = {"ANTHROPIC_API_KEY": key} if key else {}
    done = made.run(cwd, *words, **base, **keys, **environ)
    assert KEY not in done.out + done.err
    return done


def evaluated(cwd: Path, *words: str, at: Model | None = None, **more: str) -> Done:
    """Evaluate the skill ``s`` on the benchmark ``b.json`` there."""
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words, at=at, **more)


def results(done: Done) -> list[Any]:
    """Give the results of the only skill."""
    (report,) = done.json["reports"]
    found: list[Any] = report["taskResults"]
    return found


def bodies(demo: Model) -> list[Any]:
    """Give what the model was sent."""
    return [exchange["body"] for exchange in demo.asked]


def texts(body: Any) -> str:
    """Give all that a request holds, as one text."""
    return json.dumps(body, ensure_ascii=False)


def rule(reply: str, **match: Any) -> str:
    """Write one rule: a reply as YAML in braces, for requests that match."""
    return f"  - {{match: {json.dumps(match)}, reply: {reply}}}\n" if match else f"  - {{reply: {reply}}}\n"


def rules(*lines: str) -> str:
    """Write a file of rules."""
    return "rules:\n" + "".join(lines)
