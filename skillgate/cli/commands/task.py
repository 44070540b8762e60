"""Run a skill on one input, and hold what it answers to what is expected of it, if anything is.

The exit code is 0 where the answer passes, or where there is one and nothing is expected; 1 where it fails; 3 where the
skill did not answer or the answer could not be scored.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from skillgate.bench.files import parse_json, read_json
from skillgate.cli.options import add_asking
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.model.text import printable

if TYPE_CHECKING:
    from skillgate.bench.evaluation.running import Plan
    from skillgate.bench.ports import Scorer
    from skillgate.cli.bench_options import Asked
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.benchmark import Loaded
    from skillgate.session import Session

GROUP = "programs"
_EXPECTATIONS = ("judge", "schema", "regex", "custom", "exact", "contains")
_MOST = 20_000_000  # bytes of an input on stdin
_ID = "task"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--skill", metavar="PATH", required=True, help="a skill.json, a SKILL.md, or a directory with one"
    )
    parser.add_argument(
        "--input", metavar="JSON|@FILE|-", required=True, help="a JSON object: as it is, in a file, or on stdin"
    )
    expected = parser.add_argument_group("what is expected (one of them, or nothing)")
    expected.add_argument("--exact", metavar="JSON", help="this value; what is no JSON is a text")
    expected.add_argument("--contains", metavar="WORD", nargs="+", action="extend", help="all of these words")
    expected.add_argument("--regex", metavar="PATTERN", nargs="+", action="extend", help="all of these patterns")
    expected.add_argument("--schema", metavar="FILE", help="valid by this JSON Schema")
    expected.add_argument("--judge", metavar="TEXT", help="good by these criteria, as a model judges")
    expected.add_argument("--custom", metavar="FILE.py:FUNC", help="passed by this function")
    running = parser.add_argument_group("how it is run")
    running.add_argument("--timeout", metavar="MS", help="how long it may take: milliseconds, or 30s, 2m")
    running.add_argument(
        "--allow-env",
        metavar="NAME",
        action="append",
        default=[],
        help="a variable that the skill's configuration may name; repeatable",
    )
    running.add_argument("--no-allow-exec", action="store_true", help="start no program")
    running.add_argument(
        "--run-as-caller", action="store_true", help="run the program as you, and as root not as a user of its own"
    )
    add_asking(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    """Run the task.

    Raises:
        UsageError: something is not valid; nothing was run.
    """
    from skillgate.bench.evaluation.asking import require_leave
    from skillgate.bench.evaluation.running import evaluated, planned

    loaded, expects = _loaded(args, session)
    asked = _asked(args, session)
    plan = planned(asked, session, loaded)
    try:
        _require_one(plan, args.skill)
        require_leave(plan)
    except UsageError:
        plan.closing.close()
        raise
    report = evaluated(plan if expects else _expecting_nothing(plan), asked, session)
    (result,) = report.reports[0].task_results
    document = _document(result, plan, expects=expects)
    if session.json:
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        session.out("\n".join(_lines(result, document)))
    return {"pass": EXIT_PASSED, "answered": EXIT_PASSED, "fail": EXIT_GATE_FAILED}.get(
        document["status"], EXIT_INCOMPLETE
    )


def _require_one(plan: Plan, word: str) -> None:
    if len(plan.skills) != 1:
        names = ", ".join(skill.shown for skill in plan.skills[:5])
        raise UsageError(f"--skill {word} leads to {len(plan.skills)} skills ({names}); name one of them")


def _asked(args: argparse.Namespace, session: Session) -> Asked:
    """Ask for what eval is asked for, with its options as they are where nothing is said here."""
    from skillgate.bench.gating import BenchPolicy
    from skillgate.cli.bench_options import asked_of
    from skillgate.cli.commands import eval as evaluation
    from skillgate.cli.parser import Parser, shared_defaults

    words = [f"--skills={args.skill}", "--progress=none"]
    words += [f"--timeout={args.timeout}"] if args.timeout is not None else []
    words += [f"--allow-env={name}" for name in args.allow_env]
    words += ["--no-allow-exec"] * args.no_allow_exec
    words += ["--run-as-caller"] * args.run_as_caller
    parser = Parser(prog="skillgate task")
    evaluation.add_arguments(parser)
    whole = parser.parse(words, shared_defaults())
    models = argparse.ArgumentParser(add_help=False)
    add_asking(models)
    for action in models._actions:
        setattr(whole, action.dest, getattr(args, action.dest))
    return asked_of(whole, session)._replace(
        task_ids=(), tags=(), runs=1, concurrency=1, formats=(), policy=BenchPolicy(), evaluator="exact"
    )


def _loaded(args: argparse.Namespace, session: Session) -> tuple[Loaded, bool]:
    """Make the benchmark of one task, and say whether something is expected of its answer.

    Raises:
        UsageError: the input or what is expected is not valid.
    """
    from skillgate.bench.catalog import digest_of
    from skillgate.bench.checking import check_benchmark
    from skillgate.errors import CodecError
    from skillgate.model.benchmark import Benchmark, Loaded
    from skillgate.model.codec import decode

    given = [name for name in _EXPECTATIONS if getattr(args, name) is not None]
    if len(given) > 1:
        raise UsageError(f"{', '.join(f'--{name}' for name in given)}: expect one thing; leave the others out")
    folder, expected = _expected(args, session)
    task = {"id": _ID, "inputData": _input(args.input, session), "expectedOutput": expected}
    data = {"id": _ID, "name": "One task", "version": "0.0.0", "tasks": [task]}
    try:
        benchmark = decode(Benchmark, data)
    except CodecError as error:
        raise UsageError(str(error)) from None
    problems = list(check_benchmark(benchmark))
    if problems:
        raise UsageError("\n".join(f"--{given[0]}: {problem}" if given else problem for problem in problems))
    return Loaded(benchmark=benchmark, origin="the command line", folder=folder, digest=digest_of(data)), bool(given)


def _expected(args: argparse.Namespace, session: Session) -> tuple[str, dict[str, Any]]:
    """Give what is expected as a benchmark's file has it, and the directory that paths in it are relative to."""
    if args.judge is not None:
        return session.cwd, {"type": "llm_judge", "judgePrompt": args.judge}
    if args.schema is not None:
        place = os.path.join(session.cwd, args.schema)  # noqa: PTH118
        return session.cwd, {"type": "json_schema", "schema": read_json(place, args.schema)}
    if args.regex is not None:
        return session.cwd, {"type": "regex", "patterns": args.regex}
    if args.contains is not None:
        return session.cwd, {"type": "contains", "keywords": args.contains}
    if args.custom is not None:
        folder, name = os.path.split(args.custom)
        folder = os.path.realpath(os.path.join(session.cwd, folder))  # noqa: PTH118
        return folder, {"type": "custom", "customScorerPath": name}
    value = args.exact
    if value is not None:
        try:
            value = parse_json(value.encode(), "--exact")
        except UsageError:  # a text that is no JSON stands for itself
            value = args.exact
    return session.cwd, {"type": "exact", "value": value}


def _input(word: str, session: Session) -> dict[str, Any]:
    """Read the input.

    Raises:
        UsageError: it is no JSON object.
    """
    if word.startswith("@"):
        data = read_json(os.path.join(session.cwd, word[1:]), word[1:])  # noqa: PTH118
    elif word == "-":
        if sys.stdin is None:
            raise UsageError("--input -: there is no standard input")
        found = sys.stdin.buffer.read(_MOST + 1)
        if len(found) > _MOST:
            raise UsageError(f"--input -: more than {_MOST:,} bytes came")
        data = parse_json(found, "--input -")
    else:
        data = parse_json(word.encode(errors="surrogateescape"), "--input")
    if not isinstance(data, dict):
        raise UsageError('--input: expected a JSON object such as {"text": "…"}: a task\'s inputData is one')
    return data


class _Answered:
    """Scores nothing: that there is an answer is all that is asked."""

    def score(self, output: Any) -> Any:  # noqa: ANN401, ARG002 - as every scorer
        """Take any answer."""
        from skillgate.bench.ports import Scored

        return Scored(1.0, passed=True, reason="")


def _expecting_nothing(plan: Plan) -> Plan:
    scorers: dict[str, Scorer] = {_ID: _Answered()}
    return plan._replace(scorers=scorers, scorer_names={_ID: ""})


def _document(result: TaskResult, plan: Plan, *, expects: bool) -> dict[str, Any]:
    from skillgate.model.codec import encode

    found: dict[str, Any] = encode(result)
    status = "answered" if not expects and result.status.value == "pass" else result.status.value
    (skill,) = plan.skills
    return {
        "kind": "task",
        "skillId": skill.key,
        "skillVersion": skill.spec.version,
        "skillPath": skill.shown,
        "adapter": skill.spec.adapter_type.value,
        "status": status,
        "score": found.get("score") if expects else None,
        "scorerType": result.scorer_type or None,
        **{key: found.get(key) for key in ("output", "reason", "error", "errorKind", "latencyMs", "usage")},
        "models": list(plan.model_names),
    }


def _lines(result: TaskResult, document: dict[str, Any]) -> list[str]:
    lines = []
    if result.output is not None:
        value = result.output.value
        lines += (value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)).splitlines()
        lines += [f"… {result.output.size_bytes:,} bytes in all"] if result.output.truncated else []
        lines.append("")
    told = [document["status"]]
    told += [f"score {document['score']:g}"] if document["score"] is not None else []
    told += [f"{result.latency_ms:.0f} ms"] if result.latency_ms is not None else []
    lines.append(" · ".join(told))
    if result.error:
        kind = "" if result.error_kind is None else f"{result.error_kind.value}: "
        lines.append(f"{kind}{result.error}")
    lines += [result.reason] if result.reason else []
    return [printable(line) for line in lines]
