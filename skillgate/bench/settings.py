"""The settings of benchmark runs."""

from __future__ import annotations

from skillgate.model.setting import Kind, Setting

FORMATS = ("json", "markdown", "html", "csv", "junit")

SETTINGS = (
    Setting(
        key="benchmark", kind=Kind.TEXT, default="coding-easy", help="The benchmark to run: an id, or a file's path."
    ),
    Setting(key="runs", kind=Kind.INTEGER, default=1, minimum=1, maximum=1000, help="How often each task is run."),
    Setting(
        key="concurrency",
        kind=Kind.INTEGER,
        default=4,
        minimum=1,
        maximum=256,
        help="How many tasks are run at once.",
    ),
    Setting(
        key="timeout-ms",
        kind=Kind.INTEGER,
        default=30_000,
        minimum=100,
        maximum=86_400_000,
        help="How long one try of a task may take, start-up included; a task's own limit comes before it.",
    ),
    Setting(
        key="retries",
        kind=Kind.INTEGER,
        default=0,
        minimum=0,
        maximum=100,
        help="How often a task is tried again after a failure of infrastructure; never after a wrong answer.",
    ),
    Setting(
        key="retry-delay-s",
        kind=Kind.NUMBER,
        default=1.0,
        minimum=0,
        maximum=3600,
        help="Seconds before the first further try; the k-th waits k times as long, at most 30.",
    ),
    Setting(
        key="evaluator",
        kind=Kind.CHOICE,
        default="exact",
        choices=(
            *("exact", "exact_match", "contains", "regex", "json_schema", "schema", "numeric", "llm_judge", "custom"),
        ),
        help="The scorer of tasks that name none.",
    ),
    Setting(
        key="formats",
        kind=Kind.CHOICES,
        default=("json", "markdown"),
        choices=FORMATS,
        help="The formats that eval writes.",
    ),
    Setting(key="output-dir", kind=Kind.TEXT, default="reports", help="Where eval writes its reports."),
    Setting(
        key="benchmarks-dir",
        kind=Kind.TEXT,
        default="benchmarks",
        help="A directory of benchmarks beside the packaged ones.",
    ),
    Setting(
        key="allow-exec",
        kind=Kind.FLAG,
        default=True,
        personal=True,
        help="Whether programs of skills may be started.",
    ),
    Setting(
        key="memory-mb",
        kind=Kind.INTEGER,
        default=1024,
        minimum=16,
        maximum=1_048_576,
        help="Megabytes of memory that a call of a skill's program may use; its own memoryMb holds where it is lower.",
    ),
    Setting(
        key="sandbox",
        kind=Kind.CHOICE,
        default="none",
        choices=("none", "bwrap", "auto"),
        personal=True,
        help="What skills' programs run in: nothing, bubblewrap, or bubblewrap where it can be had.",
    ),
    Setting(
        key="allow-env",
        kind=Kind.TEXTS,
        default=(),
        personal=True,
        help="Environment variables that a skill's configuration may name, beside SKILL_*.",
    ),
    Setting(
        key="allow-host",
        kind=Kind.TEXTS,
        default=(),
        personal=True,
        help="Hosts, or HOST:PORT, that servers of skills may have beside public ones and this machine.",
    ),
    Setting(
        key="min-completion",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        example=0.8,
        help="The least completion rate a skill may have; 0.7 where --exit-on-fail names none.",
    ),
    Setting(
        key="min-partial",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        example=0.8,
        help="The least partial score a skill may have.",
    ),
    Setting(
        key="min-composite",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        example=0.8,
        help="The least benchmark composite a skill may have.",
    ),
    Setting(
        key="max-error-rate",
        kind=Kind.NUMBER,
        minimum=0,
        maximum=1,
        example=0.1,
        help="The largest share of tasks that may end in an error or a timeout.",
    ),
    Setting(
        key="max-p95-ms",
        kind=Kind.NUMBER,
        minimum=0,
        example=5000,
        help="The largest 95th percentile of latencies, in milliseconds.",
    ),
)
