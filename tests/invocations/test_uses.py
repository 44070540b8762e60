"""Short transcripts, each with the reading that was decided for it: ``uses.txt`` beside this."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.invocations.transcripts import Transcript, beside, use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.invocation import Invocation

DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


class Case(NamedTuple):
    """A transcript by its lines, and the readings of its uses."""

    name: str
    steps: tuple[str, ...]
    readings: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Yield the cases of the table."""
    _, *texts = (Path(__file__).parent / "uses.txt").read_text("utf-8").split("\n## ")
    for text in texts:
        name, *lines = filter(None, text.split("\n"))
        readings = tuple(line[2:] for line in lines if line.startswith("= "))
        yield Case(name, tuple(line for line in lines if not line.startswith("= ")), readings)


CASES = tuple(cases())


class Written:
    """A transcript under construction."""

    def __init__(self, entrypoint: str) -> None:
        self.session, self.agents = Transcript(entrypoint=entrypoint), dict[str, Transcript]()
        self._number = 0
        self._reply = ""  # id of the reply that goes on
        self._tag: str | None = None

    def _call(self) -> str:
        self._number += 1
        return f"toolu_{self._number}"

    def _says(self, *blocks: dict[str, Any], goes_on: bool = False, stop: str | None = "") -> None:
        message = self._reply or f"msg_{self._number}_{len(self.session.lines)}"
        self.session.reply(*blocks, message=message, stop=stop, attributionSkill=self._tag)
        self._reply = message if goes_on else ""

    def take(self, step: str, after: str) -> None:
        """Write one line of a case; ``after`` is the next."""
        word, _, rest = step.partition(" ")
        session = self.session
        if step.startswith("> "):
            session.prompt(rest)
        elif step.startswith("/"):
            session.command(step[1:]).body(step[1:])
        elif word in ("says", "says+"):
            text = {"type": "text", "text": rest.replace("\\n", "\n")}
            self._says(text, goes_on=word == "says+", stop="tool_use" if word == "says+" else "end_turn")
        elif word == "with":
            self.take(rest, after)
        elif word == "tag":
            self._tag = None if rest == "-" else rest
        elif step == "interrupt":
            session.interrupt()
        elif step == "apierror":
            session.api_error()
        elif word == "skill":
            self._skill(rest, after)
        elif word == "agent":
            self._agent(rest)
        elif word == "denied":
            call = self._call()
            self._says(use(rest, call))
            session.result(call, DENIED, error=True)
        elif word not in ("out", "client"):
            self._tool(step, after)

    def _skill(self, rest: str, after: str) -> None:
        name, _, failure = rest.partition(" ! ")
        call = self._call()
        self._says(use("Skill", call, skill=name), goes_on=after.startswith("with "))
        if failure:
            self.session.result(call, failure, error=True)
        else:
            self.session.loaded(name, call)

    def _agent(self, rest: str) -> None:
        count, _, what = rest.partition(" ")
        call, name = self._call(), f"a{self._number}"
        agent = Transcript(agent=name, tag=f"s{self._number}x").user("count it")
        tag = what.removeprefix("tag ") if what.startswith("tag ") else None
        for number in range(int(count)):
            agent.reply(use("Bash", f"toolu_s{number}"), attributionSkill=tag).result(
                f"toolu_s{number}", "text", error=what == "!"
            )
        agent.say(what.removeprefix("says ") if what.startswith("says ") else "report")
        self.agents |= beside(agent)
        self._says(use("Agent", call, description="look", prompt="count it"))
        self.session.agent_done(name, call)

    def _tool(self, step: str, after: str) -> None:
        fails = step.endswith(" !")
        tool, _, command = step.removesuffix(" !").partition(": ")
        tool, _, path = tool.partition(" ")
        call = self._call()
        printed = after.removeprefix("out ") if after.startswith("out ") else "text"
        given: dict[str, Any]
        details: dict[str, Any]
        if tool == "Write":
            given = {"file_path": path, "content": "a\nb\n"}
            details = {"type": "create", "filePath": path, "content": "a\nb\n", "structuredPatch": []}
        elif tool == "Edit":
            given = {"file_path": path, "old_string": "a", "new_string": "c"}
            details = {"filePath": path, "structuredPatch": [{"lines": ["-a", "+c"]}]}
        else:
            given, details = {"command": command or "ls"}, {}
        self._says(use(tool, call, **given))
        self.session.result(call, printed, error=fails, details=None if fails else details)


def transcript_of(case: Case) -> Written:
    """Write the transcript of a case."""
    entrypoint = next((step.split()[1] for step in case.steps if step.startswith("client ")), "cli")
    written = Written(entrypoint)
    for step, after in zip(case.steps, (*case.steps[1:], ""), strict=True):
        written.take(step, after)
    return written


def reading_of(found: Invocation) -> str:
    """Return a reading as in the table."""
    calls = _shown(found.tool_call_count)
    if found.shared and found.tool_calls_most != found.tool_call_count:
        calls += f"..{_shown(found.tool_calls_most)}"
    failed = found.error_count
    outcome = "?"
    if found.outcome_evidence is not None:
        outcome = f"{'failed' if failed else 'completed'}:{found.outcome_evidence.value}"
    accepted = {True: "yes", False: "no", None: "?"}[found.user_accepted]
    follow_ups = _shown(found.follow_up_count)
    return f"{found.skill_name} {calls} {_shown(found.tool_error_count)} {outcome} {follow_ups} {accepted}"


def _shown(value: int | None) -> str:
    return "?" if value is None else f"{value}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_transcript_is_read_as_decided(case: Case) -> None:
    written = transcript_of(case)
    assert tuple(map(reading_of, written.session.runs(written.agents))) == case.readings


def test_the_table_has_sixty_cases_with_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60
