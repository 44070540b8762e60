"""Show a document in a format: which kinds of documents and which formats there are, and who writes what in them.

All of it is declared by the files of ``skillgate.report.formats``; only what writes the format in question is loaded.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.named_tuple import NamedTuple
from skillgate.registry import OUTPUT_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.format import Style
    from skillgate.model.finding import Page

_EVERY = "*"


class Kind(NamedTuple):
    """One kind of document.

    Attributes:
        what: what it is, for messages.
        model: the type that it is decoded into, as ``MODULE:NAME`` in ``skillgate.model``.
        view: what builds its view, as ``MODULE:FUNCTION`` in ``skillgate.report``; ``""`` if only JSON shows it.
    """

    what: str
    model: str
    view: str = ""


KINDS: Mapping[str, Kind] = {
    "score": Kind("a score report", "report:Report", "score:view"),
    "check": Kind("a check report", "check_report:CheckReport", "score:view"),
    "compare": Kind("a comparison", "documents:Comparison", "changes:compare_view"),
    "diff": Kind("a diff of score reports", "documents:Diff", "changes:view"),
    "bench": Kind("a report of benchmarks", "bench:BenchReport", "bench:view"),
    "bench-diff": Kind("a diff of benchmarks", "bench:BenchDiff", "bench_diff:view"),
    "invocations": Kind(
        "a report on recorded invocations", "invocation:InvocationReport", "invocations.dashboard:view"
    ),
    "log-skill": Kind("a page of one skill", "skill_page:SkillPage", "invocations.skill_page:view"),
    "history": Kind("a history", "documents:History", "history:view"),
    "find": Kind("a list of found skills", "benchmark:FoundSkills", "choosing:view"),
    "evals": Kind("a report on eval sets", "evals:EvalsReport", "evals:view"),
    "corpus-list": Kind("a list of a corpus", "corpus:CorpusList", "corpus:list_view"),
    "corpus-show": Kind("a corpus's skill", "corpus:CorpusShow", "corpus:show_view"),
    "corpus-verify": Kind("a check of a corpus", "corpus:CorpusVerify", "corpus:verify_view"),
    "certificate-check": Kind("a check of a certificate", "documents:CertificateCheck", "certificate:view"),
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


@cache
def _writers() -> dict[str, dict[str, str]]:
    """Return what writes each kind in each format: a format of views writes every kind that has one."""
    views = {name: kind.view for name, kind in KINDS.items() if kind.view}
    return {
        form: (views if OUTPUT_FORMATS.flag(form, "VIEWS") else {}) | OUTPUT_FORMATS.table(form, "WRITERS")
        for form in OUTPUT_FORMATS.listed()
    }


@cache
def suffixes() -> dict[str, str]:
    """Return every suffix of a format's files, with the format."""
    return {suffix: form for form in _writers() for suffix in OUTPUT_FORMATS.texts(form, "SUFFIXES")}


def formats_of(*kinds: str) -> tuple[str, ...]:
    """Return the formats that one of these kinds of document can be shown in; all formats where none is named."""
    return tuple(form for form, writers in _writers().items() if not kinds or writers.keys() & {_EVERY, *kinds})


def format_of(path: str) -> str:
    """Return the format that a file's suffix stands for, the longest that fits; ``""`` for none."""
    fitting = [suffix for suffix in suffixes() if path.lower().endswith(suffix)]
    return suffixes()[max(fitting, key=len)] if fitting else ""


def ending(form: str) -> str:
    """Return how the name of a file ends that is in a format, after a dot."""
    return OUTPUT_FORMATS.text(form, "ENDING") or OUTPUT_FORMATS.text(form, "SUFFIXES").removeprefix(".")


def writer(kind: str, form: str) -> Callable[..., str]:
    """Load what writes a kind of document in a format.

    Raises:
        UsageError: it cannot be shown so, or what that needs is not installed.
    """
    known = formats_of(kind)
    if form not in known:
        raise UsageError(f"{KINDS[kind].what} cannot be written as {form}; it can be as {', '.join(known)}")
    writers = _writers()[form]
    module, _, function = writers.get(kind, writers.get(_EVERY, "")).rpartition(":")

    def load() -> Callable[..., Any]:
        loaded = importlib.import_module(f"skillgate.report.{module}") if module else OUTPUT_FORMATS.load(form)
        found: Callable[..., Any] = getattr(loaded, function)
        return found

    if function.endswith("view"):  # the subject is loaded when there is something to show
        write = OUTPUT_FORMATS.load(form).write
        return lambda document, *args, **options: write(load()(document), *args, **options)
    return load()


def render(
    document: Any,  # noqa: ANN401 - any of the kinds
    kind: str,
    form: str,
    style: Style,
    *,
    verbose: bool = False,
    seconds: float | None = None,
    pages: Callable[[], Sequence[Page]] = tuple,
) -> str:
    """Show a document.

    Args:
        document: the document; a report over one skill or of a check has the shape of one over several, but for JSON.
        kind: its kind.
        form: the format.
        style: of a terminal's text.
        verbose: whether a terminal's text says more.
        seconds: how long it took, for a terminal's text.
        pages: gives the pages of the rules, for formats that describe them.

    Raises:
        UsageError: it cannot be shown in this format.
    """
    write = writer(kind, form)
    if OUTPUT_FORMATS.flag(form, "TERMINAL"):
        return write(document, style, verbose=verbose, **({} if seconds is None else {"seconds": seconds}))
    return write(document, pages()) if OUTPUT_FORMATS.flag(form, "RULE_PAGES") else write(document)
