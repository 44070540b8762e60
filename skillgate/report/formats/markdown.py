"""Markdown, for pull requests and job summaries."""

POSITION = 3
SUFFIXES = (".md",)
WRITERS = {
    "score": "markdown:render_score",
    "check": "markdown:render_score",
    "compare": "markdown:render_compare",
    "diff": "markdown:render_diff",
    "bench": "bench_markdown:render",
    "bench-diff": "bench_diff_markdown:render",
}
