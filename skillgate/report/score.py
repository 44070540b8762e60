"""What a score report shows: the verdict, what to do first, a row for each skill, then each skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.score import Badge, Depth, Grade
from skillgate.report import charts, numbers, skill
from skillgate.report.links import Links
from skillgate.report.lists import lists_of
from skillgate.report.numbers import count, points, share
from skillgate.report.skill import Context
from skillgate.report.steps import main_file, steps
from skillgate.report.tally import (
    answers_warning,
    badge_of,
    blamed_outside,
    counts,
    failures,
    is_judged,
    is_simulated,
    spread_of,
    suppressed_in_words,
    unread,
    without_text,
    worst_first,
)
from skillgate.report.view import (
    MARKS,
    Bar,
    Cell,
    Chart,
    Column,
    Figure,
    Figures,
    Fold,
    Heading,
    Item,
    Items,
    Note,
    Row,
    Span,
    Table,
    View,
    code,
    columns,
    joined,
)
from skillgate.scoring.composite import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.documents import ActionRun, Diff, SkillChange
    from skillgate.model.finding import ListingUse
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.standing import Row as Standing
    from skillgate.report.steps import Step
    from skillgate.report.tally import Unread
    from skillgate.report.view import Block, Line, Mark, Tone

_ADVISED = 5
_ROWS = 20  # skills that a terminal lists unless everything is asked for
_DETAILED = 2  # skills that a terminal shows in full unless everything is asked for
_CHARTED = 5  # scores from which on their distribution says something
_BINS = 20  # of five points each, so that every badge begins a bin
_LISTS = 12


def view(
    report: Report,
    *,
    diff: Diff | None = None,
    run: ActionRun | None = None,
    context: Context | None = None,
) -> View:
    """Build what a report shows, next to its baseline with ``diff``; ``run`` is the record of a run of the Action."""
    context = context or Context()
    changes = {item.after.path: item for item in diff.skills if item.after} if diff else {}
    context = context._replace(changes=changes)
    report = _requested(report, run)
    ranked = worst_first(report.results)
    anchors = {result.skill.path: f"skill-{n}" for n, result in enumerate(ranked, 1)}
    alone = len(ranked) == 1
    blocks: list[Block] = [Figures(tuple(_figures(report, ranked, diff)))]
    if alone:
        blocks += skill.blocks(ranked[0], context, alone=True)
    else:
        blocks += _next(ranked, context, anchors)
        blocks += _skills(ranked, context, anchors, diff)
    blocks += _unread(report, ranked, diff)
    if report.outside:
        blocks += [Heading("Findings outside the skills"), skill.findings(report.outside, context)]
    scores = [result.composite.score for result in ranked if result.composite.score is not None]
    if len(scores) >= _CHARTED:
        blocks.append(_distribution(report, scores))
    blocks += catalogue(report, context, diff)
    mark = _mark(report, run)
    return View(
        _title(mark, report, ranked) if run is None else _verdict(run, report, diff),
        mark,
        facts(report),
        tuple(_reasons(report, ranked, run, mark, anchors)),
        tuple(_notes(report, run, context.links)),
        tuple(blocks),
        tuple(about(report, run, context.links, diff)),
        alarm=" ".join(answers_warning(report.results)),
        ends=run is None,
    )


def run_view(run: ActionRun, links: Links) -> View:
    """Build what a run of the Action shows that ended before there was a report."""
    mark: Mark = "pass" if run.result == "pass" else "fail" if run.result == "fail" else "error"
    notes = tuple(_run_notes(run, links))
    return View(_verdict(run, None, None), mark, "", run.reasons, notes, about=tuple(_provenance(run, links)))


def _requested(report: Report, run: ActionRun | None) -> Report:
    """Leave out skills that only share something with a requested one, unless they fail."""
    extras = frozenset(run.beside) if run else frozenset()
    requested = [item for item in report.results if item.skill.path not in extras or item.gate.passed is False]
    if len(requested) == len(report.results):
        return report
    return report._replace(results=tuple(requested), summary=summarise(requested, found=report.summary.found))


def _mark(report: Report, run: ActionRun | None) -> Mark:
    if run is not None:
        return "pass" if run.result == "pass" else "fail" if run.result == "fail" else "error"
    if report.gate.passed is not False and report.summary.not_evaluated:
        return "error"
    return MARKS[report.gate.passed]


def _title(mark: Mark, report: Report, ranked: Sequence[SkillResult]) -> str:
    """Write the verdict in a few words, such as ``15 skills: 6 errors in 3 skills``."""
    total = len(ranked)
    skills = plural(total, "skill")
    alone = ranked[0].skill.path if total == 1 else ""
    failed = sum(result.gate.passed is False and result.evaluated for result in ranked)
    bad = sum(not result.evaluated for result in ranked)
    found = spread_of(report.results)
    if mark == "fail":
        if failed:
            return f"{alone} fails: {found}" if alone else f"{failed} of {skills} fail{'s' * (failed == 1)}: {found}"
        if bad and not report.outside:
            return f"{alone or f'{bad} of {skills}'} could not be evaluated"
        return f"{counts(report.outside)} outside the skills" if report.outside else "The gate failed"
    if mark == "error":
        return f"{alone or f'{bad} of {skills}'} could not be evaluated" if bad else "The evaluation is not complete"
    if mark == "pass":
        return f"{alone or skills} pass{'es' * (total == 1)}: {found}" if total else "Passed: no skill was requested"
    return f"{alone or skills}: {found}"


def _verdict(run: ActionRun, report: Report | None, diff: Diff | None) -> str:
    """Write the verdict of a run in the words of its comment."""
    from skillgate.report.standing import standings, title  # only of a run of the Action

    rows = standings(run, report, diff)

    def shown(row: Standing) -> str:
        return row.name if row.path in ("", ".") else row.path

    heading = title(run, report, rows, compared=diff is not None, show=shown)
    return heading if any(heading.startswith(shown(row)) for row in rows) else numbers.sentence(heading)


def facts(report: Report) -> str:
    """Say in a line what was measured, by whom, and what it cost."""
    depth = f"{report.depth.value} depth"
    if report.coverage is not None:
        idle = {Depth.QUICK: " (judge and simulations not run)", Depth.STANDARD: " (simulations not run)"}
        depth += f" measures {share(report.coverage, 0)} of the weight{idle.get(report.depth, '')}"
    parts = [depth, *([f"profile {report.profile}"] if report.profile != "any" else [])]
    if is_judged(report.results) or is_simulated(report.results):
        from skillgate.report import judge, sessions  # only where a model was asked

        parts += (*judge.facts(report), *sessions.facts(report))
    return " · ".join(parts)


def _reasons(
    report: Report, ranked: Sequence[SkillResult], run: ActionRun | None, mark: Mark, anchors: Mapping[str, str]
) -> Iterator[Line]:
    """Yield why it did not pass: first what only the run knows, then the skills, then what is outside of them."""
    found: list[tuple[str, Line]] = []
    for result in ranked:
        if result.gate.passed is False and result.evaluated:
            text = "; ".join(failures(result))
            found.append((text, (code(result.skill.path, anchor=anchors[result.skill.path]), f": {text}")))
    found += [(text, text) for text in (blamed_outside(report) if mark == "fail" else ())]
    if undecided := report.gate.passed is None and report.summary.not_evaluated:
        undecided = any(result.gate.passed is not None for result in report.results)
    own = run.reasons if run else ("gate undecided: not every skill could be evaluated",) if undecided else ()
    yield from (text for text in own if not any(part and part in text for part, _ in found))
    yield from (line for _, line in found)


def _notes(report: Report, run: ActionRun | None, links: Links) -> Iterator[Line]:
    if is_judged(report.results) or is_simulated(report.results):
        from skillgate.report import judge, sessions  # only where a model was asked

        if run is not None and run.result == "pass":
            yield from judge.allowed(report.results)
        yield from judge.notes(report)
        yield from sessions.notes(report)
    yield from _run_notes(run, links)


def _run_notes(run: ActionRun | None, links: Links) -> Iterator[Line]:
    if not links.trusted:
        yield "This page repeats the results of a workflow without rights. Nothing in it was verified."
    if run is not None:
        yield from (
            f"The change edits its own gate, which takes effect after the merge: {text}" for text in run.policy_changes
        )
        yield from run.notices


def _figures(report: Report, ranked: Sequence[SkillResult], diff: Diff | None) -> Iterator[Figure]:
    summary, found = report.summary, report.summary.findings
    if len(ranked) == 1:
        only, cell = ranked[0].composite, skill.score_cell(ranked[0])
        yield Figure("score", points(only.score), cell.note, cell.tone)
        elo = "" if only.elo is None else f"Elo {only.elo:,.0f}"
        yield Figure("badge", badge_of(ranked[0], none="none", stars=True), elo)
    else:
        changed = summary.found is not None and summary.found > summary.skills
        yield Figure("skills", count(summary.skills), f"of {count(summary.found)}" if changed else "")
        yield Figure("median", points(summary.median), tone=numbers.tone(summary.median))
        yield Figure("lowest", points(summary.lowest), tone=numbers.tone(summary.lowest))
        named = [f"{number} {name}" for name, number in summary.by_badge.items() if number and name != "none"]
        none = summary.by_badge.get("none", 0)
        if named or none:
            without = [f"{none} without a badge"] if none else []
            yield Figure(
                "badges",
                count(sum(n for name, n in summary.by_badge.items() if name != "none")),
                f"({', '.join([*named, *without])})",
            )
    if summary.not_evaluated:
        yield Figure("not evaluated", count(summary.not_evaluated), tone="poor")
    yield Figure("errors", count(found.get("error", 0)), tone="poor" if found.get("error") else "")
    yield Figure("warnings", count(found.get("warning", 0)))
    if diff:
        yield Figure("new · fixed", f"{diff.summary.findings_new:,} · {diff.summary.findings_fixed:,}")
    else:
        yield Figure("infos", count(found.get("info", 0)))
    if summary.suppressed:
        yield Figure("suppressed", suppressed_in_words(summary.suppressed).replace(" suppressed", ""))


def _next(ranked: Sequence[SkillResult], context: Context, anchors: Mapping[str, str]) -> Iterator[Block]:
    """List what to do first about the skills that need it most: those that fail, then those that got worse."""

    def is_worse(result: SkillResult) -> bool:
        change = context.changes.get(result.skill.path)
        return change is not None and ((change.change or 0) < 0 or bool(change.new))

    def order(first: tuple[SkillResult, Step]) -> tuple[bool, bool, bool, float]:
        result, step = first
        return result.gate.passed is not False, not result.errors, not is_worse(result), -(step.gain or 0.0)

    firsts = [(one, step) for one in ranked for step in steps(one, context.changes.get(one.skill.path))[:1]]
    items = []
    for result, step in sorted(firsts, key=order)[:_ADVISED]:
        item = skill.step_item(step, main_file(result))
        path = code(result.skill.path, anchor=anchors[result.skill.path])
        items.append(item._replace(line=(path, f" {item.line}")))
    if items:
        yield Heading("Do next (the first step of each skill: errors first, then most points)")
        yield Items(tuple(items), "step", ordered=True)


def _skills(
    ranked: Sequence[SkillResult], context: Context, anchors: Mapping[str, str], diff: Diff | None
) -> Iterator[Block]:
    names = list(columns("skill", "~", "#score", "badge", "findings"))
    if diff:
        names.insert(3, Column("change", "number"))
    rows = []
    grouped = {path for group in without_text(ranked) for path in group.paths}
    numbered = enumerate(ranked, start=1)  # those left out here are listed by their reason
    listed = [(number, one) for number, one in numbered if one.evaluated and one.skill.path not in grouped]
    for place, (number, result) in enumerate(listed):
        change = context.changes.get(result.skill.path)
        score, reason = result.composite.score, result.composite.reason or "no score"
        before = change.before.score if change and change.before else None
        path = Span(result.skill.path, "code", anchor=anchors[result.skill.path])
        badge = badge_of(result, stars=True)
        found = Cell(counts(result.findings) or "none", reason if score is None else "")
        cells: list[Cell | Line] = [
            (path,),
            Cell(chart=Bar(score, numbers.tone(score), before)),
            skill.score_cell(result),
        ]
        cells += [_change_cell(change)] if diff else []
        cells += [Cell(badge, tone="poor" if result.errors else ""), found]
        below = tuple(skill.blocks(result, context, alone=False))
        rows.append(Row(tuple(cells), below, f"skill-{number}", place >= _DETAILED, skill.mark_of(result)))
    order = "those that fail first, then those with errors, then the lowest score"
    if not rows:
        return
    yield Heading("Skills")
    yield Table(
        tuple(names), tuple(rows), f"Every skill, {order}", "skill", _ROWS, _rest([one for _, one in listed[_ROWS:]])
    )


def _rest(results: Sequence[SkillResult]) -> str:
    """Say what is true of the skills that a terminal leaves out."""
    lowest = min((result.composite.score or 0.0 for result in results), default=0.0)
    clean = "" if any(result.errors for result in results) else " without errors"
    return clean + (f", all at {lowest:.2f} or above" if lowest > 0 else "")


def _change_cell(change: SkillChange | None) -> Cell:
    if change is not None and change.before is None:
        return Cell("new")
    moved = None if change is None else change.change
    tones: dict[str, Tone] = {"up": "good", "down": "poor"}
    return Cell(numbers.moved(moved), tone=tones.get(numbers.direction(moved), ""), sort=moved)


def _unread(report: Report, ranked: Sequence[SkillResult], diff: Diff | None) -> Iterator[Block]:
    """List skills that could not be read or hold no text, by reason, and those that were removed."""
    for heading, groups in (
        ("Not evaluated", unread(report.results)),
        ("Errors, no text to score", without_text(ranked)),
    ):
        if groups:
            yield Heading(f"{heading}: {sum(len(group.paths) for group in groups)}")
            yield Items(tuple(map(_group, groups)), "reason")
        for group in groups:
            if rest := group.paths[len(group.named()) :]:
                yield Fold(f"{len(rest)} more: {group.reason}", (Note(joined(map(code, rest))),), quiet=True)
    gone = [code(item.path) for item in diff.skills if item.after is None] if diff else []
    if gone:
        more = f" and {len(gone) - 50} more" if len(gone) > 50 else ""
        yield Note(joined(["Removed:", joined(gone[:50]), more], " "))


def _group(group: Unread) -> Item:
    shown = group.named()
    left = len(group.paths) - len(shown)
    named = joined(code(path) for path in shown)
    return Item(
        joined([f"{group.reason}:", named, *([f"and {left} more"] if left else [])], " "), f"{len(group.paths)}"
    )


def _distribution(report: Report, scores: Sequence[float]) -> Chart:
    counted = [0] * _BINS
    for score in scores:
        counted[min(_BINS - 1, max(0, int(score * _BINS // 100)))] += 1
    step = 100 / _BINS
    found = []
    for index, number in enumerate(counted):
        badge = Badge.from_scores(index * step)
        name = badge.value.lower() if badge else "none"
        found.append(charts.Column(f"{index * step:g}–{(index + 1) * step:g}", number, name))
    limits = [(badge.composite, f"{badge.composite:g} {badge.value}") for badge in reversed(Badge)]
    said = "; ".join(f"{column.label}: {column.number}" for column in found if column.number)
    by_badge = report.summary.by_badge
    legend = tuple(
        (name.lower(), Span(f"{'no badge' if name == 'none' else name} {by_badge.get(name, 0):,}"))
        for name in ("none", *(badge.value for badge in reversed(Badge)))
        if by_badge.get(name)
    )
    drawn = charts.columns(found, [(0.0, "0"), *limits, (100.0, "100")])
    return Chart(drawn, "Distribution of scores", f"Skills by score, in steps of five points. {said}.", legend)


def catalogue(report: Report, context: Context, diff: Diff | None) -> Iterator[Block]:
    """Show what skills have together: lists that clients show their models, and findings across skills."""
    listing = lists_of(diff.listing if diff and diff.listing else report.listing)
    shown = [one for one in listing if diff is None or one.change or one.is_full]
    shown.sort(key=lambda one: (-one.share, one.clients, one.use.place))
    blocks: list[Block] = []
    if shown:
        caption = "Characters of names and descriptions in the list that each client shows its model"
        names = columns("place", "clients", "~", "#characters")
        rows = tuple(Row(_listed(one.use, one.clients, one.change)) for one in shown[:_LISTS])
        blocks.append(Table(names, rows, caption, "list"))
        if len(shown) > _LISTS:
            blocks.append(Note(f"{plural(len(shown) - _LISTS, 'more list')}, no fuller than these.", "muted"))
    across = report.across or (diff.across if diff else None)
    gone = context._replace(links=context.links.nowhere, source=skill.no_source)
    for heading, found, where in (
        ("New across skills", across.new if across else (), context),
        ("Gone across skills", across.fixed if across else (), gone),
    ):
        if found:
            blocks += [Heading(heading, 3), skill.findings(found, where, fixes=where is context)]
    if blocks:
        is_changed = any(one.change for one in listing) or across is not None
        yield Fold("Catalogue", tuple(blocks), open=True, quiet=not is_changed)


def _listed(use: ListingUse, clients: Sequence[str], change: int | None) -> tuple[Cell | Line, ...]:
    percent = 100 * use.characters / use.budget
    tone: Tone = "poor" if percent > 100 else "fair" if percent > 90 else "good"
    note = f"of {use.budget:,}"
    note += f", {numbers.more_or_less(change)}" if change else ""
    if use.characters > use.budget:
        note += ", over the budget"
    elif change and use.characters + change > use.budget:
        note += ", no room for the same again"
    if use.cut:
        left = f" and {len(use.cut) - 5} more" if len(use.cut) > 5 else ""
        note += f"; too long for the client, so cut: {', '.join(use.cut[:5])}{left}"
    place: Line = code(use.place) if use.place not in ("", ".") else "here"
    return place, ", ".join(clients), Cell(chart=Bar(min(100.0, percent), tone)), Cell(count(use.characters), note)


def about(report: Report, run: ActionRun | None, links: Links, diff: Diff | None) -> Iterator[tuple[str, Line]]:
    """Yield how the numbers came about."""
    coverage = "" if report.coverage is None else f": {share(report.coverage, 0)} of the weight was measured"
    yield "Depth", f"{report.depth.value}{coverage}"
    yield from scales()
    yield "Scoring", f"version {report.scoring_version}; scores of other versions do not compare"
    yield "Models", ", ".join(report.models[:20]) or "none: the same bytes give the same score"
    if (
        is_judged(report.results)
        or is_simulated(report.results)
        or report.shard is not None
        or report.resumed is not None
    ):
        from skillgate.report import judge, sessions  # only where a model was asked

        yield from judge.about(report)
        yield from sessions.about(report)
    error = ": an error is what every client refuses, or what is broken for all" if report.profile == "any" else ""
    yield "Profile", f"{report.profile}{error}"
    for gap, number in _gaps(report.results).items():
        many = f" ({plural(number, 'skill')})" if len(report.results) > 1 else ""
        yield f"{numbers.words(gap[0])} not measured", f"{gap[1]}{many}"
    yield from (("Compared with the baseline", hint) for hint in (diff.hints[:20] if diff else ()))
    yield "Program", f"{report.tool.name} {report.tool.version}"
    if report.config_digest:
        yield "Configuration", code(report.config_digest[:24])
    yield from _provenance(run, links)


def scales() -> Iterator[tuple[str, str]]:
    """Yield what grades and badges mean."""
    grades = (f"{one.value} {f'from {one.at_least:.2f}, ' if one.at_least else ''}{one.meaning}" for one in Grade)
    yield "Grades", "; ".join(grades)
    yield "Badges", "; ".join(f"{badge.value} from {badge.composite:g}, {badge.meaning}" for badge in Badge)


def _gaps(results: Sequence[SkillResult]) -> dict[tuple[str, str], int]:
    counted: dict[tuple[str, str], int] = {}
    for result in results:
        for key, score in result.dimensions.items():
            if score.score is None:
                gap = key.value, score.reason or "not measured"
                counted[gap] = counted.get(gap, 0) + 1
    return dict(sorted(counted.items(), key=lambda item: -item[1])[:50])


def _provenance(run: ActionRun | None, links: Links) -> Iterator[tuple[str, Line]]:
    def commit(sha: str) -> Span:
        return code(sha[:12], links.change(sha))

    if run is not None:
        if run.head:
            merged = (commit(run.change), ", merged as ") if run.change and run.change != run.head else ()
            yield "Evaluated", (*merged, commit(run.head), f" in {run.event}" if run.event else "")
        if run.base or run.compared:
            base = (commit(run.base), " ") if run.base else ()
            yield "Compared with", (*base, run.compared or "")
        if run.policy:
            changes = f"; {plural(len(run.policy_changes), 'change')} to it listed above" if run.policy_changes else ""
            yield "Policy", f"from {run.policy}{changes}"
        if run.changed_only:
            touched = "" if run.touched is None else f": {run.touched:,}"
            yield "Requested", f"only skills that the change touches{touched}"
    if url := links.run():
        yield "Workflow run", Span(url, url=url)
