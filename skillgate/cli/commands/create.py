"""Create a skill that runs as it is: from a template, or from an operation of an OpenAPI document.

Templates: http_request, a server that answers POST; python_script, a program that answers JSON-RPC over its pipes;
mcp_tool, a tool of an MCP server; skill_md, instructions for a model. --from-openapi makes a python_script that calls
the operation. The directory is called as the id: the name in lower case, with _ in the place of other characters (-
for a SKILL.md). It is written whole or not at all.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from skillgate.bench.creating import PROSE, TEMPLATES, id_of, put_down, require_description, starter
from skillgate.bench.starters._wanted import TASKS, Wanted
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.model.text import did_you_mean, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from skillgate.session import Session

GROUP = "programs"
_DEFAULT = "http_request"
_OF_OPENAPI = "python_script"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--name", metavar="NAME", help="required: the skill's name; its id is made of it")
    parser.add_argument("--from-template", metavar="TEMPLATE", help=f"{', '.join(TEMPLATES)} (default: {_DEFAULT})")
    parser.add_argument("--from-openapi", metavar="FILE", help="an OpenAPI 3 document, JSON or YAML, in its place")
    parser.add_argument(
        "--operation", metavar="ID|METHOD PATH", help='which of its operations, as in "GET /orders/{id}"'
    )
    parser.add_argument("--output-dir", metavar="DIR", default="skills", help="where it is made (default: skills)")
    parser.add_argument("--description", metavar="TEXT", default="", help="what it does, for people and models")
    parser.add_argument("--force", action="store_true", help="overwrite the starter's files of a skill that is there")


def run(args: argparse.Namespace, session: Session) -> int:
    """Write the files and say what to do next.

    Raises:
        UsageError: an option does not fit, the document is not valid, or the skill is there already.
    """
    template = _template(args)
    if args.name is None:
        raise UsageError("--name NAME is required\nTry: skillgate create --help")
    wanted = Wanted(id_of(args.name, template), args.name.strip(), require_description(args.description))
    notices: tuple[str, ...] = ()
    if args.from_openapi is None:
        files = starter(template, wanted)
    else:
        from skillgate.bench.openapi.starter import from_document  # few skills are made of one

        files, notices = from_document(args.from_openapi, args.operation, wanted, cwd=session.cwd)
    place = put_down(files, wanted.id, args.output_dir, cwd=session.cwd, force=args.force)
    for notice in notices:
        session.note(notice)
    _tell(wanted.id, template, place, files, session)
    return EXIT_PASSED


def _template(args: argparse.Namespace) -> str:
    if args.from_openapi is not None:
        if args.from_template not in (None, _OF_OPENAPI):
            raise UsageError(f"--from-openapi makes a {_OF_OPENAPI}; leave --from-template out")
        return _OF_OPENAPI
    if args.operation is not None:
        raise UsageError("--operation names one of an OpenAPI document; give --from-openapi FILE too")
    template: str = args.from_template or _DEFAULT
    if template not in TEMPLATES:
        near = did_you_mean(template, TEMPLATES)
        raise UsageError(f"--from-template: unknown {template[:80]!r}{near}; known: {', '.join(TEMPLATES)}")
    return template


def _tell(identifier: str, template: str, place: str, files: Mapping[str, str], session: Session) -> None:
    quoted = shlex.quote(place)
    tasks = shlex.quote(f"{place}/{TASKS}")
    commands = [f"skillgate eval --skills {quoted} --tasks {tasks} --exit-on-fail"]
    if template == "http_request":
        commands.insert(0, f"skillgate bench serve {quoted}    (until Ctrl-C, in another terminal)")
    if template == PROSE:
        commands.insert(0, f"skillgate check {quoted}")
    if session.json:
        whole = {"id": identifier, "template": template, "dir": place, "files": list(files), "next": commands}
        session.out(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    lines = [*(f"wrote {place}/{name}" for name in files), "", *(f"then: {line}" for line in commands)]
    session.out("\n".join(printable(line) for line in lines))
