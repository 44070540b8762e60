"""Run a benchmark's server in the foreground, for skills under development: what ``bench serve`` does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.bench.hosting.skill_server import is_skill, serve_skill
from skillgate.bench.reading.catalog import find_benchmark
from skillgate.bench.serving import opening
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.registry import SERVERS
from skillgate.session import deliver

if TYPE_CHECKING:
    from skillgate.bench.serving import Served
    from skillgate.session import Session


def serve(word: str, *, port: int, benchmarks_dir: str, session: Session) -> int:
    """Answer until interrupted.

    Args:
        word: a server, a benchmark that needs one, or the path of a skill that has one.
        port: to listen on; 0 for one that is free.
        benchmarks_dir: a directory of benchmarks beside the packaged ones.
        session: for its stdout, where the address is written at once.

    Raises:
        UsageError: there is no such server.
        IncompleteError: it cannot listen there.
    """
    if word not in SERVERS.names() and is_skill(word, session):
        return serve_skill(word, port, session)
    name = _name(word, benchmarks_dir, session)
    with opening(name, port) as (listener, served):
        # Now, not when the command ends: whoever started it waits for the address.
        deliver(session.stdout, _announced(name, served, as_json=session.json) + "\n", flush=True)
        listener.serve_forever(0.1)
    return EXIT_PASSED


def _announced(name: str, served: Served, *, as_json: bool) -> str:
    if as_json:
        whole = {"server": name, "variables": dict(served.variables), "input": dict(served.added)}
        return json.dumps(whole, ensure_ascii=False)
    lines = [f"export {variable}={value}" for variable, value in served.variables.items()]
    return "\n".join([f"Serving {name}, and to this machine alone. Ctrl-C ends it.", "", *lines])


def _name(word: str, folder: str, session: Session) -> str:
    """Return the server that a word means: by its own name, or by that of a benchmark that needs it."""
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
