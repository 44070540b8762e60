"""What becomes of claims: profile, selection, comments, known findings, in this order."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from skillgate.model.finding import Claim, Client, Severity, rule_url
from skillgate.model.skill import Waiver
from skillgate.scoring.selection import EXPIRED, GROUPS, UNUSED, Selection, settle, unknown_words
from skillgate.static.catalogue import pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.finding import Finding
    from skillgate.scoring.selection import Settled

HERE = PurePosixPath("skills/pdf")
LINK = Claim("BROKEN_LINK", Severity.WARNING, "gone.md is not there", "SKILL.md", 9, 3, "mend it", "links")
OPT_IN = LINK._replace(id="PORTABLE_PATH", group="portability", optional=True)


def comment(line: int = 8, *, until: str | None = None, rules: tuple[str, ...] = ("BROKEN_LINK",)) -> Waiver:
    """A comment that covers its own line and the two below."""
    return Waiver("SKILL.md", line, rules, line, line + 2, "why", until)


def about(waiver: Waiver) -> tuple[Claim, ...]:
    """What reading says of a comment, before it is known whether it is true."""
    found = []
    for rule in waiver.rules:
        words = f"{rule} is meant"
        found.append(Claim(UNUSED, Severity.INFO, words, waiver.file, waiver.line, 1, "remove it", "suppression"))
        found.append(Claim(EXPIRED, Severity.WARNING, words, waiver.file, waiver.line, 1, "mend it", "suppression"))
    return tuple(found)


def settled(
    *claims: Claim,
    waivers: tuple[Waiver, ...] = (),
    known: Callable[[Finding], bool] | None = None,
    profile: Client | None = None,
    select: str = "default",
    ignore: str = "",
    today: str = "2026-11-22",
) -> Settled:
    """Settle claims, with those about the comments among them."""
    selection = Selection(profile, frozenset(select.split()), frozenset(ignore.split()), today)
    return settle(
        (*claims, *(claim for waiver in waivers for claim in about(waiver))),
        waivers,
        selection,
        directory=HERE,
        known=known,
    )


def ids(result: Settled) -> list[str]:
    return [finding.id for finding in result.findings]


def by(result: Settled) -> list[tuple[str, str]]:
    return [(item.finding.id, item.by) for item in result.suppressed]


def test_a_finding_has_all_that_the_claim_says_and_the_path_as_shown() -> None:
    (finding,) = settled(LINK._replace(file="references/a.md")).findings
    assert str(finding.path) == "skills/pdf/references/a.md"
    assert (finding.line, finding.column, finding.fix) == (9, 3, "mend it")
    assert finding.url == rule_url("BROKEN_LINK")


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("default", ["BROKEN_LINK"]),
        ("links", ["BROKEN_LINK"]),
        ("PORTABLE_PATH", ["PORTABLE_PATH"]),
        ("default portability", ["BROKEN_LINK", "PORTABLE_PATH"]),
        ("all", ["BROKEN_LINK", "PORTABLE_PATH"]),
        ("spec", []),
    ],
)
def test_a_rule_is_selected_by_id_group_default_or_all(select: str, expected: list[str]) -> None:
    assert ids(settled(LINK, OPT_IN, select=select)) == expected


def test_what_is_not_selected_is_not_counted_as_suppressed() -> None:
    assert settled(OPT_IN, ignore="all").suppressed == ()


@pytest.mark.parametrize(
    ("ignore", "left"), [("default", ["PORTABLE_PATH"]), ("all", []), ("portability", ["BROKEN_LINK"])]
)
def test_the_same_words_say_what_is_ignored(ignore: str, left: list[str]) -> None:
    assert ids(settled(LINK, OPT_IN, select="all", ignore=ignore)) == left


def test_a_rule_without_a_group_is_no_ones() -> None:
    assert ids(settled(LINK._replace(group=""), select="links")) == []


def test_a_profile_raises_what_its_client_refuses_and_drops_what_is_about_others() -> None:
    refused = LINK._replace(refused_by=(Client.CODEX,))
    theirs = LINK._replace(about=(Client.CODEX, Client.SPEC))
    for profile, severity, count in (
        (None, "warning", 1),
        (Client.CODEX, "error", 1),
        (Client.CLAUDE_CODE, "warning", 0),
    ):
        (finding,) = settled(refused, profile=profile).findings
        assert finding.severity.value == severity
        assert finding.clients == (Client.CODEX,)
        assert len(settled(theirs, profile=profile).findings) == count


def test_configuration_stands_before_comments_and_these_before_known_findings() -> None:
    asked: list[str] = []

    def known(finding: Finding) -> bool:
        asked.append(finding.id)
        return True

    waivers = (comment(),)
    assert by(settled(LINK, waivers=waivers, ignore="links", known=known)) == [("BROKEN_LINK", "configuration")]
    assert by(settled(LINK, waivers=waivers, known=known)) == [("BROKEN_LINK", "comment")]
    assert asked == []
    assert by(settled(LINK, known=known)) == [("BROKEN_LINK", "known")]
    assert asked == ["BROKEN_LINK"]


@pytest.mark.parametrize(("line", "covered"), [(7, False), (8, True), (10, True), (11, False)])
def test_a_comment_covers_its_lines(line: int, *, covered: bool) -> None:
    result = settled(LINK._replace(line=line), waivers=(comment(),))
    assert by(result) == ([("BROKEN_LINK", "comment")] if covered else [])


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        (None, []),
        ("2026-11-22", []),
        ("2026-11-23", []),
        ("2026-11-21", ["BROKEN_LINK", "SUPPRESSION_EXPIRED"]),
    ],
)
def test_a_comment_holds_on_its_last_day_and_not_after_it(until: str | None, expected: list[str]) -> None:
    assert sorted(ids(settled(LINK, waivers=(comment(until=until),)))) == expected


def test_without_a_day_every_comment_holds() -> None:
    assert ids(settled(LINK, waivers=(comment(until="2020-01-01"),), today="")) == []


def test_each_rule_of_a_comment_is_asked_about() -> None:
    result = settled(LINK, waivers=(comment(rules=("BROKEN_LINK", "BROKEN_ANCHOR")),))
    assert [finding.message for finding in result.findings] == ["BROKEN_ANCHOR is meant"]


def test_a_comment_that_covers_what_is_not_asked_for_is_used() -> None:
    waivers = (comment(rules=("BROKEN_LINK",)),)
    assert ids(settled(LINK, waivers=waivers, select="suppression")) == []
    assert ids(settled(LINK._replace(about=(Client.CODEX,)), waivers=waivers, profile=Client.SPEC)) == []


def test_a_comment_over_and_without_a_finding_is_only_unused() -> None:
    assert ids(settled(waivers=(comment(until="2020-01-01"),))) == [UNUSED]


def test_of_two_comments_neither_is_unused_where_both_cover_the_finding() -> None:
    assert ids(settled(LINK, waivers=(comment(8), comment(9)))) == []


def test_where_one_is_over_the_other_sets_the_finding_aside() -> None:
    result = settled(LINK, waivers=(comment(8, until="2020-01-01"), comment(9)))
    assert (ids(result), by(result)) == ([EXPIRED], [("BROKEN_LINK", "comment")])


def test_no_comment_sets_findings_about_comments_aside() -> None:
    assert ids(settled(waivers=(comment(rules=(UNUSED,)),))) == [UNUSED]


def test_findings_about_comments_are_ignored_known_and_selected_like_others() -> None:
    waivers = (comment(),)
    assert by(settled(waivers=waivers, ignore="suppression")) == [(UNUSED, "configuration")]
    assert by(settled(waivers=waivers, known=lambda _: True)) == [(UNUSED, "known")]
    assert ids(settled(waivers=waivers, select="links")) == []


def test_claims_of_which_some_are_left_out_bring_nothing_about_comments() -> None:
    selection = Selection(today="2026-11-22")
    result = settle([LINK], [comment(), comment(40)], selection, directory=HERE)  # as for an untouched skill
    assert (ids(result), by(result)) == ([], [("BROKEN_LINK", "comment")])


def test_findings_are_ordered_by_severity_file_and_line() -> None:
    claims = [
        LINK._replace(line=30),
        LINK._replace(severity=Severity.INFO, line=1),
        LINK._replace(line=4),
        LINK._replace(severity=Severity.ERROR, file="references/z.md"),
    ]
    found = settled(*claims).findings
    assert [(item.severity.value, item.line) for item in found] == [
        ("error", 9),
        ("warning", 4),
        ("warning", 30),
        ("info", 1),
    ]


def test_unknown_words_are_named_with_what_was_meant() -> None:
    known = ("BROKEN_LINK", "MISSING_TOC")
    assert unknown_words(["all", "default", "links", "BROKEN_LINK"], known) is None
    for word in ("BROKEN-LINK", "broken_link", "BROKN_LINK", "brokenlink"):
        assert f"unknown rule {word!r} (did you mean 'BROKEN_LINK'?)" in (unknown_words([word], known) or "")
    assert "did you mean" not in (unknown_words(["zzz"], known) or "did you mean")


def test_every_rule_is_of_a_group_that_can_be_named() -> None:
    assert {page.rule.group for page in pages()} <= {*GROUPS, ""}
