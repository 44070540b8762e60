"""The Action's inputs and outputs about benchmarks."""

from __future__ import annotations

from skillgate.action.declared import Form, Input, Origin, Output

BENCH_INPUTS = (
    Input(
        "benchmark",
        "The benchmark to run, beside the scores: the id of a packaged one, or a file's path; of a change, as the tip"
        " of its base branch has it. Default: none.",
        origin=Origin.BASE,
    ),
    Input(
        "tasks",
        "A file of tasks in the place of a benchmark.",
        origin=Origin.BASE,
    ),
    Input(
        "skills",
        "The skills that the benchmark runs: skill.json files, or directories with some; one per line. Default: paths.",
        Form.LINES,
        origin=Origin.CHANGE,
    ),
    Input(
        "runs",
        "How often each task is run. Default: the configuration's, else 1.",
        Form.NUMBER,
        minimum=1,
        maximum=1000,
    ),
    Input(
        "min-completion",
        "The least share of a benchmark's tasks that a skill must complete, 0 to 1. Default: the configuration's.",
        Form.NUMBER,
        minimum=0,
        maximum=1,
    ),
    Input(
        "allow-exec",
        "Whether the benchmark may start the programs of skills and send requests to their servers: in a pull request,"
        " the code of whoever wrote it. Give such a job no secrets.",
        Form.FLAG,
        "false",
    ),
    Input("allow-env", "Variables that a skill's own settings may name, beside SKILL_*; one per line.", Form.LINES),
    Input(
        "store",
        "Where results are kept: a SQLite file in the workspace that actions/cache carries on, or a PostgreSQL address"
        " without password (PGPASSWORD under env). Default: nowhere.",
        origin=Origin.UNTRACKED,
    ),
)

BENCH_OUTPUTS = (
    Output("completion", "The lowest completion rate among the skills of the benchmark, 0 to 1; empty without one."),
    Output("completions", "Every completion rate as JSON, by the skill's id; null where there is none."),
    Output("broken-tasks", "How many tasks passed in the base and no longer do; empty without a base."),
    Output("benchmark-json", "The path of benchmark.json in the workspace; empty without a benchmark."),
)
