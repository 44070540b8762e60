"""The file of known findings: what a project has decided to live with for now, so that only new findings fail.

A finding is recognised by its rule, its file and its message without numbers, since lines and counts drift; how many
there are of one kind counts. Not so texts that may be an attack: who accepts one accepts no other in its place. A
finding across skills is recognised by its rule and the set of skills that it is about.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode, encode
from skillgate.model.documents import KnownFinding, KnownFindings
from skillgate.model.finding import Suppressed
from skillgate.model.score import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, Tool

    Key = tuple[str, ...]

# A number by itself, such as 1,024 or 3–9; not the one in a name, a path, a version or a word (gpt-4, 2.md, sha256).
_NUMBER = r"(?<![\w./\\-])(?>\d+(?:[.,–-]\d+)*)(?![\w/\\-]|\.\w)"
EXACT = frozenset(
    ("EXFILTRATION", "HIDDEN_UNICODE", "INSTRUCTION_OVERRIDE", "JUDGE_ADDRESSED", "SECRET", "SUSPICIOUS_COMMAND")
)
"""The rules whose findings keep the numbers in their message: eight hidden characters are not eight hundred."""


class Seen(NamedTuple):
    """How a file of known findings has a finding, with paths relative to it: path, message with numbers, skills."""

    path: str
    message: str
    skills: tuple[str, ...] = ()


if TYPE_CHECKING:
    See = Callable[[Finding], Seen]


class Known:
    """Known findings, each met once: call it with a finding to ask.

    Attributes:
        unmet: how many were not met, once every finding was asked about.
    """

    def __init__(self, findings: Iterable[KnownFinding], seen: See, *, whole: bool = True) -> None:
        """Take the findings.

        Args:
            findings: as :func:`read` gives them.
            seen: gives a finding as the file has it.
            whole: whether the run asks about everything that the file is about; if not, none is ever said to be unmet.
        """
        self._left: Counter[Key] = Counter()
        for item in findings:
            self._left[known_as(item)] += item.times
        self._seen = seen
        self._whole = whole

    @property
    def unmet(self) -> int:
        """Count those that are known and no longer there."""
        return self._left.total() if self._whole else 0

    def __call__(self, finding: Finding) -> bool:
        """Return whether a finding is known; each known one is met once."""
        key = _key(finding.id, self._seen(finding))
        if not self._left[key]:
            return False
        self._left[key] -= 1
        return True


def without_known(report: Report, known: Callable[[Finding], bool]) -> Report:
    """Suppress the known ones of other tools' findings; of our own that was done before."""
    gone: Counter[str] = Counter()

    def split(findings: tuple[Finding, ...]) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...]]:
        met = [finding.tool != "skillgate" and known(finding) for finding in findings]
        aside = tuple(Suppressed(finding, "known") for finding, is_known in zip(findings, met, strict=True) if is_known)
        gone.update(item.finding.severity.value for item in aside)
        return tuple(finding for finding, is_known in zip(findings, met, strict=True) if not is_known), aside

    results = []
    for result in report.results:
        findings, aside = split(result.findings)
        results.append(result._replace(findings=findings, suppressed=(*result.suppressed, *aside)))
    outside, _ = split(report.outside)
    summary = report.summary
    counts = {severity: count - gone[severity] for severity, count in summary.findings.items()}
    suppressed = {**summary.suppressed, "known": summary.suppressed.get("known", 0) + gone.total()}
    summary = summary._replace(findings=counts, suppressed=suppressed if gone else summary.suppressed)
    return report._replace(results=tuple(results), outside=outside, summary=summary)


def render(findings: Iterable[Finding], seen: See, tool: Tool, earlier: Iterable[KnownFinding] = ()) -> str:
    """Write the file for findings.

    Args:
        findings: those that will be known.
        seen: gives a finding as the file has it.
        tool: who writes it.
        earlier: findings of an earlier file that stay.
    """
    counts: Counter[KnownFinding] = Counter()
    for finding in findings:
        path, message, skills = seen(finding)
        counts[KnownFinding(finding.id, path, recognised(finding.id, message), skills=skills)] += 1
    for item in earlier:
        counts[item._replace(message=recognised(item.id, item.message), times=1)] += item.times
    known = tuple(item._replace(times=counts[item]) for item in sorted(counts))
    return json.dumps(encode(KnownFindings(tool=tool, findings=known)), indent=2, ensure_ascii=False) + "\n"


def known_as(item: KnownFinding) -> Key:
    """Return what an entry of the file is recognised by."""
    return _key(item.id, Seen(item.path, item.message, item.skills))


def _key(identifier: str, seen: Seen) -> Key:
    if seen.skills:
        return identifier, "", *sorted(seen.skills)
    return identifier, seen.path, recognised(identifier, seen.message)


def recognised(identifier: str, message: str) -> str:
    """Give what a message is known by: without its numbers, but for those of a text that may be an attack."""
    return message if identifier in EXACT else folded(message)


def read(text: str, *, source: str) -> tuple[KnownFinding, ...]:
    """Read the file.

    Raises:
        UsageError: it is not such a file, or one of a later form; ``source`` names it in the message.
    """
    try:
        document = decode(KnownFindings, json.loads(text))
    except (CodecError, ValueError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        message = f"{source} is no file of known findings ({first}); write one with --write-known-findings"
        raise UsageError(message) from None
    if document.schema_version > SCHEMA_VERSION:
        version = document.tool.version
        raise UsageError(f"{source} was written by a later skillgate ({version}), which this one cannot read")
    return document.findings


def folded(message: str) -> str:
    """Put one ``#`` for each number in a message."""
    return re.sub(_NUMBER, "#", message)
