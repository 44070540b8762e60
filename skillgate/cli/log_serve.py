"""``log serve``: receive OpenTelemetry data, and import the uses of skills in it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.cli.options import Rare, json_text, whole_number
from skillgate.console import deliver
from skillgate.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from skillgate.console import Console
    from skillgate.invocations.serving import Server

SUMMARY = "receive OpenTelemetry data over HTTP, and import the uses of skills in it"
MORE = """\
Senders need OTEL_EXPORTER_OTLP_ENDPOINT, as shown at the start, and OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf or
http/json; gRPC is refused. A request is acknowledged when it is on the disk. SIGTERM and Ctrl-C end it after a last
import. It is for this machine only, unless --host names another address; then senders need a token."""
_SPOOL = os.path.join(".skillgate", "otlp")  # noqa: PTH118 - pathlib costs start-up time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the address, the token and the spool."""
    parser.add_argument("--host", metavar="ADDRESS", help="the address to listen on (default: only this machine)")
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number("a port, an integer from 0 to 65535", 0, 65_535),
        default=4318,
        help="the port to listen on; 0 for any free one (default: 4318)",
    )
    parser.add_argument(
        "--token-env", metavar="NAME", help="the environment variable with the token that senders must have"
    )
    parser.add_argument("--project", metavar="LABEL", help=Rare("store this name as the origin"))
    parser.add_argument("--skill-category", metavar="NAME", help=Rare("the category of invocations that name none"))
    parser.add_argument(
        "--rubric",
        choices=settings.RUBRIC.choices,
        help=Rare(f"the version of the rubric (default: the configuration's, else {settings.RUBRIC.default})"),
    )
    parser.add_argument(
        "--spool", metavar="DIR", default=_SPOOL, help=Rare(f"where received data is held (default: {_SPOOL})")
    )
    parser.add_argument(
        "--spool-mb",
        metavar="N",
        type=whole_number("megabytes, an integer from 1 to 100000", 1, 100_000),
        default=256,
        help=Rare("how much it may hold; then requests are refused (default: 256)"),
    )
    parser.add_argument(
        "--every",
        metavar="SECONDS",
        type=whole_number("seconds, an integer from 1 to 3600", 1, 3_600),
        default=10,
        help=Rare("how often to import what was received (default: 10)"),
    )


def run(args: argparse.Namespace, session: Console) -> int:
    """Receive until SIGTERM or SIGINT."""
    from skillgate.invocations.formats._input import fit_name
    from skillgate.invocations.serving import ServeRequest, serve, summary

    if args.project is not None and not fit_name(args.project):
        raise UsageError("--project: expected a name of at most 200 visible characters")
    request = ServeRequest(
        store=args.store,
        rubric=args.rubric or session.config.get(settings.RUBRIC),
        host=args.host,
        port=args.port,
        token=_token(args.token_env, session),
        spool=os.path.join(session.cwd, args.spool),  # noqa: PTH118
        most=args.spool_mb * 1_000_000,
        every_s=args.every,
        project=args.project,
        category=args.skill_category,
    )
    stopped = threading.Event()
    before = _listen(stopped)
    try:
        served = serve(request, session, stopped=stopped, ready=lambda server: _announce(server, session))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if session.json:
        session.out(json_text({"kind": "log-serve", **served._asdict()}))
    else:
        session.out(summary(served))
    return EXIT_PASSED


def _token(name: str | None, session: Console) -> str | None:
    """Return the token of a variable; raise UsageError if it is not set."""
    if name is None:
        return None
    token = session.environ.get(name, "")
    if len(token) < 16 or not token.isprintable():
        raise UsageError(f"--token-env: {name} must hold a token of at least 16 characters")
    return token


def _listen(stopped: threading.Event) -> dict[int, Any]:
    """Set an event at SIGTERM and SIGINT; return the handlers before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGINT") if hasattr(signal, name)]
    return {number: signal.signal(number, lambda _number, _frame: stopped.set()) for number in numbers}


def _announce(server: Server, session: Console) -> None:
    from skillgate.invocations.serving import has_protobuf

    protocol = "http/protobuf" if has_protobuf() else "http/json"
    if session.json:
        text = json.dumps({"url": server.url, "protocol": protocol})
    else:
        text = (
            f"Listening on {server.url}\nSet where the data comes from:\n\n"
            f"  export OTEL_EXPORTER_OTLP_ENDPOINT={server.url}\n"
            f"  export OTEL_EXPORTER_OTLP_PROTOCOL={protocol}\n\nPress Ctrl-C to stop."
        )
    deliver(session.stdout, text + "\n", flush=True)  # now, not when the command ends
