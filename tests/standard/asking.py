"""What the tests of standard depth share: a scripted model behind a real socket, and the command asking it."""

from __future__ import annotations

import io
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.cli.main import main
from skillgate.llm.demo_server import DemoServer, Options
from skillgate.llm.providers.scripted import Engine
from skillgate.llm.scripted.rules import parse
from tests.cli.running import Done

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

KEY = "sk-ant-a-key-that-nobody-may-see-0123456789"


class Model(NamedTuple):
    """A scripted model that listens, and what it was asked."""

    server: DemoServer
    record: io.StringIO

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Every exchange so far."""
        return [json.loads(line) for line in self.record.getvalue().splitlines()]

    def take(self) -> list[str]:
        """Give the questions asked since the last time, in their order."""
        found = [exchange["question"] for exchange in self.asked]
        self.record.truncate(0)
        self.record.seek(0)
        return found


@contextmanager
def model(rules: str = "rules: []", latency_s: float = 0.0) -> Iterator[Model]:
    """Let a scripted model listen."""
    record = io.StringIO()
    options = Options(latency_s=latency_s, record=record)
    with DemoServer(Engine(parse(rules.encode(), "rules")), options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Model(server, record)
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def run(cwd: Path, *words: str, at: Model | str | None = None, key: str = KEY, cache_key: str = "") -> Done:
    """Run the command with its own home and cache below ``cwd``, and a model's address where one is given."""
    out, err = io.StringIO(), io.StringIO()
    home = cwd.parent / f"{cwd.name}-home"
    environ = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    if at is not None:
        environ["ANTHROPIC_BASE_URL"] = at if isinstance(at, str) else at.server.base_url
    if key:
        environ["ANTHROPIC_API_KEY"] = key
    if cache_key:
        environ["SKILLGATE_CACHE_KEY"] = cache_key
    code = main(words, stdout=out, stderr=err, environ=environ, cwd=str(cwd))
    done = Done(code, out.getvalue(), err.getvalue())
    assert KEY not in done.out + done.err
    return done


def judged(done: Done) -> dict[str, Any]:
    """Give the judge's layer of each skill, by the last part of its path."""
    document = done.json
    results: Sequence[dict[str, Any]] = document.get("results") or [document]
    return {
        result["skill"]["path"].rpartition("/")[2]: layer
        for result in results
        for layer in result["layers"]
        if layer["name"] == "judge"
    }


def write_skill(folder: Path, name: str, *, description: str = "", body: str = "", **files: str) -> Path:
    """Write a skill of a few sections; ``files`` by path, with ``__`` for ``/`` and ``_md`` for ``.md``."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    told = (
        description or f"Turns {name.replace('-', ' ')} into a report. Use when {name.replace('-', ' ')} arrive late."
    )
    text = body or f"# {name}\n\n## Steps\n\n{_PROSE}\n## Output\n\nA table of {name}.\n"
    (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {told}\n---\n\n{text}")
    for path, content in files.items():
        where = place / path.replace("__", "/").replace("_md", ".md")
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(content)
    return place


_PROSE = """\
Read the header of every file first, because it decides which columns can be joined.
Sort the rows by date, and keep the newest one where two of them share a key.
Write down what was dropped and why, so that the owner of the data can check it.
Ask before a column is renamed, since other people rely on the names that they know.

```python
print("joined")
```
"""
