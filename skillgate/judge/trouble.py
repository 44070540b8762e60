"""What went wrong while a skill was judged: questions without an answer, and what a report must warn of."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from skillgate.judge.sheet import Missing, provoked
from skillgate.model.skill import Problem, Span
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
_STOPPED = (
    "stopped: ",
    "stopped for this model: ",
)  # before the reason of the first failure, in answers that were not asked for any more
_ALL = 5  # questions of a skill; the predictions are not asked for where there are no prompts


def missing(sheets: Sequence[Sheet]) -> tuple[Missing, ...]:
    """List the questions without a rating, of both readings of a suspected skill."""
    gaps = (sheet for sheet in sheets if sheet.reason)
    return tuple(
        Missing(_label(sheet), sheet.seat.number, sheet.reason, sheet.obeyed or provoked(sheet.answers[-1]))
        for sheet in gaps
    )


def failure(gaps: Sequence[Missing], judges: int) -> str | None:
    """Say in one sentence which questions have no answer and why, those with the same reason together.

    None where every question has one.
    """
    grouped: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for gap in gaps:
        reason = gap.reason
        for before in _STOPPED:
            reason = reason.removeprefix(before)
        grouped[reason][gap.question].append(gap.judge)
    parts = []
    for reason, asked in grouped.items():
        who = {_judges([one for one in numbers if one is not None], judges) for numbers in asked.values()} - {""}
        names = ", ".join(f"{name}{_judges(numbers, judges)}" for name, numbers in asked.items())
        if len(asked) >= _ALL and len(who) <= 1:
            names = f"any question{''.join(who)}"
        parts.append(f"no usable answer to {names}: {reason}")
    return "; ".join(parts) or None


def silenced(gaps: Sequence[Missing], judges: int) -> str | None:
    """Say which judges gave no usable answer where the text can be why; None where there are none such.

    The others would give a score that the text has chosen its judges for.
    """
    said = failure([gap for gap in gaps if gap.provoked], judges)
    return None if said is None else f"{said}; a text can bring that about, so the other answers make no score"


def partial(dossier: Dossier, cut: Sequence[Cut]) -> str | None:
    """Say what of its instructions the judge was not shown; None where it was shown all."""
    names = [*(_cut(one) for one in cut), *(_entry(path, why) for path, why in _missed(dossier))]
    return f"the judge was shown only part of the skill, without {_named(names)}" if names else None


def problems(
    dossier: Dossier, sheets: Sequence[Sheet], cut: Sequence[Cut], swayed: Mapping[Dimension, float]
) -> Iterator[Problem]:
    """Yield what the report must tell at the severity of its rule.

    Places in other files than the main one are relative to the skill.
    """
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
    missed = _missed(dossier)
    if missed:
        yield _unread(missed, main)


def notes(dossier: Dossier) -> Iterator[Problem]:
    """Yield what the report tells for information: files that no judge can read and no page sends a model to."""
    aside = [(path, why) for path, why in dossier.unread if path in dossier.aside]
    if aside:
        yield _unread(aside, dossier.pages[0].path if dossier.pages else "")


def _missed(dossier: Dossier) -> list[tuple[str, str]]:
    return [(path, why) for path, why in dossier.unread if path not in dossier.aside]


def _unread(files: Sequence[tuple[str, str]], main: str) -> Problem:
    named = _named([_entry(path, why) for path, why in files])
    return Problem(PARTLY, Span(), f"not shown to the judge: {named}", _file(files[0][0], main))


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
    message = f"the judge's scores move with what {places} says: {moved}; the lower counts"
    return Problem(SWAYED, Span(suspicious[0].first), message, _file(suspicious[0].path, main))


def _label(sheet: Sheet) -> str:
    return f"{sheet.question} with the suspicious passages" if sheet.within else sheet.question


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


def _entry(path: str, why: str) -> str:
    return f"{printable(path)} ({printable(why)})"


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _file(path: str, main: str) -> str | None:
    return None if path == main else path
