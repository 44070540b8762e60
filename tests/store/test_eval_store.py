"""What eval keeps, and what it says where it cannot."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task
from tests.cli.running import commit, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done
    from tests.store.conftest import Server

_WITHOUT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
from skillgate.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task("t1"), task("t2"))
    return tmp_path


def evaluated(cwd: Path, *words: str, **environ: str) -> Done:
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--progress", "none", *words, **environ)


def past(cwd: Path, *words: str) -> list[Any]:
    done = run(cwd, "history", "--json", *words)
    assert done.code == 0, done.err
    found: list[Any] = done.json["evaluations"]
    return found


def test_eval_keeps_its_results_beside_the_project_and_out_of_git(made: Path) -> None:
    assert evaluated(made).code == 0
    (one,) = past(made)
    assert (one["skillId"], one["benchmarkId"], one["completionRate"], one["origin"]) == ("s", "own", 1, "eval")
    assert (made / ".skillgate/.gitignore").read_text() == "*\n"
    assert evaluated(made, "--runs", "2").code == 0
    assert [found["total"] for found in past(made)] == [4, 2]


def test_the_commit_and_the_branch_are_kept(made: Path) -> None:
    name = commit(made)
    git(made, "checkout", "-q", "-b", "topic")
    assert evaluated(made).code == 0
    assert evaluated(made, GITHUB_HEAD_REF="feature").code == 0
    assert [(one["commitId"], one["branch"]) for one in past(made)] == [(name, "feature"), (name, "topic")]


def test_no_store_and_dry_run_write_none(made: Path) -> None:
    assert evaluated(made, "--no-store").code == 0
    assert evaluated(made, "--dry-run").code == 0
    assert not (made / ".skillgate").exists()
    assert evaluated(made, "--no-store", "--store", "x.db").code == 2


def test_the_store_can_be_named_by_option_and_by_setting(made: Path) -> None:
    assert evaluated(made, "--store", "kept/here.db").code == 0
    assert len(past(made, "--store", "kept/here.db")) == 1
    (made / ".skillgate.yaml").write_text("store: there/too.db\n")
    assert evaluated(made).code == 0
    assert (made / "there/too.db").is_file()
    assert len(past(made)) == 1
    assert not (made / ".skillgate/store.db").exists()


def test_a_project_cannot_send_results_to_a_server(made: Path) -> None:
    (made / ".skillgate.yaml").write_text("store: postgresql://me@127.0.0.1:1/x\n")
    done = evaluated(made)
    assert done.code == 2
    assert "store must be a file path; for a URL use --store" in done.err
    (made / ".skillgate.yaml").write_text("store-url: postgresql://me@127.0.0.1:1/x\n")
    done = evaluated(made)
    assert done.code == 2
    assert "store-url" in done.err
    assert not list((made / "reports").glob("*"))


def test_ones_own_file_may_name_a_server_but_hold_no_password(made: Path) -> None:
    own = made / "home/.config/skillgate/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("store-url: postgresql://me:s3cret@127.0.0.1:1/x\n")
    done = evaluated(made)
    assert done.code == 2
    assert "PGPASSWORD" in done.err
    assert "s3cret" not in done.err
    own.write_text("store-url: postgresql://me@127.0.0.1:1/x\n")
    assert "postgresql://me@127.0.0.1:1/x cannot be opened" in evaluated(made).err


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("folder", "is a directory"),
        ("text.txt", "is not a SQLite database"),
        ("text.txt/store.db", "cannot be written"),
        ("other.db", "another program's database"),
        ("broken.db", "is unusable"),
        ("mysql://me:s3cret@h/d", "unsupported store mysql://…"),
        ("postgresql://me:s3cret@127.0.0.1:1/d", "cannot be opened"),
        ("postgresql://me:s3cret@127.0.0.1:x/d", "URL is not valid"),
        ("postgresql://me@127.0.0.1:1/d?password=s3cret", "cannot be opened"),
        ("postgresql://me@127.0.0.1:1/d?nonsense=s3cret", "cannot be opened"),
        ("sqlite://store.db", "sqlite:///PATH"),
        ("s/SKILL.md", "main file of a skill"),
        ("link.db", "symbolic link"),
    ],
)
def test_a_place_that_cannot_be_used_ends_the_command_before_anything_runs(made: Path, place: str, words: str) -> None:
    git(made, "init", "-q")
    (made / "folder").mkdir()
    (made / "text.txt").write_text("SQL, but not SQLite\n")
    (made / "link.db").symlink_to("elsewhere.db")
    with closing(sqlite3.connect(made / "other.db")) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    (made / "broken.db").write_bytes(b"SQLite format 3\0" + b"\x7f" * 4096)
    before = (made / "other.db").read_bytes()
    done = evaluated(made, "--store", place)
    assert done.code == 2, done.err
    assert words in done.err
    assert "s3cret" not in done.err + done.out.replace(place, "")
    assert not list((made / "reports").glob("*"))
    assert (made / "other.db").read_bytes() == before
    assert run(made, "history", "--store", place).code == 2


def test_the_password_of_a_server_is_taken_and_never_told(made: Path, postgres: Server) -> None:
    name = postgres.create().partition("?")[0].rpartition("/")[2]
    at = f"127.0.0.1:{postgres.port}/{name}"
    good = f"postgresql+psycopg://keeper:pa%3Ass%20w%40rd%2F1@{at}"
    done = evaluated(made, "--store", good, "-v")
    assert done.code == 0, done.err
    assert f"saved in postgresql://keeper@{at}" in done.err
    listed = run(made, "history", "--json", "--store", good)
    assert listed.json["store"] == f"postgresql://keeper@{at}"
    assert len(listed.json["evaluations"]) == 1
    wrong = evaluated(made, "--store", good.replace("rd%2F1", "rd%2F2"))
    assert wrong.code == 2
    assert "password authentication failed" in wrong.err
    assert not [word for word in ("pa:ss", "pa%3A", "w@rd", "w%40rd") if word in done.err + listed.out + wrong.err]


def without(cwd: Path, packages: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process that finds some packages not installed."""
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT, packages, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(cwd)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_without_the_extra_nothing_is_kept_and_one_note_says_so(made: Path) -> None:
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--progress", "none", "--format", "json")
    done = without(made, "sqlalchemy,alembic", *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("skillgate-action[store]") == 1
    assert not (made / ".skillgate").exists()
    named = without(made, "sqlalchemy,alembic", *words, "--store", "x.db")
    assert (named.returncode, "pip install 'skillgate-action[store]'" in named.stderr) == (2, True)
    server = without(made, "psycopg", *words, "--store", "postgresql://h/d")
    assert (server.returncode, "pip install 'skillgate-action[postgres]'" in server.stderr) == (2, True)
    assert without(made, "sqlalchemy", "history").returncode == 2


def test_what_cannot_be_kept_at_the_end_is_said_and_the_reports_are_there(made: Path) -> None:
    skill(made / "s", f"import time; time.sleep(1.5)\n{answering('1')}")
    store = made / "kept/store.db"

    def spoil() -> None:
        deadline = time.monotonic() + 30
        while not store.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        store.write_text("this was a database\n")

    spoiling = threading.Thread(target=spoil)
    spoiling.start()
    done = evaluated(made, "--store", "kept/store.db", "-q")
    spoiling.join()
    assert done.code == 3, done.err
    assert "results not saved in the store" in done.err
    assert "completed" in done.out
    assert run(made, "history", "import", "reports/eval-result.json", "--store", "later.db").code == 0


def test_an_interrupted_run_is_kept_and_marked(made: Path) -> None:
    skill(made / "s", "import time; time.sleep(120)")
    starter = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    starter += "from skillgate.cli.main import entry\nentry()"
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--progress", "none")
    child = subprocess.Popen(
        [sys.executable, "-c", starter, *words],
        cwd=made,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not (made / ".skillgate/store.db").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130
    (one,) = past(made)
    assert one["incomplete"] == "the run was interrupted"
    assert "incomplete" in run(made, "history").out


def test_a_run_loads_no_database_before_it_ends_and_none_without_a_store(made: Path) -> None:
    code = "import sys\nfrom skillgate.cli.main import main\nc = main(sys.argv[1:])\n"
    code += "print(c, *(n for n in ('sqlalchemy', 'alembic', 'numpy', 'psycopg') if n in sys.modules))"
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--progress", "none", "-q")

    def loaded(*more: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *words, *more],
            cwd=made,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout.splitlines()[-1].split()

    assert loaded("--no-store") == ["0"]
    assert loaded() == ["0", "sqlalchemy", "alembic"]
    assert loaded() == ["0", "sqlalchemy"]  # the steps of the schema are loaded where there is one to take


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_a_run_that_is_kept_stays_small(made: Path) -> None:
    code = "import gc, re, sys\ngc.disable()\nfrom skillgate.cli.main import main\nc = main(sys.argv[1:])\n"
    code += "print(c, re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--progress", "none", "-q")
    assert evaluated(made).code == 0  # the store is there
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=made,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    status, kibibytes = done.stdout.splitlines()[-1].split()
    assert status == "0"
    assert int(kibibytes) * 1024 <= 60_000_000
    assert len(past(made)) == 2


def test_a_report_that_eval_kept_is_known_when_it_is_imported(made: Path) -> None:
    assert evaluated(made, "--json").code == 0
    done = run(made, "history", "import", "reports/eval-result.json", "--json")
    assert done.code == 0, done.err
    assert done.json["files"] == [{"file": "reports/eval-result.json", "result": "known", "new": 0, "known": 1}]
    assert len(past(made)) == 1
    assert json.loads((made / "reports/eval-result.json").read_text())["kind"] == "bench"
