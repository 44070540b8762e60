"""The hooks, run by pre-commit and by prek on real repositories, without a network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hooks.workshop import BAD, GOOD, PROJECT, RUNNERS, Workshop, can_unshare, has_wheels, tool, write

pytestmark = [
    pytest.mark.skipif(tool("pre-commit") is None, reason="pre-commit is not installed"),
    pytest.mark.skipif(
        not has_wheels(), reason="hatchling is not installed, and SKILLGATE_WHEELHOUSE names no folder of wheels"
    ),
]
needs_namespace = pytest.mark.skipif(not can_unshare(), reason="no network namespace can be made here")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("hooks") / "shop")


@pytest.fixture(params=RUNNERS)
def runner(request: pytest.FixtureRequest) -> str:
    found = tool(request.param)
    if found is None or (request.param == "prek" and tool("uv") is None):
        pytest.skip("prek and uv are not installed")
    return found


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return re.sub(r"\W+", "-", request.node.name)


def test_both_runners_take_the_manifest(runner: str, shop: Workshop) -> None:
    done = shop.run(runner, "validate-manifest", str(PROJECT / ".pre-commit-hooks.yaml"), cwd=shop.folder)
    assert done.code == 0, done.said


def test_the_project_passes_its_own_hooks(runner: str, shop: Workshop) -> None:
    done = shop.run(runner, "run", "--all-files", "--color", "never", cwd=shop.hooks)
    assert done.code == 0, done.said
    assert done.said.count("Passed") == 3


def test_try_repo_passes_and_fails_as_it_should(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name)
    write(folder, "skills/good")
    shop.git("add", "-A", cwd=folder)
    asked = [runner, "try-repo", str(shop.hooks), "skillgate", "--all-files"]
    done = shop.run(*asked, cwd=folder)
    assert done.code == 0, done.said
    write(folder, "skills/bad", BAD)
    shop.git("add", "-A", cwd=folder)
    done = shop.run(*asked, cwd=folder)
    assert done.code == 1, done.said
    assert "skills/bad/SKILL.md:10:17: error ORPHAN_REFERENCE references/kinds.md does not exist" in done.said


@needs_namespace
def test_it_installs_and_runs_without_any_network(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate", "skillgate-all")
    write(folder, "skills/good")
    write(folder, ".claude/skills/hidden", BAD)
    done = shop.all_files(runner, folder, offline=True)
    assert done.code == 1, done.said
    assert ".claude/skills/hidden/SKILL.md:10:17: error ORPHAN_REFERENCE" in done.said
    assert "skills/good/SKILL.md" not in done.said


def test_names_of_all_kinds_are_found_once(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate")
    for place in ("skills/with blank", "skills/größe", "plugins/a/skills/文档", ".agents/skills/deep"):
        write(folder, place, BAD)
    (folder / "skills/lower").mkdir()
    (folder / "skills/lower/skill.md").write_text(GOOD.format(name="lower"), encoding="utf-8")
    (folder / "mirror").symlink_to("skills", target_is_directory=True)
    (folder / "skills/marketing-skill.md").write_text("# Not a skill\n", encoding="utf-8")
    done = shop.all_files(runner, folder)
    assert done.code == 1, done.said
    assert done.said.count("ORPHAN_REFERENCE references/kinds.md") == 4
    assert "skills/größe/SKILL.md:10:17: error" in done.said
    assert "skills/with blank/SKILL.md:10:17: error" in done.said
    assert "skills/lower/skill.md:1:1: " in done.said
    assert "mirror" not in done.said
    assert "of 5 skills" in done.said


def test_a_commit_is_blocked_and_told_what_to_do(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate")
    installed = shop.run(runner, "install", cwd=folder)
    assert installed.code == 0, installed.said
    write(folder, "skills/tidy", BAD)
    shop.git("add", "-A", cwd=folder)
    done = shop.run("git", "commit", "-m", "Add a skill", cwd=folder)
    assert done.code == 1, done.said
    assert "skills/tidy/SKILL.md:10:17: error ORPHAN_REFERENCE references/kinds.md does not exist" in done.said
    assert "    fix: create the file, or remove the link" in done.said
    assert "    why: A model that follows the link gets an error instead of the detail" in done.said
    assert "skillgate explain" not in done.said  # a program that is in the hook's environment alone
    verdict = r"1 error in 1 of 1 skill\. Score [\d.]+ \(.*\)\. Fix these findings to reach about \d+\."
    assert re.search(verdict, done.said)
    write(folder, "skills/tidy", BAD, references__kinds="# Kinds\n\nText.\n")
    shop.git("add", "-A", cwd=folder)
    done = shop.run("git", "commit", "-m", "Add a skill", cwd=folder)
    assert done.code == 0, done.said


@pytest.mark.parametrize(("args", "stopped"), [("", False), ("        args: [--baseline, HEAD]\n", True)])
def test_a_skill_that_got_worse_is_stopped_by_the_variant_with_a_baseline(
    args: str, stopped: bool, runner: str, shop: Workshop, name: str
) -> None:
    folder = shop.repository(name, "skillgate", args=args)
    assert shop.run(runner, "install", cwd=folder).code == 0
    skill = write(folder, "skills/tidy") / "SKILL.md"
    shop.git("add", "-A", cwd=folder)
    assert shop.run("git", "commit", "-m", "Add a skill", cwd=folder).code == 0
    text = re.sub(r"^description: .*$", "description: Stuff.", skill.read_text(encoding="utf-8"), flags=re.MULTILINE)
    skill.write_text(text, encoding="utf-8")
    shop.git("add", "-A", cwd=folder)
    done = shop.run("git", "commit", "-m", "Cut the description", cwd=folder)
    assert done.code == (1 if stopped else 0), done.said
    assert bool(re.search(r"gate failed: skills/tidy: .*(dropped|lost)", done.said)) is stopped, done.said


def test_what_a_commit_deletes_or_renames_is_noticed_by_the_hook_for_all(
    runner: str, shop: Workshop, name: str
) -> None:
    folder = shop.repository(name, "skillgate", "skillgate-all")
    assert shop.run(runner, "install", cwd=folder).code == 0
    write(folder, "skills/tidy", GOOD + "\nSee [sort](../sort/SKILL.md).\n")
    write(folder, "skills/sort")
    write(folder, "skills/gone")
    shop.git("add", "-A", cwd=folder)
    assert shop.run("git", "commit", "-m", "Skills", cwd=folder).code == 0
    shop.git("rm", "-qr", "skills/gone", cwd=folder)
    assert shop.run("git", "commit", "-m", "Nobody misses it", cwd=folder).code == 0
    shop.git("mv", "skills/sort", "skills/order", cwd=folder)
    done = shop.run("git", "commit", "-m", "Rename", cwd=folder)
    assert done.code == 1, done.said
    assert "skills/tidy/SKILL.md:10:12: error DEAD_CROSS_REF" in done.said
    assert "skills/order/SKILL.md:2:1: warning NAME_MISMATCH" in done.said


def test_a_changed_reference_gates_its_skill(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate-skill")
    assert shop.run(runner, "install", cwd=folder).code == 0
    write(folder, "skills/tidy", references__kinds="# Kinds\n\nSee [more](more.md).\n")
    (folder / "README.md").write_text("# Skills\n", encoding="utf-8")
    shop.git("add", "README.md", cwd=folder)
    assert shop.run("git", "commit", "-m", "No skill", cwd=folder).code == 0
    shop.git("add", "skills/tidy/references", cwd=folder)
    done = shop.run("git", "commit", "-m", "Kinds", cwd=folder)
    assert done.code == 1, done.said
    assert "skills/tidy/references/kinds.md:3:12: error BROKEN_LINK" in done.said


def test_a_wrong_configuration_is_refused(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate-config")
    (folder / ".skillgate.yaml").write_text("treshold: 70\n", encoding="utf-8")
    done = shop.all_files(runner, folder)
    assert done.code == 1, done.said
    assert ".skillgate.yaml:1: unknown key 'treshold' (did you mean 'threshold'?)" in done.said
    (folder / ".skillgate.yaml").write_text("threshold: 70\nignore: [MISSING_TOC]\n", encoding="utf-8")
    done = shop.all_files(runner, folder)
    assert done.code == 0, done.said


def test_a_broken_benchmark_is_refused(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate-benchmarks")
    place = folder / "benchmarks" / "own.json"
    place.parent.mkdir()
    task = '{"id": "a", "inputData": {}, "expectedOutput": {"type": "contains"}}'
    place.write_text(f'{{"id": "own", "name": "Own", "version": "1.0.0", "tasks": [{task}]}}\n', encoding="utf-8")
    done = shop.all_files(runner, folder)
    assert done.code == 1, done.said
    assert "benchmarks/own.json: tasks[0].expectedOutput.keywords: required by scorer contains" in done.said
    place.write_text(place.read_text(encoding="utf-8").replace('"contains"', '"exact", "value": 1'), encoding="utf-8")
    done = shop.all_files(runner, folder)
    assert done.code == 0, done.said


def test_a_file_that_is_called_like_an_option_gives_none(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate-skill")
    write(folder, "skills/tidy", BAD)
    (folder / "easy.yaml").write_text("fail-on: never\n", encoding="utf-8")
    (folder / "--config=easy.yaml").write_text("", encoding="utf-8")
    done = shop.all_files(runner, folder)
    assert done.code == 1, done.said
    assert "is both an option and a file here" in done.said


def test_the_readme_and_init_name_this_version() -> None:
    from skillgate import __version__

    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"rev: v(\S+)", readme) == [__version__]


def test_arguments_reach_the_check(runner: str, shop: Workshop, name: str) -> None:
    folder = shop.repository(name, "skillgate", args="        args: [--threshold, '100']\n")
    write(folder, "skills/good")
    done = shop.all_files(runner, folder)
    assert done.code == 1, done.said
    assert "is below 100" in done.said


def test_the_environment_of_a_hook_is_small(shop: Workshop) -> None:
    environments = list(Path(shop.folder / "pre-commit home").glob("repo*/py_env-*"))
    assert environments
    for environment in environments:
        size = sum(path.stat().st_size for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
        assert size < 40_000_000
