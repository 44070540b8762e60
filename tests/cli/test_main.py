"""The frame of the command line: it finds the command, shares the options, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from skillgate import __version__
from skillgate.cli.main import main
from skillgate.cli.options import (
    Parser,
    add_allow_empty,
    add_output,
    add_paths,
    add_settings,
    option_values,
    output_format,
    shared_defaults,
)
from skillgate.console import Console
from skillgate.errors import UsageError
from skillgate.settings import SCORE

_ROOT = Path(__file__).parents[2]


class Answered(io.StringIO):
    """A stream that raises on the first write, as a broken device or an interrupted one does."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, _text: str) -> NoReturn:
        raise self.error


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*argv: str, cwd: Path, stdout: io.StringIO | None = None) -> tuple[int, str, str]:
    out, err = stdout or io.StringIO(), io.StringIO()
    code = main(argv, stdout=out, stderr=err, environ={}, cwd=str(cwd))
    return code, out.getvalue(), err.getvalue()


def spawn(*argv: str, cwd: Path, **kwargs: object) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(_ROOT), "HOME": str(cwd), "USERPROFILE": str(cwd)}
    environ |= kwargs.pop("environ", {})  # type: ignore[call-overload]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, *argv], cwd=cwd, env=environ, check=False, stdin=subprocess.DEVNULL, **kwargs
    )


def test_version_and_help_are_answers_on_stdout(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path) == (0, f"skillgate {__version__}\n", "")
    assert run("config", "list", "--version", cwd=tmp_path) == (0, f"skillgate {__version__}\n", "")
    code, out, err = run("--help", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "\n  config        Show the effective configuration, and where each value was set.\n" in out


@pytest.mark.parametrize("argv", [("config", "-h"), ("-h", "config"), ("-q", "config", "--help")])
def test_help_of_a_command_stands_before_or_after_it(argv: tuple[str, ...], tmp_path: Path) -> None:
    code, out, _ = run(*argv, cwd=tmp_path)
    assert code == 0
    assert out.startswith("usage: skillgate config ")
    assert "Show the effective configuration" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((), "no command given"),
        (("-q",), "no command given"),
        (("confg",), "unknown command 'confg' (did you mean 'config'?)"),
        (("--jsn", "config"), "unknown option --jsn (did you mean '--json'?) before the command"),
        (("config", "list", "--show-orign"), "unknown option --show-orign (did you mean '--show-origin'?)"),
        (("config", "lst"), "invalid choice: 'lst'"),
        (("config", "get"), "KEY"),
        (("config", "list", "more"), "unexpected argument 'more'"),
        (("config", "list", "-c"), "expected one argument"),
        (("config", "list", "-c", "no.yaml"), "configuration file no.yaml does not exist"),
        (("../commands/config",), "unknown command"),
    ],
)
def test_wrong_usage_is_exit_2_on_stderr(argv: tuple[str, ...], message: str, tmp_path: Path) -> None:
    code, out, err = run(*argv, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("skillgate: error: ")
    assert message in err


@pytest.mark.parametrize(
    "argv",
    [
        ("--json", "-c", "x.yaml", "config", "list"),
        ("config", "--json", "--config=x.yaml", "list"),
        ("config", "list", "--json", "-cx.yaml"),
        ("--json", "config", "-c", "x.yaml", "list"),
        ("-qc", "x.yaml", "config", "list", "--json"),
    ],
)
def test_shared_options_stand_before_or_after_any_word(argv: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("threshold: 77\n")
    code, out, _ = run(*argv, cwd=tmp_path)
    assert code == 0
    assert '"value": 77.0' in out
    assert out.startswith("{")


def test_an_error_shows_nothing_that_a_terminal_would_obey(tmp_path: Path) -> None:
    (tmp_path / ".skillgate.yaml").write_text('"a\\e[31m\\u202eb": 1\n')
    code, _, err = run("config", "list", cwd=tmp_path)
    assert code == 2
    assert not set(err) & {"\x1b", "\u202e"}


def test_a_bug_is_exit_70_with_its_place_and_the_traceback_only_when_asked(tmp_path: Path) -> None:
    code, _, err = run("config", "list", cwd=tmp_path, stdout=Answered(RuntimeError("odd \x1b")))
    assert code == 70
    assert "this is a bug in skillgate: RuntimeError: odd \\x1b (at tests/cli/test_main.py:" in err
    assert "Traceback" not in err
    code, _, err = run("config", "list", "-v", cwd=tmp_path, stdout=Answered(RuntimeError("odd")))
    assert code == 70
    assert "Traceback (most recent call last):" in err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "skillgate: interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            3,
            "skillgate: error: cannot write to standard output: No space left on device\n",
        ),
    ],
)
def test_a_run_that_is_cut_off_ends_without_a_traceback(
    error: BaseException, code: int, said: str, tmp_path: Path
) -> None:
    assert run("config", "list", cwd=tmp_path, stdout=Answered(error)) == (code, "", said)


def test_as_a_process_it_exits_with_the_code(tmp_path: Path) -> None:
    assert spawn("-m", "skillgate", "config", "list", cwd=tmp_path, capture_output=True).returncode == 0
    assert spawn("-m", "skillgate", "nothing", cwd=tmp_path, capture_output=True).returncode == 2


def test_sigterm_is_exit_143(tmp_path: Path) -> None:
    script = (
        "import io, os, signal, sys\n"
        "from skillgate.cli.main import entry\n"
        "class Slow(io.StringIO):\n"
        "    def write(self, text):\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "sys.stdout = Slow()\n"
        "sys.argv = ['skillgate', 'config', 'list']\n"
        "entry()\n"
    )
    done = spawn("-c", script, cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (143, b"")


def test_a_reader_that_went_away_is_not_an_error_message(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = spawn("-m", "skillgate", "config", "list", cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_ascii_locale_gets_utf8_and_a_lone_surrogate_does_not_crash(tmp_path: Path) -> None:
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    (tmp_path / ".skillgate.yaml").write_text("baseline: größe\n", encoding="utf-8")
    argv = ("-m", "skillgate", "config", "get")
    done = spawn(*argv, "baseline", cwd=tmp_path, environ=environ, capture_output=True)
    assert done.stdout.decode("utf-8").strip() == "größe"
    done = spawn(*argv, "\udcff", cwd=tmp_path, environ=environ, capture_output=True)
    assert done.returncode == 2
    assert b"unknown key" in done.stderr


def test_the_start_loads_nothing_heavy(tmp_path: Path) -> None:
    heavy = "('yaml', 'markdown_it', 'json', 'inspect', 'dataclasses', 'subprocess', 'shutil', 'tomllib', 'hashlib')"
    script = (
        "import sys; from skillgate.cli.main import main; main(sys.argv[1:]);"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = spawn("-c", script, "--version", cwd=tmp_path, capture_output=True)
    assert done.stdout.decode().splitlines()[-1] == "[]"
    done = spawn("-c", script, "config", "get", "depth", cwd=tmp_path, capture_output=True)
    loaded = done.stdout.decode().splitlines()[-1]
    assert "yaml" not in loaded
    assert "tomllib" not in loaded


def parse(*argv: str) -> argparse.Namespace:
    parser = Parser(prog="skillgate score")
    add_paths(parser)
    add_output(parser, ("text", "json", "markdown"))
    add_settings(parser, SCORE)
    add_allow_empty(parser)
    return parser.parse(argv, shared_defaults())


@pytest.mark.parametrize(
    ("argv", "paths"),
    [
        ((), ["."]),
        (("a", "b"), ["a", "b"]),
        (("a", "--threshold", "3", "b", "--json", "c"), ["a", "b", "c"]),
        (("--json", "--", "-a", "--b"), ["-a", "--b"]),
        (("a", "--", "--", "b"), ["a", "--", "b"]),
    ],
)
def test_paths_stand_anywhere_between_options(argv: tuple[str, ...], paths: list[str]) -> None:
    assert parse(*argv).paths == paths


def test_gate_options_are_collected_by_setting() -> None:
    args = parse(
        *("--threshold", "70", "--min-badge", "gold", "--fail-on", "error, badge", "--fail-on", "error,threshold"),
        *("--min-dimension", "robustness=0.5", "--min-dimension", "token_efficiency=1"),
        *("--baseline", "main", "--max-drop", "0", "--depth", "deep", "--allow-empty"),
    )
    assert option_values(args) == {
        "depth": "deep",
        "threshold": 70.0,
        "min-badge": "gold",
        "min-dimension": {"robustness": 0.5, "token_efficiency": 1.0},
        "fail-on": ("error", "badge", "threshold"),
        "baseline": "main",
        "max-drop": 0.0,
    }
    assert args.allow_empty
    assert option_values(parse()) == {}


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--threshold", "high"), "--threshold: expected a number from 0 to 100, found 'high'"),
        (("--threshold", "nan"), "--threshold: expected a number from 0 to 100, found nan"),
        (("--max-drop", "-1"), "--max-drop: expected a number of at least 0, found -1.0"),
        (("--min-badge", "tin"), "--min-badge: unknown 'tin'; known: bronze, silver, gold, platinum"),
        (("--fail-on", "error,eror"), "--fail-on: unknown 'eror' (did you mean 'error'?)"),
        (("--fail-on", ","), "--fail-on: expected a list of"),
        (("--min-dimension", "robustness"), "--min-dimension: expected a mapping of names to numbers"),
        (("--min-dimension", "robust=0.5"), "--min-dimension: unknown 'robust' (did you mean 'robustness'?)"),
        (("--depth", "deeper"), "--depth: unknown 'deeper' (did you mean 'deep'?)"),
        (
            ("--output", "out.json"),
            "--output: expected a format (text, json, markdown); to write 'out.json' use --output-file",
        ),
        (("--output", "reports/x"), "use --output-file"),
        (("--output", "markdwn"), "found 'markdwn' (did you mean 'markdown'?)"),
        (("--output-file", "out.sarif"), "expected a file with a suffix of .txt, .json, .md"),
        (("--thresh", "3"), "unknown option --thresh (did you mean '--threshold'?)"),
    ],
)
def test_a_wrong_value_names_its_option_and_what_fits(argv: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(*argv)
    assert message in str(caught.value)


def test_the_format_is_the_asked_one_and_files_go_by_suffix() -> None:
    args = parse("--output", "markdown", "--output-file", "a/b.JSON", "--output-file", "c.md")
    assert output_format(args) == "markdown"
    assert args.output_file == [("json", "a/b.JSON"), ("markdown", "c.md")]
    assert output_format(parse()) == "text"
    assert output_format(parse("--json")) == "json"
    with pytest.raises(UsageError, match="two formats"):
        output_format(parse("--json", "--output", "text"))


def session(*, terminal: bool = True, no_color: bool = False, **environ: str) -> Console:
    out = Terminal() if terminal else io.StringIO()
    return Console(stdout=out, stderr=io.StringIO(), environ=environ, cwd=".", no_color=no_color)


@pytest.mark.parametrize(
    ("terminal", "no_color", "environ", "color"),
    [
        (True, False, {}, True),
        (False, False, {}, False),
        (True, True, {"FORCE_COLOR": "1"}, False),
        (True, False, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, False, {"NO_COLOR": ""}, True),
        (True, False, {"TERM": "dumb"}, False),
        (False, False, {"FORCE_COLOR": "1"}, True),
        (False, False, {"CLICOLOR_FORCE": "1"}, True),
        (False, False, {"CLICOLOR_FORCE": "0"}, False),
    ],
)
def test_colour_is_for_terminals_and_for_who_asks(
    terminal: bool, no_color: bool, environ: dict[str, str], color: bool
) -> None:
    assert session(terminal=terminal, no_color=no_color, **environ).color is color


@pytest.mark.parametrize(
    ("terminal", "columns", "width"),
    [(False, "60", 100), (True, "60", 60), (True, "5", 40), (True, "0", 100), (True, "wide", 100)],
)
def test_the_width_is_the_terminals(terminal: bool, columns: str, width: int) -> None:
    assert session(terminal=terminal, COLUMNS=columns).width == width


@pytest.mark.parametrize(("term", "written"), [("xterm", "\r1 of 2done\n"), ("dumb", "done\n")])
def test_a_dumb_terminal_gets_no_line_that_overwrites_another(term: str, written: str) -> None:
    err = io.StringIO()
    console = Console(stdout=io.StringIO(), stderr=err, environ={"TERM": term}, cwd=".")
    console.show_progress("\r1 of 2")
    console.show_progress("done\n")
    assert err.getvalue() == written


def test_notes_go_to_stderr_and_are_escaped() -> None:
    err = io.StringIO()
    loud = Console(stdout=io.StringIO(), stderr=err, environ={}, cwd=".", verbose=True)
    loud.note("one\x1b\ntwo")
    loud.detail("more")
    assert err.getvalue() == "one\\x1b\ntwo\nmore\n"
    silent = Console(stdout=io.StringIO(), stderr=err, environ={}, cwd=".", quiet=True)
    silent.note("three")
    silent.detail("four")
    assert err.getvalue() == "one\\x1b\ntwo\nmore\n"
