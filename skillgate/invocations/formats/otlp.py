"""Traces of OpenTelemetry as OTLP JSON: one document, or one on each line, as the collector's file exporter writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from skillgate.invocations.formats._document import BrokenError, Element, elements
from skillgate.invocations.formats._json import NotJsonError, parsed
from skillgate.invocations.formats._spans import SpanError, span_of
from skillgate.invocations.formats._traces import Traces
from skillgate.invocations.ports import LONGEST, Lines, Options
from skillgate.model.invocation import Read

POSITION = 3
EXPECTED = "OTLP JSON traces"
ONE_DOCUMENT = True
_SPANS = ("resourceSpans", None, "scopeSpans", None, "spans", None)
_COUNTS = "a span counts where gen_ai.tool.name is Skill, or where it carries skillgate.skill.name"
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"resource(?:Spans|Logs|Metrics|Profiles)"')


def is_it(head: bytes) -> bool:
    """Tell whether a file begins as one of OTLP does."""
    return _BEGINNING.match(head) is not None


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the invocations among the spans: calls of the Skill tool, and spans that carry ``skillgate.skill.name``.

    An invocation is given when its trace can be taken for complete, which is at the end of a file of ordinary size.
    """
    traces = Traces()
    spans = skills = 0
    filled = (line for line in lines if line[1].strip())
    for _, document in groupby(filled, _Documents()):
        try:
            for element in elements(document, (_SPANS,)):
                if element.path == _SPANS:
                    spans += 1
                    for read in _span(element, traces, options):
                        skills += read.invocation is not None or read.problem is not None
                        yield read
        except BrokenError as broken:
            traces.damaged = True
            skills += 1
            yield Read(broken.line, None, str(broken))
    for read in traces.rest():
        skills += 1
        yield read
    if not skills:
        seen = f"{spans:,} span{'s' * (spans != 1)}, none of which" if spans else "no span (logs are not read); nothing"
        yield Read(1, None, unused=f"it holds {seen} is a use of a skill: {_COUNTS}")


def _span(element: Element, traces: Traces, options: Options) -> Iterator[Read]:
    try:
        if element.text is None:
            why = f"it is longer than {LONGEST:,} bytes"
        else:
            yield from traces.add(span_of(parsed(element.text), options, element.line))
            return
    except (NotJsonError, SpanError) as problem:
        why = str(problem)
    traces.damaged = True
    yield Read(element.line, None, f"a span cannot be read: {why}")


class _Documents:
    """Numbers the documents of a file: one begins on each line that looks so, and all else belongs to the last.

    So a document that breaks off takes none of the next with it.
    """

    def __init__(self) -> None:
        self._count = 0
        self._line = 0

    def __call__(self, line: tuple[int, bytes]) -> int:
        number, raw = line
        if number != self._line and _BEGINNING.match(raw):
            self._count += 1
        self._line = number
        return self._count
