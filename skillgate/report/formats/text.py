"""Text for a terminal: its writers also take the style and ``verbose``."""

POSITION = 1
SUFFIXES = (".txt",)
TERMINAL = True
WRITERS = {
    "score": "text:render_score",
    "check": "text:render_check",
    "compare": "text:render_compare",
    "diff": "text:render_diff",
    "bench": "bench_text:render",
    "bench-diff": "bench_diff_text:render",
    "invocations": "invocations_text:render",
    "history": "history_text:render",
    "find": "choosing_text:found_text",
    "evals": "evals:render",
    "corpus-list": "corpus:render_list",
    "corpus-show": "corpus:render_show",
    "corpus-verify": "corpus:render_verify",
    "certificate-check": "certificate:render_check",
}
