"""Transcripts as Claude Code itself writes them, of sessions with a server on the loopback; skipped without it."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from skillgate.invocations.formats import Options, claude_code
from skillgate.invocations.formats._session import _NOT_LOADED
from skillgate.llm.agent_session import RESTRAINTS
from skillgate.llm.demo_server import events
from skillgate.llm.providers.scripted import Message
from skillgate.model.exchange import Tokens
from skillgate.model.invocation import Ending, Evidence, Invocation
from tests.invocations.transcripts import MODEL, NOW, Transcript, example, use
from tests.llm.server import ModelServer, hang

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.invocation import Read
    from tests.llm.server import Behaviour, Handler

_IDS = itertools.count(1)
_OF_TERMINAL = {"origin"}  # a session that a program leads does not tell of it
_TOOLS = ["Skill", "Write", "Edit", "Bash", "Agent"]


class Session(NamedTuple):
    """What a session left: its file, and that of its copy."""

    file: Path
    copy: Path


def says(*blocks: dict[str, Any]) -> Behaviour:
    """Reply with 100 + 3 tokens of input, 7 more out of the cache, and 20 of output."""
    ended = "tool_use" if any(one["type"] == "tool_use" for one in blocks) else "end_turn"
    found = Message(f"msg_{next(_IDS)}", MODEL, blocks, ended, "", Tokens(100, 20, 7, 3))
    data = b"".join(events(found))
    return lambda handler: handler.give(200, data, {"content-type": "text/event-stream"})


def text(said: str = "Done.") -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(tool: str, **given: object) -> dict[str, Any]:
    return use(tool, f"toolu_{next(_IDS)}", **given)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Lead one session, and go on with a copy of it."""
    pytest.importorskip("claude_agent_sdk", reason="the harness is not installed (extra agent-sdk)")
    home = tmp_path_factory.mktemp("home")
    project = home / "project"
    for name in ("merge-sheets", "plot-sheets"):
        (project / ".claude" / "skills" / name).mkdir(parents=True)
        told = f"---\nname: {name}\ndescription: Use when joining exports.\n---\n# {name}\n"
        (project / ".claude" / "skills" / name / "SKILL.md").write_text(told, encoding="utf-8")
    asked = threading.Event()
    with ModelServer(_played(str(project / "join.py"), asked)) as server:
        asyncio.run(_lead(server.url, home, asked))
    first, copy = sorted(home.glob("config/projects/*/*.jsonl"), key=lambda path: "in a copy" in path.read_text())
    return Session(first, copy)


def _played(path: str, asked: threading.Event) -> Behaviour:
    """Reply as a session goes; what is asked in between, as for a summary, is a matter of Claude Code's version."""

    def wait(handler: Handler) -> None:
        asked.set()
        hang(handler)

    first = [
        says(text("First the skill."), call("Skill", skill="merge-sheets")),
        says(text(), call("Write", file_path=path, content="a\nb\nc\n"), call("Bash", command="true")),
        says(call("Edit", file_path=path, old_string="b", new_string="x\ny")),
        says(call("Bash", command="exit 3")),
        says(call("Agent", description="d", prompt="count", subagent_type="general-purpose", run_in_background=False)),
        says(call("Skill", skill="plot-sheets")),
        says(call("Bash", command="true")),
        says(text("The report.")),
        says(text("All done.")),
        says(call("Edit", file_path=path, old_string="c", new_string="z")),
        says(text("Changed.")),
        says(text("As the command says.")),
        says(call("Skill", skill="no-such")),
        says(text("There is none.")),
    ]
    second = [says(call("Skill", skill="merge-sheets")), wait]

    def play(handler: Handler) -> None:
        rest = second if "once more" in json.dumps(handler.model.bodies[-1]["messages"]) else first
        (rest.pop(0) if rest else says(text("A summary.")))(handler)

    return play


async def _lead(url: str, home: Path, asked: threading.Event) -> None:
    import claude_agent_sdk as sdk

    kept = {name: value for name, value in RESTRAINTS.items() if name != "CLAUDE_CODE_SKIP_PROMPT_HISTORY"}
    places = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "TMPDIR": str(home)}
    models = {"ANTHROPIC_SMALL_FAST_MODEL": MODEL, "ANTHROPIC_DEFAULT_HAIKU_MODEL": MODEL}
    given: dict[str, Any] = {
        "cwd": str(home / "project"),
        "env": {**kept, **places, **models, "ANTHROPIC_API_KEY": "sk-test-1", "ANTHROPIC_BASE_URL": url},
        "model": MODEL,
        "setting_sources": ["project"],
        "settings": json.dumps({"disableBundledSkills": True}),
        "skills": "all",
        "tools": _TOOLS,
        "allowed_tools": _TOOLS,
        "permission_mode": "acceptEdits",
        "strict_mcp_config": True,
    }
    told = ""
    async with sdk.ClaudeSDKClient(sdk.ClaudeAgentOptions(**given)) as client:
        for prompt in ("join", "change c", "/merge-sheets third", "load it", "/compact", "once more"):
            await client.query(prompt)
            if prompt == "once more":
                await asyncio.to_thread(asked.wait, 60)
                await client.interrupt()
            async for message in client.receive_response():
                if isinstance(message, sdk.ResultMessage):
                    told = message.session_id
    again = sdk.ClaudeAgentOptions(**given, resume=told, fork_session=True)
    async for _ in sdk.query(prompt="in a copy", options=again):
        pass


def reads(file: Path) -> list[Read]:
    def lines(path: Path) -> Iterator[tuple[int, bytes]]:
        return enumerate(path.read_bytes().splitlines(), 1)

    def beside(path: str) -> Iterator[tuple[int, bytes]] | None:
        return lines(file.parent / path) if (file.parent / path).is_file() else None

    return list(claude_code.read(lines(file), Options(now=NOW.replace(year=9000), sibling=beside)))


def runs(file: Path) -> list[Invocation]:
    found = reads(file)
    said = [(one.problem, one.warnings) for one in found if one.problem or one.warnings]
    assert set(said) <= {(None, (_NOT_LOADED,))}  # the call of a skill that there is not; a copy begins after it
    assert "no-such" not in [one.invocation.skill_name for one in found if one.invocation is not None]
    return [one.invocation for one in found if one.invocation is not None]


def test_a_real_session_gives_the_figures_that_were_played(session: Session) -> None:
    assert claude_code.is_it(session.file.read_bytes()[:65_536])
    first, inner, by_command, interrupted = runs(session.file)
    assert (first.skill_name, first.ending, first.error_count) == ("merge-sheets", Ending.COMPLETE, 0)
    assert (first.tool_error_count, first.outcome_evidence) == (1, Evidence.REPORTED_SUCCESS), "a command failed"
    assert (first.tokens_input, first.tokens_output, first.extra and first.extra["tokens_cache_read"]) == (824, 160, 56)
    assert (first.tool_call_count, first.tool_call_kinds) == (7, 5)
    assert (first.output_size, first.files_changed, first.user_edit_ratio) == (5.0, 1.0, 0.2)
    assert (first.follow_up_count, first.model, first.session_id) == (1, MODEL, session.file.stem)
    assert first.duration_ms is not None
    assert (inner.skill_name, inner.ending, inner.follow_up_count) == ("plot-sheets", None, None)
    assert (inner.tokens_used, inner.tool_call_count) == (246, 1)
    assert (by_command.skill_name, by_command.ending, by_command.tokens_used) == ("merge-sheets", None, 123)
    assert (interrupted.skill_name, interrupted.ending, interrupted.error_count) == ("merge-sheets", None, None)


def test_a_copy_that_goes_on_gives_the_same_ids(session: Session) -> None:
    assert {one.invocation_id for one in runs(session.copy)} <= {one.invocation_id for one in runs(session.file)}
    assert session.file.stem in {one.session_id for one in runs(session.copy)}


def test_the_transcript_of_a_real_sub_agent_is_read_with_its_session(session: Session) -> None:
    (agent,) = session.file.with_suffix("").glob("subagents/agent-*.jsonl")
    (told,) = reads(agent)
    assert (told.invocation, told.problem, len(told.warnings)) == (None, None, 1)


def test_sessions_that_tests_make_up_have_the_shape_of_real_ones(session: Session) -> None:
    (agent,) = session.file.with_suffix("").glob("subagents/agent-*.jsonl")
    real = _shapes([*session.file.read_bytes().splitlines(), *agent.read_bytes().splitlines()])
    made_up = example().compact().local("model").interrupt().skill()
    sub = Transcript(agent="a1").user("count").run().say()
    for kind, keys in _shapes([*made_up.lines, *sub.lines]).items():
        if kind != "file-history-snapshot":
            assert keys - real[kind] <= _OF_TERMINAL, kind


def _shapes(lines: list[bytes]) -> dict[str, set[str]]:
    """Give the keys of entries by their kind, with those of their messages."""
    found: dict[str, set[str]] = {}
    for line in lines:
        record = json.loads(line)
        message = record.get("message") or {}
        kind = "sub-agent's " * bool(record.get("isSidechain")) + record["type"]
        found.setdefault(kind, set()).update(record, (f"message.{key}" for key in message))
    return found
