"""Run skills against a benchmark: tasks, scores, intervals, gates.

Everything is checked before the first process starts. A skill's own crash, wrong reply or time-out is a failure of the
skill; what could not be measured is outside of every rate, is counted, and makes the exit code 3. A gate that is named
fails the run; --exit-on-fail asks for a completion rate of 0.7, or of --min-completion.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from skillgate.bench.gating import DEFAULT_COMPLETION, BenchPolicy
from skillgate.bench.settings import FORMATS, SETTINGS
from skillgate.errors import EXIT_PASSED, UsageError
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.cli.benching import Asked, Plan
    from skillgate.cli.session import Session
    from skillgate.config import Config
    from skillgate.model.setting import Setting, Value

_LEAST_MS = 100
_UNITS = {"ms": 1, "s": 1000, "m": 60_000}
_ON_INCONCLUSIVE = ("point", "pass", "warn", "fail")
_GATES = ("min-completion", "min-partial", "min-composite", "max-error-rate", "max-p95-ms")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--skills", metavar="PATH", nargs="+", action="extend", help="skill.json files, or directories")
    _setting(parser, "benchmark", "ID|PATH")
    parser.add_argument("--tasks", metavar="FILE", help="a file of tasks in the place of a benchmark")
    _setting(parser, "benchmarks-dir", "DIR")
    _words(parser, "--task-id", "ID", "run these tasks alone; repeatable")
    _words(parser, "--task-tag", "TAG", "run tasks with all of these tags alone; repeatable")
    parser.add_argument("--prose", action="store_true", help="take in the SKILL.md files that a search meets, too")
    running = parser.add_argument_group("how it is run")
    for key, metavar in (("concurrency", "N"), ("retries", "N"), ("retry-delay-s", "S"), ("runs", "N")):
        _setting(running, key, metavar)
    running.add_argument(
        "--timeout",
        metavar="MS",
        type=_timeout,
        help="how long one try of a task may take, start-up included: milliseconds, or 30s, 2m (default: 30000)",
    )
    _setting(running, "evaluator", "SCORER")
    _words(running, "--allow-env", "NAME", "a variable that a skill's configuration may name; repeatable")
    running.add_argument("--no-allow-exec", action="store_true", help="start no program of any skill")
    running.add_argument("--dry-run", action="store_true", help="say what would be run; run and write nothing")
    gates = parser.add_argument_group("gates")
    gates.add_argument("--exit-on-fail", action="store_true", help="exit 1 where a skill completes too few tasks")
    for key in _GATES:
        _setting(gates, key, "MS" if key.endswith("ms") else "SHARE")
    _words(gates, "--require-task", "ID", "a task that must pass in every run; repeatable")
    gates.add_argument(
        "--on-inconclusive",
        choices=_ON_INCONCLUSIVE,
        default="point",
        help="what a bound inside a rate's interval does: the point estimate decides, or this",
    )
    gates.add_argument(
        "--allow-skipped", action="store_true", help="let what could not be measured change no exit code"
    )
    out = parser.add_argument_group("output")
    out.add_argument(
        "--format",
        metavar="FORMAT",
        nargs="+",
        action="extend",
        type=_formats,
        help=f"write {', '.join(FORMATS)}; several with commas or blanks (default: json markdown)",
    )
    _setting(out, "output-dir", "DIR")
    out.add_argument(
        "--progress", choices=("bar", "json", "none"), default="bar", help="how progress is told on stderr"
    )


def run(args: argparse.Namespace, session: Session) -> int:
    """Evaluate.

    Raises:
        UsageError: something is not valid; nothing was run.
    """
    from skillgate.cli.bench_publishing import publish, rendered, require_output
    from skillgate.cli.benching import evaluated, exit_code, planned

    asked = _asked(args, session)
    plan = planned(asked, session)
    if args.dry_run:
        plan.spawner.close()
        session.out("\n".join(_plan_lines(plan, asked)))
        return EXIT_PASSED
    try:
        _require_tasks(plan, asked)
        require_output(asked.formats, asked.output_dir, session)
    except UsageError:
        plan.spawner.close()
        raise
    if args.exit_on_fail and asked.runs == 1:
        session.note("one run cannot tell a flaky skill from a good one: --runs 3 shows its consistency")
    report = evaluated(plan, asked, session)
    publish(report, asked.formats, asked.output_dir, session)
    session.out(rendered(report, "json" if session.json else "text", session))
    return exit_code(report, allow_skipped=asked.allow_skipped)


def _asked(args: argparse.Namespace, session: Session) -> Asked:
    from skillgate.cli.benching import Asked  # brings in the runner

    if not args.skills:
        raise UsageError(
            "--skills PATH… is required: a skill.json, or a directory with one\nTry: skillgate eval --help"
        )
    given = {
        key: value
        for setting in SETTINGS
        if (value := getattr(args, (key := setting.key).replace("-", "_"), None)) is not None and key != "allow-env"
    }
    if args.timeout is not None:
        given["timeout-ms"] = args.timeout
    config = session.config.with_options(given)
    formats = tuple(dict.fromkeys(form for item in args.format or () for form in item)) or _texts(config, "formats")
    allowed = frozenset((*args.allow_env, *_texts(config, "allow-env")))
    return Asked(
        skills=tuple(args.skills),
        benchmark=str(config.get("benchmark")),
        tasks=args.tasks,
        benchmarks_dir=_folder(config, "benchmarks-dir"),
        task_ids=tuple(dict.fromkeys(args.task_id)),
        tags=tuple(dict.fromkeys(args.task_tag)),
        runs=_whole(config, "runs"),
        concurrency=_whole(config, "concurrency"),
        timeout_ms=_whole(config, "timeout-ms"),
        retries=_whole(config, "retries"),
        retry_delay_s=_number(config, "retry-delay-s") or 0.0,
        given=frozenset(given),
        evaluator=str(config.get("evaluator")),
        policy=_policy(args, config),
        allow_skipped=args.allow_skipped,
        allow_env=allowed,
        allow_exec=config.get("allow-exec") is True and not args.no_allow_exec,
        prose=args.prose,
        formats=formats,
        output_dir=_folder(config, "output-dir"),
        progress=args.progress,
    )


def _policy(args: argparse.Namespace, config: Config) -> BenchPolicy:
    completion = _number(config, "min-completion")
    if completion is None and args.exit_on_fail:
        completion = DEFAULT_COMPLETION
    return BenchPolicy(
        min_completion=completion,
        min_partial=_number(config, "min-partial"),
        min_composite=_number(config, "min-composite"),
        max_error_rate=_number(config, "max-error-rate"),
        max_p95_ms=_number(config, "max-p95-ms"),
        require_tasks=tuple(dict.fromkeys(args.require_task)),
        on_inconclusive=args.on_inconclusive,
    )


def _require_tasks(plan: Plan, asked: Asked) -> None:
    known = {task.id for task in plan.loaded.benchmark.tasks}
    missing = [task for task in asked.policy.require_tasks if task not in known]
    if missing:
        raise UsageError(f"--require-task {missing[0]}: no such task is run; known: {', '.join(sorted(known)[:20])}")


def _plan_lines(plan: Plan, asked: Asked) -> list[str]:
    benchmark = plan.loaded.benchmark
    scorers: dict[str, int] = {}
    for task in benchmark.tasks:
        name = plan.scorer_names[task.id]
        scorers[name] = scorers.get(name, 0) + 1
    lines = [f"benchmark {benchmark.id} {benchmark.version} ({plan.loaded.origin}): {len(benchmark.tasks)} tasks"]
    lines.append("scorers: " + ", ".join(f"{name} {count}" for name, count in sorted(scorers.items())))
    lines += [
        f"skill {skill.key} {skill.spec.version}: {skill.spec.adapter_type.value}, {skill.shown}"
        for skill in plan.skills
    ]
    lines.append(
        f"{len(plan.items)} calls: {len(plan.skills)} skills × {len(benchmark.tasks)} tasks × {asked.runs} runs,"
        f" {asked.concurrency} at once, {asked.timeout_ms} ms each, {asked.retries} retries"
    )
    lines.append("nothing was run, nothing was written")
    return [printable(line) for line in lines]


def _setting(group: argparse._ActionsContainer, key: str, metavar: str) -> None:
    setting = _declared(key)
    default = "" if setting.default is None else f" (default: {setting.default})"
    group.add_argument(f"--{key}", metavar=metavar, type=_typed(setting), help=setting.help.rstrip(".") + default)


def _words(group: argparse._ActionsContainer, option: str, metavar: str, words: str) -> None:
    group.add_argument(option, metavar=metavar, action="append", default=[], help=words)


def _declared(key: str) -> Setting:
    return next(setting for setting in SETTINGS if setting.key == key)


def _typed(setting: Setting) -> Callable[[str], Value]:
    def typed(text: str) -> Value:
        value: object = text
        numeric = setting.expected().startswith(("a number", "a whole number"))
        if numeric:
            try:
                value = float(text) if setting.expected().startswith("a number") else int(text)
            except ValueError:
                value = text
        try:
            return setting.accept(value)
        except ValueError as error:
            hint = _as_share(setting, text)
            raise argparse.ArgumentTypeError(f"{error}{hint}") from None

    return typed


def _as_share(setting: Setting, text: str) -> str:
    """Say what a percentage was meant to be."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return ""
    return f"; did you mean {number / 100:g}?" if setting.maximum == 1 and 1 < number <= 100 else ""


def _timeout(text: str) -> int:
    """Read milliseconds, or a number with ``ms``, ``s`` or ``m``; a bare number under 100 is surely meant otherwise."""
    unit = next((unit for unit in ("ms", "s", "m") if text.endswith(unit)), "")
    digits = text.removesuffix(unit)
    if not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"expected milliseconds, or 30s, 2m; found {text!r}")
    value = int(digits[:12]) * _UNITS.get(unit, 1)
    if value < _LEAST_MS:
        hint = f"; for seconds write {digits}s" if not unit else ""
        raise argparse.ArgumentTypeError(f"expected at least {_LEAST_MS} milliseconds, found {text!r}{hint}")
    if value > 86_400_000:
        raise argparse.ArgumentTypeError(f"expected at most a day, found {text!r}")
    return value


def _formats(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in FORMATS:
            raise argparse.ArgumentTypeError(f"expected {', '.join(FORMATS)}; found {word!r}")
    return words


def _whole(config: Config, key: str) -> int:
    value = config.get(key)
    return value if isinstance(value, int) else 0


def _number(config: Config, key: str) -> float | None:
    value = config.get(key)
    return value if isinstance(value, float) else None


def _texts(config: Config, key: str) -> tuple[str, ...]:
    value = config.get(key)
    return tuple(value) if isinstance(value, tuple) else ()


def _folder(config: Config, key: str) -> str:
    """Give a directory: relative to the file that sets it, or to the working directory."""
    value = str(config.get(key))
    origin = config.origin(key)
    return value if origin in ("default", "option") else os.path.join(config.base(key), value)  # noqa: PTH118
