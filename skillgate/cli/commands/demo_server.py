"""Serve made-up or scripted model replies, to try depths standard, deep and certify without a key.

It serves single messages and chats but no Message Batches, so it does not work with ``--provider batch``.
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
    """Declare the address and the answers."""
    parser.add_argument(
        "--host", metavar="ADDRESS", help=f"the address to listen on (default: {_HOST}, only this machine)"
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number("a port, an integer from 0 to 65535", 0, 65_535),
        default=0,
        help="the port to listen on (default: any free port)",
    )
    parser.add_argument("--script", metavar="FILE", help="the rules for replies (default: replies are made up)")
    parser.add_argument(
        "--latency-ms", metavar="N", type=_LATENCY, default=0, help=Rare("the minimum duration of every reply")
    )
    parser.add_argument("--record", metavar="FILE", help=Rare("write each exchange as a line of JSON, without headers"))


def run(args: argparse.Namespace, session: Console) -> int:
    """Answer until interrupted."""
    from skillgate.llm.demo_server import DemoServer, Options  # imports http.server, which --help does not need
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
                server.stopped.set()  # held-back requests are answered now
                if server.unrecorded is not None:
                    session.note(f"{args.record}: not every exchange could be recorded: {server.unrecorded}")
    return 0


def _announce(server: DemoServer, session: Console) -> None:
    if not server.local:
        session.note(f"warning: other machines can reach this server at {server.base_url}, and it needs no key")
    if session.json:
        text = json.dumps({"base_url": server.base_url, "scripted": True})
    else:
        text = (
            f"Listening on {server.base_url}\nEvery answer is scripted and says nothing about a skill."
            f" In another terminal:\n\n  export ANTHROPIC_BASE_URL={server.base_url}"
            " ANTHROPIC_API_KEY=demo\n  skillgate score --depth standard PATH\n  skillgate certify"
            " --simulations 10 PATH\n\nMessage Batches are not served: do not use --provider"
            " batch.\nPress Ctrl-C to stop."
        )
    deliver(session.stdout, text + "\n", flush=True)  # now, not when the command ends


def _recording(path: str | None, cwd: str) -> AbstractContextManager[TextIO | None]:
    if path is None:
        return nullcontext()
    try:
        return (Path(cwd) / path).open("a", encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise IncompleteError(f"cannot write {path}: {why}") from None
