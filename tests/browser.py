"""A headless Chromium for tests, driven over a pair of pipes by its own protocol: no package, no port, no network.

``SKILLGATE_CHROMIUM`` names the program; without it ``chromium`` on the path is used. The protocol is that of the
developer tools: one JSON message after another, each ended by a NUL.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MISSING = "Chromium is not installed"
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe"),
)
# Chromium reads from descriptor 3 and writes to 4; this puts the pipes there in the new process alone.
_START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def program() -> str | None:
    """Find Chromium."""
    return os.environ.get("SKILLGATE_CHROMIUM") or shutil.which("chromium")


class Seen(NamedTuple):
    """What a page did while it was loaded and looked at."""

    problems: list[str]
    requests: list[str]


class Browser:
    """One Chromium with one page; use it in a ``with`` statement."""

    def __init__(self, profile: Path) -> None:
        here, there = _pipe(), _pipe()
        command = [sys.executable, "-c", _START, str(here[0]), str(there[1])]
        command += [str(program()), *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(here[0], there[1]), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(here[0])
        os.close(there[1])
        self._to, self._from = os.fdopen(here[1], "wb", buffering=0), os.fdopen(there[0], "rb", buffering=0)
        self._rest = b""
        self._number = 0
        self._session = ""
        self.seen = Seen([], [])
        self._attach()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *raised: object) -> None:
        self._to.close()  # Chromium ends with its pipe
        try:
            self._process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._from.close()

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        source = (
            "addEventListener('securitypolicyviolation',"
            " event => console.error('violates ' + event.violatedDirective + ': ' + event.blockedURI))"
        )
        self.call("Page.addScriptToEvaluateOnNewDocument", source=source)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask for something and wait for the answer; what happens meanwhile is kept in ``seen``."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                found: dict[str, Any] = answer["result"]
                return found

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._from.fileno(), 1 << 20)
            if not data:
                raise EOFError("Chromium ended")
            self._rest += data
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        self._watch(message.get("method", ""), message.get("params", {}))
        return message

    def _watch(self, event: str, what: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.seen.requests.append(what["request"]["url"])
        elif event == "Log.entryAdded":
            self.seen.problems.append(what["entry"]["text"])
        elif event == "Runtime.consoleAPICalled":
            self.seen.problems.append(" ".join(str(item.get("value")) for item in what["args"]))
        elif event == "Runtime.exceptionThrown":
            self.seen.problems.append(str(what["exceptionDetails"]))
        elif event == "Page.javascriptDialogOpening":
            self.seen.problems.append(f"dialog: {what['message']}")

    def open(self, url: str) -> None:
        """Load a page and wait until it is there."""
        self.seen = Seen([], [])
        self.call("Page.navigate", url=url)
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def screen(self, width: int, height: int = 900) -> None:
        """Set the size of the window, in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, *, scheme: str = "light", medium: str = "screen") -> None:
        """Prefer a colour scheme, ``light`` or ``dark``, and a medium."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def run(self, expression: str) -> Any:
        """Evaluate JavaScript in the page and give what it says."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, such as ``Tab`` and ``Enter``."""
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {}
            code = {"Tab": 9, "Enter": 13}[key]
            for kind in ("keyDown", "keyUp"):
                held = text if kind == "keyDown" else {}
                self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **held)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen, or the whole page, as a PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))


def _pipe() -> Sequence[int]:
    """Make a pipe whose descriptors are neither 3 nor 4."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high
