"""What differs between two reports as text for a terminal: regressions first, then findings, then the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural, printable
from skillgate.model.documents import State
from skillgate.model.score import Outcome
from skillgate.report.across import change_lines
from skillgate.report.judge_compared import first_hint
from skillgate.report.judge_doubt import in_words
from skillgate.report.moves import arrow, what_moved
from skillgate.report.skill_block import finding_line
from skillgate.report.terminal import columns, cut, pad, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import Diff, Side, SkillChange
    from skillgate.model.finding import Finding, Suppressed
    from skillgate.report.terminal import Style

_ROWS = 20  # skills before "more" is said
_FEW = 20  # findings of a kind before "more" is said
_SCORES = 24  # columns of "100.00 → 100.00 ▼ 100.00"
_BADGES = 19  # columns of "Platinum → Platinum"


def gravest_first(diff: Diff) -> list[SkillChange]:
    """List the skills that differ, moved or were not compared: regressions, the undecided, new, changed, removed.

    Among those of a kind the one that lost most stands first; ties by path.
    """

    def key(change: SkillChange) -> tuple[int, float, str]:
        return _kind(change), change.change or 0.0, change.path

    changed = (item for item in diff.skills if item.state is not State.UNCHANGED or item.moved or undecided(item))
    return sorted(changed, key=key)


def _kind(change: SkillChange) -> int:
    if change.regressed:
        return 0
    if unread(change) or undecided(change):
        return 1
    return 3 if change.state is State.CHANGED else 2 if change.state is State.NEW else 4


def unread(change: SkillChange) -> bool:
    """Tell whether a skill could not be evaluated after."""
    return change.after is not None and not change.after.evaluated


def undecided(change: SkillChange) -> bool:
    """Tell whether a skill's scores could not be compared, or their difference is not known to be one."""
    return change.regression is not None and change.regression.verdict is Outcome.INCONCLUSIVE


def lines(diff: Diff, style: Style, *, verbose: bool) -> Iterator[str]:
    """Write a diff: a row for each skill that differs, then findings, then the sum and the verdict."""
    changes = gravest_first(diff)
    warning, hints = first_hint(diff)
    yield from (style.paint(line, "red", "bold") for line in (wrap(printable(warning), style.width) if warning else ()))
    shown = changes if verbose or len(changes) <= _ROWS + 5 else changes[:_ROWS]
    yield from wrap(f"from {printable(diff.a.label)} to {printable(diff.b.label)}", style.width)
    wide = min(max((columns(printable(change.path)) for change in shown), default=0), _room(style))
    for change in shown:
        yield _row(change, style, wide)
        if change.after and (moved := what_moved(change, most=max(40, style.width - 4))):
            yield style.paint(f"    {moved}", "dim")
        yield from _sampled(change, style)
    if len(shown) < len(changes):
        yield style.paint(f"  + {len(changes) - len(shown)} more skills differ (-v shows every skill)", "dim")
    yield from _found(changes, style, verbose=verbose)
    yield ""
    for line in change_lines(diff):
        yield from wrap(printable(line), style.width)
    for hint in hints:
        yield from wrap(f"hint: {printable(hint)}", style.width)
    yield from wrap(summary(diff), style.width)
    yield from _verdict(diff, style)


def _sampled(change: SkillChange, style: Style) -> Iterator[str]:
    """Say how what sessions, matches and lift measure moved, in a line for each."""
    if not change.sampled:
        return
    from skillgate.report.sampled_moves import lines as sampled_lines  # only where such were asked for

    for text in sampled_lines(change.sampled):
        rows = wrap(printable(text), max(40, style.width - 6))
        yield from (style.paint(f"{' ' * (6 if index else 4)}{row}", "dim") for index, row in enumerate(rows))


def by_chance(changes: Sequence[SkillChange]) -> list[tuple[str, str]]:
    """List the drops that pass since they may be chance: the skill's path and what is said of it."""
    passed = [
        (change.path, in_words(change.regression))
        for change in changes
        if change.regression is not None and change.regression.verdict is Outcome.PASS
    ]
    return [(path, text) for path, text in passed if text]


def _room(style: Style) -> int:
    return max(12, style.width - _SCORES - _BADGES - 6)


def _row(change: SkillChange, style: Style, wide: int) -> str:
    path = pad(cut(printable(change.path), wide), wide)
    tone = "red" if change.regressed or unread(change) else "green" if (change.change or 0) > 0 else ""
    scores = pad(_scores(change), _SCORES)
    text = f"{style.paint(scores, tone) if tone else scores}  {style.paint(path, 'bold')}  {badges(change)}"
    return text.rstrip()


def _scores(change: SkillChange) -> str:
    if change.before is None or change.after is None:
        word = "new" if change.before is None else "removed"
        return f"{_number(change.after or change.before):>6} {word}"
    drawn = f" {arrow(change.change)}" if change.change is not None else ""
    return f"{_number(change.before):>6} → {_number(change.after)}{drawn}"


def _number(side: Side | None) -> str:
    return "—" if side is None or side.score is None else f"{side.score:.2f}"


def badges(change: SkillChange) -> str:
    """Write a badge, and what it was where it is another one: ``Silver → —``; ``?`` where nobody could look."""
    sides = [side for side in (change.before, change.after) if side is not None]
    named = ["?" if not side.evaluated else side.badge.value if side.badge else "—" for side in sides]
    return " → ".join(dict.fromkeys(named))


def _found(changes: Sequence[SkillChange], style: Style, *, verbose: bool) -> Iterator[str]:
    """List what came, what went and what was set aside, the gravest first."""
    new = [finding_line(finding, style) for finding in worst([item for change in changes for item in change.new])]
    fixed = [finding_line(finding, style) for finding in worst([item for change in changes for item in change.fixed])]
    aside = [_aside(item, style) for change in changes for item in change.suppressed]
    for word, tone, listed in (("new", "red", new), ("fixed", "green", fixed), ("newly suppressed", "yellow", aside)):
        if listed:
            yield ""
            yield style.paint(f"{word}:", tone)
        most = len(listed) if verbose or len(listed) <= _FEW + 2 else _FEW
        yield from (f"  {line}" for line in listed[:most])
        if len(listed) > most:
            yield style.paint(f"  + {len(listed) - most} more {word} (-v shows them)", "dim")


def worst(findings: Sequence[Finding]) -> list[Finding]:
    """Order findings: errors first, each kind as it came."""
    return sorted(findings, key=lambda finding: finding.severity.rank)


def _aside(item: Suppressed, style: Style) -> str:
    reason = f": {printable(item.reason)}" if item.reason else ""
    return f"{finding_line(item.finding, style)} (by {printable(item.by)}{reason})"


def summary(diff: Diff) -> str:
    """Say a diff in a few numbers, as in ``2 changed, 1 new, 15 unchanged · findings: 3 new, 1 fixed, 20 kept``."""
    counts = diff.summary
    skills = (
        (counts.changed, "changed"),
        (counts.new, "new (no baseline)"),
        (counts.removed, "removed"),
        (counts.unchanged, "unchanged"),
        (counts.moved, "moved"),
    )
    parts = [", ".join(f"{count} {word}" for count, word in skills if count) or "no skills"]
    found = ((counts.findings_new, "new"), (counts.findings_fixed, "fixed"), (counts.findings_kept, "kept"))
    if any(count for count, _ in found):
        parts.append("findings: " + ", ".join(f"{count} {word}" for count, word in found))
    if counts.regressions:
        parts.append(plural(counts.regressions, "regression"))
    return " · ".join(parts)


def _verdict(diff: Diff, style: Style) -> Iterator[str]:
    """Say what the gate decided, and why; where none was asked, which skills one would fail."""
    outcomes = [(change.path, change.regression) for change in gravest_first(diff) if change.regression is not None]
    if diff.gate.passed:
        yield style.paint("gate passed: no regression", "green")
    elif diff.gate.passed is False:
        text = f"gate FAILED: {plural(diff.summary.regressions, 'regression')}"
        yield style.paint(text, "red", "bold")
    elif diff.gate.outcomes:
        done = "evaluated" if any(map(unread, diff.skills)) or not any(map(undecided, diff.skills)) else "compared"
        yield style.paint(f"gate undecided: not every skill could be {done}", "red")
    failed = [(path, outcome.reason) for path, outcome in outcomes if outcome.verdict is not Outcome.PASS]
    for path, text in by_chance(gravest_first(diff))[:_ROWS]:
        yield from (style.paint(line, "yellow") for line in wrap(f"{printable(path)}: {printable(text)}", style.width))
    if failed and not diff.gate.outcomes:
        yield style.paint("what --fail-on-regression would fail, or could not decide:", "red")
    for path, reason in failed[:_ROWS]:
        yield from (f"  {line}" for line in wrap(f"{printable(path)}: {printable(reason)}", style.width - 2))
    if len(failed) > _ROWS:
        yield f"  + {len(failed) - _ROWS} more"
