"""What a diff of two score reports shows, and a comparison of two skills, which is a diff of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.documents import SkillChange, State
from skillgate.model.score import Outcome
from skillgate.report import charts, numbers, skill
from skillgate.report.across import change_lines
from skillgate.report.judge_compared import doubt, first_hint, sides
from skillgate.report.links import Links
from skillgate.report.moves import what_moved
from skillgate.report.numbers import points, ratio
from skillgate.report.score import scales
from skillgate.report.skill import Context
from skillgate.report.tally import answers_warning, badge_with_errors, counts, is_judged, is_simulated
from skillgate.report.view import (
    MARKS,
    Bar,
    Cell,
    Figure,
    Figures,
    Fold,
    Heading,
    Item,
    Items,
    Note,
    Row,
    Table,
    View,
    code,
    columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.documents import Comparison, Diff, DiffSide, DimensionChange
    from skillgate.model.finding import Suppressed
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Dimension
    from skillgate.report.judge_compared import Sides
    from skillgate.report.view import Block, Line, Mark, Tone

_TONES: dict[str, Tone] = {"up": "good", "down": "poor"}


def view(diff: Diff, links: Links | None = None) -> View:
    """Build what a diff shows: regressions first, then what else changed."""
    context = Context(links or Links())
    changes = gravest_first(diff)
    warning, hints = first_hint(diff)
    anchors = {change.path: f"skill-{n}" for n, change in enumerate(changes, 1)}
    blocks: list[Block] = [Figures(tuple(_figures(diff)))]
    if changes:
        same = len(diff.skills) - len(changes)
        caption = "The greatest loss first" + (f"; {plural(same, 'skill')} unchanged" if same else "")
        names = columns("skill", "~", "#before", "#after", "#change", "badge", "what changed")
        rows = tuple(_row(change, anchors[change.path], context) for change in changes)
        blocks += [Heading("What changed"), Table(names, rows, caption, "skill", most=25)]
    if lines := tuple(Item(line) for line in change_lines(diff)):
        blocks += [Heading("Across skills"), Items(lines, "change")]
    return View(
        _title(diff, changes),
        _whole_mark(diff),
        f"{diff.a.label} → {diff.b.label}",
        tuple(_reasons(diff, changes, anchors)),
        hints,
        tuple(blocks),
        tuple(_about(diff, context.links)),
        alarm=warning,
        ends=True,
    )


def gravest_first(diff: Diff) -> list[SkillChange]:
    """List the skills that differ, moved or were not compared: regressions, the undecided, new, changed, removed.

    Among those of a kind the one that lost most is first; ties by path.
    """

    def key(change: SkillChange) -> tuple[int, float, str]:
        return _kind(change), change.change or 0.0, change.path

    changed = (item for item in diff.skills if item.state is not State.UNCHANGED or item.moved or undecided(item))
    return sorted(changed, key=key)


def unread(change: SkillChange) -> bool:
    """Return whether a skill could not be evaluated after."""
    return change.after is not None and not change.after.evaluated


def undecided(change: SkillChange) -> bool:
    """Return whether a skill's scores could not be compared, or their difference is not known to be one."""
    return change.regression is not None and change.regression.verdict is Outcome.INCONCLUSIVE


def badges(change: SkillChange) -> str:
    """Write a badge, and what it was if another one: ``Silver → —``; ``?`` where the skill was not evaluated."""
    ends = [side for side in (change.before, change.after) if side is not None]
    named = ["?" if not side.evaluated else side.badge.value if side.badge else "—" for side in ends]
    return " → ".join(dict.fromkeys(named))


def _kind(change: SkillChange) -> int:
    if change.regressed:
        return 0
    if unread(change) or undecided(change):
        return 1
    return 3 if change.state is State.CHANGED else 2 if change.state is State.NEW else 4


def _title(diff: Diff, changes: Sequence[SkillChange]) -> str:
    found = diff.summary
    if found.regressions:
        return f"{plural(found.regressions, 'regression')} in {plural(len(diff.skills), 'skill')}"
    if any(map(unread, diff.skills)):
        return "Not every skill could be evaluated"
    if any(map(undecided, diff.skills)):
        return "Not every skill could be compared"
    kinds = ((found.changed, "changed"), (found.new, "new"), (found.removed, "removed"), (found.moved, "moved"))
    parts = [f"{number} {word}" for number, word in kinds if number]
    said = f"{', '.join(parts)} of {plural(len(diff.skills), 'skill')}" if changes else "nothing changed"
    return f"No regression: {said}" if diff.gate.passed else numbers.sentence(said)


def _whole_mark(diff: Diff) -> Mark:
    if diff.gate.passed is None and (any(map(unread, diff.skills)) or any(map(undecided, diff.skills))):
        return "error"
    return MARKS[diff.gate.passed]


def _mark(change: SkillChange) -> Mark:
    if change.regressed:
        return "fail"
    return "error" if unread(change) or undecided(change) else "none"


def _reasons(diff: Diff, changes: Sequence[SkillChange], anchors: Mapping[str, str]) -> Iterator[Line]:
    """Yield why skills regressed, or why that could not be decided, and drops that may be chance."""
    for change in changes:
        outcome = change.regression
        if outcome is None:
            continue
        reason = outcome.reason if outcome.verdict is not Outcome.PASS else doubt(outcome)
        if reason:
            yield code(change.path, anchor=anchors[change.path]), f": {reason}"
    if not any(change.regression for change in changes):
        yield from (outcome.reason for outcome in diff.gate.outcomes if outcome.verdict is not Outcome.PASS)
    failed = any(change.regressed for change in changes)
    if failed and not diff.gate.outcomes:
        yield "no gate was requested; --fail-on-regression would fail on these"


def _figures(diff: Diff) -> Iterator[Figure]:
    found = diff.summary
    yield Figure("regressions", str(found.regressions), tone="poor" if found.regressions else "")
    yield Figure("changed", str(found.changed))
    yield Figure("new", str(found.new), "no baseline" if found.new else "")
    yield Figure("removed", str(found.removed))
    yield Figure("moved", str(found.moved))
    yield Figure("unchanged", str(found.unchanged))
    others = f"{found.findings_fixed} fixed, {found.findings_kept} unchanged"
    yield Figure("findings", f"{found.findings_new} new", others)


def _row(change: SkillChange, anchor: str, context: Context) -> Row:
    before, after = (None if side is None else side.score for side in (change.before, change.after))
    cells = (
        code(change.path, anchor=anchor),
        Cell(chart=charts.slope(before, after, numbers.direction(change.change))),
        Cell(points(before), sort=before),
        Cell(points(after), tone="" if after is None else numbers.tone(after), sort=after),
        Cell(numbers.moved(change.change), tone=_tone(change.change), sort=change.change),
        badges(change),
        what_moved(change),
    )
    quiet = not (change.new or change.fixed or change.suppressed or change.sampled)
    return Row(cells, tuple(_parts(change, context)), anchor, quiet, _mark(change))


def _tone(change: float | None) -> Tone:
    return _TONES.get(numbers.direction(change), "")


def _parts(change: SkillChange, context: Context) -> Iterator[Block]:
    """Build what is known of one skill's change."""
    for side, word in ((change.before, "before"), (change.after, "after")):
        if side is not None and side.score is None:
            yield Note(f"No score {word}: {side.reason or 'not evaluated'}", "fair")
    if change.new:
        yield Heading(f"New: {counts(change.new)}", 3)
        yield skill.findings(change.new, context, within=change.path)
    if change.fixed:
        yield Heading(f"Fixed: {counts(change.fixed)}", 3)
        gone = context._replace(links=context.links.nowhere)
        yield skill.findings(change.fixed, gone, within=change.before.path if change.before else "", fixes=False)
    if change.suppressed:
        yield Heading(f"Newly suppressed: {len(change.suppressed)}", 3)
        yield suppressed(change.suppressed, context)
    if change.before and change.after and any(item.a != item.b for item in change.dimensions.values()):
        yield Fold("Dimensions", (_dimensions(change.dimensions, {}),), open=True, quiet=True)
    if change.sampled:
        from skillgate.report import sessions  # only where such were requested

        yield from sessions.changes(change.sampled)


def suppressed(found: Iterable[Suppressed], context: Context) -> Items:
    """List findings that were suppressed, by what, and why."""
    items = []
    for one in found:
        place = code(
            f"{one.finding.path}:{one.finding.line}", context.links.file(str(one.finding.path), one.finding.line)
        )
        until = f" until {one.until}" if one.until else ""
        said = f" {one.finding.id} by {one.by}{until}: {one.reason or 'no reason is given'}"
        items.append(Item((place, said), below=(one.finding.message,)))
    return Items(tuple(items), "finding")


def _dimensions(changes: Mapping[Dimension, DimensionChange], judged: Mapping[Dimension, Sides]) -> Table:
    """Set the dimensions that either side measured next to each other, those that moved most first."""
    rows = []
    for key, side in sorted(changes.items(), key=lambda item: -abs(item[1].change or 0.0)):
        bar = Bar(_percent(side.b), numbers.tone(_percent(side.b)), _percent(side.a))
        change = Cell(numbers.moved(side.change, 4), tone=_tone(side.change))
        rows.append(Row((key.value, Cell(chart=bar), ratio(side.a), ratio(side.b), change)))
        if estimate := judged.get(key):
            moved = Cell(numbers.moved(estimate.change, 4), estimate.spread)
            rows.append(Row((f"— {estimate.label}", Cell(), ratio(estimate.a), ratio(estimate.b), moved)))
    return Table(columns("dimension", "~", "#before", "#after", "#change"), tuple(rows), noun="dimension")


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _about(diff: Diff, links: Links) -> Iterator[tuple[str, Line]]:
    for name, side in (("Before", diff.a), ("After", diff.b)):
        yield name, _side(side, links)
    yield from _method(diff)


def _side(side: DiffSide, links: Links) -> Line:
    commit = (" ", code(side.commit[:12], links.change(side.commit))) if side.commit else ()
    return (side.label, *commit)


def _method(document: Diff | Comparison) -> Iterator[tuple[str, Line]]:
    measured = (
        "" if document.coverage is None else f": {numbers.share(document.coverage, 0)} of the weight was measured"
    )
    yield "Depth", f"{document.depth.value}{measured}"
    yield from scales()
    yield "Scoring", f"version {document.scoring_version}; scores of other versions do not compare"
    yield "Models", ", ".join(document.models[:20]) or "none: the same bytes give the same score"
    yield "Program", f"{document.tool.name} {document.tool.version}"
    if document.config_digest:
        yield "Configuration", code(document.config_digest[:24])


def compare_view(comparison: Comparison) -> View:
    """Build what a comparison of two skills shows."""
    a, b = comparison.a, comparison.b
    context = Context()
    judged = sides(comparison) if is_judged((a, b)) else {}
    blocks: list[Block] = []
    for name, side in (("A", a), ("B", b)):
        if side.composite.score is None:
            blocks.append(Note(f"No score in {name}: {side.composite.reason or 'not evaluated'}", "fair"))
    blocks.append(_overview(comparison))
    if comparison.dimensions:
        table = _dimensions(comparison.dimensions, judged)
        names = columns("dimension", "~", "#A", "#B", "#change")
        blocks += [Heading("Dimensions"), table._replace(columns=names)]
    if is_simulated((a, b)):
        from skillgate.report import sessions  # only where such were requested
        from skillgate.report.simulated_compared import sampled_changes

        blocks += sessions.changes(sampled_changes(a, b))
    for heading, found in (("Fixed in B", comparison.fixed), ("New in B", comparison.new)):
        if found:
            items = skill.findings(found, context, fixes=heading.startswith("New"))
            blocks += [Heading(f"{heading}: {counts(found)}"), items._replace(most=50)]
    outcomes = comparison.gate.outcomes
    return View(
        _compared(a, b, comparison.change),
        MARKS[comparison.gate.passed],
        (code(a.skill.path), " (A) and ", code(b.skill.path), " (B)"),
        tuple(f"gate {'passed' if one.verdict is Outcome.PASS else 'failed'}: {one.reason}" for one in outcomes),
        tuple(f"hint: {hint}" for hint in comparison.hints),
        tuple(blocks),
        tuple(_method(comparison)),
        " ".join(answers_warning((a, b))),
    )


def _overview(comparison: Comparison) -> Table:
    a, b = comparison.a, comparison.b
    change = Cell(numbers.moved(comparison.change), tone=_tone(comparison.change))
    badge = (badge_with_errors(one.composite.badge, 0) for one in (a, b))
    rows = (
        Row(("composite", skill.score_cell(a), skill.score_cell(b), change)),
        Row(("badge", *badge, "")),
        Row(("errors", str(a.errors), str(b.errors), "")),
    )
    return Table(columns("", "A", "B", "change"), rows, noun="figure")


def _compared(a: SkillResult, b: SkillResult, change: float | None) -> str:
    if change is None and None not in (a.composite.score, b.composite.score):
        return "A and B were judged differently and are not compared"
    if change is None:
        return "One side has no score to compare"
    if round(change, 2) == 0:
        return "Both score the same"
    return f"B scores {abs(change):.2f} points {'more' if change > 0 else 'less'} than A"
