"""How programs in a sandbox without a network reach the benchmark's own servers, and nothing else here."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillgate.bench.isolation import relay
from skillgate.errors import IncompleteError, UsageError
from skillgate.process import located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LOOPBACK = ("127.0.0.1", "localhost")


class Reached:
    """A relay outside for each port, and the command that starts the ones inside.

    Attributes:
        files: what has to be seen inside.
    """

    def __init__(self, ports: tuple[int, ...], folder: str, *, path: str, user: int | None) -> None:
        """Start the relays outside, with their files in ``folder``.

        Raises:
            UsageError: there is no Python that calls can run.
        """
        try:
            self._python = located("python3", cwd="/", env={"PATH": path}, user=user)
        except IncompleteError as error:
            raise UsageError(f"--sandbox bwrap: the benchmark's server is reached with Python, and {error}") from error
        self._program = os.path.join(folder, "relay.py")
        shutil.copyfile(relay.__file__, self._program)  # where the package lies may be closed to calls
        os.chmod(self._program, 0o644)  # noqa: PTH101 - likewise
        self._bridges = relay.Bridges(ports, folder)
        self.files = (self._program, *self._bridges.files.values())

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """Give the command that starts the relays inside and then a program."""
        rows = ",".join(f"{port}={file}" for port, file in self._bridges.files.items())
        return [self._python, "-I", "-S", self._program, rows, *argv]

    def close(self) -> None:
        """End the relays."""
        self._bridges.close()


def loopback_ports(served: Mapping[str, str]) -> tuple[int, ...]:
    """Give the ports of the URLs with a loopback host, each once."""
    found = []
    for value in served.values():
        try:
            url = urlsplit(value)
            port = url.port
        except ValueError:
            continue
        if url.scheme in ("http", "https") and url.hostname in _LOOPBACK and port is not None:
            found.append(port)
    return tuple(dict.fromkeys(found))
