"""Forward connections out of a sandbox without a network: from a loopback port inside to a server's port outside.

Outside, :class:`Bridges` listens on a socket file for each port. Inside, any Python runs this file as a program,
without the package: it listens on the port, forwards connections to the file, and starts the skill's program.
"""
# ruff: noqa: PTH101, PTH118

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HOST = "127.0.0.1"
_BLOCK = 65_536


class Bridges:
    """The outer ends of the relay, one per port."""

    def __init__(self, ports: tuple[int, ...], folder: str) -> None:
        """Listen for connections from everyone who can reach ``folder``."""
        self._listeners: list[socket.socket] = []
        self.files: dict[int, str] = {}
        for port in ports:
            path = os.path.join(folder, f"port-{port}")
            listener = socket.socket(socket.AF_UNIX)
            self._listeners.append(listener)
            listener.bind(path)
            os.chmod(path, 0o666)  # noqa: S103 - calls may have their own users
            _serve(listener, _to_port(port))
            self.files[port] = path

    def close(self) -> None:
        """Stop listening; open connections end with their programs."""
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
            listener.close()


def _to_port(port: int) -> Callable[[], socket.socket]:
    return lambda: socket.create_connection((_HOST, port))


def _to_file(path: str) -> Callable[[], socket.socket]:
    def connect() -> socket.socket:
        other = socket.socket(socket.AF_UNIX)
        other.connect(path)
        return other

    return connect


def _serve(listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
    """Accept connections in a separate thread."""
    listener.listen(64)

    def accept() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:  # it was closed
                return
            _start(partial(_join, near, connect))

    _start(accept)


def _join(near: socket.socket, connect: Callable[[], socket.socket]) -> None:
    with near:
        try:
            far = connect()
        except OSError:  # nothing listens: close the connection, as without a relay
            return
        with far:
            back = _start(lambda: _carry(far, near))
            _carry(near, far)
            back.join()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_BLOCK):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _start(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _inside(files: Mapping[int, str], argv: list[str]) -> int:
    """Listen on the ports, run the program, and return its exit code; 128 plus the number for a signal."""
    listeners = {port: socket.create_server((_HOST, port)) for port in files}
    child = os.fork()  # before any thread is started
    if child == 0:
        try:
            os.execv(argv[0], argv)  # noqa: S606 - located by the caller
        except OSError as error:
            sys.stderr.write(f"{argv[0]} could not be started: {error.strerror}\n")
        os._exit(127)
    void = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # they belong to the program, and end with it
        os.dup2(void, stream)
    for port, listener in listeners.items():
        _serve(listener, _to_file(files[port]))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    rows = (word.partition("=") for word in sys.argv[1].split(","))
    os._exit(_inside({int(port): path for port, _, path in rows}, sys.argv[2:]))
