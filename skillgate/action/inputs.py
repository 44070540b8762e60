"""The Action's inputs and outputs: declared once, for action.yml, the README and the program."""

from __future__ import annotations

from skillgate.action.bench_inputs import BENCH_INPUTS, BENCH_OUTPUTS
from skillgate.action.declared import Form as Form
from skillgate.action.declared import Input as Input
from skillgate.action.declared import Origin as Origin
from skillgate.action.declared import Output as Output
from skillgate.action.declared import Value as Value
from skillgate.action.invocation_inputs import INVOCATION_INPUTS, INVOCATION_OUTPUTS

INPUTS = (
    Input(
        "mode",
        "gate the skills, or comment on what an earlier run has found. auto: comment in workflow_run, else gate.",
        Form.CHOICE,
        "auto",
        ("auto", "gate", "comment"),
    ),
    Input(
        "paths",
        "Skills, or directories that hold some, relative to working-directory; one per line, !PATH excludes.",
        Form.LINES,
        ".",
        origin=Origin.CHANGE,
    ),
    Input(
        "working-directory",
        "The directory that paths and configuration are relative to.",
        Form.TEXT,
        ".",
        origin=Origin.CHANGE,
    ),
    Input(
        "config",
        "The configuration file. Default: the nearest there is; for a pull request, as the tip of its base branch"
        " has it.",
        origin=Origin.BASE,
    ),
    Input(
        "depth",
        "How deep to evaluate; one that cannot run is refused. Default: the configuration's, else quick.",
        Form.CHOICE,
        "",
        ("quick", "standard", "deep", "certify"),
    ),
    Input(
        "profile",
        "The client whose refusals are errors.",
        Form.CHOICE,
        "",
        ("any", "spec", "claude-code", "claude-upload", "codex"),
    ),
    Input(
        "baseline",
        "What to compare with: auto (where a pull request began), none, report:PATH, or a git revision; of a change, a"
        " report that git tracks is read as the tip of its base branch has it.",
        Form.TEXT,
        "auto",
        origin=Origin.BASE_ALONE,
    ),
    Input(
        "fail-on",
        "What makes the step fail. Default: the configuration's, else error, unmeasured, regression where there is a"
        " base, benchmark where one is run, and each bound that is set.",
        Form.WORDS,
        "",
        (
            *("error", "warning", "threshold", "badge", "dimension", "regression", "benchmark", "budget"),
            *("unmeasured", "never"),
        ),
    ),
    Input("threshold", "The least score of a skill, 0 to 100.", Form.NUMBER, minimum=0, maximum=100),
    Input("min-badge", "The least badge of a skill.", Form.CHOICE, "", ("bronze", "silver", "gold", "platinum")),
    Input("min-dimension", "The least score of a dimension, 0 to 1, as NAME=0.7; one per line.", Form.SCORES),
    Input(
        "max-drop",
        "By how many points a score may fall below its base's; a lost badge is a regression however small the fall."
        " Default: the configuration's, else 2.",
        Form.NUMBER,
        minimum=0,
    ),
    Input(
        "on-unmeasured",
        "What a skill without a score does: fail the step (with 1 where fail-on lists unmeasured, else 3), or pass.",
        Form.CHOICE,
        "fail",
        ("fail", "pass"),
    ),
    Input(
        "changed-only",
        "Whether only skills that the change touches are gated. auto: in pull_request and merge_group.",
        Form.CHOICE,
        "auto",
        ("auto", "true", "false"),
    ),
    Input(
        "on-inconclusive",
        "What a bound does that lies inside a judged score's interval: the point estimate decides, or this.",
        Form.CHOICE,
        "",
        ("point", "pass", "warn", "fail"),
    ),
    Input(
        "provider",
        "Who judges from standard depth on; openai-compatible runs standard alone. Keys come as environment variables,"
        " never as inputs.",
        Form.CHOICE,
        "anthropic",
        ("anthropic", "batch", "openai-compatible", "scripted"),
    ),
    Input("base-url", "Where requests to the provider are sent. Default: the provider's own address."),
    Input("key-variable", "The environment variable with the key of an openai-compatible server."),
    Input("judge-model", "The models that judge, in turn; one per line. Default: the configuration's.", Form.LINES),
    Input(
        "judges",
        "How many opinions to ask for. Default: the configuration's, else one of each model.",
        Form.NUMBER,
        "",
        (),
        1,
        9,
    ),
    Input("max-cost-usd", "The most that model calls of one run may cost, in US dollars.", Form.NUMBER, "5", (), 0),
    Input(
        "cache-dir",
        "Where a model's answers are kept, in the workspace and not in the repository: restore and save it with"
        " actions/cache. Only what is signed with SKILLGATE_CACHE_KEY or the API key is used. Default: nowhere beyond"
        " this job.",
        origin=Origin.UNTRACKED,
    ),
    Input(
        "model", "The model under test, which may load the skill, at depth deep and certify. Default: as configured."
    ),
    Input(
        "simulations",
        "How many sessions to simulate of each skill at depth deep and certify. Default: the configuration's, else 50.",
        Form.NUMBER,
        "",
        (),
        5,
        500,
    ),
    Input(
        "near-misses",
        "How many to simulate with prompts that should not load the skill. Default: the configuration's, else a fifth.",
        Form.NUMBER,
        "",
        (),
        0,
        100,
    ),
    Input(
        "seed",
        "The seed of the order in which skills are listed, and in which matches count. Default: as configured, else 0.",
        Form.NUMBER,
        "",
        (),
        0,
        1_000_000_000,
    ),
    Input(
        "min-activation",
        "The least share of sessions with a prompt for the skill in which the model must load it; part of threshold.",
        Form.NUMBER,
        "",
        (),
        0,
        1,
    ),
    Input(
        "max-failure-rate",
        "The largest share of simulated sessions that may fail; part of threshold.",
        Form.NUMBER,
        "",
        (),
        0,
        1,
    ),
    Input(
        "corpus-dir",
        "The corpus that depth certify ranks skills against; of a change, as the tip of its base branch has it."
        " Default: as configured.",
        origin=Origin.BASE,
    ),
    Input(
        "opponents",
        "How many skills of the corpus to compare with. Default: the configuration's, else 16.",
        Form.NUMBER,
        "",
        (),
        1,
        100,
    ),
    Input(
        "shard",
        "Ask about the I-th of N parts of the skills, as in 1/4; a later job gives the reports of all to the input"
        " reports.",
        Form.SHARD,
    ),
    Input(
        "reports",
        "Reports that earlier jobs of this run wrote, those of all shards or one over all skills: they are joined, told"
        " and gated, and nothing is evaluated. One per line; not in a pull request.",
        Form.LINES,
        origin=Origin.NEVER,
    ),
    Input(
        "certificate",
        "Where to write a certificate as JSON, in the workspace; empty for none.",
        origin=Origin.OUTPUT,
    ),
    Input(
        "badges",
        "The directory of a badge for each skill, in the workspace; empty for none.",
        origin=Origin.OUTPUT,
    ),
    *BENCH_INPUTS,
    *INVOCATION_INPUTS,
    Input(
        "merge-sarif",
        "SARIF files of other tools whose findings count too; of a change, what git tracks is read as the tip of its"
        " base branch has it. One per line.",
        Form.LINES,
        origin=Origin.BASE_ALONE,
    ),
    Input(
        "comment",
        "When to comment on the pull request: always, when a skill has changed, when it fails, or never.",
        Form.CHOICE,
        "always",
        ("always", "changes", "failures", "never"),
    ),
    Input("comment-key", "Tells the comments of several jobs on one pull request apart.", Form.KEY, "default"),
    Input("pr-number", "The pull request to comment on. Default: the event's.", Form.NUMBER, minimum=1),
    Input(
        "regression-issue",
        "Whether a regression opens an issue, or brings it up to date, and the end of all of them closes it. It needs"
        " the permission issues: write, and does nothing in pull requests and merge groups; comment-key tells issues"
        " apart.",
        Form.FLAG,
        "false",
    ),
    Input("summary", "Whether to write the job summary.", Form.FLAG, "true"),
    Input(
        "annotations",
        "Which findings to annotate, at most ten of a level.",
        Form.CHOICE,
        "all",
        ("all", "errors", "none"),
    ),
    Input(
        "report-dir",
        "The directory of report.json, report.html and their companions, in the workspace.",
        Form.TEXT,
        "skillgate-report",
        origin=Origin.OUTPUT,
    ),
    Input(
        "sarif",
        "Where to write SARIF, in the workspace; empty for none.",
        origin=Origin.OUTPUT,
    ),
    Input("github-token", "The token to comment with.", Form.TEXT, "${{ github.token }}"),
    Input("github-api-url", "The API's address.", Form.TEXT, "${{ github.api_url }}"),
)

OUTPUTS = (
    Output("result", "pass, fail or error."),
    Output("reasons", "Why it is not pass; one per line."),
    Output("skills", "How many skills were asked about."),
    Output("errors", "How many errors they have."),
    Output("warnings", "How many warnings they have."),
    Output("score", "The lowest score among them."),
    Output("scores", "Every score as JSON, by path; null where there is none."),
    Output("coverage", "The share of the weight that was measured, 0 to 1."),
    Output("model-calls", "How many requests a model answered."),
    Output("cached-answers", "How many answers were kept from an earlier run."),
    Output("cost-usd", "What the calls cost; empty where a price is unknown."),
    Output("new-findings", "How many findings came; empty without a base."),
    Output("fixed-findings", "How many findings went; empty without a base."),
    Output("baseline-rev", "The commit that was compared with; empty without one."),
    Output("report-json", "The path of report.json in the workspace."),
    Output("report-html", "The path of report.html in the workspace."),
    Output("report-md", "The path of report.md in the workspace."),
    Output("sarif-file", "The path of the SARIF file; empty for none."),
    *BENCH_OUTPUTS,
    *INVOCATION_OUTPUTS,
    Output("comment-status", "created, updated, unchanged, skipped, forbidden or failed."),
    Output("comment-url", "The comment's address; empty without one."),
    Output("issue-status", "created, updated, unchanged, closed, skipped, forbidden or failed."),
    Output("issue-url", "The address of the regression's issue; empty without one."),
    Output("certificate-file", "The path of the certificate; empty for none."),
    Output("badges-dir", "The directory of the badges; empty for none."),
)


def variable(name: str) -> str:
    """Give the environment variable of an input: the runner keeps hyphens and makes letters upper-case."""
    return "INPUT_" + name.replace(" ", "_").upper()
