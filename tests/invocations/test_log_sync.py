"""``log sync``: what a nightly run reads, stores and says, and what becomes of it when it is killed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.formats import claude_code
from tests.cli.running import Done, run
from tests.invocations.recorded import GOOD, line, write
from tests.invocations.traces import SKILL, chat, span, traces
from tests.invocations.transcripts import SESSION, Transcript
from tests.store.test_keeper import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillgate.invocations.formats import Lines, Options
    from skillgate.model.invocation import Read

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

SILENT = (0, "", "")
IDS = "SELECT invocation_id, ending, follow_up_count, digest FROM invocations ORDER BY invocation_id"


def session(number: int = 0) -> Transcript:
    """Write a session with one use of a skill."""
    told = Transcript(f"207dc2f4-5f09-4c58-830c-{number:012}", tag=f"s{number}e").prompt()
    return told.skill().run(command="ls").say("I have merged the sheets.")


def tree(folder: Path, count: int = 3) -> Path:
    """Write sessions, as old as those of yesterday."""
    for number in range(count):
        told = session(number)
        save(folder / f"-home-user-secret{number % 2}" / f"{told.session}.jsonl", told.data)
    return folder


def save(path: Path, data: bytes) -> Path:
    """Write a file that was changed some time ago; its own times are always older than now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def settle() -> None:
    """Wait until the times of files are older than what a run distrusts."""
    time.sleep(2.1)


def synced(folder: Path, *words: str, **variables: str) -> Done:
    return run(folder, "log", "sync", *words, **variables)


def stored(folder: Path, sql: str = IDS) -> list[Any]:
    return rows(str(folder / ".skillgate/store.db"), sql)


def test_the_second_run_reads_nothing_and_prints_nothing(tmp_path: Path) -> None:
    tree(tmp_path / "projects")
    first = synced(tmp_path, "projects")
    assert (first.code, first.err) == (0, "")
    assert first.out == ("3 files read: 3 new; 0 unchanged, 0 without uses of skills; store .skillgate/store.db\n")
    found = stored(tmp_path)
    assert synced(tmp_path, "projects") == SILENT
    more = synced(tmp_path, "projects", "-v")
    assert more.out == "0 files read: 0 new; 3 unchanged, 0 without uses of skills; store .skillgate/store.db\n"
    assert synced(tmp_path, "projects", "--json").json["unchanged"] == 3
    assert stored(tmp_path) == found
    assert b"secret" not in (tmp_path / ".skillgate/store.db").read_bytes()


def test_a_run_without_anything_new_does_not_load_the_database_packages(tmp_path: Path) -> None:
    tree(tmp_path / "projects")
    settle()
    code = (
        "import sys; from skillgate.cli.main import main; main(); print(*{'sqlalchemy', 'alembic'} & set(sys.modules))"
    )
    argv = [sys.executable, "-c", code, "log", "sync", "projects"]
    loaded = [subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert "sqlalchemy" in loaded[0]
    assert loaded[1] == "\n"


def test_a_use_that_continues_is_read_as_a_whole(tmp_path: Path) -> None:
    told = session()
    place = save(tmp_path / "projects/p" / f"{SESSION}.jsonl", told.data)
    assert synced(tmp_path, "projects").out.startswith("1 file read: 1 new;")
    told.prompt("no, that is wrong")
    told.say("I see.")
    save(place, told.data)
    assert synced(tmp_path, "projects").out.startswith("1 file read: 0 new, 1 replaced;")
    ((_, _, follow_ups, _),) = stored(tmp_path)
    assert follow_ups == 1
    assert synced(tmp_path, "projects") == SILENT


def test_of_lines_that_are_independent_only_new_ones_are_read(tmp_path: Path) -> None:
    place = write(tmp_path / "runs.jsonl", [line(number, **GOOD) for number in range(5)])
    assert synced(tmp_path, "runs.jsonl").out.startswith("1 file read: 5 new;")
    write(place, [line(number, **GOOD) for number in range(7)])
    (found,) = synced(tmp_path, "runs.jsonl", "--json").json["files"]
    assert (found["new"], found["known"]) == (2, 0)
    write(place, [line(number, **GOOD) for number in (9, *range(1, 8))])  # it does not begin as before
    (found,) = synced(tmp_path, "runs.jsonl", "--json").json["files"]
    assert (found["new"], found["known"]) == (2, 6)


def test_a_last_line_without_an_end_is_not_read_twice(tmp_path: Path) -> None:
    texts = [json.dumps(line(number, **GOOD)) for number in range(4)]
    place = save(tmp_path / "runs.jsonl", "\n".join(texts[:2]).encode())
    assert synced(tmp_path, "runs.jsonl").out.startswith("1 file read: 2 new;")
    save(place, ("\n".join(texts) + "\n{broken}\n").encode())
    done = synced(tmp_path, "runs.jsonl")
    assert (done.code, done.out[:26]) == (2, "1 file read: 2 new, 2 alre")
    assert done.err.startswith("runs.jsonl:5: ")


def test_a_half_last_line_waits_silently(tmp_path: Path) -> None:
    told = session()
    data = told.data
    cut = data.rindex(b"\n", 0, -1) + 40  # in the last line
    place = save(tmp_path / "projects" / f"{SESSION}.jsonl", data[:cut])
    first = synced(tmp_path, "projects")
    assert (first.code, first.err) == (0, "")
    assert synced(tmp_path, "projects") == SILENT
    ((_, ending, _, _),) = stored(tmp_path)
    assert ending is None
    save(place, data)
    assert synced(tmp_path, "projects").out.startswith("1 file read: 0 new, 1 replaced;")
    ((_, ending, _, _),) = stored(tmp_path)
    assert ending == "complete"


def test_a_document_that_is_being_written_waits(tmp_path: Path) -> None:
    entries = [{"type": "tool_call", "name": "x"}]
    text = json.dumps({"logs_version": 1, "skill_name": "notes", "entries": entries}, indent=1)
    place = save(tmp_path / "logs/run.json", text[: text.index("entries")].encode())
    assert synced(tmp_path, "logs") == SILENT
    save(place, text.encode())
    assert synced(tmp_path, "logs", "-v").out.startswith("1 file read: ")


def test_a_broken_line_is_told_once(tmp_path: Path) -> None:
    told = session()
    told.raw(b'{"type": "user", broken')
    told.prompt("thanks, perfect!")
    place = save(tmp_path / "projects" / f"{SESSION}.jsonl", told.data)
    first = synced(tmp_path, "projects")
    number = len(told.lines) - 1
    assert first.code == 2
    assert f"{SESSION}.jsonl:{number}: invalid or truncated JSON" in first.err
    assert "1 record rejected; everything else is in the store" in first.err
    assert synced(tmp_path, "projects") == SILENT
    told.prompt("and now the next thing")
    save(place, told.data)
    later = synced(tmp_path, "projects")
    assert (later.code, later.err) == (0, "")
    told.raw(b"[another").prompt()
    save(place, told.data)
    assert synced(tmp_path, "projects").err.count("invalid or truncated JSON") == 1


def test_a_file_at_which_a_reader_fails_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path / "projects")
    told = session(8).prompt("fail here")
    save(tmp_path / "projects/-a" / f"{told.session}.jsonl", told.data)
    read = claude_code.read

    def failing(lines: Lines, options: Options) -> Iterator[Read]:
        held = list(lines)
        if b"fail here" in held[-1][1]:
            raise TypeError("unhashable type: 'list' of Bob")
        return read(iter(held), options)

    monkeypatch.setattr(claude_code, "read", failing)
    first = synced(tmp_path, "projects")
    assert (first.code, first.out[:19]) == (2, "3 files read: 3 new")
    assert f"-a/{told.session}.jsonl: cannot be read because of an internal error, TypeError\n" in first.err
    assert "Bob" not in first.err
    assert synced(tmp_path, "projects") == SILENT


def test_foreign_files_are_skipped_silently(tmp_path: Path) -> None:
    tree(tmp_path / "projects")
    save(tmp_path / "projects/README.md", b"# Notes\n")
    issues = [{"id": f"bd-{number}", "title": "Fix it", "status": "open"} for number in range(300)]
    write_lines = "".join(f"{json.dumps(one)}\n" for one in issues)
    save(tmp_path / "projects/.beads/issues.jsonl", write_lines.encode())
    save(tmp_path / "projects/package.json", b'{"name": "x"}\n')
    save(tmp_path / "projects/odd.json", b"\x00\xff")
    save(tmp_path / "projects/empty.jsonl", b"")
    first = synced(tmp_path, "projects")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("3 files read: 3 new; 0 unchanged, 3 without uses of skills;")
    assert synced(tmp_path, "projects") == SILENT


def with_agent(folder: Path) -> tuple[Path, Transcript]:
    """Write a session with a sub-agent that has a file of its own."""
    agent = Transcript(agent="a1", tag="a").prompt("count it").run(command="wc").say("Three.")
    told = Transcript().prompt().skill().agent_call().agent_done("a1").say("I have merged the sheets.")
    save(folder / f"{SESSION}.jsonl", told.data)
    return save(folder / SESSION / "subagents/agent-a1.jsonl", agent.data), agent


def test_a_sub_agent_belongs_to_its_session(tmp_path: Path) -> None:
    place, agent = with_agent(tmp_path / "projects/p")
    calls = "SELECT tool_call_count FROM invocations"
    first = synced(tmp_path, "projects")
    assert (first.code, first.err) == (0, "")
    before = stored(tmp_path, calls)
    settle()
    assert synced(tmp_path, "projects").err == ""
    assert synced(tmp_path, "projects") == SILENT
    agent.run(command="wc -l", call="toolu_more").say("Four.")
    agent.wait(60)
    save(place, agent.data)
    done = synced(tmp_path, "projects", "--json").json
    assert [one["file"] for one in done["files"]] == [f"projects/p/{SESSION}.jsonl"]
    assert stored(tmp_path, calls) >= before
    assert done["problems"] == []


def test_an_import_has_no_note_on_files_of_sub_agents(tmp_path: Path) -> None:
    with_agent(tmp_path / "projects/p")
    done = run(tmp_path, "log", "import", "projects")
    assert (done.code, done.err) == (0, "")
    alone = run(tmp_path, "log", "import", f"projects/p/{SESSION}/subagents")
    assert "sub-agent" in alone.err


def test_what_is_gone_is_fine_and_what_cannot_be_read_is_told_each_time(tmp_path: Path) -> None:
    tree(tmp_path / "projects")
    assert synced(tmp_path, "projects").code == 0
    shutil.rmtree(tmp_path / "projects/-home-user-secret0")
    assert synced(tmp_path, "projects") == SILENT
    shutil.rmtree(tmp_path / "projects/-home-user-secret1")
    assert synced(tmp_path, "projects") == SILENT
    for _ in range(2):
        done = synced(tmp_path, "projects", "nowhere")
        assert (done.code, "nowhere does not exist" in done.err) == (2, True)


def test_a_file_whose_time_alone_changed_is_not_stored_again(tmp_path: Path) -> None:
    folder = tree(tmp_path / "projects")
    assert synced(tmp_path, "projects").code == 0
    for place in folder.rglob("*.jsonl"):
        os.utime(place, (1, 1))
    assert synced(tmp_path, "projects", "--json").json["files"] == []


def test_other_content_of_the_same_size_and_time_is_read(tmp_path: Path) -> None:
    place = write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    os.utime(place, (1, 1))
    settle()
    assert synced(tmp_path, "runs.jsonl").code == 0
    place.write_bytes(place.read_bytes().replace(b"notes-1", b"notes-2"))
    os.utime(place, (1, 1))
    assert synced(tmp_path, "runs.jsonl").out.startswith("1 file read: 1 new;")


def test_another_rubric_or_project_reads_everything_again(tmp_path: Path) -> None:
    tree(tmp_path / "projects")
    assert synced(tmp_path, "projects").code == 0
    assert len(synced(tmp_path, "projects", "--rubric", "1.0", "--json").json["files"]) == 3
    assert stored(tmp_path, "SELECT count(*) FROM skill_scores") == [(6,)]
    assert synced(tmp_path, "projects", "--rubric", "1.0") == SILENT


def test_the_directories_are_those_of_the_user(tmp_path: Path) -> None:
    tree(tmp_path / "home/.claude/projects", 1)
    home = str(tmp_path / "home")
    assert run_process(tmp_path, "-v", HOME=home).stdout.startswith("1 file read: 1 new;")
    tree(tmp_path / "elsewhere/projects", 2)
    assert synced(tmp_path, "-v", CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere")).out.startswith("2 files read")
    save(tmp_path / "home/.config/skillgate/config.yaml", b"sync: [~/mine]\n")
    tree(tmp_path / "home/mine", 1)
    assert run_process(tmp_path, "-v", HOME=home).stdout.startswith("1 file read: 0 new, 1 already stored;")
    save(tmp_path / ".skillgate.yaml", b"sync: [elsewhere]\n")  # a project does not decide what is read
    refused = synced(tmp_path)
    assert (refused.code, "sync" in refused.err) == (2, True)


def test_the_standard_input_is_refused(tmp_path: Path) -> None:
    done = synced(tmp_path, "-")
    assert (done.code, "log import -" in done.err) == (2, True)


def start(folder: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    """Start a run in a process of its own."""
    argv = [sys.executable, "-m", "skillgate", "log", "sync", *words]
    environ = {**os.environ, **variables}
    return subprocess.Popen(argv, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run_process(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    process = start(folder, *words, **variables)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def test_an_export_that_grew_replaces_what_was_incomplete(tmp_path: Path) -> None:
    first = traces(span(1, None, SKILL))
    place = save(tmp_path / "spans.jsonl", first + b"\n")
    assert synced(tmp_path, "spans.jsonl").out.startswith("1 file read: 1 new;")
    save(place, first + b"\n" + traces(chat(2, 1, 100, 20)) + b"\n")
    done = synced(tmp_path, "spans.jsonl")
    assert (done.code, done.out[:28]) == (0, "1 file read: 0 new, 1 replac")
    assert stored(tmp_path, "SELECT tokens_used FROM invocations") == [(120,)]
