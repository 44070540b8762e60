"""A use of a skill is stored once, whichever telemetry of its session comes first, and whoever sends its ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run
from tests.invocations.claude_telemetry import activated, claude_span, logs, request
from tests.invocations.test_log_serve import serving, stored
from tests.invocations.traces import BEGAN, SKILL, chat, span, traces

if TYPE_CHECKING:
    from pathlib import Path

LOAD = {"tool_name": "Skill", "skill_name": "pdf"}
SPANS = traces(claude_span("interaction", 1, None, 0, 400), claude_span("tool", 3, 1, 4, 5, **LOAD))
TWO_SPANS = traces(claude_span("tool", 3, None, 4, 5, **LOAD), claude_span("tool", 4, None, 304, 305, **LOAD))
EVENTS = logs(activated("pdf", 4.5), request(7, skill__name="pdf"))
TWO_EVENTS = logs(activated("pdf", 4.5), activated("pdf", 304.5, prompt="p-2"), activated("pdf", 900, session="s-2"))
LEFT_OUT = "a use is left out: it is stored from the logs, the traces or the transcript of its session"


@pytest.mark.parametrize("order", [("logs", "traces"), ("traces", "logs")])
def test_logs_and_traces_of_a_session_in_separate_files_count_once(tmp_path: Path, order: tuple[str, str]) -> None:
    (tmp_path / "logs.jsonl").write_bytes(EVENTS)
    (tmp_path / "traces.jsonl").write_bytes(SPANS)
    first, second = (run(tmp_path, "log", "import", f"{name}.jsonl") for name in order)
    assert (first.code, second.code) == (0, 0)
    assert [LEFT_OUT in one.err for one in (first, second)] == [False, True]
    assert second.out.startswith("1 file, 0 new, 1 already stored; ")
    ((name,),) = stored(tmp_path, "invocation_id")
    assert name.startswith("claude-") is (order[0] == "logs")
    second = run(tmp_path, "log", "import", f"{order[0]}.jsonl")
    assert (LEFT_OUT in second.err, second.out.startswith("1 file, 0 new, 1 already stored; ")) == (False, True)


def test_each_use_is_compared_by_session_skill_and_time(tmp_path: Path) -> None:
    for name, data in (("traces", SPANS), ("logs", TWO_EVENTS), ("more", TWO_SPANS)):
        (tmp_path / f"{name}.jsonl").write_bytes(data)
        assert run(tmp_path, "log", "import", f"{name}.jsonl").code == 0
    found = stored(tmp_path, "session_id, substr(invocation_id, 1, 7) = 'claude-'")
    assert sorted(found) == [("s-1", 0), ("s-1", 1), ("s-2", 1)]


def test_logs_that_are_received_and_traces_that_are_imported_count_once(tmp_path: Path) -> None:
    (tmp_path / "traces.jsonl").write_bytes(SPANS)
    assert run(tmp_path, "log", "import", "traces.jsonl").code == 0
    with serving(tmp_path) as served:
        assert served.post("/v1/logs", EVENTS)[0] == 200
        code, _, err = served.end()
    assert (code, err.count(LEFT_OUT)) == (0, 1)
    assert len(stored(tmp_path)) == 1


OTHER = span(1, None, {"skillgate.skill.name": "other"})
LATER = traces(span(1, None, SKILL, endTimeUnixNano=f"{BEGAN + 99}000000000"), chat(2, 1, 500, 700))


def test_another_file_with_the_same_ids_replaces_nothing(tmp_path: Path) -> None:
    own, others = tmp_path / "own", tmp_path / "others"
    for folder, data in ((own, traces(span(1, None, SKILL), chat(2, 1, 5, 7))), (others, LATER)):
        folder.mkdir()
        (folder / "traces.jsonl").write_bytes(data)
    assert run(tmp_path, "log", "import", "own/traces.jsonl").code == 0
    assert run(tmp_path, "log", "import", "others/traces.jsonl").out.startswith("1 file, 0 new, 1 already stored; ")
    (own / "traces.jsonl").write_bytes(traces(OTHER))
    refused = run(tmp_path, "log", "import", "own/traces.jsonl")
    assert (refused.code, "is already in the store with other values" in refused.err) == (2, True)
    assert stored(tmp_path) == [("csv-merge", 12)]
    (own / "traces.jsonl").write_bytes(LATER)  # the same file, of which more was written
    assert run(tmp_path, "log", "import", "own/traces.jsonl").out.startswith("1 file, 0 new, 1 replaced; ")
    assert run(tmp_path, "log", "import", "own/traces.jsonl", "--update").code == 0
    assert stored(tmp_path) == [("csv-merge", 1_200)]


def test_a_sender_does_not_replace_the_use_of_another(tmp_path: Path) -> None:
    for spool, spans in (("one", [span(1, None, SKILL), chat(2, 1, 5, 7)]), ("two", [OTHER])):
        with serving(tmp_path, "--spool", spool) as served:
            assert served.post("/v1/traces", traces(*spans))[0] == 200
            code, _, err = served.end()
            assert code == 0
    assert "is already in the store with other values" in err
    assert stored(tmp_path) == [("csv-merge", 12)]
