"""What differs between two reports, written for people: golden files, and nothing of a skill is obeyed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skillgate.format import Style
from skillgate.model.documents import State
from skillgate.model.finding import AcrossChange, Client, ListingUse, Severity, Suppressed
from skillgate.report.changes import gravest_first, view
from skillgate.report.formats.text import columns
from skillgate.report.json import render as render_json
from skillgate.report.moves import MOST, arrow, what_moved
from tests.report.diffs import differing, every_kind, measured, scored
from tests.report.reports import a_finding, hostile_path, hostile_text, unread
from tests.report.tree import dump, matches_golden
from tests.report.written import markdown, text

if TYPE_CHECKING:
    from skillgate.model.documents import Diff, SkillChange

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
INVISIBLE = "\x1b\u202e\u2028\x00\x07\r"


def in_text(found: Diff, *, verbose: bool = False) -> str:
    return text(found, "diff", verbose=verbose)


def in_markdown(found: Diff) -> str:
    return markdown(found, "diff")


def everything() -> Diff:
    grown = ListingUse(Client.CODEX, "skills", skills=7, characters=7940, budget=8000, before=7528)
    clash = a_finding(id="INDISTINCT", severity=Severity.WARNING, message="hardly told apart from skills/better")
    found = every_kind()
    return differing_with(found, listing=(grown,), across=AcrossChange(new=(clash,), fixed=()))


def differing_with(found: Diff, *, listing: tuple[ListingUse, ...], across: AcrossChange) -> Diff:
    return replace(found, listing=listing, across=across)


def test_a_diff_with_a_skill_of_every_kind() -> None:
    found = everything()
    assert matches_golden("diff.tree", dump(view(found)))
    assert matches_golden("diff.txt", in_text(found))
    assert matches_golden("diff.md", in_markdown(found))
    assert matches_golden("diff.json", render_json(found))


def test_the_gravest_stands_first() -> None:
    order = [change.path for change in gravest_first(every_kind())]
    assert order[:3] == ["skills/csv", "skills/locked", "skills/pdf"]
    assert order[-1] == "skills/rest"
    assert "skills/same" not in order


def test_two_reports_that_do_not_differ_say_so_shortly() -> None:
    found = differing((scored(70, a_finding()), scored(70, a_finding())), gated=True)
    shown = in_text(found)
    assert "unchanged 1 findings 0 new 0 fixed, 1 unchanged" in " ".join(shown.split())
    assert "\nNo regression: nothing changed\n" in shown
    assert in_markdown(found).startswith("# ✅ No regression: nothing changed\n")
    assert in_markdown(differing()).startswith("# Nothing changed\n")


def test_many_skills_are_cut_and_counted() -> None:
    pairs = [(scored(80, path=f"s/{i:03}"), scored(79, path=f"s/{i:03}")) for i in range(300)]
    assert "… 275 more skills; -v shows them" in in_text(differing(*pairs))
    assert in_text(differing(*pairs), verbose=True).count("▼ 1.00") == 300
    assert "100 more skills in the JSON report." in in_markdown(differing(*pairs))


def change(*args: object, **changes: object) -> SkillChange:
    (found,) = differing(args).skills  # type: ignore[arg-type]
    return found._replace(**changes)  # type: ignore[arg-type]


def test_what_moved_names_rules_by_severity_then_what_moved_the_score_most() -> None:
    dims = measured(triggering_accuracy=0.88, code_template_quality=0.9, scope_calibration=0.5, robustness=0.1)
    less = measured(triggering_accuracy=0.41, code_template_quality=0.2, scope_calibration=0.6, robustness=0.1)
    warned = a_finding(id="MISSING_TRIGGER", severity=Severity.WARNING)
    found = change(scored(70, dimensions=dims), scored(60, warned, a_finding(), a_finding(), dimensions=less))
    assert what_moved(found, most=200) == (
        "new: ORPHAN_REFERENCE ×2, MISSING_TRIGGER; triggering_accuracy ▼ 0.47; code_template_quality ▼ 0.70"
    )
    assert what_moved(found) == "new: ORPHAN_REFERENCE ×2, MISSING_TRIGGER; triggering_accuracy ▼ 0.47; …"


def test_what_moved_always_has_room_for_the_greatest_loss() -> None:
    names = ("DUPLICATED_CONTENT", "CONTRADICTING_LINES", "CODE_SYNTAX", "BROKEN_LINK", "LINE_TOO_LONG")
    came = [a_finding(id=name, severity=Severity.INFO if name == "LINE_TOO_LONG" else Severity.ERROR) for name in names]
    dims = measured(progressive_disclosure=0.9)
    found = change(scored(70, dimensions=dims), scored(60, *came, dimensions=measured(progressive_disclosure=0.2)))
    assert what_moved(found) == "new: DUPLICATED_CONTENT, 4 more; progressive_disclosure ▼ 0.70"
    assert what_moved(found, most=120) == (
        "new: DUPLICATED_CONTENT, CONTRADICTING_LINES, CODE_SYNTAX, 2 more; progressive_disclosure ▼ 0.70"
    )


def test_what_fell_is_named_though_others_rose_by_more() -> None:
    before = measured(triggering_accuracy=0.1, orchestration_fitness=0.1, ecosystem_coherence=0.9)
    after = measured(triggering_accuracy=0.9, orchestration_fitness=0.9, ecosystem_coherence=0.5)
    assert what_moved(change(scored(50, dimensions=before), scored(70, dimensions=after))).startswith(
        "ecosystem_coherence ▼ 0.40; "
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (change(None, scored(90)), "no baseline"),
        (change(None, scored(50, a_finding())), "no baseline; new: ORPHAN_REFERENCE"),
        (change(scored(50), None), "removed"),
        (change(scored(50), scored(50)), ""),
        (change(scored(50), unread("skills/one")), "not evaluated: Permission denied"),
        (change(scored(50), scored(None)), "no score: it has neither frontmatter nor body"),
        (change(scored(None), scored(50)), "had no score before"),
        (change(scored(50, path="a/x"), scored(50, path="b/x")), "moved from a/x"),
        (change(scored(50, a_finding()), scored(51)), "fixed: ORPHAN_REFERENCE"),
        (change(scored(50), scored(50, suppressed=(Suppressed(a_finding(), "comment"),))), "1 newly suppressed"),
        (
            change(
                scored(50, dimensions=measured(robustness=0.5)), scored(50.01, dimensions=measured(robustness=0.5012))
            ),
            "robustness ▲ 0.0012",
        ),
        (change(scored(50), scored(40, *(a_finding(id=f"R_{n}") for n in "ABCDEF"))), "new: R_A, R_B, R_C, 3 more"),
    ],
)
def test_what_moved(found: SkillChange, words: str) -> None:
    assert what_moved(found) == words


@pytest.mark.parametrize(("value", "drawn"), [(2.4, "▲ 2.40"), (-16.3, "▼ 16.30"), (0.0, "="), (None, "—")])
def test_an_arrow_is_drawn_for_a_change(value: float | None, drawn: str) -> None:
    assert arrow(value) == drawn


def hostile() -> st.SearchStrategy[Diff]:
    said, path = hostile_text(), hostile_path()
    finding = st.builds(a_finding, id=said, message=said, path=path, tool=st.one_of(st.just("skillgate"), said))
    aside = st.builds(Suppressed, finding, st.just("comment"), said)
    result = st.builds(
        lambda at, findings, items, score: scored(score, *findings, path=at, suppressed=tuple(items)),
        path,
        st.lists(finding, max_size=3),
        st.lists(aside, max_size=2),
        st.one_of(st.none(), st.floats(0, 100)),
    )
    side = st.one_of(st.none(), result, st.builds(unread, path, said))
    pairs = st.lists(st.tuples(side, side).filter(any), max_size=4)
    return st.builds(
        lambda pairs, finding, hint: differing_with(
            differing(*pairs, gated=True, hints=(hint,)), listing=(), across=AcrossChange((finding,), ())
        ),
        pairs,
        finding,
        said,
    )


@settings(max_examples=60)
@given(hostile())
def test_no_text_of_a_skill_is_obeyed_by_a_terminal_or_a_runner(found: Diff) -> None:
    shown = in_text(found, verbose=True)
    assert not set(shown) & set(INVISIBLE)
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in shown.splitlines())


@settings(max_examples=60)
@given(hostile())
def test_no_text_of_a_skill_is_markup(found: Diff) -> None:
    shown = in_markdown(found)
    assert not set(shown) & set(INVISIBLE)
    for token in MARKDOWN.parse(shown):
        assert token.type != "html_block" or token.content.startswith(("<details><summary>", "</details>"))
        for inner in token.children or ():
            assert inner.type not in ("image", "link_open") or "/docs/rules.md#" in str(inner.attrs.get("href"))
            assert inner.type != "html_inline" or inner.content in ("<br>", "</details>")


@settings(max_examples=60)
@given(hostile())
def test_what_moved_is_one_short_line(found: Diff) -> None:
    for item in found.skills:
        shown = what_moved(item)
        assert len(shown) <= MOST
        assert shown.splitlines() in ([], [shown])
        assert shown or item.state in (State.UNCHANGED, State.CHANGED)


@pytest.mark.parametrize("width", [40, 72, 100, 160])
def test_rows_keep_to_the_width_where_there_is_room(width: int) -> None:
    shown = text(every_kind(), "diff", Style(width=width)).splitlines()
    assert shown
    assert not [row for row in shown if columns(row) > width]
