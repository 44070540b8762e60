"""`init` writes what is missing, overwrites nothing, and what it writes is a valid configuration."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from skillgate import settings
from skillgate.cli.commands.init import FILES, place, workflow
from skillgate.cli.main import main
from skillgate.config import load
from skillgate.settings import SETTINGS


def run(*argv: str, cwd: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(["init", *argv], stdout=out, stderr=err, environ={}, cwd=str(cwd)), out.getvalue(), err.getvalue()


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_it_writes_the_configuration_and_three_folders(tmp_path: Path) -> None:
    code, out, err = run(cwd=tmp_path)
    assert (code, err) == (0, "")
    assert files(tmp_path) == [".skillgate.yaml", "benchmarks/README.md", "reports/README.md", "skills/README.md"]
    assert out.splitlines() == [
        f"wrote {name}" for name in (".skillgate.yaml", *(files(tmp_path)[i] for i in (3, 1, 2)))
    ]


def test_minimal_writes_the_configuration_alone(tmp_path: Path) -> None:
    assert run("--minimal", "--dir", "new/place", cwd=tmp_path)[0] == 0
    assert files(tmp_path) == ["new/place/.skillgate.yaml"]


def test_what_it_writes_loads_as_it_stands_and_with_every_line_uncommented(tmp_path: Path) -> None:
    run("--minimal", cwd=tmp_path)
    path = tmp_path / ".skillgate.yaml"
    assert load(explicit=str(path), cwd=str(tmp_path), environ={}).get(settings.THRESHOLD) is None
    path.write_text(re.sub(r"^# (?=[a-z0-9-]+:( |$)|  )", "", path.read_text(), flags=re.MULTILINE))
    config = load(explicit=str(path), cwd=str(tmp_path), environ={})
    for setting in SETTINGS:
        assert (config.origin(setting) == "default") is setting.personal
    assert len([layer for layer in config.layers if layer.patterns]) == 1


def test_nothing_is_overwritten_and_what_was_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / ".skillgate.yaml").write_text("threshold: 1\n")
    (tmp_path / "skills").mkdir()
    _, out, _ = run(cwd=tmp_path)
    assert (tmp_path / ".skillgate.yaml").read_text() == "threshold: 1\n"
    assert files(tmp_path) == [".skillgate.yaml", "benchmarks/README.md", "reports/README.md"]
    assert "left  .skillgate.yaml as it is\nleft  skills as it is\n" in out
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    _, out, _ = run("--json", cwd=tmp_path)
    assert json.loads(out) == {
        "dir": ".",
        "written": [],
        "kept": [".skillgate.yaml", "skills", "benchmarks", "reports"],
    }
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_a_table_in_pyproject_is_not_shadowed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.skillgate]\nthreshold = 3\n")
    _, out, _ = run("--minimal", cwd=tmp_path)
    assert files(tmp_path) == ["pyproject.toml"]
    assert out == "left  [tool.skillgate] in pyproject.toml; no .skillgate.yaml was written\n"


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_workflow_is_written_where_github_looks_for_it(name: str, tmp_path: Path) -> None:
    code, out, err = run("--minimal", "--workflow", name, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert files(tmp_path) == [".github/workflows/" + Path(place(name)).name, ".skillgate.yaml"]
    assert (tmp_path / place(name)).read_text(encoding="utf-8") == workflow(name)
    assert f"wrote {place(name)}\n" in out


def test_several_workflows_are_asked_for_one_by_one_and_none_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / place("fork")).parent.mkdir(parents=True)
    (tmp_path / place("fork")).write_text("mine\n")
    asked = [word for name in FILES for word in ("--workflow", name)]
    _, out, _ = run("--minimal", *asked, cwd=tmp_path)
    assert (tmp_path / place("fork")).read_text() == "mine\n"
    assert f"left  {place('fork')} as it is" in out
    assert {place(name) for name in FILES} <= set(files(tmp_path))
    _, out, _ = run("--minimal", "--json", *asked, cwd=tmp_path)
    assert json.loads(out)["kept"] == [".skillgate.yaml", *(place(name) for name in FILES)]


def test_the_second_half_asks_for_the_first(tmp_path: Path) -> None:
    _, out, _ = run("--minimal", "--workflow", "fork", cwd=tmp_path)
    assert "skillgate init --workflow pull-request" in out
    _, out, _ = run("--minimal", "--workflow", "fork", "--workflow", "pull-request", cwd=tmp_path)
    assert "then:" not in out


@pytest.mark.parametrize("argv", [("--workflow", "nightly"), ("--pre-commit",)])
def test_what_is_added_to_a_repository_lays_out_no_folders(argv: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    code, out, err = run(*argv, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert not [name for name in ("skills", "benchmarks", "reports") if name in out or (tmp_path / name).exists()]
    assert (tmp_path / ".skillgate.yaml").exists()


@pytest.mark.parametrize("argv", [("--workflow", "nightly"), ("--pre-commit",)])
def test_in_an_empty_repository_the_folders_are_laid_out_too(argv: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "cloned/.git").mkdir(parents=True)
    for folder in ("cloned", "new"):
        assert run(*argv, "--dir", folder, cwd=tmp_path)[0] == 0
        assert {"skills/README.md", "benchmarks/README.md", "reports/README.md"} <= set(files(tmp_path / folder))


@pytest.mark.parametrize(("cwd", "folder", "top"), [("plugins/a b", ".", "../.."), (".", "plugins", ".")])
def test_below_a_repositorys_top_a_workflow_is_refused_with_the_command_that_writes_it(
    cwd: str, folder: str, top: str, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "plugins/a b").mkdir(parents=True)
    code, out, err = run("--workflow", "fork", "--dir", folder, cwd=tmp_path / cwd)
    assert (code, out, files(tmp_path)) == (2, "", [])
    assert f"To write them there: skillgate init --dir {top} --workflow fork\n" in err
    assert run("--dir", top, "--workflow", "fork", cwd=tmp_path / cwd)[0] == 0
    assert (tmp_path / place("fork")).exists()
    assert run("--dir", folder, cwd=tmp_path / cwd)[0] == 0


def test_a_workflow_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    code, _, err = run("--workflow", "weekly", cwd=tmp_path)
    assert (code, files(tmp_path)) == (2, [])
    assert "weekly" in err


@pytest.mark.parametrize("argv", [("corpus",), ("--minimal", "corpus", "more")])
def test_a_path_is_refused_with_the_command_that_takes_one(argv: tuple[str, ...], tmp_path: Path) -> None:
    code, out, err = run(*argv, cwd=tmp_path)
    assert (code, out, files(tmp_path)) == (2, "", [])
    assert "to index a corpus run skillgate corpus build corpus" in err


def test_a_place_that_cannot_be_written_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = run("--dir", "file", cwd=tmp_path)
    assert code == 2
    assert err.startswith("skillgate: error: cannot write ")


def test_what_eval_skills_was_configured_with_is_carried_over(tmp_path: Path) -> None:
    (tmp_path / "eval-skills.config.yaml").write_text(
        "concurrency: 2\noutputDir: './on: #1'\ndefaultFormats: [json, md]\nplugins: [x]\n"
        "llm:\n  model: gpt-4o\n  baseUrl: https://a.example\n"
    )
    before = load(explicit=None, cwd=str(tmp_path), environ={})
    code, _, err = run("--minimal", cwd=tmp_path)
    assert code == 0
    assert "copied to .skillgate.yaml" in err
    assert "plugins has no equivalent" in err
    assert "llm.baseUrl is ignored" in err
    after = load(explicit=None, cwd=str(tmp_path), environ={})
    assert after.notices == ()
    assert after.get(settings.CONCURRENCY) == 2
    assert [after.get(one) for one in SETTINGS] == [before.get(one) for one in SETTINGS]


def test_the_scaffold_of_the_seed_is_laid_out_where_it_is_asked_for(tmp_path: Path) -> None:
    code, _, _ = run("--dir", ".", cwd=tmp_path)
    assert code == 0
    assert {path.name for path in tmp_path.iterdir()} == {".skillgate.yaml", "skills", "benchmarks", "reports"}


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("./plugins", "--corpus-dir", "X"), "skillgate corpus build ./plugins --corpus-dir X"),
        (("--corpus-dir=X", "./plugins"), "skillgate corpus build ./plugins --corpus-dir X"),
        (("a b", "--corpus-dir", "x;y"), "skillgate corpus build 'a b' --corpus-dir 'x;y'"),
        (("--corpus-dir", "X"), "skillgate corpus build . --corpus-dir X"),
    ],
)
def test_indexing_a_corpus_with_init_is_answered_with_the_command_that_does_it(
    words: tuple[str, ...], command: str, tmp_path: Path
) -> None:
    code, out, err = run(*words, cwd=tmp_path)
    assert (code, out, files(tmp_path)) == (2, "", [])
    assert err.splitlines()[0].endswith(f"to index a corpus run {command}")
