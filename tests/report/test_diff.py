"""What becomes of skills and their findings between two reports."""

from __future__ import annotations

import json
import math
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import jsonschema
import pytest

from skillgate.errors import UsageError
from skillgate.model.documents import ActionRun, State
from skillgate.model.finding import Suppressed
from skillgate.model.report import Tool
from skillgate.model.score import Outcome
from skillgate.report.json import read, render
from skillgate.report.matching import unmatched
from skillgate.report.schema import report_schema
from tests.report.diffs import differing, every_kind, measured, scored
from tests.report.reports import a_finding, unread

if TYPE_CHECKING:
    from skillgate.model.documents import SkillChange
    from skillgate.model.finding import Finding
    from skillgate.model.report import SkillResult


def one(before: SkillResult | None, after: SkillResult | None) -> SkillChange:
    (change,) = differing((before, after)).skills
    return change


def lines(findings: tuple[Finding, ...]) -> list[int]:
    return [finding.line for finding in findings]


def test_a_finding_on_another_line_and_with_another_number_is_the_same() -> None:
    before = a_finding(message="the body has 512 lines; 500 are the most", line=9)
    after = a_finding(message="the body has 530 lines; 500 are the most", line=12)
    change = one(scored(70, before), scored(70, after))
    assert (change.state, change.new, change.fixed, change.kept) == (State.UNCHANGED, (), (), 1)


def test_a_number_in_what_may_be_an_attack_counts() -> None:
    before = a_finding(id="HIDDEN_UNICODE", message="8 hidden characters")
    after = a_finding(id="HIDDEN_UNICODE", message="800 hidden characters")
    change = one(scored(70, before), scored(70, after))
    assert (change.new, change.fixed) == ((after,), (before,))


def test_how_many_there_are_of_a_kind_counts_and_the_one_on_a_line_of_its_own_is_new() -> None:
    before = [a_finding(line=line) for line in (10, 20)]
    after = [a_finding(line=line) for line in (10, 15, 20)]
    assert lines(one(scored(70, *before), scored(70, *after)).new) == [15]
    assert lines(one(scored(70, *after), scored(70, *before)).fixed) == [15]


def test_the_same_words_about_another_file_rule_or_of_another_tool_are_another_finding() -> None:
    finding = a_finding()
    for other in (
        a_finding(path="skills/one/more.md"),
        a_finding(id="DEAD_CROSS_REF"),
        a_finding(tool="other"),
        a_finding(message="references/2.md is not there"),
    ):
        change = one(scored(70, finding), scored(70, other))
        assert (change.new, change.fixed, change.kept) == ((other,), (finding,), 0)


def test_findings_move_with_their_skill() -> None:
    before, after = a_finding(path="old/csv/SKILL.md"), a_finding(path="new/csv/SKILL.md")
    change = one(scored(70, before, path="old/csv"), scored(70, after, path="new/csv"))
    assert (change.state, change.moved, change.new, change.fixed) == (State.UNCHANGED, True, (), ())


def test_a_skill_that_was_the_working_directory_moves_too() -> None:
    before, after = a_finding(path="SKILL.md"), a_finding(path="skills/csv/SKILL.md")
    assert one(scored(70, before, path="."), scored(70, after, path="skills/csv")).kept == 1
    assert one(scored(70, after, path="skills/csv"), scored(70, before, path=".")).kept == 1


def test_what_is_said_of_a_moved_skill_elsewhere_is_still_the_same() -> None:
    told = "lines 3–9 stand in {}/SKILL.md:3–9 too"
    before = a_finding(message=told.format("old/csv"), path="skills/a/SKILL.md")
    after = a_finding(message=told.format("new/csv"), path="skills/a/SKILL.md")
    pairs = (
        (scored(70, before, path="skills/a"), scored(70, after, path="skills/a")),
        (scored(70, path="old/csv"), scored(70, path="new/csv")),
    )
    assert differing(*pairs).summary.findings_kept == 1
    assert differing(pairs[0]).summary.findings_new == 1


def test_a_word_that_is_also_a_path_does_not_make_a_finding_new() -> None:
    finding = a_finding(message="csv is no tool", path="csv/SKILL.md")
    moved = finding._replace(path=PurePosixPath("skills/csv/SKILL.md"))
    assert one(scored(70, finding, path="csv"), scored(70, moved, path="skills/csv")).kept == 1


def test_what_is_only_set_aside_now_is_not_fixed() -> None:
    finding = a_finding()
    aside = Suppressed(finding._replace(line=8), "comment")
    change = one(scored(70, finding), scored(70, suppressed=(aside,)))
    assert (change.state, change.new, change.fixed) == (State.CHANGED, (), ())
    assert change.suppressed == (aside,)


def test_what_is_no_longer_set_aside_is_new() -> None:
    finding = a_finding()
    change = one(scored(70, suppressed=(Suppressed(finding, "known"),)), scored(70, finding))
    assert (change.new, change.fixed, change.suppressed) == ((finding,), (), ())


def test_what_was_set_aside_before_is_not_newly_so() -> None:
    aside = Suppressed(a_finding(), "comment")
    more = Suppressed(a_finding(id="OTHER"), "comment")
    change = one(scored(70, suppressed=(aside,)), scored(70, suppressed=(aside, more)))
    assert change.suppressed == (more,)


def test_of_two_alike_one_set_aside_and_one_mended_each_is_told() -> None:
    findings = [a_finding(line=line) for line in (5, 6)]
    change = one(scored(70, *findings), scored(70, suppressed=(Suppressed(findings[0], "comment"),)))
    assert (len(change.fixed), len(change.suppressed)) == (1, 1)


def test_a_new_skill_has_no_baseline_and_all_its_findings_are_new() -> None:
    change = one(None, scored(50, a_finding()))
    assert (change.state, change.regression, change.change, len(change.new)) == (State.NEW, None, None, 1)


def test_nothing_is_fixed_by_removing_a_skill() -> None:
    change = one(scored(50, a_finding()), None)
    assert (change.state, change.fixed, change.regression) == (State.REMOVED, (), None)


def test_nothing_is_fixed_where_nobody_could_look() -> None:
    change = one(scored(50, a_finding()), unread("skills/one"))
    assert (change.fixed, change.kept, change.change) == ((), 0, None)
    assert change.regression is not None
    assert change.regression.verdict is Outcome.UNMEASURED
    assert "Permission denied" in change.regression.reason


@pytest.mark.parametrize(
    ("before", "after", "allowed", "regressed"),
    [
        (75.0, 73.0, 2.0, False),
        (75.0, 72.99, 2.0, True),
        (70.5, 69.99, 2.0, True),  # a lost badge
        (90.0, None, 2.0, True),
        (None, 50.0, 2.0, False),
        (75.0, 71.0, 5.0, False),
        (50.0, 50.0, 0.0, False),
    ],
)
def test_a_regression_is_a_lost_badge_or_more_points_than_allowed(
    before: float | None, after: float | None, allowed: float, regressed: bool
) -> None:
    found = differing((scored(before), scored(after)), max_drop=allowed, gated=True)
    assert (found.summary.regressions, found.gate.passed) == (int(regressed), not regressed)


def test_how_much_may_be_lost_is_asked_by_the_path_after() -> None:
    pairs = [(scored(78, path=path), scored(74, path=path)) for path in ("a", "b")]
    found = differing(*pairs, max_drop=lambda path: 5.0 if path == "a" else 1.0)
    assert [change.regressed for change in found.skills] == [False, True]
    assert found.max_drop is None


def test_the_gate_is_failed_before_it_is_undecided_and_passed_only_when_all_is_known() -> None:
    worse, locked, same = (scored(90), scored(50)), (scored(70), unread("skills/one")), (scored(70), scored(70))
    assert differing(worse, locked, gated=True).gate.passed is False
    assert differing(locked, same, gated=True).gate.passed is None
    assert differing(same, gated=True).gate.passed is True
    assert differing(worse).gate.passed is None
    assert differing((None, unread()), same, gated=True).gate.passed is True


def test_a_dimension_that_one_side_alone_measured_has_no_change_and_is_hinted_at() -> None:
    before = scored(70, dimensions=measured(robustness=None, token_efficiency=0.5, output_quality=None))
    after = scored(71, dimensions=measured(robustness=0.4, token_efficiency=0.75, output_quality=None))
    found = differing((before, after))
    changes = {key.value: item.change for key, item in found.skills[0].dimensions.items()}
    assert changes == {"robustness": None, "token_efficiency": 0.25}
    assert found.hints == (
        "robustness was measured on one side only in skills/one: the scores rest on different dimensions",
    )


def test_every_skill_and_finding_is_counted_once() -> None:
    found = every_kind()
    assert found.summary._asdict() == {
        "new": 1,
        "removed": 1,
        "changed": 4,
        "unchanged": 2,
        "moved": 1,
        "regressions": 1,
        "findings_new": 3,
        "findings_fixed": 1,
        "findings_kept": 1,
    }
    assert [change.path for change in found.skills] == sorted(change.path for change in found.skills)


def test_one_side_against_itself_differs_in_nothing() -> None:
    result = scored(70, a_finding(), a_finding(), a_finding(line=3), suppressed=(Suppressed(a_finding(), "known"),))
    found = differing((result, result))
    assert (found.summary.unchanged, found.summary.findings_new, found.summary.findings_fixed) == (1, 0, 0)
    assert found.skills[0].kept == 3


def test_what_went_and_what_came_are_each_others_mirror() -> None:
    some = [a_finding(line=line, message=f"{line} of them") for line in (1, 2, 3)]
    other = [a_finding(line=line, message=f"{line} of them") for line in (3, 9)]
    assert unmatched(some, other) == tuple(reversed(unmatched(other, some)))


def test_a_diff_comes_back_from_json_as_it_was_and_fits_the_schema() -> None:
    found = every_kind()
    text = render(found)
    assert read(text, source="diff.json") == found
    jsonschema.Draft202012Validator(report_schema()).validate(json.loads(text))


def test_the_record_of_a_run_comes_back_from_json_as_it_was() -> None:
    run = ActionRun(result="fail", exit_code=1, tool=Tool(version="1.2.3"), reasons=("a: it dropped",), head="ab")
    assert read(render(run), source="run.json") == run


@pytest.mark.parametrize(
    ("place", "value", "path"),
    [
        (("skills", 0, "after", "score"), 101, "skills[0].after.score"),
        (("skills", 0, "after", "badge"), "Gilded", "skills[0].after.badge"),
        (("skills", 0, "kept"), -1, "skills[0].kept"),
        (("skills", 0, "change"), math.nan, "skills[0].change"),
        (("a",), {}, "a.label"),
        (("summary", "new"), "many", "summary.new"),
    ],
)
def test_a_bad_value_of_a_stored_diff_is_named_by_its_path(
    place: tuple[str | int, ...], value: object, path: str
) -> None:
    document = json.loads(render(every_kind()))
    item = document
    for step in place[:-1]:
        item = item[step]
    item[place[-1]] = value
    with pytest.raises(UsageError) as raised:
        read(json.dumps(document), source="diff.json")
    assert path in str(raised.value)


def test_a_document_of_a_later_form_is_refused() -> None:
    document = json.loads(render(every_kind()))
    document["schema_version"] += 1
    with pytest.raises(UsageError, match="a later one wrote it"):
        read(json.dumps(document), source="diff.json")
