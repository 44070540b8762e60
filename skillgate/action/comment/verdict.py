"""The verdict of a run in words: its title, its reasons, and what was not measured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.action.comment.benchmark import got_worse
from skillgate.action.comment.fit import Section
from skillgate.action.comment.links import shown_path
from skillgate.action.comment.rows import skill_link
from skillgate.model.score import Outcome
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.judge_words import SCRIPTED, answers_warning, let_through
from skillgate.report.standing import title
from skillgate.report.tally import failures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.action.comment.links import Links
    from skillgate.action.comment.subject import Subject
    from skillgate.model.report import SkillResult
    from skillgate.report.standing import Row

REASON = 400  # characters of a reason or a notice
_MARKS = {"pass": "✅", "fail": "❌"}
_WHY = {"fail": "Fails because", "pass": "Note"}
_GATES = frozenset(
    ("error", "warning", "threshold", "badge", "dimension", "regression", "benchmark", "budget", "unmeasured")
)
_PREFIX = 300  # characters of a reason in which a skill's path is looked for


def mark(subject: Subject) -> str:
    """Return the sign of a verdict; what is not known to pass or fail gets the one of an error."""
    return _MARKS.get(subject.run.result, "⚠️")


def words(subject: Subject, rows: Sequence[Row], *, naming: bool = False) -> str:
    """Say the verdict in a few words, as in ``1 of 3 skills fails``; ``naming`` which one, as Markdown."""
    compared, show = subject.diff is not None, _shown if naming else None
    verdict = title(subject.run, subject.report, rows, compared=compared, show=show)
    if subject.run.result != "pass":
        return verdict
    unjudged = bounded(let_through(_results(rows)), REASON) if subject.trusted else ""  # else the reason is anybody's
    parts = [verdict, inert(unjudged) if naming else unjudged]
    if got_worse(subject):
        parts = [*(parts if rows else ()), f"the benchmark fails, and {settings.FAIL_ON.key} does not list it"]
    return "; ".join(filter(None, parts))


def warning(subject: Subject) -> Section:
    """Warn of answers that no model gave, before anything else is said."""
    text = _scripted(subject)
    return Section("warning", (f"> **⚠️ {inert(bounded(text, REASON))}**", "") if text else ())


def _scripted(subject: Subject) -> str:
    """Say that no model gave the answers, ``""`` where one did; not who did, where that is somebody else's word."""
    text = answers_warning(subject.report.results) if subject.report else ""
    return text if subject.trusted or not text else f"{SCRIPTED}: no model has read the skill."


def _results(rows: Sequence[Row]) -> list[SkillResult]:
    return [row.result for row in rows if row.result is not None and not row.untouched]


def reasons(subject: Subject, rows: Sequence[Row], links: Links, *, most: int) -> Section:
    """Say why: one reason in a line, several in a list."""
    found = _reasons(subject, rows)
    label = _WHY.get(subject.run.result, "Not complete because" if subject.report else "Stopped because")
    named = {row.path: row.name for row in rows}
    lines = [_reason(reason, named, links) for reason in found[:most]]
    if len(found) <= 1:
        return Section("reasons", tuple(f"\n**{label}** {reason}" for reason in lines))
    return Section.of("reasons", ("", f"**{label}**", ""), [f"- {line}" for line in lines], most=most, total=len(found))


def unmeasured(subject: Subject, rows: Sequence[Row], links: Links, *, most: int) -> Section:
    """Say which skills have no score, and what else a reader should know."""
    notices = [inert(bounded(notice, REASON)) for notice in subject.run.notices[:most]]
    missing = [row for row in rows if row.unscored and not row.untouched and not _is_in_reasons(row, subject)]
    lines = [f"- **Not measured**: {_without_score(row, links, subject)}" for row in missing[:most]]
    lines += [f"- {notice}" for notice in notices]
    total = len(missing) + len(subject.run.notices)
    label = "Also" if subject.run.reasons else "Note"  # and a list does not run into the one before
    head = ("", f"**{label}**", "") if lines else ()
    return Section.of("notices", head, lines, most=2 * most, rank=1, total=total)


def plain(subject: Subject, rows: Sequence[Row]) -> str:
    """Return the verdict as one line of plain text."""
    found = _reasons(subject, rows)
    first = f": {bounded(found[0].removeprefix('.: '), REASON)}" if found else ""  # "." is a skill without a directory
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    scripted = _scripted(subject)
    return bounded(f"{scripted}{' ' * bool(scripted)}skillgate: {words(subject, rows)}{first}{more}", 2 * REASON)


def _shown(row: Row) -> str:
    return code(shown_path(bounded(row.name, 80) if row.path in ("", ".") else row.path))


def _reasons(subject: Subject, rows: Sequence[Row]) -> tuple[str, ...]:
    if subject.run.reasons or subject.run.result != "fail":
        return tuple(dict.fromkeys(subject.run.reasons))
    failing = (row.result for row in rows if row.fails and row.result is not None)
    texts = failures if subject.trusted else _gates
    return tuple(f"{result.skill.path}: {'; '.join(texts(result))}" for result in failing)


def _gates(result: SkillResult) -> list[str]:
    """Name the gates that did not pass, without the words of a report that somebody else wrote."""
    failed = {one.gate for one in result.gate.outcomes if one.verdict is not Outcome.PASS} & _GATES
    return [", ".join(sorted(failed)) or "a gate"]


def _reason(reason: str, named: dict[str, str], links: Links) -> str:
    """Write a reason; the skill's path that it begins with stands as code, linked."""
    for match in re.finditer(r"[ :]", reason[:_PREFIX]):
        path, rest = reason[: match.start()], reason[match.start() :]
        if path in named:
            space = " " if rest.startswith(" ") else ""
            return skill_link(path, named[path], links) + space + inert(bounded(rest, REASON))
    return inert(bounded(reason, REASON))


def _is_in_reasons(row: Row, subject: Subject) -> bool:
    return any(reason.startswith(row.path) for reason in subject.run.reasons)


def _without_score(row: Row, links: Links, subject: Subject) -> str:
    if not subject.trusted:
        return skill_link(row.path, row.name, links)
    reason = row.result.composite.reason if row.result else None
    return f"{skill_link(row.path, row.name, links)}: {inert(bounded(reason or 'no reason is given', REASON))}"
