"""Run a skill on one input and optionally compare its output with the expected result.

Exits with 0 if the output passes, or if there is an output and no expectation. Exits with 1 if the output fails, and
with 3 if the skill did not answer or the output could not be scored.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.bench.documents import parse_json, read_json
from skillgate.cli.bench_options import milliseconds
from skillgate.cli.options import Rare, add_model_answers, add_settings, json_text, option_values
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.format import printable

if TYPE_CHECKING:
    from skillgate.bench.evaluate import Answered, Expectation
    from skillgate.bench.request import EvalRequest
    from skillgate.console import Console
    from skillgate.model.bench import TaskResult

GROUP = "programs"
_EXPECTATIONS = ("judge", "schema", "regex", "custom", "exact", "contains")
_MOST = 20_000_000  # bytes of an input on stdin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--skill", metavar="PATH", required=True, help="a skill.json, a SKILL.md, or a directory with one"
    )
    parser.add_argument(
        "--input", metavar="JSON|@FILE|-", required=True, help="a JSON object: inline, in a file, or on stdin"
    )
    expected = parser.add_argument_group("the expected result (at most one)")
    expected.add_argument("--exact", metavar="JSON", help="exactly this value (JSON, else text)")
    expected.add_argument("--contains", metavar="WORD", nargs="+", action="extend", help="contains all of these words")
    expected.add_argument(
        "--regex", metavar="PATTERN", nargs="+", action="extend", help="matches all of these patterns"
    )
    expected.add_argument("--schema", metavar="FILE", help="valid under this JSON Schema")
    expected.add_argument("--judge", metavar="TEXT", help="a model judges it by these criteria")
    expected.add_argument("--custom", metavar="FILE.py:FUNC", help="this function accepts it")
    running = parser.add_argument_group("how to run it")
    running.add_argument(
        "--timeout",
        metavar="MS",
        dest="timeout_ms",
        type=milliseconds,
        help=Rare("time limit: milliseconds, or 30s, 2m"),
    )
    running.add_argument(
        f"--{settings.ALLOW_ENV.key}",
        metavar="NAME",
        action="append",
        default=[],
        help=Rare("an environment variable that the skill's configuration may name; repeatable"),
    )
    running.add_argument(f"--no-{settings.ALLOW_EXEC.key}", action="store_true", help="do not start programs")
    running.add_argument(
        "--run-as-caller",
        action="store_true",
        help=Rare("run the program as you (as root too: not as a separate user)"),
    )
    add_model_answers(parser)
    add_settings(parser, settings.TASK)


def run(args: argparse.Namespace, session: Console) -> int:
    """Run the task.

    Raises:
        UsageError: something is not valid; nothing ran.
    """
    from skillgate.bench.evaluate import TaskRequest, run_task

    expected, data = _expected(args, session), _input(args.input, session)
    done = run_task(TaskRequest(data, expected, _evaluation(args, session)), session)
    document = _document(done)
    session.out(json_text(document) if session.json else "\n".join(_lines(done.result, document)))
    codes = {"pass": EXIT_PASSED, "answered": EXIT_PASSED, "fail": EXIT_GATE_FAILED}
    return codes.get(done.status, EXIT_INCOMPLETE)


def _evaluation(args: argparse.Namespace, session: Console) -> EvalRequest:
    """Return a request to run the task as ``eval`` would, once, without gates and files."""
    from skillgate.bench.request import BenchPolicy, EvalRequest, Execution, Output, Permissions, TaskChoice
    from skillgate.cli.bench_options import model_options
    from skillgate.store.results import StoreChoice

    config = session.config.with_options(option_values(args))
    return EvalRequest(
        skills=(args.skill,),
        config=config,
        tasks=TaskChoice.configured(config),
        execution=Execution.configured(config)._replace(runs=1, concurrency=1, evaluator="exact"),
        permissions=Permissions.configured(
            config, env=args.allow_env, programs=not args.no_allow_exec, as_caller=args.run_as_caller
        ),
        output=Output.configured(config, formats=()),
        models=model_options(args),
        store=StoreChoice(),
        policy=BenchPolicy(),
    )


def _expected(args: argparse.Namespace, session: Console) -> Expectation | None:
    """Return the expected result, with the directory of its relative paths; None for none."""
    from skillgate.bench.evaluate import Expectation

    used = [name for name in _EXPECTATIONS if vars(args)[name] is not None]
    if len(used) > 1:
        raise UsageError(f"{', '.join(f'--{name}' for name in used)}: only one expectation is possible")
    if not used:
        return None
    option, directory = used[0], session.cwd
    output: dict[str, Any]
    match option:
        case "judge":
            output = {"type": "llm_judge", "judgePrompt": args.judge}
        case "schema":
            place = os.path.join(session.cwd, args.schema)  # noqa: PTH118
            output = {"type": "json_schema", "schema": read_json(place, args.schema)}
        case "regex":
            output = {"type": "regex", "patterns": args.regex}
        case "contains":
            output = {"type": "contains", "keywords": args.contains}
        case "custom":
            folder, name = os.path.split(args.custom)
            directory = os.path.realpath(os.path.join(session.cwd, folder))  # noqa: PTH118
            output = {"type": "custom", "customScorerPath": name}
        case _:
            output = {"type": "exact", "value": _json_or_text(args.exact)}
    return Expectation(option, output, directory)


def _json_or_text(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Read JSON; any other text is a string."""
    try:
        return parse_json(text.encode(), "--exact")
    except UsageError:
        return text


def _input(word: str, session: Console) -> dict[str, Any]:
    """Read the input."""
    if word.startswith("@"):
        data = read_json(os.path.join(session.cwd, word[1:]), word[1:])  # noqa: PTH118
    elif word == "-":
        if sys.stdin is None:
            raise UsageError("--input -: there is no standard input")
        content = sys.stdin.buffer.read(_MOST + 1)
        if len(content) > _MOST:
            raise UsageError(f"--input -: larger than {_MOST:,} bytes")
        data = parse_json(content, "--input -")
    else:
        data = parse_json(word.encode(errors="surrogateescape"), "--input")
    if not isinstance(data, dict):
        raise UsageError('--input: expected a JSON object such as {"text": "…"}')
    return data


def _document(done: Answered) -> dict[str, Any]:
    from skillgate.model.codec import encode

    result, skill = done.result, done.skill
    fields: dict[str, Any] = encode(result)
    return {
        "kind": "task",
        "skillId": skill.key,
        "skillVersion": skill.spec.version,
        "skillPath": skill.shown,
        "adapter": skill.spec.adapter_type.value,
        "status": done.status,
        "score": fields.get("score") if done.is_scored else None,
        "scorerType": result.scorer_type or None,
        **{key: fields.get(key) for key in ("output", "reason", "error", "errorKind", "latencyMs", "usage")},
        "models": list(done.models),
    }


def _lines(result: TaskResult, document: dict[str, Any]) -> list[str]:
    lines = []
    if result.output is not None:
        value = result.output.value
        lines += (value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)).splitlines()
        lines += [f"… {result.output.size_bytes:,} bytes in total"] if result.output.truncated else []
        lines.append("")
    parts = [document["status"]]
    parts += [f"score {document['score']:g}"] if document["score"] is not None else []
    parts += [f"{result.latency_ms:.0f} ms"] if result.latency_ms is not None else []
    lines.append(" · ".join(parts))
    if result.error:
        kind = "" if result.error_kind is None else f"{result.error_kind.value}: "
        lines.append(f"{kind}{result.error}")
    lines += [result.reason] if result.reason else []
    return [printable(line) for line in lines]
