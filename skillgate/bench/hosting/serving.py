"""The word ``serve`` of ``bench``: a benchmark's server in the foreground, for skills under development."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skillgate.bench.catalog import find_benchmark
from skillgate.bench.hosting.skill_server import is_skill, serve_skill
from skillgate.bench.serving import SERVERS, opening
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.session import deliver

if TYPE_CHECKING:
    import argparse

    from skillgate.bench.serving import Served
    from skillgate.session import Session


def serve(args: argparse.Namespace, session: Session) -> int:
    """Answer until interrupted.

    Raises:
        UsageError: there is no such server.
        IncompleteError: it cannot listen there.
    """
    if args.name not in SERVERS.names() and is_skill(args.name, session):
        return serve_skill(args.name, args.port, session)
    name = _name(args.name, args.benchmarks_dir, session)
    with opening(name, args.port) as (listener, served):
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
    """Give the server that a word means: by its own name, or by that of a benchmark that needs it."""
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
