"""Every kind of document that is written as JSON, and the formats that it can be shown in. Nothing else lists them.

A kind is read by its ``model`` and shown by its ``writers``; both name what is loaded only when it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

FORMATS = ("text", "json", "markdown", "html", "csv", "junit", "sarif", "github", "gitlab")


class Kind(NamedTuple):
    """One kind of document.

    Attributes:
        what: what it is, for messages.
        model: the type that it is decoded into, as ``MODULE:NAME`` in ``skillgate.model``.
        writers: by format, the function that writes it, as ``MODULE:NAME`` in ``skillgate.report``. One for ``text``
            takes the document, a style and ``verbose``; one for ``sarif`` the document and the pages of the rules; any
            other the document alone. Every kind is written as JSON besides.
    """

    what: str
    model: str
    writers: Mapping[str, str] = {}

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that it can be shown in."""
        return tuple(form for form in FORMATS if form == "json" or form in self.writers)


def _alike(name: str, *, own: Mapping[str, str]) -> dict[str, str]:
    """Return the writers of what is shown with its findings for other programs, and its ``own`` ones for people."""
    return {**own, **{form: f"{form}:{name}" for form in ("junit", "sarif", "github", "gitlab")}}


_PAGES = {"markdown": "markdown:render_score", "html": "html:render_score"}

KINDS: Mapping[str, Kind] = {
    "score": Kind("a score report", "report:Report", _alike("render", own={"text": "text:render_score", **_PAGES})),
    "check": Kind(
        "a check report", "documents:CheckReport", _alike("render", own={"text": "text:render_check", **_PAGES})
    ),
    "compare": Kind(
        "a comparison",
        "documents:Comparison",
        {"text": "text:render_compare", "markdown": "markdown:render_compare", "html": "html:render_compare"},
    ),
    "diff": Kind(
        "a diff of score reports",
        "diff:Diff",
        {"text": "text:render_diff", "markdown": "markdown:render_diff", "html": "html:render_diff"},
    ),
    "bench": Kind(
        "a report of benchmarks",
        "bench:BenchReport",
        {form: f"bench_{form}:render" for form in ("text", "markdown", "html", "csv", "junit")},
    ),
    "bench-diff": Kind(
        "a diff of benchmarks",
        "bench_diff:BenchDiff",
        {form: f"bench_diff_{form}:render" for form in ("text", "markdown", "html")},
    ),
    "invocations": Kind(
        "a report on recorded invocations",
        "invocation_report:InvocationReport",
        {form: f"invocations_{form}:render" for form in ("text", "html")},
    ),
    "history": Kind("a history", "history:History", {"text": "history_text:render"}),
    "find": Kind("a list of found skills", "choosing:FoundSkills", {"text": "choosing_text:found_text"}),
    "evals": Kind("a report on eval sets", "evals:EvalsReport", {"text": "evals:render"}),
    "corpus-list": Kind("a list of a corpus", "corpus:CorpusList", {"text": "corpus:render_list"}),
    "corpus-show": Kind("a corpus's skill", "corpus:CorpusShow", {"text": "corpus:render_show"}),
    "corpus-verify": Kind("a check of a corpus", "corpus:CorpusVerify", {"text": "corpus:render_verify"}),
    "certificate-check": Kind(
        "a check of a certificate", "certificate:CertificateCheck", {"text": "certificate:render_check"}
    ),
    "certificate": Kind("a certificate", "certificate:Certificate"),
    "action": Kind("the record of a run of the Action", "run:ActionRun"),
    "known-findings": Kind("a file of known findings", "documents:KnownFindings"),
    "calibration": Kind("a calibration", "calibration:Calibration"),
    "corpus": Kind("an exported corpus", "corpus:CorpusExport"),
    "corpus-index": Kind("the index of a corpus", "corpus:CorpusIndex"),
}


def formats_of(kind: str) -> tuple[str, ...]:
    """Return the formats that a kind of document can be shown in."""
    return KINDS[kind].formats


def model_of(kind: str) -> Any:  # noqa: ANN401 - a type of the model
    """Load the type that a kind of document is decoded into."""
    module, _, name = KINDS[kind].model.partition(":")
    return getattr(importlib.import_module(f"skillgate.model.{module}"), name)
