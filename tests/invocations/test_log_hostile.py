"""What is given to ``log`` may be anything: it ends with a sentence of ours, nothing comes alive or is endless."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run
from tests.invocations.recorded import AT, GOOD, line, write
from tests.invocations.transcripts import example

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

if TYPE_CHECKING:
    from pathlib import Path

NO_UNICODE = "\udcff"  # as Python gives a byte of the command line that is no UTF-8
LOG = (sys.executable, "-m", "skillgate", "log")


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A directory with a store."""
    write(tmp_path / "runs.jsonl", [line(number, **GOOD) for number in range(3)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add", "--update", "--id", NO_UNICODE, "--set", "user_accepted=true"), 2),
        (("gate", "publish", NO_UNICODE), 3),
        (("stats", NO_UNICODE), 2),
        (("rescore", "--skill", NO_UNICODE), 0),
        (("purge", "--yes", "--skill", NO_UNICODE), 0),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else "",
)
def test_a_name_that_no_store_keeps_is_one_of_which_it_holds_nothing(
    stored: Path, words: tuple[str, ...], code: int
) -> None:
    assert run(stored, "log", *words).code == code
    assert run(stored, "log", "stats", "--at", AT, "--json").json["invocations"] == 3


def test_what_is_added_may_be_nested_without_end(tmp_path: Path) -> None:
    done = run(tmp_path, "log", "add", "--skill", "notes", "--set", ".".join("a" * 5_000) + "=1")
    assert (done.code, "nested too deeply" in done.err) == (2, True)


def test_an_id_is_no_command_of_a_runner(tmp_path: Path) -> None:
    done = run(tmp_path, "log", "add", "--skill", "notes", "--id", "::error::x")
    assert (done.code, done.out.startswith("::")) == (0, False)


def test_the_standard_input_may_come_in_pieces(tmp_path: Path) -> None:
    """The first of them shows no form yet."""
    session = example().data
    with subprocess.Popen(
        [*LOG, "import", "-", "--json"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        for piece in (session[:1], session[1:7]):
            process.stdin.write(piece)
        said, _ = process.communicate(session[7:])
    (file,) = json.loads(said)["files"]
    assert (process.returncode, file["format"], file["rejected"]) == (0, "claude-code", 0)


@pytest.mark.parametrize("words", [("import", "-"), ("add", "-")])
def test_the_standard_input_may_be_closed(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *LOG, *words], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, "standard input is closed" in done.stderr) == (2, True)


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file here opens and cannot be read")  # noqa: PTH110
def test_a_file_that_opens_and_cannot_be_read_stops_no_other(stored: Path) -> None:
    done = run(stored, "log", "import", "/proc/self/mem", "runs.jsonl")
    assert done.code == 2
    assert "cannot read /proc/self/mem: " in done.err
    assert "3 already stored" in done.out


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode here")
def test_a_file_may_have_a_name_that_is_no_unicode(tmp_path: Path) -> None:
    write(tmp_path / f"runs{NO_UNICODE}.jsonl", [line(1, **GOOD)])
    assert run(tmp_path, "log", "import", ".").code == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_or_device_is_no_store(stored: Path) -> None:
    os.mkfifo(stored / "pipe.db")
    for place in ("pipe.db", os.devnull):
        done = run(stored, "log", "import", "runs.jsonl", "--store", place)
        assert (done.code, "is not a regular file" in done.err) == (2, True)


def test_a_gate_on_more_skills_than_can_be_told_is_not_answered_for_some(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra stats is not installed")
    write(tmp_path / "runs.jsonl", [line(number, skill=f"s{number}", error_count=0) for number in range(10_001)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    done = run(tmp_path, "log", "gate", "publish", "--at", AT)
    assert (done.code, done.out, "name at most 1,000 of them" in done.err) == (2, "", True)
    assert run(tmp_path, "log", "gate", "publish", "s1", "--at", AT).code == 1


def test_scoring_tells_the_first_problems_and_how_many_more_there_are(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(number, outcome=f"o{number}") for number in range(1_200)])
    done = run(tmp_path, "log", "score", "runs.jsonl", "--json")
    assert (done.code, len(done.json["problems"]), "and 1,150 more" in done.err) == (2, 1_000, True)
