"""The one place that spawns: what a child gets, what comes back, and what is said when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import pytest

from skillgate.errors import EXIT_INCOMPLETE, IncompleteError
from skillgate.process import Dialogue, MissingExecutableError, run

PRINT_ENVIRONMENT = "import os; print(*sorted(os.environ), sep='\\n')"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_exit_status_come_back_whatever_the_status() -> None:
    done = run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"))
    assert (done.returncode, done.stdout.split(), done.stderr.split()) == (7, [b"out"], [b"err"])


def test_the_child_reads_the_bytes_it_was_given_and_then_the_end() -> None:
    done = run(python("import sys; print(len(sys.stdin.buffer.read()))"), stdin=b"\0\xff" * 100_000)
    assert int(done.stdout) == 200_000


def test_it_runs_in_the_given_directory(tmp_path: Path) -> None:
    done = run(python("import os; print(os.getcwd())"), cwd=str(tmp_path))
    assert Path(done.stdout.decode().strip()).samefile(tmp_path)


def test_secrets_and_git_variables_do_not_reach_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GIT_DIR", "GIT_INDEX_FILE", "PYTHONPATH"):
        monkeypatch.setenv(name, "secret")
    names = run(python(PRINT_ENVIRONMENT)).stdout.decode().split()
    assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GIT_DIR", "GIT_INDEX_FILE", "PYTHONPATH"} & set(names)
    assert "PATH" in names


def test_the_language_of_messages_is_fixed_and_variables_can_be_added() -> None:
    done = run(python("import os; print(os.environ['LC_ALL'], os.environ['EXTRA'])"), env={"EXTRA": "more"})
    assert done.stdout.split() == [b"C", b"more"]


def test_arguments_are_never_read_by_a_shell(tmp_path: Path) -> None:
    argument = f"; touch {tmp_path / 'made'} $(id) `id` * \n"
    done = run([*python("import sys; sys.stdout.buffer.write(sys.argv[1].encode())"), argument])
    assert done.stdout.decode().replace("\r", "") == argument
    assert not (tmp_path / "made").exists()


def test_a_missing_program_is_told_apart_so_that_callers_can_do_without() -> None:
    with pytest.raises(MissingExecutableError, match="no-such-program-here is not installed"):
        run(["no-such-program-here"])
    with pytest.raises(MissingExecutableError):
        run([str(Path("/no/such/python").absolute())])


def test_a_program_in_the_current_directory_is_never_taken_for_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / ("planted.bat" if sys.platform == "win32" else "planted")
    planted.write_text("#!/bin/sh\necho planted\n", encoding="utf-8")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(MissingExecutableError):
        run(["planted"])


def test_a_program_that_does_not_end_is_stopped() -> None:
    with pytest.raises(IncompleteError, match=r"did not finish within 0\.2 s") as caught:
        run(python("import threading; threading.Event().wait()"), timeout_s=0.2)
    assert caught.value.exit_code == EXIT_INCOMPLETE
    assert not isinstance(caught.value, MissingExecutableError)


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match="gone"):
        run(python("pass"), cwd=str(tmp_path / "gone"))


def test_a_directory_of_path_that_is_closed_is_passed_over() -> None:
    """As where a program runs as another user with the ``PATH`` of who started it."""
    with tempfile.TemporaryDirectory() as folder:
        closed = Path(folder) / "closed"
        closed.mkdir(mode=0o000)
        code = "from skillgate.process import run; print(run(['true']).returncode)"
        argv = [sys.executable, "-c", code]
        if os.geteuid() == 0:  # nothing is closed to it
            argv = [*argv[:2], f"import os; os.setuid(65534); {code}"]
        environ = {**os.environ, "PATH": f"{closed}/bin:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
        code = "import skillgate.process, os;" + argv[2]
        done = subprocess.run([*argv[:2], code], env=environ, capture_output=True, check=False)
        assert done.stdout.strip() == b"0", done.stderr


ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"


def test_a_dialogue_answers_request_by_request_until_it_is_ended() -> None:
    dialogue = Dialogue(python(ECHO))
    for word in (b"one\n", b"two\n"):
        assert dialogue.ask(word, lambda stream: stream.readline()) == word.upper()
    states = [dialogue.is_running]
    dialogue.end()
    assert [*states, dialogue.is_running] == [True, False]
    assert dialogue.end().stderr == b""  # once more does no harm


def test_a_dialogue_that_stays_silent_is_stopped_and_its_errors_are_kept() -> None:
    dialogue = Dialogue(
        python("import sys, time; print('why' * 100_000, file=sys.stderr, flush=True); time.sleep(60)"), timeout_s=3
    )
    with pytest.raises(IncompleteError, match="did not finish within 3 s"):
        dialogue.ask(b"x\n", lambda stream: stream.readline())
    done = dialogue.end()
    assert (done.returncode != 0, done.stderr[:3]) == (True, b"why")


def test_a_dialogue_whose_program_has_ended_is_at_its_end() -> None:
    dialogue = Dialogue(python("print('last words', file=__import__('sys').stderr)"))

    def line(stream: IO[bytes]) -> bytes:
        if found := stream.readline():
            return found
        raise EOFError

    with pytest.raises(EOFError):
        dialogue.ask(b"x\n" * 100_000, line)
    assert b"last words" in dialogue.end().stderr


def test_a_dialogue_that_is_interrupted_is_not_continued() -> None:
    def interrupted(stream: IO[bytes]) -> bytes:
        raise KeyboardInterrupt

    dialogue = Dialogue(python(ECHO))
    with pytest.raises(KeyboardInterrupt):
        dialogue.ask(b"one\n", interrupted)
    assert dialogue.is_running is False
    dialogue.end()


def test_a_dialogue_needs_its_program() -> None:
    with pytest.raises(MissingExecutableError):
        Dialogue(["no-such-program"])
