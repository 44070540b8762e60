"""What a comment shows below its verdict: skills that changed, what to do next, new findings, then details folded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from skillgate.action.comment.verdict import REASON, named
from skillgate.format import plural
from skillgate.model.bench import Flip, Pairing
from skillgate.model.documents import State
from skillgate.model.finding import AcrossChange, Severity
from skillgate.model.score import Depth, Outcome
from skillgate.report import bench, bench_diff, changes, judge, numbers, score, sessions, skill
from skillgate.report.findings import bounded, order
from skillgate.report.judge_compared import doubt, is_chance, judge_of
from skillgate.report.links import Links
from skillgate.report.lists import ListOf
from skillgate.report.moves import what_moved
from skillgate.report.numbers import points, spread
from skillgate.report.skill import Context
from skillgate.report.steps import main_file, steps
from skillgate.report.tally import badge_of, counts, suppressed_in_words
from skillgate.report.view import Cell, Fold, Heading, Item, Items, Note, Pairs, Span, Table, columns, joined, spans
from skillgate.report.view import Row as TableRow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.bench import BenchChange, CompletionReport
    from skillgate.model.documents import SkillChange
    from skillgate.model.finding import Finding
    from skillgate.model.invocation import InvocationReport
    from skillgate.model.report import SkillResult
    from skillgate.report.standing import Row
    from skillgate.report.steps import Step
    from skillgate.report.view import Block, Line, Mark

_ROWS, _ENTRIES = 12, 10  # of a table and of a list in sight; the others are folded
_STEPS, _EACH = 5, 3  # steps, and those of one skill
_SEEN = 0.005  # of a dimension: what two decimals show
_WORTH = 1.0  # points; advice below is left out where nothing fails
_OF_SCORE = ("threshold", "new-score", "badge", "dimension", "regression")  # the gates that advice helps to pass
_SAME = 3  # more findings of one rule in one file are one entry
_LINES = 5  # that such an entry names
_FEW = 2  # dimensions that a row of the table names
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
    yield from _benchmark(subject)
    if subject.invocations is not None:
        yield from _observed(subject, subject.invocations, rows, links)
        yield from [_gates(subject.invocations)] if subject.invocations.gates else []
    came = [finding for row in rows for finding in row.came]
    yield from found("New findings" if compared else "Findings", came, links, first=_is_untriggered(rows))
    yield from _todo(rows, links, {id(finding) for finding in came})
    yield from _before(rows, links)
    if aside := [item for row in rows if row.change for item in row.change.suppressed]:
        yield Heading(f"Suppressed by this change: {len(aside):,}")
        yield from _folding(changes.suppressed(aside, context))
    yield from found("Findings outside the skills", subject.report.outside if subject.report else (), links)
    yield from _catalogue(subject, rows, context)
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


def _is_untriggered(rows: Sequence[Row]) -> Callable[[Finding], bool]:
    """Whether a new skill never says when to use it: no client would load it."""
    new = {row.path for row in rows if row.state is State.NEW}
    return lambda finding: finding.id == "MISSING_TRIGGER" and str(finding.path.parent) in new


def _todo(rows: Sequence[Row], links: Links, listed: Collection[int]) -> Iterator[Block]:
    """Show advice for the skills that fail by their score; where none does, for those that fell.

    In sight is advice about what the change lowered, or anything of a skill without a base. The rest is folded. A skill
    that fails by its findings alone has their fixes already.
    """
    failing = [row for row in rows if row.fails and row.result and _fails_by(row.result, *_OF_SCORE)]
    chosen = (failing or [row for row in rows if row.change and (row.change.change or 0) <= -_WORTH])[:_STEPS]
    each = max(1, _EACH + 1 - len(chosen[:_EACH]))
    near: list[Item] = []
    far: list[Item] = []
    for row in chosen:
        if row.result is None:
            continue
        advice = [one for one in steps(row.result, row.change, least=_WORTH) if one.advice and not one.urgent]
        advice = [one for one in advice if not any(id(finding) in listed for finding in one.findings)]
        about = [one for one in advice if _is_about(one, row)][:each]
        main = main_file(row.result)
        near += [skill.step_item(one, main, links) for one in about]
        far += [skill.step_item(one, main, links.nowhere) for one in advice[:each] if one not in about]
    if near:
        yield Heading("Do next (worst skill first)" if len(chosen) > 1 else "Do next")
        yield Items(tuple(near[:_STEPS]), "step", ordered=True)
    if far:
        yield Fold("More that would raise the score", (Items(tuple(far[:_STEPS]), "step", ordered=True),))


def _is_about(step: Step, row: Row) -> bool:
    """Whether a step is about a dimension that the change lowered; without a base it may be about any."""
    dimension = step.advice.dimension if step.advice else None
    if row.change is None or row.state is State.NEW:
        return True
    moved = row.change.dimensions.get(dimension) if dimension else None
    return moved is not None and (moved.change or 0) <= -_SEEN


def found(
    title: str, findings: Sequence[Finding], links: Links, *, first: Callable[[Finding], bool] = lambda _: False
) -> Iterator[Block]:
    """Show findings: the worst in sight, the others folded away; ``first`` are those that matter most."""
    if not findings:
        return
    yield Heading(f"{title}: {counts(findings)}")
    sides = ([one for one in findings if first(one)], [one for one in findings if not first(one)])
    lead, rest = (skill.findings(_by_cause(side), Context(links)) for side in sides)
    yield from _folding(rest._replace(items=(*lead.items, *rest.items)))


def _by_cause(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield one finding for many of one rule in one file: who fixes one sees the others."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=order):
        groups.setdefault((finding.tool, finding.id, str(finding.path)), []).append(finding)
    for one, *others in groups.values():
        if len(others) < _SAME:
            yield from (one, *others)
            continue
        lines = ", ".join(str(line) for line in dict.fromkeys(other.line for other in others[:_LINES]))
        more = ", …" if len(others) > _LINES else ""
        yield one._replace(message=f"{one.message}; {len(others):,} more like it in this file (lines {lines}{more})")


def _folding(found: Items) -> Iterator[Block]:
    """Show the first entries of a list, the others folded away."""
    yield found._replace(items=found.items[:_ENTRIES])
    if more := found.items[_ENTRIES:]:
        yield Fold(plural(len(more), f"more {found.noun}"), (found._replace(items=more),))


def _before(rows: Sequence[Row], links: Links) -> Iterator[Block]:
    """Count the findings that went, by rule; show the errors that stay, in sight where a gate fails by them."""
    gone = Counter(finding.id for row in rows if row.change for finding in row.change.fixed)
    if gone:
        rules = [bounded(name, 80) + (f" ×{times:,}" if times > 1 else "") for name, times in gone.most_common()]
        yield Note((Span("Fixed", "strong"), f": {gone.total():,} ({numbers.several(rules, _RULES)})"))
    old = [(row, finding) for row in rows if not row.untouched for finding in _old(row)]
    errors = [finding for _, finding in old if finding.severity is Severity.ERROR]
    fails = any(row.fails and row.result and _fails_by(row.result, "error") for row in rows)
    if errors and fails:
        yield from found("Errors that existed before", errors, links)
    elif errors:
        shown = skill.findings(errors[:_ENTRIES], Context(links))
        more = len(errors) - _ENTRIES
        parts: tuple[Block, ...] = (shown, *([Note(f"{more:,} more")] if more > 0 else []))
        yield Fold(f"{plural(len(errors), 'error')} existed before", parts)
    if rest := sum(row.listed and finding.severity is not Severity.ERROR for row, finding in old):
        yield Note(f"{plural(rest, 'finding')} as before", "muted")


def _old(row: Row) -> list[Finding]:
    came = {id(finding) for finding in row.came}
    return [finding for finding in (row.result.findings if row.result else ()) if id(finding) not in came]


def _fails_by(result: SkillResult, *gates: str) -> bool:
    return any(outcome.gate in gates and outcome.verdict is Outcome.FAIL for outcome in result.gate.outcomes)


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
        yield _with_base(bench.figures(reports), [compared.get((one.skill_id, one.benchmark_id)) for one in reports])
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


def _with_base(table: Table, compared: Sequence[BenchChange | None]) -> Table:
    """Write the base's share of completed tasks before each that differs, in the table of the same skills."""
    at = [column.name for column in table.columns].index("completed")
    rows = []
    for row, change in zip(table.rows, compared, strict=True):
        cell = row.cells[at]
        before = (
            next((one.a for one in change.metrics if one.name == "completionRate" and one.a != one.b), None)
            if change
            else None
        )
        if before is not None and isinstance(cell, Cell):
            cell = cell._replace(line=(f"{numbers.share(before)} → ", *spans(cell.line)))
        rows.append(row._replace(cells=(*row.cells[:at], cell, *row.cells[at + 1 :])))
    return table._replace(rows=tuple(rows))


def _worst_first(one: CompletionReport) -> tuple[bool, float, str]:
    return one.gate.passed is not False, one.summary.completion_rate or 0.0, one.skill_id


def _observed(subject: Subject, report: InvocationReport, rows: Sequence[Row], links: Links) -> Iterator[Block]:
    """Show one line for each touched skill with records: its score, its benchmark, and what was observed."""
    from skillgate.report.invocations import dashboard, groups  # most runs have no records

    figures = {one.skill: one for one in report.skills}
    tested = {one.skill_path: one.summary.completion_rate for one in (subject.bench.reports if subject.bench else ())}
    items = []
    for row in rows:
        seen = figures.get(row.path)
        if row.untouched or row.result is None or seen is None or not seen.recorded:
            continue
        score, tier = row.result.composite.score, groups.tier_of(seen.avg_score)
        rated = f"{tier.value}, {seen.invocation_count:,} rated" if tier else f"{seen.recorded:,} recorded, none rated"
        parts = [f"score {points(score)}" if score is not None else "no score"]
        parts += [f"benchmark {numbers.share(share)}"] if (share := tested.get(row.path)) is not None else []
        parts.append(f"observed {numbers.total(seen.avg_score)} ({rated})")
        parts += [f"failed {numbers.rate(seen.unrecovered_rate)}"] if seen.unrecovered_rate is not None else []
        items.append(Item((*named(row, links), f": {', '.join(parts)}")))
    if items:
        yield Note((Span("In use", "strong"), f", {bounded(dashboard.of_window(report), 80)}:"))
        yield from _folding(Items(tuple(items), "skill"))


def _gates(report: InvocationReport) -> Fold:
    """Show the result of each gate on recorded invocations, folded away."""
    from skillgate.report.invocations import dashboard, lists  # most runs ask no such gate

    rated = f"{plural(report.rated, 'invocation')} rated by rubric {report.rubric_version}"
    about = f"{rated}, of {report.invocations:,} in {dashboard.of_window(report)}"
    table = lists.gates(report.gates)
    summary = f"Gates on recorded invocations: {dashboard.decided(report.gates)}"
    return Fold(summary, (*table.blocks, Note(bounded(about, 200), "muted")), mark=table.mark)


def _details(rows: Sequence[Row], links: Links) -> Iterator[Fold]:
    """Show the dimensions that moved of the worst skills that changed, and what judges and sessions say of them."""
    shown = 0
    for row in rows:
        if not (row.listed and row.result and _is_measured(row.result)):
            continue
        change = None if row.state is State.NEW else row.change
        dimensions, layers = _dimensions(row.result, change), tuple(skill.layers(row.result, links))
        # The row names a few dimensions that moved; a table adds the others, and intervals where a model was asked.
        is_more = bool(dimensions.rows) and (change is None or bool(layers) or len(dimensions.rows) > _FEW)
        parts: tuple[Block, ...] = (*([dimensions] if is_more else []), *layers)
        parts += sessions.changes(change.sampled) if change is not None else ()
        if parts and shown < _DETAILED:
            shown += 1
            yield Fold(("Details: ", *named(row, links)), parts)


def _dimensions(result: SkillResult, change: SkillChange | None) -> Table:
    """Build a table of the dimensions that moved; without a base, of those that were measured."""
    rows = []
    for key, side in result.dimensions.items():
        moved = change.dimensions.get(key) if change else None
        if side.score is None or (change and (moved is None or abs(moved.change or 0) < _SEEN)):
            continue
        was = f"{moved.a:.2f} → " if moved and moved.a is not None else ""
        ended = f" {numbers.moved(moved.change, 2)}" if moved and moved.change else ""
        sure = numbers.ends(side.ci_low, side.ci_high, 2)
        now = Cell((was, Span(f"{side.score:.2f}", "strong"), ended), sure)
        rows.append(TableRow((key.value, now, numbers.share(side.weight, 0))))
    return Table(columns("dimension", "#score", "#weight"), tuple(rows), noun="dimension")


def _is_measured(result: SkillResult) -> bool:
    return any(found.score is not None for found in result.dimensions.values())


def _sureness(subject: Subject, rows: Sequence[Row], links: Links) -> Iterator[Fold]:
    """Say what the numbers rest on, and which drops may be chance."""
    report = subject.report
    if report is None or not any(row.listed for row in rows):
        return
    if report.depth is Depth.QUICK and subject.diff is not None and not report.summary.suppressed:
        return  # the same files give the same numbers
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
