"""Starts the server that a benchmark names, says where it is, and ends it."""
# ruff: noqa: PTH101, PTH118, PTH123

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.ports import Reply
from skillgate.errors import IncompleteError
from skillgate.model.bench_result import ErrorKind
from skillgate.registry import SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.ports import Call
    from skillgate.bench.servers._listening import Listener


class Served(NamedTuple):
    """What is served while a benchmark runs.

    Attributes:
        variables: that tell programs where it is.
        added: what a task's input is given, by key: ``{"url": …}``, and ``path`` where there is a file of it.
        problem: why nothing is served although it should be; None where all is well.
    """

    variables: Mapping[str, str]
    added: Mapping[str, Any]
    problem: str | None = None


NOTHING = Served({}, {})


@contextmanager
def serving(name: str | None) -> Iterator[Served]:
    """Serve in a thread for as long as the context lasts; where that cannot be, say why.

    Args:
        name: of the room of servers; None for nothing.

    Raises:
        UsageError: there is no such server.
    """
    if name is None:
        yield NOTHING
        return
    with ExitStack() as ready:
        problem: str | None = None
        try:
            listener, served = ready.enter_context(opening(name))
        except IncompleteError as error:
            problem = str(error)
        if problem is not None:
            yield Served({}, {}, problem)
            return
        thread = threading.Thread(target=listener.serve_forever, args=(0.1,), name=f"serves {name}", daemon=True)
        thread.start()
        try:
            yield served
        finally:
            listener.ended.set()
            listener.shutdown()
            thread.join()


@contextmanager
def opening(name: str, port: int = 0) -> Iterator[tuple[Listener, Served]]:
    """Bind a server's address, 0 for a port that is free; the caller makes it answer.

    Raises:
        UsageError: there is no such server.
        IncompleteError: it cannot be started.
    """
    module = SERVERS.load(name)
    service = module.SERVICE
    from skillgate.bench.servers._listening import HOST, Listener

    try:
        listener = Listener(service.handler, port)
    except OSError as error:
        raise IncompleteError(f"the server {name} cannot listen on {HOST}:{port}: {error.strerror}") from error
    folder: str | None = None
    try:
        known = {"url": listener.url}
        if service.file is not None:
            try:
                folder = tempfile.mkdtemp(prefix="skillgate-served-")
                known["path"] = _written(folder, *service.file)
            except OSError as error:
                raise IncompleteError(f"the file of server {name} cannot be written: {error.strerror}") from error
        variables = {f"SKILLGATE_{service.key.upper()}_{word.upper()}": value for word, value in known.items()}
        yield listener, Served(variables, {service.key: known})
    finally:
        listener.ended.set()
        listener.server_close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _written(folder: str, name: str, content: bytes) -> str:
    """Write a file that programs can read whatever user they run as; give its path."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o644)
    os.chmod(folder, 0o755)  # noqa: S103 - users of calls read what is in it
    return path


class Unserved:
    """Stands for a skill that cannot be asked: the benchmark's own server, or its program, cannot be started."""

    def __init__(self, problem: str, kind: ErrorKind = ErrorKind.SERVER) -> None:
        self._problem, self._kind = problem, kind

    def invoke(self, call: Call) -> Reply:  # noqa: ARG002 - as every adapter
        """Say that nothing was measured; see :class:`skillgate.bench.ports.Adapter`."""
        return Reply(kind=self._kind, error=self._problem, answered=False)

    def close(self) -> None:
        """Nothing was opened."""
