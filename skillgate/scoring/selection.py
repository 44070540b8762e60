"""Which claims stand: profile, selection, comments in the files and the file of known findings, in this order.

What is set aside is kept and counted, and changes no score: an author who suppresses a finding gains nothing by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.finding import Claim, Client, Finding, Severity, Suppressed
from skillgate.model.text import did_you_mean
from skillgate.model.tool import rule_url

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence
    from pathlib import PurePosixPath

    from skillgate.model.skill import Waiver

GROUPS = ("anti-pattern", "reading", "spec", "links", "code", "text", "across", "suppression", "portability")
"""The words that stand for several rules, beside ``all`` and ``default`` (all but the opt-in ones)."""

EXPIRED, UNUSED = "SUPPRESSION_EXPIRED", "SUPPRESSION_UNUSED"


class Selection(NamedTuple):
    """What is asked of one skill's findings.

    Attributes:
        profile: the client whose refusals are errors; None for what holds for every client.
        select: ids and groups that are reported; ``default`` is every rule that is not opt-in.
        ignore: ids and groups that are set aside.
        today: the day, as an ISO date, that comments with an end are held against.
    """

    profile: Client | None = None
    select: frozenset[str] = frozenset({"default"})
    ignore: frozenset[str] = frozenset()
    today: str = ""


class Settled(NamedTuple):
    """What became of a skill's claims."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]


Known = tuple[str, str, str]  # id, path, message folded by ``known_key``


def settle(
    claims: Sequence[Claim],
    waivers: Sequence[Waiver],
    selection: Selection,
    *,
    directory: PurePosixPath,
    known: MutableMapping[Known, int] | None = None,
) -> Settled:
    """Decide what becomes of each claim about one skill.

    Args:
        claims: all of them.
        waivers: the comments in its files, with files relative to its directory.
        selection: profile, rules, day.
        directory: the skill's directory as shown.
        known: how many more findings of each kind are known; those that are met are taken off.
    """
    used: set[Waiver] = set()
    findings: list[Finding] = []
    suppressed: list[Suppressed] = []
    for claim in claims:
        waiver = _waived(claim, waivers, selection.today)
        if waiver is not None:
            used.add(waiver)
        finding = _finding(claim, selection, directory)
        if finding is None:
            continue
        if _is_named(claim, selection.ignore):
            suppressed.append(Suppressed(finding, "configuration"))
        elif waiver is not None:
            suppressed.append(Suppressed(finding, "comment", waiver.reason, waiver.until))
        elif known is not None and known.get(known_key(finding), 0) > 0:
            known[known_key(finding)] -= 1
            suppressed.append(Suppressed(finding, "known"))
        else:
            findings.append(finding)
    if waivers:
        findings += _about(waivers, used, selection, directory)
    return Settled(tuple(sorted(findings, key=_order)), tuple(suppressed))


def known_key(finding: Finding) -> Known:
    """Give what a known finding is recognised by: not its line, and no number in its message, since both drift."""
    folded: list[str] = []
    for character in finding.message:
        if not character.isdigit():
            folded.append(character)
        elif not folded or folded[-1] != "#":
            folded.append("#")
    return finding.id, str(finding.path), "".join(folded)


def unknown_words(words: Iterable[str], ids: Collection[str]) -> str | None:
    """Say which word of a selection is neither a rule's id nor a group; None when all are."""
    known = (*ids, *GROUPS, "all", "default")
    for word in words:
        if word not in known:
            return f"unknown rule {word!r}{did_you_mean(word, known)}; skillgate rules lists them"
    return None


def _finding(claim: Claim, selection: Selection, directory: PurePosixPath) -> Finding | None:
    """Give the claim as the profile sees it; None where it is not reported."""
    profile = selection.profile
    if profile is not None and claim.about and profile not in claim.about:
        return None
    if not _is_selected(claim, selection.select):
        return None
    return Finding(
        id=claim.id,
        severity=Severity.ERROR if profile is not None and profile in claim.refused_by else claim.severity,
        message=claim.message,
        path=directory / claim.file,
        line=claim.line,
        column=claim.column,
        fix=claim.fix,
        url=rule_url(claim.id),
        clients=claim.refused_by,
    )


def _is_selected(claim: Claim, select: frozenset[str]) -> bool:
    return _is_named(claim, select) or (not claim.optional and "default" in select)


def _is_named(claim: Claim, words: frozenset[str]) -> bool:
    return bool(words) and (claim.id in words or claim.group in words or "all" in words)


def _waived(claim: Claim, waivers: Sequence[Waiver], today: str) -> Waiver | None:
    for waiver in waivers:
        covers = claim.id in waiver.rules and claim.file == waiver.file and waiver.first <= claim.line <= waiver.last
        if covers and not _is_over(waiver, today):
            return waiver
    return None


def _is_over(waiver: Waiver, today: str) -> bool:
    return waiver.until is not None and waiver.until < today


def _about(
    waivers: Sequence[Waiver], used: set[Waiver], selection: Selection, directory: PurePosixPath
) -> Iterator[Finding]:
    """Say which comments have run out, and which set nothing aside."""
    for waiver in waivers:
        named = ", ".join(waiver.rules)
        if _is_over(waiver, selection.today):
            message = f"the suppression of {named} ended on {waiver.until}"
            fix = "mend what it covers, or give it a new end and reason"
            claim = Claim(EXPIRED, Severity.WARNING, message, waiver.file, waiver.line, 1, fix, "suppression")
        elif waiver not in used:
            message = f"this comment suppresses no finding ({named})"
            fix = "remove the comment"
            claim = Claim(UNUSED, Severity.INFO, message, waiver.file, waiver.line, 1, fix, "suppression")
        else:
            continue
        finding = _finding(claim, selection, directory)
        if finding is not None and not _is_named(claim, selection.ignore):
            yield finding


def _order(finding: Finding) -> tuple[int, str, int, int, str]:
    return finding.severity.rank, str(finding.path), finding.line, finding.column, finding.id
