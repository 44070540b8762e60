"""Run servers of benchmarks and skills, for a run or in the foreground (``bench serve``)."""
# ruff: noqa: PTH101, PTH113, PTH118, PTH119, PTH123

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.documents import find_benchmark
from skillgate.bench.ports import Reply, Surroundings
from skillgate.bench.program import variables_of
from skillgate.bench.skills import SKILL_JSON, load_skills
from skillgate.console import deliver
from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError
from skillgate.format import printable
from skillgate.model.bench import ErrorKind
from skillgate.model.benchmark import AdapterType
from skillgate.registry import SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.ports import Call
    from skillgate.bench.servers import Listener
    from skillgate.console import Console


class Served(NamedTuple):
    """The benchmark's server during a run."""

    variables: Mapping[str, str]  # variables for programs with its address
    added: Mapping[str, Any]  # for task input, by key: {"url": …}, with path if there is a file
    problem: str | None = None  # why it could not be started


@contextmanager
def serving(name: str | None) -> Iterator[Served]:
    """Run a server of :mod:`skillgate.bench.servers` in a thread for the context, or return why it cannot run."""
    if name is None:
        yield Served({}, {})
        return
    with ExitStack() as ready:
        listener: Listener | None
        try:
            listener, served = ready.enter_context(_opening(name))
        except IncompleteError as error:
            listener, served = None, Served({}, {}, str(error))
        if listener is None:
            yield served
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
def _opening(name: str, port: int = 0) -> Iterator[tuple[Listener, Served]]:
    """Bind a server, port 0 for a free one; the caller runs it."""
    service = SERVERS.load(name).SERVICE
    from skillgate.bench.servers import HOST, Listener

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
                known["path"] = _write_for_all(folder, *service.file)
            except OSError as error:
                raise IncompleteError(f"the file of server {name} cannot be written: {error.strerror}") from error
        variables = {f"SKILLGATE_{service.key.upper()}_{word.upper()}": value for word, value in known.items()}
        yield listener, Served(variables, {service.key: known})
    finally:
        listener.ended.set()
        listener.server_close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _write_for_all(folder: str, name: str, content: bytes) -> str:
    """Write a file that every user can read; return its path."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o644)
    os.chmod(folder, 0o755)  # noqa: S103 - users of calls read it
    return path


class Unserved:
    """Adapter of a skill that cannot be called, because the benchmark's server or its program cannot be started."""

    def __init__(self, problem: str, kind: ErrorKind = ErrorKind.SERVER) -> None:
        self._problem, self._kind = problem, kind

    def invoke(self, call: Call) -> Reply:  # noqa: ARG002 - as every adapter
        """Return an unmeasured reply; see :class:`skillgate.bench.ports.Adapter`."""
        return Reply(kind=self._kind, error=self._problem, answered=False)

    def close(self) -> None:
        """Do nothing."""


def serve(word: str, *, port: int, benchmarks_dir: str, session: Console) -> int:
    """Serve until interrupted; the address is printed at once.

    Args:
        word: A server, a benchmark that needs one, or the path of a skill that has one.
        port: Port to listen on; 0 for a free one.
        benchmarks_dir: Directory of more benchmarks.
        session: The console.

    Raises:
        UsageError: There is no such server.
        IncompleteError: It cannot listen on the port.
    """
    if word not in SERVERS.names() and _is_skill(word, session):
        return _serve_skill(word, port, session)
    name = _server_named(word, benchmarks_dir, session)
    with _opening(name, port) as (listener, served):
        # Print now: the caller waits for the address.
        deliver(session.stdout, _announce_benchmark(name, served, as_json=session.json) + "\n", flush=True)
        listener.serve_forever(0.1)
    return EXIT_PASSED


def _announce_benchmark(name: str, served: Served, *, as_json: bool) -> str:
    if as_json:
        whole = {"server": name, "variables": dict(served.variables), "input": dict(served.added)}
        return json.dumps(whole, ensure_ascii=False)
    lines = [f"export {variable}={value}" for variable, value in served.variables.items()]
    return "\n".join([f"Serving {name} on this machine only. Press Ctrl-C to stop.", "", *lines])


def _server_named(word: str, folder: str, session: Console) -> str:
    """Return a server by its name, or by a benchmark that needs it."""
    if word in SERVERS.names():
        return word
    known = ", ".join(SERVERS.names())
    try:
        loaded, notices = find_benchmark(word, folder, cwd=session.cwd)
    except UsageError as error:
        raise UsageError(f"there is no server {word!r}; known: {known}\n{error}") from None
    for notice in notices:
        session.note(notice)
    if loaded.benchmark.server is None:
        raise UsageError(f"benchmark {loaded.benchmark.id} needs no server; servers: {known}")
    return loaded.benchmark.server


def _is_skill(word: str, session: Console) -> bool:
    """Whether a word is the path of a skill.json, or of a directory with one."""
    place = os.path.join(session.cwd, word)
    if os.path.basename(place) == SKILL_JSON:
        return os.path.isfile(place)
    return os.path.isfile(os.path.join(place, SKILL_JSON))


def _serve_skill(path: str, port: int, session: Console) -> int:
    """Run a skill's server until it is interrupted."""
    from skillgate import process  # not needed for --help

    (skill,) = load_skills([path], cwd=session.cwd).found
    config = skill.config
    if skill.spec.adapter_type is not AdapterType.HTTP or not config.serve:
        words = 'set its program in adapter.config.json, as in "serve": ["python3", "server.py"]'
        hint = words if skill.spec.adapter_type is AdapterType.HTTP else "eval starts programs itself"
        raise UsageError(f"{path} has no server to run: {hint}")
    if port:
        raise UsageError(f"--port: {path} listens at its entrypoint; change it in skill.json")
    if not session.config.get(settings.ALLOW_EXEC):
        raise UsageError(
            f"{path}: programs may not be started: {settings.ALLOW_EXEC.key} is false in your configuration"
        )
    surroundings = Surroundings(
        spawner=None,
        environ=session.environ,
        allow_env=frozenset(session.config.get(settings.ALLOW_ENV)),
        allow_host=frozenset(),
        guarded=False,
        served={},
        stop=threading.Event(),
    )
    env = {
        "PATH": session.environ.get("PATH", os.defpath),
        "HOME": session.environ.get("HOME", skill.root),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",  # bytecode files would change the skill's digest
        **variables_of(skill, surroundings),
    }
    deliver(session.stdout, _announce_skill(skill.key, skill.spec.entrypoint, as_json=session.json) + "\n", flush=True)
    status = process.attend(config.serve, cwd=skill.root, env=env)
    if status:
        raise IncompleteError(f"the server of {path} exited with status {status}; see its output above")
    return EXIT_PASSED


def _announce_skill(key: str, entrypoint: str, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"skill": key, "entrypoint": entrypoint}, ensure_ascii=False)
    return printable(f"Starting the server of {key} at {entrypoint}. Press Ctrl-C to stop.")
