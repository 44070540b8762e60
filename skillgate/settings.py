"""The table of settings. Each setting is declared once; everything else is derived from its entry.

An entry declares the type, default and help. It also declares whether the setting may be in a configuration file, vary
by path or be set only in the user's own file. It names the commands that take the setting as an option, the help group,
and whether it is an Action input. Options, configuration keys, Action inputs, action.yml, the JSON Schema and the
reference pages are loops over this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
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
LOG_IMPORT, LOG_SYNC = "log import", "log sync"
EVALUATION = Group("", (CHECK, SCORE, CERTIFY, COMPARE))
GATE = Group("gate", (CHECK, SCORE, CERTIFY, MERGE))
FINDINGS = Group("findings", (CHECK, SCORE, CERTIFY))
_ANSWERERS = dict.fromkeys((EVAL, RUN, TASK), "models (prose skills and judges)")
_JUDGING, _GRADING = (SCORE, CERTIFY, COMPARE, RATE, CALIBRATE), (LOG_IMPORT, LOG_SYNC)
MODELS = Group(
    "models (from standard depth on)",
    (*_JUDGING, *_GRADING),
    titles={**_ANSWERERS, **dict.fromkeys(_GRADING, "models (with --grade)")},
)
SESSIONS = Group("sessions and matches (deep and certify depth)", (SCORE, CERTIFY), titles=_ANSWERERS)
MATCHES = Group(SESSIONS.title, (*SESSIONS.commands, RATE))
TASKS_RUN = Group("what to run", (EVAL, RUN), shows_default=True)
RUNNING = Group("how to run it", (EVAL, RUN), shows_default=True)
BOUNDS = Group(
    "gates",
    (EVAL, RUN, MERGE),
    titles={RUN: "limits: skills that miss one are not selected", MERGE: "gate of benchmarks"},
    shows_default=True,
)
REPORTS = Group("output", (EVAL, RUN), shows_default=True)
GROUPS = (EVALUATION, GATE, FINDINGS, MODELS, SESSIONS, MATCHES, TASKS_RUN, RUNNING, BOUNDS, REPORTS)
_ASKING = (*MODELS.commands, *_ANSWERERS)


def _kind(kind: Kind, **bounds: Any) -> Callable[..., Setting[Any]]:  # noqa: ANN401 - fields of Setting
    """Return what declares settings of a kind."""
    return partial(Setting, kind=kind, **bounds)


_text, _texts, _choice, _choices = map(_kind, (Kind.TEXT, Kind.TEXTS, Kind.CHOICE, Kind.CHOICES))
_number, _integer, _flag = map(_kind, (Kind.NUMBER, Kind.INTEGER, Kind.FLAG))
_ratio = _kind(Kind.NUMBER, minimum=0, maximum=1)
_input_text, _input_texts, _input_choice = (
    _kind(kind, configured=False) for kind in (Kind.TEXT, Kind.TEXTS, Kind.CHOICE)
)


# Where a run of the Action looks.
MODE: Setting[str] = _input_choice(
    "mode",
    choices=("auto", "gate", "comment"),
    help="Gate the skills, or comment on the results of an earlier run. auto: comment in"
    " workflow_run, gate in other events.",
    action=Input("auto"),
)
PATHS: Setting[tuple[str, ...]] = _input_texts(
    "paths",
    help="Skills, or directories with skills, relative to working-directory. One per line; !PATH excludes.",
    action=Input(".", origin=CHANGE),
)
WORKING_DIRECTORY: Setting[str] = _input_text(
    "working-directory",
    help="The directory that paths and configuration are relative to.",
    action=Input(".", origin=CHANGE),
)
CONFIG: Setting[str | None] = _input_text(
    "config",
    help="The configuration file. Default: the nearest one. In a pull request it is read from the"
    " tip of the base branch.",
    action=Input(origin=BASE),
)
CHANGED_ONLY: Setting[str] = _input_choice(
    "changed-only",
    choices=("auto", "true", "false"),
    help="Gate only the skills that the change touches. auto: in pull_request and merge_group.",
    action=Input("auto"),
)
REQUESTED_SHARD: Setting[str | None] = _input_text(
    "shard",
    help="Evaluate the I-th of N parts of the skills, such as 1/4. A later job passes all reports"
    " to the input reports.",
    action=Input(form=SHARD),
)
SHARD_REPORTS: Setting[tuple[str, ...] | None] = _input_texts(
    "reports",
    help="Reports from earlier jobs of this run: all shards, or one report over all skills. They are merged, shown"
    " and gated; nothing is evaluated. One per line. Not allowed in pull requests.",
    action=Input(origin=NEVER),
)

# Scoring and the gate.
# The ten dimensions by name; their weights and blend are in the tables of scoring.
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
DEPTH: Setting[str] = _choice(
    "depth",
    default="quick",
    choices=("quick", "standard", "deep", "certify"),
    help="How deep to evaluate. quick reads only the files and sends nothing anywhere.",
    option=Option(EVALUATION, "DEPTH", everyday=True),
    action=Input(),
)
THRESHOLD: Setting[float | None] = _number(
    "threshold",
    minimum=0,
    maximum=100,
    example=70,
    per_path=True,
    help="Minimum composite score of each skill.",
    gate="threshold",
    option=Option(GATE, "N", everyday=True),
    action=Input(),
)
MIN_NEW_SCORE: Setting[float | None] = _number(
    "min-new-score",
    minimum=0,
    maximum=100,
    example=50,
    per_path=True,
    help="Minimum score of a skill that the baseline does not have; 0 for none.",
    gate="new-score",
    option=Option(GATE, "N"),
    action=Input(
        help="Minimum score of a skill that the base does not have; 0 for none. Default: the configuration's, else at"
        " depth quick the 5th percentile of public skills."
    ),
)
MIN_BADGE: Setting[str | None] = _choice(
    "min-badge",
    choices=("bronze", "silver", "gold", "platinum"),
    example="silver",
    per_path=True,
    help="Minimum badge of each skill.",
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
    help="Minimum scores of single dimensions.",
    gate="dimension",
    option=Option(GATE, "NAME=SCORE"),
)
FAIL_ON: Setting[tuple[str, ...] | None] = _choices(
    "fail-on",
    choices=(
        "error",
        "new-error",
        "warning",
        "threshold",
        "new-score",
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
    help="What makes the command fail. new-error: an error that the baseline does not have; without a baseline, every"
    " error is new. Unset: error in check; the gates that have a limit in score.",
    option=Option(GATE, "LIST", everyday=True),
    action=Input(
        help="What makes the step fail. Default: the configuration's, else unmeasured and each limit that is set, with"
        " new-error, new-score and regression if there is a base, error if there is none, and benchmark if one runs."
    ),
)
BASELINE: Setting[str | None] = _text(
    "baseline",
    example="main",
    help="The report or Git revision to compare with.",
    gate="regression",
    option=Option(GATE, "REPORT|REV", everyday=True),
    action=Input(
        "auto",
        origin=BASE_ALONE,
        configures=False,
        help="What to compare with: auto (the commit where the pull request began), none, report:PATH, or a Git"
        " revision. In a pull request, a tracked report is read from the tip of the base branch.",
    ),
)
MAX_DROP: Setting[float] = _number(
    "max-drop",
    default=2.0,
    minimum=0,
    per_path=True,
    help="How many points a score may fall below the baseline. A lost badge is always a regression.",
    option=Option(GATE, "POINTS"),
    action=Input(),
)
ON_INCONCLUSIVE: Setting[str] = _choice(
    "on-inconclusive",
    default="point",
    choices=("point", "pass", "warn", "fail"),
    per_path=True,
    help="What to do if a limit lies within the score's confidence interval: use the point"
    " estimate (point), pass, warn or fail.",
    option=Option(GATE, "WHAT", commands=(*GATE.commands, COMPARE, EVAL, RUN)),
    action=Input(),
)
ON_UNMEASURED: Setting[str] = _input_choice(
    "on-unmeasured",
    choices=("fail", "pass"),
    help="What to do about skills without a score: fail the step (exit code 1 if fail-on lists"
    " unmeasured, else 3), or pass.",
    action=Input("fail"),
)
LAYERS: Setting[tuple[str, ...] | None] = _choices(
    "layers",
    choices=("static", "judge", "montecarlo"),
    example=("static", "judge"),
    help="The layers to run. Unset: those of the depth.",
    option=Option(EVALUATION, "LIST", commands=_JUDGING),
)

# Findings: which are reported, for which client, and which are already known.
PROFILE: Setting[str] = _choice(
    "profile",
    default="any",
    choices=("any", "spec", "claude-code", "claude-upload", "codex"),
    help="Report as errors what this client rejects; any: only what all of them reject.",
    per_path=True,
    option=Option(FINDINGS, "CLIENT", everyday=True),
    action=Input(),
)
SELECT: Setting[tuple[str, ...]] = _texts(
    "select",
    default=("default",),
    help="The rules to report, by id or group. default: every rule that is not opt-in; all: every rule.",
    per_path=True,
    option=Option(FINDINGS, "RULES", everyday=True),
)
IGNORE: Setting[tuple[str, ...] | None] = _texts(
    "ignore",
    example=("MISSING_TOC",),
    help="The rules to suppress, by id or group. Their findings are counted but fail nothing.",
    per_path=True,
    option=Option(FINDINGS, "RULES", everyday=True),
)
PER_FILE_IGNORES: Setting[Mapping[str, tuple[str, ...]] | None] = Setting(
    "per-file-ignores",
    Kind.LISTS,
    maximum=200,
    example={"**/references/generated/**": ("MISSING_TOC", "UNTAGGED_CODE")},
    help="The rules to suppress in some files only, by glob. A glob without / matches names at any depth.",
)
EXCLUDE: Setting[tuple[str, ...] | None] = _texts(
    "exclude",
    example=("vendor", "legacy/**"),
    help="The directories in which no skill is searched, by glob. A glob without / matches names at any depth.",
)
KNOWN_FINDINGS: Setting[str | None] = _text(
    "known-findings",
    example="reports/known-findings.json",
    help="The file of known findings; only new findings count.",
    option=Option(FINDINGS, "FILE"),
)
MERGE_SARIF: Setting[tuple[str, ...] | None] = _input_texts(
    "merge-sarif",
    help="SARIF files from other tools; their findings count too. In a pull request, tracked files"
    " are read from the tip of the base branch. One per line.",
    action=Input(origin=BASE_ALONE),
)


def _house_rule(identifier: str, table: Table) -> None:
    from skillgate.model.house import require_rule  # few configurations have rules of their own

    require_rule(identifier, table)


_RULE_FIELDS = (
    _text("required-section", maximum=200, help="The heading of a section that the main file must have."),
    _text("required-metadata", maximum=200, help="The field that the frontmatter must have, such as metadata.owner."),
    _texts("forbidden-phrase", help="Words and phrases that no document may contain, in any letter case."),
    _text("licence-header", maximum=500, help="The text that must be in the first lines of each bundled script."),
    _text("python", maximum=500, help="The file that declares the rule, relative to the configuration's directory."),
    _text("entry-point", maximum=200, help="The entry point of the group skillgate.rules that declares the rule."),
    _choice("severity", choices=("error", "warning", "info"), help="The severity; warning by default."),
    _text("message", maximum=500, help="The message, in place of the template's own."),
    _text("fix", maximum=500, help="What to do, in place of the template's own."),
    _texts("paths", help="Globs of the files that it applies to. A glob without / matches names at any depth."),
)
RULES: Setting[Mapping[str, Table] | None] = Setting(
    "rules",
    Kind.TABLES,
    fields=_RULE_FIELDS,
    maximum=100,
    check=_house_rule,
    example={"ACME_OWNER": {"required-metadata": "metadata.owner", "severity": "error"}},
    help="Rules of your own, by id: from a template, a Python file or an entry point. They change no score.",
)

# The layers that ask a model. A project never decides where requests, and with them a key, go.
PROVIDER: Setting[str] = _choice(
    "provider",
    default="anthropic",
    choices=Lazy(PROVIDERS.listed),
    personal=True,
    help="Who answers: anthropic, batch (at half the price), an OpenAI-compatible server (up to"
    " depth standard), a scripted model, or a recording.",
    option=Option(MODELS, "NAME", commands=_ASKING, everyday=True),
    action=Input(
        "anthropic",
        without=("replay",),
        help="Who judges from depth standard on; openai-compatible runs only depth standard. Pass keys"
        " as environment variables, never as inputs.",
    ),
)
BASE_URL: Setting[str | None] = _text(
    "base-url",
    example="http://127.0.0.1:8080",
    personal=True,
    help="Where to send requests. Unset: the provider's own address or variable.",
    other_name="llm.baseUrl",
    option=Option(MODELS, "URL", commands=_ASKING),
    action=Input(),
)
KEY_VARIABLE: Setting[str | None] = _text(
    "key-variable",
    example="GATEWAY_API_KEY",
    personal=True,
    help="The environment variable with the key of an openai-compatible server. Unset: OPENAI_API_KEY.",
    other_name="llm.keyEnv",
    option=Option(MODELS, "NAME", commands=_ASKING),
    action=Input(),
)
SCRIPT: Setting[str | None] = _text(
    "script",
    example="judge-rules.yaml",
    personal=True,
    help="The rules of the scripted model. Unset: it makes up plausible answers, and every report says so.",
    option=Option(MODELS, "FILE", commands=_ASKING),
)
JUDGE_MODEL: Setting[tuple[str, ...] | None] = _texts(
    "judge-model",
    example=("claude-sonnet-5-5",),
    help="The judge model; several models take turns. Unset: the default of the dated price table.",
    other_name="llm.model",  # its models only judge
    option=Option(MODELS, "MODEL", commands=_ASKING, everyday=True),
    action=Input(),
)
JUDGES: Setting[int | None] = _integer(
    "judges",
    minimum=1,
    maximum=9,
    example=3,
    help="How many opinions to ask for. Two or more give agreement and intervals. Unset: one per"
    " judge-model; at depth certify at least three.",
    option=Option(MODELS, "N", commands=_JUDGING),
    action=Input(
        help="How many judges to ask about each skill. Default: the configuration's, else three, or one per judge-model"
        " if there are more; fewer for every skill if max-cost-usd may not pay for three.",
    ),
)
TEMPERATURE: Setting[float | None] = _number(
    "temperature",
    minimum=0,
    maximum=2,
    example=0.0,
    help="Temperature, sent only to an openai-compatible server; current Anthropic models take none.",
    other_name="llm.temperature",
    option=Option(MODELS, "T"),
)
MAX_COST_USD: Setting[float | None] = _number(
    "max-cost-usd",
    minimum=0,
    example=5.0,
    help="Maximum cost of the model calls of one run, in US dollars. What is left then is not measured.",
    option=Option(MODELS, "USD", commands=_ASKING, everyday=True),
    action=Input("5"),
)
MAX_CALLS: Setting[int | None] = _integer(
    "max-calls",
    minimum=0,
    example=200,
    help="Maximum number of requests in one run. What is left then is not measured.",
    option=Option(MODELS, "N", commands=_ASKING),
)
IN_FLIGHT: Setting[int] = _integer(
    "in-flight",
    default=8,
    minimum=1,
    maximum=64,
    help="Maximum number of concurrent requests.",
    option=Option(MODELS, "N"),
)
POLL_SECONDS: Setting[float] = _number(
    "poll-seconds",
    default=10.0,
    minimum=0.01,
    maximum=3600,
    help="How soon to check a batch after it was submitted; later checks are less frequent, at"
    " most five minutes apart.",
    option=Option(MODELS, "SECONDS"),
)
CACHE_DIR: Setting[str | None] = _text(
    "cache-dir",
    example=".skillgate/cache",
    personal=True,
    help="The directory that caches model answers between runs. Unset: the system's cache directory.",
    option=Option(MODELS, "DIR", commands=_ASKING),
    action=Input(
        origin=UNTRACKED,
        help="The directory that caches model answers, in the workspace but not in the repository."
        " Restore and save it with actions/cache. Only answers signed with SKILLGATE_CACHE_KEY or"
        " the API key are used. Default: no cache beyond this job.",
    ),
)

# Simulated sessions.
MODEL: Setting[str | None] = _text(
    "model",
    example="claude-sonnet-5-5",
    help="The model under test, which may load the skill. Unset: the default of the dated price table.",
    option=Option(SESSIONS, "MODEL", commands=(*SESSIONS.commands, EVAL, RUN, TASK), everyday=True),
    action=Input(),
)
SIMULATIONS: Setting[int] = _integer(
    "simulations",
    default=50,
    minimum=5,
    maximum=500,
    help="How many sessions to simulate with prompts that should load the skill. Each has its own prompt.",
    option=Option(SESSIONS, "N", everyday=True),
    action=Input(),
)
NEAR_MISSES: Setting[int | None] = _integer(
    "near-misses",
    minimum=0,
    maximum=100,
    example=10,
    help="How many sessions to simulate with prompts that should not load it. Unset: a fifth of the simulations.",
    option=Option(SESSIONS, "N"),
)
SEED: Setting[int] = _integer(
    "seed",
    default=0,
    minimum=0,
    maximum=1_000_000_000,
    help="The random seed for the order of listed skills and of matches.",
    option=Option(SESSIONS, "N"),
)
MAX_TURNS: Setting[int] = _integer(
    "max-turns",
    default=10,
    minimum=2,
    maximum=50,
    help="Maximum number of requests in one session; a session that needs more fails.",
    option=Option(SESSIONS, "N"),
)
RUNNER: Setting[str] = _choice(
    "runner",
    default="messages",
    choices=("messages", "agent-sdk"),
    personal=True,
    help="What runs a session: a loop over the Messages API, or Claude Code through its agent SDK (an extra).",
    option=Option(SESSIONS, "RUNNER"),
)
MIN_ACTIVATION: Setting[float | None] = _ratio(
    "min-activation",
    example=0.8,
    per_path=True,
    help="Minimum share of the sessions meant for the skill in which the model loads it.",
    gate="threshold",
    option=Option(SESSIONS, "SHARE"),
)
MAX_FAILURE_RATE: Setting[float | None] = _ratio(
    "max-failure-rate",
    example=0.1,
    per_path=True,
    help="Maximum share of sessions that may fail.",
    gate="threshold",
    option=Option(SESSIONS, "SHARE"),
)
EARLY_STOP: Setting[bool] = _flag(
    "early-stop",
    default=False,
    help="Stop the sessions of a skill once the verdicts of min-activation and max-failure-rate cannot change.",
    option=Option(SESSIONS),
)

# Matches against a corpus.
CORPUS_DIR: Setting[str | None] = _text(
    "corpus-dir",
    example=".skillgate/corpus",
    help="The directory of the corpus that skills are ranked against. Unset: the system's data directory.",
    option=Option(MATCHES, "DIR"),
    action=Input(
        origin=BASE,
        help="The corpus that depth certify ranks skills against. In a pull request it is read from"
        " the tip of the base branch. Default: as configured.",
    ),
)
OPPONENTS: Setting[int] = _integer(
    "opponents",
    default=16,
    minimum=1,
    maximum=100,
    help="How many skills of the corpus to compare each skill with, in both orders.",
    option=Option(MATCHES, "N"),
)

# Benchmarks.


def _scorers() -> tuple[str, ...]:
    """List the scorers and their aliases, except those that a task must name."""
    names = (name for name in SCORERS.listed(separator="_") if not SCORERS.flag(name, "BY_NAME"))
    return tuple(word for name in names for word in (name, *SCORERS.texts(name, "ALIASES")))


def _report_formats() -> tuple[str, ...]:
    """List the file formats of benchmark reports."""
    files = (form for form in OUTPUT_FORMATS.listed() if not OUTPUT_FORMATS.flag(form, "TERMINAL"))
    return tuple(
        form
        for form in files
        if OUTPUT_FORMATS.flag(form, "VIEWS") or OUTPUT_FORMATS.table(form, "WRITERS").keys() & {"*", "bench"}
    )


BENCHMARK: Setting[str] = _text(
    "benchmark",
    default="coding-easy",
    help="The benchmark to run: an id or the path of a file.",
    option=Option(TASKS_RUN, "ID|PATH", everyday=True),
    action=Input(
        origin=BASE,
        configures=False,
        help="The benchmark to run in addition to the scores: the id of a packaged one, or the path of"
        " a file. In a pull request it is read from the tip of the base branch. Default: none.",
    ),
)
TASKS: Setting[str | None] = _input_text(
    "tasks", help="A file of tasks to use instead of a benchmark.", action=Input(origin=BASE)
)
SKILLS: Setting[tuple[str, ...] | None] = _input_texts(
    "skills",
    help="The skills that the benchmark runs: skill.json files or directories. One per line. Default: paths.",
    action=Input(origin=CHANGE),
)
RUNS: Setting[int] = _integer(
    "runs",
    default=1,
    minimum=1,
    maximum=1000,
    help="How often to run each task.",
    option=Option(RUNNING, "N", everyday=True),
    action=Input(configures=False),
)
CONCURRENCY: Setting[int] = _integer(
    "concurrency",
    default=4,
    minimum=1,
    maximum=256,
    help="How many tasks to run at once.",
    other_name="concurrency",
    option=Option(RUNNING, "N"),
)
TIMEOUT_MS: Setting[int] = _integer(
    "timeout-ms",
    default=30_000,
    minimum=100,
    maximum=86_400_000,
    help="Time limit of one try of a task, in milliseconds, including start-up. A task's own limit takes precedence.",
    other_name="timeoutMs",
    option=Option(RUNNING, "MS", name="timeout", commands=(EVAL, RUN, TASK)),
)
RETRIES: Setting[int] = _integer(
    "retries",
    default=0,
    minimum=0,
    maximum=100,
    help="How often to retry a task after an infrastructure failure; never after a wrong answer.",
    option=Option(RUNNING, "N"),
)
RETRY_DELAY_S: Setting[float] = _number(
    "retry-delay-s",
    default=1.0,
    minimum=0,
    maximum=3600,
    help="Seconds before the first retry; the k-th waits k times as long, at most 30.",
    option=Option(RUNNING, "S"),
)
EVALUATOR: Setting[str] = _choice(
    "evaluator",
    default="exact",
    choices=Lazy(_scorers),
    help="The scorer for tasks that do not name one.",
    option=Option(RUNNING, "SCORER"),
)
FORMATS: Setting[tuple[str, ...]] = _choices(
    "formats",
    default=("json", "markdown"),
    choices=Lazy(_report_formats),
    help="The formats that eval writes.",
    other_name="defaultFormats",
)
OUTPUT_DIR: Setting[str] = _text(
    "output-dir",
    default="reports",
    help="The directory that eval writes its reports to.",
    other_name="outputDir",
    option=Option(REPORTS, "DIR", everyday=True),
)
BENCHMARKS_DIR: Setting[str] = _text(
    "benchmarks-dir",
    default="benchmarks",
    help="A directory of benchmarks, in addition to the packaged ones.",
    option=Option(TASKS_RUN, "DIR"),
)
ALLOW_EXEC: Setting[bool] = _flag(
    "allow-exec",
    default=True,
    personal=True,
    help="Whether programs of skills may run.",
    action=Input(
        "false",
        configures=False,
        help="Whether the benchmark may start the programs of skills and send requests to their"
        " servers. In a pull request, this is the author's code: give such a job no secrets.",
    ),
)
MEMORY_MB: Setting[int] = _integer(
    "memory-mb",
    default=1024,
    minimum=16,
    maximum=1_048_576,
    help="Memory limit of one call of a skill's program, in megabytes. A lower memoryMb of the skill takes precedence.",
    option=Option(RUNNING, "MB", name="memory"),
)
SANDBOX: Setting[str] = _choice(
    "sandbox",
    default="none",
    choices=("none", "bwrap", "auto"),
    personal=True,
    help="The sandbox for programs of skills: none, bubblewrap, or bubblewrap if it is available (auto).",
    option=Option(RUNNING, "none|bwrap|auto"),
)
ALLOW_ENV: Setting[tuple[str, ...]] = _texts(
    "allow-env",
    default=(),
    personal=True,
    help="Environment variables that a skill's configuration may name, in addition to SKILL_*.",
    action=Input(
        configures=False,
        help="Environment variables that a skill's configuration may name, in addition to SKILL_*. One per line.",
    ),
)
ALLOW_HOST: Setting[tuple[str, ...]] = _texts(
    "allow-host",
    default=(),
    personal=True,
    help="Hosts (or HOST:PORT) that servers of skills may use, in addition to public ones and this machine.",
)
MIN_COMPLETION: Setting[float | None] = _ratio(
    "min-completion",
    example=0.8,
    help="Minimum completion rate of each skill; 0.7 if --exit-on-fail is used without it.",
    option=Option(BOUNDS, "SHARE", everyday=True),
    action=Input(
        configures=False,
        help="Minimum share of a benchmark's tasks that each skill must complete, 0 to 1. Default: the"
        " configuration's.",
    ),
)
MIN_PARTIAL: Setting[float | None] = _ratio(
    "min-partial", example=0.8, help="Minimum partial score of each skill.", option=Option(BOUNDS, "SHARE")
)
MIN_COMPOSITE: Setting[float | None] = _ratio(
    "min-composite", example=0.8, help="Minimum benchmark composite of each skill.", option=Option(BOUNDS, "SHARE")
)
MAX_ERROR_RATE: Setting[float | None] = _ratio(
    "max-error-rate",
    example=0.1,
    help="Maximum share of tasks that end in an error or a timeout.",
    option=Option(BOUNDS, "SHARE"),
)
MAX_P95_MS: Setting[float | None] = _number(
    "max-p95-ms",
    minimum=0,
    example=5000,
    help="Maximum 95th percentile of latencies, in milliseconds.",
    option=Option(BOUNDS, "MS"),
)

# The store of results.
STORE: Setting[str | None] = _text(
    "store",
    example=".skillgate/store.db",
    help="The SQLite file that eval saves its results in.",
    action=Input(
        origin=UNTRACKED,
        configures=False,
        help="Where to save results: a SQLite file in the workspace (save and restore it with actions/cache), or a"
        " PostgreSQL address without a password (set PGPASSWORD under env). Default: results are not saved.",
    ),
)
STORE_URL: Setting[str | None] = _text(
    "store-url",
    example="postgresql://results@db.example.org/skillgate",
    personal=True,
    help="A PostgreSQL database to use instead. Put its password in ~/.pgpass or PGPASSWORD.",
)

# Recorded invocations.
INVOCATIONS: Setting[tuple[str, ...] | None] = _input_texts(
    "invocations",
    help="Recorded invocations for the input gate: files, or directories with .jsonl files, in a format that"
    " skillgate log import reads. Or the word store: the contents of the store that the input store names. In a pull"
    " request, tracked files are read from the tip of the base branch. One per line.",
    action=Input(origin=BASE),
)
INVOCATION_GATE: Setting[tuple[str, ...] | None] = _input_texts(
    "gate",
    help="The gates that the recorded invocations of each gated skill must pass: publish, feature,"
    " deprecation, or one from the configuration.",
    action=Input(form=WORDS),
)


def _gate(name: str, table: Table) -> None:
    from skillgate.model.invocation_gate import built  # few configurations have such gates

    built(name, table)


_GATE_FIELDS = (
    _number("min_score", minimum=0, maximum=100, help="Minimum average score."),
    _number("max_score", minimum=0, maximum=100, help="Maximum average score, for a trigger."),
    _integer("min_invocations", minimum=1, maximum=1_000_000_000, help="Minimum number of rated invocations."),
    _ratio("max_error_rate", help="Maximum share of invocations with an error."),
    _ratio("max_unrecovered_rate", help="Maximum share of failed invocations."),
    _integer(
        "max_age_without_improvement",
        minimum=0,
        maximum=36_500,
        help="Days since the skill last improved: a trigger fires at this many, a requirement allows no more.",
    ),
    _ratio("min_coverage", help="Minimum average share of the score that was observed."),
    _choice(
        "kind",
        choices=(REQUIREMENT, TRIGGER),
        help="requirement: fails unless all limits hold; trigger: fires when all do.",
    ),
    _text("description", maximum=200, help="What it is for."),
)
RUBRIC: Setting[str] = _choice(
    "rubric",
    default="1.1",
    choices=("1.0", "1.1"),
    help="The rubric for recorded invocations; 1.0 is exactly the published one.",
)
LOG_DAYS: Setting[int] = _integer(
    "log-days", default=30, minimum=1, maximum=36_500, help="How many days of recorded invocations the figures cover."
)
SYNC: Setting[tuple[str, ...] | None] = _texts(
    "sync",
    personal=True,
    example=("~/.claude/projects",),
    help="The directories of recorded invocations that skillgate log sync reads. Unset: Claude Code's sessions.",
)
GATES: Setting[Mapping[str, Table] | None] = Setting(
    "gates",
    Kind.TABLES,
    fields=_GATE_FIELDS,
    maximum=50,
    check=_gate,
    example={"publish": {"min_score": 75, "max_unrecovered_rate": 0.05}},
    help="More gates for recorded invocations, or other limits for publish, feature and deprecation.",
)

# What a run of the Action publishes.
COMMENT: Setting[str] = _input_choice(
    "comment",
    choices=("always", "changes", "failures", "never"),
    help="When to comment on the pull request: always, if a skill changed, on failure, or never.",
    action=Input("always"),
)
COMMENT_KEY: Setting[str] = _input_text(
    "comment-key",
    help="Distinguishes the comments of several jobs on one pull request.",
    action=Input("default", form=KEY),
)
PR_NUMBER: Setting[int | None] = _integer(
    "pr-number",
    minimum=1,
    help="The pull request to comment on. Default: the event's.",
    action=Input(),
    configured=False,
)
REGRESSION_ISSUE: Setting[bool] = _flag(
    "regression-issue",
    help="Keep an issue open for each skill that got worse, and close it when the skill has recovered. Needs the"
    " permission issues: write; has no effect in pull requests and merge groups. comment-key distinguishes issues.",
    action=Input("false"),
    configured=False,
)
ANNOTATIONS: Setting[str] = _input_choice(
    "annotations",
    choices=("all", "errors", "none"),
    help="Which findings to annotate, at most ten per level.",
    action=Input("all"),
)
REPORT_DIR: Setting[str] = _input_text(
    "report-dir",
    help="The directory for report.json, report.html and the other documents, in the workspace.",
    action=Input("skillgate-report", origin=OUTPUT),
)
SARIF: Setting[str | None] = _input_text(
    "sarif",
    help="The SARIF file to write, in the workspace. Empty: none.",
    action=Input(origin=OUTPUT),
)
CERTIFICATE: Setting[str | None] = _input_text(
    "certificate",
    help="The certificate to write as JSON, in the workspace. Empty: none.",
    action=Input(origin=OUTPUT),
)
BADGES: Setting[str | None] = _input_text(
    "badges",
    help="The directory for a badge of each skill, in the workspace. Empty: none.",
    action=Input(origin=OUTPUT),
)
GITHUB_TOKEN: Setting[str | None] = _input_text(
    "github-token", help="The token to comment with.", action=Input("${{ github.token }}")
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
    """Return the settings of a group of options."""
    return tuple(setting for setting in SETTINGS if setting.option is not None and setting.option.group is group)
