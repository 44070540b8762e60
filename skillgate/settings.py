"""Every setting, declared once: its key, what it may be, its default, and its help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgate.model.invocation_gate import MOST_GATES, REQUIREMENT, TRIGGER, built
from skillgate.model.setting import Kind, Setting, Table

# Scoring and the gate.
# The ten dimensions by name; their weights and blend stand in the tables of scoring.
_DIMENSIONS = (
    "triggering_accuracy",
    "orchestration_fitness",
    "output_quality",
    "scope_calibration",
    "progressive_disclosure",
    "token_efficiency",
    "robustness",
    "structural_completeness",
    "code_template_quality",
    "ecosystem_coherence",
)
DEPTH: Setting[str] = Setting(
    "depth",
    Kind.CHOICE,
    default="quick",
    choices=("quick", "standard", "deep", "certify"),
    help="How deep to evaluate; quick reads the files and sends nothing anywhere.",
)
THRESHOLD: Setting[float | None] = Setting(
    "threshold",
    Kind.NUMBER,
    minimum=0,
    maximum=100,
    example=70,
    per_path=True,
    help="The least composite score a skill may have.",
)
MIN_BADGE: Setting[str | None] = Setting(
    "min-badge",
    Kind.CHOICE,
    choices=("bronze", "silver", "gold", "platinum"),
    example="silver",
    per_path=True,
    help="The least badge a skill may have.",
)
MIN_DIMENSION: Setting[Mapping[str, float] | None] = Setting(
    "min-dimension",
    Kind.NUMBERS,
    choices=_DIMENSIONS,
    minimum=0,
    maximum=1,
    example={"triggering_accuracy": 0.7},
    per_path=True,
    help="The least score of single dimensions.",
)
FAIL_ON: Setting[tuple[str, ...] | None] = Setting(
    "fail-on",
    Kind.CHOICES,
    choices=(
        "error",
        "warning",
        "threshold",
        "badge",
        "dimension",
        "regression",
        "benchmark",
        "budget",
        "unmeasured",
        "never",
    ),
    example=("error", "threshold"),
    per_path=True,
    help="What makes the command fail; unset: error in check, what was asked for in score.",
)
BASELINE: Setting[str | None] = Setting(
    "baseline",
    Kind.TEXT,
    example="main",
    help="The report or git revision to compare with.",
)
MAX_DROP: Setting[float] = Setting(
    "max-drop",
    Kind.NUMBER,
    default=2.0,
    minimum=0,
    per_path=True,
    help="By how many points a score may fall below the baseline's.",
)
ON_INCONCLUSIVE: Setting[str] = Setting(
    "on-inconclusive",
    Kind.CHOICE,
    default="point",
    choices=("point", "pass", "warn", "fail"),
    per_path=True,
    help="What a bound does that lies inside a sampled score's interval: the point estimate decides, or this.",
)
LAYERS: Setting[tuple[str, ...] | None] = Setting(
    "layers",
    Kind.CHOICES,
    choices=("static", "judge", "montecarlo"),
    example=("static", "judge"),
    help="The layers to run; unset: those of the depth.",
)

# Findings: which are reported, for which client, and which are known already.
PROFILE: Setting[str] = Setting(
    "profile",
    Kind.CHOICE,
    default="any",
    choices=("any", "spec", "claude-code", "claude-upload", "codex"),
    help="The client whose refusals are errors; any: what every client refuses.",
    per_path=True,
)
SELECT: Setting[tuple[str, ...]] = Setting(
    "select",
    Kind.TEXTS,
    default=("default",),
    help="The rules to report, by id or group; default is every rule that is not opt-in, all every rule.",
    per_path=True,
)
IGNORE: Setting[tuple[str, ...] | None] = Setting(
    "ignore",
    Kind.TEXTS,
    example=("MISSING_TOC",),
    help="The rules to set aside, by id or group; what they find is counted, and fails nothing.",
    per_path=True,
)
KNOWN_FINDINGS: Setting[str | None] = Setting(
    "known-findings",
    Kind.TEXT,
    example="reports/known-findings.json",
    help="The file of findings that are known already, so that only new ones count.",
)

# The layers that ask a model. Where requests, and with them a key, go is never a project's to say.
PROVIDERS = ("anthropic", "batch", "openai-compatible", "scripted", "replay")
PROVIDER: Setting[str] = Setting(
    "provider",
    Kind.CHOICE,
    default="anthropic",
    choices=PROVIDERS,
    personal=True,
    help="Who answers: anthropic, its batches at half the price, a server that speaks OpenAI's protocol (up to"
    " depth standard), a scripted model, or a recording.",
)
BASE_URL: Setting[str | None] = Setting(
    "base-url",
    Kind.TEXT,
    example="http://127.0.0.1:8080",
    personal=True,
    help="Where requests are sent; unset: the provider's own address or variable.",
)
KEY_VARIABLE: Setting[str | None] = Setting(
    "key-variable",
    Kind.TEXT,
    example="GATEWAY_API_KEY",
    personal=True,
    help="The environment variable that holds the key of an openai-compatible server; unset: OPENAI_API_KEY.",
)
SCRIPT: Setting[str | None] = Setting(
    "script",
    Kind.TEXT,
    example="judge-rules.yaml",
    personal=True,
    help="The rules of the scripted model; unset: it makes plausible answers up, and every report says so.",
)
JUDGE_MODEL: Setting[tuple[str, ...] | None] = Setting(
    "judge-model",
    Kind.TEXTS,
    example=("claude-sonnet-5-5",),
    help="The model that judges; several take turns among the judges. Unset: the default of the dated table.",
)
JUDGES: Setting[int | None] = Setting(
    "judges",
    Kind.INTEGER,
    minimum=1,
    maximum=9,
    example=3,
    help="How many opinions to ask for; two or more give agreement and intervals. Unset: one of each judge-model.",
)
TEMPERATURE: Setting[float | None] = Setting(
    "temperature",
    Kind.NUMBER,
    minimum=0,
    maximum=2,
    example=0.0,
    help="Sent to an openai-compatible server only; current Anthropic models take none.",
)
MAX_COST_USD: Setting[float | None] = Setting(
    "max-cost-usd",
    Kind.NUMBER,
    minimum=0,
    example=5.0,
    help="The most that model calls of one run may cost, in US dollars; what is left then is not measured.",
)
MAX_CALLS: Setting[int | None] = Setting(
    "max-calls",
    Kind.INTEGER,
    minimum=0,
    example=200,
    help="The most requests that one run may send; what is left then is not measured.",
)
IN_FLIGHT: Setting[int] = Setting(
    "in-flight",
    Kind.INTEGER,
    default=8,
    minimum=1,
    maximum=64,
    help="How many requests may be on their way at once.",
)
POLL_SECONDS: Setting[float] = Setting(
    "poll-seconds",
    Kind.NUMBER,
    default=10.0,
    minimum=0.01,
    maximum=3600,
    help="How soon a batch is looked at after it was submitted; then ever less often, up to every five minutes.",
)
CACHE_DIR: Setting[str | None] = Setting(
    "cache-dir",
    Kind.TEXT,
    example=".skillgate/cache",
    personal=True,
    help="Where a model's answers are kept between runs; unset: the system's place for caches.",
)

# Simulated sessions.
MODEL: Setting[str | None] = Setting(
    "model",
    Kind.TEXT,
    example="claude-sonnet-5-5",
    help="The model under test, which may load the skill. Unset: the default of the dated table.",
)
SIMULATIONS: Setting[int] = Setting(
    "simulations",
    Kind.INTEGER,
    default=50,
    minimum=5,
    maximum=500,
    help="How many sessions to simulate with prompts that should load the skill, each with a prompt of its own.",
)
NEAR_MISSES: Setting[int | None] = Setting(
    "near-misses",
    Kind.INTEGER,
    minimum=0,
    maximum=100,
    example=10,
    help="How many to simulate with prompts that should not. Unset: a fifth of the simulations.",
)
SEED: Setting[int] = Setting(
    "seed",
    Kind.INTEGER,
    default=0,
    minimum=0,
    maximum=1_000_000_000,
    help="The seed of the order in which skills are listed, and in which matches count.",
)
MAX_TURNS: Setting[int] = Setting(
    "max-turns",
    Kind.INTEGER,
    default=10,
    minimum=2,
    maximum=50,
    help="How many requests one session may take; one that takes more has failed.",
)
RUNNER: Setting[str] = Setting(
    "runner",
    Kind.CHOICE,
    default="messages",
    choices=("messages", "agent-sdk"),
    personal=True,
    help="What runs a session: a loop over the Messages API, or Claude Code itself by its agent SDK (an extra).",
)
MIN_ACTIVATION: Setting[float | None] = Setting(
    "min-activation",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    per_path=True,
    help="The least share of sessions with a prompt for it in which the model must load the skill.",
)
MAX_FAILURE_RATE: Setting[float | None] = Setting(
    "max-failure-rate",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.1,
    per_path=True,
    help="The largest share of sessions that may fail.",
)
EARLY_STOP: Setting[bool] = Setting(
    "early-stop",
    Kind.FLAG,
    default=False,
    help="End the sessions of a skill once min-activation and max-failure-rate cannot change their verdict.",
)

# Matches against a corpus.
CORPUS_DIR: Setting[str | None] = Setting(
    "corpus-dir",
    Kind.TEXT,
    example=".skillgate/corpus",
    help="Where the corpus lies that skills are ranked against; unset: the system's place for data.",
)
OPPONENTS: Setting[int] = Setting(
    "opponents",
    Kind.INTEGER,
    default=16,
    minimum=1,
    maximum=100,
    help="How many skills of the corpus a skill is compared with, each in both orders.",
)

# Benchmarks.
BENCH_FORMATS = ("json", "markdown", "html", "csv", "junit")
BENCHMARK: Setting[str] = Setting(
    "benchmark", Kind.TEXT, default="coding-easy", help="The benchmark to run: an id, or a file's path."
)
RUNS: Setting[int] = Setting(
    "runs", Kind.INTEGER, default=1, minimum=1, maximum=1000, help="How often each task is run."
)
CONCURRENCY: Setting[int] = Setting(
    "concurrency",
    Kind.INTEGER,
    default=4,
    minimum=1,
    maximum=256,
    help="How many tasks are run at once.",
)
TIMEOUT_MS: Setting[int] = Setting(
    "timeout-ms",
    Kind.INTEGER,
    default=30_000,
    minimum=100,
    maximum=86_400_000,
    help="How long one try of a task may take, start-up included; a task's own limit comes before it.",
)
RETRIES: Setting[int] = Setting(
    "retries",
    Kind.INTEGER,
    default=0,
    minimum=0,
    maximum=100,
    help="How often a task is tried again after a failure of infrastructure; never after a wrong answer.",
)
RETRY_DELAY_S: Setting[float] = Setting(
    "retry-delay-s",
    Kind.NUMBER,
    default=1.0,
    minimum=0,
    maximum=3600,
    help="Seconds before the first further try; the k-th waits k times as long, at most 30.",
)
EVALUATOR: Setting[str] = Setting(
    "evaluator",
    Kind.CHOICE,
    default="exact",
    choices=(
        *("exact", "exact_match", "contains", "regex", "json_schema", "schema", "numeric", "llm_judge", "custom"),
    ),
    help="The scorer of tasks that name none.",
)
FORMATS: Setting[tuple[str, ...]] = Setting(
    "formats",
    Kind.CHOICES,
    default=("json", "markdown"),
    choices=BENCH_FORMATS,
    help="The formats that eval writes.",
)
OUTPUT_DIR: Setting[str] = Setting("output-dir", Kind.TEXT, default="reports", help="Where eval writes its reports.")
BENCHMARKS_DIR: Setting[str] = Setting(
    "benchmarks-dir",
    Kind.TEXT,
    default="benchmarks",
    help="A directory of benchmarks beside the packaged ones.",
)
ALLOW_EXEC: Setting[bool] = Setting(
    "allow-exec",
    Kind.FLAG,
    default=True,
    personal=True,
    help="Whether programs of skills may be started.",
)
MEMORY_MB: Setting[int] = Setting(
    "memory-mb",
    Kind.INTEGER,
    default=1024,
    minimum=16,
    maximum=1_048_576,
    help="Megabytes of memory that a call of a skill's program may use; its own memoryMb holds where it is lower.",
)
SANDBOX: Setting[str] = Setting(
    "sandbox",
    Kind.CHOICE,
    default="none",
    choices=("none", "bwrap", "auto"),
    personal=True,
    help="What skills' programs run in: nothing, bubblewrap, or bubblewrap where it can be had.",
)
ALLOW_ENV: Setting[tuple[str, ...]] = Setting(
    "allow-env",
    Kind.TEXTS,
    default=(),
    personal=True,
    help="Environment variables that a skill's configuration may name, beside SKILL_*.",
)
ALLOW_HOST: Setting[tuple[str, ...]] = Setting(
    "allow-host",
    Kind.TEXTS,
    default=(),
    personal=True,
    help="Hosts, or HOST:PORT, that servers of skills may have beside public ones and this machine.",
)
MIN_COMPLETION: Setting[float | None] = Setting(
    "min-completion",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    help="The least completion rate a skill may have; 0.7 where --exit-on-fail names none.",
)
MIN_PARTIAL: Setting[float | None] = Setting(
    "min-partial",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    help="The least partial score a skill may have.",
)
MIN_COMPOSITE: Setting[float | None] = Setting(
    "min-composite",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    help="The least benchmark composite a skill may have.",
)
MAX_ERROR_RATE: Setting[float | None] = Setting(
    "max-error-rate",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.1,
    help="The largest share of tasks that may end in an error or a timeout.",
)
MAX_P95_MS: Setting[float | None] = Setting(
    "max-p95-ms",
    Kind.NUMBER,
    minimum=0,
    example=5000,
    help="The largest 95th percentile of latencies, in milliseconds.",
)

# The store of results.
STORE: Setting[str | None] = Setting(
    "store",
    Kind.TEXT,
    example=".skillgate/store.db",
    help="The SQLite file that eval keeps its results in.",
)
STORE_URL: Setting[str | None] = Setting(
    "store-url",
    Kind.TEXT,
    example="postgresql://results@db.example.org/skillgate",
    personal=True,
    help="A PostgreSQL database in its place; its password belongs into ~/.pgpass or PGPASSWORD.",
)

# Recorded invocations.
_GATE_FIELDS = (
    Setting(key="min_score", kind=Kind.NUMBER, minimum=0, maximum=100, help="The least average."),
    Setting(key="max_score", kind=Kind.NUMBER, minimum=0, maximum=100, help="Of a trigger: the largest average."),
    Setting(
        key="min_invocations", kind=Kind.INTEGER, minimum=1, maximum=1_000_000_000, help="The least that are rated."
    ),
    Setting(
        key="max_error_rate",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        help="The largest share of invocations that may meet an error.",
    ),
    Setting(
        key="max_unrecovered_rate",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        help="The largest share of invocations that may fail.",
    ),
    Setting(
        key="max_age_without_improvement",
        kind=Kind.INTEGER,
        minimum=0,
        maximum=36_500,
        help="Days since the skill last got better; a trigger goes off at so many, a requirement allows no more.",
    ),
    Setting(
        key="min_coverage",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        help="The least share that must have been observed, on average.",
    ),
    Setting(
        key="kind",
        kind=Kind.CHOICE,
        choices=(REQUIREMENT, TRIGGER),
        help="Whether it fails unless all bounds hold, or goes off when all do.",
    ),
    Setting(key="description", kind=Kind.TEXT, maximum=200, help="What it is for."),
)
RUBRIC: Setting[str] = Setting(
    "rubric",
    Kind.CHOICE,
    default="1.1",
    choices=("1.0", "1.1"),
    help="The rubric that recorded invocations are scored by: 1.0 is the published one to the letter.",
)
LOG_DAYS: Setting[int] = Setting(
    "log-days",
    Kind.INTEGER,
    default=30,
    minimum=1,
    maximum=36_500,
    help="How many days back the figures of recorded invocations reach.",
)
GATES: Setting[Mapping[str, Table] | None] = Setting(
    "gates",
    Kind.TABLES,
    fields=_GATE_FIELDS,
    maximum=MOST_GATES,
    check=built,
    example={"publish": {"min_score": 75, "max_unrecovered_rate": 0.05}},
    help="Gates of recorded invocations beside publish, feature and deprecation, or other bounds of these.",
)

BENCH_GATES: tuple[Setting[float | None], ...] = (
    MIN_COMPLETION,
    MIN_PARTIAL,
    MIN_COMPOSITE,
    MAX_ERROR_RATE,
    MAX_P95_MS,
)
"""The gates of benchmarks."""
BENCHMARKS: tuple[Setting[Any], ...] = (
    BENCHMARK,
    RUNS,
    CONCURRENCY,
    TIMEOUT_MS,
    RETRIES,
    RETRY_DELAY_S,
    EVALUATOR,
    FORMATS,
    OUTPUT_DIR,
    BENCHMARKS_DIR,
    ALLOW_EXEC,
    MEMORY_MB,
    SANDBOX,
    ALLOW_ENV,
    ALLOW_HOST,
    *BENCH_GATES,
)
"""Those of benchmarks."""
SETTINGS: tuple[Setting[Any], ...] = (
    DEPTH,
    THRESHOLD,
    MIN_BADGE,
    MIN_DIMENSION,
    FAIL_ON,
    BASELINE,
    MAX_DROP,
    ON_INCONCLUSIVE,
    LAYERS,
    PROFILE,
    SELECT,
    IGNORE,
    KNOWN_FINDINGS,
    PROVIDER,
    BASE_URL,
    KEY_VARIABLE,
    SCRIPT,
    JUDGE_MODEL,
    JUDGES,
    TEMPERATURE,
    MAX_COST_USD,
    MAX_CALLS,
    IN_FLIGHT,
    POLL_SECONDS,
    CACHE_DIR,
    MODEL,
    SIMULATIONS,
    NEAR_MISSES,
    SEED,
    MAX_TURNS,
    RUNNER,
    MIN_ACTIVATION,
    MAX_FAILURE_RATE,
    EARLY_STOP,
    CORPUS_DIR,
    OPPONENTS,
    BENCHMARK,
    RUNS,
    CONCURRENCY,
    TIMEOUT_MS,
    RETRIES,
    RETRY_DELAY_S,
    EVALUATOR,
    FORMATS,
    OUTPUT_DIR,
    BENCHMARKS_DIR,
    ALLOW_EXEC,
    MEMORY_MB,
    SANDBOX,
    ALLOW_ENV,
    ALLOW_HOST,
    MIN_COMPLETION,
    MIN_PARTIAL,
    MIN_COMPOSITE,
    MAX_ERROR_RATE,
    MAX_P95_MS,
    STORE,
    STORE_URL,
    RUBRIC,
    LOG_DAYS,
    GATES,
)
"""All of them, in the order of the reference pages."""
BY_KEY: Mapping[str, Setting[Any]] = {setting.key: setting for setting in SETTINGS}
"""The same by key."""
