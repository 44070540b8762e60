"""Build the requests of benchmark runs from the options of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.bench.choosing.strategy import StrategyRequest
from skillgate.bench.request import EvalRequest, Execution, Output, Permissions, TaskChoice
from skillgate.bench.results.gating import DEFAULT_COMPLETION, BenchPolicy
from skillgate.cli.options import given_settings
from skillgate.cli.store_options import store_choice
from skillgate.errors import UsageError
from skillgate.evaluation.request import ModelOptions
from skillgate.model.executable import AdapterType
from skillgate.model.strategy import Order, SortKey

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from skillgate.config import Config
    from skillgate.model.setting import Value
    from skillgate.session import Session


def eval_request(
    args: argparse.Namespace, session: Session, *, skills: Sequence[str], shard: tuple[int, int] | None = None
) -> EvalRequest:
    """Return the request of ``eval`` or ``run``.

    Raises:
        UsageError: an option is not valid, or a gate is given with a shard.
    """
    config = session.config.with_options(given_settings(args))
    named = named_gates(args)
    if shard is not None and named:
        raise UsageError(
            f"--{named[0]} is asked of all results and not of one shard: give it to skillgate report merge"
        )
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
    """Return how models are asked, as the options of ``add_asking`` say."""
    return ModelOptions(record=args.record, replay=args.replay, refresh=args.refresh, keep_answers=not args.no_cache)


def bench_policy(args: argparse.Namespace, config: Config) -> BenchPolicy:
    """Return the gates; ``config`` has the options over it."""
    policy = BenchPolicy.configured(config)._replace(
        require_tasks=tuple(dict.fromkeys(args.require_task)), on_inconclusive=args.on_inconclusive or "point"
    )
    if policy.min_completion is None and args.exit_on_fail:
        return policy._replace(min_completion=DEFAULT_COMPLETION)
    return policy


def merge_policy(args: argparse.Namespace, config: Config) -> BenchPolicy:
    """Return the gates of shards that are joined; other options of the gate are about scores."""
    return bench_policy(args, config.with_options(_bounds(args)))


def named_gates(args: argparse.Namespace) -> list[str]:
    """List the options of gates that were given, without their dashes."""
    named = [*_bounds(args)]
    named += ["exit-on-fail"] * args.exit_on_fail
    return [*named, *["require-task"] * bool(args.require_task)]


def strategy_request(args: argparse.Namespace) -> StrategyRequest:
    """Return the strategy that the options of ``select`` or ``run`` ask for."""
    kinds = args.adapter if isinstance(args.adapter, list) else None  # of run it is one word, and narrows the search
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
    """Return the gates of benchmarks that were given as options."""
    of_benchmarks = {setting.key for setting in settings.of_group(settings.BOUNDS)}
    return {key: value for key, value in given_settings(args).items() if key in of_benchmarks}
