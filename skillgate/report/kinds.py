"""Every kind of document that is written as JSON; the formats say which of them they show."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """One kind of document.

    Attributes:
        what: what it is, for messages.
        model: the type that it is decoded into, as ``MODULE:NAME`` in ``skillgate.model``.
    """

    what: str
    model: str


KINDS: Mapping[str, Kind] = {
    "score": Kind("a score report", "report:Report"),
    "check": Kind("a check report", "documents:CheckReport"),
    "compare": Kind("a comparison", "documents:Comparison"),
    "diff": Kind("a diff of score reports", "documents:Diff"),
    "bench": Kind("a report of benchmarks", "bench:BenchReport"),
    "bench-diff": Kind("a diff of benchmarks", "bench:BenchDiff"),
    "invocations": Kind("a report on recorded invocations", "invocation:InvocationReport"),
    "history": Kind("a history", "documents:History"),
    "find": Kind("a list of found skills", "benchmark:FoundSkills"),
    "evals": Kind("a report on eval sets", "evals:EvalsReport"),
    "corpus-list": Kind("a list of a corpus", "corpus:CorpusList"),
    "corpus-show": Kind("a corpus's skill", "corpus:CorpusShow"),
    "corpus-verify": Kind("a check of a corpus", "corpus:CorpusVerify"),
    "certificate-check": Kind("a check of a certificate", "documents:CertificateCheck"),
    "certificate": Kind("a certificate", "documents:Certificate"),
    "action": Kind("the record of a run of the Action", "documents:ActionRun"),
    "known-findings": Kind("a file of known findings", "documents:KnownFindings"),
    "calibration": Kind("a calibration", "documents:Calibration"),
    "corpus": Kind("an exported corpus", "corpus:CorpusExport"),
    "corpus-index": Kind("the index of a corpus", "corpus:CorpusIndex"),
}


def model_of(kind: str) -> Any:  # noqa: ANN401 - a type of the model
    """Load the type that a kind of document is decoded into."""
    module, _, name = KINDS[kind].model.partition(":")
    return getattr(importlib.import_module(f"skillgate.model.{module}"), name)
