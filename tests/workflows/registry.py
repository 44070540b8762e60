"""Debian's container registry on the loopback, as long as a ``with`` block lasts."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = shutil.which("docker-registry") or shutil.which("docker-registry", path="/usr/bin")
MISSING = "docker-registry is not installed (apt-get install docker-registry)"
_START_S = 20.0
_SETTINGS = """\
version: 0.1
log: {{level: info, formatter: json}}
storage: {{filesystem: {{rootdirectory: "{folder}"}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


class Registry(NamedTuple):
    """A running registry.

    Attributes:
        address: ``HOST:PORT``.
        log: what it was asked, one JSON object a line.
    """

    address: str
    log: Path

    def pulled(self, repository: str, digest: str) -> int:
        """Count how often the manifest of a digest was fetched."""
        asked = f"/v2/{repository}/manifests/{digest}"
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return sum(asked in line and '"http.request.method":"GET"' in line for line in lines)


@contextmanager
def registry(folder: Path) -> Iterator[Registry]:
    """Start a registry that keeps its files below a folder."""
    port = _free_port()
    (folder / "settings.yml").write_text(_SETTINGS.format(folder=folder / "kept", port=port), encoding="utf-8")
    log = folder / "registry.log"
    with log.open("wb") as file:
        program = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", PROGRAM or "docker-registry", "serve", str(folder / "settings.yml")],
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
        )
        try:
            _wait_for(port)
            yield Registry(f"127.0.0.1:{port}", log)
        finally:
            program.terminate()
            program.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
