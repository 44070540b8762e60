"""Expected answers: where runs keep them, and that programs of skills see none of them where that can be had.

The table of the page about isolation is checked with a hostile program; here are the cases that it does not have.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.isolation import sandbox
from skillgate.bench.isolation.sandbox import answers_of
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Limits
from tests.bench.made import answering, benchmark, run, skill, task
from tests.bench.rights import without_mounting
from tests.bench.test_sandbox import sandboxed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.running import Done

mounting = pytest.mark.skipif(not sandbox.can_mount(), reason="only root with the right to mount gives programs mounts")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root runs calls as other users"
)
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
CHEATS = answering("next((t['expectedOutput']['value'] for t in json.load(open(data['key']))['tasks']), None)")
TRIES = f"""\
import json, sys
try:
{"".join(f"    {line}{chr(10)}" for line in CHEATS.splitlines())}\
except (OSError, ValueError):
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": "not found"}}))
"""


@pytest.fixture(params=["/var/tmp", "/tmp"])
def project(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A directory that every user can enter, in a shared directory that calls have of their own, or see as it is."""
    folder = Path(tempfile.mkdtemp(prefix="project-", dir=request.param))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def evaluated(project: Path, *words: str) -> Done:
    return run(project, "eval", "--skills", "s", "--no-store", "--json", *words, PATH=SYSTEM)


def cheating(project: Path, key: Path, *, config: dict[str, Any] | None = None, **changes: Any) -> Path:
    """A skill that answers what the file ``key`` expects."""
    root = skill(project / "s", TRIES, config=config, **changes)
    key.parent.mkdir(exist_ok=True, parents=True)
    return benchmark(
        key, task(inputData={"key": str(key)}, expectedOutput={"type": "exact", "value": 1234}), id=root.name
    )


def status(done: Done) -> str:
    assert done.code in (0, 3), done.err
    return str(done.json["reports"][0]["taskResults"][0]["status"])


CONFIGS: list[dict[str, Any]] = [{}, {"workDir": "copy"}]


@sandboxed
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("key", ["s/tests/basic.eval.json", "s/evals/e.json", "s/own.json", "b.json"])
def test_in_the_sandbox_a_skill_that_reads_the_answer_key_fails(
    project: Path, key: str, config: dict[str, Any]
) -> None:
    cheating(project, project / key, config=config)
    done = evaluated(project, "--benchmark", f"./{key}", "--sandbox", "bwrap")
    assert status(done) == "fail"
    assert done.json["run"]["answersReadable"] is False


@mounting
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("key", ["s/tests/basic.eval.json", "s/evals/e.json", "s/own.json", "b.json"])
def test_as_root_a_skill_that_reads_the_answer_key_fails(project: Path, key: str, config: dict[str, Any]) -> None:
    cheating(project, project / key, config=config)
    done = evaluated(project, "--benchmark", f"./{key}")
    assert status(done) == "fail"
    assert done.json["run"]["answersReadable"] is False


@as_root
def test_without_the_right_to_mount_the_report_says_that_it_could_be_read(project: Path) -> None:
    cheating(project, project / "b.json")
    done = without_mounting(lambda: evaluated(project, "--benchmark", "./b.json"))
    assert status(done) == "pass"
    assert done.json["run"]["answersReadable"] is True
    assert "the expected answers" not in done.json["run"]["isolated"]
    for form, file in (("markdown", "r.md"), ("html", "r.html"), ("text", "r.txt")):
        (project / "r.json").write_text(done.out, encoding="utf-8")
        made = run(project, "report", "convert", "r.json", "--format", form, "--output", file)
        text = (project / file).read_text(encoding="utf-8") if (project / file).is_file() else made.out
        assert "rograms could read the expected answers" in text, (form, made.err)


@as_root
def test_answers_that_only_root_can_read_are_not_readable_without_a_sandbox(project: Path) -> None:
    skill(project / "s", TRIES)
    closed = project / "closed"
    closed.mkdir(mode=0o700)
    benchmark(closed / "b.json", task(inputData={"key": str(closed / "b.json")}), metadata={})
    done = without_mounting(lambda: evaluated(project, "--benchmark", "./closed/b.json"))
    assert status(done) == "fail"


def test_of_a_server_at_an_address_the_report_does_not_say_what_it_can_read(project: Path) -> None:
    pytest.importorskip("mcp")
    skill(project / "s", adapterType="mcp", entrypoint="http://127.0.0.1:9/")
    benchmark(project / "b.json", task())
    assert evaluated(project, "--benchmark", "./b.json").json["run"]["answersReadable"] is None


def test_a_skill_without_a_program_has_nothing_to_read_them_with(project: Path) -> None:
    root = project / "s"
    root.mkdir()
    (root / "SKILL.md").write_text("---\nname: s\ndescription: Counts. Use it to count.\n---\nCount.\n")
    benchmark(project / "b.json", task())
    done = run(
        project, "eval", "--skills", "s/SKILL.md", "--benchmark", "./b.json", "--no-store", "--json", PATH=SYSTEM
    )
    assert done.json["run"]["answersReadable"] is None


@mounting
def test_a_program_in_tests_still_runs_and_sees_no_known_answers(project: Path) -> None:
    root = skill(project / "s", entrypoint="python3 tests/skill.py")
    (root / "tests").mkdir()
    (root / "tests/skill.py").write_text(TRIES, encoding="utf-8")
    key = root / "tests/b.eval.json"
    benchmark(key, task(inputData={"key": str(key)}, expectedOutput={"type": "exact", "value": 1234}))
    assert status(evaluated(project, "--benchmark", "./s/tests/b.eval.json")) == "fail"


@mounting
def test_a_custom_scorer_still_sees_its_file_and_a_skill_does_not(project: Path) -> None:
    answer = "'import' in open(data['key']).read()"
    tries = TRIES.replace(CHEATS.splitlines()[-2].strip(), f"result = {answer}")
    skill(project / "s", tries)
    (project / "scorer.py").write_text('import json\ndef check(given):\n    return given["output"] is False\n')
    benchmark(
        project / "b.json",
        task(
            inputData={"key": str(project / "scorer.py")},
            expectedOutput={"type": "custom", "customScorerPath": "scorer.py:check"},
        ),
    )
    done = evaluated(project, "--benchmark", "./b.json")
    assert status(done) == "pass", done.out


def test_links_of_a_skill_hide_nothing_of_others(tmp_path: Path) -> None:
    """A skill cannot have another's program emptied by a link called tests."""
    for name in ("a", "b"):
        (tmp_path / name / "src").mkdir(parents=True)
    (tmp_path / "a/tests").symlink_to(tmp_path / "b/src")
    (tmp_path / "a/evals").symlink_to("src")
    found = answers_of([str(tmp_path / "a"), str(tmp_path / "b")], files=[], folders=[])
    assert found.folders == (str(tmp_path / "a/src"),)


def test_a_directory_of_the_run_that_holds_a_skill_stays_but_for_its_reports(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/skill.py").write_text("")
    (tmp_path / "eval-result.json").write_text("")
    found = answers_of([str(tmp_path / "s")], files=[], folders=[str(tmp_path)])
    assert found == ((), (str(tmp_path / "eval-result.json"),))


def test_the_repository_of_a_linked_working_tree_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "main/.git/worktrees/w").mkdir(parents=True)
    (tmp_path / "main/.git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "w/s").mkdir(parents=True)
    (tmp_path / "w/.git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/w\n")
    assert answers_of([str(tmp_path / "w/s")], files=[], folders=[]).folders == (str(tmp_path / "main/.git"),)
    (tmp_path / "w/.git").write_text("gitdir: /usr\n")
    assert answers_of([str(tmp_path / "w/s")], files=[], folders=[]).folders == ()


def test_create_puts_expected_answers_where_they_are_hidden(tmp_path: Path) -> None:
    made = run(tmp_path, "create", "--name", "mine", "--from-template", "python_script")
    assert made.code == 0, made.err
    (place,) = tmp_path.rglob("basic.eval.json")
    root = place.parents[1]
    assert (place.parent.name, (root / "skill.json").is_file()) == ("tests", True)
    assert str(root / "tests") in answers_of([str(root)], files=[], folders=[]).folders
    assert json.loads(place.read_text())["tasks"]


@sandboxed
def test_what_is_emptied_in_the_sandbox_cannot_be_filled(project: Path) -> None:
    """What could be written there would be bounded by nothing."""
    writes = "[open(f'{place}/x', 'w').close() for place in ('tests',)]"
    root = skill(project / "s", TRIES.replace(CHEATS.splitlines()[-2].strip(), f"result = {writes}"))
    (root / "tests").mkdir()
    benchmark(project / "b.json", task(expectedOutput={"type": "exact", "value": "not found"}))
    assert status(evaluated(project, "--benchmark", "./b.json", "--sandbox", "bwrap")) == "pass"


MODES = [pytest.param((), marks=mounting), pytest.param(("--sandbox", "bwrap"), marks=sandboxed)]


@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_a_scorer_names_by_its_path_is_not_kept_from_skills(
    project: Path, mode: tuple[str, ...]
) -> None:
    skill(project / "s", answering("1"))
    (project / "own.py").write_text("import json, sys\nprint(json.load(sys.stdin)['output'])\n", encoding="utf-8")
    python = shutil.which("python3", path=SYSTEM)
    scorer = {"command": [python, "own.py"]}
    benchmark(project / "b.json", task(expectedOutput={"type": "custom"}, evaluator=scorer))
    done = evaluated(project, "--benchmark", "./b.json", *mode)
    assert status(done) == "pass", done.out


@pytest.mark.parametrize("mode", MODES)
def test_reports_among_temporary_files_keep_no_call_from_its_own(
    project: Path, mode: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(project / "temporary"))
    skill(project / "s", answering("open(__import__('os').environ['HOME'] + '/x', 'w').write('x')"))
    benchmark(project / "b.json", task())
    done = evaluated(project, "--benchmark", "./b.json", "--output-dir", "temporary", *mode)
    assert status(done) == "pass", done.out


@mounting
def test_reports_beside_the_interpreter_do_not_keep_it_from_skills(project: Path) -> None:
    skill(project / "s", answering("1"))
    benchmark(project / "b.json", task())
    (project / "work/bin").mkdir(parents=True)
    (project / "work/bin/python3").symlink_to(shutil.which("python3", path=SYSTEM) or "")
    words = ("eval", "--skills", "s", "--no-store", "--json", "--benchmark", "./b.json", "--output-dir", "work")
    done = run(project, *words, PATH=f"{project}/work/bin:{SYSTEM}")
    assert status(done) == "pass", done.out


@pytest.mark.parametrize("mode", MODES)
def test_a_report_that_another_run_writes_meanwhile_is_hidden(project: Path, mode: tuple[str, ...]) -> None:
    """The directory is made when the first run ends, and the second has begun by then."""
    hidden = answers_of([], files=[str(project / "new.db")], folders=[str(project / "new")])
    spawner = ProcessSpawner(path=SYSTEM, stop=threading.Event(), sandbox="bwrap" if mode else "none")
    spawner.hide(hidden)
    root = skill(project / "s", "import sys\nprint([len(open(one).read()) for one in sys.argv[1:]])\n")
    words = ["python3", "skill.py"]

    def read(*files: str) -> bytes:
        limits = Limits(timeout_s=60)
        return spawner.run([*words, *files], root=str(root), stdin=b"", env={}, limits=limits, copy=False).stdout

    try:
        assert read() == b"[]\n"
        (project / "new").mkdir()
        (project / "new/eval-result.json").write_text("1234", encoding="utf-8")
        (project / "new.db").write_text("1234", encoding="utf-8")
        assert read(str(project / "new/eval-result.json")) == b""
        assert read(str(project / "new.db")) in (b"", b"[0]\n")
    finally:
        spawner.close()


@mounting
def test_earlier_reports_are_hidden_when_new_ones_go_elsewhere(project: Path) -> None:
    cheating(project, project / "reports/eval-result.json")
    shutil.copyfile(project / "reports/eval-result.json", project / "b.json")
    done = evaluated(project, "--benchmark", "./b.json", "--output-dir", "other")
    assert status(done) == "fail"


@mounting
def test_a_program_whose_name_begins_as_a_report_does_still_runs(project: Path) -> None:
    root = skill(project / "s", entrypoint="python3 eval-results.py")
    (root / "skill.py").rename(root / "eval-results.py")
    (root / "eval-results.py").write_text(answering("1"), encoding="utf-8")
    benchmark(project / "b.json", task())
    assert status(evaluated(project, "--benchmark", "./b.json")) == "pass"


@mounting
def test_a_hidden_directory_is_empty_and_can_be_listed(project: Path) -> None:
    root = skill(project / "s", answering("__import__('os').listdir('tests')"))
    (root / "tests").mkdir()
    (root / "tests/b.eval.json").write_text("[]", encoding="utf-8")
    benchmark(project / "b.json", task(expectedOutput={"type": "exact", "value": []}))
    assert status(evaluated(project, "--benchmark", "./b.json")) == "pass"


@mounting
def test_directories_that_variables_name_stay_visible_among_temporary_files(project: Path) -> None:
    packages = Path(tempfile.mkdtemp(prefix="packages-", dir="/tmp"))
    try:
        packages.chmod(0o755)
        (packages / "given_helper.py").write_text("VALUE = 1234\n", encoding="utf-8")
        config = {"env": {"PYTHONPATH": str(packages)}}
        skill(project / "s", answering("__import__('given_helper').VALUE"), config=config)
        benchmark(project / "b.json", task(expectedOutput={"type": "exact", "value": 1234}), id="s")
        done = evaluated(project, "--benchmark", "./b.json")
        assert status(done) == "pass", done.out
    finally:
        shutil.rmtree(packages)
