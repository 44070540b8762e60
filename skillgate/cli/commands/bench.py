"""Work with benchmarks: list, show, import and check them, validate files, and check MCP servers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from skillgate.cli.bench_options import add_server, server_permissions
from skillgate.cli.options import json_text, request_from, whole_number
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.format import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.console import Console
    from skillgate.model.benchmark import Loaded

GROUP = "programs"
_LIST = "list the benchmarks: the packaged ones and those in a directory"
_SHOW = "show one benchmark's tasks"
_VALIDATE = "check skill.json, adapter.config.json and benchmark files"
_MORE = """\
Only the files are checked; nothing runs. Directories are searched for skill.json, adapter.config.json, benchmark.json,
*.eval.json, and the JSON files in directories called benchmarks. JSON Schemas in them are checked if the extra bench is
installed. Exits with 1 if a file is invalid, and with 3 if the program of a skill exists but cannot start on this
machine."""
_CHECK = "find tasks that a do-nothing skill would pass"
_CHECKS = """\
Each task's scorer gets three answers, and no skill starts: null; the input, or one value of it; and the constant that
passes most tasks. Tasks scored by a model or a program are skipped and listed; exits with 3 if no other task is left. A
benchmark's metadata.selfCheck says how many tasks each answer may pass by design, such as {"constant": 2}. Exits with 1
if one passes more."""
_SERVE = "run a packaged benchmark's server, or a skill's own, during development"
_SERVES = """\
Given the path of an http skill, this runs the program that its adapter.config.json names under serve. It runs in the
skill's directory and gets only the environment variables of passEnv. The rest of this text is about the servers of
benchmarks.

The server listens only on loopback until Ctrl-C, and prints its variables (with --json as one line of JSON). eval
starts the server of a benchmark on its own."""
_IMPORT = "make a benchmark from rows: your copy of a published data set, or fields that you name"
_IMPORTS = """\
The file is JSON Lines, a JSON list of objects, or Parquet (extra parquet). Invalid rows are reported with their place
and skipped, and the exit code is 1. If no row is valid, nothing is written."""
_MCP = "check an MCP server: its list of tools, their schemas and annotations, and how it refuses"
_MCPS = """\
The server is a command, an http(s) address, or the path of a skill. Each tool is called without its required arguments.
Tools that say that they only read are also called with made-up input, and with a wrong type. Each call has its own
session, and a program its own process in an empty directory, or in a copy of the skill. Exits with 1 if there is an
error, and with 3 if the server does not start or does not list its tools. Warnings leave the exit code at 0."""
_FOLDER = "benchmarks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    words = parser.add_subparsers(dest="word", required=True, metavar="check|import|list|mcp-check|serve|show|validate")
    listing = words.add_parser("list", help=_LIST, description=f"{_LIST.capitalize()}.")
    showing = words.add_parser("show", help=_SHOW, description=f"{_SHOW.capitalize()}.")
    showing.add_argument("benchmark", metavar="BENCHMARK", help="an id, or the path of a file")
    checking = words.add_parser("check", help=_CHECK, description=f"{_CHECK.capitalize()}.\n\n{_CHECKS}")
    checking.add_argument("benchmarks", metavar="BENCHMARK", nargs="*", help="ids or files (default: all packaged)")
    serving = words.add_parser("serve", help=_SERVE, description=f"{_SERVE.capitalize()}.\n\n{_SERVES}")
    serving.add_argument("name", metavar="SERVER|BENCHMARK|PATH", help="a server, a benchmark, or a skill")
    serving.add_argument(
        "--port",
        metavar="N",
        type=whole_number("a port from 0 to 65535", 0, 65_535, digits=5),
        default=0,
        help="the port to listen on (default: any free port)",
    )
    server = words.add_parser("mcp-check", help=_MCP, description=f"{_MCP[:1].upper()}{_MCP[1:]}.\n\n{_MCPS}")
    server.add_argument("server", metavar="COMMAND|URL|PATH", help="the server")
    add_server(server)
    _importing(words.add_parser("import", help=_IMPORT, description=f"{_IMPORT.capitalize()}.\n\n{_IMPORTS}"))
    for one in (listing, showing, checking, serving):
        one.add_argument(
            "--benchmarks-dir",
            metavar="DIR",
            default=_FOLDER,
            help=f"a directory of benchmarks, in addition to the packaged ones (default: {_FOLDER})",
        )
    validating = words.add_parser("validate", help=_VALIDATE, description=f"{_VALIDATE.capitalize()}.\n\n{_MORE}")
    validating.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: .)")


def _importing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file: JSON Lines, a JSON list, or Parquet")
    parser.add_argument("--output", metavar="PATH", required=True, help="the benchmark file to write")
    parser.add_argument("--like", choices=("gaia-v1", "toolbench-lite"), help="the data set that the rows come from")
    parser.add_argument("--map", metavar="KEY=FIELD,…", help="the fields for input, expected, id, tags and description")
    parser.add_argument(
        "--attachments", metavar="DIR", help="the directory of the files that tasks name (default: that of FILE)"
    )
    parser.add_argument("--id", metavar="ID", help="the benchmark's id (default: the data set's, or the file's name)")
    parser.add_argument(
        "--benchmark-version", metavar="V", dest="version_", default="1.0.0", help="its version (default: 1.0.0)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file")


def run(args: argparse.Namespace, session: Console) -> int:
    """Run the subcommand."""
    if args.word == "serve":
        from skillgate.bench.serving import serve

        return serve(args.name, port=args.port, benchmarks_dir=args.benchmarks_dir, session=session)
    return _RUN[args.word](args, session)


def _list(args: argparse.Namespace, session: Console) -> int:
    from skillgate.bench.documents import listed

    known = listed(args.benchmarks_dir, cwd=session.cwd)
    for notice in known.notices:
        session.note(notice)
    rows = [known.found[identifier] for identifier in sorted(known.found)]
    if session.json:
        session.out(json_text({"benchmarks": [_entry(loaded) for loaded in rows]}))
        return EXIT_PASSED
    table = [["benchmark", "version", "tasks", "domain", "from"]]
    for one in rows:
        benchmark = one.benchmark
        tasks = str(len(benchmark.tasks) or "—")
        table.append([benchmark.id, benchmark.version, tasks, benchmark.domain, one.origin])
    session.out("\n".join([*_table(table), "", "Run skillgate bench show BENCHMARK to list its tasks."]))
    return EXIT_PASSED


def _show(args: argparse.Namespace, session: Console) -> int:
    from skillgate.bench.documents import find_benchmark

    loaded, notices = find_benchmark(args.benchmark, args.benchmarks_dir, cwd=session.cwd)
    for notice in notices:
        session.note(notice)
    benchmark = loaded.benchmark
    if session.json:
        tasks = [
            {"id": task.id, "description": task.description, "scorer": _scorer(task), "tags": list(task.tags)}
            for task in benchmark.tasks
        ]
        session.out(json_text({**_entry(loaded), "tasks": tasks}))
        return EXIT_PASSED
    head = [f"{benchmark.id} {benchmark.version}: {benchmark.name}"]
    head += [benchmark.description] if benchmark.description else []
    rows = [["task", "scorer", "tags", "what"]]
    rows += [[task.id, _scorer(task), ", ".join(task.tags), task.description] for task in benchmark.tasks]
    body = _table(rows) if benchmark.tasks else ["This benchmark is a placeholder without tasks."]
    session.out("\n".join([*(printable(line) for line in head), "", *body]))
    return EXIT_PASSED


def _import(args: argparse.Namespace, session: Console) -> int:
    """Import rows, and report what was skipped."""
    from skillgate.bench.documents import shortened
    from skillgate.bench.importing.importer import ImportRequest, import_rows

    request = request_from(ImportRequest, args, fields=args.map, version=args.version_)
    found = import_rows(request, session)
    for line in (*shortened(found.bad), *shortened(found.left_out)):
        session.note(line)
    if session.json:
        whole = {"path": args.output, "id": found.data["id"], "tasks": found.tasks}
        whole |= {"bad": list(found.bad), "leftOut": list(found.left_out)}
        session.out(json_text(whole))
    else:
        problems = f"{len(found.bad)} problems in rows" if found.bad else "no invalid rows"
        session.out(f"{args.output}: {found.tasks} tasks, {len(found.left_out)} skipped, {problems}")
    return EXIT_GATE_FAILED if found.bad else EXIT_PASSED


def _validate(args: argparse.Namespace, session: Console) -> int:
    from skillgate.bench.authoring import validate

    checked = validate(args.paths or ["."], session)
    bad = [one for one in checked if one.problems]
    for notice in (notice for one in checked for notice in one.notices):
        session.note(notice)
    not_started = [one for one in checked if one.not_started]
    for one in not_started:
        session.note(printable(f"{one.path}: cannot start on this machine: {one.not_started}"))
    unchecked = sum(one.unchecked for one in checked)
    if unchecked:
        many = f"{unchecked} JSON Schemas were" if unchecked != 1 else "1 JSON Schema was"
        session.note(f'{many} not checked: jsonschema is not installed: pip install "skillgate-action[bench]"')
    if session.json:
        files: list[dict[str, Any]] = []
        for one in checked:
            row: dict[str, Any] = {"path": one.path, "kind": one.kind, "problems": list(one.problems)}
            files.append({**row, "notices": list(one.notices), "notStarted": one.not_started or None})
        document = {"files": files, "valid": not bad, "uncheckedSchemas": unchecked}
        session.out(json_text(document))
    else:
        lines = [printable(line) for one in bad for line in one.problems]
        valid = len(checked) - len(bad)
        summary = f"{valid} of {len(checked)} file{'s' * (len(checked) != 1)} valid" if checked else "no file to check"
        session.out("\n".join([*lines, summary]))
    if bad:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if not_started else EXIT_PASSED


def _check(args: argparse.Namespace, session: Console) -> int:
    from skillgate.bench.authoring import probe_benchmark
    from skillgate.bench.documents import packaged_ids

    folder = args.benchmarks_dir if args.benchmarks else None
    probed = [probe_benchmark(word, folder, session) for word in args.benchmarks or packaged_ids()]
    left_out = {one.benchmark: list(one.left_out) for one in probed if one.left_out}
    checked = sum(one.checked for one in probed)
    rows: list[dict[str, Any]] = []
    for one in probed:
        for probe in one.probes:
            row: dict[str, Any] = {"benchmark": one.benchmark, "probe": probe.name, "passed": list(probe.passed)}
            row |= {"allowed": probe.allowed, "ok": probe.is_fine}
            rows.append(row | ({"answer": probe.answer} if probe.passed and probe.name == "constant" else {}))
    bad = [row for row in rows if not row["ok"]]
    if session.json:
        session.out(json_text({"probes": rows, "ok": not bad, "notChecked": left_out}))
    else:
        table = [["benchmark", "probe", "passes", "may pass", "tasks"]]
        for row in rows:
            passed = row["passed"]
            table.append([row["benchmark"], row["probe"], str(len(passed)), str(row["allowed"]), ", ".join(passed[:8])])
        session.out("\n".join(_table(table)))
    if bad:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if left_out and not checked else EXIT_PASSED


def _mcp_check(args: argparse.Namespace, session: Console) -> int:
    from skillgate.bench.mcp.checking import ERROR, check_server
    from skillgate.bench.mcp.server import skill_of

    skill = skill_of(args.server, args.token_env, cwd=session.cwd)
    found = check_server(skill, server_permissions(args, session), session)
    errors = sum(one.level == ERROR for one in found.problems)
    if session.json:
        rows = [{"level": one.level, "tool": one.tool or None, "text": one.text} for one in found.problems]
        counts = {"name": found.name, "version": found.version, "tools": found.tools, "called": found.called}
        session.out(json_text({**counts, "ok": not errors, "problems": rows}))
    else:
        lines = [f"{one.level}: {one.tool + ': ' if one.tool else ''}{one.text}" for one in found.problems]
        warnings = len(found.problems) - errors
        head = f"{found.name} {found.version}: {found.tools} tools, {found.called} called with made-up input"
        summary = f"{head}; errors {errors}, warnings {warnings}"
        session.out("\n".join(printable(line) for line in (*lines, summary)))
    return EXIT_GATE_FAILED if errors else EXIT_PASSED


def _entry(loaded: Loaded) -> dict[str, Any]:
    benchmark = loaded.benchmark
    return {
        "id": benchmark.id,
        "name": benchmark.name,
        "version": benchmark.version,
        "description": benchmark.description,
        "domain": benchmark.domain,
        "scoringMethod": benchmark.scoring_method.value,
        "status": benchmark.status.value,
        "taskCount": len(benchmark.tasks),
        "origin": loaded.origin,
        "digest": loaded.digest,
    }


def _scorer(task: Any) -> str:  # noqa: ANN401 - a Task
    from skillgate.bench.documents import scorer_of

    return scorer_of(task, None) or "(default)"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns, with every cell made printable."""
    from skillgate.report.formats.text import columns, pad

    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    return ["  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]


_RUN: dict[str, Callable[[argparse.Namespace, Console], int]] = {
    "import": _import,
    "validate": _validate,
    "check": _check,
    "mcp-check": _mcp_check,
    "list": _list,
    "show": _show,
}
