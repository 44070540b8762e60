"""An assessment as text, to be kept and read back, or handed from one process to another.

Three lines of JSON: what every run needs, what is compared with other skills, and the evidence. The last two are only
parsed when somebody asks. Arrays without names: a catalogue of hundreds is read back in milliseconds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from skillgate.model.assessment import Assessment, Detail, Listing, Repair, Told
from skillgate.model.digest import digest
from skillgate.model.finding import Claim, Client, Severity
from skillgate.model.score import Dimension, Evidence, Measured
from skillgate.model.skill import Waiver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
_SEVERITIES = {severity.value: severity for severity in Severity}
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}
_CLIENTS = {client.value: client for client in Client}

Problems = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What reading a text that :func:`written` did not make may raise."""


def written(facts: Assessment) -> str:
    """Write an assessment as three lines."""
    detail = facts.detail()
    scores = [[name, dimension.value, *_measured(measured)] for name, dimension, measured in detail.scores]
    told = _line(facts.told())
    mark = digest(_bytes(told), _bytes(_line(facts.listing)))
    return "\n".join(
        (
            _line(_light(facts, mark)),
            told,
            _line([scores, detail.layer_score, detail.penalised, _repaired(detail.repair)]),
        )
    )


def read(lines: Sequence[str], again: Callable[[], Assessment]) -> Assessment:
    """Read what :func:`written` wrote, split at its line feeds.

    Args:
        lines: the three of them.
        again: judges the skill anew, should the second or third, read later, turn out to be something else.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: the text is something else.
    """
    light, told, detail = lines
    shown, unscored, claims, waivers, patterns, no_badge, measured, short, recoverable, rest = json.loads(light)
    listing, outside, mark = rest
    return Assessment(
        name=shown,
        unscored=unscored,
        claims=tuple(_claim(item) for item in claims),
        waivers=tuple(Waiver(file, line, tuple(rules), *rest) for file, line, rules, *rest in waivers),
        anti_patterns=tuple(patterns),
        no_badge=no_badge,
        measured={_DIMENSIONS[key]: (score, reason) for key, score, reason in measured},
        short=short,
        recoverable=recoverable,
        listing=Listing(*listing),
        duration_ms=0,
        told=_once(lambda: _told(told), lambda: again().told()),
        detail=_once(lambda: _detail(detail), lambda: again().detail()),
        outside=tuple(outside),
        mark=mark,
    )


def written_claims(claims: Sequence[tuple[str, Claim]]) -> str:
    """Write claims across skills, each with the path of the skill it is about."""
    return _line([(path, *_plain(claim)) for path, claim in claims])


def read_claims(text: str) -> tuple[tuple[str, Claim], ...]:
    """Read what :func:`written_claims` wrote.

    Raises:
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError: the text is something else.
    """
    return tuple((path, _claim(rest)) for path, *rest in json.loads(text))


def _line(value: object) -> str:
    # Not as ASCII: two halves of a surrogate pair, written as escapes, would come back as one character.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _bytes(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


def _light(facts: Assessment, mark: str) -> list[object]:
    return [
        facts.name,
        facts.unscored,
        [_plain(claim) for claim in facts.claims],
        facts.waivers,
        facts.anti_patterns,
        facts.no_badge,
        [(dimension.value, *measured) for dimension, measured in facts.measured.items()],
        facts.short,
        facts.recoverable,
        (facts.listing, facts.outside, mark),
    ]


def _plain(claim: Claim) -> list[object]:
    refused, about = ([client.value for client in clients] for clients in (claim.refused_by, claim.about))
    return [*claim._replace(severity=claim.severity.value, refused_by=refused, about=about)]  # type: ignore[arg-type]


def _claim(item: list[Any]) -> Claim:
    identifier, severity, message, file, line, column, fix, group, optional, refused, about, other, skills = item
    refused, about = (tuple(_CLIENTS[word] for word in words) for words in (refused, about))
    severity, skills = _SEVERITIES[severity], tuple(skills)
    return Claim(identifier, severity, message, file, line, column, fix, group, optional, refused, about, other, skills)


def _measured(measured: Measured) -> tuple[object, ...]:
    return measured.score, measured.reason, measured.evidence


def _told(line: str) -> Told:
    lines, uses = json.loads(line)
    return Told(tuple((row, text) for row, text in lines), tuple((row, text) for row, text in uses))


def _detail(line: str) -> Detail:
    scores, layer_score, penalised, repair = json.loads(line)
    return Detail(
        scores=tuple(
            (name, _DIMENSIONS[dimension], Measured(score, tuple(Evidence(*item) for item in evidence), reason))
            for name, dimension, score, reason, evidence in scores
        ),
        layer_score=layer_score,
        penalised=tuple((key, row) for key, row in penalised),
        repair=None if repair is None else _repair(*repair),
    )


def _repaired(repair: Repair | None) -> list[object] | None:
    if repair is None:
        return None
    return [*repair._replace(scores=tuple((key.value, score) for key, score in repair.scores))]  # type: ignore[misc]


def _repair(rule: str, action: str, line: int, scores: list[tuple[str, float | None]], anti_patterns: int) -> Repair:
    return Repair(rule, action, line, tuple((_DIMENSIONS[key], score) for key, score in scores), anti_patterns)


def _once(make: Callable[[], T], otherwise: Callable[[], T]) -> Callable[[], T]:
    """Make a value when it is first asked for; the other way where the first meets something else."""
    made: list[T] = []

    def get() -> T:
        if not made:
            try:
                made.append(make())
            except Problems:
                made.append(otherwise())
        return made[0]

    return get
