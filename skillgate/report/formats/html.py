"""One HTML page that needs no network."""

POSITION = 4
SUFFIXES = (".html",)
WRITERS = {
    "score": "html:render_score",
    "check": "html:render_score",
    "compare": "html:render_compare",
    "diff": "html:render_diff",
    "bench": "bench_html:render",
    "bench-diff": "bench_diff_html:render",
    "invocations": "invocations_html:render",
}
