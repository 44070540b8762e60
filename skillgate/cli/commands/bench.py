"""Work on benchmarks: list and show them, check the files of benchmarks and of skills that run."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.benchmark import Loaded
    from skillgate.session import Session

GROUP = "programs"
_LIST = "list the benchmarks there are: the packaged ones and those of a directory"
_SHOW = "show one benchmark's tasks"
_VALIDATE = "check skill.json, adapter.config.json and benchmark files"
_MORE = """\
Files are checked by themselves; nothing is run. A directory is searched for skill.json, adapter.config.json,
benchmark.json, files whose name ends in .eval.json, and the JSON files of directories called benchmarks. JSON Schemas
in them are checked where the extra bench is installed. The exit code is 1 where a file is not valid, and 3 where this
machine cannot start the program of a skill although it exists."""
_CHECK = "find tasks that a skill passes which knows nothing"
_CHECKS = """\
Three answers are held against every task's scorer, and no skill is started: null; the input, or one value of it; and
the one constant that passes most. Tasks that a model or a program scores are left out and named; where none is left the
exit code is 3. A benchmark's metadata.selfCheck says how many each may pass by its own design, as in
{"constant": 2}. The exit code is 1 where one passes more."""
_SERVE = "run a packaged benchmark's server, or a skill's own, for skills under development"
_SERVES = """\
The path of an http skill runs the program that its adapter.config.json names under serve, in the skill's directory,
with none of your variables but those of passEnv. What follows is about the servers of benchmarks.

The server listens on loopback alone until Ctrl-C, and prints its variables, with --json as one line of JSON. eval needs
none: it starts the server of a benchmark by itself."""
_IMPORT = "make a benchmark of lines of JSON: your own copy of a published data set, or fields that you name"
_IMPORTS = """\
Each line is one object. Lines that are no task are named by their number, the others are written, and the exit code is
then 1; nothing is written where none is a task."""
_FOLDER = "benchmarks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words, each with what it takes."""
    words = parser.add_subparsers(dest="word", required=True, metavar="check|import|list|serve|show|validate")
    listing = words.add_parser("list", help=_LIST, description=f"{_LIST.capitalize()}.")
    showing = words.add_parser("show", help=_SHOW, description=f"{_SHOW.capitalize()}.")
    showing.add_argument("benchmark", metavar="BENCHMARK", help="an id, or a file's path")
    checking = words.add_parser("check", help=_CHECK, description=f"{_CHECK.capitalize()}.\n\n{_CHECKS}")
    checking.add_argument("benchmarks", metavar="BENCHMARK", nargs="*", help="ids or files (default: all packaged)")
    serving = words.add_parser("serve", help=_SERVE, description=f"{_SERVE.capitalize()}.\n\n{_SERVES}")
    serving.add_argument("name", metavar="SERVER|BENCHMARK|PATH", help="a server, a benchmark, or a skill")
    serving.add_argument("--port", metavar="N", type=_port, default=0, help="listen there (default: one that is free)")
    _importing(words.add_parser("import", help=_IMPORT, description=f"{_IMPORT.capitalize()}.\n\n{_IMPORTS}"))
    for one in (listing, showing, checking, serving):
        one.add_argument(
            "--benchmarks-dir",
            metavar="DIR",
            default=_FOLDER,
            help=f"a directory of benchmarks beside the packaged ones (default: {_FOLDER})",
        )
    validating = words.add_parser("validate", help=_VALIDATE, description=f"{_VALIDATE.capitalize()}.\n\n{_MORE}")
    validating.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: .)")


def _importing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the lines of JSON")
    parser.add_argument("--output", metavar="PATH", required=True, help="the benchmark's file to write")
    parser.add_argument("--like", choices=("gaia-v1", "toolbench-lite"), help="the data set that the lines are of")
    parser.add_argument("--map", metavar="KEY=FIELD,…", help="which fields are input, expected, id, tags, description")
    parser.add_argument("--attachments", metavar="DIR", help="where the files are that tasks name (default: left out)")
    parser.add_argument("--id", metavar="ID", help="the benchmark's id (default: the data set's, or the file's name)")
    parser.add_argument(
        "--benchmark-version", metavar="V", dest="version_", default="1.0.0", help="its version (default: 1.0.0)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 5 or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, found {text!r}")
    return int(text)


def run(args: argparse.Namespace, session: Session) -> int:
    """Do what the word says."""
    if args.word == "serve":
        from skillgate.bench.hosting.serving import serve

        return serve(args.name, port=args.port, benchmarks_dir=args.benchmarks_dir, session=session)
    if args.word == "import":
        return _import(args, session)
    if args.word == "validate":
        return _validate(args.paths or ["."], session)
    if args.word == "check":
        return _check(args, session)
    return _list(args, session) if args.word == "list" else _show(args, session)


def _list(args: argparse.Namespace, session: Session) -> int:
    from skillgate.bench.reading.catalog import listed

    known = listed(args.benchmarks_dir, cwd=session.cwd)
    for notice in known.notices:
        session.note(notice)
    rows = [known.found[identifier] for identifier in sorted(known.found)]
    if session.json:
        session.out(json.dumps({"benchmarks": [_entry(loaded) for loaded in rows]}, indent=2, ensure_ascii=False))
        return EXIT_PASSED
    table = [["benchmark", "version", "tasks", "domain", "from"]]
    table += [
        [
            loaded.benchmark.id,
            loaded.benchmark.version,
            str(len(loaded.benchmark.tasks)) if loaded.benchmark.tasks else "—",
            loaded.benchmark.domain,
            loaded.origin,
        ]
        for loaded in rows
    ]
    session.out("\n".join([*_table(table), "", "skillgate bench show BENCHMARK lists its tasks"]))
    return EXIT_PASSED


def _show(args: argparse.Namespace, session: Session) -> int:
    from skillgate.bench.reading.catalog import find_benchmark

    loaded, notices = find_benchmark(args.benchmark, args.benchmarks_dir, cwd=session.cwd)
    for notice in notices:
        session.note(notice)
    benchmark = loaded.benchmark
    if session.json:
        tasks = [
            {"id": task.id, "description": task.description, "scorer": _scorer(task), "tags": list(task.tags)}
            for task in benchmark.tasks
        ]
        session.out(json.dumps({**_entry(loaded), "tasks": tasks}, indent=2, ensure_ascii=False))
        return EXIT_PASSED
    head = [
        f"{benchmark.id} {benchmark.version}: {benchmark.name}",
        *([benchmark.description] * bool(benchmark.description)),
    ]
    rows = [["task", "scorer", "tags", "what"]]
    rows += [[task.id, _scorer(task), ", ".join(task.tags), task.description] for task in benchmark.tasks]
    body = _table(rows) if benchmark.tasks else ["It is a placeholder without tasks."]
    session.out("\n".join([*(printable(line) for line in head), "", *body]))
    return EXIT_PASSED


def _import(args: argparse.Namespace, session: Session) -> int:
    """Import lines, and say what was left out."""
    from skillgate.bench.evaluation.importing import ImportRequest, import_lines, shortened

    request = ImportRequest(
        file=args.file,
        output=args.output,
        like=args.like,
        fields=args.map,
        attachments=args.attachments,
        id=args.id,
        version=args.version_,
        force=args.force,
    )
    found = import_lines(request, session)
    for line in (*shortened(found.bad), *shortened(found.left_out)):
        session.note(line)
    if session.json:
        whole = {"path": args.output, "id": found.data["id"], "tasks": found.tasks}
        whole |= {"bad": list(found.bad), "leftOut": list(found.left_out)}
        session.out(json.dumps(whole, indent=2, ensure_ascii=False))
    else:
        problems = f"{len(found.bad)} problems in lines" if found.bad else "no line was wrong"
        session.out(f"{args.output}: {found.tasks} tasks, {len(found.left_out)} left out, {problems}")
    return EXIT_GATE_FAILED if found.bad else EXIT_PASSED


def _validate(paths: Sequence[str], session: Session) -> int:
    from skillgate.bench.hosting.starting import validate

    checked = validate(paths, session)
    bad = [one for one in checked if one.problems]
    for notice in (notice for one in checked for notice in one.notices):
        session.note(notice)
    not_started = [one for one in checked if one.not_started]
    for one in not_started:
        session.note(printable(f"{one.path}: cannot be started here: {one.not_started}"))
    unchecked = sum(one.unchecked for one in checked)
    if unchecked:
        many = f"{unchecked} JSON Schemas were" if unchecked != 1 else "1 JSON Schema was"
        session.note(f'{many} not checked: jsonschema is not installed: pip install "skillgate-action[bench]"')
    if session.json:
        files = [
            {
                "path": one.path,
                "kind": one.kind,
                "problems": list(one.problems),
                "notices": list(one.notices),
                "notStarted": one.not_started or None,
            }
            for one in checked
        ]
        document = {"files": files, "valid": not bad, "uncheckedSchemas": unchecked}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        lines = [printable(line) for one in bad for line in one.problems]
        valid = len(checked) - len(bad)
        told = f"{valid} of {len(checked)} file{'s' * (len(checked) != 1)} valid" if checked else "no file to check"
        session.out("\n".join([*lines, told]))
    if bad:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if not_started else EXIT_PASSED


def _check(args: argparse.Namespace, session: Session) -> int:
    from skillgate.bench.evaluation.probing import probe_benchmark
    from skillgate.bench.reading.catalog import packaged_ids

    folder = args.benchmarks_dir if args.benchmarks else None
    probed = [probe_benchmark(word, folder, session) for word in args.benchmarks or packaged_ids()]
    left_out = {one.benchmark: list(one.left_out) for one in probed if one.left_out}
    checked = sum(one.checked for one in probed)
    rows: list[dict[str, Any]] = []
    for one in probed:
        for found in one.probes:
            row: dict[str, Any] = {"benchmark": one.benchmark, "probe": found.name, "passed": list(found.passed)}
            row |= {"allowed": found.allowed, "ok": found.is_fine}
            rows.append(row | ({"answer": found.answer} if found.passed and found.name == "constant" else {}))
    bad = [row for row in rows if not row["ok"]]
    if session.json:
        session.out(json.dumps({"probes": rows, "ok": not bad, "notChecked": left_out}, indent=2, ensure_ascii=False))
    else:
        table = [["benchmark", "probe", "passes", "may pass", "tasks"]]
        table += [
            [row["benchmark"], row["probe"], str(len(row["passed"])), str(row["allowed"]), ", ".join(row["passed"][:8])]
            for row in rows
        ]
        session.out("\n".join(_table(table)))
    if bad:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if left_out and not checked else EXIT_PASSED


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
    from skillgate.bench.checking import scorer_of

    return scorer_of(task, None) or "(default)"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns; what comes from files is made printable."""
    from skillgate.report.terminal import columns, pad

    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    return ["  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
