"""Sessions in the real harness against a server on the loopback; skipped where the harness is not installed."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.errors import IncompleteError, UsageError
from skillgate.llm.agent_session import Guard, Runners, Workspace, binary, directories, lay_out, with_runner
from skillgate.llm.demo_server import DemoServer, Options, events
from skillgate.llm.port import Connection, ProviderError
from skillgate.llm.prices import Budget, cost, session_most
from skillgate.llm.providers import anthropic as direct
from skillgate.llm.providers.scripted import Engine, Message
from skillgate.model.exchange import Cause, Reply, Request, Tokens
from tests.llm.server import ModelServer, hang, message, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.llm.server import Behaviour, Handler

MODEL = "claude-sonnet-5-5"
KEY = "sk-test-5d0f3c9a"
_IDS = itertools.count(1)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("claude_agent_sdk", reason="the harness is not installed (extra agent-sdk)")
    with ModelServer(streamed(text("Done."))) as running:
        yield running


@pytest.fixture
def provider(server: ModelServer) -> Iterator[Runners]:
    found = with_runner(*connected(server.url), "agent-sdk")
    assert isinstance(found, Runners)
    yield found
    found.close()


def connected(url: str, **environ: str) -> tuple[direct.Messages, Connection]:
    connection = Connection(environ={"ANTHROPIC_API_KEY": KEY, **environ}, base_url=url)
    return direct.connect(connection), connection


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(tool: str, **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{next(_IDS)}", "name": tool, "input": given}


def streamed(*blocks: Mapping[str, Any], stop_reason: str = "") -> Behaviour:
    """Answer with a message as a stream, as the harness asks for it."""
    ended = stop_reason or ("tool_use" if any(one["type"] == "tool_use" for one in blocks) else "end_turn")

    def answer(handler: Handler) -> None:
        found = Message(f"msg_{next(_IDS)}", MODEL, blocks, ended, "", Tokens(100, 20, 7, 3))
        handler.give(200, b"".join(events(found)), {"content-type": "text/event-stream"})

    return answer


def skill(name: str = "merge-sheets", body: str = "# Merge\nNewest wins.\n", **files: str) -> dict[str, Any]:
    told = "Merge sheets. Use when joining exports."
    return {"name": name, "description": told, "body": body, "files": files}


def request(*skills: Mapping[str, Any], **changes: Any) -> Request:
    listed = skills or (skill(), skill("plot-sheets"))
    body = {"runner": "agent-sdk", "model": MODEL, "prompt": "join my exports", "system": "You are of help."}
    return Request(
        question="simulation",
        subject="skills/merge-sheets",
        body={**body, "max_turns": 4, "skills": list(listed), "target": listed[0]["name"], **changes},
    )


def results(reply: Reply) -> list[Mapping[str, Any]]:
    return [block for block in reply.content if block["type"] == "tool_result"]


def seen_text(server: ModelServer) -> str:
    return json.dumps([body["messages"] for body in server.bodies])


def base(server: ModelServer) -> Path:
    """Give the directory of the skill that a session was told."""
    told = next(line for line in seen_text(server).split("\\n") if "Base directory for this skill: " in line)
    return Path(told.rpartition("Base directory for this skill: ")[2].strip())


def then_read(server: ModelServer, path: str) -> Behaviour:
    """Read a file below the directory that the loaded skill was said to lie in."""
    return lambda handler: streamed(use("Read", file_path=path.replace("BASE", str(base(server)))))(handler)


def test_a_session_comes_back_as_a_transcript(server: ModelServer, provider: Runners) -> None:
    keys = skill(**{"references/keys.md": "# Keys\nOldest first.\n"})
    server.then(
        streamed(text("First the skill."), use("Skill", skill="merge-sheets")),
        then_read(server, "BASE/references/keys.md"),
        streamed(text("The result.")),
    )
    reply = provider.send(request(keys, skill("plot-sheets")), timeout_s=60)
    assert [block["type"] for block in reply.content] == [
        *("text", "tool_use", "tool_result", "tool_use", "tool_result", "text")
    ]
    assert reply.content[1]["input"] == {"skill": "merge-sheets"}
    assert reply.content[3]["input"] == {"file_path": "/skills/merge-sheets/references/keys.md"}
    assert "Oldest first." in reply.content[4]["content"]
    assert (reply.content[5]["text"], reply.stop_reason, reply.model) == ("The result.", "end_turn", MODEL)
    assert reply.tokens == Tokens(300, 60, 21, 9)
    listing = json.dumps(server.bodies[0])
    assert "merge-sheets: Merge sheets. Use when joining exports." in listing
    assert "plot-sheets" in listing
    assert {tool["name"] for tool in server.bodies[0]["tools"]} & {
        "Bash",
        "Write",
        "Edit",
        "WebFetch",
        "Agent",
    } == set()


def test_nothing_but_files_of_skills_is_read(
    server: ModelServer, provider: Runners, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("MARK-OF-A-SECRET")
    climbing = "BASE/" + "../" * 20 + str(secret)[1:]
    for path in (str(secret), climbing, "/proc/self/environ", "../../../pid", "BASE/../../settings.json"):
        server.then(
            streamed(use("Skill", skill="merge-sheets")),
            then_read(server, path),
            streamed(text("So I answer without.")),
        )
        server.seen.clear()
        reply = provider.send(request(), timeout_s=60)
        assert [bool(one.get("is_error")) for one in results(reply)] == [False, True], path
        assert "MARK-OF-A-SECRET" not in seen_text(server)


def test_no_command_is_run_and_no_mention_attached(server: ModelServer, provider: Runners, tmp_path: Path) -> None:
    mark, secret = tmp_path / "mark", tmp_path / "secret.txt"
    secret.write_text("MARK-OF-A-SECRET")
    hostile = skill(body=f"# Merge\n!`touch {mark}`\n```!\ntouch {mark}\n```\nSee @{secret}\n")
    server.then(
        streamed(use("Skill", skill="merge-sheets"), use("Bash", command=f"touch {mark}")), streamed(text("Done."))
    )
    reply = provider.send(request(hostile, prompt=f"join what is in @{secret}"), timeout_s=60)
    assert not mark.exists()
    assert "MARK-OF-A-SECRET" not in seen_text(server)
    failed = {one["tool_use_id"]: bool(one.get("is_error")) for one in results(reply)}
    assert sorted(failed.values()) == [False, True]


@pytest.mark.parametrize("prompt", ["/merge-sheets my exports", "/clear", " /etc/hosts holds what?", "!touch x", "#x"])
def test_no_prompt_is_a_command(server: ModelServer, provider: Runners, prompt: str) -> None:
    reply = provider.send(request(prompt=prompt), timeout_s=60)
    assert reply.content == ({"type": "text", "text": "Done."},)
    said = server.bodies[0]["messages"][0]["content"]
    words = said if isinstance(said, str) else "".join(block["text"] for block in said)
    assert words.strip() == prompt.strip()
    assert "merge-sheets: Merge sheets." in json.dumps(server.bodies[0])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows a process's environment so")
def test_the_process_has_little_of_the_environment_and_is_gone_with_its_directory(
    server: ModelServer, provider: Runners, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ("ANTHROPIC_AUTH_TOKEN", "SKILLGATE_CACHE_KEY")
    for name in ("GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "INPUT_KEY", "AWS_SECRET_ACCESS_KEY", *own):
        monkeypatch.setenv(name, "MARK-OF-A-SECRET")
    found: dict[str, Any] = {}

    def look(handler: Handler) -> None:
        place = base(server).parents[3]
        pid = int((place / "pid").read_text())
        found.update(place=place, pid=pid, environ=Path(f"/proc/{pid}/environ").read_bytes().decode())
        streamed(text("Done."))(handler)

    server.then(streamed(use("Skill", skill="merge-sheets")), look)
    provider.send(request(), timeout_s=60)
    environ = dict(line.partition("=")[::2] for line in found["environ"].split("\0") if line)
    assert "MARK-OF-A-SECRET" not in found["environ"]
    assert environ["ANTHROPIC_API_KEY"] == KEY
    assert environ["HOME"] == str(found["place"])
    assert not {name for name in environ if name.startswith(("GITHUB_", "ACTIONS_", "INPUT_", "AWS_"))}
    assert not found["place"].exists()
    assert not _is_alive(found["pid"])


def test_too_many_turns_are_told_with_what_was_said(server: ModelServer, provider: Runners) -> None:
    server.then(lambda handler: streamed(use("Skill", skill="merge-sheets"))(handler))
    reply = provider.send(request(max_turns=2), timeout_s=60)
    assert reply.stop_reason == "max_turns"
    assert [block["type"] for block in reply.content].count("tool_use") == 2
    assert reply.tokens == Tokens(200, 40, 14, 6)


@pytest.mark.parametrize("stop_reason", ["refusal", "max_tokens", "model_context_window_exceeded"])
def test_what_a_text_can_bring_about_is_no_outage(server: ModelServer, provider: Runners, stop_reason: str) -> None:
    server.then(streamed(text("No."), stop_reason=stop_reason))
    reply = provider.send(request(), timeout_s=60)
    assert (reply.stop_reason, reply.model) == (stop_reason, MODEL)
    assert reply.tokens == Tokens(*(len(server.bodies) * count for count in (100, 20, 7, 3)))


def test_an_outage_in_the_middle_may_have_been_paid_for(server: ModelServer, provider: Runners) -> None:
    server.then(streamed(use("Skill", skill="merge-sheets")), refusal(529, "overloaded_error"))
    with pytest.raises(ProviderError) as caught:
        provider.send(request(), timeout_s=60)
    assert (caught.value.cause, caught.value.retryable, caught.value.lost) == (Cause.SERVER, True, True)


@pytest.mark.parametrize("name", ["init", "clear", "verify"])
def test_a_skill_may_bear_the_name_of_a_command(server: ModelServer, provider: Runners, name: str) -> None:
    server.then(streamed(use("Skill", skill=name)), streamed(text("Done.")))
    provider.send(request(skill(name, body="# MARK\n")), timeout_s=60)
    assert "# MARK" in seen_text(server)


@pytest.mark.parametrize(
    ("status", "kind", "cause"),
    [
        (401, "authentication_error", Cause.CREDENTIALS),
        (404, "not_found_error", Cause.MODEL),
        (400, "invalid_request_error", Cause.REQUEST),
        (529, "overloaded_error", Cause.SERVER),
        (429, "rate_limit_error", Cause.RATE),
    ],
)
def test_a_failure_of_the_provider_is_told_by_its_cause(
    server: ModelServer, provider: Runners, status: int, kind: str, cause: Cause
) -> None:
    server.then(refusal(status, kind, f"no with {KEY}", headers={"retry-after": "0"}))
    with pytest.raises(ProviderError) as caught:
        provider.send(request(), timeout_s=60)
    assert (caught.value.cause, caught.value.status, caught.value.lost) == (cause, status, False)
    assert KEY not in str(caught.value)


def test_a_session_that_takes_too_long_is_killed(server: ModelServer, provider: Runners) -> None:
    server.then(hang)
    began = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        provider.send(request(), timeout_s=3)
    assert (caught.value.cause, caught.value.lost) == (Cause.NETWORK, True)
    assert time.monotonic() - began < 120


def test_closing_ends_what_runs_and_leaves_nothing(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    provider = with_runner(*connected(server.url), "agent-sdk")
    asked = threading.Event()

    def wait(handler: Handler) -> None:
        asked.set()
        hang(handler)

    server.then(wait)
    failures: list[Cause] = []

    def run() -> None:
        try:
            provider.send(request(), timeout_s=60)
        except ProviderError as error:
            failures.append(error.cause)

    thread = threading.Thread(target=run)
    thread.start()
    assert asked.wait(120)
    provider.close()
    thread.join(120)
    assert failures == [Cause.STOPPED]
    with pytest.raises(ProviderError):
        provider.send(request(), timeout_s=5)
    assert list(tmp_path.iterdir()) == []


def test_sessions_run_side_by_side(server: ModelServer, provider: Runners) -> None:
    replies: list[Reply] = []
    threads = [
        threading.Thread(target=lambda: replies.append(provider.send(request(), timeout_s=60))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply.text for reply in replies] == ["Done."] * 3


def test_a_name_that_is_no_directory_is_told_as_it_is_listed(server: ModelServer, provider: Runners) -> None:
    odd = "../../Merge, Sheets (v2)"
    server.then(streamed(use("Skill", skill="merge-sheets-v2")), streamed(text("Done.")))
    reply = provider.send(request(skill(odd)), timeout_s=60)
    assert reply.content[0]["input"] == {"skill": odd}
    assert results(reply)[0].get("is_error") is None


def test_other_requests_go_to_the_provider(server: ModelServer, provider: Runners) -> None:
    server.then(message("plain"))
    body = {"model": MODEL, "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}
    assert provider.send(Request("grade", "x", body), timeout_s=10).text == "plain"


def test_a_session_within_its_bound_costs_no_more_than_was_reserved(server: ModelServer, provider: Runners) -> None:
    big = Tokens(90_000, 16_000)

    def dear(handler: Handler) -> None:
        blocks = (use("Skill", skill="merge-sheets"),)
        found = Message(f"msg_{next(_IDS)}", MODEL, blocks, "tool_use", "", big)
        handler.give(200, b"".join(events(found)), {"content-type": "text/event-stream"})

    server.then(dear)
    reply = provider.send(request(max_turns=10), timeout_s=60)
    assert reply.stop_reason == "max_turns"
    assert reply.tokens == Tokens(*(len(server.bodies) * count for count in big))
    assert len(server.bodies) < 10
    paid = len(server.bodies) * (cost(MODEL, big) or 0)
    most = session_most(MODEL, 10)
    assert most is not None
    assert paid <= most


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_budget_of_a_few_dollars_lets_sessions_through() -> None:
    assert Budget(1.0).reserve(request(max_turns=10)) is not None
    assert Budget(0.5).reserve(request(max_turns=10)) is None
    assert Budget(1.0).reserve(request(max_turns=50)) is None
    assert Budget(100.0).reserve(request(model="unknown")) is None


def test_only_files_below_the_skills_are_found(tmp_path: Path) -> None:
    place = _place(tmp_path, skill(**{"references/keys.md": "k"}))
    keys = place.skills / "merge-sheets/references/keys.md"
    (tmp_path / "outside.md").write_text("o")
    (place.skills / "merge-sheets/link.md").symlink_to(tmp_path / "outside.md")
    assert place.file(str(keys)) == str(keys)
    assert place.file(".claude/skills/merge-sheets/references/keys.md") == str(keys)
    for path in (
        "/etc/passwd",
        "~/.ssh/id",
        " /etc/passwd",
        "../pid",
        str(place.skills),
        f"{place.skills}/../../..",
        str(place.skills / "merge-sheets/link.md"),
        f"{keys}\0",
        "",
        None,
        7,
    ):
        assert place.file(path) is None, path


def test_hostile_names_and_paths_stay_inside(tmp_path: Path) -> None:
    hostile = {
        "../../escape.md": "x",
        "/tmp/escape.md": "x",
        "a/../../escape.md": "x",
        ".claude/settings.json": "x",
        "references/.claude/settings.json": "x",
        "SKILL.md": "x",
        "skill.md": "x",
        "a\\..\\b": "x",
        "references/fine.md": "fine",
    }
    body = "text\n"
    place = _place(
        tmp_path,
        {"name": "../up", "description": 'x"\nhooks: {}\n---', "body": body, "files": hostile},
        skill("UP"),
        skill("up"),
        skill(".."),
        skill("…"),
    )
    assert place.names == {"up-2": "../up", "up-3": "UP", "up": "up", "skill": "..", "skill-2": "…"}
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    written = {f"home/project/.claude/skills/{name}/SKILL.md" for name in place.names}
    assert files == written | {"home/project/.claude/skills/up-2/references/fine.md"}
    head = (place.skills / "up-2/SKILL.md").read_text().splitlines()
    assert head == ["---", "name: up-2", 'description: "x\\"\\nhooks: {}\\n---"', "---", "text"]


def test_directories_are_the_names_where_they_are_plain() -> None:
    assert directories(["plot", "merge-sheets"]) == {"plot": "plot", "merge-sheets": "merge-sheets"}


async def _judged(guard: Guard, tool: str, **given: object) -> str:
    answer = await guard.judged({"tool_name": tool, "tool_input": given}, None, None)
    decision: str = answer["hookSpecificOutput"]["permissionDecision"]
    return decision


def test_the_guard_lets_little_through(tmp_path: Path) -> None:
    place = _place(tmp_path, skill(**{"references/big.md": "k" * 150_000}))
    guard = Guard(place)
    path = str(place.skills / "merge-sheets/references/big.md")
    said = [
        asyncio.run(_judged(guard, tool, **given))
        for tool, given in (
            ("Read", {"file_path": path}),
            ("Read", {"file_path": path}),
            ("Read", {"file_path": "/etc/passwd"}),
            ("Write", {"file_path": path}),
            *[("Skill", {"skill": "merge-sheets"})] * 9,
        )
    ]
    assert said == ["allow", "deny", "deny", "deny", *["allow"] * 8, "deny"]


def test_a_provider_of_another_protocol_is_no_use() -> None:
    messages, connection = connected("http://127.0.0.1:1")
    messages.name = "openai-compatible"
    with pytest.raises(UsageError, match="--provider anthropic"):
        with_runner(messages, connection, "agent-sdk")


def test_other_platforms_are_no_use() -> None:
    messages, _ = connected("http://127.0.0.1:1")
    elsewhere = Connection(environ={"SKILLGATE_ANTHROPIC_PLATFORM": "bedrock"})
    with pytest.raises(UsageError, match="unset SKILLGATE_ANTHROPIC_PLATFORM"):
        with_runner(messages, elsewhere, "agent-sdk")


def test_a_missing_package_is_named_before_anything_is_asked() -> None:
    code = (
        "import sys; sys.modules['claude_agent_sdk'] = None\n"
        "from skillgate.llm.port import Connection\n"
        "from skillgate.llm.providers import anthropic\n"
        "from skillgate.llm.agent_session import with_runner\n"
        "connection = Connection(environ={'ANTHROPIC_API_KEY': 'k'}, base_url='http://127.0.0.1:1')\n"
        "with_runner(anthropic.connect(connection), connection, 'agent-sdk')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "IncompleteError: --runner agent-sdk needs a package that is not installed" in done.stderr
    assert "pip install 'skillgate-action[agent-sdk]'" in done.stderr


def test_an_sdk_without_the_harness_is_told(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match="without Claude Code itself"):
        binary(tmp_path)


def test_a_session_without_a_key_starts_nothing(server: ModelServer) -> None:
    connection = Connection(environ={}, base_url=server.url)
    found = with_runner(direct.connect(connection), connection, "agent-sdk")
    with pytest.raises(ProviderError) as caught:
        found.send(request(), timeout_s=10)
    found.close()
    assert (caught.value.cause, server.seen) == (Cause.CREDENTIALS, [])


def test_a_model_that_looks_like_an_option_starts_nothing(server: ModelServer, provider: Runners) -> None:
    with pytest.raises(ProviderError) as caught:
        provider.send(request(model="--settings=x"), timeout_s=10)
    assert (caught.value.cause, server.seen) == (Cause.MODEL, [])


def test_without_the_runner_the_provider_is_itself() -> None:
    messages, connection = connected("http://127.0.0.1:1")
    assert with_runner(messages, connection, "messages") is messages


def _place(tmp_path: Path, *skills: Mapping[str, Any]) -> Workspace:
    home = tmp_path / "home"
    home.mkdir()
    return lay_out(home.resolve(), {"skills": list(skills)})


def test_the_demo_server_answers_the_harness_as_it_comes() -> None:
    pytest.importorskip("claude_agent_sdk", reason="the harness is not installed (extra agent-sdk)")
    with DemoServer(Engine(), Options()) as demo:
        thread = threading.Thread(target=demo.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found = with_runner(*connected(demo.base_url), "agent-sdk")
        try:
            reply = found.send(request(), timeout_s=60)
        finally:
            found.close()
            demo.stopped.set()
            demo.shutdown()
            thread.join()
    assert reply.stop_reason in ("end_turn", "max_turns")
    assert [block for block in reply.content if block["type"] in ("text", "tool_use")]


def test_a_session_is_kept_for_the_version_of_the_harness(provider: Runners) -> None:
    from claude_agent_sdk import __version__ as version

    assert version in provider.session_variant
    assert version not in provider.variant


def test_what_is_wrong_with_the_talk_and_not_with_the_harness_is_no_failure_of_a_session(provider: Runners) -> None:
    from skillgate.llm.agent_sdk import talked

    async def raising(error: Exception) -> None:
        raise error

    for error in (TypeError("a bug"), KeyError("another")):
        with pytest.raises(type(error)):
            asyncio.run(talked(raising(error), 10.0))
    assert asyncio.run(talked(raising(Exception("control request timeout")), 10.0)) == "control request timeout"
    assert asyncio.run(talked(raising(OSError("gone")), 10.0)) == "OSError: gone"


def test_a_talk_that_takes_too_long_is_ended(provider: Runners) -> None:
    from skillgate.llm.agent_sdk import talked

    ended: list[bool] = []

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    assert asyncio.run(talked(long(), 0.05)).startswith("TimeoutError")
    assert ended == [True]
