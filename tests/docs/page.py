"""A page of the documentation: its blocks, and a shell that runs them in order as a reader would.

Comments directly above a block say how it runs. They are invisible on the site and on GitHub:

    <!-- exit: 1 -->             its last command ends with this exit code
    <!-- runs until Ctrl-C -->   it runs in a second terminal until the page's end
    <!-- not run: REASON -->     it is only parsed; REASON begins with a key of REASONS
    <!-- output -->              this text is what the block above prints; a line … leaves out what is between

A block with a title, as ```yaml title="labels.yaml", is a file that the reader saves under that name.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from skillgate import __version__
from skillgate.cli.main import _parse, _split
from tests.architecture.source import ROOT

REASONS = {
    "needs ANTHROPIC_API_KEY": "ANTHROPIC_API_KEY=…",
    "needs Message Batches": "--provider batch",
    "needs the extra agent-sdk": "agent-sdk",
    "needs a release": "(?m)^pre-commit install",
    "needs gh": "(?m)^gh ",
    "needs PostgreSQL": "postgresql://",
    "needs sqlite3": "(?m)^sqlite3 ",
    "needs bubblewrap": "--sandbox bwrap",
    "needs your own files": "~/",
    "installs packages": "pip install",
}
"""Why a block may be left out, and what such a block contains."""
MARKS = re.compile(r"exit: (\d+)|runs until Ctrl-C|not run: (.+)|output")
SHELLS = {"sh", "bash", "shell", "console", "zsh"}
_BLOCK = re.compile(r"^((?:<!-- .+? -->\n)*)(`{3,})([^\n`]*)\n(.*?)^\2$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        place: path and line, for messages.
        start: offset of its text in the page.
        title: name of the file that it is, or "".
        marks: the comments above it.
    """

    place: str
    start: int
    language: str
    title: str
    text: str
    marks: tuple[str, ...]

    @property
    def exit(self) -> int:
        """The documented exit code."""
        return next((int(mark.removeprefix("exit: ")) for mark in self.marks if mark.startswith("exit: ")), 0)

    @property
    def reason(self) -> str:
        """Why it is not run, or "" if it is."""
        return next((mark.removeprefix("not run: ") for mark in self.marks if mark.startswith("not run: ")), "")


class Page:
    """One page.

    Attributes:
        text: the Markdown.
        blocks: its fenced blocks.
    """

    def __init__(self, name: str, text: str = "") -> None:
        self.path = ROOT / name
        self.text = text or self.path.read_text(encoding="utf-8")
        self.blocks = [self._block(found) for found in _BLOCK.finditer(self.text)]

    def _block(self, found: re.Match[str]) -> Block:
        marks, _, info, text = found.groups()
        language, _, rest = info.partition(" ")
        title = re.fullmatch(r'title="(.+)"', rest)
        assert title or not rest, f"{self.path.name}: cannot read {info!r} after a fence"
        line = self.text.count("\n", 0, found.start(3)) + 1
        place = f"{self.path.relative_to(ROOT)}:{line}"
        return Block(
            place, found.start(4), language, title[1] if title else "", text, tuple(re.findall("<!-- (.+?) -->", marks))
        )

    def of(self, language: str) -> list[str]:
        """Return the blocks of a language, in order."""
        return [block.text for block in self.blocks if block.language == language]

    def section(self, title: str) -> str:
        """Return the text below a heading of the second level."""
        return self.text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def parse_only(block: Block) -> None:
    """Check a block that is not run: its reason fits, and skillgate accepts its options."""
    kind = next((kind for kind in REASONS if re.match(rf"{kind}\b", block.reason)), None)
    assert kind, f"{block.place}: unknown reason {block.reason!r}; write one of {', '.join(REASONS)}"
    assert re.search(REASONS[kind], block.text), f"{block.place}: nothing in this block {kind}; let it run"
    parse_commands(block.text)


def parse_commands(text: str) -> None:
    """Parse each call of skillgate in a script.

    Raises:
        UsageError: skillgate has no such command or option.
    """
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        for command in re.split(r"\0[|&;<>()]+\0", "\0" + "\0".join(words) + "\0"):
            arguments = command.strip("\0").split("\0")
            if arguments[0] == "skillgate":
                _parse(*_split(arguments[1:]), "")


@dataclass(slots=True)
class Reader:
    """Follows a page in a clone that has nothing but the examples, with an empty home directory.

    Working directory and exported variables last from block to block, as in a terminal.

    Attributes:
        printed: what each block that ran printed.
        skipped: reasons of the blocks that did not run, by place.
        shown: the blocks that are outputs, with what was really printed.
    """

    folder: Path
    printed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[Block, str]] = field(default_factory=list)
    _ports: dict[str, str] = field(default_factory=dict)
    _servers: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def clone(self) -> Path:
        """The directory in which the page begins."""
        return self.folder / "skillgate"

    def follow(self, page: Page) -> None:
        """Run every block of a page.

        Raises:
            AssertionError: a command ended with another exit code than the page says.
        """
        self._prepare()
        last = ""
        try:
            for block in page.blocks:
                if block.title:
                    self._save(block)
                elif "output" in block.marks:
                    self.shown.append((block, last))
                elif block.reason:
                    parse_only(block)
                    self.skipped[block.place] = block.reason
                elif "runs until Ctrl-C" in block.marks:
                    last = self.printed[block.place] = self._start(block)
                elif block.language in SHELLS:
                    last = self.printed[block.place] = self._run(block)
        finally:
            self._stop()

    def _prepare(self) -> None:
        (self.folder / "home").mkdir()
        (self.folder / "state").touch()
        (self.folder / "home" / ".gitconfig").write_text(
            "[user]\n\tname = A Reader\n\temail = reader@example.org\n[init]\n\tdefaultBranch = main\n",
            encoding="utf-8",
        )
        shutil.copytree(ROOT / "examples", self.clone / "examples")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Examples"]):
            subprocess.run(["git", *words], cwd=self.clone, env=self._environ(), check=True)

    def _environ(self) -> dict[str, str]:
        """Return the variables of a new user who has activated the environment."""
        return {
            "HOME": str(self.folder / "home"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
        }

    def _command(self, text: str) -> list[str]:
        state = shlex.quote(str(self.folder / "state"))
        save = f'trap \'declare -px > {state}; printf "cd %q\\n" "$PWD" >> {state}\' EXIT'
        for printed, free in self._ports.items():
            text = text.replace(printed, free)
        return ["bash", "-euo", "pipefail", "-c", f". {state}\n{save}\n{text}"]

    def _run(self, block: Block) -> str:
        done = subprocess.run(
            self._command(block.text),
            cwd=self.clone,
            env=self._environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == block.exit, (
            f"{block.place} ended with {done.returncode}:\n{block.text}\n{done.stdout}"
        )
        return done.stdout

    def _start(self, block: Block) -> str:
        """Start what runs in a second terminal, at a free port, and return its first line."""
        for port in re.findall(r"--port (\d+)", block.text):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._ports[port] = str(free.getsockname()[1])
        server = subprocess.Popen(
            self._command(block.text),
            cwd=self.clone,
            env={**self._environ(), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._servers.append(server)
        assert server.stdout
        line = server.stdout.readline()
        assert line, f"{block.place} ended at once with {server.wait()}"
        return line

    def _stop(self) -> None:
        for server in self._servers:
            os.killpg(server.pid, signal.SIGINT)
            with server:
                assert server.stdout
                rest = server.stdout.read()
            assert server.returncode in {0, 130}, rest

    def _save(self, block: Block) -> None:
        state = (self.folder / "state").read_text(encoding="utf-8")
        found = re.search(r"^cd (.+)\n\Z", state, re.MULTILINE)
        path = Path(shlex.split(found[1])[0] if found else self.clone) / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def wanted(self, shown: str, printed: str) -> str:
        """Return an output block as it should be: what was printed, cut as the block is."""
        for port, free in self._ports.items():
            printed = printed.replace(free, port)
        lines = printed.replace(str(self.clone), "/path/to/skillgate").strip("\n").split("\n")
        head, cut, tail = (part.removesuffix("\n").split("\n") if part else [] for part in _partition(shown))
        if cut:
            lines = [*lines[: len(head)], *cut, *(lines[-len(tail) :] if tail else [])]
        return "".join(f"{line.rstrip()}\n" for line in lines)


def _partition(shown: str) -> tuple[str, str, str]:
    """Split an output at its line …."""
    head, cut, tail = re.fullmatch(r"(.*?)(?:^(…)\n(.*))?", shown, re.DOTALL | re.MULTILINE).groups()  # type: ignore[union-attr]
    return head, cut or "", tail or ""


def comparable(text: str) -> str:
    """Replace what differs from run to run: times, durations, the version of skillgate, and the width of columns."""
    text = re.sub(r"\b\d{4}-\d\d-\d\d([T ][\d:]+(Z| UTC))?", "DATE", text.replace(__version__, "VERSION"))
    return re.sub(r"[ ─]+", " ", re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", "TIME", text))
