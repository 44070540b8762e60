"""`init` writes what is missing, overwrites nothing, and what it writes is a valid configuration."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from skillgate import homepage, settings
from skillgate.cli.commands.init import FILES, place, workflow
from skillgate.cli.main import main
from skillgate.config import load
from skillgate.report.schema import config_schema
from skillgate.settings import SETTINGS
from tests.cli import running
from tests.skills import BODY, DESCRIPTION, write_skill


def run(*argv: str, cwd: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(["init", *argv], stdout=out, stderr=err, environ={}, cwd=str(cwd)), out.getvalue(), err.getvalue()


def paste(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of a line that begins with ``next: ``, in a shell."""
    scripts = Path(sys.executable).parent
    environ = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "HOME": str(cwd)}
    command = line.removeprefix("next: ")
    assert command != line
    return subprocess.run(
        ["sh", "-c", command], cwd=cwd, env=environ, capture_output=True, check=False, encoding="utf-8"
    )


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_in_an_empty_directory_it_writes_the_configuration_alone(tmp_path: Path) -> None:
    code, out, err = run(cwd=tmp_path)
    assert (code, err, files(tmp_path)) == (0, "", [".skillgate.yaml"])
    *said, last = out.splitlines()
    assert said == ["found no skill", "wrote .skillgate.yaml"]
    assert paste(last, tmp_path).returncode == 0
    _, out, _ = run(cwd=tmp_path)
    assert out.startswith("found 1 skill: 1 in skills\nleft  .skillgate.yaml as it is\nnext: ")
    assert paste(out.splitlines()[-1], tmp_path).stdout.count("my-skill") > 0


def test_directories_are_written_on_request(tmp_path: Path) -> None:
    code, out, _ = run("--folders", cwd=tmp_path)
    assert code == 0
    assert files(tmp_path) == [".skillgate.yaml", "benchmarks/README.md", "reports/README.md", "skills/README.md"]
    for name in files(tmp_path):
        assert f"wrote {name}\n" in out


@pytest.mark.parametrize(
    ("paths", "said", "profile"),
    [
        ([".claude/skills/a", ".claude/skills/b"], "2 skills: 2 in .claude/skills", "claude-code"),
        (["skills/a"], "1 skill: 1 in skills", "any"),
        ([".github/skills/a"], "1 skill: 1 in .github/skills", "any"),
        ([".agents/skills/a"], "1 skill: 1 in .agents/skills", "codex"),
        ([".agents/skills/a", ".claude/skills/a"], "2 skills: 1 in .agents/skills, 1 in .claude/skills", "any"),
        ([f"plugins/{name}/skills/x" for name in "abcde"], "5 skills: 1 in plugins/a/skills, ", "any"),
        (["."], "1 skill: 1 in .", "any"),
    ],
)
def test_it_says_what_is_there_and_how_to_score_it(paths: list[str], said: str, profile: str, tmp_path: Path) -> None:
    running.git(tmp_path, "init", "-q")
    for path in paths:
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        text = f"---\nname: {path[-1]}\ndescription: {DESCRIPTION}\n---\n{BODY}"
        (tmp_path / path / "SKILL.md").write_text(text, encoding="utf-8")
    _, out, _ = run(cwd=tmp_path)
    assert out.startswith(f"found {said}")
    assert (", 1 in plugins/c/skills and 2 more places\n" in out) is (len(paths) == 5)
    assert f"\n# profile: {profile}\n" in (tmp_path / ".skillgate.yaml").read_text()
    done = paste(out.splitlines()[-1], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_scores_are_those_without_the_configuration(tmp_path: Path) -> None:
    write_skill(tmp_path / ".claude/skills/a", body="# Title\n\nSee [a](gone.md).\n")
    before = running.run(tmp_path, "score", "--json").json
    run(cwd=tmp_path)
    after = running.run(tmp_path, "score", "--json").json
    assert {**after, "config_digest": ""} == {**before, "config_digest": ""}


def test_it_writes_to_another_directory(tmp_path: Path) -> None:
    code, out, _ = run("--dir", "new/a place", cwd=tmp_path)
    assert (code, files(tmp_path)) == (0, ["new/a place/.skillgate.yaml"])
    assert "\nnext: cd 'new/a place' && " in out
    assert paste(out.splitlines()[-1], tmp_path).returncode == 0
    assert (tmp_path / "new/a place/skills/my-skill/SKILL.md").exists()


def test_what_it_writes_is_short_and_valid_also_with_every_line_uncommented(tmp_path: Path) -> None:
    run(cwd=tmp_path)
    path = tmp_path / ".skillgate.yaml"
    assert len(path.read_text().splitlines()) <= 30
    assert max(map(len, path.read_text().splitlines())) <= 120
    assert load(explicit=str(path), cwd=str(tmp_path), environ={}).get(settings.THRESHOLD) is None
    path.write_text(re.sub(r"^# (?!yaml-)(?=[a-z0-9-]+:( |$)|  )", "", path.read_text(), flags=re.MULTILINE))
    config = load(explicit=str(path), cwd=str(tmp_path), environ={})
    assert {config.origin(setting) for setting in (settings.DEPTH, settings.THRESHOLD, settings.EXCLUDE)} != {"default"}
    assert len([layer for layer in config.layers if layer.patterns]) == 1
    jsonschema.validate(yaml.safe_load(path.read_text()), config_schema())


@pytest.mark.parametrize("address", ["", "https://github.com/acme/gate"])
def test_the_schema_for_editors_is_one_that_exists(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(homepage._STATE, "address", homepage.Address(address, "v1" if address else ""))
    run(cwd=tmp_path)
    text = (tmp_path / ".skillgate.yaml").read_text()
    if address:
        schema = "https://github.com/acme/gate/raw/v1/docs/schemas/config.schema.json"
        assert text.startswith(f"# yaml-language-server: $schema={schema}\n")
        assert (Path(__file__).parents[2] / "docs/schemas/config.schema.json").is_file()
        return
    assert "http" not in text
    command = re.findall(r"`(skillgate schema [^`]*)`", text)[0]
    assert paste(f"next: {command}", tmp_path).returncode == 0
    (name,) = re.findall(r"\$schema=([^\"]+)", text)
    assert json.loads((tmp_path / name).read_text()) == config_schema()


def test_nothing_is_overwritten_and_what_was_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / ".skillgate.yaml").write_text("threshold: 1\n")
    (tmp_path / "skills").mkdir()
    _, out, _ = run("--folders", cwd=tmp_path)
    assert (tmp_path / ".skillgate.yaml").read_text() == "threshold: 1\n"
    assert files(tmp_path) == [".skillgate.yaml", "benchmarks/README.md", "reports/README.md"]
    assert "left  .skillgate.yaml as it is\nleft  skills as it is\n" in out
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    _, out, _ = run("--folders", "--json", cwd=tmp_path)
    document = json.loads(out)
    assert document.pop("next")
    kept = [".skillgate.yaml", "skills", "benchmarks", "reports"]
    assert document == {"dir": ".", "skills": [], "written": [], "kept": kept}
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b".skillgate/\n/reports/eval-result*\n"),
        (b"*.log", b"*.log\n.skillgate/\n/reports/eval-result*\n"),
        (b"a\r\n\xff", b"a\r\n\xff\r\n.skillgate/\r\n/reports/eval-result*\r\n"),
        (b"/.skillgate\nb\n", b"/.skillgate\nb\n/reports/eval-result*\n"),
        (b"reports/eval-result*\n.skillgate", b"reports/eval-result*\n.skillgate"),
    ],
)
def test_git_ignores_what_runs_write(before: bytes | None, after: bytes, tmp_path: Path) -> None:
    running.git(tmp_path, "init", "-q")
    path = tmp_path / ".gitignore"
    if before is not None:
        path.write_bytes(before)
        path.chmod(0o640)
    _, out, _ = run(cwd=tmp_path)
    assert path.read_bytes() == after
    assert ("to .gitignore\n" in out) is (before != after)
    assert before is None or path.stat().st_mode & 0o777 == 0o640
    assert running.git(tmp_path, "check-ignore", ".skillgate/store.db", "reports/eval-result-1.json").count("\n") == 1
    _, out, _ = run(cwd=tmp_path)
    assert ".gitignore" not in out
    assert path.read_bytes() == after


def test_a_linked_gitignore_is_left_alone(tmp_path: Path) -> None:
    running.git(tmp_path, "init", "-q")
    (tmp_path / "mine").write_text("x\n")
    (tmp_path / ".gitignore").symlink_to("mine")
    code, _, err = run(cwd=tmp_path)
    assert (code, (tmp_path / "mine").read_text()) == (0, "x\n")
    assert ".gitignore is a symbolic link and was left as it is; ignore .skillgate/ and" in err


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    running.git(tmp_path, "init", "-q")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".github").symlink_to("elsewhere")
    code, _, err = run("--workflow", "nightly", cwd=tmp_path)
    assert (code, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert ".github is a symbolic link" in err


def test_the_hooks_name_the_variant_for_what_got_worse(tmp_path: Path) -> None:
    _, out, _ = run("--pre-commit", cwd=tmp_path)
    text = (tmp_path / ".pre-commit-config.yaml").read_text()
    assert "\n        # args: [--baseline, HEAD]  # also stops a skill that got worse\n" in text
    (hook,) = yaml.safe_load(text.replace("# args:", "args:"))["repos"][0]["hooks"]
    assert hook == {"id": "skillgate", "args": ["--baseline", "HEAD"]}
    _, out, _ = run("--pre-commit", cwd=tmp_path)
    assert "to use the hooks" not in out
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n")
    _, out, _ = run("--pre-commit", cwd=tmp_path)
    assert "to use the hooks, add to .pre-commit-config.yaml:\n\n  - repo: " in out


def test_a_table_in_pyproject_is_not_shadowed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.skillgate]\nthreshold = 3\n")
    _, out, _ = run(cwd=tmp_path)
    assert files(tmp_path) == ["pyproject.toml"]
    assert "\nleft  [tool.skillgate] in pyproject.toml; no .skillgate.yaml was written\n" in out


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_workflow_is_written_where_github_looks_for_it(name: str, tmp_path: Path) -> None:
    code, out, err = run("--workflow", name, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert files(tmp_path) == [".github/workflows/" + Path(place(name)).name, ".skillgate.yaml"]
    assert (tmp_path / place(name)).read_text(encoding="utf-8") == workflow(name)
    assert f"wrote {place(name)}\n" in out


def test_several_workflows_are_asked_for_one_by_one_and_none_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / place("fork")).parent.mkdir(parents=True)
    (tmp_path / place("fork")).write_text("mine\n")
    asked = [word for name in FILES for word in ("--workflow", name)]
    _, out, _ = run(*asked, cwd=tmp_path)
    assert (tmp_path / place("fork")).read_text() == "mine\n"
    assert f"left  {place('fork')} as it is" in out
    assert {place(name) for name in FILES} <= set(files(tmp_path))
    _, out, _ = run("--json", *asked, cwd=tmp_path)
    assert json.loads(out)["kept"] == [".skillgate.yaml", *(place(name) for name in FILES)]


def test_the_second_half_asks_for_the_first(tmp_path: Path) -> None:
    _, out, _ = run("--workflow", "fork", cwd=tmp_path)
    assert out.splitlines()[-1].endswith(" init --workflow pull-request")
    assert paste(out.splitlines()[-1], tmp_path).returncode == 0
    _, out, _ = run("--workflow", "fork", cwd=tmp_path)
    assert "--workflow" not in out


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


@pytest.mark.parametrize("argv", [("corpus",), ("corpus", "more")])
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
    code, _, err = run(cwd=tmp_path)
    assert code == 0
    assert "copied to .skillgate.yaml" in err
    assert "plugins has no equivalent" in err
    assert "llm.baseUrl is ignored" in err
    after = load(explicit=None, cwd=str(tmp_path), environ={})
    assert after.notices == ()
    assert after.get(settings.CONCURRENCY) == 2
    assert [after.get(one) for one in SETTINGS] == [before.get(one) for one in SETTINGS]


def test_the_scaffold_of_the_seed_is_laid_out_where_it_is_asked_for(tmp_path: Path) -> None:
    code, _, _ = run("--dir", ".", "--folders", cwd=tmp_path)
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
