"""What a store keeps of recordings: what was added by hand, and no path, project or free text."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.formats import NO_USE
from skillgate.invocations.formats._input import REPLACED
from tests.cli.running import run
from tests.invocations.clients import CLIENTS
from tests.invocations.recorded import AT, GOOD, line, write
from tests.invocations.transcripts import Transcript, use

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

if TYPE_CHECKING:
    from pathlib import Path


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / ".skillgate" / "store.db")) as store, store:
        return store.execute(query).fetchall()


def session(folder: Path, made: Transcript, name: str = "session.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.data)
    return path


def listed(folder: Path, *words: str) -> list[dict[str, Any]]:
    done = run(folder, "log", "list", "--all", "--json", *words)
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = done.json["invocations"]
    return found


def test_what_was_added_by_hand_survives_every_later_import_of_a_session(tmp_path: Path) -> None:
    made = Transcript().prompt().skill().run().say()
    path = session(tmp_path, made)
    assert run(tmp_path, "log", "import", path.name).code == 0
    (before,) = listed(tmp_path)
    words = ("--set", "user_accepted=true", "--set", 'feedback={"accurate":true}', "--set", "reviewer_minutes=4")
    added = run(tmp_path, "log", "add", "--id", before["invocation_id"], "--update", *words, "--json").json
    assert added["coverage"] > before["coverage"]
    again = run(tmp_path, "log", "import", path.name, "--json")
    assert (again.code, again.json["files"][0]["known"]) == (0, 1)
    path.write_bytes(made.prompt("thanks").say("You are welcome.").data)
    done = run(tmp_path, "log", "import", path.name, "--json")
    assert (done.code, done.json["files"][0]["updated"]) == (0, 1)
    query = "SELECT user_accepted, accuracy, follow_up_count, extra ->> '$.reviewer_minutes' FROM invocations"
    assert rows(tmp_path, query) == [(1, "accurate", 0, 4)]
    (after,) = listed(tmp_path)
    assert after["coverage"] > added["coverage"]  # follow-ups are known since there was a later prompt
    assert after["added"] == ["accuracy", "extra", "feedback_given", "user_accepted"]
    assert run(tmp_path, "log", "import", path.name, "--json", "--rubric", "1.0").code == 0
    assert listed(tmp_path, "--rubric", "1.0")[0]["quality_score"] is None  # no baselines: but it is not lost either


def test_a_line_that_was_added_to_is_known_when_its_file_is_imported_again(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", [line(1, duration_ms=10_000)])
    assert run(tmp_path, "log", "import", path.name).code == 0
    assert run(tmp_path, "log", "add", "--id", "notes-1", "--update", "--set", "user_accepted=false").code == 0
    assert run(tmp_path, "log", "import", path.name).code == 0
    write(path, [line(1, duration_ms=20_000)])
    assert run(tmp_path, "log", "import", path.name).code == 2  # other content under the same id, as before
    assert run(tmp_path, "log", "import", path.name, "--update").code == 0
    assert rows(tmp_path, "SELECT user_accepted, duration_ms FROM invocations") == [(0, 20_000)]


def test_signals_add_up_and_the_last_word_on_a_field_counts(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    run(tmp_path, "log", "import", "runs.jsonl")
    for word in ("user_accepted=false", "user_edit_ratio=0.5", "user_accepted=true", "follow_up_open=3"):
        assert run(tmp_path, "log", "add", "--id", "notes-1", "--update", "--set", word).code == 0
    query = "SELECT user_accepted, user_edit_ratio, follow_up_count, follow_up_open FROM invocations"
    assert rows(tmp_path, query) == [(1, 0.5, 3, 3)]
    found = run(tmp_path, "log", "show", "notes-1", "--json").json
    assert found["added"] == {"follow_up_open": 3, "user_accepted": True, "user_edit_ratio": 0.5}


def test_list_and_show_tell_ids_and_everything_that_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [*[line(n, days=n, **GOOD) for n in range(1, 5)], line(9, skill="other", days=40)])
    run(tmp_path, "log", "import", "runs.jsonl", "--project", "sheets")
    table = run(tmp_path, "log", "list", "--at", AT)
    assert table.code == 0
    assert [word for one in table.out.splitlines() for word in one.split() if word.startswith("notes-")] == [
        f"notes-{number}" for number in range(1, 5)
    ]
    assert "other-9" not in table.out  # of 30 days alone
    assert [one["invocation_id"] for one in listed(tmp_path, "other")] == ["other-9"]
    few = run(tmp_path, "log", "list", "--all", "--limit", "2", "--json").json
    assert ([one["invocation_id"] for one in few["invocations"]], few["left_out"]) == (["notes-1", "notes-2"], 3)
    shown = run(tmp_path, "log", "show", "notes-3", "--json").json
    assert (shown["kind"], shown["skill"], shown["origin"]) == ("log-show", "notes", "sheets")
    assert shown["fields"]["user_accepted"] is True
    assert [one["rubric_version"] for one in shown["scores"]] == ["1.1"]
    assert {part["name"] for part in shown["parts"]} >= {"tokens", "acceptance"}
    text = run(tmp_path, "log", "show", "notes-3").out
    assert "user_accepted" in text
    assert "sheets" in text


def test_show_takes_the_beginning_of_an_id_where_only_one_has_it(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(n) for n in (1, 12, 13)])
    run(tmp_path, "log", "import", "runs.jsonl")
    assert run(tmp_path, "log", "show", "notes-1", "--json").json["invocation_id"] == "notes-1"
    assert run(tmp_path, "log", "show", "notes-13", "--json").json["invocation_id"] == "notes-13"
    many = run(tmp_path, "log", "show", "notes")
    assert (many.code, "notes-1, notes-12, notes-13" in many.err) == (2, True)
    none = run(tmp_path, "log", "show", "nothing")
    assert (none.code, "log list" in none.err) == (2, True)


def test_no_path_or_project_is_stored_unless_a_label_is_asked_for(tmp_path: Path) -> None:
    for project in ("-home-alice-secret-merger", "-home-alice-plans"):
        made = Transcript(tag=project[-1]).prompt().skill().say()
        session(tmp_path, made, f"projects/{project}/one.jsonl")
    assert run(tmp_path, "log", "import", "projects").code == 0
    kept = b"".join(path.read_bytes() for path in (tmp_path / ".skillgate").iterdir())
    assert b"alice" not in kept
    origins = [one["origin"] for one in listed(tmp_path)]
    assert len(set(origins)) == 2
    assert all(one.startswith("folder-") for one in origins)
    assert run(tmp_path, "log", "import", "./projects", "--store", "again.db").code == 0
    with sqlite3.connect(tmp_path / "again.db") as store:  # another store has another salt
        assert not set(origins) & {row[0] for row in store.execute("SELECT origin FROM invocations")}
    labelled = run(tmp_path, "log", "import", "projects", "--store", "label.db", "--project", "Merger")
    assert labelled.code == 0
    with closing(sqlite3.connect(tmp_path / "label.db")) as store, store:
        assert {row[0] for row in store.execute("SELECT origin FROM invocations")} == {"Merger"}


def test_a_sentence_in_place_of_a_skills_name_is_replaced_and_counted(tmp_path: Path) -> None:
    made = Transcript().prompt()
    for number, name in enumerate(("write a letter to Bob Miller, SSN 123-45-6789", "alice@example.com", "/home/a/x")):
        made.skill(name, f"toolu_{number}").say()
    path = session(tmp_path, made.skill("acme:release", "toolu_9").say())
    done = run(tmp_path, "log", "import", path.name)
    assert done.code == 0
    assert f'stored as "{REPLACED}" (3 times)' in done.err
    assert {one["skill"] for one in listed(tmp_path)} == {REPLACED, "acme:release"}
    kept = b"".join(path.read_bytes() for path in (tmp_path / ".skillgate").iterdir())
    assert not any(text in kept for text in (b"Miller", b"alice", b"/home/a"))
    assert run(tmp_path, "log", "import", path.name, "--keep-text", "--store", "kept.db").code == 0
    assert b"Miller" in (tmp_path / "kept.db").read_bytes()


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("model", "letter to Bob", None),
        ("model", "alice@example.com", None),
        ("model", "anthropic/claude-sonnet-5-5@20260101", "anthropic/claude-sonnet-5-5@20260101"),
        ("output_type", "a letter", None),
        ("skill_version", "/home/alice", None),
        ("skill_version", "1.0.0-rc.1+build", "1.0.0-rc.1+build"),
        ("session_id", "alice@example.com", None),
        ("skill_category", "my own words", None),
    ],
)
def test_a_field_that_holds_free_text_is_left_out_and_said(tmp_path: Path, key: str, value: str, kept: object) -> None:
    write(tmp_path / "runs.jsonl", [{**line(1), key: value}])
    done = run(tmp_path, "log", "import", "runs.jsonl")
    assert done.code == 0
    assert rows(tmp_path, f"SELECT {key} FROM invocations") == [(kept,)]
    assert (f"{key} does not look like a name" in done.err) is (kept is None)
    assert kept is not None or value not in done.err


def test_an_id_that_is_an_address_is_stored_as_a_digest_and_still_takes_signals(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [{**line(1), "invocation_id": "alice@example.com/1"}])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    ((stored,),) = rows(tmp_path, "SELECT invocation_id FROM invocations")
    assert stored.startswith("id-")
    words = ("--id", "alice@example.com/1", "--update", "--set", "user_accepted=true")
    assert run(tmp_path, "log", "add", *words).code == 0
    assert rows(tmp_path, "SELECT user_accepted FROM invocations") == [(1,)]


DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("content", "recorded"),
    [
        (DENIED, False),
        ("Execute skill: deploy", False),
        ("Claude requested permissions to use Skill, but you haven't granted it yet.", False),
        ("Permission to use Skill has been denied.", False),
        ("<tool_use_error>Unknown skill: deploy</tool_use_error>", False),
        ("Unknown skill: deploy. Did you mean deploy-all?", False),
        ('Bash command failed for pattern "!`git log main..HEAD`"', True),
    ],
)
def test_a_denied_permission_or_an_unknown_name_is_no_use_of_a_skill(
    tmp_path: Path, content: str, recorded: bool
) -> None:
    made = Transcript().prompt().reply(use("Skill", "toolu_1", skill="deploy"))
    path = session(tmp_path, made.result("toolu_1", content, error=True).say())
    done = run(tmp_path, "log", "import", path.name)
    assert done.code == 0
    assert len(listed(tmp_path)) == recorded
    assert ("not counted" in done.err) is not recorded


def test_a_tool_that_the_user_denied_is_no_error_of_the_skill(tmp_path: Path) -> None:
    made = Transcript().prompt().skill().reply(use("Bash", "toolu_2", command="rm -r build"))
    made.result("toolu_2", DENIED, error=True, details="User rejected tool use").say("I leave it as it is.")
    run(tmp_path, "log", "import", session(tmp_path, made).name)
    assert rows(tmp_path, "SELECT ending, tool_error_count FROM invocations") == [(None, 0)]


def test_a_program_that_prints_a_denial_fails_all_the_same(tmp_path: Path) -> None:
    made = Transcript().prompt().skill().reply(use("Bash", "toolu_2", command="./build"))
    made.result("toolu_2", f"Exit code 1\n{DENIED}", error=True).say()
    run(tmp_path, "log", "import", session(tmp_path, made).name)
    assert rows(tmp_path, "SELECT tool_error_count FROM invocations") == [(1,)]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", json.dumps({"id": "x", "title": "y", "status": "open", "issue_type": "bug"}), "issues of beads"),
        ("a.json", json.dumps({"responderUsername": "Copilot", "requests": []}, indent=2), "a chat of VS Code"),
        ("a.json", json.dumps([{"role": "user", "content": "x"}] * 9_000), "bare messages"),
        ("a.json", json.dumps({"id": "x", "observation": []}, indent=2), "id, observation; expected JSON Lines"),
        ("a.csv", "skill_name,timestamp\na,b\n", "text that is not JSON"),
        ("a.png", "\x89PNG\r\n\x1a\n\0\0", "not a text file"),
        ("a.jsonl", "", "empty file"),
        ("a.json", json.dumps({"resourceLogs": [{"scopeLogs": []}]}), "no span"),
    ],
)
def test_an_import_of_an_unknown_form_says_what_it_saw_and_ends_with_3(
    tmp_path: Path, name: str, content: str, told: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    for words in (("log", "import"), ("log", "score")):
        done = run(tmp_path, *words, name)
        assert done.code == 3, done.err
        assert told in done.err


def test_telemetry_without_any_use_of_a_skill_says_what_it_saw_and_ends_with_3(tmp_path: Path) -> None:
    spans = [
        {"traceId": "a" * 32, "spanId": f"{n:016x}", "name": "claude_code.tool", "startTimeUnixNano": "1",
         "attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "Bash"}}]}
        for n in range(1, 4)
    ]  # fmt: skip
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    (tmp_path / "traces.json").write_text(json.dumps(document), encoding="utf-8")
    done = run(tmp_path, "log", "import", "traces.json")
    assert done.code == 3
    assert "3 spans" in done.err
    assert "gen_ai.skill.name" in done.err


def test_known_records_and_sessions_without_a_skill_end_with_0_and_one_line(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    session(tmp_path, Transcript().prompt().say(), "plain.jsonl")
    run(tmp_path, "log", "import", "runs.jsonl")
    for name, note in (("runs.jsonl", ""), ("plain.jsonl", "plain.jsonl: the session has no use of a skill\n")):
        done = run(tmp_path, "log", "import", name)
        assert (done.code, done.err, len(done.out.splitlines())) == (0, note, 1)
        assert "0 new" in done.out


def test_other_files_among_those_of_a_directory_are_counted_in_one_line(tmp_path: Path) -> None:
    session(tmp_path, Transcript().prompt().skill().say(), "projects/a/one.jsonl")
    for number in range(3):
        write(tmp_path / "projects" / "a" / f"issue{number}.jsonl", [{"id": "x", "title": "y"}])
    done = run(tmp_path, "log", "import", "projects")
    assert done.code == 0
    assert done.err.strip().splitlines() == [
        "projects: 3 files without invocations in a known format, such as projects/a/issue0.jsonl"
    ]
    (tmp_path / "projects" / "a" / "one.jsonl").unlink()
    assert run(tmp_path, "log", "import", "projects").code == 3


def test_what_was_cached_as_text_takes_signals_without_asking_for_text_again(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [{**line(1), "skill_name": "write a letter", "invocation_id": "run of Bob"}])
    assert run(tmp_path, "log", "import", "runs.jsonl", "--keep-text").code == 0
    words = ("--id", "run of Bob", "--update", "--set", "user_accepted=true")
    done = run(tmp_path, "log", "add", *words)
    assert (done.code, done.err) == (0, "")
    assert run(tmp_path, "log", "add", *words, "--skill", "write a letter").code == 0
    other = run(tmp_path, "log", "add", *words, "--skill", "other")
    assert (other.code, "belongs to skill write a letter" in other.err) == (2, True)
    assert rows(tmp_path, "SELECT skill_name, invocation_id, user_accepted FROM invocations") == [
        ("write a letter", "run of Bob", 1)
    ]


@pytest.mark.parametrize("value", ['{"user_accepted": []}', '{"user_accepted": {}}', '{"ending": [1]}', "[1]", "x"])
def test_added_fields_that_somebody_else_wrote_are_named_and_are_no_crash(tmp_path: Path, value: str) -> None:
    write(tmp_path / "runs.jsonl", [line(1)])
    run(tmp_path, "log", "import", "runs.jsonl")
    with closing(sqlite3.connect(tmp_path / ".skillgate" / "store.db")) as store, store:
        store.execute("UPDATE invocations SET added = ?", (value,))
    words = (("list", "--all"), ("show", "notes-1"), ("add", "--id", "notes-1", "--update", "--set", "recovered=true"))
    for more in (*words, ("import", "runs.jsonl")):
        done = run(tmp_path, "log", *more)
        assert (done.code, "a value that skillgate did not write" in done.err) == (3, True), done.err


@pytest.mark.parametrize("word", ["user_accepted=null", "outcome=interrupted", "skill_version=my own words"])
def test_an_update_that_adds_nothing_is_refused_and_not_called_one(tmp_path: Path, word: str) -> None:
    write(tmp_path / "runs.jsonl", [line(1)])
    run(tmp_path, "log", "import", "runs.jsonl")
    done = run(tmp_path, "log", "add", "--id", "notes-1", "--update", "--set", word)
    assert (done.code, done.out, "nothing to add" in done.err) == (2, "", True)


def test_a_path_in_a_field_is_repeated_in_no_message(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1), {**line(2), "error_count": "/home/alice/x"}])
    done = run(tmp_path, "log", "import", "runs.jsonl", "--json")
    assert (done.code, "a string of 13 characters" in done.err) == (2, True)
    assert "alice" not in done.err + done.out


def test_a_model_that_is_an_address_is_not_kept_of_a_session(tmp_path: Path) -> None:
    data = Transcript().prompt().skill().say().data.replace(b"claude-sonnet-5-5", b"alice@example.com")
    (tmp_path / "session.jsonl").write_bytes(data)
    assert run(tmp_path, "log", "import", "session.jsonl").code == 0
    assert rows(tmp_path, "SELECT model FROM invocations") == [(None,)]


def test_a_sentence_in_the_arguments_of_a_span_is_no_name_either(tmp_path: Path) -> None:
    said = {"gen_ai.tool.name": "Skill", "gen_ai.tool.call.arguments": json.dumps({"skill": "Bob Miller asks for it"})}
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "startTimeUnixNano": "1790000000000000000", "attributes": pairs}
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    (tmp_path / "traces.json").write_text(json.dumps(document), encoding="utf-8")
    run(tmp_path, "log", "import", "traces.json")
    assert rows(tmp_path, "SELECT skill_name FROM invocations") == [(REPLACED,)]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_session_of_each_client_is_imported_once_and_one_without_a_skill_says_so(tmp_path: Path, name: str) -> None:
    session = CLIENTS[name]()
    session.take(("> join my exports", "skill merge-sheets", "Bash", "says Done."))
    plain = CLIENTS[name]()
    plain.take(("> join my exports", "Bash", "says Done."))
    for file, data in (("used", session.data), ("plain", plain.data)):
        (tmp_path / file).write_bytes(data)
    for count in ("1 new", "1 already stored"):
        done = run(tmp_path, "log", "import", "used", "plain")
        assert (done.code, count in done.out, NO_USE in done.err) == (0, True, True), done
    assert rows(tmp_path, "SELECT skill_name, source FROM invocations") == [("merge-sheets", name)]


def test_the_issues_of_another_program_beside_transcripts_are_one_note(tmp_path: Path) -> None:
    session(tmp_path, Transcript().prompt().skill().say(), "one.jsonl")
    (tmp_path / ".beads").mkdir()
    issue = {"id": "x-1", "title": "y", "status": "open", "issue_type": "bug", "labels": ["skill"]}
    write(tmp_path / ".beads" / "issues.jsonl", [issue] * 348)
    done = run(tmp_path, "log", "import", ".")
    assert (done.code, len(done.err.splitlines()), "1 new" in done.out) == (0, 1, True), done.err
    assert "1 file without invocations" in done.err


def test_a_first_line_that_is_too_long_to_be_recognised_is_taken_where_its_form_is_named(tmp_path: Path) -> None:
    first = {"tool_calls": [{"tool": "x" * 40}] * 2_000, **line(1)}
    write(tmp_path / "runs.jsonl", [first, line(2)])
    done = run(tmp_path, "log", "import", "runs.jsonl")
    assert (done.code, "--format" in done.err) == (3, True), done.err
    assert run(tmp_path, "log", "import", "runs.jsonl", "--format", "jsonl").code == 0


def test_a_form_that_is_named_and_does_not_hold_is_no_session_without_a_skill(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1), line(2)])
    (tmp_path / "logs.json").write_text(json.dumps({"resourceLogs": []}), encoding="utf-8")
    for name in ("runs.jsonl", "logs.json"):
        done = run(tmp_path, "log", "import", name, "--format", "claude-code")
        assert (done.code, "no line is from a Claude Code transcript" in done.err) == (3, True), done.err
    session(tmp_path, Transcript().raw({"type": "summary", "leafUuid": "e", "summary": "x"}), "short.jsonl")
    assert run(tmp_path, "log", "import", "short.jsonl", "--format", "claude-code").code == 0


def test_a_directory_without_any_known_file_ends_with_3_beside_one_that_has_some(tmp_path: Path) -> None:
    for folder in ("good", "bad"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "other.jsonl", [{"id": "x", "title": "y"}])
    write(tmp_path / "good" / "runs.jsonl", [line(1, **GOOD)])
    for word in ("import", "score"):
        done = run(tmp_path, "log", word, "good")
        assert (done.code, "1 file without invocations in a known format" in done.err) == (0, True), done.err
        done = run(tmp_path, "log", word, "good", "bad")
        assert (done.code, "bad/other.jsonl" in done.err) == (3, True), done.err
        assert "good/other.jsonl: it is" not in done.err


def test_a_window_without_any_invocation_is_not_called_an_empty_store(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, days=40)])
    run(tmp_path, "log", "import", "runs.jsonl")
    for words in ((), ("notes",)):
        done = run(tmp_path, "log", "list", "--at", AT, *words)
        assert (done.code, done.out, "30 days" in done.err, "--all" in done.err) == (0, "", True, True), done.err
    other = run(tmp_path, "log", "list", "other", "--all")
    assert (other.code, other.out, "of other" in other.err) == (0, "", True)
