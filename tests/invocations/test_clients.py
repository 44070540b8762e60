"""Sessions of other clients, each with the reading that was decided for it: ``clients.txt`` beside this."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.invocations.formats import LONGEST, NO_USE, Options, reader, recognise
from tests.invocations.clients import (
    BEGAN,
    CACHE,
    CLIENTS,
    SESSION,
    ClaudeStream,
    Codex,
    CopilotCli,
    GeminiCli,
    OpenCode,
    Session,
)
from tests.invocations.readings import lines_of
from tests.invocations.test_uses import Case, reading_of
from tests.invocations.transcripts import MODEL, NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.invocation import Invocation, Read

ENDED = BEGAN + timedelta(minutes=10)
OPTIONS = Options(NOW, modified=ENDED)


def cases() -> Iterator[Case]:
    """Yield the cases of the table."""
    _, *texts = (Path(__file__).parent / "clients.txt").read_text("utf-8").split("\n## ")
    for text in texts:
        name, *lines = filter(None, text.split("\n"))
        readings = tuple(line[2:] for line in lines if line.startswith("= "))
        yield Case(name, tuple(line for line in lines if not line.startswith("= ")), readings)


CASES = tuple(cases())


def session_of(case: Case) -> Session:
    """Write the session of a case."""
    written = CLIENTS[case.name.partition(":")[0]]()
    written.take(case.steps)
    return written


def found(data: bytes, options: Options = OPTIONS) -> list[Read]:
    """Read a file whose format is detected."""
    form = recognise(data[:65_536])
    assert form is not None
    return list(reader(form)(lines_of(data), options))


def used(data: bytes, options: Options = OPTIONS) -> list[Invocation]:
    """Read a file without problems."""
    reads = found(data, options)
    assert [read.problem for read in reads if read.problem is not None] == []
    return [read.invocation for read in reads if read.invocation is not None]


def full_reading(one: Invocation) -> str:
    """Return a reading as in the table."""
    caller = "?" if one.called_by is None else one.called_by.value
    return f"{reading_of(one)} {caller}{f' {one.skill_version}' if one.skill_version else ''}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_session_is_read_as_decided(case: Case) -> None:
    data = session_of(case).data
    assert recognise(data[:65_536]) == case.name.partition(":")[0]
    assert tuple(map(full_reading, used(data))) == case.readings


def test_every_client_has_ten_cases_with_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    counts = Counter(case.name.partition(":")[0] for case in CASES)
    assert counts.keys() == CLIENTS.keys()
    assert min(counts.values()) >= 10


@pytest.mark.parametrize("case", [one for one in CASES if one.name.startswith("gemini")], ids=lambda case: case.name)
def test_the_document_of_earlier_versions_is_read_alike(case: Case) -> None:
    session = session_of(case)
    assert isinstance(session, GeminiCli)
    assert tuple(map(full_reading, used(session.document))) == case.readings


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("case", [one for one in CASES if one.name.startswith("claude")], ids=lambda case: case.name)
def test_the_execution_file_is_read_alike(case: Case, indent: int | None) -> None:
    data = json.dumps(session_of(case).lines, indent=indent).encode()
    assert tuple(map(full_reading, used(data))) == case.readings


def one_use(session: Session, *steps: str, options: Options = OPTIONS) -> Invocation:
    session.take(steps)
    (one,) = used(session.data, options)
    return one


def test_a_command_that_is_a_whole_session_has_its_price_and_duration() -> None:
    one = one_use(ClaudeStream(), "/release", "Bash", "says Released.", "result")
    assert (one.cost_usd, one.cost_estimated, one.duration_ms) == (0.25, True, 60_000)
    assert (one.timestamp, one.session_id, one.source) == (ENDED - timedelta(minutes=1), SESSION, "claude-stream")


@pytest.mark.parametrize(
    "steps",
    [
        ("skill release", "Bash", "says Released.", "result"),
        ("/release", "Bash", "says+ Half of it.", "Bash", "says Released.", "result"),
        ("/release", "Bash", "says Released.", "result", "> thanks", "says Good.", "result"),
        ("Bash", "/release", "Bash", "says Released.", "result"),
    ],
)
def test_any_other_use_is_charged_with_its_own_replies_only(steps: tuple[str, ...]) -> None:
    one = one_use(ClaudeStream(), *steps)
    assert (one.cost_usd, one.duration_ms, one.tokens_used) == (0.00105, None, 260)


def test_the_time_of_a_stream_without_times_is_said_to_be_the_files() -> None:
    session = ClaudeStream()
    session.take(("skill release", "Bash", "says Released.", "result"))
    warnings = [warning for read in found(session.data) for warning in read.warnings]
    assert warnings == ["messages have no times; the file's modification time less the session's duration is used"]
    reads = found(session.data, OPTIONS._replace(modified=None))
    assert [read.problem for read in reads] == ["the call has no time", None]
    assert reads[1].warnings == (
        "messages have no times; import the file by its path, so that its modification time is known",
    )


def test_a_stream_with_times_uses_them() -> None:
    one = one_use(ClaudeStream(timed=True), "skill release", "Bash", "says Released.", "result")
    assert (one.timestamp, one.duration_ms) == (BEGAN + timedelta(seconds=1), 5_000)


def test_figures_of_codex() -> None:
    one = one_use(Codex(), "skill merge-sheets", "Write a.py", "says Here.", "> sort it", "Edit a.py", "says Here.")
    assert (one.tokens_input, one.tokens_output, one.extra) == (200, 40, {"tokens_cache_read": 2_000, **seen(one)})
    assert (one.model, one.cost_usd, one.session_id, one.duration_ms) == ("gpt-5.5", None, SESSION, 6_000)
    assert (one.output_size, one.files_changed, one.user_edit_ratio) == (2, 1, 0.5)


@pytest.mark.parametrize("info", [None, {}, "repeated"])
def test_a_token_count_of_codex_without_new_tokens_counts_nothing(info: object) -> None:
    session = Codex()
    session.take(("> join", "skill merge-sheets", "Bash", "says Here."))
    for place in [place for place, line in enumerate(session.lines) if line["payload"].get("type") == "token_count"][
        ::-1
    ]:
        counted = session.lines[place]
        same = {**counted["payload"], "info": counted["payload"]["info"] if info == "repeated" else info}
        session.lines.insert(place + (info == "repeated"), {**counted, "payload": same})
    assert [(one.tokens_input, one.tokens_output) for one in used(session.data)] == [(200, 40)]


def seen(one: Invocation) -> dict[str, object]:
    assert one.extra is not None
    return {"transcript_seen_until": one.extra["transcript_seen_until"]}


def test_figures_of_gemini_cli() -> None:
    one = one_use(GeminiCli(), "> join", "skill merge-sheets", "Write a.py", "says Here.")
    assert (one.tokens_input, one.tokens_output, one.tool_call_count) == (200, 50, 1)
    assert (one.model, one.session_id, one.output_size) == ("gemini-3-pro", SESSION, 2)


def test_figures_of_opencode_have_the_clients_own_price() -> None:
    one = one_use(OpenCode(), "> join", "skill merge-sheets", "Bash", "says Here.")
    assert (one.tokens_input, one.tokens_output, one.cost_usd, one.cost_estimated) == (200, 50, 0.002, True)
    assert (one.model, one.session_id) == (MODEL, "ses_1")


def test_copilot_cli_records_no_input_tokens_and_is_not_warned_about_it() -> None:
    session = CopilotCli()
    session.take(("> join", "skill merge-sheets", "Bash", "says Here."))
    (read,) = found(session.data)
    assert read.invocation is not None
    assert (read.invocation.tokens_used, read.invocation.cost_usd, read.warnings) == (None, None, ())
    assert read.invocation.duration_ms == 10_000


@pytest.mark.parametrize(
    ("command", "skill"),
    [
        ("cat /home/u/.codex/skills/a/SKILL.md", "a"),
        ("sed -n '1,200p' .agents/skills/a/SKILL.md", "a"),
        ("head -50 /home/u/.codex/skills/.system/skill-creator/SKILL.md", "skill-creator"),
        (f"cat {CACHE}/acme/unknown/skills/a/SKILL.md", "acme:a"),
        ("ls .agents/skills/a/SKILL.md", None),
        ("cat skills/a/SKILL.md", None),
        ("cat .agents/skills/a/references/SKILL.txt", None),
        ("echo 'cat .agents/skills/a/SKILL.md'", None),
        ("cat '", None),
    ],
)
def test_what_codex_reads_as_a_skill(command: str, skill: str | None) -> None:
    session = Codex()
    session.prompt("go on")
    session.shell(command)
    session.say("Done.", goes_on=False)
    assert [(one.skill_name, one.skill_version) for one in used(session.data)] == ([(skill, None)] if skill else [])


@pytest.mark.parametrize(
    ("output", "errors"),
    [
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\ntext", 1),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1", 0),
        (json.dumps({"output": "text", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}), 1),
        (json.dumps({"output": '"exit_code": 2', "metadata": {"exit_code": 0}}), 0),
        ([{"type": "input_text", "text": "Process exited with code 3\nOutput:\n"}], 1),
        ({"content": "Exit code: 1\nOutput:\n", "success": False}, 1),
        (None, 0),
    ],
)
def test_exit_codes_in_every_form_that_codex_has_used(output: object, errors: int) -> None:
    session = Codex()
    session.take(("> join", "skill merge-sheets", "Bash", "says Here."))
    results = [line for line in session.lines if line["payload"].get("type") == "function_call_output"]
    results[-1]["payload"]["output"] = output
    assert [one.tool_error_count for one in used(session.data)] == [errors]


def test_the_text_of_a_skill_whose_folder_has_another_name_is_no_use() -> None:
    session = ClaudeStream()
    session.answer(session.use("Skill", skill="release"))
    session.body("release-it")
    session.take(("Bash", "says Released.", "result"))
    assert [one.skill_name for one in used(session.data)] == ["release"]


def test_what_copilot_cli_prints_is_read_too() -> None:
    session = CopilotCli()
    session.take(("> /merge-sheets", "/merge-sheets", "Bash", "says The sheets are merged."))
    del session.lines[0]  # the session's id
    for line in session.lines:
        line["data"].pop("trigger", None)
    session.lines.insert(0, {"type": "session.tools_updated", "data": {"model": "gpt-5.4"}, "ephemeral": True})
    session.lines.append({"type": "result", "sessionId": SESSION, "exitCode": 0, "usage": {"premiumRequests": 1}})
    assert list(map(full_reading, used(session.data))) == ["merge-sheets 1 0 completed:reported_success ? ? user"]


@pytest.mark.parametrize("name", ["codex", "claude-stream"])
def test_a_use_without_any_id_is_rejected(name: str) -> None:
    session = CLIENTS[name]()
    session.take(("/merge-sheets", "Bash", "says Done."))
    for line in session.lines:
        for place in (line, line.get("payload", {})):
            for key in ("session_id", "uuid", "id"):
                place.pop(key, None)
    reads = list(reader(name)(lines_of(session.data), OPTIONS))
    assert reads[0].problem == "the call has no valid id"


def test_a_skill_with_its_own_agent_does_what_the_agent_does() -> None:
    session = ClaudeStream()
    call = session.use("Skill", skill="release")
    session.inside = call
    session.take(("Bash", "Bash", "says Ready."))
    session.inside = None
    session.answer(call, "Ready.")
    session.take(("Bash", "says Released.", "result"))
    assert [(one.tool_call_count, one.tokens_used) for one in used(session.data)] == [(3, 5 * 130)]


def test_two_skills_that_the_user_names_are_two_uses() -> None:
    session = Codex()
    session.take(("> $join and $plot", "/join", "/plot", "Bash", "says Done."))
    assert [(one.skill_name, one.tool_call_count) for one in used(session.data)] == [("join", None), ("plot", 1)]


# What must not be kept, and what must not break

_NAMES = {
    "pluginName",
    "type",
    "id",
    "uuid",
    "name",
    "skill",
    "model",
    "modelID",
    "role",
    "status",
    "subtype",
    "trigger",
    "timestamp",
}
_IDS = {
    "sessionId",
    "session_id",
    "sessionID",
    "call_id",
    "callID",
    "toolCallId",
    "tool_use_id",
    "agentId",
}
_FORMS = {"messageId", "parent_tool_use_id", "parentId", "tool", "toolName", "reason", "source", "stop_reason", "code"}
STEPS = (
    "> join my exports",
    "skill acme:merge 1.4.0",
    "Write a.py",
    "Bash !",
    "agent 2",
    "says Done.",
    "> no, again",
    "says Done.",
)


def secretive(value: Any, key: str = "") -> Any:
    """Return a value with a secret in each text but those that are names, ids and words of the format itself."""
    if isinstance(value, dict):
        return {name: secretive(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [secretive(one, key) for one in value]
    if key == "arguments" and isinstance(value, str):
        return json.dumps(secretive(json.loads(value)))
    return f"{value} SECRET" if isinstance(value, str) and key not in _NAMES | _IDS | _FORMS else value


@pytest.mark.parametrize("keep_text", [False, True])
@pytest.mark.parametrize("name", CLIENTS)
def test_no_text_of_a_session_leaves_it(name: str, *, keep_text: bool) -> None:
    session = CLIENTS[name]()
    session.take(tuple(step for step in STEPS if name != "codex" or not step.startswith("agent")))
    lines = (
        [json.loads(line) for line in session.data.splitlines()] if name != "opencode" else [json.loads(session.data)]
    )
    data = b"\n".join(json.dumps(secretive(line)).encode() for line in lines)
    assert data.count(b"SECRET") > 10
    reads = found(data, OPTIONS._replace(keep_text=keep_text))
    assert [read.invocation.skill_name[-5:] for read in reads if read.invocation is not None] == ["merge"]
    assert "SECRET" not in repr(reads)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place of a document, as a container and a key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


@pytest.mark.parametrize("odd", [None, 7, -1.5, "x", "\ud800", [], {}, [[{}]], True, 10**30], ids=repr)
@pytest.mark.parametrize("name", CLIENTS)
def test_values_of_other_types_break_nothing(name: str, odd: object) -> None:
    session = CLIENTS[name]()
    session.take(tuple(step for step in STEPS if name != "codex" or not step.startswith("agent")))
    document = (
        [json.loads(line) for line in session.data.splitlines()] if name != "opencode" else [json.loads(session.data)]
    )
    for where, key in list(places(document))[:: 3 if name == "opencode" else 5]:
        before, where[key] = where[key], odd
        data = b"\n".join(json.dumps(line).encode() for line in document)
        for read in reader(name)(lines_of(data), OPTIONS):
            assert read.invocation is None or read.invocation.skill_name
        where[key] = before


@pytest.mark.parametrize("name", CLIENTS)
def test_lines_that_are_broken_or_too_long_are_rejected_alone(name: str) -> None:
    session = CLIENTS[name]()
    session.take(("> join", "skill merge-sheets", "Bash", "says Done."))
    if isinstance(session, OpenCode):
        session.messages.insert(0, {"info": {}, "parts": ["x" * LONGEST]})
        assert [read.problem for read in found(session.data) if read.problem] == [f"longer than {LONGEST:,} bytes"]
    else:
        data = session.data + b'{"type": "x", "text": "' + b"x" * 10 + b"\n[1]\n\n"
        problems = [read.problem for read in found(data) if read.problem is not None]
        assert problems == ["invalid or truncated JSON", "not a JSON object"]


def test_a_long_message_of_a_stream_is_rejected_alone() -> None:
    session = ClaudeStream()
    session.take(("skill merge-sheets", "Bash", "says Done.", "result"))
    long = json.dumps({"type": "user", "session_id": "s", "message": {"content": "x" * LONGEST}}).encode()
    listed = b"[" + b",".join([long, *(json.dumps(line).encode() for line in session.lines)]) + b"]"
    for data in (session.data + long + b"\n", listed):
        reads = list(reader("claude-stream")(lines_of(data), OPTIONS))
        assert [read.problem for read in reads if read.problem] == [f"longer than {LONGEST:,} bytes"]
        assert sum(read.invocation is not None for read in reads) == 1


@pytest.mark.parametrize("name", CLIENTS)
def test_a_session_without_a_skill_says_so(name: str) -> None:
    session = CLIENTS[name]()
    session.take(("> join", "Bash", "says Done."))
    assert [read.warnings for read in found(session.data)] == [(NO_USE,)]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("other", CLIENTS)
def test_a_file_of_another_client_has_nothing_to_import(name: str, other: str) -> None:
    session = CLIENTS[other]()
    session.take(("> join", "skill merge-sheets", "Bash", "says Done."))
    reads = list(reader(name)(lines_of(session.data), OPTIONS))
    assert (sum(read.invocation is not None for read in reads) == 1) is (name == other)
    assert recognise(session.data[:65_536]) == other


@pytest.mark.parametrize(
    ("name", "size"), [("claude-stream", 250), ("codex", 250), ("gemini-cli", 120), ("opencode", 400)]
)
def test_heads_that_end_within_the_first_line_are_recognised(name: str, size: int) -> None:
    session = CLIENTS[name]()
    session.take(("> join", "says Done."))
    assert recognise(session.data[:size]) == name


@pytest.mark.parametrize("name", CLIENTS)
def test_a_use_whose_first_text_ends_its_turn_shares_nothing(name: str) -> None:
    assert one_use(CLIENTS[name](), "> join", "skill merge-sheets", "Bash", "says Done.").shared is False
