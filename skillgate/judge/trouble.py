"""What went wrong while a skill was judged: questions without an answer, and what a report must warn of."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from skillgate.judge.sheet import Missing
from skillgate.model.finding import Span
from skillgate.model.skill import Problem
from skillgate.model.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.judge.sheet import Sheet
    from skillgate.judge.subject import Dossier, Passage
    from skillgate.model.judging import Cut
    from skillgate.model.score import Dimension

SWAYED, PARTLY = "judge_swayed", "partly_judged"  # files of `static/judged`
NOTABLE = 0.1  # a difference of scores from here on is reported: one step of the scale
MOST_NAMED = 5
_STOPPED = "stopped: "  # before the reason of the first failure, in answers that were not asked for any more
_ALL = 5  # questions of a skill; the predictions are not asked for where there are no prompts


def missing(sheets: Sequence[Sheet]) -> tuple[Missing, ...]:
    """List the questions without a rating that counts.

    Where a judge only obeyed the passages that were left out on the counted reading, that is a warning, no gap.
    """
    gaps = (sheet for sheet in sheets if sheet.reason and (sheet.counts or not sheet.obeyed))
    return tuple(Missing(_label(sheet), sheet.seat.number, sheet.reason) for sheet in gaps)


def failure(gaps: Sequence[Missing], judges: int) -> str | None:
    """Say in one sentence which questions have no answer and why, those with the same reason together.

    None where every question has one.
    """
    grouped: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for gap in gaps:
        grouped[gap.reason.removeprefix(_STOPPED)][gap.question].append(gap.judge)
    parts = []
    for reason, asked in grouped.items():
        names = ", ".join(f"{name}{_judges(numbers, judges)}" for name, numbers in asked.items())
        parts.append(f"no usable answer to {'any question' if len(asked) >= _ALL else names}: {reason}")
    return "; ".join(parts) or None


def problems(
    dossier: Dossier, sheets: Sequence[Sheet], cut: Sequence[Cut], swayed: Mapping[Dimension, float]
) -> Iterator[Problem]:
    """Yield what the report must warn of. Places in other files than the main one are relative to the skill."""
    main = dossier.pages[0].path if dossier.pages else ""
    obedient = [sheet for sheet in sheets if sheet.obeyed]
    if obedient:
        yield _obeyed(obedient, dossier.suspicious, main)
    notable = {dimension: difference for dimension, difference in swayed.items() if abs(difference) >= NOTABLE - 1e-9}
    if notable and dossier.suspicious:
        yield _moved(notable, dossier.suspicious, main)
    if cut:
        first = cut[0]
        message = f"not shown to the judge, since the skill is too long: {_named([_cut(one) for one in cut])}"
        yield Problem(PARTLY, Span(first.first), message, _file(first.path, main))


def _obeyed(sheets: Sequence[Sheet], suspicious: Sequence[Passage], main: str) -> Problem:
    named = _named([f"{_label(sheet)} of judge {sheet.seat.number + 1}" for sheet in sheets])
    where = f" (look at {_named([_passage(one) for one in suspicious])})" if suspicious else ""
    message = (
        f"{_counted(len(sheets), 'answer')} of a judge got the control question wrong, and counts nowhere: {named};"
        f" the skill's text may ask for ratings{where}"
    )
    first = suspicious[0] if suspicious else None
    return Problem(SWAYED, Span(first.first if first else 1), message, _file(first.path, main) if first else None)


def _moved(notable: Mapping[Dimension, float], suspicious: Sequence[Passage], main: str) -> Problem:
    moved = ", ".join(f"{dimension.value} by {difference:+.2f}" for dimension, difference in notable.items())
    places = _named([_passage(one) for one in suspicious])
    message = f"the judge's scores move with what {places} says: {moved}; those without it count"
    return Problem(SWAYED, Span(suspicious[0].first), message, _file(suspicious[0].path, main))


def _label(sheet: Sheet) -> str:
    return sheet.question if sheet.counts else f"{sheet.question} with the suspicious passages"


def _judges(numbers: Sequence[int | None], judges: int) -> str:
    """Name the judges, unless there is one, or all of them are meant."""
    known = [str(number + 1) for number in numbers if number is not None]
    if not known or len(known) == judges:
        return ""
    return f" (judge{'s' * (len(known) > 1)} {', '.join(known)} of {judges})"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _passage(passage: Passage) -> str:
    return f"{printable(passage.path)}:{_lines(passage.first, passage.last)}"


def _cut(cut: Cut) -> str:
    heading = f' "{printable(cut.heading)}"' if cut.heading else ""
    return f"{printable(cut.path)}:{_lines(cut.first, cut.last)}{heading}"


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _file(path: str, main: str) -> str | None:
    return None if path == main else path
