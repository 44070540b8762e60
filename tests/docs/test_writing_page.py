"""The walk from `create` to a gated pull request runs as printed, in its order and with its exit codes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgate.registry import STARTERS
from tests.action.pull_request import PullRequest
from tests.architecture.source import ROOT
from tests.bench.made import run

PAGE = (ROOT / "docs" / "how-to" / "writing-skills-that-run.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"(?:^In\s+`([^`]+)`:\n\n|In\s+`([^`]+)`:\n\n)?```(\w+)\n(.*?)```", PAGE, flags=re.DOTALL | re.MULTILINE
)
SKILL = "skills/order_total/skill.py"


class Walk:
    """Follows the page in a directory of its own.

    Attributes:
        said: what each command printed.
        good: the files as they were before the change that the page warns of.
    """

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.said: dict[str, str] = {}
        self.good: dict[str, str] = {}
        self.worse = ""
        for named, also, kind, text in BLOCKS:
            self._take(named or also, kind, text)

    def _take(self, name: str, kind: str, text: str) -> None:
        if kind == "sh":
            for line in text.splitlines():
                self._run(line)
        elif name:
            path = self.cwd / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif kind == "python":
            folders = ("skills/order_total", "benchmarks")
            paths = [path for folder in folders for path in (self.cwd / folder).rglob("*") if path.is_file()]
            self.good = {path.relative_to(self.cwd).as_posix(): path.read_text(encoding="utf-8") for path in paths}
            function = r"def answer\(params\):\n(?:    .*\n)+"
            self.worse, count = re.subn(function, text.replace("\\", r"\\"), self.good[SKILL])
            assert count == 1
            (self.cwd / SKILL).write_text(self.worse, encoding="utf-8")

    def _run(self, line: str) -> None:
        command, _, told = line.partition("   # exit ")
        done = run(self.cwd, *shlex.split(command)[1:])
        assert done.code == int(told or 0), (line, done.out, done.err)
        self.said[line] = done.out


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    pytest.importorskip("numpy", reason="numpy is not installed")
    pytest.importorskip("scipy", reason="scipy is not installed")
    return Walk(tmp_path_factory.mktemp("walk"))


def test_every_command_of_the_walk_ends_as_the_page_says(walk: Walk) -> None:
    assert len(walk.said) == 14
    (gate,) = (said for line, said in walk.said.items() if "--fail-on-regression" in line)
    assert "half_a_cent" in gate
    diff = (walk.cwd / "reports" / "diff.md").read_text(encoding="utf-8")
    assert "before" in diff
    assert "after" in diff
    assert r"half\_a\_cent" in diff


def test_the_pull_request_that_the_page_warns_of_is_stopped_and_a_harmless_one_is_not(
    walk: Walk, tmp_path: Path
) -> None:
    (workflow,) = (yaml.safe_load(text) for _, _, kind, text in BLOCKS if kind == "yaml")
    (step,) = (one for one in workflow["jobs"]["skills"]["steps"] if "skillgate" in one["uses"])
    inputs = {name.replace("-", "_"): value for name, value in step["with"].items()}
    for name, change, code in (("worse", walk.worse, 1), ("same", walk.good[SKILL] + "# as before\n", 0)):
        repository = PullRequest(folder=tmp_path / name)
        repository.base(walk.good)
        repository.change({SKILL: change})
        ran = repository.run(**inputs)
        assert ran.code == code, (ran.err, ran.log)
        assert ran.outputs["broken-tasks"] == ("2" if code else "0")
        assert ("half_a_cent" in ran.summary) is bool(code)


def test_the_page_has_a_row_for_each_template() -> None:
    assert sorted(re.findall(r"^\| `([a-z_]+)`", PAGE, flags=re.MULTILINE)) == list(STARTERS.names())


def test_the_commands_for_an_api_make_skills(tmp_path: Path) -> None:
    order: dict[str, Any] = {"responses": {"200": {"description": "an order"}}}
    path = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Orders", "version": "1.0.0"},
        "servers": [{"url": "https://api.example.org"}],
        "paths": {
            "/orders/{id}": {"get": {"operationId": "getOrder", "parameters": path, **order}},
            "/orders": {"post": order},
        },
    }
    (tmp_path / "api.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    (lines,) = (text for _, _, kind, text in BLOCKS if kind == "text")
    for line in lines.splitlines():
        done = run(tmp_path, *shlex.split(line)[1:])
        assert done.code == 0, done.err
    assert run(tmp_path, "bench", "validate", "skills").code == 0
