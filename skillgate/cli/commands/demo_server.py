"""Answer as a model's API would, with made-up or scripted replies: to try standard, deep and certify without a key.

It serves single messages and chats, and no Message Batches: ``--provider batch`` cannot be tried on it.
"""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.cli.options import Rare, whole_number
from skillgate.console import deliver
from skillgate.errors import IncompleteError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TextIO

    from skillgate.console import Console
    from skillgate.llm.demo_server import DemoServer

GROUP = "reference"
_HOST = "127.0.0.1"
_LATENCY = whole_number("milliseconds, an integer from 0 to 600000", 0, 600_000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the address and what is answered."""
    parser.add_argument("--host", metavar="ADDRESS", help=f"listen there (default: {_HOST}, this machine alone)")
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number("a port, an integer from 0 to 65535", 0, 65_535),
        default=0,
        help="listen there (default: one that is free)",
    )
    parser.add_argument("--script", metavar="FILE", help="the rules it answers by (default: replies are made up)")
    parser.add_argument(
        "--latency-ms", metavar="N", type=_LATENCY, default=0, help=Rare("let every reply take at least so long")
    )
    parser.add_argument(
        "--record", metavar="FILE", help=Rare("write each exchange as a line of JSON, without its headers")
    )


def run(args: argparse.Namespace, session: Console) -> int:
    """Answer until interrupted."""
    from skillgate.llm.demo_server import DemoServer, Options  # brings in http.server, which --help does not need
    from skillgate.llm.providers.scripted import Engine, rules_of

    engine = Engine(rules_of(args.script, cwd=session.cwd) if args.script else ())
    with _recording(args.record, session.cwd) as record:
        options = Options(
            host=args.host or _HOST,
            port=args.port,
            to_others=args.host is not None,
            latency_s=args.latency_ms / 1000,
            record=record,
            log=session.detail,
        )
        with DemoServer(engine, options) as server:
            try:
                _announce(server, session)
                server.serve_forever(poll_interval=0.1)
            finally:
                server.stopped.set()  # requests that are held back are answered now
                if server.unrecorded is not None:
                    session.note(f"{args.record}: not every exchange could be recorded: {server.unrecorded}")
    return 0


def _announce(server: DemoServer, session: Console) -> None:
    if not server.local:
        session.note(f"warning: other machines can reach this server at {server.base_url}; it asks nobody for a key")
    if session.json:
        text = json.dumps({"base_url": server.base_url, "scripted": True})
    else:
        text = (
            f"Listening on {server.base_url}\n"
            "Every answer is scripted: it says nothing of a skill. In another terminal:\n\n"
            f"  export ANTHROPIC_BASE_URL={server.base_url} ANTHROPIC_API_KEY=demo\n"
            "  skillgate score --depth standard PATH\n"
            "  skillgate certify --simulations 10 PATH\n\n"
            "Message Batches are not served: leave --provider batch out.\n"
            "Ctrl-C ends it."
        )
    deliver(session.stdout, text + "\n", flush=True)  # now, not when the command ends


def _recording(path: str | None, cwd: str) -> AbstractContextManager[TextIO | None]:
    if path is None:
        return nullcontext()
    try:
        return (Path(cwd) / path).open("a", encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise IncompleteError(f"{path}: cannot be written: {why}") from None
