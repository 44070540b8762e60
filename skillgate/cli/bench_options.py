"""The options of benchmark runs, and what they ask for: shared by the commands that run skills."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.bench.evaluation.sharding import GATES, shard_asked
from skillgate.bench.gating import DEFAULT_COMPLETION, BenchPolicy
from skillgate.cli.options import gate_options
from skillgate.errors import UsageError
from skillgate.settings import BENCH_FORMATS as FORMATS
from skillgate.settings import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.config import Config
    from skillgate.model.setting import Setting, Value
    from skillgate.session import Session

_LEAST_MS = 100
_UNITS = {"ms": 1, "s": 1000, "m": 60_000}
_ON_INCONCLUSIVE = ("point", "pass", "warn", "fail")
_BENCH = tuple(key for key, setting in BY_KEY.items() if setting in settings.BENCHMARKS)
_LISTS = ("allow-env", "allow-host")  # options add to what is configured


class Asked(NamedTuple):
    """What the options say.

    Attributes:
        skills: paths.
        benchmark: an id or a path; ``tasks`` is a file of tasks in its place.
        benchmarks_dir: where other benchmarks lie.
        task_ids, tags: which tasks, empty for all.
        runs, concurrency, timeout_ms, retries, retry_delay_s: as given, with defaults filled in.
        given: which of ``timeout-ms`` and ``retries`` were given.
        evaluator: the scorer of tasks that name none.
        policy: the gates.
        allow_skipped: whether what could not be measured changes no exit code.
        allow_env: variables that skills may be given.
        allow_host: hosts beside public ones that servers of skills may have.
        allow_exec: whether programs may be started.
        memory_mb: that a call of a program may use.
        sandbox: ``none``, ``bwrap`` or ``auto``, as wanted.
        as_caller: whether programs run as the calling user, as root too.
        store: the store that an option names; None for that of the configuration.
        answers: files and directories with expected answers, beside those that the run knows by itself.
        prose: whether prose skills that a search meets are taken in.
        formats, output_dir: of the files that are written.
        progress: ``bar``, ``json`` or ``none``.
        guarded: whether skills are a stranger's: what they reach of the network is held narrower.
        shard: which of how many shards is run, from 1; None for all of it. Gates are asked of all of it alone.
        config: with what the options say; of models too.
        asking: what the options say of models beside it: ``record``, ``replay``, ``refresh``, ``no-cache``.
    """

    skills: tuple[str, ...]
    benchmark: str
    tasks: str | None
    benchmarks_dir: str | None
    task_ids: tuple[str, ...]
    tags: tuple[str, ...]
    runs: int
    concurrency: int
    timeout_ms: int
    retries: int
    retry_delay_s: float
    given: frozenset[str]
    evaluator: str
    policy: BenchPolicy
    allow_skipped: bool
    allow_env: frozenset[str]
    allow_host: frozenset[str]
    allow_exec: bool
    memory_mb: int
    sandbox: str
    prose: bool
    formats: tuple[str, ...]
    output_dir: str
    progress: str
    config: Config
    asking: Mapping[str, str | bool | None]
    guarded: bool = False
    as_caller: bool = False
    store: str | None = None
    answers: tuple[str, ...] = ()
    shard: tuple[int, int] | None = None


def add_benchmark(parser: argparse.ArgumentParser, *, named: bool = True) -> None:
    """Declare which skills and tasks; without ``named`` the command looks for skills itself."""
    if named:
        parser.add_argument(
            "--skills", metavar="PATH", nargs="+", action="extend", help="skill.json files, or directories"
        )
    _setting(parser, "benchmark", "ID|PATH")
    parser.add_argument("--tasks", metavar="FILE", help="a file of tasks in the place of a benchmark")
    _setting(parser, "benchmarks-dir", "DIR")
    _words(parser, "--task-id", "ID", "run these tasks alone; repeatable")
    _words(parser, "--task-tag", "TAG", "run tasks with all of these tags alone; repeatable")
    parser.add_argument("--prose", action="store_true", help="take in the SKILL.md files that a search meets, too")


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare how they are run."""
    running = parser.add_argument_group("how it is run")
    for key, metavar in (("concurrency", "N"), ("retries", "N"), ("retry-delay-s", "S"), ("runs", "N")):
        _setting(running, key, metavar)
    running.add_argument(
        "--timeout",
        metavar="MS",
        type=_timeout,
        help="how long one try may take, start-up included, of a task without timeoutMs: milliseconds, or 30s, 2m"
        " (default: 30000)",
    )
    _setting(running, "evaluator", "SCORER")
    running.add_argument(
        "--memory",
        metavar="MB",
        dest="memory_mb",
        type=_typed(_declared("memory-mb")),
        help=f"{_declared('memory-mb').help.rstrip('.')} (default: 1024)",
    )
    _setting(running, "sandbox", "none|bwrap|auto")
    running.add_argument(
        "--run-as-caller",
        action="store_true",
        help="run programs as you, and as root not as users of their own: they can do all that you can",
    )
    _words(running, "--allow-env", "NAME", "a variable that a skill's configuration may name; repeatable")
    _words(running, "--allow-host", "HOST[:PORT]", "a private host that a skill's server may be; repeatable")
    running.add_argument("--no-allow-exec", action="store_true", help="start no program of any skill")
    running.add_argument("--dry-run", action="store_true", help="say what would be run; run and write nothing")


def add_gates(parser: argparse.ArgumentParser, *, title: str = "gates", undecided: bool = True) -> None:
    """Declare what is asked of each skill; without ``undecided`` the command has ``--on-inconclusive`` already."""
    gates = parser.add_argument_group(title)
    gates.add_argument("--exit-on-fail", action="store_true", help="exit 1 where a skill completes too few tasks")
    for key in GATES:
        _setting(gates, key, "MS" if key.endswith("ms") else "SHARE")
    _words(gates, "--require-task", "ID", "a task that must pass in every run; repeatable")
    if undecided:
        gates.add_argument(
            "--on-inconclusive",
            choices=_ON_INCONCLUSIVE,
            default="point",
            help="what a bound inside a rate's interval does: the point estimate decides, or this",
        )
    gates.add_argument(
        "--allow-skipped", action="store_true", help="let what could not be measured change no exit code"
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Declare what is written."""
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


def asked_of(args: argparse.Namespace, session: Session) -> Asked:
    """Put together what the options and the configuration say.

    Raises:
        UsageError: something is missing.
    """
    if not args.skills:
        raise UsageError(
            "--skills PATH… is required: a skill.json, or a directory with one\nTry: skillgate eval --help"
        )
    from skillgate.bench.web.hosts import allowed_of  # `--help` needs no network

    single = [key for key in _BENCH if key not in _LISTS]
    values = {key: getattr(args, key.replace("-", "_"), None) for key in single}
    given = {key: value for key, value in values.items() if value is not None}
    if args.timeout is not None:
        given["timeout-ms"] = args.timeout
    config = session.config.with_options({**given, **gate_options(args)})
    shard = shard_asked(args)
    formats = tuple(dict.fromkeys(form for item in args.format or () for form in item)) or config.get(settings.FORMATS)
    allowed = frozenset((*args.allow_env, *config.get(settings.ALLOW_ENV)))
    return Asked(
        skills=tuple(args.skills),
        benchmark=config.get(settings.BENCHMARK),
        tasks=args.tasks,
        benchmarks_dir=_folder(config, settings.BENCHMARKS_DIR),
        task_ids=tuple(dict.fromkeys(args.task_id)),
        tags=tuple(dict.fromkeys(args.task_tag)),
        runs=config.get(settings.RUNS),
        concurrency=config.get(settings.CONCURRENCY),
        timeout_ms=config.get(settings.TIMEOUT_MS),
        retries=config.get(settings.RETRIES),
        retry_delay_s=config.get(settings.RETRY_DELAY_S),
        given=frozenset(given),
        evaluator=config.get(settings.EVALUATOR),
        policy=policy_of(args, config) if shard is None else BenchPolicy(),
        allow_skipped=args.allow_skipped,
        allow_env=allowed,
        allow_host=allowed_of((*args.allow_host, *config.get(settings.ALLOW_HOST))),
        allow_exec=config.get(settings.ALLOW_EXEC) and not args.no_allow_exec,
        memory_mb=config.get(settings.MEMORY_MB),
        sandbox=config.get(settings.SANDBOX),
        prose=args.prose,
        formats=formats,
        output_dir=_folder(config, settings.OUTPUT_DIR),
        progress=args.progress,
        as_caller=args.run_as_caller,
        store=getattr(args, "store", None),
        shard=shard,
        config=config,
        asking={"record": args.record, "replay": args.replay, "refresh": args.refresh, "no-cache": args.no_cache},
    )


def policy_of(args: argparse.Namespace, config: Config) -> BenchPolicy:
    """Put together what is asked of each skill; ``config`` holds the options' values too."""
    completion = config.get(settings.MIN_COMPLETION)
    if completion is None and args.exit_on_fail:
        completion = DEFAULT_COMPLETION
    return BenchPolicy(
        min_completion=completion,
        min_partial=config.get(settings.MIN_PARTIAL),
        min_composite=config.get(settings.MIN_COMPOSITE),
        max_error_rate=config.get(settings.MAX_ERROR_RATE),
        max_p95_ms=config.get(settings.MAX_P95_MS),
        require_tasks=tuple(dict.fromkeys(args.require_task)),
        on_inconclusive=args.on_inconclusive or "point",
    )


def _setting(group: argparse._ActionsContainer, key: str, metavar: str) -> None:
    setting = _declared(key)
    default = "" if setting.default is None else f" (default: {setting.default})"
    group.add_argument(f"--{key}", metavar=metavar, type=_typed(setting), help=setting.help.rstrip(".") + default)


def _words(group: argparse._ActionsContainer, option: str, metavar: str, words: str) -> None:
    group.add_argument(option, metavar=metavar, action="append", default=[], help=words)


def _declared(key: str) -> Setting[Any]:
    return BY_KEY[key]


def _typed(setting: Setting[Any]) -> Callable[[str], Value]:
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


def _as_share(setting: Setting[Any], text: str) -> str:
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


def _folder(config: Config, setting: Setting[str]) -> str:
    """Give a directory: relative to the file that sets it, or to the working directory."""
    value, origin = config.get(setting), config.origin(setting)
    return value if origin in ("default", "option") else os.path.join(config.base(setting), value)  # noqa: PTH118
