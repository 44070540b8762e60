"""What people see: every command in a real terminal of 60, 80 and 120 columns."""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import re
import struct
import termios
import threading
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.main import main
from skillgate.cli.options import Parser
from skillgate.registry import COMMANDS
from skillgate.report.formats.text import columns
from tests.cli.running import commit, run
from tests.skills import BODY, DESCRIPTION

if TYPE_CHECKING:
    from pathlib import Path

WIDTHS = (60, 80, 120)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\")


def shown(cwd: Path, width: int, *words: str, **environ: str) -> tuple[int, str]:
    """Run a command whose stdout is a terminal, and return its exit code and what the terminal got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    pieces: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        except OSError:  # the end, as Linux says it
            return

    reader = threading.Thread(target=read)
    reader.start()
    variables = {"TERM": "xterm-256color", "HOME": str(cwd / "home"), "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
    with open(theirs, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
        code = main(words, stdout=out, stderr=io.StringIO(), environ=variables | environ, cwd=str(cwd))
    reader.join()
    os.close(ours)
    return code, b"".join(pieces).decode().replace("\r\n", "\n")


def too_long(text: str, width: int) -> list[str]:
    return [line for line in ESCAPE.sub("", text).split("\n") if columns(line) > width]


def every_command() -> list[list[str]]:
    """List the words of every command and subcommand, beginning with none."""
    found: list[list[str]] = [[]]
    for name in COMMANDS.listed():
        parser = Parser(prog=name)
        COMMANDS.load(name).add_arguments(parser)
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        found += [[name], *([name, word] for action in below for word in action.choices)]
    return found


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Skills with long and wide names, and with findings."""
    root = tmp_path_factory.mktemp("terminal")
    names = (
        "merge-sheets",
        "読み取り専用の表計算ソフト",
        "🎉-party-🎊",
        "a-name-that-is-rather-long-for-a-skill-of-any-kind",
    )
    for name in names:
        folder = root / "skills" / name
        folder.mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: {DESCRIPTION}\n---\n{BODY}\n"
        links = (
            "See [漢字漢字漢字漢字漢字漢字漢字 and more than fits on any line of a terminal](references/gone.md) now.\n"
        )
        (folder / "SKILL.md").write_text(text + links, encoding="utf-8")
    commit(root)
    return root


@pytest.mark.parametrize("width", WIDTHS)
def test_every_help_fits(width: int, tmp_path: Path) -> None:
    for words in every_command():
        code, text = shown(tmp_path, width, *words, "--help-all")
        assert (code, too_long(text, width)) == (0, []), words
        assert "\x1b" not in text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "-v"),
        ("check", "--output-style", "full"),
        ("check", "--output-style", "grouped"),
        ("check", "--statistics"),
        ("score",),
        ("score", "-v"),
        ("score", "skills/merge-sheets"),
        ("compare", "skills/merge-sheets", "HEAD:skills/merge-sheets"),
        ("find", "--skills-dir", "skills"),
        ("rules",),
        ("config", "list", "--show-origin"),
        ("explain", "grades"),
        ("explain", "badges"),
        ("explain", "output_quality"),
        ("bench", "list"),
    ],
    ids=" ".join,
)
def test_every_output_fits(words: tuple[str, ...], width: int, repository: Path) -> None:
    _, text = shown(repository, width, *words)
    assert text
    assert too_long(text, width) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_only_code_is_longer_than_the_terminal_in_an_explanation(width: int, tmp_path: Path) -> None:
    _, listed = shown(tmp_path, 500, "rules", TERM="dumb")
    rules = [line.split()[0] for line in listed.splitlines() if re.match(r"[A-Z]+_[A-Z_]+ ", line)]
    assert len(rules) > 50
    for rule in rules:
        code, text = shown(tmp_path, width, "explain", rule)
        assert code == 0
        assert [line for line in too_long(text, width) if not line.startswith("    ")] == [], rule


@pytest.mark.parametrize("width", [120, 140])
def test_wide_characters_move_no_column(width: int, repository: Path) -> None:
    _, text = shown(repository, width, "find", "--skills-dir", "skills", TERM="dumb")
    lines = text.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("id "))
    at = lines[head].index("adapter")
    rows = [line for line in lines[head + 1 :] if "skillmd" in line]
    assert len(rows) == 4
    assert {columns(row[: row.index("skillmd")]) for row in rows} == {at}


def test_an_explanation_is_rendered_in_a_terminal_and_markdown_elsewhere(tmp_path: Path) -> None:
    _, text = shown(tmp_path, 80, "explain", "MISSING_TRIGGER")
    assert text.startswith("\x1b[1mMISSING_TRIGGER\x1b[0m\n")
    assert "**" not in text
    assert "\x1b[1mWhy. \x1b[0mA model" in text
    assert "\x1b[36mwhen_to_use" in text
    _, text = shown(tmp_path, 80, "explain", "grades")
    found = [line.split("  ")[0] for line in ESCAPE.sub("", text).splitlines()]
    assert found[2:8] == ["grade", "A", "B", "C", "D", "F"]
    assert {line.index(word) for line, word in zip(text.splitlines()[3:5], ("from", "from"), strict=True)} == {7}
    assert run(tmp_path, "explain", "grades").out.startswith("## grades\n\n| grade |")
    assert "```text" in run(tmp_path, "explain", "MISSING_TRIGGER").out


@pytest.mark.parametrize("words", [("check",), ("score",), ("explain", "MISSING_TRIGGER"), ("rules",)], ids=" ".join)
def test_a_dumb_terminal_and_no_color_get_plain_text(words: tuple[str, ...], repository: Path) -> None:
    assert "\x1b[" in shown(repository, 80, *words)[1]
    for environ in ({"TERM": "dumb"}, {"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        assert "\x1b" not in shown(repository, 80, *words, **environ)[1]
    assert "\x1b[" in shown(repository, 80, *words, TERM="dumb", FORCE_COLOR="1")[1]


def test_a_wrapped_finding_keeps_its_colours_and_a_pipe_gets_one_line(repository: Path) -> None:
    _, text = shown(repository, 60, "check", "skills/merge-sheets")
    finding, *_ = text.split("fix:")
    assert len(finding.splitlines()) > 1
    assert re.search(r"\x1b\[31merror ?\x1b\[0m", finding)
    plain = " ".join(ESCAPE.sub("", finding).split())
    assert plain == run(repository, "check", "skills/merge-sheets").out.splitlines()[0]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lint", "check"),
        ("validate", "check"),
        ("scan", "check"),
        ("audit", "check"),
        ("fix", "check --fix"),
        ("test", "eval"),
        ("diff", "compare"),
        ("scroe", "score"),
        ("skills", "score skills"),
        ("Lint", "check"),
    ],
)
def test_words_of_other_tools_lead_to_a_command(word: str, meant: str, repository: Path) -> None:
    done = run(repository, word)
    assert (done.code, done.out) == (2, "")
    assert f"unknown command {word!r} (did you mean {meant!r}?)" in done.err


def test_every_word_of_another_tool_leads_to_a_command_that_there_is() -> None:
    from skillgate.cli.main import _MEANT

    assert {meant.split()[0] for meant in _MEANT.values()} - {"--version"} <= set(COMMANDS.listed())
    assert not _MEANT.keys() & set(COMMANDS.listed())


def test_help_is_a_command_too(tmp_path: Path) -> None:
    assert run(tmp_path, "help").out == run(tmp_path, "--help").out
    assert run(tmp_path, "help", "log", "import").out == run(tmp_path, "log", "import", "--help").out
    assert run(tmp_path, "help", "check").out.startswith("usage: skillgate check [options] [PATH ...]\n")
    assert "unknown command 'lint' (did you mean 'check'?)" in run(tmp_path, "help", "lint").err


def test_a_newcomer_sees_first_what_they_need(tmp_path: Path) -> None:
    lines = run(tmp_path, "--help").out.splitlines()
    at = lines.index("everyday commands:")
    names = [line.split()[0] for line in lines[at + 1 :] if re.match(r"  \S", line)]
    assert names[:5] == ["check", "score", "init", "explain", "compare"]
    assert "Start with `skillgate score .`; `skillgate help COMMAND` shows the options of a command." in lines
