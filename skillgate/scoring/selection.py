"""Which claims are reported: profile, selection, comments in the files and the file of known findings, in this order.

What is suppressed is stored and counted, and changes no score. An author who suppresses a finding gains nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import did_you_mean
from skillgate.model.finding import Claim, Client, Finding, Severity, Suppressed, rule_url
from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import PurePosixPath

    from skillgate.model.skill import Waiver

HOUSE = "house"  # the group of the rules that a configuration adds
GROUPS = (
    *("anti-pattern", "reading", "spec", "links", "code", "text", "security", "across", "suppression", "portability"),
    *("judge", HOUSE),
)
"""The words for several rules, besides ``all`` and ``default`` (all but the opt-in ones)."""

EXPIRED, UNUSED = "SUPPRESSION_EXPIRED", "SUPPRESSION_UNUSED"
"""The rules about comments: a claim of theirs says what comes true on a certain day, or where nothing is found."""


class Selection(NamedTuple):
    """What is asked of one skill's findings.

    Attributes:
        profile: the client that decides what is an error; None for what every client refuses.
        select: ids and groups that are reported; ``default`` is every rule that is not opt-in.
        ignore: ids and groups that are suppressed.
        today: the day, as an ISO date, to compare with the end of comments.
        ignored_in: gives ids and groups that are suppressed in a file too, by its path in the skill; None for none.
        inapplicable_in: gives the ids of house rules that do not apply to a file, by its path in the skill; None for
            none.
    """

    profile: Client | None = None
    select: frozenset[str] = frozenset({"default"})
    ignore: frozenset[str] = frozenset()
    today: str = ""
    ignored_in: Callable[[str], frozenset[str]] | None = None
    inapplicable_in: Callable[[str], frozenset[str]] | None = None

    def applies(self, claim: Claim) -> bool:
        """Whether the rule of a claim applies to its file; only house rules are limited to some files."""
        return self.inapplicable_in is None or claim.group != HOUSE or claim.id not in self.inapplicable_in(claim.file)

    def ignores(self, claim: Claim) -> bool:
        """Whether the configuration suppresses a claim, everywhere or in its file."""
        in_file = frozenset() if self.ignored_in is None else self.ignored_in(claim.file)
        return _is_named(claim, self.ignore) or _is_named(claim, in_file)


class Settled(NamedTuple):
    """What became of a skill's claims."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]


def settle(
    claims: Sequence[Claim],
    waivers: Sequence[Waiver],
    selection: Selection,
    *,
    directory: PurePosixPath,
    known: Callable[[Finding], bool] | None = None,
    honoured: Callable[[Claim, Waiver], bool] | None = None,
) -> Settled:
    """Decide what becomes of each claim about one skill.

    The claim that a comment has expired is reported if the day has come and the comment covers another claim. The
    claim that a comment suppresses nothing is reported if it covers none. No comment suppresses these two.

    ``waivers`` are the comments in the skill's files, relative to its ``directory``. ``known`` is called once for each
    finding that nothing else sets aside, in their order; ``honoured`` says whether a comment may set a claim aside that
    it covers (None: every comment may).
    """
    claims = [claim for claim in claims if selection.applies(claim)]
    comments = _comments(claims, waivers, selection.today)
    findings: list[Finding] = []
    suppressed: list[Suppressed] = []
    for claim, covering in zip(claims, comments.holding, strict=True):
        finding = _finding(claim, selection, directory)
        if finding is None or not _comes_true(claim, comments):
            continue
        waiver = next((one for one in covering if honoured is None or honoured(claim, one)), None)
        if selection.ignores(claim):
            suppressed.append(Suppressed(finding, "configuration"))
        elif waiver is not None:
            suppressed.append(Suppressed(finding, "comment", waiver.reason, waiver.until))
        elif known is not None and known(finding):
            suppressed.append(Suppressed(finding, "known"))
        else:
            findings.append(finding)
    return Settled(tuple(sorted(findings, key=_order)), tuple(suppressed))


def unknown_words(words: Iterable[str], ids: Collection[str]) -> str | None:
    """Say which word of a selection is neither a rule's id nor a group; None when all are."""
    known = (*ids, *GROUPS, "all", "default")
    for word in words:
        if word not in known:
            return f"unknown rule {word!r}{_meant(word, known)}; skillgate rules lists them"
    return None


def _meant(word: str, known: Collection[str]) -> str:
    """Suggest a word, first what is written so but for letter case and hyphens."""
    for form in (word.upper().replace("-", "_"), word.lower().replace("_", "-")):
        if form in known:
            return f" (did you mean {form!r}?)"
    return did_you_mean(word.upper(), known) or did_you_mean(word.lower(), known)


def _finding(claim: Claim, selection: Selection, directory: PurePosixPath) -> Finding | None:
    """Return the claim as the profile sees it; None where it is not reported."""
    profile = selection.profile
    if profile is not None and claim.about and profile not in claim.about:
        return None
    if not _is_named(claim, selection.select):
        return None
    return Finding(
        id=claim.id,
        severity=Severity.ERROR if profile is not None and profile in claim.refused_by else claim.severity,
        message=claim.message,
        path=directory / claim.file,
        line=claim.line,
        column=claim.column,
        fix=claim.fix,
        url="" if claim.group == HOUSE else rule_url(claim.id),
        clients=claim.refused_by,
        skills=claim.skills,
    )


def _is_named(claim: Claim, words: frozenset[str]) -> bool:
    if not words:
        return False
    by_name = claim.id in words or claim.group in words or "all" in words
    return by_name or ("default" in words and not claim.optional)


class _Comments(NamedTuple):
    """What the comments in a skill's files do. A comment is known by file, line and one rule that it names.

    ``holding`` has for each claim the comments that set it aside; ``used`` are those that cover a claim, whether
    they still hold or not, ``over`` those that have run out.
    """

    holding: Sequence[tuple[Waiver, ...]]
    used: frozenset[tuple[str, int, str]] = frozenset()
    over: frozenset[tuple[str, int, str]] = frozenset()


def _comments(claims: Sequence[Claim], waivers: Sequence[Waiver], today: str) -> _Comments:
    if not waivers:
        return _Comments([()] * len(claims))
    by_rule: dict[tuple[str, str], list[Waiver]] = {}
    for waiver in waivers:
        for rule in waiver.rules:
            by_rule.setdefault((waiver.file, rule), []).append(waiver)
    holding: list[tuple[Waiver, ...]] = []
    used: set[tuple[str, int, str]] = set()
    for claim in claims:
        nearby = () if claim.id in (EXPIRED, UNUSED) else by_rule.get((claim.file, claim.id), ())
        covering = [waiver for waiver in nearby if waiver.first <= claim.line <= waiver.last]
        used.update((waiver.file, waiver.line, claim.id) for waiver in covering)
        holding.append(tuple(waiver for waiver in covering if not _is_over(waiver, today)))
    ended = [waiver for waiver in waivers if _is_over(waiver, today)]
    over = {(waiver.file, waiver.line, rule) for waiver in ended for rule in waiver.rules}
    return _Comments(holding, frozenset(used), frozenset(over))


def _comes_true(claim: Claim, comments: _Comments) -> bool:
    """Whether a claim about a comment is true today; its message begins with the rule that the comment names."""
    if claim.id not in (EXPIRED, UNUSED):
        return True
    comment = (claim.file, claim.line, claim.message.partition(" ")[0])
    used = comment in comments.used
    return used and comment in comments.over if claim.id == EXPIRED else not used


def _is_over(waiver: Waiver, today: str) -> bool:
    return waiver.until is not None and waiver.until < today


def _order(finding: Finding) -> tuple[int, str, int, int, str]:
    return finding.severity.rank, str(finding.path), finding.line, finding.column, finding.id
