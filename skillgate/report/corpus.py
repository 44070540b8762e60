"""A corpus as text: its skills by rating, the matches of one, what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.corpus import LIVE
from skillgate.report.terminal import Style, cut, pad, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.corpus import CorpusList, CorpusShow, CorpusVerify, Fit, ListedSkill, ShownMatch, ShownSkill

_RESULTS = {1.0: "won", 0.5: "drawn", 0.0: "lost"}
_NONE = "-"


def render_list(listing: CorpusList, style: Style, *, verbose: bool = False) -> str:
    """Write a line for each skill: rating, matches, composite, badge, category, name. ``verbose`` changes nothing."""
    del verbose
    head = ("rating", "matches", "composite", "badge", "category", "name")
    rows = [head, *map(_row, listing.members)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    widths.append(min(24, max(len(row[4]) for row in rows)))
    room = max(20, style.width - sum(widths) - 2 * len(widths))
    lines = [_line(row, widths, room) for row in rows]
    lines[0] = style.paint(lines[0], "bold")
    many = len(listing.members)
    summary = f"{plural(many, 'skill')}. {_fitted(listing.fit)}"
    return "\n".join([*lines, *wrap(summary, style.width)]) + "\n"


def render_show(shown: CorpusShow, style: Style, *, verbose: bool = False) -> str:
    """Write each skill of the name with its matches: result, opponent and its rating, dimensions won and lost.

    ``verbose`` changes nothing.
    """
    del verbose
    lines: list[str] = []
    for one in shown.skills:
        lines += [*_skill(one, style), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def render_verify(verified: CorpusVerify, style: Style, *, folder: str = "", verbose: bool = False) -> str:
    """Write every defect on a line, then notes, then what was looked at.

    ``folder`` is where, ``""`` where that is not known; ``verbose`` changes nothing.
    """
    del verbose
    lines = [f"{style.paint('defect', 'red')}: {printable(defect)}" for defect in verified.defects]
    lines += [f"{style.paint('note', 'yellow')}: {printable(note)}" for note in verified.notes]
    where = f" in {printable(folder)}" if folder else ""
    looked_at = f"{verified.members} skills and {verified.matches} matches{where}"
    many = len(verified.defects)
    found = f"{plural(many, 'defect')}" if many else "no defect"
    return "\n".join([*lines, f"{found}: {looked_at}"]) + "\n"


def _row(one: ListedSkill) -> tuple[str, ...]:
    return (
        ("refused" if not one.rateable else _NONE) if one.rating is None else f"{one.rating:.0f}",
        str(one.matches),
        _NONE if one.composite is None else f"{one.composite:.2f}",
        one.badge or _NONE,
        printable(one.category) or _NONE,
        printable(one.name),
    )


def _line(row: Sequence[str], widths: Sequence[int], room: int) -> str:
    *first, name = row
    cells = [
        cut(cell, width).rjust(width) if column < 3 else pad(cut(cell, width), width)
        for column, (cell, width) in enumerate(zip(first, widths, strict=True))
    ]
    return "  ".join([*cells, cut(name, room)]).rstrip()


def _fitted(fit: Fit | None) -> str:
    if fit is None:
        return "Nothing is rated: skillgate corpus rate plays the skills against one another."
    who = printable(", ".join(fit.models))
    if fit.source != LIVE:
        who += f" (verdicts of the provider {printable(fit.source)}, not of a real model: they show how it works)"
    return f"Ratings by Bradley–Terry over {fit.pairs} pairs, the median at 1500; judged by {who}."


def _skill(one: ShownSkill, style: Style) -> Iterator[str]:
    skill = one.skill
    rating = "not rated" if skill.rating is None else f"rating {skill.rating:.0f}"
    if not skill.rateable:
        rating = "not rateable, since the judge gives no verdicts on it"
    yield f"{style.paint(printable(skill.name), 'bold')}  {printable(skill.path)}"
    composite = "no composite" if skill.composite is None else f"composite {skill.composite:.2f}"
    yield f"  {rating} by {skill.matches} matches, {composite}, {skill.badge or 'no badge'}, {skill.lines} lines"
    yield f"  {skill.digest}"
    for match in one.played:
        yield from _match(match, style)


def _match(match: ShownMatch, style: Style) -> Iterator[str]:
    rating = _NONE if match.opponent_rating is None else f"{match.opponent_rating:.0f}"
    bias = "  (the order decided)" if match.position_bias else ""
    bias += "  (imported)" if match.origin else ""
    name = cut(printable(match.opponent), max(20, style.width - 50))
    yield f"    {_RESULTS.get(match.result, _NONE):<5}  {rating:>5}  {name}{bias}"
    details = [
        f"{word} {', '.join(dimension.value for dimension in dimensions)}"
        for word, dimensions in (("won", match.won), ("lost", match.lost))
        if dimensions
    ]
    if details:
        yield from (f"           {line}" for line in wrap("; ".join(details), style.width - 11))
