"""What a comment shows below its verdict: skills that changed, what to do next, new findings, then details folded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from skillgate.action.comment.verdict import REASON, named
from skillgate.format import plural
from skillgate.model.bench import Flip, Pairing
from skillgate.model.documents import State
from skillgate.model.finding import AcrossChange
from skillgate.model.score import Outcome
from skillgate.report import bench, bench_diff, changes, judge, numbers, score, sessions, skill
from skillgate.report.findings import bounded
from skillgate.report.judge_compared import doubt, is_chance, judge_of
from skillgate.report.links import Links
from skillgate.report.lists import ListOf
from skillgate.report.moves import what_moved
from skillgate.report.numbers import points, spread
from skillgate.report.skill import Context
from skillgate.report.steps import main_file, steps
from skillgate.report.tally import badge_of, counts, suppressed_in_words
from skillgate.report.view import Cell, Fold, Heading, Item, Items, Note, Pairs, Span, Table, columns, joined
from skillgate.report.view import Row as TableRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.bench import CompletionReport
    from skillgate.model.finding import Finding
    from skillgate.model.invocation import InvocationReport
    from skillgate.model.report import SkillResult
    from skillgate.report.standing import Row
    from skillgate.report.steps import Step
    from skillgate.report.view import Block, Line, Mark

_ROWS, _ENTRIES = 12, 10  # of a table and of a list in sight; the others are folded
_STEPS, _EACH = 5, 3  # steps, and those of one skill
_WORTH = 1.0  # points; advice below is left out where nothing fails
_RULES = 8  # that a count names
_DETAILED = 5  # skills
_DROPS = 20  # skills whose drops may be chance
_LEFT_OUT = ("Grades", "Badges", "Program")  # explained in the full report, or said at the end


def blocks(subject: Subject, rows: Sequence[Row], links: Links) -> Iterator[Block]:
    """Build what follows the verdict, in the order of reading."""
    compared, context = subject.diff is not None, Context(links)
    if subject.run.policy_changes:
        yield Heading("Changes to the gate itself, effective after the merge")
        yield from _folding(Items(tuple(Item(bounded(text, REASON)) for text in subject.run.policy_changes), "change"))
    yield from table(rows, links, compared=compared)
    todo = _todo(rows)
    if todo:
        yield Heading("Do next (errors first, then most points of each skill)")
        items = tuple(skill.step_item(step, main_file(result), links) for result, step in todo)
        yield Items(items, "step", ordered=True)
    fixed = [finding for _, step in todo if step.fix for finding in step.findings]
    yield from found(
        "New findings" if compared else "Findings", [one for row in rows for one in row.came], links, fixed
    )
    yield from _fixed(rows)
    if aside := [item for row in rows if row.change for item in row.change.suppressed]:
        yield Heading(f"Suppressed by this change: {len(aside):,}")
        yield from _folding(changes.suppressed(aside, context))
    yield from found("Findings outside the skills", subject.report.outside if subject.report else (), links)
    yield from _catalogue(subject, rows, context)
    yield from _benchmark(subject)
    if subject.invocations is not None and subject.invocations.gates:
        yield _gates(subject.invocations)
    yield from _sureness(subject, rows, links)
    yield from _details(rows, links)


def table(rows: Sequence[Row], links: Links, *, compared: bool) -> Iterator[Block]:
    """Show the skills that there is something to say of: the worst in sight, the others folded away."""
    names = columns("skill", "#score", "badge", "what changed" if compared else "findings")
    listed = [_row(row, links, compared=compared) for row in rows if row.listed]
    if listed:
        yield Table(names, tuple(listed[:_ROWS]), noun="skill")
    if more := listed[_ROWS:]:
        yield Fold(f"{plural(len(more), 'more skill')}", (Table(names, tuple(more), noun="skill"),))


def _row(row: Row, links: Links, *, compared: bool) -> TableRow:
    mark: Mark = "pass" if row.result is not None and row.result.gate.passed else "none"
    if row.fails or row.unscored or row.regressed:
        mark = "fail" if row.fails else "error"
    badge = changes.badges(row.change) if row.change else badge_of(row.result) if row.result else "—"
    if row.result is not None:
        composite = row.result.composite
        badge += (
            f", {plural(row.result.errors, 'error')}" if row.change and composite.badge and row.result.errors else ""
        )
        badge += f", Elo {composite.elo:,.0f}" if composite.elo is not None else ""
    said = joined([text for text in _note(row, compared=compared) if text], "; ")
    return TableRow((named(row, links), Cell(_score(row)), badge, said), mark=mark)


def _score(row: Row) -> Line:
    """Write the score, and what it was if another one."""
    side, change = row.result.composite if row.result else None, row.change
    score_now = side.score if side else None
    now: tuple[str | Span, ...] = (Span(points(score_now), "strong"),) if score_now is not None else ("—",)
    if side is not None and (interval := spread(side.score, side.ci_low, side.ci_high)):
        now = (*now, f" {interval}")
    if change is None or change.before is None or change.before.score == score_now:
        return now
    moved = f" {numbers.moved(change.change)}" if change.change else ""
    return (f"{points(change.before.score)} → ", *now, moved)


def _note(row: Row, *, compared: bool) -> Iterator[str]:
    result, change = row.result, row.change
    if change is None and compared:
        yield "not touched by the change" if row.untouched else "no baseline"
    if change is None and result is not None and row.unscored:
        yield f"no score: {result.composite.reason or 'no reason is given'}"
    yield (judge.inconclusive(result) if result else "") or (doubt(change.regression) if change else "")
    yield what_moved(change) if change else counts(result.findings if result else ())
    if result is not None and result.composite.score is not None and result.composite.badge is None:
        why = (result.composite.badge_reason or "").partition("; ")[0]
        yield bounded(why, 80) if why.startswith("no badge: ") else ""  # not that a better one needs more points


def _todo(rows: Sequence[Row]) -> list[tuple[SkillResult, Step]]:
    """List what to do for the skills that fail; where none does, for those that fell or have new findings."""
    failing = [row for row in rows if row.fails]
    chosen = [row for row in failing or rows if row.fails or _is_worse(row)][:_STEPS]
    each = max(1, _EACH + 1 - len(chosen[:_EACH]))
    least = 0.0 if failing else _WORTH
    known = [(row.result, row.change) for row in chosen if row.result]
    todo = [(result, step) for result, change in known for step in steps(result, change, least=least)[:each]]
    return sorted(todo, key=lambda pair: not pair[1].urgent)[:_STEPS]


def _is_worse(row: Row) -> bool:
    return row.change is not None and ((row.change.change or 0) < 0 or bool(row.change.new))


def found(title: str, findings: Sequence[Finding], links: Links, fixed: Sequence[Finding] = ()) -> Iterator[Block]:
    """Show findings: the worst in sight, the others folded away."""
    if not findings:
        return
    yield Heading(f"{title}: {counts(findings)}")
    yield from _folding(skill.findings(findings, Context(links), fixed=fixed))


def _folding(found: Items) -> Iterator[Block]:
    """Show the first entries of a list, the others folded away."""
    yield found._replace(items=found.items[:_ENTRIES])
    if more := found.items[_ENTRIES:]:
        yield Fold(plural(len(more), f"more {found.noun}"), (found._replace(items=more),))


def _fixed(rows: Sequence[Row]) -> Iterator[Block]:
    """Count the findings that went, by rule, and those that stay."""
    gone = Counter(finding.id for row in rows if row.change for finding in row.change.fixed)
    same = sum(row.change.kept for row in rows if row.change and row.listed)
    parts: list[Line] = []
    if gone:
        rules = [bounded(name, 80) + (f" ×{times:,}" if times > 1 else "") for name, times in gone.most_common()]
        parts.append((Span("Fixed", "strong"), f": {gone.total():,} ({numbers.several(rules, _RULES)})"))
    if same:
        parts.append(f"{plural(same, 'finding')} as before")
    if parts:
        yield Note(joined(parts, " · "))


def _catalogue(subject: Subject, rows: Sequence[Row], context: Context) -> Iterator[Block]:
    """Show lists of clients that the change fills, and findings across skills that no skill has already."""
    report, diff = subject.report, subject.diff
    if report is None:
        return
    source = diff or report
    listing = tuple(use for use in source.listing if ListOf(use, ()).is_notable)
    known = {finding for row in rows for finding in (*row.came, *(row.change.fixed if row.change else ()))}
    sides = source.across or AcrossChange((), ())
    new, fixed = (tuple(one for one in side if one not in known) for side in sides)
    across = AcrossChange(new, fixed) if new or fixed else None
    if diff is not None:
        diff = replace(diff, listing=listing, across=across)
    yield from score.catalogue(report._replace(listing=listing, across=across), context, diff)


def _benchmark(subject: Subject) -> Iterator[Block]:
    """Show a benchmark: the figures of each skill, worst first, and folded what differs from the base."""
    if subject.bench is None:
        return
    compared = {
        (one.skill_id, one.benchmark_id): one for one in (subject.bench_diff.changes if subject.bench_diff else ())
    }
    reports = sorted(subject.bench.reports, key=_worst_first)
    name = reports[0].benchmark_id if reports and subject.trusted else ""
    yield Heading(f"Benchmark {bounded(name, 80)}" if name else "Benchmark")
    yield from (Note(text, "fair") for text in bench.warnings(subject.bench))
    why = [*bench.reasons(subject.bench), *(subject.bench_diff.reasons if subject.bench_diff else ())]
    if why:
        yield Items(tuple(map(Item, dict.fromkeys(why))), "reason")
    if reports:
        yield bench.figures(reports)
    folds, flips, failing = [], Counter[Flip](), 0
    for one in reports:
        change = compared.get((one.skill_id, one.benchmark_id))
        if change is not None and change.pairing is Pairing.BOTH:
            flips.update(task.flip for task in change.tasks)
            folds.append(bench_diff.skill_fold(change))
        else:
            failing += one.summary.counts.total - one.summary.counts.passed - one.summary.counts.skipped
            folds.append(
                Fold((Span(bounded(one.skill_id, 80), "code"), ", no baseline"), tuple(bench.skill_blocks(one)))
            )
    counted = ((flips[Flip.BROKEN], "no longer pass"), (flips[Flip.FIXED], "pass now"), (failing, "do not pass"))
    said = ", ".join(f"{number:,} {what}" for number, what in counted if number)
    if folds:
        yield Fold(f"Tasks of the benchmark: {said or 'no change'}", tuple(folds))


def _worst_first(one: CompletionReport) -> tuple[bool, float, str]:
    return one.gate.passed is not False, one.summary.completion_rate or 0.0, one.skill_id


def _gates(report: InvocationReport) -> Fold:
    """Show the result of each gate on recorded invocations, folded away."""
    from skillgate.report import invocation_lists, invocations  # most runs ask no such gate

    rated = f"{plural(report.rated, 'invocation')} rated by rubric {report.rubric_version}"
    about = f"{rated}, of {report.invocations:,} in {invocations.of_window(report)}"
    table = invocation_lists.gates(report.gates)
    summary = f"Gates on recorded invocations: {invocations.decided(report.gates)}"
    return Fold(summary, (*table.blocks, Note(bounded(about, 200), "muted")), mark=table.mark)


def _details(rows: Sequence[Row], links: Links) -> Iterator[Fold]:
    """Show the dimensions of the worst skills that changed, and what judges and sessions say of them."""
    shown = [(row, row.result) for row in rows if row.listed and row.result and _is_measured(row.result)]
    for row, result in shown[:_DETAILED]:
        change = None if row.state is State.NEW else row.change
        parts: tuple[Block, ...] = (skill.dimensions(result, change), *skill.layers(result, links))
        parts += sessions.changes(change.sampled) if change is not None else ()
        yield Fold(("Details: ", *named(row, links)), parts)


def _is_measured(result: SkillResult) -> bool:
    return any(found.score is not None for found in result.dimensions.values())


def _sureness(subject: Subject, rows: Sequence[Row], links: Links) -> Iterator[Fold]:
    """Say what the numbers rest on, and which drops may be chance."""
    report = subject.report
    if report is None or not any(row.listed for row in rows):
        return
    said: list[Line] = ["Static scores are exact: the same files give the same numbers."]
    said += _by_chance(rows, links)
    said += [*judge.notes(report), *sessions.notes(report)]
    if subject.diff is None:
        why = bounded(subject.run.compared, REASON)
        said.append(f"No baseline{why.removeprefix('nothing') if why.startswith('nothing') else ''}.")
    if report.summary.suppressed:
        said.append(f"{suppressed_in_words(report.summary.suppressed)}; no gate counts them.")
    about = [pair for pair in score.about(report, None, Links(), subject.diff) if pair[0] not in _LEFT_OUT]
    yield Fold("How sure is this?", (Items(tuple(map(Item, said)), "remark"), Pairs(tuple(about))))


def _by_chance(rows: Sequence[Row], links: Links) -> Iterator[Line]:
    """List drops that fail nothing because they may be chance, and what comparisons rest on."""
    fell: list[Line] = []
    for row in rows:
        outcome = row.change.regression if row.change else None
        texts = [doubt(outcome)] if outcome is not None and is_chance(outcome) else []
        texts = texts if outcome is not None and outcome.verdict is Outcome.PASS else []
        if row.result is not None:
            texts = [] if judge.inconclusive(row.result) else texts
            texts += [judge.drop_in_words(row.result.drop)] if judge_of(row.result) is None else []
        fell += [(*named(row, links), f": {text}") for text in texts if text]
    yield from fell[:_DROPS]
    if len(fell) > _DROPS:
        yield f"{len(fell) - _DROPS:,} more drops are inconclusive"
