"""A container engine of the tests' own, and the project's image built in it.

Debian's dockerd, started below a temporary directory, stopped with the session and by the end of this process whatever
that is: no bridge, no packet filter, no registry. The base image is imported from the tar that ``SKILLGATE_STANDIN``
names, since none can be pulled.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = Path(__file__).parents[2]
STANDIN = os.environ.get("SKILLGATE_STANDIN", "")
# Debian's own, by full path: another client of that name may stand earlier on PATH.
DOCKER, DOCKERD = "/usr/bin/docker", "/usr/sbin/dockerd"
BASE_IMAGE = "python-standin:trixie"
START_S, BUILD_S, STOP_S = 30.0, 420.0, 20.0


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All it wrote."""
        return self.out + self.err


class Engine:
    """A running dockerd."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = f"unix://{folder}/docker.sock"
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "DOCKER_HOST": self.socket,
            "DOCKER_BUILDKIT": "1",
            "BUILDKIT_PROGRESS": "plain",
        }
        (folder / "home").mkdir()
        options = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=overlay2")
        places = ("--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid")
        with (folder / "log").open("wb") as log:
            self._daemon = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", DOCKERD, "--host", self.socket, *map(str, places), *options],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def answers(self) -> bool:
        """Wait until it does; False if it ended instead, or takes too long."""
        end = time.monotonic() + START_S
        while time.monotonic() < end and self._daemon.poll() is None:
            if self.docker("version").code == 0:
                return True
            time.sleep(0.1)
        return False

    def log(self) -> str:
        """Give the last lines that the daemon wrote."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-600:]

    def docker(self, *argv: str, env: Mapping[str, str] | None = None, timeout_s: float = 120.0) -> Done:
        """Run the client; ``env`` is for ``--env NAME``, which takes the value from the client's own."""
        done = subprocess.run(
            [DOCKER, *argv],
            env={**(env or {}), **self._environ},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def environ(self) -> dict[str, str]:
        """Give what another client of this engine needs in its environment."""
        return {"DOCKER_HOST": self.socket}

    def stop(self) -> None:
        """End the daemon and remove all that it kept."""
        self._daemon.send_signal(signal.SIGTERM)
        try:
            self._daemon.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._daemon.pid, signal.SIGKILL)
            self._daemon.wait()
        for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
            where = line.split()[1]
            if where.startswith(f"{self.folder}/"):
                subprocess.run(["umount", "--lazy", where], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def why_not() -> str:
    """Tell what is missing for an engine; ``""`` where nothing is."""
    if sys.platform != "linux" or os.getuid() != 0:
        return "a container engine needs root on Linux"
    if not (Path(DOCKER).exists() and Path(DOCKERD).exists()):
        return "docker.io is not installed (apt-get install docker.io)"
    if not Path(STANDIN).is_file():
        return "SKILLGATE_STANDIN names no tar of a base image with Python (.ci/run makes one with mmdebstrap)"
    return ""


_ENGINE = pytest.StashKey[Engine]()
_BUILT = pytest.StashKey[dict[str, Done]]()


def engine_of(config: pytest.Config) -> Engine:
    """Give the session's engine, started at its first use and stopped with the session; skip where none can be had."""
    if _ENGINE not in config.stash:
        if reason := why_not():
            pytest.skip(reason)
        engine = Engine(Path(tempfile.mkdtemp(prefix="skillgate-engine-")))
        config.add_cleanup(engine.stop)
        if not engine.answers():
            pytest.skip(f"a container engine cannot be started here: {engine.log()}")
        done = engine.docker(
            "import",
            "--change=ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8",
            '--change=CMD ["python3"]',
            str(Path(STANDIN).absolute()),
            BASE_IMAGE,
        )
        assert done.code == 0, done.said
        config.stash[_ENGINE], config.stash[_BUILT] = engine, {}
    return config.stash[_ENGINE]


def image_of(config: pytest.Config, stage: str = "") -> str:
    """Build a stage of the Dockerfile, once a session; without a name the last one, as GitHub does.

    Returns:
        The image's tag.
    """
    engine = engine_of(config)
    tag = f"skillgate:{stage or 'last'}"
    built = config.stash[_BUILT]
    if tag not in built:
        asked = ("--target", stage) if stage else ()
        built[tag] = engine.docker(
            *("build", "--network", "host", "--build-arg", f"PYTHON_IMAGE={BASE_IMAGE}", *asked),
            *("--tag", tag, "--file", str(PROJECT / "Dockerfile"), str(PROJECT)),
            timeout_s=BUILD_S,
        )
    assert built[tag].code == 0, built[tag].said[-4000:]
    return tag
