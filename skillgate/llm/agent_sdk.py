"""Sessions in the real Claude Code harness, through its agent SDK: one session, one process, one own directory.

Only this module uses ``claude_agent_sdk`` and asyncio. Skills and prompts are hostile, and the harness can do much more
than a session needs, so it gets little:

- the tools ``Skill`` and ``Read``, the latter for files of the skills alone
- no commands out of a skill's text, no hooks, no mentions of files
- an environment with only what is needed to reach the provider
- a home, a configuration and a project that are made for the session and removed with it

It runs in its own process group, which is killed at the end of the session, at its time limit and when the run ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
import threading
import weakref
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import claude_agent_sdk as sdk

from skillgate.llm import prices
from skillgate.llm.agent_session import RESTRAINTS, Guard, Workspace, binary, kill, launcher, lay_out, silence
from skillgate.llm.port import Destination, ProviderError, of_status, shown
from skillgate.model.exchange import Cause, Reply, Tokens, answering_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping

    from skillgate.model.exchange import Request

AT_ONCE = 4  # sessions at once: each is a process of some 300 MB
_LATE_S = 20.0  # beyond the time limit, until a session is given up whose process does not end
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,199}\Z", re.ASCII)
_SETTINGS = {"disableSkillShellExecution": True, "disableBundledSkills": True}
_SPENT = ("error_max_turns", "error_max_budget_usd")  # a session that may take so much and has no answer
_TOO_MUCH, _CONTEXT = "max_output_tokens", "context window"  # how the harness calls both, and names the latter
_COUNTS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_OF_HARNESS = (sdk.ClaudeSDKError, TimeoutError, OSError, ValueError)  # what a talk with it ends with


class Transcript(NamedTuple):
    """The result of a session, as far as it went."""

    blocks: tuple[Mapping[str, Any], ...]  # as the Messages API has them
    model: str  # that answered last, else the one that was asked
    result: sdk.ResultMessage | None  # the harness's last word, None where it ended without one
    failure: str  # of the SDK; "" for none
    fault: str | None  # what the harness calls the last failure of a request


class Harness:
    """Runs sessions. Thread-safe; ``close`` ends those that run. The SDK includes a harness of one version."""

    version = f"claude-agent-sdk {sdk.__version__}"

    def __init__(self, endpoint: str, access: Mapping[str, str]) -> None:
        """Find the harness, and make the directory that all sessions lie in.

        The variables of ``access`` hold what reaches the endpoint: key or token, headers, proxies, certificates.
        Raises IncompleteError where the harness is not there, or cannot run here.
        """
        self._endpoint = endpoint
        self._access = {**access, "ANTHROPIC_BASE_URL": endpoint}
        self._secrets = tuple(text for name, text in access.items() if name.startswith("ANTHROPIC_") and text)
        silence()
        harness = binary(Path(sdk.__file__).parent)
        self._root = Path(os.path.realpath(tempfile.mkdtemp(prefix="skillgate-")))
        self._removed = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self._launcher = launcher(self._root, harness, variables=tuple(self._environment(self._root)))
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._running: set[Path] = set()
        self._closed = False

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Run a session.

        The body holds ``model``, ``prompt``, ``system``, ``max_turns``, ``skills`` with ``name``, ``description``,
        ``body`` and ``files`` each, and ``target``, the skill under test.
        The reply holds the transcript: ``text`` and ``tool_use`` of the model and ``tool_result``, in their order; why
        it ended, as the API says it or ``max_turns``; the tokens of all its requests. Raises ProviderError without one.
        """
        if not _MODEL.match(str(request.body.get("model", ""))):
            raise ProviderError(Cause.MODEL, "no session can be started with this model name", status=404)
        if not (self._access.get("ANTHROPIC_API_KEY") or self._access.get("ANTHROPIC_AUTH_TOKEN")):
            raise ProviderError(Cause.CREDENTIALS, f"there is no key for {self._endpoint}: set ANTHROPIC_API_KEY")
        with self._room, self._workspace(request.body) as place:
            ended = threading.Event()

            def end() -> None:
                ended.set()
                kill(place.pid_file)

            timer = threading.Timer(timeout_s, end)
            timer.daemon = True
            timer.start()
            try:
                transcript = asyncio.run(self._talk(place, request.body, timeout_s + _LATE_S))
            finally:
                timer.cancel()
                kill(place.pid_file)
            return self._reply(request, transcript, late_s=timeout_s if ended.is_set() else None)

    def close(self) -> None:
        """End all sessions and remove what they left."""
        with self._lock:
            self._closed = True
            running = tuple(self._running)
        for pid_file in running:
            kill(pid_file)
        self._removed()

    @contextmanager
    def _workspace(self, body: Mapping[str, Any]) -> Iterator[Workspace]:
        """Make a session's directories, known to ``close`` within the block; may raise ProviderError."""
        self._check_open()
        try:
            place = lay_out(Path(tempfile.mkdtemp(dir=self._root)), body)
        except (OSError, ValueError) as error:
            self._check_open()  # else they may have been removed while they were written
            why = f"the skills cannot be laid out for the harness ({type(error).__name__})"
            raise ProviderError(Cause.REQUEST, why) from None
        with self._lock:
            self._running.add(place.pid_file)
        try:
            self._check_open()
            yield place
        finally:
            with self._lock:
                self._running.discard(place.pid_file)
            shutil.rmtree(self._root if self._closed else place.home, ignore_errors=True)

    def _check_open(self) -> None:
        if self._closed:
            raise ProviderError(Cause.STOPPED, "the run was stopped before this was asked")

    def _environment(self, home: Path, model: str = "") -> dict[str, str]:
        places = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "TMPDIR": str(home)}
        models = dict.fromkeys(("ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"), model)
        return {**RESTRAINTS, **self._access, **places, **models}

    async def _talk(self, place: Workspace, body: Mapping[str, Any], most_s: float) -> Transcript:
        """Have one prompt answered; whatever the SDK raises comes back as text."""
        blocks: list[Mapping[str, Any]] = []
        ids: list[str | None] = []
        result, model, fault = None, "", None
        prompt = str(body["prompt"])
        if prompt.lstrip().startswith("/"):
            prompt = f"\n{prompt}"  # so that it is no command
        query = sdk.query(prompt=prompt, options=self._options(place, body))

        async def listen() -> None:
            nonlocal result, model, fault
            async with aclosing(cast("AsyncGenerator[object, None]", query)) as messages:
                async for message in messages:
                    if isinstance(message, sdk.ResultMessage):
                        result = message
                    elif isinstance(message, sdk.AssistantMessage):
                        fault = message.error
                        model = model if fault is not None else message.model
                        ids.append(message.message_id)
                    blocks.extend(_blocks(message, place))

        failure = await talked(listen(), most_s)
        model = answering_model(model or str(body["model"]), ids, blocks)
        return Transcript(tuple(blocks), model, result, failure, fault)

    def _options(self, place: Workspace, body: Mapping[str, Any]) -> sdk.ClaudeAgentOptions:
        model, turns = str(body["model"]), int(body["max_turns"])
        most = prices.session_most(model, turns)
        return sdk.ClaudeAgentOptions(
            cli_path=str(self._launcher),
            cwd=str(place.project),
            env={**self._environment(place.home, model), "SKILLGATE_SESSION": str(place.pid_file)},
            model=model,
            system_prompt=str(body["system"]),
            max_turns=turns,
            # The request by which it is passed must fit in what was reserved, too.
            max_budget_usd=None if most is None else most / 2,
            effort=(body.get("output_config") or {}).get("effort"),
            setting_sources=["project"],
            settings=json.dumps(_SETTINGS),
            skills=list(place.names),
            tools=["Skill", "Read"],
            strict_mcp_config=True,
            permission_mode="dontAsk",
            hooks={"PreToolUse": [sdk.HookMatcher(hooks=[Guard(place).judged])]},
            max_buffer_size=16 << 20,
            stderr=lambda _line: None,  # it may hold anything
        )

    def _reply(self, request: Request, transcript: Transcript, *, late_s: float | None) -> Reply:
        """Read how a session ended; raise ProviderError where it was no answer, and no failure of the model's."""
        result = transcript.result
        if self._closed:
            raise ProviderError(
                Cause.STOPPED, "the run was stopped while the session ran", lost=bool(transcript.blocks)
            )
        if result is None:
            raise self._without_result(transcript, late_s)
        end = ended(transcript, result)
        if end is None:
            raise self._failed(str(request.body["model"]), result)
        return Reply(transcript.blocks, end, tokens_of(result), transcript.model, result.session_id)

    def _without_result(self, transcript: Transcript, late_s: float | None) -> ProviderError:
        lost = bool(transcript.blocks)
        if late_s is not None:
            return ProviderError(
                Cause.NETWORK, f"the session did not end within {late_s:g} s", retryable=True, lost=True
            )
        why = shown(transcript.failure, self._secrets) or "it ended without a result"
        return ProviderError(Cause.SERVER, f"Claude Code failed: {why}", retryable=True, lost=lost)

    def _failed(self, model: str, result: sdk.ResultMessage) -> ProviderError:
        """Say what a failed request of a session means; what was answered before it was paid for."""
        text = result.result or "; ".join(result.errors or ()) or result.subtype
        place = Destination(
            self._endpoint, model, "check ANTHROPIC_API_KEY and the account's permissions", self._secrets
        )
        status = result.api_error_status
        if status is None:
            why = f"Claude Code could not finish the session at {self._endpoint}: {shown(text, self._secrets)}"
            failure = ProviderError(Cause.SERVER, why, retryable=True)
        else:
            failure = of_status(status, {}, json.dumps({"error": {"message": text}}), place)
        failure.lost = any(tokens_of(result) or ())
        return failure


def ended(transcript: Transcript, result: sdk.ResultMessage) -> str | None:
    """Return why a session ended, as the API says it or ``max_turns``; None where a request of it failed.

    What a skill's text can cause is the session's failure: a longer session must be no escape from it.
    """
    if result.subtype in _SPENT:
        return "max_turns"
    if not result.is_error or result.stop_reason == "refusal":
        return result.stop_reason or "end_turn"
    if transcript.fault == _TOO_MUCH:
        return "model_context_window_exceeded" if _CONTEXT in (result.result or "") else "max_tokens"
    return None


def tokens_of(result: sdk.ResultMessage) -> Tokens | None:
    """Add up what all requests of a session took; None where the harness does not say.

    By its counts for each model: its sum leaves out the request by which a session passes its bound.
    """
    models: list[Mapping[str, Any]] = [dict(one) for one in (result.model_usage or {}).values()]
    counts = [sum(one.get(name) or 0 for one in models) for name in _COUNTS]
    if not all(prices.is_count(count) for count in counts) or not any(counts):
        return None
    return Tokens(*counts)


async def talked(talk: Coroutine[Any, Any, None], most_s: float) -> str:
    """Wait for a talk; return which error of the SDK ended it, ``""`` if it ended normally.

    For errors of its control protocol the SDK raises plain ``Exception``, not its own class. An exception
    that is no failure of the harness is raised.
    """
    task = asyncio.ensure_future(talk)
    await asyncio.wait((task,), timeout=most_s)
    if not task.done():
        task.cancel()
        await asyncio.wait((task,))
        return "TimeoutError: it took too long"
    error = task.exception()
    if error is None:
        return ""
    if type(error) is Exception:
        return str(error)
    if isinstance(error, _OF_HARNESS):
        return f"{type(error).__name__}: {error}"
    raise error


def _blocks(message: object, place: Workspace) -> list[Mapping[str, Any]]:
    """Return what belongs to the transcript: the model's texts and calls, and the results of calls."""
    if isinstance(message, sdk.AssistantMessage):
        if message.error is not None or message.parent_tool_use_id is not None:
            return []
        return [item for block in message.content if (item := _of_model(block, place)) is not None]
    if isinstance(message, sdk.UserMessage) and isinstance(message.content, list):
        results = (block for block in message.content if isinstance(block, sdk.ToolResultBlock))
        return [_result(block, place) for block in results]
    return []


def _of_model(block: object, place: Workspace) -> Mapping[str, Any] | None:
    if isinstance(block, sdk.TextBlock):
        return {"type": "text", "text": place.masked(block.text)}
    if isinstance(block, sdk.ToolUseBlock):
        options = place.named(block.input) if block.name == "Skill" else block.input
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": place.masked(options)}
    return None


def _result(block: sdk.ToolResultBlock, place: Workspace) -> Mapping[str, Any]:
    result = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": place.masked(block.content or "")}
    return {**result, "is_error": True} if block.is_error else result
