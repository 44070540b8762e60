"""The other parts of a comment: what the change does to its own gate, skills together, dimensions, what judges say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.findings import finding_line
from skillgate.action.comment.fit import Section
from skillgate.action.comment.links import link, shown_path
from skillgate.model.documents import State
from skillgate.model.score import Dimension
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.judge_compared import rests_on_judge
from skillgate.report.judge_markdown import number, path_of
from skillgate.report.judge_text import gist
from skillgate.report.judge_words import (
    judge_of,
    judges_of,
    lowest_first,
    spent,
    spread,
    who,
)
from skillgate.report.lists import lists_of, more_or_less

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.comment.links import Links
    from skillgate.action.comment.subject import Subject
    from skillgate.model.documents import ActionRun
    from skillgate.model.layers import Quotation
    from skillgate.model.report import SkillResult
    from skillgate.report.lists import ListOf
    from skillgate.report.standing import Row

_TEXT = 400  # characters of a sentence that holds something of the change
_NONE = "—"
_COLUMNS = 5  # skills whose dimensions are shown
_LOWEST = 2  # dimensions of one skill that the judge is quoted on
_GOOD = 0.8  # from here on a judged dimension needs no word
_QUOTE = 120  # characters of a quotation
_PROMPTS = 2  # trigger prompts that are named
UNTRUSTED = (
    "The pull request's own workflow run wrote this report, its author controls that run, and nothing in it was checked"
    " here. Whether the pull request changes the gate itself is not known: see the changed files."
)


def policy_changes(subject: Subject, *, most: int) -> Section:
    """List what the change does to its own gate."""
    found = subject.run.policy_changes
    lines = [f"- {inert(bounded(item, _TEXT))}" for item in found[:most]]
    head = ("", "**Changes to the gate itself, in force after the merge**", "") if found else ()
    return Section.of("changes to the gate itself", head, lines, most=most, rank=1, total=len(found))


def catalogue(subject: Subject, rows: Sequence[Row], links: Links, *, most: int) -> Section:
    """Say what the change does to skills together: what clients list, and findings between skills."""
    source = subject.diff or subject.report
    if source is None:
        return Section("catalogue")
    grown = [_grown(one) for one in lists_of(source.listing) if one.is_notable]
    known = {finding for row in rows for finding in (*row.came, *(row.change.fixed if row.change else ()))}
    new, fixed = ([item for item in side if item not in known] for side in source.across or ((), ()))
    came = [finding_line(finding, links) for finding in new[:most]]
    nowhere = links._replace(head="")  # what is gone has no place at the head
    went = [f"no longer: {finding_line(finding, nowhere)}" for finding in fixed[:most]]
    lines = [f"- {line}" for line in (*grown[:most], *came, *went)]
    total = len(grown) + len(new) + len(fixed)
    return Section.of("catalogue", ("", "**Catalogue**", "") if lines else (), lines, most=most, rank=6, total=total)


def dimensions(rows: Sequence[Row]) -> Section:
    """Show every dimension of the worst skills that changed, before and after, folded away."""
    shown = [row for row in rows if row.listed and row.result and _measured(row.result)][:_COLUMNS]
    if not shown:
        return Section("dimensions")
    head = (
        "",
        "<details><summary>Dimensions</summary>",
        "",
        f"| | {' | '.join(_columns(shown))} |",
        f"|---|{'--:|' * len(shown)}",
    )
    cells = {key: [_cell(row, key) for row in shown] for key in Dimension}
    lines = [
        f"| {key.value}{_judges(shown, key)} | {' | '.join(values)} |"
        for key, values in cells.items()
        if set(values) != {_NONE}
    ]
    missing = [f"- Not measured: {', '.join(names)} ({reason})" for reason, names in _unmeasured(shown).items()]
    tail = ("", *missing[:_COLUMNS]) if missing else ()
    return Section("dimensions", head, tuple(lines), (*tail, "", "</details>"), rank=7)


def judged(rows: Sequence[Row], links: Links) -> Section:
    """Say where the judge is lowest and why, for the worst skills that changed, folded away."""
    shown = [row.result for row in rows if row.listed and row.result and judge_of(row.result)][:_COLUMNS]
    lines = [line for result in shown for line in _lowest(result, links)]
    if not lines:
        return Section("what the judge says")
    head = ("", "<details><summary>What the judge says</summary>", "")
    return Section("what the judge says", head, tuple(lines), ("", "</details>"), rank=7)


def _lowest(result: SkillResult, links: Links) -> Iterator[str]:
    layer = judge_of(result)
    low = [(key, item) for key, item in lowest_first(layer) if item.score is not None] if layer else []
    for key, item in low[:_LOWEST]:
        if item.score is not None and item.score < _GOOD and item.reasoning:
            quoted = [_quoted(result, quotation, links) for quotation in item.quotations[:1]]
            why = " ".join((inert(gist(item.reasoning[0], _TEXT)), *quoted))
            yield f"- {code(shown_path(result.skill.path))} {key.value} {number(item)}: {why}"


def _quoted(result: SkillResult, quotation: Quotation, links: Links) -> str:
    place = links.place(path_of(result, quotation), quotation.line)
    return f"“{inert(bounded(quotation.text.strip(), _QUOTE))}” {place}"


def _judges(rows: Sequence[Row], key: Dimension) -> str:
    """Mark a dimension that rests mostly on a judge, as in `` (judge, 3)``."""
    count = max((rests_on_judge(key, row.result) for row in rows if row.result), default=0)
    return f" (judge, {count})" if count else ""


def footer(subject: Subject, links: Links) -> Section:
    """Say in one small line what was compared, under whose policy, by which version."""
    run, report = subject.run, subject.report
    parts = [f"{report.depth.value} depth"] if report else []
    if report and subject.trusted and (layers := judges_of(report.results)):
        parts += [inert(bounded(part, _TEXT)) for part in (f"judge {who(layers)}", spent(report.usage))]
    if run.head:
        parts.append(_head(run, links) + _against(subject, links))
    if run.policy:
        at = f" {links.commit(run.policy_commit)}" if run.policy_commit else ""
        parts.append(f"policy from {inert(bounded(run.policy, _TEXT))}{at}")
    scoring = f", scoring {report.scoring_version}" if report else ""
    parts.append(f"skillgate {inert(bounded(run.tool.version, 40))}{scoring}")
    if links.run:
        parts.append(rest(subject, links))
    return Section("footer", ("", f"<sub>{' · '.join(parts)}</sub>"))


def rest(subject: Subject, links: Links) -> str:
    """Name where everything stands, linked where the run is known: a run that ended early has a log, no report."""
    return links.report if subject.report is not None else link("log", links.run)


def _head(run: ActionRun, links: Links) -> str:
    if run.change and run.change != run.head:
        return f"head {links.commit(run.change)} (merged as {links.commit(run.head)})"
    return f"head {links.commit(run.head)}"


def _against(subject: Subject, links: Links) -> str:
    run, compared = subject.run, inert(bounded(subject.run.compared, _TEXT))
    if run.base:
        return f" against base {links.commit(run.base)}" + (f" ({compared})" if compared else "")
    return f" against {compared}" if compared and subject.diff is not None else ", no baseline"


def _grown(one: ListOf) -> str:
    use, change = one.use, one.change or 0
    where = f" in {code(shown_path(use.place))}" if use.place not in ("", ".") else ""
    clients = " and ".join(f"{name}'s" for name in one.clients)
    text = (
        f"The descriptions{where} now take {use.characters:,} of {use.budget:,} characters of"
        f" {clients} listing ({more_or_less(change)})"
    )
    if use.characters > use.budget:
        return f"{text}: over its budget, so some are left out"
    return f"{text}: one more addition of this size would not fit" if use.characters + change > use.budget else text


def _columns(rows: Sequence[Row]) -> list[str]:
    """Name skills by the end of their paths, by as much of it as tells them apart."""
    paths = [tuple(row.path.split("/")) if row.path not in ("", ".") else (row.name,) for row in rows]
    named = []
    for path in paths:
        others = [other for other in paths if other != path]
        wanted = (n for n in range(1, len(path)) if all(other[-n:] != path[-n:] for other in others))
        named.append(code(shown_path("/".join(path[-next(wanted, len(path)) :]))))
    return named


def _cell(row: Row, key: Dimension) -> str:
    found = row.result.dimensions.get(key) if row.result else None
    now = found.score if found else None
    change = row.change.dimensions.get(key) if row.change and row.state is not State.NEW else None
    was = change.a if change else now
    written = spread(now, found.ci_low, found.ci_high) if found else ""
    interval = f" {written}" if written else ""
    apart = change is not None and change.change is None and None not in (was, now)  # the two mean different things
    if was == now or apart or row.change is None or row.change.before is None:
        return _number(now) + interval
    return f"{_number(was)} → **{_number(now)}**{interval}"


def _number(score: float | None) -> str:
    return _NONE if score is None else f"{score:.4f}"


def _measured(result: SkillResult) -> bool:
    return any(found.score is not None for found in result.dimensions.values())


def _unmeasured(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the dimensions that some skill has no score of, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for key, found in (pair for row in rows if row.result for pair in row.result.dimensions.items()):
        names = by_reason.setdefault(inert(bounded(found.reason or "no reason is given", _TEXT)), [])
        if found.score is None and key.value not in names:
            names.append(key.value)
    return {reason: names for reason, names in by_reason.items() if names}
