"""The table of settings: each is declared once, and everything else about it is derived from its entry.

An entry says what its value may be, its default and its help; whether the configuration may hold it, for some paths
only or in the user's own file alone; which commands take it as an option, and in which group of their help; and
whether it is an input of the Action. Options, configuration keys, the Action's inputs, action.yml, the JSON Schema and
the reference pages are loops over it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgate.model.setting import (
    BASE,
    BASE_ALONE,
    CHANGE,
    KEY,
    NEVER,
    OUTPUT,
    REQUIREMENT,
    SHARD,
    TRIGGER,
    UNTRACKED,
    WORDS,
    Group,
    Input,
    Kind,
    Option,
    Setting,
    Table,
)
from skillgate.registry import OUTPUT_FORMATS, PROVIDERS, SCORERS, Lazy

# Commands that take settings as options, and the groups of their help in its order.
CHECK, SCORE, CERTIFY, COMPARE, MERGE = "check", "score", "certify", "compare", "report merge"
EVAL, RUN, TASK = "eval", "run", "task"
RATE, CALIBRATE = "corpus rate", "evals calibrate"
EVALUATION = Group("", (CHECK, SCORE, CERTIFY, COMPARE))
GATE = Group("gate", (CHECK, SCORE, CERTIFY, MERGE))
FINDINGS = Group("findings", (CHECK, SCORE, CERTIFY))
_ANSWERERS = dict.fromkeys((EVAL, RUN, TASK), "models (prose skills and judges)")
MODELS = Group("models (from standard depth on)", (SCORE, CERTIFY, COMPARE, RATE, CALIBRATE), titles=_ANSWERERS)
SESSIONS = Group("sessions and matches (deep and certify depth)", (SCORE, CERTIFY), titles=_ANSWERERS)
MATCHES = Group(SESSIONS.title, (*SESSIONS.commands, RATE))
TASKS_RUN = Group("what is run", (EVAL, RUN), shows_default=True)
RUNNING = Group("how it is run", (EVAL, RUN), shows_default=True)
BOUNDS = Group(
    "gates",
    (EVAL, RUN, MERGE),
    titles={RUN: "bounds: who misses one is not selected", MERGE: "gate of benchmarks"},
    shows_default=True,
)
REPORTS = Group("output", (EVAL, RUN), shows_default=True)
GROUPS = (EVALUATION, GATE, FINDINGS, MODELS, SESSIONS, MATCHES, TASKS_RUN, RUNNING, BOUNDS, REPORTS)
_ASKING = (*MODELS.commands, *_ANSWERERS)

# Where a run of the Action looks.
MODE: Setting[str] = Setting(
    "mode",
    Kind.CHOICE,
    choices=("auto", "gate", "comment"),
    help="gate the skills, or comment on what an earlier run has found. auto: comment in workflow_run, else gate.",
    action=Input("auto"),
    configured=False,
)
PATHS: Setting[tuple[str, ...]] = Setting(
    "paths",
    Kind.TEXTS,
    help="Skills, or directories that hold some, relative to working-directory; one per line, !PATH excludes.",
    action=Input(".", origin=CHANGE),
    configured=False,
)
WORKING_DIRECTORY: Setting[str] = Setting(
    "working-directory",
    Kind.TEXT,
    help="The directory that paths and configuration are relative to.",
    action=Input(".", origin=CHANGE),
    configured=False,
)
CONFIG: Setting[str | None] = Setting(
    "config",
    Kind.TEXT,
    help="The configuration file. Default: the nearest there is; for a pull request, as the tip of its base branch has"
    " it.",
    action=Input(origin=BASE),
    configured=False,
)
CHANGED_ONLY: Setting[str] = Setting(
    "changed-only",
    Kind.CHOICE,
    choices=("auto", "true", "false"),
    help="Whether only skills that the change touches are gated. auto: in pull_request and merge_group.",
    action=Input("auto"),
    configured=False,
)
REQUESTED_SHARD: Setting[str | None] = Setting(
    "shard",
    Kind.TEXT,
    help="Ask about the I-th of N parts of the skills, as in 1/4; a later job gives the reports of all to the input"
    " reports.",
    action=Input(form=SHARD),
    configured=False,
)
SHARD_REPORTS: Setting[tuple[str, ...] | None] = Setting(
    "reports",
    Kind.TEXTS,
    help="Reports that earlier jobs of this run wrote: those of all shards, or one over all skills. They are joined,"
    " shown and gated; nothing is evaluated. One per line; not in a pull request.",
    action=Input(origin=NEVER),
    configured=False,
)

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
    option=Option(EVALUATION, "DEPTH", everyday=True),
    action=Input(),
)
THRESHOLD: Setting[float | None] = Setting(
    "threshold",
    Kind.NUMBER,
    minimum=0,
    maximum=100,
    example=70,
    per_path=True,
    help="The least composite score a skill may have.",
    gate="threshold",
    option=Option(GATE, "N", everyday=True),
    action=Input(),
)
MIN_BADGE: Setting[str | None] = Setting(
    "min-badge",
    Kind.CHOICE,
    choices=("bronze", "silver", "gold", "platinum"),
    example="silver",
    per_path=True,
    help="The least badge a skill may have.",
    gate="badge",
    option=Option(GATE, "BADGE", everyday=True),
    action=Input(),
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
    gate="dimension",
    option=Option(GATE, "NAME=SCORE"),
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
    option=Option(GATE, "LIST", everyday=True),
    action=Input(
        help="What makes the step fail. Default: the configuration's, else error, unmeasured, regression where there is"
        " a base, benchmark where one is run, and each bound that is set."
    ),
)
BASELINE: Setting[str | None] = Setting(
    "baseline",
    Kind.TEXT,
    example="main",
    help="The report or git revision to compare with.",
    gate="regression",
    option=Option(GATE, "REPORT|REV", everyday=True),
    action=Input(
        "auto",
        origin=BASE_ALONE,
        configures=False,
        help="What to compare with: auto (where a pull request began), none, report:PATH, or a git revision; of a"
        " change, a report that git tracks is read as the tip of its base branch has it.",
    ),
)
MAX_DROP: Setting[float] = Setting(
    "max-drop",
    Kind.NUMBER,
    default=2.0,
    minimum=0,
    per_path=True,
    help="By how many points a score may fall below the baseline's; a lost badge is a regression however small the"
    " fall.",
    option=Option(GATE, "POINTS"),
    action=Input(),
)
ON_INCONCLUSIVE: Setting[str] = Setting(
    "on-inconclusive",
    Kind.CHOICE,
    default="point",
    choices=("point", "pass", "warn", "fail"),
    per_path=True,
    help="What a bound does that lies inside a sampled score's interval: the point estimate decides, or this.",
    option=Option(GATE, "WHAT", commands=(*GATE.commands, COMPARE, EVAL, RUN)),
    action=Input(),
)
ON_UNMEASURED: Setting[str] = Setting(
    "on-unmeasured",
    Kind.CHOICE,
    choices=("fail", "pass"),
    help="What a skill without a score does: fail the step (with 1 where fail-on lists unmeasured, else 3), or pass.",
    action=Input("fail"),
    configured=False,
)
LAYERS: Setting[tuple[str, ...] | None] = Setting(
    "layers",
    Kind.CHOICES,
    choices=("static", "judge", "montecarlo"),
    example=("static", "judge"),
    help="The layers to run; unset: those of the depth.",
    option=Option(EVALUATION, "LIST", commands=MODELS.commands),
)

# Findings: which are reported, for which client, and which are known already.
PROFILE: Setting[str] = Setting(
    "profile",
    Kind.CHOICE,
    default="any",
    choices=("any", "spec", "claude-code", "claude-upload", "codex"),
    help="The client whose refusals are errors; any: what every client refuses.",
    per_path=True,
    option=Option(FINDINGS, "CLIENT", everyday=True),
    action=Input(),
)
SELECT: Setting[tuple[str, ...]] = Setting(
    "select",
    Kind.TEXTS,
    default=("default",),
    help="The rules to report, by id or group; default is every rule that is not opt-in, all every rule.",
    per_path=True,
    option=Option(FINDINGS, "RULES", everyday=True),
)
IGNORE: Setting[tuple[str, ...] | None] = Setting(
    "ignore",
    Kind.TEXTS,
    example=("MISSING_TOC",),
    help="The rules to set aside, by id or group; what they find is counted, and fails nothing.",
    per_path=True,
    option=Option(FINDINGS, "RULES", everyday=True),
)
KNOWN_FINDINGS: Setting[str | None] = Setting(
    "known-findings",
    Kind.TEXT,
    example="reports/known-findings.json",
    help="The file of findings that are known already, so that only new ones count.",
    option=Option(FINDINGS, "FILE"),
)
MERGE_SARIF: Setting[tuple[str, ...] | None] = Setting(
    "merge-sarif",
    Kind.TEXTS,
    help="SARIF files of other tools whose findings count too; of a change, what git tracks is read as the tip of its"
    " base branch has it. One per line.",
    action=Input(origin=BASE_ALONE),
    configured=False,
)

# The layers that ask a model. Where requests, and with them a key, go is never a project's to say.
PROVIDER: Setting[str] = Setting(
    "provider",
    Kind.CHOICE,
    default="anthropic",
    choices=Lazy(PROVIDERS.listed),
    personal=True,
    help="Who answers: anthropic, its batches at half the price, a server that speaks OpenAI's protocol (up to"
    " depth standard), a scripted model, or a recording.",
    option=Option(MODELS, "NAME", commands=_ASKING, everyday=True),
    action=Input(
        "anthropic",
        without=("replay",),
        help="Who judges from standard depth on; openai-compatible runs standard alone. Keys come as environment"
        " variables, never as inputs.",
    ),
)
BASE_URL: Setting[str | None] = Setting(
    "base-url",
    Kind.TEXT,
    example="http://127.0.0.1:8080",
    personal=True,
    help="Where requests are sent; unset: the provider's own address or variable.",
    other_name="llm.baseUrl",
    option=Option(MODELS, "URL", commands=_ASKING),
    action=Input(),
)
KEY_VARIABLE: Setting[str | None] = Setting(
    "key-variable",
    Kind.TEXT,
    example="GATEWAY_API_KEY",
    personal=True,
    help="The environment variable that holds the key of an openai-compatible server; unset: OPENAI_API_KEY.",
    other_name="llm.keyEnv",
    option=Option(MODELS, "NAME", commands=_ASKING),
    action=Input(),
)
SCRIPT: Setting[str | None] = Setting(
    "script",
    Kind.TEXT,
    example="judge-rules.yaml",
    personal=True,
    help="The rules of the scripted model; unset: it makes plausible answers up, and every report says so.",
    option=Option(MODELS, "FILE", commands=_ASKING),
)
JUDGE_MODEL: Setting[tuple[str, ...] | None] = Setting(
    "judge-model",
    Kind.TEXTS,
    example=("claude-sonnet-5-5",),
    help="The model that judges; several take turns among the judges. Unset: the default of the dated table.",
    other_name="llm.model",  # its models only judge
    option=Option(MODELS, "MODEL", commands=_ASKING, everyday=True),
    action=Input(),
)
JUDGES: Setting[int | None] = Setting(
    "judges",
    Kind.INTEGER,
    minimum=1,
    maximum=9,
    example=3,
    help="How many opinions to ask for; two or more give agreement and intervals. Unset: one of each judge-model.",
    option=Option(MODELS, "N"),
    action=Input(),
)
TEMPERATURE: Setting[float | None] = Setting(
    "temperature",
    Kind.NUMBER,
    minimum=0,
    maximum=2,
    example=0.0,
    help="Sent to an openai-compatible server only; current Anthropic models take none.",
    other_name="llm.temperature",
    option=Option(MODELS, "T"),
)
MAX_COST_USD: Setting[float | None] = Setting(
    "max-cost-usd",
    Kind.NUMBER,
    minimum=0,
    example=5.0,
    help="The most that model calls of one run may cost, in US dollars; what is left then is not measured.",
    option=Option(MODELS, "USD", commands=_ASKING, everyday=True),
    action=Input("5"),
)
MAX_CALLS: Setting[int | None] = Setting(
    "max-calls",
    Kind.INTEGER,
    minimum=0,
    example=200,
    help="The most requests that one run may send; what is left then is not measured.",
    option=Option(MODELS, "N", commands=_ASKING),
)
IN_FLIGHT: Setting[int] = Setting(
    "in-flight",
    Kind.INTEGER,
    default=8,
    minimum=1,
    maximum=64,
    help="How many requests may be on their way at once.",
    option=Option(MODELS, "N"),
)
POLL_SECONDS: Setting[float] = Setting(
    "poll-seconds",
    Kind.NUMBER,
    default=10.0,
    minimum=0.01,
    maximum=3600,
    help="How soon a batch is looked at after it was submitted; then ever less often, up to every five minutes.",
    option=Option(MODELS, "SECONDS"),
)
CACHE_DIR: Setting[str | None] = Setting(
    "cache-dir",
    Kind.TEXT,
    example=".skillgate/cache",
    personal=True,
    help="Where a model's answers are kept between runs; unset: the system's place for caches.",
    option=Option(MODELS, "DIR", commands=_ASKING),
    action=Input(
        origin=UNTRACKED,
        help="Where a model's answers are kept, in the workspace and not in the repository: restore and save it with"
        " actions/cache. Only what is signed with SKILLGATE_CACHE_KEY or the API key is used. Default: nowhere beyond"
        " this job.",
    ),
)

# Simulated sessions.
MODEL: Setting[str | None] = Setting(
    "model",
    Kind.TEXT,
    example="claude-sonnet-5-5",
    help="The model under test, which may load the skill. Unset: the default of the dated table.",
    option=Option(SESSIONS, "MODEL", commands=(*SESSIONS.commands, EVAL, RUN, TASK), everyday=True),
    action=Input(),
)
SIMULATIONS: Setting[int] = Setting(
    "simulations",
    Kind.INTEGER,
    default=50,
    minimum=5,
    maximum=500,
    help="How many sessions to simulate with prompts that should load the skill, each with a prompt of its own.",
    option=Option(SESSIONS, "N", everyday=True),
    action=Input(),
)
NEAR_MISSES: Setting[int | None] = Setting(
    "near-misses",
    Kind.INTEGER,
    minimum=0,
    maximum=100,
    example=10,
    help="How many to simulate with prompts that should not. Unset: a fifth of the simulations.",
    option=Option(SESSIONS, "N"),
)
SEED: Setting[int] = Setting(
    "seed",
    Kind.INTEGER,
    default=0,
    minimum=0,
    maximum=1_000_000_000,
    help="The seed of the order in which skills are listed, and in which matches count.",
    option=Option(SESSIONS, "N"),
)
MAX_TURNS: Setting[int] = Setting(
    "max-turns",
    Kind.INTEGER,
    default=10,
    minimum=2,
    maximum=50,
    help="How many requests one session may take; one that takes more has failed.",
    option=Option(SESSIONS, "N"),
)
RUNNER: Setting[str] = Setting(
    "runner",
    Kind.CHOICE,
    default="messages",
    choices=("messages", "agent-sdk"),
    personal=True,
    help="What runs a session: a loop over the Messages API, or Claude Code itself by its agent SDK (an extra).",
    option=Option(SESSIONS, "RUNNER"),
)
MIN_ACTIVATION: Setting[float | None] = Setting(
    "min-activation",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    per_path=True,
    help="The least share of sessions with a prompt for it in which the model must load the skill.",
    gate="threshold",
    option=Option(SESSIONS, "SHARE"),
)
MAX_FAILURE_RATE: Setting[float | None] = Setting(
    "max-failure-rate",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.1,
    per_path=True,
    help="The largest share of sessions that may fail.",
    gate="threshold",
    option=Option(SESSIONS, "SHARE"),
)
EARLY_STOP: Setting[bool] = Setting(
    "early-stop",
    Kind.FLAG,
    default=False,
    help="End the sessions of a skill once min-activation and max-failure-rate cannot change their verdict.",
    option=Option(SESSIONS),
)

# Matches against a corpus.
CORPUS_DIR: Setting[str | None] = Setting(
    "corpus-dir",
    Kind.TEXT,
    example=".skillgate/corpus",
    help="Where the corpus lies that skills are ranked against; unset: the system's place for data.",
    option=Option(MATCHES, "DIR"),
    action=Input(
        origin=BASE,
        help="The corpus that depth certify ranks skills against; of a change, as the tip of its base branch has it."
        " Default: as configured.",
    ),
)
OPPONENTS: Setting[int] = Setting(
    "opponents",
    Kind.INTEGER,
    default=16,
    minimum=1,
    maximum=100,
    help="How many skills of the corpus a skill is compared with, each in both orders.",
    option=Option(MATCHES, "N"),
)

# Benchmarks.


def _scorers() -> tuple[str, ...]:
    """List the scorers and their aliases, but for those that score one adapter's answers alone."""
    names = (name for name in SCORERS.listed(separator="_") if not SCORERS.text(name, "ADAPTER"))
    return tuple(word for name in names for word in (name, *SCORERS.texts(name, "ALIASES")))


def _report_formats() -> tuple[str, ...]:
    """List the formats of files that reports of benchmarks are written in."""
    files = (form for form in OUTPUT_FORMATS.listed() if not OUTPUT_FORMATS.flag(form, "TERMINAL"))
    return tuple(form for form in files if OUTPUT_FORMATS.table(form, "WRITERS").keys() & {"*", "bench"})


BENCHMARK: Setting[str] = Setting(
    "benchmark",
    Kind.TEXT,
    default="coding-easy",
    help="The benchmark to run: an id, or a file's path.",
    option=Option(TASKS_RUN, "ID|PATH", everyday=True),
    action=Input(
        origin=BASE,
        configures=False,
        help="The benchmark to run, beside the scores: the id of a packaged one, or a file's path; of a change, as the"
        " tip of its base branch has it. Default: none.",
    ),
)
TASKS: Setting[str | None] = Setting(
    "tasks",
    Kind.TEXT,
    help="A file of tasks in the place of a benchmark.",
    action=Input(origin=BASE),
    configured=False,
)
SKILLS: Setting[tuple[str, ...] | None] = Setting(
    "skills",
    Kind.TEXTS,
    help="The skills that the benchmark runs: skill.json files, or directories with some; one per line."
    " Default: paths.",
    action=Input(origin=CHANGE),
    configured=False,
)
RUNS: Setting[int] = Setting(
    "runs",
    Kind.INTEGER,
    default=1,
    minimum=1,
    maximum=1000,
    help="How often each task is run.",
    option=Option(RUNNING, "N", everyday=True),
    action=Input(configures=False),
)
CONCURRENCY: Setting[int] = Setting(
    "concurrency",
    Kind.INTEGER,
    default=4,
    minimum=1,
    maximum=256,
    help="How many tasks are run at once.",
    other_name="concurrency",
    option=Option(RUNNING, "N"),
)
TIMEOUT_MS: Setting[int] = Setting(
    "timeout-ms",
    Kind.INTEGER,
    default=30_000,
    minimum=100,
    maximum=86_400_000,
    help="How long one try of a task may take, start-up included; a task's own limit comes before it.",
    other_name="timeoutMs",
    option=Option(RUNNING, "MS", name="timeout", commands=(EVAL, RUN, TASK)),
)
RETRIES: Setting[int] = Setting(
    "retries",
    Kind.INTEGER,
    default=0,
    minimum=0,
    maximum=100,
    help="How often a task is tried again after a failure of infrastructure; never after a wrong answer.",
    option=Option(RUNNING, "N"),
)
RETRY_DELAY_S: Setting[float] = Setting(
    "retry-delay-s",
    Kind.NUMBER,
    default=1.0,
    minimum=0,
    maximum=3600,
    help="Seconds before the first further try; the k-th waits k times as long, at most 30.",
    option=Option(RUNNING, "S"),
)
EVALUATOR: Setting[str] = Setting(
    "evaluator",
    Kind.CHOICE,
    default="exact",
    choices=Lazy(_scorers),
    help="The scorer of tasks that name none.",
    option=Option(RUNNING, "SCORER"),
)
FORMATS: Setting[tuple[str, ...]] = Setting(
    "formats",
    Kind.CHOICES,
    default=("json", "markdown"),
    choices=Lazy(_report_formats),
    help="The formats that eval writes.",
    other_name="defaultFormats",
)
OUTPUT_DIR: Setting[str] = Setting(
    "output-dir",
    Kind.TEXT,
    default="reports",
    help="Where eval writes its reports.",
    other_name="outputDir",
    option=Option(REPORTS, "DIR", everyday=True),
)
BENCHMARKS_DIR: Setting[str] = Setting(
    "benchmarks-dir",
    Kind.TEXT,
    default="benchmarks",
    help="A directory of benchmarks beside the packaged ones.",
    option=Option(TASKS_RUN, "DIR"),
)
ALLOW_EXEC: Setting[bool] = Setting(
    "allow-exec",
    Kind.FLAG,
    default=True,
    personal=True,
    help="Whether programs of skills may be started.",
    action=Input(
        "false",
        configures=False,
        help="Whether the benchmark may start the programs of skills and send requests to their servers: in a pull"
        " request, the code of whoever wrote it. Give such a job no secrets.",
    ),
)
MEMORY_MB: Setting[int] = Setting(
    "memory-mb",
    Kind.INTEGER,
    default=1024,
    minimum=16,
    maximum=1_048_576,
    help="Megabytes of memory that a call of a skill's program may use; its own memoryMb holds where it is lower.",
    option=Option(RUNNING, "MB", name="memory"),
)
SANDBOX: Setting[str] = Setting(
    "sandbox",
    Kind.CHOICE,
    default="none",
    choices=("none", "bwrap", "auto"),
    personal=True,
    help="What skills' programs run in: nothing, bubblewrap, or bubblewrap where it can be had.",
    option=Option(RUNNING, "none|bwrap|auto"),
)
ALLOW_ENV: Setting[tuple[str, ...]] = Setting(
    "allow-env",
    Kind.TEXTS,
    default=(),
    personal=True,
    help="Environment variables that a skill's configuration may name, beside SKILL_*.",
    action=Input(
        configures=False, help="Variables that a skill's own settings may name, beside SKILL_*; one per line."
    ),
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
    option=Option(BOUNDS, "SHARE", everyday=True),
    action=Input(
        configures=False,
        help="The least share of a benchmark's tasks that a skill must complete, 0 to 1. Default: the configuration's.",
    ),
)
MIN_PARTIAL: Setting[float | None] = Setting(
    "min-partial",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    help="The least partial score a skill may have.",
    option=Option(BOUNDS, "SHARE"),
)
MIN_COMPOSITE: Setting[float | None] = Setting(
    "min-composite",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.8,
    help="The least benchmark composite a skill may have.",
    option=Option(BOUNDS, "SHARE"),
)
MAX_ERROR_RATE: Setting[float | None] = Setting(
    "max-error-rate",
    Kind.NUMBER,
    minimum=0,
    maximum=1,
    example=0.1,
    help="The largest share of tasks that may end in an error or a timeout.",
    option=Option(BOUNDS, "SHARE"),
)
MAX_P95_MS: Setting[float | None] = Setting(
    "max-p95-ms",
    Kind.NUMBER,
    minimum=0,
    example=5000,
    help="The largest 95th percentile of latencies, in milliseconds.",
    option=Option(BOUNDS, "MS"),
)

# The store of results.
STORE: Setting[str | None] = Setting(
    "store",
    Kind.TEXT,
    example=".skillgate/store.db",
    help="The SQLite file that eval keeps its results in.",
    action=Input(
        origin=UNTRACKED,
        configures=False,
        help="Where results are kept: a SQLite file in the workspace that actions/cache carries on, or a PostgreSQL"
        " address without password (PGPASSWORD under env). Default: nowhere.",
    ),
)
STORE_URL: Setting[str | None] = Setting(
    "store-url",
    Kind.TEXT,
    example="postgresql://results@db.example.org/skillgate",
    personal=True,
    help="A PostgreSQL database in its place; its password belongs into ~/.pgpass or PGPASSWORD.",
)

# Recorded invocations.
INVOCATIONS: Setting[tuple[str, ...] | None] = Setting(
    "invocations",
    Kind.TEXTS,
    help="Recorded invocations that the input gate is asked of: files, or directories with .jsonl files, in a form"
    " that skillgate log import takes; of a change what git tracks is read as the tip of its base branch has it. Or"
    " the word store: what the store holds that the input store names. One per line.",
    action=Input(origin=BASE),
    configured=False,
)
INVOCATION_GATE: Setting[tuple[str, ...] | None] = Setting(
    "gate",
    Kind.TEXTS,
    help="The gates that the recorded invocations of each gated skill must pass: publish, feature, deprecation, or one"
    " of the configuration.",
    action=Input(form=WORDS),
    configured=False,
)


def _gate(name: str, table: Table) -> None:
    from skillgate.model.invocation_gate import built  # few configurations have such gates

    built(name, table)


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
    maximum=50,
    check=_gate,
    example={"publish": {"min_score": 75, "max_unrecovered_rate": 0.05}},
    help="Gates of recorded invocations beside publish, feature and deprecation, or other bounds of these.",
)

# What a run of the Action publishes.
COMMENT: Setting[str] = Setting(
    "comment",
    Kind.CHOICE,
    choices=("always", "changes", "failures", "never"),
    help="When to comment on the pull request: always, when a skill has changed, when it fails, or never.",
    action=Input("always"),
    configured=False,
)
COMMENT_KEY: Setting[str] = Setting(
    "comment-key",
    Kind.TEXT,
    help="Tells the comments of several jobs on one pull request apart.",
    action=Input("default", form=KEY),
    configured=False,
)
PR_NUMBER: Setting[int | None] = Setting(
    "pr-number",
    Kind.INTEGER,
    minimum=1,
    help="The pull request to comment on. Default: the event's.",
    action=Input(),
    configured=False,
)
REGRESSION_ISSUE: Setting[bool] = Setting(
    "regression-issue",
    Kind.FLAG,
    help="Whether a regression opens an issue, or brings it up to date, and the end of all of them closes it. It needs"
    " the permission issues: write, and does nothing in pull requests and merge groups; comment-key tells issues"
    " apart.",
    action=Input("false"),
    configured=False,
)
ANNOTATIONS: Setting[str] = Setting(
    "annotations",
    Kind.CHOICE,
    choices=("all", "errors", "none"),
    help="Which findings to annotate, at most ten of a level.",
    action=Input("all"),
    configured=False,
)
REPORT_DIR: Setting[str] = Setting(
    "report-dir",
    Kind.TEXT,
    help="The directory of report.json, report.html and their companions, in the workspace.",
    action=Input("skillgate-report", origin=OUTPUT),
    configured=False,
)
SARIF: Setting[str | None] = Setting(
    "sarif",
    Kind.TEXT,
    help="Where to write SARIF, in the workspace; empty for none.",
    action=Input(origin=OUTPUT),
    configured=False,
)
CERTIFICATE: Setting[str | None] = Setting(
    "certificate",
    Kind.TEXT,
    help="Where to write a certificate as JSON, in the workspace; empty for none.",
    action=Input(origin=OUTPUT),
    configured=False,
)
BADGES: Setting[str | None] = Setting(
    "badges",
    Kind.TEXT,
    help="The directory of a badge for each skill, in the workspace; empty for none.",
    action=Input(origin=OUTPUT),
    configured=False,
)
GITHUB_TOKEN: Setting[str | None] = Setting(
    "github-token",
    Kind.TEXT,
    help="The token to comment with.",
    action=Input("${{ github.token }}"),
    configured=False,
)

TABLE: tuple[Setting[Any], ...] = tuple(entry for entry in vars().values() if isinstance(entry, Setting))
"""Every entry, in the order of the reference pages."""
SETTINGS = tuple(entry for entry in TABLE if entry.configured)
"""Those that the configuration may hold."""
BY_KEY: Mapping[str, Setting[Any]] = {setting.key: setting for setting in SETTINGS}
"""The same by key."""
OTHER_NAMES: Mapping[str, str] = {setting.other_name: setting.key for setting in SETTINGS if setting.other_name}
"""The keys of settings that eval-skills has too, by their path in a file of its configuration."""
INPUTS = tuple(entry for entry in TABLE if entry.action is not None)
"""Those that are inputs of the Action."""


def of_group(group: Group) -> tuple[Setting[Any], ...]:
    """Return the settings that stand in a group of options."""
    return tuple(setting for setting in SETTINGS if setting.option is not None and setting.option.group is group)
