"""Programs that exist and that the user or the sandbox of a call cannot reach: nothing that a skill did wrong.

Each case is a skill of its own in a project that every user can enter, beside a directory that only root can.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.program import commands_of
from tests.bench.made import answering, benchmark, run, skill, task
from tests.bench.test_sandbox import sandboxed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.running import Done

as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root runs calls as other users"
)
SYSTEM = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def project() -> Iterator[Path]:
    """A directory that every user can enter, with a program in ``closed``, which only its owner can."""
    folder = Path(tempfile.mkdtemp(prefix="project-", dir="/var/tmp"))
    folder.chmod(0o755)
    (folder / "closed/bin").mkdir(parents=True)
    shutil.copyfile("/bin/sh", folder / "closed/bin/tool")
    (folder / "closed/bin/tool").chmod(0o755)
    (folder / "closed/bin/python").symlink_to(shutil.which("python3", path=SYSTEM) or sys.executable)
    (folder / "closed").chmod(0o700)
    benchmark(folder / "b.json", task())
    yield folder
    shutil.rmtree(folder)


def executable(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def by_path(project: Path) -> None:
    skill(project / "s", entrypoint=f"{project}/closed/bin/tool skill.py")


def by_name(project: Path) -> None:
    skill(project / "s", entrypoint="tool skill.py")


def by_first_line(project: Path) -> None:
    executable(skill(project / "s", entrypoint="./run") / "run", f"#!{project}/closed/bin/tool\n")


def by_env(project: Path) -> None:
    executable(skill(project / "s", entrypoint="./run") / "run", "#!/usr/bin/env -S A=b tool -u\n")


def by_link(project: Path) -> None:
    root = skill(project / "s", entrypoint="./venv/bin/python skill.py")
    (root / "venv/bin").mkdir(parents=True)
    (root / "venv/bin/python").symlink_to(project / "closed/bin/tool")


def by_script_of_a_link(project: Path) -> None:
    by_link(project)
    skill(project / "s", entrypoint="venv/bin/server")
    executable(project / "s/venv/bin/server", f"#!{project}/s/venv/bin/python\n")


def by_shell(project: Path) -> None:
    skill(project / "s", entrypoint="sh -c 'exec tool skill.py'")


def by_shell_after_cd(project: Path) -> None:
    skill(project / "s", entrypoint="""sh -euc 'cd "$(dirname "$0")" && A=b exec env B=c tool skill.py 2>&1'""")


def by_shell_script(project: Path) -> None:
    script = '# starts it\nset -e\nexport A=b\n\nexec tool skill.py "$@"\n'
    executable(skill(project / "s", entrypoint="sh run.sh") / "run.sh", script)


def by_executable_shell_script(project: Path) -> None:
    executable(skill(project / "s", entrypoint="./run.sh") / "run.sh", "#!/bin/sh\nexec tool skill.py\n")


def by_unreadable_script(project: Path) -> None:
    (skill(project / "s") / "skill.py").chmod(0o600)


def by_unreadable_program(project: Path) -> None:
    root = skill(project / "s", entrypoint="./run")
    executable(root / "run", "#!/bin/sh\n")
    (root / "run").chmod(0o700)


def by_settings_with_an_address(project: Path) -> None:
    """The command comes before the address."""
    pytest.importorskip("mcp")
    config = {"command": f"{project}/closed/bin/tool", "args": ["skill.py"], "baseUrl": "http://127.0.0.1:9/"}
    skill(project / "s", adapterType="mcp", entrypoint="tool", config=config)


def by_worker(project: Path) -> None:
    skill(project / "s", entrypoint="tool skill.py", config={"persistent": True})


def by_mcp(project: Path) -> None:
    skill(project / "s", adapterType="mcp", entrypoint="tool skill.py")


UNREACHABLE = (
    *(by_path, by_name, by_first_line, by_env, by_link, by_script_of_a_link, by_shell, by_shell_after_cd),
    *(by_shell_script, by_executable_shell_script, by_unreadable_script, by_unreadable_program, by_worker, by_mcp),
    by_settings_with_an_address,
)


def evaluated(project: Path, *words: str, path: str | None = None) -> Done:
    path = f"{project}/closed/bin:{SYSTEM}" if path is None else path
    return run(project, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", *words, PATH=path)


def only(done: Done) -> dict[str, Any]:
    (report,) = done.json["reports"]
    (result,) = report["taskResults"]
    return {**result, **report["summary"]}


@as_root
@pytest.mark.parametrize("case", UNREACHABLE)
def test_what_the_evaluator_could_not_start_is_skipped(project: Path, case: Callable[[Path], None]) -> None:
    case(project)
    done = evaluated(project, "--json")
    found = only(done)
    assert (done.code, found["status"], found["errorKind"]) == (3, "skipped", "not_started"), found["error"]
    assert (found["completionRate"], found["score"]) == (None, None)
    assert "(mode 0700), and programs" in found["error"] or " has mode 0" in found["error"]
    assert "--run-as-caller" in found["error"]


@as_root
@pytest.mark.parametrize("case", UNREACHABLE)
def test_a_dry_run_finds_it_with_the_same_message(project: Path, case: Callable[[Path], None]) -> None:
    case(project)
    dry = evaluated(project, "--dry-run")
    assert dry.code == 3
    assert f"skill s would be skipped: {only(evaluated(project, '--json'))['error']}" in dry.out
    (entry,) = evaluated(project, "--dry-run", "--json").json["notStarted"]
    assert entry["id"] == "s"


@as_root
@pytest.mark.parametrize("case", UNREACHABLE)
def test_bench_validate_finds_it(project: Path, case: Callable[[Path], None]) -> None:
    case(project)
    path = f"{project}/closed/bin:{SYSTEM}"
    done = run(project, "bench", "validate", "s", PATH=path)
    assert (done.code, "1 of 1 file valid" in done.out or "2 of 2 files valid" in done.out) == (3, True), done.out
    assert "s/skill.json: cannot start on this machine: " in done.err
    assert any(one["notStarted"] for one in run(project, "bench", "validate", "s", "--json", PATH=path).json["files"])


@as_root
def test_the_toolkits_run_finds_it_in_a_dry_run(project: Path) -> None:
    by_name(project)
    words = ("run", "-q", "s", "--skills-dir", ".", "--benchmark", "./b.json", "--no-store", "--dry-run")
    done = run(project, *words, PATH=f"{project}/closed/bin:{SYSTEM}")
    assert done.code == 3
    assert f"skill s would be skipped: {project}/closed/bin/tool (tool) is behind " in done.out


@as_root
def test_the_message_is_told_once_for_all_tasks(project: Path) -> None:
    by_shell(project)
    benchmark(project / "b.json", *(task(f"t{number}") for number in range(30)))
    told = " ".join(evaluated(project).out.split())
    assert told.count("not_started: ") == 1
    assert told.count("or use --run-as-caller") == 1


@pytest.mark.parametrize(
    ("entrypoint", "kind"),
    [
        ("no-such-program skill.py", "spawn"),
        ("./no-such-file", "spawn"),
        ("./text", "spawn"),
        ("sh -c 'exec no-such-program'", "exit_code"),
        ("sh no-such-script.sh", "exit_code"),
        ("python3 no-such-script.py", "exit_code"),
    ],
)
def test_a_missing_program_is_the_skills_failure(project: Path, entrypoint: str, kind: str) -> None:
    (skill(project / "s", entrypoint=entrypoint) / "text").write_text("no program", encoding="utf-8")
    assert evaluated(project, "--dry-run", path=SYSTEM).code == 0
    done = evaluated(project, "--json", path=SYSTEM)
    found = only(done)
    assert (done.code, found["status"], found["errorKind"], found["completionRate"]) == (0, "error", kind, 0.0)


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("exec a b; c", ("a",)),
        ("a && b; c", ("a", "c")),
        ("set -e && cd x && a", ("a",)),
        ("[ -x a ] && exec a\nexec b", ("b",)),
        ("A=1 B=2 a >x 2>&1\nexit 0\nb", ("a",)),
        ("cd x; ./y; /z; a", ("/z", "a")),
        ("echo a; a 'b; c' # d; e", ("a",)),
        ("a || b", ()),
        ("a | b", ()),
        ("if a; then b; fi", ()),
        ("command -v a >/dev/null && exec a\nexec b", ("b",)),
        ("a &\nb", ()),
        ("(a)", ()),
        ("f() { a; }", ()),
        ("PATH=/x a", ()),
        ("export PATH=/x\na", ()),
        ("$a b; `c`; ~/d", ()),
        ("a 'b\nc'", ()),
        ("a <<X\nb\nX", ()),
        ("", ()),
    ],
)
def test_commands_of_a_script_are_known_where_it_decides_nothing(script: str, names: tuple[str, ...]) -> None:
    assert commands_of(script) == names


@as_root
def test_a_script_with_another_way_is_run(project: Path) -> None:
    script = "if command -v tool >/dev/null; then exec tool -c 'exit 1'; fi\nexec python3 skill.py\n"
    executable(skill(project / "s", answering("data['n']"), entrypoint="sh run.sh") / "run.sh", script)
    assert (evaluated(project).code, only(evaluated(project, "--json"))["status"]) == (0, "pass")


@as_root
def test_a_program_that_others_reach_behind_one_that_they_do_not_is_taken(project: Path) -> None:
    skill(project / "s", answering("data['n']"))
    shutil.copyfile("/bin/sh", project / "closed/bin/python3")
    (project / "closed/bin/python3").chmod(0o755)
    assert only(evaluated(project, "--json"))["status"] == "pass"


@as_root
def test_a_file_of_the_calls_own_copy_needs_no_mode_for_others(project: Path) -> None:
    root = skill(project / "s", answering("data['n']"), config={"workDir": "copy"})
    (root / "skill.py").chmod(0o600)
    assert only(evaluated(project, "--json"))["status"] == "pass"


@as_root
def test_as_the_caller_it_runs_and_the_report_says_so(project: Path) -> None:
    skill(project / "s", answering("data['n'] if __import__('os').geteuid() == 0 else 0"), entrypoint="python skill.py")
    path = f"{project}/closed/bin:/nowhere"
    assert evaluated(project, path=path).code == 3
    done = evaluated(project, "--json", "--run-as-caller", path=path)
    assert (done.code, only(done)["status"]) == (0, "pass")
    assert (done.json["run"]["runAsCaller"], done.json["run"]["answersReadable"]) == (True, True)
    assert "other users' files" not in done.json["run"]["isolated"]
    assert "programs ran as the calling user" in evaluated(project, "--run-as-caller", path=path).out


def test_running_as_the_caller_is_no_setting(project: Path) -> None:
    skill(project / "s")
    (project / ".skillgate.yaml").write_text("run-as-caller: true\n", encoding="utf-8")
    done = evaluated(project)
    assert (done.code, "run-as-caller" in done.err) == (2, True)


@sandboxed
def test_an_interpreter_that_the_sandbox_does_not_show_is_no_failure_of_the_skill(project: Path) -> None:
    shutil.copyfile("/bin/sh", project / "tool")
    (project / "tool").chmod(0o755)
    skill(project / "s", entrypoint=f"{project}/tool skill.py")
    done = evaluated(project, "--sandbox", "bwrap", "--json", path=SYSTEM)
    found = only(done)
    assert (done.code, found["errorKind"], "not visible in the sandbox" in found["error"]) == (3, "not_started", True)
    assert evaluated(project, "--sandbox", "bwrap", "--dry-run", path=SYSTEM).code == 3


def test_a_copy_that_cannot_be_made_is_no_failure_of_the_skill(project: Path) -> None:
    root = skill(project / "s", answering("data['n']"), config={"workDir": "copy"})
    os.mkfifo(root / "pipe")
    done = evaluated(project, "--json", path=SYSTEM)
    assert (done.code, only(done)["errorKind"]) == (3, "not_started")


def test_a_report_that_says_nothing_of_it_is_read(project: Path) -> None:
    skill(project / "s", answering("data['n']"))
    document = evaluated(project, "--json", path=SYSTEM).json
    for key in ("answersReadable", "runAsCaller"):
        del document["run"][key]
    (project / "old.json").write_text(json.dumps(document), encoding="utf-8")
    assert run(project, "report", "convert", "old.json", "--format", "markdown").code == 0
