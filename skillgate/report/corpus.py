"""What reports on a corpus show: its skills by rating, the matches of one, what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.corpus import LIVE
from skillgate.report.numbers import NONE, decimal, points
from skillgate.report.view import Cell, Fold, Item, Items, Note, Row, Span, Table, View, code, columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.corpus import CorpusList, CorpusShow, CorpusVerify, Fit, ListedSkill, ShownMatch, ShownSkill
    from skillgate.report.view import Block

_ALL = 1_000_000  # a corpus is listed whole
_RESULTS: Mapping[float, Cell] = {1.0: Cell("won", tone="good"), 0.5: Cell("drawn"), 0.0: Cell("lost", tone="poor")}
_LIST = columns("name", "#rating", "#matches", "#composite", "badge", "category")
_MATCHES = columns("opponent", "result", "#rating", "better on", "worse on", "note")


def list_view(listing: CorpusList) -> View:
    """Build a row for each skill, the best rated first."""
    rows = tuple(map(_listed, listing.members))
    blocks = (Table(_LIST, rows, noun="skill", most=_ALL),) if rows else ()
    return View(plural(len(rows), "skill"), facts=_fitted(listing.fit), blocks=blocks)


def show_view(shown: CorpusShow) -> View:
    """Build each skill of the name with its matches."""
    title = Span(shown.skills[0].skill.name) if shown.skills else "No skill has this name"
    return View(title, blocks=tuple(map(_skill, shown.skills)))


def verify_view(verified: CorpusVerify, folder: str = "") -> View:
    """Build the defects, then notes; ``folder`` is the place of the corpus, ``""`` where that is not known."""
    found = plural(len(verified.defects), "defect") if verified.defects else "No defect"
    where = f" in {folder}" if folder else ""
    title = f"{found}: {plural(verified.members, 'skill')} and {plural(verified.matches, 'match')}{where}"
    items = [Item(defect, "defect", "poor") for defect in verified.defects]
    items += [Item(note, "note", "fair") for note in verified.notes]
    blocks = (Items(tuple(items), most=_ALL),) if items else ()
    return View(title, "fail" if verified.defects else "pass", blocks=blocks)


def _listed(one: ListedSkill) -> Row:
    rating = ("refused" if not one.rateable else NONE) if one.rating is None else decimal(one.rating, 0)
    figures = (Cell(rating, sort=one.rating), f"{one.matches:,}", points(one.composite))
    return Row((code(one.name), *figures, one.badge or NONE, one.category or NONE))


def _fitted(fit: Fit | None) -> str:
    if fit is None:
        return "Nothing is rated: skillgate corpus rate plays the skills against one another."
    who = ", ".join(fit.models)
    if fit.source != LIVE:
        who += f" (verdicts of the provider {fit.source}, not of a real model: they show how it works)"
    return f"Ratings by Bradley–Terry over {plural(fit.pairs, 'pair')}, the median at 1500; judged by {who}."


def _skill(one: ShownSkill) -> Fold:
    skill = one.skill
    rating = "not rated" if skill.rating is None else f"rating {skill.rating:.0f}"
    if not skill.rateable:
        rating = "not rateable, since the judge gives no verdicts on it"
    composite = "no composite" if skill.composite is None else f"composite {points(skill.composite)}"
    said = f"{rating} by {plural(skill.matches, 'match')}, {composite}, {skill.badge or 'no badge'}, "
    blocks: list[Block] = [Note(f"{said}{plural(skill.lines, 'line')}"), Note(code(skill.digest), "muted")]
    if one.played:
        blocks.append(Table(_MATCHES, tuple(map(_match, one.played)), noun="match", most=_ALL))
    return Fold(code(skill.path), tuple(blocks), open=True)


def _match(match: ShownMatch) -> Row:
    won, lost = (", ".join(one.value for one in dimensions) for dimensions in (match.won, match.lost))
    notes = [*(["the order decided"] if match.position_bias else []), *(["imported"] if match.origin else [])]
    rating = decimal(match.opponent_rating, 0)
    return Row((code(match.opponent), _RESULTS.get(match.result, Cell(NONE)), rating, won, lost, ", ".join(notes)))
