"""Sessions in the real Claude Code harness, through its agent SDK: one session, one process, one directory of its own.

The keeper of ``claude_agent_sdk``, and of asyncio. Skills and prompts are hostile, and the harness can do much more
than a session needs, so it is given little: the tools ``Skill`` and ``Read``, the latter for files of the skills alone;
no commands out of a skill's text, no hooks, no mentions of files; an environment that holds what reaches the provider
and nothing else; a home, a configuration and a project that are made for the session and removed with it. It runs in a
process group of its own, which is killed at the end of the session, at its time limit and when the run ends.
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
from typing import TYPE_CHECKING, Any, cast

import claude_agent_sdk as sdk

from skillgate.llm import prices
from skillgate.llm.agent_guard import Guard, spoken
from skillgate.llm.agent_outcome import Said, ended, tokens_of
from skillgate.llm.agent_place import Place as Laid
from skillgate.llm.agent_place import laid_out
from skillgate.llm.agent_process import RESTRAINTS, binary, kill, launcher, silence
from skillgate.llm.failures import Place, of_status, shown
from skillgate.llm.port import ProviderError
from skillgate.model.exchange import Cause, Reply, answering_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping

    from skillgate.llm.agent_outcome import Result
    from skillgate.model.exchange import Request

AT_ONCE = 4
"""Sessions at once: each is a process of some 300 MB."""
_LATE_S = 20.0  # beyond the time limit, until a session is given up whose process does not end
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,199}\Z", re.ASCII)
_SETTINGS = {"disableSkillShellExecution": True, "disableBundledSkills": True}
_OF_HARNESS = (sdk.ClaudeSDKError, TimeoutError, OSError, ValueError)  # what a talk with it ends with


class Harness:
    """Runs sessions. Thread-safe; ``close`` ends those that run.

    Attributes:
        version: of the SDK, which brings a harness of one version along.
    """

    version = f"claude-agent-sdk {sdk.__version__}"

    def __init__(self, endpoint: str, access: Mapping[str, str]) -> None:
        """Find the harness, and make the directory that all sessions lie in.

        Args:
            endpoint: of the provider, without credentials.
            access: the variables that hold what reaches it: key or token, headers, proxies, certificates.

        Raises:
            IncompleteError: it is not there, or cannot run here.
        """
        self._endpoint = endpoint
        self._access = {**access, "ANTHROPIC_BASE_URL": endpoint}
        self._secrets = tuple(text for name, text in access.items() if name.startswith("ANTHROPIC_") and text)
        silence()
        found = binary(Path(sdk.__file__).parent)
        self._root = Path(os.path.realpath(tempfile.mkdtemp(prefix="skillgate-")))
        self._removed = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        self._launcher = launcher(self._root, found, kept=tuple(self._environment(self._root)))
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._running: set[Path] = set()
        self._closed = False

    def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Run a session.

        Args:
            request: its body holds ``model``, ``prompt``, ``system``, ``max_turns``, ``skills`` with ``name``,
                ``description``, ``body`` and ``files`` each, and ``target``, the skill under test.
            timeout_s: for all of it.

        Returns:
            The transcript: ``text`` and ``tool_use`` of the model and ``tool_result``, in their order; why it ended,
            as the API says it or ``max_turns``; the tokens of all its requests.

        Raises:
            ProviderError: it gave none.
        """
        if not _MODEL.match(str(request.body.get("model", ""))):
            raise ProviderError(Cause.MODEL, "the model's name is none that a session can be started with", status=404)
        if not (self._access.get("ANTHROPIC_API_KEY") or self._access.get("ANTHROPIC_AUTH_TOKEN")):
            raise ProviderError(Cause.CREDENTIALS, f"there is no key for {self._endpoint}: set ANTHROPIC_API_KEY")
        with self._room, self._place(request.body) as place:
            ended = threading.Event()

            def end() -> None:
                ended.set()
                kill(place.pid_file)

            timer = threading.Timer(timeout_s, end)
            timer.daemon = True
            timer.start()
            try:
                said = asyncio.run(self._talk(place, request.body, timeout_s + _LATE_S))
            finally:
                timer.cancel()
                kill(place.pid_file)
            return self._reply(request, said, late_s=timeout_s if ended.is_set() else None)

    def close(self) -> None:
        """End all sessions and remove what they left."""
        with self._lock:
            self._closed = True
            running = tuple(self._running)
        for pid_file in running:
            kill(pid_file)
        self._removed()

    @contextmanager
    def _place(self, body: Mapping[str, Any]) -> Iterator[Laid]:
        """Make a session's directories, known to ``close`` within the block.

        Raises:
            ProviderError: there are no more sessions, or the skills cannot be written.
        """
        self._check_open()
        try:
            place = laid_out(Path(tempfile.mkdtemp(dir=self._root)), body)
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

    async def _talk(self, place: Laid, body: Mapping[str, Any], most_s: float) -> Said:
        """Have one prompt answered; whatever the SDK raises comes back as a word."""
        blocks: list[Mapping[str, Any]] = []
        ids: list[str | None] = []
        result, model, fault = None, "", None
        asked = sdk.query(prompt=spoken(str(body["prompt"])), options=self._options(place, body))

        async def listen() -> None:
            nonlocal result, model, fault
            async with aclosing(cast("AsyncGenerator[object, None]", asked)) as messages:
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
        return Said(tuple(blocks), model, result, failure, fault)

    def _options(self, place: Laid, body: Mapping[str, Any]) -> sdk.ClaudeAgentOptions:
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
            stderr=lambda _line: None,  # it may hold anything, and is nobody's
        )

    def _reply(self, request: Request, said: Said, *, late_s: float | None) -> Reply:
        """Read how a session ended.

        Raises:
            ProviderError: not with an answer, or a failure of the model's.
        """
        result = said.result
        if self._closed:
            raise ProviderError(Cause.STOPPED, "the run was stopped while the session ran", lost=bool(said.blocks))
        if result is None:
            raise self._without_result(said, late_s)
        end = ended(said, result)
        if end is None:
            raise self._failed(str(request.body["model"]), result)
        return Reply(said.blocks, end, tokens_of(result), said.model, result.session_id)

    def _without_result(self, said: Said, late_s: float | None) -> ProviderError:
        lost = bool(said.blocks)
        if late_s is not None:
            return ProviderError(Cause.NETWORK, f"the session did not end within {late_s:g} s", again=True, lost=True)
        why = shown(said.failure, self._secrets) or "it ended without a result"
        return ProviderError(Cause.SERVER, f"Claude Code failed: {why}", again=True, lost=lost)

    def _failed(self, model: str, result: Result) -> ProviderError:
        """Say what a failed request of a session means; what was answered before it was paid for."""
        said = result.result or "; ".join(result.errors or ()) or result.subtype
        place = Place(self._endpoint, model, "check ANTHROPIC_API_KEY and the account's permissions", self._secrets)
        status = result.api_error_status
        if status is None:
            why = f"Claude Code could not finish the session at {self._endpoint}: {shown(said, self._secrets)}"
            failure = ProviderError(Cause.SERVER, why, again=True)
        else:
            failure = of_status(status, {}, json.dumps({"error": {"message": said}}), place)
        failure.lost = any(tokens_of(result) or ())
        return failure


async def talked(talk: Coroutine[Any, Any, None], most_s: float) -> str:
    """Wait for a talk; give what of the SDK's made an end to it, ``""`` where it came to its own.

    For what its control protocol says went wrong the SDK raises ``Exception`` itself, and no class of its own. Nothing
    else that is no failure of the harness is taken for one.
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


def _blocks(message: object, place: Laid) -> list[Mapping[str, Any]]:
    """Give what belongs to the transcript: the model's texts and calls, and the results of calls."""
    if isinstance(message, sdk.AssistantMessage):
        if message.error is not None or message.parent_tool_use_id is not None:
            return []
        return [found for block in message.content if (found := _of_model(block, place)) is not None]
    if isinstance(message, sdk.UserMessage) and isinstance(message.content, list):
        results = (block for block in message.content if isinstance(block, sdk.ToolResultBlock))
        return [_result(block, place) for block in results]
    return []


def _of_model(block: object, place: Laid) -> Mapping[str, Any] | None:
    if isinstance(block, sdk.TextBlock):
        return {"type": "text", "text": place.masked(block.text)}
    if isinstance(block, sdk.ToolUseBlock):
        given = place.named(block.input) if block.name == "Skill" else block.input
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": place.masked(given)}
    return None


def _result(block: sdk.ToolResultBlock, place: Laid) -> Mapping[str, Any]:
    found = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": place.masked(block.content or "")}
    return {**found, "is_error": True} if block.is_error else found
