"""The comment on a pull request and the summary of a job: verdict first, worst first, within GitHub's limits.

Everything that a skill or a pull request says is inert in them, and every address is built here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.comment import confidence, findings, next_steps, sections, sticky, verdict
from skillgate.action.comment.benchmark import benchmark
from skillgate.action.comment.fit import Section, fit, utf8, utf16
from skillgate.action.comment.links import links_of
from skillgate.action.comment.rows import rows_of, table
from skillgate.action.comment.sessions import simulated
from skillgate.report.escape import inert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.comment.links import Links
    from skillgate.action.comment.subject import Subject
    from skillgate.report.standing import Row

COMMENT_UNITS = 65_000  # UTF-16 code units; GitHub refuses a comment of more than 65,536
SUMMARY_BYTES = 1_000_000  # of UTF-8; the runner drops the whole summary of a step over 1,048,576, and others may write
_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Lists(NamedTuple):
    """How many entries each list has at most before "n more" is said; what is folded comes after what is in sight.

    ``gates`` is in bytes: what gates on recorded invocations may take.
    """

    reasons: int
    rows: int
    folded_rows: int
    steps: int
    findings: int
    folded: int
    others: int
    gates: int = 20_000


_COMMENT = Lists(reasons=6, rows=12, folded_rows=20, steps=5, findings=10, folded=60, others=15)
_SUMMARY = Lists(reasons=100, rows=50, folded_rows=450, steps=20, findings=50, folded=3000, others=200, gates=200_000)


def marker(key: str) -> str:
    """Return the first line of a comment, by which the next run finds it again.

    Raises:
        ValueError: the key holds anything but letters, digits, ``.``, ``_`` and ``-``, or more than 64 of them.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"expected 1 to 64 letters, digits, ., _ and - as the comment's key, found {key[:80]!r}")
    return sticky.marker(key)


def comment(subject: Subject) -> str:
    """Write the comment: at most 65,000 UTF-16 code units, the marker in its first line."""
    first = marker(subject.key) + "\n"
    return first + fit(_sections(subject, _COMMENT), COMMENT_UNITS - len(first), utf16, _rest(subject))


def summary(subject: Subject) -> str:
    """Write the job summary: the comment without its marker, with longer lists, at most 1,000,000 bytes of UTF-8."""
    return fit(_sections(subject, _SUMMARY), SUMMARY_BYTES, utf8, _rest(subject))


def headline(subject: Subject) -> str:
    """Return the verdict and its first reason as one line of plain text, for the log."""
    return verdict.plain(subject, rows_of(subject))


def _rest(subject: Subject) -> str:
    return sections.rest(subject, links_of(subject))


def _sections(subject: Subject, lists: Lists) -> list[Section]:
    rows, links = rows_of(subject), links_of(subject)
    return [
        *_verdict(subject, rows, links, lists),
        *_body(subject, rows, links, lists),
        sections.footer(subject, links),
    ]


def _verdict(subject: Subject, rows: tuple[Row, ...], links: Links, lists: Lists) -> Iterator[Section]:
    job = f" ({inert(subject.key)})" if subject.key != "default" else ""
    title = verdict.words(subject, rows, naming=subject.trusted)
    if not subject.trusted:  # before anything that it says
        yield Section("trust", (f"> **⚠️ {sections.UNTRUSTED}**", ""))
    yield verdict.warning(subject)
    yield Section("verdict", (f"### {verdict.mark(subject)} skillgate{job}: {title}",))
    yield verdict.reasons(subject, rows, links, most=lists.reasons)
    yield verdict.unmeasured(subject, rows, links, most=lists.others)


def _body(subject: Subject, rows: tuple[Row, ...], links: Links, lists: Lists) -> Iterator[Section]:
    """Return what follows the verdict, in the order of reading."""
    compared = subject.diff is not None
    yield from table(rows, links, compared=compared, most=lists.rows, folded=lists.folded_rows)
    yield sections.policy_changes(subject, most=lists.others)
    yield next_steps.next_steps(rows, links, most=lists.steps)
    yield from findings.new_findings(rows, links, compared=compared, most=lists.findings, folded=lists.folded)
    yield findings.fixed(rows)
    yield findings.suppressed(rows, links, most=lists.others)
    yield findings.outside(subject, links, most=lists.findings)
    yield sections.catalogue(subject, rows, links, most=lists.others)
    yield sections.dimensions(rows)
    yield from benchmark(subject, most=lists.rows, folded=lists.folded)
    yield from _gates(subject, lists)
    yield sections.judged(rows, links)
    yield simulated(rows)
    yield confidence.confidence(subject, rows)


def _gates(subject: Subject, lists: Lists) -> Iterator[Section]:
    if subject.invocations is not None:
        from skillgate.action.comment.gates import gates  # most runs ask no such gate

        yield gates(subject.invocations, limit=lists.gates)
