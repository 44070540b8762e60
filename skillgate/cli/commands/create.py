"""Create a runnable skill from a template, operations of an OpenAPI document, or a running MCP server.

Templates: http_request, a server that answers POST; python_script, a program that answers JSON-RPC over its pipes;
mcp_tool, a tool of an MCP server; skill_md, instructions for a model. --from-openapi makes a skill for an HTTP API,
with tasks for each operation: a call, and one without a required value or the token. --from-mcp starts the server,
reads its tools, and makes one skill with tasks for each tool: a call with made-up input, and one without the required
arguments. It calls only tools that say that they only read, unless you use --call-tools. The directory is named after
the id: the name in lower case, with _ instead of other characters (- for a SKILL.md). The skill is written completely
or not at all.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.creating import CreateRequest, create
from skillgate.bench.starters import TASKS
from skillgate.cli.bench_options import add_server, server_permissions
from skillgate.cli.options import json_text, request_from
from skillgate.errors import EXIT_PASSED
from skillgate.format import printable
from skillgate.registry import STARTERS

if TYPE_CHECKING:
    import argparse

    from skillgate.bench.creating import Created
    from skillgate.console import Console

GROUP = "programs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--name", metavar="NAME", help="the skill's name, required without --from-mcp; its id is derived from it"
    )
    templates = STARTERS.listed(separator="_")
    parser.add_argument("--from-template", metavar="TEMPLATE", help=f"{', '.join(templates)} (default: {templates[0]})")
    parser.add_argument(
        "--from-openapi", metavar="FILE|URL", help="an OpenAPI 3 document (JSON or YAML) to use instead"
    )
    parser.add_argument(
        "--operation",
        metavar="ID|METHOD PATH",
        action="append",
        default=[],
        help='an operation to call, such as "GET /orders/{id}"; repeatable',
    )
    parser.add_argument("--server", metavar="URL", help="the address of the API, instead of that in the document")
    parser.add_argument(
        "--from-mcp", metavar="COMMAND|URL", help="an MCP server: makes one skill, with tasks for all of its tools"
    )
    parser.add_argument(
        "--call-tools",
        action="store_true",
        help="with --from-mcp: also call tools that do not say that they only read, to see what they answer",
    )
    add_server(parser)
    parser.add_argument(
        f"--{settings.OUTPUT_DIR.key}",
        metavar="DIR",
        default="skills",
        help="the directory to create it in (default: skills)",
    )
    parser.add_argument("--description", metavar="TEXT", default="", help="what the skill does, for people and models")
    parser.add_argument("--force", action="store_true", help="overwrite the template's files of an existing skill")


def run(args: argparse.Namespace, session: Console) -> int:
    """Write the files and print what to do next.

    Raises:
        UsageError: an option or the document is not valid, or the skill exists already.
    """
    request = request_from(
        CreateRequest,
        args,
        template=args.from_template,
        openapi=args.from_openapi,
        operation=tuple(args.operation),
        mcp=args.from_mcp,
        directory=args.output_dir,
    )
    created = create(request, server_permissions(args, session), session)
    for notice in created.notices:
        session.note(notice)
    _print(created, session, is_served=request.openapi is None)
    return EXIT_PASSED


def _print(created: Created, session: Console, *, is_served: bool) -> None:
    """Print what was written, and what to do next."""
    place = created.directory
    quoted = shlex.quote(place)
    tasks = shlex.quote(f"{place}/{TASKS}")
    one_by_one = "" if is_served else " --concurrency 1"  # a task may need what another creates
    commands = [f"skillgate eval --skills {quoted} --tasks {tasks} --exit-on-fail{one_by_one}"]
    if is_served and (first := STARTERS.text(created.template, "FIRST")):
        commands.insert(0, first.format(quoted))
    if session.json:
        whole: dict[str, object] = {"id": created.id, "template": created.template, "dir": place}
        whole |= {"files": list(created.files), "next": commands}
        session.out(json_text(whole))
        return
    lines = [*(f"wrote {place}/{name}" for name in created.files), "", *(f"then: {line}" for line in commands)]
    session.out("\n".join(printable(line) for line in lines))
