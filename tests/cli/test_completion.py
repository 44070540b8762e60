"""The completion scripts complete in real shells."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import run

pytest.importorskip("shtab", reason="shtab is not installed")

PROMPT, END = "ready-to-type", "end-of-typing"
LINES = [
    ("skillgate sco", "score"),
    ("skillgate explain MISSING_TR", "MISSING_TRIGGER"),
    ("skillgate explain triggering_a", "triggering_accuracy"),
    ("skillgate check --thresh", "--threshold"),
    ("skillgate check --depth stan", "standard"),
    ("skillgate check --output mark", "markdown"),
    ("skillgate log rescor", "rescore"),
    ("skillgate check a-dire", "a-directory"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the three scripts and something to complete."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        done = run(folder, "completion", shell)
        assert (done.code, done.err) == (0, "")
        (folder / f"_skillgate.{shell}").write_text(done.out, encoding="utf-8")
    (folder / "functions").mkdir()
    (folder / "_skillgate.zsh").rename(folder / "functions" / "_skillgate")
    (folder / "a-directory").mkdir()
    return folder


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


def typed(program: list[str], setup: str, line: str, cwd: Path) -> str:
    """Start an interactive shell, run ``setup``, type a line and Tab, and return what the shell showed then."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the shell
        os.chdir(cwd)
        environ = {"PATH": os.environ["PATH"], "HOME": str(cwd), "TERM": "dumb", "PS1": "", "LC_ALL": "C.UTF-8"}
        os.execve(program[0], program, environ)
    shown = ""

    def until(text: str) -> None:
        nonlocal shown
        while text not in shown:
            piece = os.read(terminal, 65536).decode("utf-8", "replace")
            assert piece
            shown += piece

    try:
        os.write(terminal, f"{setup}; PS1={PROMPT[:5]}''{PROMPT[5:]}\n".encode())
        until(PROMPT)
        shown = ""
        os.write(terminal, f"{line}\t".encode())
        os.write(terminal, f"\x15echo {END[:3]}''{END[3:]}\n".encode())  # the line is thrown away
        until(END)
    finally:
        os.write(terminal, b"exit\n")
        os.close(terminal)
        os.waitpid(pid, 0)
    return shown


@pytest.mark.parametrize(("line", "word"), LINES)
def test_bash(line: str, word: str, folder: Path) -> None:
    program = [needs("bash"), "--norc", "--noprofile", "-i"]
    assert word in typed(program, ". ./_skillgate.bash", line, folder)


@pytest.mark.parametrize(("line", "word"), LINES)
def test_zsh(line: str, word: str, folder: Path) -> None:
    program = [needs("zsh"), "-f", "-i"]
    setup = "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D"
    assert word in typed(program, setup, line, folder)


@pytest.mark.parametrize(("line", "word"), LINES)
def test_fish(line: str, word: str, folder: Path) -> None:
    script = f"source _skillgate.fish; complete -C {line!r}"
    environ = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    done = subprocess.run(
        [needs("fish"), "--no-config", "-c", script], cwd=folder, env=environ, check=True, capture_output=True
    )
    assert word in {found.partition("\t")[0].rstrip("/") for found in done.stdout.decode().splitlines()}


def test_every_command_is_completed(folder: Path) -> None:
    from skillgate.registry import COMMANDS

    text = (folder / "_skillgate.bash").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("_shtab_skillgate_subparsers=")]
    assert {word.strip("'\"") for word in line.partition("(")[2].rstrip(")").split()} == set(COMMANDS.listed())


def test_without_its_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    done = run(tmp_path, "completion", "fish")
    assert (done.code, done.out) == (2, "")
    assert 'pip install "skillgate-action[completion]"' in done.err
