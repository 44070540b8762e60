"""The outputs of the Action, in the order of action.yml."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """One output: always written, also when the step fails; empty where there is no value."""

    name: str
    help: str


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
    Output("completion", "The lowest completion rate among the skills of the benchmark, 0 to 1; empty without one."),
    Output("completions", "Every completion rate as JSON, by the skill's id; null where there is none."),
    Output("broken-tasks", "How many tasks passed in the base and no longer do; empty without a base."),
    Output("benchmark-json", "The path of benchmark.json in the workspace; empty without a benchmark."),
    Output("gates", "What came of each gate on recorded invocations as JSON, by path and gate; empty without one."),
    Output("invocations-json", "The path of invocations.json in the workspace; empty without such a gate."),
    Output("comment-status", "created, updated, unchanged, skipped, forbidden or failed."),
    Output("comment-url", "The comment's address; empty without one."),
    Output("issue-status", "created, updated, unchanged, closed, skipped, forbidden or failed."),
    Output("issue-url", "The address of the regression's issue; empty without one."),
    Output("certificate-file", "The path of the certificate; empty for none."),
    Output("badges-dir", "The directory of the badges; empty for none."),
)
