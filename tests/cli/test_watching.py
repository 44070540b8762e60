"""``check --watch`` checks again after each change, in a real process, until it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import ROOT
from tests.cli.running import git, run
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process is interrupted otherwise there")


class Watching:
    """A running ``check --watch``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def until_idle(self) -> str:
        """Return what is printed until the run waits for changes."""
        assert self.process.stdout is not None
        lines: list[str] = []
        while "waiting for changes" not in (line := self.process.stdout.readline()):
            assert line, lines
            lines.append(line)
        return "".join(lines)

    def interrupted(self) -> tuple[int, str]:
        """Interrupt it, and return its exit code and last words."""
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate()
        return self.process.returncode, rest


@contextmanager
def watching(cwd: Path, *words: str) -> Iterator[Watching]:
    environ = {**os.environ, "HOME": str(cwd / "home"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "skillgate", "check", "--watch", *words]
    with subprocess.Popen(
        command, cwd=cwd, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield Watching(process)
        finally:
            process.kill()


def test_each_change_is_checked_until_an_interrupt(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "skills", body=BODY)
    git(tmp_path, "init", "-q")
    with watching(tmp_path, "skills") as one:
        assert "BROKEN_LINK" not in one.until_idle()
        main = folder / "SKILL.md"
        main.write_text(main.read_text(encoding="utf-8") + "See [it](gone.md).\n", encoding="utf-8")
        assert "gone.md does not exist" in one.until_idle()
        (folder / "gone.md").write_text("# Gone\n", encoding="utf-8")
        assert "gone.md does not exist" not in one.until_idle()
        (tmp_path / ".skillgate.yaml").write_text("rules: {ACME_X: {required-section: Help\n", encoding="utf-8")
        assert "error: .skillgate.yaml:" in one.until_idle()
        rules = "rules: {ACME_X: {required-section: Help}, ACME_Y: {python: house/y.py}}\n"
        (tmp_path / ".skillgate.yaml").write_text(rules, encoding="utf-8")
        assert "the house rule house/y.py does not exist" in one.until_idle()
        (tmp_path / "house").mkdir()
        rule = (
            '"""A."""\nfrom skillgate.rules import *\n\n\ndef find(skill):\n    yield Hit(Span(), "seen")\n\n\n'
            "RULE = rule(find, Severity.WARNING, fix='x')\n"
        )
        (tmp_path / "house" / "y.py").write_text(rule, encoding="utf-8")
        told = one.until_idle()
        assert "no section 'Help'" in told
        assert "ACME_Y seen" in told
        assert one.interrupted() == (0, "stopped\n")


@pytest.mark.parametrize("option", ["--fix", "--diff", "--files", "--output-file=a.json", "--patch=a.patch"])
def test_what_writes_is_refused(tmp_path: Path, option: str) -> None:
    write_skill(tmp_path)
    done = run(tmp_path, "check", "--watch", option)
    assert done.code == 2
    assert f"--watch only shows findings; leave out {option.partition('=')[0]}" in done.err
