"""Options of the benchmark commands, and the requests that they make."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.request import (
    DEFAULT_COMPLETION,
    BenchPolicy,
    EvalRequest,
    Execution,
    Output,
    Permissions,
    TaskChoice,
)
from skillgate.bench.selecting import StrategyRequest
from skillgate.cli.options import (
    Rare,
    at_least_zero,
    option_values,
    request_from,
    section,
    shard_of_word,
    share,
    whole_number,
)
from skillgate.cli.store_options import store_choice
from skillgate.errors import UsageError
from skillgate.evaluation.request import ModelOptions
from skillgate.format import did_you_mean
from skillgate.model.benchmark import AdapterType, Order, SortKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.model.setting import Value

_LEAST_MS = 100
_UNITS = {"ms": 1, "s": 1000, "m": 60_000}


def add_benchmark(parser: argparse.ArgumentParser, *, named: bool = True) -> None:
    """Declare which skills and tasks to run; without ``named`` the command searches for skills itself."""
    group = section(parser, settings.TASKS_RUN.title)
    if named:
        group.add_argument(
            "--skills", metavar="PATH", nargs="+", action="extend", help="skill.json files, or directories"
        )
    group.add_argument("--tasks", metavar="FILE", help="a file of tasks to use instead of a benchmark")
    _words(group, "--task-id", "ID", Rare("run only these tasks; repeatable"))
    _words(group, "--task-tag", "TAG", Rare("run only tasks with all of these tags; repeatable"))
    group.add_argument("--prose", action="store_true", help=Rare("also run SKILL.md files found by a search"))


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare how to run them."""
    group = section(parser, settings.RUNNING.title)
    group.add_argument(
        "--timeout",
        metavar="MS",
        dest=settings.TIMEOUT_MS.variable,
        type=milliseconds,
        help=Rare(
            "time limit of one try, including start-up, for tasks without timeoutMs: milliseconds, or"
            f" 30s, 2m (default: {settings.TIMEOUT_MS.default})"
        ),
    )
    group.add_argument(
        "--run-as-caller",
        action="store_true",
        help=Rare("run programs as you (as root too: not as separate users); they can do whatever you can"),
    )
    names = "an environment variable that a skill's configuration may name; repeatable"
    _words(group, f"--{settings.ALLOW_ENV.key}", "NAME", Rare(names))
    hosts = "a private host that a skill's server may use; repeatable"
    _words(group, f"--{settings.ALLOW_HOST.key}", "HOST[:PORT]", Rare(hosts))
    group.add_argument(f"--no-{settings.ALLOW_EXEC.key}", action="store_true", help="do not start programs of skills")
    group.add_argument("--dry-run", action="store_true", help="show what would run; run and write nothing")


def add_server(parser: argparse.ArgumentParser) -> None:
    """Declare how to reach a server that is named by a command or an address."""
    parser.add_argument("--token-env", metavar="NAME", help=Rare("the variable with the token of a server"))
    parser.add_argument(
        "--run-as-caller", action="store_true", help=Rare("run the program of an MCP server as you, as root too")
    )
    _words(parser, f"--{settings.ALLOW_ENV.key}", "NAME", Rare("a variable that --token-env may name; repeatable"))
    hosts = "a private host that a server may have; repeatable"
    _words(parser, f"--{settings.ALLOW_HOST.key}", "HOST[:PORT]", Rare(hosts))


def server_permissions(args: argparse.Namespace, session: Console) -> Permissions:
    """Return what an MCP server may do, from the options of :func:`add_server`."""
    return Permissions.configured(
        session.config, env=args.allow_env, hosts=args.allow_host, as_caller=args.run_as_caller
    )


def add_gates(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare the gates of each skill; ``report merge`` has ``--on-inconclusive`` for scores too."""
    group = section(parser, settings.BOUNDS.titles.get(command, settings.BOUNDS.title))
    group.add_argument("--exit-on-fail", action="store_true", help="exit with 1 if a skill completes too few tasks")
    _words(group, "--require-task", "ID", Rare("a task that must pass in every run; repeatable"))
    if command != settings.MERGE:
        group.add_argument(
            f"--{settings.ON_INCONCLUSIVE.key}",
            choices=settings.ON_INCONCLUSIVE.choices,
            default=settings.ON_INCONCLUSIVE.default,
            help=Rare(
                "what to do if a limit lies within the rate's confidence interval: use the point estimate"
                " (point), pass, warn or fail"
            ),
        )
    group.add_argument("--allow-skipped", action="store_true", help=Rare("ignore unmeasured results in the exit code"))


def add_results(parser: argparse.ArgumentParser) -> None:
    """Declare the output."""
    out = section(parser, settings.REPORTS.title)
    out.add_argument(
        "--format",
        metavar="FORMAT",
        nargs="+",
        action="extend",
        type=_formats,
        help=f"write {', '.join(settings.FORMATS.choices)}; separate several with commas or spaces"
        " (default: json markdown)",
    )
    out.add_argument(
        "--progress", choices=("bar", "json", "none"), default="bar", help=Rare("how to show progress on stderr")
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Declare ``--shard``."""
    parser.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_of_word,
        help=Rare("run only the I-th of N parts of the tasks; report merge joins the reports and checks the gates"),
    )


def add_write_back(parser: argparse.ArgumentParser) -> None:
    """Declare ``--write-metadata``."""
    parser.add_argument(
        "--write-metadata",
        action="store_true",
        help=Rare("write the completion rate to metadata.benchmarkResults of each skill.json"),
    )


def milliseconds(text: str) -> int:
    """Read milliseconds, or a number with ``ms``, ``s`` or ``m``; from 100 ms to a day.

    Raises:
        argparse.ArgumentTypeError: it is no time, or too short or too long.
    """
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


def _words(group: argparse._ActionsContainer, option: str, metavar: str, words: str) -> None:
    group.add_argument(option, metavar=metavar, action="append", default=[], help=words)


def _formats(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in settings.FORMATS.choices:
            raise argparse.ArgumentTypeError(f"expected {', '.join(settings.FORMATS.choices)}; found {word!r}")
    return words


SKILLS_DIR = "./skills"
count = whole_number("a whole number of at least 1", 1, 999_999_999)
_ADAPTERS = tuple(kind.value for kind in AdapterType)


def add_query(parser: argparse.ArgumentParser) -> None:
    """Declare which skills to search for; ``-q`` is the query here, so ``--quiet`` has only its long form."""
    group = parser.add_argument_group("which skills", conflict_handler="resolve")  # it takes -q from --quiet
    group.add_argument(
        "-q", "--query", metavar="WORDS", help="all of these words occur in id, name, description or tags"
    )
    group.add_argument(
        "-t", "--tag", metavar="TAG", nargs="+", action="extend", default=[], help="with all of these tags"
    )
    group.add_argument(
        "-a", "--adapter", metavar="KIND", type=adapter, help=f"how the skill runs: {', '.join(_ADAPTERS)}"
    )
    group.add_argument(
        "--skills-dir", metavar="DIR", default=SKILLS_DIR, help=f"where to search for skills (default: {SKILLS_DIR})"
    )


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Declare the filters by figures; ``run`` has them as gates."""
    group = parser.add_argument_group("what a skill must have")
    group.add_argument(f"--{settings.MIN_COMPLETION.key}", metavar="SHARE", type=share, help="minimum completion rate")
    group.add_argument(
        f"--{settings.MAX_ERROR_RATE.key}", metavar="SHARE", type=share, help="maximum share of errors and timeouts"
    )
    group.add_argument(
        f"--{settings.MAX_P95_MS.key}",
        metavar="MS",
        type=at_least_zero("milliseconds"),
        help="maximum 95th percentile of latencies",
    )
    group.add_argument(
        "--adapter",
        metavar="KIND",
        nargs="+",
        action="extend",
        type=adapter,
        help="the skill runs in one of these ways",
    )
    group.add_argument(
        "--allow-skipped", action="store_true", help=Rare("also select skills that were only partly measured")
    )


def add_ranking(parser: argparse.ArgumentParser, *, top_k: int | None = None) -> None:
    """Declare the strategy file, tags, order and number."""
    group = parser.add_argument_group("how skills are selected")
    group.add_argument(
        "--strategy", metavar="FILE", help="filters, order and number, as YAML or JSON; options override it"
    )
    group.add_argument(
        "--require-tag", metavar="TAG", nargs="+", action="extend", help=Rare("the skill has all of these tags")
    )
    group.add_argument(
        "--sort-by", choices=[key.value for key in SortKey], help="what to rank by (default: compositeScore)"
    )
    group.add_argument(
        "--order",
        choices=[order.value for order in Order],
        help=Rare("smallest or largest first (default: best first)"),
    )
    default = "all that pass" if top_k is None else top_k
    group.add_argument(
        "--top-k", metavar="N", type=count, help=f"maximum number of selected skills (default: {default})"
    )


def adapter(text: str) -> str:
    """Read how a skill runs.

    Raises:
        argparse.ArgumentTypeError: it is no adapter.
    """
    if text not in _ADAPTERS:
        near = did_you_mean(text, _ADAPTERS)
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(_ADAPTERS)}; found {text!r}{near}")
    return text


def eval_request(
    args: argparse.Namespace, session: Console, *, skills: Sequence[str], shard: tuple[int, int] | None = None
) -> EvalRequest:
    """Return the request of ``eval`` or ``run``.

    Raises:
        UsageError: an option is not valid, or a shard has a gate.
    """
    config = session.config.with_options(option_values(args))
    named = named_gates(args)
    if shard is not None and named:
        raise UsageError(f"--{named[0]} needs the results of all shards; pass it to skillgate report merge instead")
    formats = tuple(dict.fromkeys(form for item in args.format or () for form in item))
    return EvalRequest(
        skills=tuple(skills),
        config=config,
        tasks=TaskChoice.configured(config, file=args.tasks, ids=args.task_id, tags=args.task_tag),
        execution=Execution.configured(config),
        permissions=Permissions.configured(
            config,
            env=args.allow_env,
            hosts=args.allow_host,
            programs=not args.no_allow_exec,
            as_caller=args.run_as_caller,
        ),
        output=Output.configured(config, formats=formats or None, progress=args.progress, metadata=args.write_metadata),
        models=model_options(args),
        store=store_choice(args),
        policy=bench_policy(args, config) if shard is None else BenchPolicy(),
        prose=args.prose,
        allow_skipped=args.allow_skipped,
        exit_on_fail=args.exit_on_fail,
        shard=shard,
    )


def model_options(args: argparse.Namespace) -> ModelOptions:
    """Return how models are called, from the options of ``add_model_answers``."""
    return request_from(ModelOptions, args, keep_answers=not args.no_cache, dry_run=False)


def bench_policy(args: argparse.Namespace, config: Config) -> BenchPolicy:
    """Return the gates; ``config`` includes the options."""
    policy = BenchPolicy.configured(config)._replace(
        require_tasks=tuple(dict.fromkeys(args.require_task)), on_inconclusive=args.on_inconclusive or "point"
    )
    if policy.min_completion is None and args.exit_on_fail:
        return policy._replace(min_completion=DEFAULT_COMPLETION)
    return policy


def merge_policy(args: argparse.Namespace, config: Config) -> BenchPolicy:
    """Return the gates of merged shards; other gate options are about scores."""
    return bench_policy(args, config.with_options(_bounds(args)))


def named_gates(args: argparse.Namespace) -> list[str]:
    """List the gate options that are used, without their dashes."""
    named = [*_bounds(args)]
    named += ["exit-on-fail"] * args.exit_on_fail
    return [*named, *["require-task"] * bool(args.require_task)]


def strategy_request(args: argparse.Namespace) -> StrategyRequest:
    """Return the strategy from the options of ``select`` or ``run``."""
    kinds = args.adapter if isinstance(args.adapter, list) else None  # in run it is one word, and narrows the search
    return StrategyRequest(
        file=args.strategy,
        min_completion_rate=args.min_completion,
        max_error_rate=args.max_error_rate,
        max_latency_p95_ms=args.max_p95_ms,
        adapter_types=None if kinds is None else tuple(map(AdapterType, kinds)),
        required_tags=None if args.require_tag is None else tuple(args.require_tag),
        sort_by=None if args.sort_by is None else SortKey(args.sort_by),
        order=None if args.order is None else Order(args.order),
        top_k=args.top_k,
    )


def _bounds(args: argparse.Namespace) -> dict[str, Value]:
    """Return the gates of benchmarks that options set."""
    of_benchmarks = {setting.key for setting in settings.of_group(settings.BOUNDS)}
    return {key: value for key, value in option_values(args).items() if key in of_benchmarks}
