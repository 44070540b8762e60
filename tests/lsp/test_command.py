"""The command ``skillgate lsp`` itself."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.architecture.source import ROOT
from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT = "import sys; sys.modules[{!r}] = None; from skillgate.cli.main import entry; entry()"


def test_help_needs_no_package() -> None:
    code = WITHOUT.format("pygls")
    done = subprocess.run(
        [sys.executable, "-c", code, "lsp", "--help"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    assert "--run-house-rules" in done.stdout


def test_without_the_extra_it_says_what_to_install() -> None:
    for package in ("pygls", "lsprotocol"):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT.format(package), "lsp"],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert "pip install 'skillgate-action[lsp]'" in done.stderr
        assert package in done.stderr


def test_other_commands_load_nothing_of_it(tmp_path: Path) -> None:
    code = (
        "import sys; from skillgate.cli.main import main; main(['check', 'examples/skills']);"
        "print(sorted(name for name in sys.modules if name.startswith(('pygls', 'lsprotocol', 'skillgate.lsp'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.endswith("[]\n")


def test_an_input_that_ends_at_once_ends_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "skillgate", "lsp", "--stdio"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    assert run(tmp_path, "lsp", "--tcp").code == 2
