"""Thirty sessions at a time, imported and gated by the commands: what teams have, and what a gate decides of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import run
from tests.invocations.transcripts import Transcript, use

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

THANKS = ("great, thank you!", "thanks", "perfect", "Thanks, that works.", "LGTM", "looks good, thanks!")
DONE = ("All tests pass.", "The parser is implemented and the tests are green.", "Fixed. All tests pass now.")
FAILURES = (
    "Release FAILED at the upload. I could not complete the task.",
    "I was unable to publish the package: the token is missing.",
    "The deployment failed, and I am giving up here.",
    "The release is not finished: the upload failed twice.",
)
"""Endings without a word of success."""


def session(number: int) -> Transcript:
    return Transcript(f"{number:08}-5f09-4c58-830c-baf1f3428cb8", tag=f"{number:03}")


def red_green(number: int) -> Transcript:
    """Write a red-green session: some fail more than once, and some talk in between."""
    made = session(number).prompt(f"write parser {number}").skill("tdd", "toolu_0")
    made.write(f"/p/test_{number}.py", "def test():\n    assert parse()\n", "toolu_1")
    for turn in range(1 + number % 3):
        made.run("Bash", f"toolu_r{turn}", error=True, command="pytest")
        if number % 2:
            made.reply({"type": "text", "text": "It fails as it should."}, use("Read", f"toolu_x{turn}"))
            made.result(f"toolu_x{turn}")
        made.write(f"/p/{number}_{turn}.py", "def parse():\n    return 1\n", f"toolu_w{turn}")
    made.run("Bash", "toolu_g", command="pytest").say(DONE[number % len(DONE)])
    return made.prompt(THANKS[number % len(THANKS)]).say("You're welcome.")


def released(number: int) -> Transcript:
    """Write a session whose release fails; some work well for long before."""
    made = session(number).prompt("release it").skill("release", "toolu_0")
    for step in range(number % 4):
        made.run("Bash", f"toolu_s{step}", command="make")
    if number % 2:
        made.reply({"type": "text", "text": "The build works."}, use("Read", "toolu_x")).result("toolu_x")
    return made.run("Bash", "toolu_u", error=True, command="upload").say(FAILURES[number % len(FAILURES)])


def folder_of(path: Path, sessions: list[Transcript]) -> str:
    for one in sessions:
        (path / f"{one.session}.jsonl").write_bytes(one.data)
    return f"{path}"


def gated(path: Path, skill: str, sessions: list[Transcript]) -> tuple[int, dict[str, Any]]:
    """Import sessions and return the code and the figures of the gate ``publish``."""
    folder = path / "projects"
    folder.mkdir()
    imported = run(path, "log", "import", folder_of(folder, sessions))
    assert (imported.code, imported.err) == (0, "")
    done = run(path, "log", "gate", "publish", skill, "--at", "2026-11-24", "--json")
    return done.code, done.json


def test_thirty_red_green_sessions_that_end_in_thanks_pass_publish(tmp_path: Path) -> None:
    code, found = gated(tmp_path, "tdd", [red_green(number) for number in range(30)])
    assert (code, found["passed"]) == (0, True)
    assert (found["stats"]["recorded"], found["stats"]["errors_known"], found["stats"]["error_rate"]) == (30, 30, 0)
    assert (found["stats"]["shared"], found["stats"]["sharing_known"]) == (15, 30)
    said = run(tmp_path, "log", "gate", "publish", "tdd", "--at", "2026-11-24", "--all").out
    assert "15 of 30 may share" in " ".join(said.split())


def test_thirty_releases_that_fail_at_the_end_do_not_pass_publish(tmp_path: Path) -> None:
    code, found = gated(tmp_path, "release", [released(number) for number in range(30)])
    assert (code, found["passed"]) == (1, False)
    assert (found["stats"]["errors_known"], found["stats"]["error_rate"]) == (30, 1)


def test_sessions_without_evidence_do_not_pass(tmp_path: Path) -> None:
    sessions = [session(number).prompt().skill("explain").run().say("It sums them.") for number in range(12)]
    code, found = gated(tmp_path, "explain", sessions)
    assert (code, found["passed"]) == (1, False)
    assert (found["stats"]["errors_known"], found["stats"]["error_rate"]) == (0, None)
