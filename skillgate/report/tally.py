"""Counts of a report in words, and what ``check`` shows in a terminal: one finding a line, then the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.finding import Severity, rule_url
from skillgate.model.layers import JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.report import StaticLayer
from skillgate.model.score import Outcome
from skillgate.named_tuple import NamedTuple
from skillgate.report.view import MARKS, Cell, Fold, Heading, Item, Items, Note, Row, Span, Table, View, columns, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.score import Badge
    from skillgate.report.view import Block, Line, Tone

SEVERITIES: Mapping[Severity, Tone] = {Severity.ERROR: "poor", Severity.WARNING: "fair", Severity.INFO: "muted"}
_NAMED = 3  # skills of one reason that are named
_MANY = 40  # findings after which their number by rule is easier to read
_ROWS = 5  # files without a readable text that have a row each


class Shown(NamedTuple):
    """What a terminal shows of a check.

    Attributes:
        style: ``concise`` (a line for each finding), ``full`` (with the source), ``grouped`` (by file), or ``""``.
        statistics: whether to count by rule instead of showing the findings.
        fixable: the option that may fix findings of a rule, by rule, for the statistics.
        source: gives lines of a file around one, by path and line, for ``full``.
        why: gives the reason for a rule, by id, for readers who cannot run ``explain``; None if they can.
    """

    style: str = ""
    statistics: bool = False
    fixable: Mapping[str, str] = {}
    source: Callable[[str, int], Sequence[tuple[int, str]]] = lambda _path, _line: ()
    why: Callable[[str], str] | None = None


class Unread(NamedTuple):
    """The skills that could not be read for one reason."""

    reason: str
    paths: tuple[str, ...]

    def named(self, most: int = _NAMED) -> tuple[str, ...]:
        """Return the paths to show: all of them where at most one more than ``most`` would be left out."""
        return self.paths if len(self.paths) <= most + 1 else self.paths[:most]


def counts(findings: Iterable[Finding]) -> str:
    """Count findings in words, as in ``2 errors, 1 warning``; empty for none."""
    found = [finding.severity for finding in findings]
    numbers = ((found.count(severity), severity.value) for severity in Severity)
    return ", ".join(f"{plural(number, word)}" for number, word in numbers if number)


def spread_of(results: Sequence[SkillResult]) -> str:
    """Count findings and the skills that have them, as in ``10 errors in 1 skill, 9 warnings in 4 skills``."""
    if len(results) == 1:
        return counts(results[0].findings) or "no findings"
    parts = []
    for severity in Severity:
        numbers = [sum(finding.severity is severity for finding in result.findings) for result in results]
        number, skills = sum(numbers), sum(map(bool, numbers))
        if number:
            parts.append(f"{plural(number, severity.value)} in {plural(skills, 'skill')}")
    return ", ".join(parts) or "no findings"


def badge_with_errors(badge: Badge | None, errors: int, *, none: str = "—", stars: bool = False) -> str:
    """Write a badge, with its stars or with the errors, as in ``Gold, 3 errors``."""
    if badge is None:
        return none
    if errors:
        return f"{badge.value}, {plural(errors, 'error')}"
    return f"{badge.value} {badge.stars}" if stars else badge.value


def badge_of(result: SkillResult, *, none: str = "—", stars: bool = False) -> str:
    """Write the badge of a skill, as :func:`badge_with_errors` does."""
    return badge_with_errors(result.composite.badge, result.errors, none=none, stars=stars)


def worst_first(results: Sequence[SkillResult]) -> list[SkillResult]:
    """Order results: those that fail a gate, those with errors, those without a score, then the lowest score first.

    Skills that could not be read come last: there is nothing to see of them but the reason.
    """
    return sorted(results, key=_order)


def _order(result: SkillResult) -> tuple[bool, bool, bool, bool, float, str]:
    score, passes = result.composite.score, result.gate.passed is not False
    return not result.evaluated, passes, not result.errors, score is not None, score or 0.0, result.skill.path


def unread(results: Iterable[SkillResult]) -> tuple[Unread, ...]:
    """Group the skills that could not be read by the reason, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for result in results:
        if not result.evaluated:
            reason = (result.composite.reason or "no reason is given").removeprefix("not evaluated: ")
            groups.setdefault(reason, []).append(result.skill.path)
    return _grouped(groups)


def without_text(results: Sequence[SkillResult]) -> tuple[Unread, ...]:
    """Group the skills whose file holds no text that can be scored, where rows for them would hide those with scores.

    A few of them have a row each, and so they have where nothing else has one.
    """
    groups: dict[str, list[str]] = {}
    for result in results:
        reason = result.composite.reason
        if result.evaluated and result.composite.score is None and any(it.message == reason for it in result.findings):
            groups.setdefault((reason or "").partition(":")[0], []).append(result.skill.path)
    found = sum(map(len, groups.values()))
    return _grouped(groups) if _ROWS < found < sum(result.evaluated for result in results) else ()


def _grouped(groups: Mapping[str, Iterable[str]]) -> tuple[Unread, ...]:
    found = (Unread(reason, tuple(sorted(paths))) for reason, paths in groups.items())
    return tuple(sorted(found, key=lambda group: (-len(group.paths), group.reason)))


def is_judged(results: Iterable[SkillResult]) -> bool:
    """Return whether a judge was asked about any of these skills."""
    return any(isinstance(layer, JudgeLayer) for result in results for layer in result.layers)


def is_simulated(results: Iterable[SkillResult]) -> bool:
    """Return whether sessions, matches or lift were requested for any of these skills."""
    return any(
        result.lift is not None or any(isinstance(layer, MonteCarloLayer | RankingLayer) for layer in result.layers)
        for result in results
    )


def failures(result: SkillResult) -> list[str]:
    """List the reasons of the gates that did not pass; that there is no score is why others could not be measured."""
    failed = [outcome for outcome in result.gate.outcomes if outcome.verdict is not Outcome.PASS]
    if any(outcome.gate == "unmeasured" for outcome in failed):
        failed = [one for one in failed if one.gate == "unmeasured" or one.verdict is Outcome.FAIL]
    return [outcome.reason for outcome in failed]


def answers_warning(results: Sequence[SkillResult]) -> list[str]:
    """Warn of answers that no model gave; empty where there are none."""
    if not is_judged(results) and not is_simulated(results):
        return []
    from skillgate.report.judge_compared import answers_warning as warning  # only where a model was asked

    return list(filter(None, [warning(results)]))


def blamed_outside(report: Report) -> list[str]:
    """List the reasons of the gates that did not pass by what belongs to no skill."""
    return [outcome.reason for outcome in report.gate.outcomes if outcome.verdict is not Outcome.PASS]


def suppressed_in_words(suppressed: Mapping[str, int]) -> str:
    """Say how many findings were suppressed, and by what."""
    parts = [f"{number} by {by}" if by != "known" else f"{number} known" for by, number in sorted(suppressed.items())]
    return f"{sum(suppressed.values())} suppressed ({', '.join(parts)})"


def folded(findings: Iterable[Finding], within: str = "") -> list[tuple[Finding, tuple[Finding, ...]]]:
    """Join the findings of a file that say the same: the first of each with the others, in the order of the first ones.

    ``within`` is the folder of the skill that all of them are about; then those of its files are joined too.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        path = str(finding.path)
        file = "" if within and path.startswith(f"{within}/") else path
        key = (file, finding.tool, finding.id, finding.severity, finding.message, finding.fix, finding.clients)
        groups.setdefault(key, []).append(finding)
    return [(first, tuple(others)) for first, *others in groups.values()]


def times(finding: Finding, others: Sequence[Finding], within: str = "") -> str:
    """Say how often a finding occurs and where else, as in `` (3 times; also line 9, a.md:4)``; ``""`` for once.

    ``within`` is the folder that paths are relative to.
    """
    if not others:
        return ""
    places = [
        f"line {one.line}" if one.path == finding.path else f"{str(one.path).removeprefix(f'{within}/')}:{one.line}"
        for one in others
    ]
    places = [place for place in dict.fromkeys(places) if place != f"line {finding.line}"]
    more = f" and {len(places) - _NAMED} more places" if len(places) > _NAMED else ""
    also = f"; also {', '.join(places[:_NAMED])}{more}" if places else ""
    return f" ({len(others) + 1} times{also})"


def view(report: Report, shown: Shown = Shown()) -> View:  # noqa: B008 - immutable
    """Build what ``check`` shows; infos are shown only if everything is asked for."""
    blocks: list[Block] = []
    if shown.statistics:
        blocks += _statistics(report, shown.fixable)
    elif shown.style == "grouped":
        blocks += _by_file(report)
    else:
        every = [item for result in report.results for item in _items(result, shown)]
        every += [_item(one, others, shown) for one, others in _joined(report.outside, shown)]
        blocks += [Items(tuple(every), "finding", raw=True)] if every else []
    quiet = [item for result in report.results for item in _quiet(result)]
    if quiet and not shown.statistics:
        blocks.append(Fold("Infos and suppressed findings", (Items(tuple(quiet), "finding", raw=True),), quiet=True))
    if report.across is not None or any(use.before is not None for use in report.listing):
        from skillgate.report.across import change_lines  # only beside a baseline

        blocks += [Note(line) for line in change_lines(report)]
    listed = sum(len(block.items) for block in blocks if isinstance(block, Items))
    mark = "error" if report.summary.not_evaluated and report.gate.passed is not False else MARKS[report.gate.passed]
    return View(
        summary(report),
        mark,
        reasons=tuple(_reasons(report)),
        notes=("to count the findings by rule, use --statistics",) if listed > _MANY else (),
        blocks=tuple(blocks),
        alarm=" ".join(answers_warning(report.results)),
        ends=True,
    )


def _statistics(report: Report, fixable: Mapping[str, str]) -> Iterator[Block]:
    """Count the active findings by rule and severity, the most frequent first."""
    every = [finding for result in report.results for finding in result.findings] + list(report.outside)
    counted: dict[tuple[str, Severity], int] = {}
    for finding in every:
        counted[finding.id, finding.severity] = counted.get((finding.id, finding.severity), 0) + 1
    rows = []
    for (rule, severity), count in sorted(counted.items(), key=lambda one: (-one[1], one[0][1].rank, one[0][0])):
        severity_cell = Cell(severity.value, tone=SEVERITIES[severity])
        rows.append(Row((rule, f"{count:,}", severity_cell, fixable.get(rule, ""))))
    if rows:
        yield Table(
            columns("rule", "#findings", "severity", "may be fixed by"), tuple(rows), noun="rule", most=len(rows)
        )


def _by_file(report: Report) -> Iterator[Block]:
    """Yield each file with its findings below it."""
    for result in report.results:
        if not result.evaluated:
            yield Items(tuple(_items(result, Shown())), raw=True)
    every = [finding for result in report.results for finding in result.findings] + list(report.outside)
    files: dict[str, list[Finding]] = {}
    for finding in every:
        if finding.severity is not Severity.INFO:
            files.setdefault(str(finding.path), []).append(finding)
    for path in sorted(files):
        yield Heading(path)
        items = []
        for one, others in folded(sorted(files[path], key=lambda finding: (finding.line, finding.column))):
            place, span, *rest = finding_line(one, times(one, others))
            items.append(Item((f"  {str(place)[len(path) + 1 :]}", span, *rest)))
        yield Items(tuple(items), "finding", raw=True)


def finding_line(finding: Finding, more: str = "") -> tuple[str | Span, ...]:
    """Write a finding on one line: its place, severity, id and message, and the tool it comes from if another."""
    place = f"{finding.path}:{finding.line}:{finding.column}: "
    by = "" if finding.tool == "skillgate" else f" [{finding.tool}]"
    tone = SEVERITIES[finding.severity]
    rest = f" {finding.message}{by}{more}"
    url = rule_url(finding.id) if finding.tool == "skillgate" and finding.url else ""
    if not url:
        return place, Span(finding.severity.value, tone), f" {finding.id}{rest}"
    return place, Span(finding.severity.value, tone), " ", Span(finding.id, url=url), rest


def _items(result: SkillResult, shown: Shown) -> Iterator[Item]:
    if not result.evaluated:
        yield Item((f"{result.skill.path}: ", Span("error", "poor"), f" {result.composite.reason or ''}"))
    fixed: set[str] = set()
    for finding, others in _joined(result.findings, shown, result.skill.path):
        is_told = finding.tool != "skillgate" or finding.id in fixed or shown.style == "concise"
        fixed.add(finding.id)
        yield _item(finding, others, shown)._replace(below=() if is_told else tuple(_explained(finding, shown)))


def _explained(finding: Finding, shown: Shown) -> Iterator[Line]:
    """Yield the fix and where more is said: the program, or for readers without it the reason and the page."""
    if shown.why is None:
        yield f"fix: {finding.fix} ", Span(f"(skillgate explain {finding.id})", "muted")
        return
    yield f"fix: {finding.fix}"
    why = shown.why(finding.id)
    yield from [f"why: {why}"] if why else []
    yield from [Span(finding.url, "muted")] if finding.url else []


def _joined(findings: Iterable[Finding], shown: Shown, within: str = "") -> list[tuple[Finding, tuple[Finding, ...]]]:
    """Join equal findings of one skill, but for ``concise``; infos are left out."""
    found = [finding for finding in findings if finding.severity is not Severity.INFO]
    return [(finding, ()) for finding in found] if shown.style == "concise" else folded(found, within)


def _item(finding: Finding, others: Sequence[Finding], shown: Shown) -> Item:
    if shown.style == "concise":
        return Item(f"{finding.path}:{finding.line}:{finding.column} {finding.id} {finding.message}")
    line = finding_line(finding, times(finding, others))
    if shown.style != "full":
        return Item(line)
    excerpt = tuple(shown.source(str(finding.path), finding.line))
    return Item(line, excerpt=excerpt, caret=(finding.line, finding.column))


def _quiet(result: SkillResult) -> Iterator[Item]:
    yield from (Item(finding_line(item)) for item in result.findings if item.severity is Severity.INFO)
    for item in result.suppressed:
        until = f" until {item.until}" if item.until else ""
        why = f": {item.reason}" if item.reason else ""
        yield Item((*spans(finding_line(item.finding)), f" (suppressed, {item.by}{until}{why})"))


def _reasons(report: Report) -> Iterator[Line]:
    """Yield why the gate fails, unless the findings above show it already."""
    if report.gate.passed is not False:
        is_gated = any(result.gate.passed is not None for result in report.results)
        if report.gate.passed is None and report.summary.not_evaluated and is_gated:
            yield "gate undecided: not every skill could be evaluated"
        return
    yield from (f"gate failed: {reason}" for reason in blamed_outside(report))
    for result in worst_first(report.results):
        outcomes = [one for one in result.gate.outcomes if one.verdict is not Outcome.PASS]
        if result.gate.passed is False and any(one.gate not in {"error", "warning"} for one in outcomes):
            name = result.skill.name if result.skill.path in ("", ".") else result.skill.path
            yield f"gate failed: {name}: {'; '.join(failures(result))}"


def summary(report: Report) -> str:
    """Sum up what was found, with the lowest score."""
    counted = report.summary
    changed = "changed " if counted.found is not None and counted.found > counted.skills else ""
    skills = plural(counted.skills, f"{changed}skill") + (f" ({counted.found} in all)" if changed else "")
    touched = [result for result in report.results if result.findings]
    found = counts([finding for result in touched for finding in result.findings])
    parts = [f"{found} in {len(touched)} of {skills}." if found else f"No findings in {skills}."]
    parts += [f"{counts(report.outside)} outside the skills."] if report.outside else []
    parts += [f"{counted.not_evaluated} not evaluated."] if counted.not_evaluated else []
    parts += [f"{suppressed_in_words(counted.suppressed)}."] if counted.suppressed else []
    if touched:
        lowest = min(
            touched, key=lambda one: (one.composite.score is not None, one.composite.score or 0, one.skill.path)
        )
        parts.append(_lowest(lowest, named=counted.skills > 1))
    return " ".join(parts)


def _lowest(result: SkillResult, *, named: bool) -> str:
    name = f"{result.skill.path} " if named else ""
    score = result.composite.score
    if score is None:
        return f"{name or 'It '}has no score: {result.composite.reason or ''}."
    text = f"{'Lowest: ' if named else 'Score '}{name}{score:.2f} ({badge_of(result, none='no badge')})"
    gain = next((layer.recoverable for layer in result.layers if isinstance(layer, StaticLayer)), 0.0)
    return f"{text}. Fix these findings to reach about {score + gain:.0f}." if gain >= 1 else f"{text}."
