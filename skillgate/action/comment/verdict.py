"""The verdict of a run in words: its title, its reasons, and what was not measured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.format import plural
from skillgate.model.bench import Flip, Pairing
from skillgate.model.documents import State
from skillgate.model.score import Outcome
from skillgate.report import judge
from skillgate.report.findings import bounded
from skillgate.report.judge_compared import SCRIPTED, answers_warning
from skillgate.report.standing import standings, title
from skillgate.report.tally import failures
from skillgate.report.view import code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.report import SkillResult
    from skillgate.report.links import Links
    from skillgate.report.standing import Row
    from skillgate.report.view import Line, Span

REASON = 400  # characters of a reason or a notice
_MOST = 10  # reasons; the table of skills shows the others
_PATH = 120  # characters of a path
_GATES = frozenset(
    (
        "error",
        "new-error",
        "warning",
        "threshold",
        "new-score",
        "badge",
        "dimension",
        "regression",
        "benchmark",
        "budget",
        "unmeasured",
    )
)
_PREFIX = 300  # characters of a reason in which a skill's path is looked for


def rows_of(subject: Subject) -> tuple[Row, ...]:
    """List every skill of a run, worst first.

    Failing ones come first, then regressions, those without a score, what fell most, what is new, and the others; among
    equals those with errors. What could not be read comes last.
    """
    return tuple(sorted(standings(subject.run, subject.report, subject.diff), key=_worst_first))


def _worst_first(row: Row) -> tuple[bool, int, bool, float, float, str]:
    change = (row.change.change if row.change else None) or 0.0
    signs = (row.fails, row.regressed, row.unscored, change < 0, row.state is State.NEW)
    group = next((index for index, sign in enumerate(signs) if sign), len(signs)) + (row.state is State.REMOVED)
    result = row.result
    score = -1.0 if result is None or result.composite.score is None else result.composite.score
    return result is not None and not result.evaluated, group, not (result and result.errors), change, score, row.path


def named(row: Row, links: Links) -> tuple[Span | str, ...]:
    """Show a skill by its path, linked where that can be; one that is the whole repository by its name."""
    gone = row.state is State.REMOVED
    url = "" if gone else links.file(row.path or ".")
    if row.path in (".", ""):
        return code(bounded(row.name, 80), url), " (the repository itself)"
    return (code(shown(row.path), url),)


def shown(path: str) -> str:
    """Shorten a path to its end, which says more than its beginning."""
    return path if len(path) <= _PATH else "…" + path[-_PATH:]


def words(subject: Subject, rows: Sequence[Row], *, naming: bool = False) -> str:
    """Say the verdict in a few words, as in ``1 of 3 skills fails``; ``naming`` which one."""
    show = (lambda row: bounded(row.name, 80) if row.path in ("", ".") else shown(row.path)) if naming else None
    said = [title(subject.run, subject.report, rows, compared=subject.diff is not None, show=show)]
    said += _allowed(subject, rows)
    if subject.run.result == "pass" and got_worse(subject):
        said = [*(said if rows else ()), f"the benchmark fails, and {settings.FAIL_ON.key} does not list it"]
    return "; ".join(said)


def scripted(subject: Subject) -> str:
    """Warn of answers that no model gave; not by whom, where that is not known from this run."""
    text = answers_warning(subject.report.results) if subject.report else ""
    return text if subject.trusted or not text else f"{SCRIPTED}: no model read the skill."


def reasons(subject: Subject, rows: Sequence[Row], links: Links) -> Iterator[Line]:
    """Yield why a run does not pass, or what it passes in spite of."""
    found = _reasons(subject, rows)
    known = {row.path: row for row in rows}
    if len(found) > _MOST:  # many failing skills must not hide a benchmark, a budget or a gate
        found = tuple(sorted(found, key=lambda one: _is_of_score(one, known)))
    yield from (_reason(reason, known, links) for reason in found[:_MOST])
    if len(found) > _MOST:
        yield plural(len(found) - _MOST, "more reason")


def notes(subject: Subject, rows: Sequence[Row], links: Links) -> Iterator[Line]:
    """Yield which skills have no score, and what else a reader should know."""
    for row in rows:
        if row.unscored and not row.untouched and not any(one.startswith(row.path) for one in subject.run.reasons):
            why = row.result.composite.reason if row.result else None
            said = f": {bounded(why or 'no reason is given', REASON)}" if subject.trusted else ""
            yield (*named(row, links), f" was not measured{said}")
    yield from (bounded(notice, REASON) for notice in subject.run.notices)


def _allowed(subject: Subject, rows: Sequence[Row]) -> Iterator[str]:
    """Say which skills a passing run did not judge; of a run that is not trusted the reason may be anything."""
    if subject.run.result == "pass" and subject.trusted:
        yield from judge.allowed([row.result for row in rows if row.result is not None and not row.untouched])


def plain(subject: Subject, rows: Sequence[Row]) -> str:
    """Return the verdict as one line of plain text."""
    found = _reasons(subject, rows)
    first = f": {bounded(found[0].removeprefix('.: '), REASON)}" if found else ""  # "." is a skill without a directory
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    said = f"skillgate: {words(subject, rows)}{first}{more}"
    return bounded(" ".join(filter(None, (scripted(subject), said))), 2 * REASON)


def _reasons(subject: Subject, rows: Sequence[Row]) -> tuple[str, ...]:
    if subject.run.reasons or subject.run.result != "fail":
        return tuple(dict.fromkeys(subject.run.reasons))
    failing = (row.result for row in rows if row.fails and row.result is not None)
    texts = failures if subject.trusted else _gates
    return tuple(f"{result.skill.path}: {'; '.join(texts(result))}" for result in failing)


def _gates(result: SkillResult) -> list[str]:
    """Name the gates that did not pass, without the words of a report that is not trusted."""
    failed = {one.gate for one in result.gate.outcomes if one.verdict is not Outcome.PASS} & _GATES
    return [", ".join(sorted(failed)) or "a gate"]


def _reason(reason: str, known: Mapping[str, Row], links: Links) -> Line:
    """Write a reason; the skill's path that it begins with is linked, unless the table links it."""
    for match in re.finditer(r"[ :]", reason[:_PREFIX]):
        if row := known.get(reason[: match.start()]):
            return (*named(row, links.nowhere if row.listed else links), bounded(reason[match.start() :], REASON))
    return bounded(reason, REASON)


def _is_of_score(reason: str, known: Mapping[str, Row]) -> bool:
    """Whether a reason is a skill's score or findings, which the table shows too, or a gate without an answer."""
    if " on recorded invocations" in reason:
        return " is undecided" in reason
    return reason[:_PREFIX].partition(": ")[0].partition(" was not ")[0] in known


def has_moved(subject: Subject) -> bool:
    """Return whether a benchmark's results are not those of the base; those of a skill without a base are new."""
    if subject.bench is None or subject.bench_diff is None:
        return subject.bench is not None
    changes = subject.bench_diff.changes
    return any(one.pairing is not Pairing.BOTH or any(t.flip is not Flip.SAME for t in one.tasks) for one in changes)


def got_worse(subject: Subject) -> bool:
    """Return whether a skill misses a bound of the benchmark, or does worse than in the base and not by chance."""
    reports = subject.bench.reports if subject.bench else ()
    tests = [change.test for change in subject.bench_diff.changes] if subject.bench_diff else []
    failed = any(test is not None and test.verdict is Outcome.FAIL for test in tests)
    return failed or any(one.gate.passed is False for one in reports)
