"""The SessionEnd hook of the page on collecting, run as Claude Code runs it: by a shell, with JSON on its input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.docs.page import Page
from tests.invocations.test_log_sync import IDS, save, session
from tests.store.test_keeper import rows

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the command is for a POSIX shell")


def hook() -> dict[str, Any]:
    """Return the hook of the page."""
    found = [json.loads(text) for text in Page("docs/how-to/collecting.md").of("json")]
    ((entry,),) = (one["hooks"]["SessionEnd"] for one in found if "SessionEnd" in one.get("hooks", {}))
    (command,) = entry["hooks"]
    assert command["type"] == "command"
    return dict(command)


def end_session(folder: Path, event: str) -> None:
    """Run the hook's command, and end its process group right after it, as a terminal that is closed does."""
    environ = {
        **os.environ,
        "HOME": str(folder / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    process = subprocess.Popen(
        ["/bin/sh", "-c", hook()["command"]],
        cwd=folder / "project",
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = process.communicate(event, timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    return tmp_path


@pytest.mark.parametrize("file", ["", ".skillgate.yaml", "skillgate/__init__.py"])
def test_a_session_that_ended_is_imported_whatever_the_project_has(folder: Path, file: str) -> None:
    if file:
        save(folder / "project" / file, b"[not valid")
    told = session()
    place = save(folder / "home/.claude/projects/p" / f"{told.session}.jsonl", told.data)
    event = {
        "session_id": told.session,
        "transcript_path": str(place),
        "cwd": str(folder / "project"),
        "hook_event_name": "SessionEnd",
        "reason": "prompt_input_exit",
    }
    end_session(folder, json.dumps(event))
    store = folder / "home/.skillgate/store.db"
    until = time.monotonic() + 120
    found: list[Any] = []
    while not found and time.monotonic() < until:
        time.sleep(0.1)
        if store.exists() and rows(str(store), "SELECT 1 FROM sqlite_master WHERE name = 'synced_files'"):
            found = rows(str(store), IDS) and rows(str(store), "SELECT * FROM synced_files")
    assert len(found) == 1
    assert len(rows(str(store), IDS)) == 1
    assert [path.name for path in (folder / "project").iterdir()] == ([file.partition("/")[0]] if file else [])


@pytest.mark.parametrize(
    "event",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"transcript_path": null}',
        '{"transcript_path": "relative.jsonl"}',
        '{"a": "\\ud800"}',
    ],
)
def test_a_hook_never_fails_and_never_prints(folder: Path, event: str) -> None:
    end_session(folder, event)
    assert list((folder / "home").iterdir()) == []
