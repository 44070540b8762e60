"""Comment and summary: the verdict is right and first, nothing in them is live but our own, and they are bounded."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.action.comment.comment import (
    COMMENT_UNITS,
    SUMMARY_BYTES,
    comment,
    headline,
    links_of,
    marker,
    summary,
    utf16,
)
from skillgate.action.comment.subject import Subject
from skillgate.model.finding import Client, ListingUse, Severity
from skillgate.model.report import Composite, GateOutcome, Report, Verdict
from skillgate.model.score import Outcome
from skillgate.report.formats.markdown import utf8, write
from skillgate.report.view import Fold, Item, Items, Note, Row, Span, Table, View, columns
from tests.github import build
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.published import HOMEPAGE, REF
from tests.report.reports import hostile_path, hostile_reports, hostile_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.report.view import Block

TEXT = st.one_of(hostile_text(), st.sampled_from([build.HOSTILE, "@octocat", "- [x] #1", "</details>", "    x"]))


def first_lines(subject: Subject) -> list[str]:
    """Give the lines of a comment that a reader sees first."""
    return [line for line in comment(subject).split("\n")[1:] if line]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("all-pass", "### ✅ skillgate: 3 skills pass"),
        ("threshold", "### ❌ skillgate: 1 of 2 skills fails: skills/pdf-forms"),
        ("unread", "### ⚠️ skillgate: 1 of 2 skills could not be evaluated"),
        ("ended-early", "### ⚠️ skillgate: nothing could be evaluated"),
        ("untouched", "### ✅ skillgate: no skill is touched"),
        ("unchanged", "### ✅ skillgate: 2 skills score as before"),
        ("unmeasured-passes", "### ✅ skillgate: 1 of 2 skills passes, 1 not measured"),
        ("outside", "### ❌ skillgate: the gate fails"),
        ("at-the-root", "### ❌ skillgate: csv-import fails"),
    ],
)
def test_the_verdict_is_the_first_line(name: str, title: str) -> None:
    assert first_lines(build.SITUATIONS[name]())[0] == title


@pytest.mark.parametrize("result", ["fail", "error", "", "PASS", "passed"])
def test_what_did_not_pass_never_reads_as_a_pass(result: str) -> None:
    subject = build.all_pass()._replace(run=build.run(result))
    assert "✅" not in first_lines(subject)[0]
    assert "pass" not in headline(subject)


def test_a_run_that_failed_without_a_reason_gives_the_gates() -> None:
    subject = build.threshold()._replace(run=build.run("fail"))
    assert headline(subject) == "skillgate: 1 of 2 skills fails: skills/pdf-forms: score 44.00 is below 60"


def test_what_was_not_measured_is_the_first_thing_said_of_a_pass() -> None:
    subject = build.unmeasured_passes()
    assert first_lines(subject)[1].endswith("was not measured: SKILL.md is not UTF-8")
    silent = subject._replace(run=build.run())
    assert first_lines(silent)[1].startswith("- note: [`skills/latin-1`]")
    assert first_lines(silent)[1].endswith(" was not measured: SKILL.md is not UTF-8")


def test_the_worst_skill_is_the_first_row() -> None:
    lost = build.skill("skills/b", None, reason="no body")
    pairs = [
        (build.skill("skills/away", 80), None),
        (None, build.skill("skills/new", 90)),
        (build.skill("skills/up", 60), build.skill("skills/up", 70)),
        (build.skill("skills/down", 79), build.skill("skills/down", 78)),
        (build.skill("skills/deep", 79), build.skill("skills/deep", 77.5)),
        (build.skill("skills/b", 70), lost._replace(gate=build.failed(("unmeasured", "there is no score")))),
        (build.skill("skills/same", 70), build.skill("skills/same", 70)),
        (build.skill("skills/fell", 90), build.skill("skills/fell", 50)),
    ]
    rows = [line for line in comment(build.subject(build.run("fail"), *pairs)).split("\n") if line.startswith("| ")]
    shown = [row.split("`")[1] for row in rows[1:8]]
    assert shown == [f"skills/{name}" for name in ("b", "fell", "deep", "down", "new", "up", "away")]
    assert [row[2] for row in rows[1:4]] == ["❌", "⚠", "✅"]


@pytest.mark.parametrize("write", [comment, summary])
@pytest.mark.parametrize("name", sorted(build.SITUATIONS))
def test_nothing_of_a_situation_is_live(name: str, write: Callable[[Subject], str]) -> None:
    check(write(build.SITUATIONS[name]()))


@settings(max_examples=40, deadline=None)
@given(
    report=hostile_reports(), texts=st.lists(TEXT, min_size=6, max_size=6), trusted=st.booleans(), path=hostile_path()
)
def test_nothing_that_a_pull_request_says_is_live(report: Report, texts: list[str], trusted: bool, path: str) -> None:
    about = build.report(*report.results, outside=report.outside)
    pairs = [(result._replace(findings=()), result) for result in about.results]
    record = build.run(
        texts[0][:4] or "fail",
        *texts[:2],
        head=texts[2],
        base=texts[3],
        compared=texts[3],
        policy=texts[4],
        policy_changes=tuple(texts[4:]),
        notices=tuple(texts[1:4]),
    )
    moved = [(before._replace(skill=before.skill._replace(path=path)), after) for before, after in pairs[:1]]
    for subject in (
        Subject(record, about, build.difference(*moved, *pairs[1:]), build.REPOSITORY, build.RUN_URL, trusted),
        Subject(build.run("fail", *texts), about, None, build.REPOSITORY, build.RUN_URL, trusted),
        Subject(record, None, None, texts[5], texts[5], trusted),
    ):
        check(comment(subject))
        check(summary(subject))
        assert "\n" not in headline(subject)
        assert headline(subject).startswith("skillgate: ")
        assert not any(hidden in headline(subject) for hidden in "\x1b\r\u202e\u2028")


def check(text: str) -> None:
    """Hold a text to what is promised of every one."""
    page = read(text)
    assert [piece for piece in page.html if piece not in OURS] in ([], [marker("default")])
    assert text.count("<!--") <= 1
    assert "<!--" not in text.partition("\n")[2]
    assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
    ours = (
        f"{build.REPOSITORY}/blob/",
        f"{build.REPOSITORY}/tree/",
        f"{build.REPOSITORY}/commit/",
        f"{HOMEPAGE}/blob/",
    )
    assert all(address.startswith(ours) or address == build.RUN_URL for address in page.addresses)
    assert [found for told in page.texts if (found := LIVE.search(told))] == []
    assert all(len(set(cells)) == 1 for cells in page.rows)
    assert unbalanced(reader().render(text)) == []
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in text.split("\n"))
    assert utf16(text) <= 65_000 if text.startswith(marker("default")) else utf8(text) <= 1_000_000


def test_many_skills_are_cut_and_counted() -> None:
    text = comment(build.many())
    assert "<details><summary>288 more skills</summary>" in text
    assert re.search(r"\n\d{2,3} more skills in the \[full report\]", text)
    assert re.search(r"\n\d{3} more findings in the \[full report\]", text)  # each of many alike
    assert "#### New findings: 10,200 errors" in text
    assert "- 290 more reasons" in text
    assert utf16(text) <= COMMENT_UNITS
    longer = summary(build.many())
    assert longer.count("| ❌ ") == 212
    assert "\n88 more skills in the [full report]" in longer
    assert utf8(longer) <= SUMMARY_BYTES


def test_texts_without_end_are_shortened() -> None:
    long = "\U0001f600&\u202e" * 300_000
    found = [
        build.finding(long[:3000], long, path=f"skills/{long[:3000]}/SKILL.md", fix=long, tool=tool, severity=severity)
        for severity in Severity
        for tool in ("skillgate", long)
    ]
    path = f"skills/{long[:2000]}"
    skill = build.skill(path, 40, *found * 40, gate=build.failed(("error", long)), reason=long[:3000])
    more = [build.skill(f"{path}{number}", None, reason=long[:3000], evaluated=False) for number in range(40)]
    record = build.run("fail", *[f"{number}{long}" for number in range(5)], policy_changes=(long,) * 30, policy=long)
    pairs = [(before, after) for after in (skill, *more) for before in (build.skill(after.skill.path, 90),)]
    subject = build.subject(record, *pairs, more={"outside": tuple(found)})
    for text in (comment(subject), summary(subject)):
        check(text)
        assert text.startswith(("<!-- skillgate", "### ❌"))
        assert text.rstrip().endswith("</sub>")
    assert utf16(comment(subject)) <= COMMENT_UNITS
    assert len(headline(subject)) <= 1000


def test_what_finds_no_room_is_counted() -> None:
    long = Table(columns("skill"), tuple(Row((str(number),)) for number in range(100)), noun="skill")
    view = View("x", blocks=(long, Fold("Dimensions", (Note("y" * 400),))))
    text = write(view, limit=1000, measure=utf16, foot="the end", rest="full report")
    assert utf16(text) <= 1000
    assert " more skills in the full report." in text
    assert text.endswith("\n2 more parts in the full report: there is no room for them here.\n\n<sub>the end</sub>\n")
    assert "<details>" not in text


ITEMS = st.lists(st.text("x😀", min_size=1, max_size=60), min_size=1, max_size=30).map(
    lambda texts: Items(tuple(map(Item, texts)))
)


@given(
    st.lists(st.one_of(ITEMS, st.tuples(ITEMS, ITEMS).map(lambda both: Fold("part", both))), max_size=6),
    st.integers(800, 3000),
    st.sampled_from([utf16, utf8]),
)
def test_whole_entries_fit_in_any_limit(parts: list[Block], limit: int, size: Callable[[str], int]) -> None:
    view, rest = View("x", blocks=tuple(parts), alarm="careful"), Span("full report", url=build.RUN_URL)
    text = write(view, limit=limit, measure=size, foot="end", rest=rest)
    assert size(text) <= limit
    assert text.startswith("> [!CAUTION]\n> careful\n\n# x\n")
    assert text.endswith("\n<sub>end</sub>\n")
    assert text.count("<details>") == text.count("</details>")
    folded = [block for part in parts for block in (part.blocks if isinstance(part, Fold) else (part,))]
    known = {f"- {item.line}" for items in folded if isinstance(items, Items) for item in items.items}
    assert all(line in known for line in text.split("\n") if line.startswith("- "))


def test_the_marker_is_the_first_line_and_bears_the_key() -> None:
    subject = build.all_pass()._replace(key="docs.v1_x-")
    assert comment(subject).split("\n")[0] == "<!-- skillgate:v1 key=docs.v1_x- -->"
    assert first_lines(subject)[0] == "### ✅ skillgate (docs.v1\\_x-): 3 skills pass"
    assert "<!--" not in summary(subject)


@pytest.mark.parametrize("key", ["", "a b", "-->", "a\n", "x" * 65, "ü"])
def test_a_key_of_another_form_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="comment's key"):
        marker(key)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("skills/a/SKILL.md", "/skills/a/SKILL.md?plain=1#L3"),
        ("./skills//a.py", "/skills/a.py#L3"),
        ("a/../x", "/x#L3"),
        ("a b/ü(1)#?.py", "/a%20b/%C3%BC%281%29%23%3F.py#L3"),
        ("../x", None),
        ("a/../../x", None),
        ("/etc/passwd", None),
        ("a\0b", None),
        ("\ud800", None),
        ("x" * 2000, None),
    ],
)
def test_a_file_is_linked_only_inside_of_the_repository(path: str, expected: str | None) -> None:
    address = links_of(build.all_pass()).file(path, 3)
    assert address == (f"{build.REPOSITORY}/blob/{build.HEAD}{expected}" if expected else "")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "https://user@evil.example/a/b",
        "https://github.com/a",
        "https://github.com/a/b)",
        "https://github.com/a/b c",
        "https://github.com/a/b/../..",
        "//github.com/a/b",
        "ftp://github.com/a/b",
        "",
    ],
)
def test_without_a_sane_address_nothing_is_linked(address: str) -> None:
    links = links_of(build.all_pass()._replace(repository_url=address, run_url=address))
    assert (links.run(), links.file("a"), links.change(build.HEAD)) == ("", "", "")


def test_without_a_whole_commit_no_file_is_linked() -> None:
    for head in ("main", "a1b2c3d", "A" * 40, build.HEAD + "0"):
        subject = build.regression()._replace(run=build.run("fail", head=head))
        assert f"{build.REPOSITORY}/blob/" not in comment(subject)
        assert links_of(subject).file("a") == ""


def test_an_enterprise_server_is_linked_too() -> None:
    subject = build.all_pass()._replace(repository_url="https://ghe.example:8443/acme/skills")
    assert f"](https://ghe.example:8443/acme/skills/blob/{build.HEAD}/skills/pdf-forms)" in comment(subject)


def test_only_a_rule_of_ours_leads_to_our_page() -> None:
    found = (
        build.finding("OURS_2"),
        build.finding("Not_Ours"),
        build.finding("X](https://evil.example)"),
        build.finding("THEIRS", tool="other"),
    )
    text = comment(build.subject(build.run(), (None, build.skill("skills/csv-import", 70, *found))))
    assert [address for address in read(text).addresses if "rules.md" in address] == [
        f"{HOMEPAGE}/blob/{REF}/docs/rules.md#ours_2"
    ]
    assert "evil.example/" not in text


def test_the_word_of_somebody_else_is_called_so_before_anything_that_it_says() -> None:
    line = "> The pull request's own workflow run wrote this report. Its author controls that run"
    assert first_lines(build.fork())[0] == "> [!CAUTION]"
    assert first_lines(build.fork())[1].startswith(line)
    assert summary(build.fork()).startswith(f"> [!CAUTION]\n{line}")
    assert "author controls" not in comment(build.regression())


def test_of_somebody_elses_report_no_words_stand_above_the_table() -> None:
    subject = build.fork()
    assert subject.report is not None
    forged = "Approved by the security team"
    outcomes = tuple(GateOutcome(gate, Outcome.FAIL, forged) for gate in ("threshold", forged))
    results = [one._replace(gate=Verdict(passed=False, outcomes=outcomes)) for one in subject.report.results]
    unread = results[1]._replace(composite=Composite(None, None, reason=forged))
    changed = subject._replace(report=subject.report._replace(results=(results[0], unread, *results[2:])))
    above = comment(changed).partition("\n| skill")[0]
    assert ": threshold" in above
    assert " was not measured\n" in above
    assert forged not in above
    assert forged not in headline(changed)


def test_what_the_change_does_to_its_own_gate_is_in_sight() -> None:
    text = comment(build.own_gate())
    place = text.index("#### Changes to the gate itself, effective after the merge\n\n- threshold: 60 → 10")
    assert place < text.index("\n| skill")


def steps(subject: Subject) -> list[str]:
    """Give the steps of a comment as a reader sees them."""
    lines = [line for line in comment(subject).split("\n") if re.match(r"\d\. ", line)]
    return [re.sub(r"\]\(https://[^)]*\)", "]", line[3:]) for line in lines]


def listed(subject: Subject, heading: str) -> list[str]:
    """Give the entries below a heading as a reader sees them."""
    text = comment(subject).partition(f"#### {heading}")[2].partition("\n#### ")[0].partition("<details>")[0]
    found = [line for line in text.split("\n") if line.startswith("- ")]
    return [re.sub(r"\]\(https://[^)]*\)", "]", line[2:]).replace("\\", "") for line in found]


def test_a_new_finding_is_said_once_with_place_and_fix() -> None:
    dead, vague = listed(build.regression(), "New findings")
    assert dead.startswith("**error** [**ORPHAN_REFERENCE**] [`skills/csv-import/SKILL.md:41`]")
    assert dead.endswith("references/dialects.md does not exist<br>**Fix:** create it, or remove the link")
    assert "[`skills/csv-import/SKILL.md:3`]" in vague
    text = comment(build.regression())
    assert text.count("references/dialects.md does not exist") == 1
    assert text.count("SKILL.md:41`") == 1


def test_advice_that_no_finding_gives_is_folded_unless_the_change_lowered_its_dimension() -> None:
    (told,) = steps(build.regression())
    assert told.startswith("**+2.1** `skills/csv-import/SKILL.md`: Add a Troubleshooting section")
    assert "<summary>More that would raise the score</summary>" in comment(build.regression())
    fell = build.fell_in(build.FAILURES)
    (told,) = steps(fell)
    assert told.startswith("**+2.1** [`skills/csv-import/SKILL.md`]: Add a Troubleshooting section")
    assert "More that would raise" not in comment(fell)


def test_findings_alone_bring_no_advice() -> None:
    """A skill whose score did not fall has its fixes in the list of findings."""
    error = build.skill("skills/one", 70, build.DEAD_LINK, gate=build.failed(("new-error", "1 new error")))
    error = error._replace(advice=(build.FAILURES,))
    subject = build.subject(build.run("fail"), (build.skill("skills/one", 70.5), error))
    assert steps(subject) == []


def test_that_a_new_skill_never_says_when_to_use_it_comes_first() -> None:
    new = build.skill("skills/csv-import", 50, build.DEAD_LINK, build.NO_TRIGGER)
    first, second = listed(build.subject(build.run(), (None, new)), "New findings")
    assert "MISSING_TRIGGER" in first
    assert "ORPHAN_REFERENCE" in second


def test_old_errors_are_one_folded_line() -> None:
    old = (build.DEAD_LINK, build.NO_TRIGGER)
    subject = build.subject(
        build.run(), (build.skill("skills/csv-import", 50, *old), build.skill("skills/csv-import", 60, *old))
    )
    text = comment(subject)
    assert "<details><summary>1 error existed before</summary>" in text
    assert "1 finding as before" in text
    assert "New findings" not in text


def test_old_errors_are_in_sight_where_they_fail_a_skill() -> None:
    gate = build.failed(("error", "1 error"))
    pair = (
        build.skill("skills/csv-import", 50, build.DEAD_LINK),
        build.skill("skills/csv-import", 50, build.DEAD_LINK, gate=gate),
    )
    assert len(listed(build.subject(build.run("fail"), pair), "Errors that existed before")) == 1


@pytest.mark.parametrize(("score", "rows"), [(70.04, 0), (70.05, 1), (69.95, 1)])
def test_a_change_of_a_few_hundredths_is_no_row(score: float, rows: int) -> None:
    pair = (build.skill("skills/one", 70), build.skill("skills/one", score))
    text = comment(build.subject(build.run(), pair))
    assert len([line for line in text.split("\n") if line.startswith("| ✅")]) == rows


def test_the_reason_why_there_can_be_no_badge_stands_in_the_row() -> None:
    (row,) = (line for line in comment(build.broken_but_passing()).split("\n") if line.startswith("| ⚠️"))
    assert "no badge: only 10 words of prose outside headings |" in row


def test_a_merge_is_told_from_the_change_that_was_merged() -> None:
    text = comment(build.broken_but_passing())
    address = f"{build.REPOSITORY}/commit"
    assert f"head [`bbbbbbb`]({address}/{'b' * 40}) (merged as `a1b2c3d`) against" in text
    assert "merged as" not in comment(build.regression())


def test_what_only_stands_beside_is_not_counted_unless_it_fails() -> None:
    subject = build.beside()
    text = comment(subject)
    assert first_lines(subject)[0] == "### ✅ skillgate: skills/report-writer passes"
    assert "old-report" not in text
    assert "New findings" not in text
    assert subject.report is not None
    other, low = subject.report.results
    low = low._replace(gate=build.failed(("error", "1 error")))
    run = subject.run
    failing = subject._replace(
        report=build.report(other, low), run=build.run("fail", "skills/old-report: 1 error", beside=run.beside)
    )
    assert first_lines(failing)[0] == "### ❌ skillgate: the gate fails"
    (row,) = (line for line in comment(failing).split("\n") if line.startswith("| ❌"))
    assert "not touched by the change" in row


@pytest.mark.parametrize(
    ("compared", "told"),
    [
        ("nothing, as asked", "- No baseline, as asked."),
        ("nothing: there is no git repository", "- No baseline: there is no git repository."),
        ("", "- No baseline."),
    ],
)
def test_a_run_without_a_baseline_says_why(compared: str, told: str) -> None:
    subject = build.no_base()._replace(run=build.run(base=None, compared=compared))
    assert told in comment(subject).split("\n")
    assert ", no baseline · " in comment(subject)


def test_a_report_that_is_compared_with_is_named() -> None:
    subject = build.all_pass()._replace(run=build.run(base=None, compared="the report main.json"))
    assert "against the report main.json · " in comment(subject)
    assert "no baseline · " not in comment(subject)


def test_without_a_report_the_log_is_led_to() -> None:
    text = comment(build.ended_early())
    assert f"[log]({build.RUN_URL})" in text
    assert "full report" not in text
    assert "\n- the base of the pull request is not in this clone" in text


def test_skills_whose_paths_end_alike_are_told_apart() -> None:
    paths = ("a/skills/pdf", "b/skills/pdf", "b/skills/docx", "pdf")
    pairs = [(build.skill(path, 60), build.skill(path, 50 + index)) for index, path in enumerate(paths)]
    text = comment(build.subject(build.run(), *pairs))
    told = re.findall(r"(?m)^\| \S+ \[`(.*?)`\]", text)
    assert sorted(told) == sorted(paths)


def test_lists_are_told_of_where_the_next_change_will_meet_them() -> None:
    use = ListingUse(Client.CODEX, "", 12, 1000, 8000, before=999)

    def told(*listing: ListingUse) -> list[str]:
        text = comment(build.subject(build.run(), build.same(), more={"listing": listing}))
        return [line for line in text.split("\n") if "Codex" in line]

    assert told(use) == []
    assert told(use._replace(before=600)) == ["| here | Codex | 1,000 (of 8,000, +400) |"]
    over = use._replace(characters=8254, before=9391)
    assert told(over, over._replace(client=Client.CLAUDE_CODE)) == [
        "| here | Codex, Claude Code | 8,254 (of 8,000, −1,137, over the budget) |"
    ]
    assert told(use._replace(characters=7940, before=7528)) == [
        "| here | Codex | 7,940 (of 8,000, +412, no room for the same again) |"
    ]


def test_a_moved_skill_says_from_where_and_a_removed_one_stays_listed() -> None:
    rows = [line for line in comment(build.removed_and_moved()).split("\n") if line.startswith("| ")]
    assert any("new-name" in row and "moved from skills/old-name" in row for row in rows)
    assert any("`skills/gone`" in row and "64.25 → —" in row and "removed" in row for row in rows)


def test_a_main_file_is_called_as_its_findings_call_it() -> None:
    path = PurePosixPath("skills/csv-import/skill.md")
    gate = build.failed(("error", "1 error"))
    low = build.skill("skills/csv-import", 50, build.DEAD_LINK._replace(path=path), gate=gate, advice=(build.FAILURES,))
    assert "`skills/csv-import/skill.md:41`]" in comment(build.subject(build.run("fail"), (None, low)))
