"""Layer 2 for one skill: send every question to every judge, all at once (predictions wait for the trigger prompts).

Requests: the trigger prompts once, then per judge the predictions and four rating questions. If passages of the skill
seem to address a judge, these four are asked again without the passages, and the lower rating counts.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural, printable
from skillgate.judge import asking, requests
from skillgate.judge.document import Library, Readings, find_all, first_few, place
from skillgate.judge.questions import HIGHEST, questions
from skillgate.judge.requests import PROMPT_VERSION, RUBRIC_VERSION, Missing
from skillgate.judge.subject import PARTLY, SWAYED, Judged, Ratings
from skillgate.judge.triggering import triggering
from skillgate.model.exchange import Answer, Together
from skillgate.model.layers import Assessment, JudgeLayer, Quotation
from skillgate.model.score import Dimension
from skillgate.model.skill import Problem, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.judge.questions import Question
    from skillgate.judge.requests import Seat
    from skillgate.judge.subject import Dossier, Panel
    from skillgate.judge.triggering import Predicted
    from skillgate.model.exchange import Steps
    from skillgate.model.layers import Cut, Triggering

    Marks = Mapping[Dimension, tuple["Mark | None", ...]]

__all__ = ["PROMPT_VERSION", "RUBRIC_VERSION", "judge"]

OBEYED = "failed the control question: the judge followed the skill's text or did not read it"
MOST_REASONING = 4_000  # maximum characters in a report
MOST_QUOTATIONS = 6  # maximum shown per dimension, of all judges
NOTABLE = 0.1  # minimum reported difference of scores: one step of the scale
HALF_STEP = 0.5 / HIGHEST  # minimum half-width: even equal ratings are no more precise than the scale
_ALL = 5  # questions per skill; without prompts there are no predictions


class Mark(NamedTuple):
    """One rated dimension: the rating from 0 to 10, its reasoning and its quotations."""

    rating: int
    reasoning: str
    evidence: tuple[str, ...]


class Sheet(NamedTuple):
    """One judge's answer to one question."""

    question: str
    dimensions: tuple[Dimension, ...]  # that it asks about
    seat: Seat
    within: bool  # whether it is the reading with the suspicious passages
    answers: tuple[Answer, ...]  # all answers; the last one counts
    cut: tuple[Cut, ...]  # sections that the judge was not shown
    marks: Mapping[Dimension, Mark]  # empty without a valid answer
    reason: str = ""  # why there are no marks

    @property
    def obeyed(self) -> bool:
        """Whether the answer failed the control item."""
        return self.reason == OBEYED

    @property
    def label(self) -> str:
        """The question, and which reading."""
        return f"{self.question} with the suspicious passages" if self.within else self.question


def judge(dossier: Dossier, panel: Panel, clock: Callable[[], int]) -> Steps[Judged]:
    """Judge one skill by a panel of at least one judge; ``clock`` returns monotonic nanoseconds.

    Provider failures do not raise; a missing answer is None with the reason.
    """
    started = clock()
    seats = requests.seats(panel.opinions)
    plain = Readings(dossier, panel.most_characters, dossier.suspicious)
    swaying = Readings(dossier, panel.most_characters) if dossier.suspicious else None
    pages = chain.from_iterable(dossier.pages)
    subjects = asking.absent((dossier.name, dossier.description, dossier.category, *dossier.facts, *pages))
    branches = [
        _rated(dossier, readings, seat, question, subjects, within=readings is swaying)
        for readings in (plain, swaying)
        if readings is not None
        for seat in seats
        for question in questions()
        if question.rated
    ]
    predicted, *sheets = yield Together((triggering(dossier, plain, seats), *branches))
    return _judged(dossier, panel, sheets, predicted, duration_ms=(clock() - started) // 1_000_000)


def _rated(
    dossier: Dossier, readings: Readings, seat: Seat, question: Question, subjects: tuple[str, ...], *, within: bool
) -> Steps[Sheet]:
    """Ask one judge one question about one reading of the skill; ratings count only with a correct control item."""
    rubrics = tuple(rubric for rubric in question.rubrics if dossier.code_blocks or not rubric.needs_code)
    answers, cut = yield from readings.ask(
        lambda text: requests.assessment(
            dossier,
            text,
            seat,
            name=question.name,
            rubrics=rubrics,
            subject=asking.control_subject(subjects, text, question.name),
            typical=question.typical_output,
        )
    )
    reason = asking.fault(answers[-1], OBEYED)
    marks = {
        Dimension(entry["dimension"]): Mark(
            int(entry["score"]), asking.bounded(entry["reasoning"].strip(), MOST_REASONING), tuple(entry["evidence"])
        )
        for entry in (answers[-1].value["assessments"] if reason is None else ())
    }
    dimensions = tuple(rubric.dimension for rubric in rubrics)
    return Sheet(question.name, dimensions, seat, within, answers, cut, marks, reason or "")


def _judged(
    dossier: Dossier, panel: Panel, sheets: Sequence[Sheet], predicted: Predicted, *, duration_ms: int
) -> Judged:
    judges = len(panel.opinions)
    without = _marks([sheet for sheet in sheets if not sheet.within], judges)
    within = _marks([sheet for sheet in sheets if sheet.within], judges)
    marks = {dimension: _lower(own, within.get(dimension)) for dimension, own in without.items()}
    swayed = _swayed(without, within)
    cut = tuple(dict.fromkeys(chain(predicted.cut, *(sheet.cut for sheet in sheets))))
    named = [
        *((panel.opinions[seat].model, answer) for seat, answer in predicted.answers),
        *((sheet.seat.opinion.model, answer) for sheet in sheets for answer in sheet.answers),
    ]
    answers = [answer for _, answer in named]
    gaps = (*predicted.missing, *_missing(sheets))
    reason = _failure(gaps, judges)
    library = Library(dossier.pages)
    rated = {dimension: _assessment(dimension, sheets, of_it, library) for dimension, of_it in marks.items()}
    layer = JudgeLayer(
        duration_ms=duration_ms,
        judges=judges,
        kappa=None,
        kappa_reason="agreement is computed over all skills of a run" if judges > 1 else "one judge",
        models=tuple(opinion.model for opinion in panel.opinions),
        assessments=MappingProxyType({Dimension.TRIGGERING_ACCURACY: _triggered(predicted.triggering), **rated}),
        reason=reason,
        provider=panel.provider,
        live=asking.is_live(answers, live=panel.live),
        triggering=predicted.triggering,
        cut=cut,
        unread=tuple(f"{path} ({why})" for path, why in dossier.unread),
        obeyed=sum(sheet.obeyed for sheet in sheets),
        swayed=MappingProxyType(swayed),
        prompt_version=PROMPT_VERSION,
        rubric_version=RUBRIC_VERSION,
        usage=asking.usage(answers),
        answered_by=asking.answered_by(named),
    )
    ratings = Ratings(
        tuple((dimension, tuple(mark and mark.rating for mark in of_it)) for dimension, of_it in marks.items()),
        tuple(
            tuple(None if loads is None else int(loads) for loads in prompt.predicted)
            for prompt in predicted.triggering.prompts
        ),
    )
    aside = [entry for entry in dossier.unread if entry[0] in dossier.aside]
    missed = [entry for entry in dossier.unread if entry[0] not in dossier.aside]
    names = [*map(place, cut), *map(_entry, missed)]
    return Judged(
        layer,
        ratings,
        problems=tuple(_problems(dossier, sheets, cut, swayed, missed)),
        failure=reason,
        silenced=_silenced(gaps, judges),
        partial=f"the judge was shown only part of the skill, without {first_few(names)}" if names else None,
        notes=(_unread(aside, dossier),) if aside else (),  # no page refers to these
    )


def _marks(sheets: Sequence[Sheet], judges: int) -> Marks:
    """Return the judges' marks by dimension, in the order of the questions; None for missing ones."""
    marks = {(dimension, sheet.seat.number): mark for sheet in sheets for dimension, mark in sheet.marks.items()}
    dimensions = dict.fromkeys(dimension for sheet in sheets for dimension in sheet.dimensions)
    return {dimension: tuple(marks.get((dimension, judge)) for judge in range(judges)) for dimension in dimensions}


def _lower(without: Sequence[Mark | None], within: Sequence[Mark | None] | None) -> tuple[Mark | None, ...]:
    """Return each judge's lower mark of both readings; None if one is missing.

    So a passage can raise a score neither by its content nor by what is left out together with it.
    """
    if within is None:
        return tuple(without)
    pairs = zip(without, within, strict=True)
    return tuple(min(one, other, key=lambda mark: mark.rating) if one and other else None for one, other in pairs)


def _swayed(without: Marks, within: Marks) -> dict[Dimension, float]:
    """Return how much higher scores with the suspicious passages are, over judges with both ratings."""
    moved = {
        dimension: [one.rating - two.rating for one, two in zip(marks, without[dimension], strict=True) if one and two]
        for dimension, marks in within.items()
    }
    return {dimension: sum(gaps) / (HIGHEST * len(gaps)) for dimension, gaps in moved.items() if gaps}


def _triggered(triggering: Triggering) -> Assessment:
    """Return F1 with its interval, which depends on the prompts and needs only one judge."""
    f1 = triggering.f1
    why = f1.reason if f1.ci_low is None else None
    return Assessment(score=f1.value, reason=f1.reason, ci_low=f1.ci_low, ci_high=f1.ci_high, ci_reason=why)


def _assessment(
    dimension: Dimension, sheets: Sequence[Sheet], marks: Sequence[Mark | None], library: Library
) -> Assessment:
    known = [mark for mark in marks if mark is not None]
    if not known:
        reasons = dict.fromkeys(sheet.reason for sheet in sheets if dimension in sheet.dimensions and sheet.reason)
        why = "; ".join(reasons) or "no answer rates it"
        return Assessment(score=None, reason=why, ci_reason=why)
    ratings = tuple(mark.rating for mark in known)
    low, high, reason = _interval(ratings, len(marks))
    quotations, dropped = _quotations(marks, library)
    return Assessment(
        score=sum(ratings) / (HIGHEST * len(ratings)),
        reasoning=tuple(mark.reasoning for mark in known),
        quotations=quotations,
        ratings=ratings,
        dropped=dropped,
        ci_low=low,
        ci_high=high,
        ci_reason=reason,
    )


def _interval(ratings: Sequence[int], judges: int) -> tuple[float | None, float | None, str | None]:
    """Return the interval of a score from its ratings, mean ± t · s ÷ √J, cut to [0, 1]; or why there is none."""
    if judges == 1:
        return None, None, "one judge gives no interval"
    if len(ratings) < 2:
        return None, None, f"{len(ratings)} of {judges} judges gave a rating; an interval needs two"
    from skillgate.stats.intervals import mean_t  # numpy and scipy: loaded while answers are awaited

    return *mean_t([rating / HIGHEST for rating in ratings], least_half_width=HALF_STEP), None


def _quotations(marks: Sequence[Mark | None], library: Library) -> tuple[tuple[Quotation, ...], int]:
    """Return the judges' first quotations, then their second ones, and so on, without repeats; count the invalid."""
    columns: list[list[Quotation]] = []
    dropped = 0
    for judge, mark in enumerate(marks, start=1):
        places, lost = find_all(mark.evidence if mark else (), library)
        columns.append([Quotation(found.text, found.path, found.line, judge) for found in places])
        dropped += lost
    once: dict[tuple[str, int, str], Quotation] = {}
    for one in filter(None, chain.from_iterable(zip_longest(*columns))):
        once.setdefault((one.path, one.line, one.text), one)
    return tuple(once.values())[:MOST_QUOTATIONS], dropped


def _missing(sheets: Sequence[Sheet]) -> Iterator[Missing]:
    """Yield the questions without a rating, of both readings."""
    for sheet in sheets:
        if sheet.reason:
            is_provoked = sheet.obeyed or asking.provoked(sheet.answers[-1])
            yield Missing(sheet.label, sheet.seat.number, sheet.reason, is_provoked)


def _failure(gaps: Sequence[Missing], judges: int) -> str | None:
    """Return in one sentence which questions have no answer and why, grouped by reason; None if all have one."""
    grouped: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for gap in gaps:
        grouped[asking.first_reason(gap.reason)][gap.question].append(gap.judge)
    parts = []
    for reason, lost in grouped.items():
        who = {_judges([one for one in numbers if one is not None], judges) for numbers in lost.values()} - {""}
        names = ", ".join(f"{name}{_judges(numbers, judges)}" for name, numbers in lost.items())
        if len(lost) >= _ALL and len(who) <= 1:
            names = f"any question{''.join(who)}"
        parts.append(f"no usable answer to {names}: {reason}")
    return "; ".join(parts) or None


def _judges(numbers: Sequence[int | None], judges: int) -> str:
    """Name the judges, unless there is only one or all are meant."""
    known = [str(number + 1) for number in numbers if number is not None]
    if not known or len(known) == judges:
        return ""
    return f" (judge{'s' * (len(known) > 1)} {', '.join(known)} of {judges})"


def _silenced(gaps: Sequence[Missing], judges: int) -> str | None:
    """Return which answers the skill's text may have prevented; it could choose the rest, so they give no score."""
    text = _failure([gap for gap in gaps if gap.provoked], judges)
    return None if text is None else f"{text}; the skill's text can cause this, so the other answers give no score"


def _problems(
    dossier: Dossier,
    sheets: Sequence[Sheet],
    cut: Sequence[Cut],
    swayed: Mapping[Dimension, float],
    missed: Sequence[tuple[str, str]],
) -> Iterator[Problem]:
    """Yield the problems to report, with paths relative to the skill."""
    suspicious = dossier.suspicious
    places = first_few([place(one) for one in suspicious])
    line, file = (suspicious[0].first, _file(suspicious[0].path, dossier)) if suspicious else (1, None)
    obedient = [f"{sheet.label} of judge {sheet.seat.number + 1}" for sheet in sheets if sheet.obeyed]
    if obedient:
        message = (
            f"ignored {plural(len(obedient), 'answer')} that failed the control question:"
            f" {first_few(obedient)}; the skill's text may ask for ratings{f' (see {places})' if places else ''}"
        )
        yield Problem(SWAYED, Span(line), message, file)
    notable = [f"{dimension.value} by {gap:+.2f}" for dimension, gap in swayed.items() if abs(gap) >= NOTABLE - 1e-9]
    if notable and suspicious:
        message = f"the judge's scores change with the text at {places}: {', '.join(notable)}; the lower ones count"
        yield Problem(SWAYED, Span(line), message, file)
    if cut:
        message = f"not shown to the judge, because the skill is too long: {first_few([place(one) for one in cut])}"
        yield Problem(PARTLY, Span(cut[0].first), message, _file(cut[0].path, dossier))
    if missed:
        yield _unread(missed, dossier)


def _unread(files: Sequence[tuple[str, str]], dossier: Dossier) -> Problem:
    message = f"not shown to the judge: {first_few([_entry(file) for file in files])}"
    return Problem(PARTLY, Span(), message, _file(files[0][0], dossier))


def _entry(file: tuple[str, str]) -> str:
    return f"{printable(file[0])} ({printable(file[1])})"


def _file(path: str, dossier: Dossier) -> str | None:
    """Return a problem's file; None for the main file."""
    return None if dossier.pages and path == dossier.pages[0].path else path
