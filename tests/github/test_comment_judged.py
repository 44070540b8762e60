"""What a pull request is told of a judge: scores with intervals, how sure they are, the cost, what was not judged."""

from __future__ import annotations

from hypothesis import given, settings

from skillgate.action.comment.comment import COMMENT_UNITS, comment, headline, summary, utf16
from skillgate.report.judge_compared import SCRIPTED
from tests.github import judged as build
from tests.github.build import run
from tests.github.rendered import LIVE, OURS, read, reader, unbalanced
from tests.published import HOMEPAGE
from tests.report import judged
from tests.report.test_judged import FROM, TEXTS

OUR_LINKS = ("https://github.com/acme/skills/", f"{HOMEPAGE}/")


def inside(text: str) -> str:
    """Give a comment as it is read: nothing escaped, single blanks."""
    return " ".join(text.replace("\\", "").replace("\u200b", "").split())


def test_a_dimension_that_rests_on_the_judge_says_so_and_has_its_interval() -> None:
    text = inside(comment(build.new()))
    assert "| output_quality | **0.53** (0.39–0.68) | 15 % |" in text
    assert "| output_quality | 0.5333 | ± 0.14, wide | 5, 5 and 6 of 10 |" in text
    assert "**72.50** ± 6.10" in text
    assert "“just retry until it works” [`SKILL.md:88`](https://github.com/acme/skills/blob/" in text


def test_it_says_how_sure_it_is_and_what_a_wide_interval_comes_from() -> None:
    text = inside(comment(build.new()))
    assert "- Agreement: kappa 0.71 over 84 ratings, equal in 62 %; " in text
    assert "72.50 ± 6.10, wide; 2 of 4 trigger prompts missed: 1 indirect, 1 indirect near miss" in text
    assert f"triggering_accuracy 0.7513 (0.61 to 0.87), {FROM}" in text


def test_a_drop_that_may_be_chance_is_said_in_its_row_and_where_it_says_how_sure_it_is() -> None:
    written = comment(build.fell())
    row = next(line for line in written.splitlines() if line.startswith("| ✅ "))
    assert inside(row).count(judged.BY_CHANCE) == 1
    sure = inside(written.partition("How sure is this?")[2])
    assert f"- `skills/one`: {judged.BY_CHANCE} (p = 0.21; the least drop it would see is 9.0)" in sure
    assert "with 19 paired answers (p = 0.21) this gate would flip on identical input in 4 % of runs" in sure
    assert "the smallest drop it detects is 9 points" in sure
    assert "inconclusive" not in comment(build.new())


def test_it_says_how_far_people_bear_the_judge_out() -> None:
    result = judged.a_judged_skill(gate=build.PASSED)
    report = judged.a_judged_report(result, gate=build.PASSED, calibration=judged.a_trust(-0.12, None))
    text = inside(comment(build.told(run(), report, (None, result))))
    assert "- Calibration: judge and people over 40 ratings of 12 skills: kappa −0.12" in text
    assert "- people do not confirm this judge: kappa −0.12" in text.replace("**", "")


def test_the_footer_tells_calls_cache_and_cost() -> None:
    assert (
        "· judge claude-sonnet-5-5 ×3 · kappa 0.71 over 84 ratings, equal in 62 %"
        " · 4 calls, 14 answers from cache, $0.03 ·" in inside(comment(build.new()))
    )
    assert "cost unknown (no price for house-model)" in inside(comment(build.swayed()))


def test_one_judge_is_said_to_be_one() -> None:
    text = inside(comment(build.one_judge()))
    assert "- one judge: no interval and no agreement; --judges 3 gives both" in text
    assert "±" not in text


def test_the_first_lines_say_what_was_allowed_without_a_judge() -> None:
    first, _, second = comment(build.no_key()).splitlines()[1:4]
    allowed = "1 of 2 skills not judged, allowed by on-unmeasured: pass (the provider anthropic has no key)"
    assert first == f"### ✅ skillgate: 1 of 2 skills passes, 1 not measured; {allowed}"
    assert second.endswith(" was not measured: not judged: the provider anthropic has no key")
    assert allowed in headline(build.no_key())
    text = inside(comment(build.no_key()))
    assert "skills/silent" in text
    assert judged.NO_KEY in text


def test_a_run_that_is_not_complete_lets_nothing_through() -> None:
    text = comment(build.no_key_fails())
    assert text.splitlines()[1].startswith("### ⚠️ skillgate: 1 of 2 skills could not be evaluated")
    assert "allowed by" not in text


def test_scores_of_other_judges_are_not_compared() -> None:
    text = inside(comment(build.other_judges()))
    assert "inconclusive: other models: claude-haiku-5-5 before, claude-sonnet-5-5 after" in text
    assert "▼" not in text
    assert "0.7000 →" not in text


def test_answers_of_a_script_come_before_the_verdict_everywhere() -> None:
    for write in (comment, summary):
        text = write(build.scripted())
        assert text.index(SCRIPTED) < text.index("### ")
        assert SCRIPTED not in write(build.new())
    assert headline(build.scripted()).startswith(SCRIPTED)


def test_what_was_cut_obeyed_or_swayed_is_told() -> None:
    text = inside(comment(build.swayed()))
    assert "“Every dialect” (lines 120 to 900)" in text
    assert "2 answers obeyed the skill's text" in text


@settings(max_examples=40, deadline=None)
@given(text=TEXTS)
def test_nothing_that_a_model_says_is_live(text: str) -> None:
    report = judged.hostile(text)
    subject = build.told(run("pass", text), report, *((None, result) for result in report.results))
    for write in (comment, summary):
        written = write(subject)
        page = read(written)
        assert unbalanced(reader().render(written)) == []
        assert set(page.html) <= OURS | {"<!-- skillgate:v1 key=default -->"}
        assert all(address.startswith(OUR_LINKS) or "example.com/rules" in address for address in page.addresses)
        assert [found for told in page.texts if (found := LIVE.search(told))] == []
        assert all(len(set(cells)) == 1 for cells in page.rows)
        assert not page.kinds & {"image", "hr", "fence", "code_block", "s_open", "hardbreak"}
    assert "\n" not in headline(subject)


def test_a_comment_on_many_judged_skills_stays_within_its_limit() -> None:
    long = judged.an_assessment(0.4, reasoning=("word " * 4_000,) * 3)
    layer = judged.a_layer()
    talkative = layer._replace(assessments=dict.fromkeys(layer.assessments, long))
    results = [judged.a_judged_skill(talkative, f"skills/{number}") for number in range(200)]
    report = judged.a_judged_report(*results)
    text = comment(build.told(run(), report, *((None, result) for result in report.results)))
    assert utf16(text) <= COMMENT_UNITS
    assert "How sure is this?" in text
