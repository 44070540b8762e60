"""The container runs its own code, whatever the workspace and the step's environment hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.container.pull_request import BROKEN, Change, skill
from tests.container.runner import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from tests.container.engine import Engine

MARK = "taken-over"  # what code of the workspace leaves behind where it runs, seen or unseen
TAKEN_OVER = f"open('/github/workspace/{MARK}', 'w').close()\nraise SystemExit(0)\n"
SHELL = f"#!/bin/sh\n: > /github/workspace/{MARK}\nexit 0\n"
PROGRAMS = ("git", "python", "python3", "sh", "skillgate")
# Whatever a Python that looks into its working directory, or into PYTHONPATH, would import in place of ours.
MODULES = ("yaml", "skillgate/__init__", "skillgate/__main__", "sitecustomize", "usercustomize", "json", "github")
# The layout of a bare repository, whose configuration names a program to run when git looks into it.
BARE = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = /github/workspace/bin/git\n",
    "objects/info/packs": "\n",
    "refs/heads/.keep": "x\n",
}


@pytest.fixture
def runner(engine: Engine, image: str, tmp_path: Path) -> Runner:
    return Runner(engine=engine, image=image, folder=tmp_path)


def hostile() -> dict[str, str]:
    """Give a workspace's files that try to be run."""
    modules = {f"{name}.py": TAKEN_OVER for name in MODULES}
    programs = {f"bin/{name}": SHELL for name in PROGRAMS}
    return {**skill("tidy", BROKEN), **modules, **programs, "git": SHELL, "sh": SHELL}


def executable(*folders: Path) -> None:
    for path in (path for folder in folders for path in folder.iterdir() if path.is_file()):
        path.chmod(0o755)


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"PATH": "/github/workspace/bin:/github/workspace"},
        {"PATH": "."},
        {"PATH": "/nowhere"},
        {"PYTHONPATH": "/github/workspace", "PYTHONSTARTUP": "/github/workspace/yaml.py"},
        {"PYTHONHOME": "/github/workspace", "PYTHONINSPECT": "1"},
        {"BASH_ENV": "/github/workspace/bin/sh", "ENV": "/github/workspace/bin/sh"},
    ],
    ids=lambda env: " ".join(env) or "none",
)
def test_code_of_the_workspace_never_runs(runner: Runner, env: dict[str, str]) -> None:
    change = Change(runner.workspace, skill("tidy"), hostile())
    executable(runner.workspace, runner.workspace / "bin")
    step = runner.run("pull_request", change.payload(), env=env, inputs={"comment": "never"}, network="none")
    assert not (runner.workspace / MARK).exists()
    assert step.code == 1, step.said
    assert "ORPHAN_REFERENCE" in step.said
    assert step.outputs["baseline-rev"] == change.base


def test_a_directory_laid_out_as_a_repository_is_not_taken_for_one(runner: Runner, engine: Engine, image: str) -> None:
    planted = {f"skills/tidy/{name}": text for name, text in BARE.items()}
    change = Change(runner.workspace, skill("tidy"), {**skill("tidy", BROKEN), **planted, "bin/git": SHELL})
    executable(runner.workspace / "bin")
    step = runner.run("pull_request", change.payload(), inputs={"comment": "never"}, network="none")
    assert not (runner.workspace / MARK).exists()
    assert (step.code, step.outputs["baseline-rev"]) == (1, change.base), step.said

    place = ("--volume", f"{runner.workspace}:/github/workspace", "--workdir", "/github/workspace/skills/tidy")
    git = ("run", "--rm", *place, "--entrypoint", "git", image)
    assert "safe.bareRepository" in engine.docker(*git, "rev-parse", "--git-dir").err
    asked = engine.docker(*git, "-c", "safe.bareRepository=all", "rev-parse", "--git-dir")
    assert asked.out.strip() == ".", "without the image's setting it is one"


def test_without_a_network_it_scores_and_leaves_nothing_behind(runner: Runner) -> None:
    Change(runner.workspace, {"README.md": "x"}, skill("tidy"))
    before = sorted(runner.workspace.rglob("*"))
    step = runner.run(args=("score", "skills", "--threshold", "1"), network="none")
    assert step.code == 0, step.said
    assert (step.root_owned, step.refused) == ((), "")
    assert sorted(runner.workspace.rglob("*")) == before


def test_what_the_command_line_ends_with_is_what_the_container_ends_with(runner: Runner) -> None:
    Change(runner.workspace, {"README.md": "x"}, skill("tidy"))
    assert runner.run(args=("score", "skills", "--threshold", "100")).code == 1
    assert runner.run(args=("score", "nowhere")).code == 2
    assert runner.run(args=("score", "skills", "--depth", "deep")).code == 3
