"""The HTML page: whole in itself, inert whatever it shows, bounded, and it says what matters first."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from skillgate.errors import UsageError
from skillgate.model.documents import ActionRun, Comparison, Diff
from skillgate.model.finding import Client, Severity
from skillgate.model.report import Advice, Composite, DimensionScore, Report, SkillResult, StaticLayer, Tool
from skillgate.model.score import Badge, Depth, Dimension
from skillgate.report import changes
from skillgate.report.addresses import repository, workflow_run
from skillgate.report.charts import Column, bar, columns, shares
from skillgate.report.compare import compare
from skillgate.report.formats.html import LIMIT, write
from skillgate.report.links import Links
from tests.architecture.source import ROOT, modules
from tests.published import HOMEPAGE
from tests.report.pages import (
    BASE,
    EVIL,
    HEAD,
    REPOSITORY,
    RUN_URL,
    UNMEASURED,
    Page,
    a_diff,
    a_measured_skill,
    a_run,
    hostile_report,
    many,
    taken_apart,
)
from tests.report.reports import FAILED, PASSED, a_finding, a_report, a_skill, failing, hostile_reports, unread
from tests.report.written import html, page


def score(report: Report) -> str:
    return html(report, "score")


def html_diff(diff: Diff) -> str:
    return html(diff, "diff")


def read(report: Report) -> str:
    """Give the text of a report's page, which is held to what holds for every page."""
    return taken_apart(score(report)).text


def an_action_page(report: Report | None, **changes: Any) -> str:
    diff = a_diff(report.results) if report else None
    arguments: dict[str, Any] = {
        "diff": diff,
        "run": a_run(),
        "repository_url": REPOSITORY,
        "run_url": RUN_URL,
        **changes,
    }
    return page(report=report, **arguments)


# --- what it says ---


def test_a_failed_gate_comes_first_with_each_reason_and_a_way_to_the_skill() -> None:
    bad = a_measured_skill(50, "skills/bad", gate=failing(("threshold", "score 50.00 is below 60")))
    text = score(a_report(bad, a_measured_skill(gate=PASSED), gate=FAILED))
    seen = taken_apart(text).text
    assert "1 of 2 skills fails" in seen
    assert seen.index("1 of 2 skills fails") < seen.index("score 50.00 is below 60") < seen.index("median")
    assert '<a href="#skill-1"><code>skills/bad</code></a>' in text


@pytest.mark.parametrize(
    ("report", "title"),
    [
        (a_report(a_skill(gate=PASSED), a_skill(path="b", gate=PASSED), gate=PASSED), "2 skills pass: no findings"),
        (a_report(a_skill(gate=PASSED), gate=PASSED), "skills/one passes: no findings"),
        (a_report(a_skill(), a_skill(path="b")), "2 skills: no findings"),
        (a_report(unread(), a_skill()), "1 of 2 skills could not be evaluated"),
        (a_report(outside=(a_finding(),), gate=FAILED), "1 error outside the skills"),
        (a_report(), "0 skills: no findings"),
    ],
)
def test_the_title_is_the_verdict(report: Report, title: str) -> None:
    seen = read(report)
    assert seen.startswith(f"{title} · skillgate")
    assert seen.count(title) >= 2


def test_skills_stand_worst_first() -> None:
    rows = [a_skill(path=f"s/{value}", composite=Composite(value, None)) for value in (90.0, 20.0, 55.0)]
    seen = read(a_report(*rows, unread("s/locked")))
    seen = seen.partition("Every skill")[2]
    places = [seen.index(name) for name in ("s/20.0", "s/55.0", "s/90.0", "s/locked")]
    assert places == sorted(places)


def test_what_was_not_measured_is_a_dash_with_its_reason_and_zero_is_a_number() -> None:
    seen = read(a_report(a_measured_skill()))
    assert f"output_quality score — weight 15 % grade {UNMEASURED}" in seen
    assert "token_efficiency score 0.0000 weight 6 % grade F" in seen
    locked = read(a_report(unread(reason="not evaluated: Permission denied")))
    assert "No score: not evaluated: Permission denied" in locked
    assert "score —" in locked
    assert "0.00" not in locked.partition("About this page")[0]


def test_a_skill_shows_findings_advice_evidence_and_what_was_set_aside() -> None:
    seen = read(a_report(a_measured_skill()))
    assert "error ORPHAN_REFERENCE SKILL.md:7" in seen
    assert "correct the path" in seen
    assert "+11.8 Say when to use it triggering_accuracy 0.82 → 0.95 · line 3 · low effort, +11.8 per hour" in seen
    assert "no sign of “proactively” line 3 0.00 / 0.09" in seen
    assert "1 suppressed by a comment: an example of how not to" in seen
    assert "Gold needs 7.50 more points" in seen


def test_a_fix_is_said_once_for_findings_of_one_kind() -> None:
    found = [a_finding(line=line) for line in (7, 8, 9)]
    assert read(a_report(a_skill(*found))).count("correct the path") == 1


def test_five_scores_make_a_distribution_with_the_badges_limits() -> None:
    assert "Distribution of scores" not in read(many(4))
    seen = read(many(5))
    said = "Skills by score, in steps of five points. 40–45: 1; 45–50: 1; 50–55: 1; 60–65: 1; 65–70: 1."
    assert any(said in label for label in Page(score(many(5))).all("aria-label"))
    for badge in Badge:
        assert f"{badge.composite:g} {badge.value}" in seen


def test_the_catalogue_shows_the_fullest_list_first_with_what_changed() -> None:
    seen = read(many(5))
    assert "skills clients Codex characters 8,254 of 8,000, +412, over the budget; too long for the client" in seen
    assert "so cut: skills/skill-1" in seen
    assert "8,254 of 8,000, +412, over the budget" in seen
    assert seen.index("8,254") < seen.index("900")


def test_the_page_of_a_run_says_what_was_compared_under_whose_policy() -> None:
    reason = "dropped 16.30 points (allowed: 2)"
    worse = a_measured_skill(56.2, gate=failing(("regression", reason)))
    report = a_report(worse, a_measured_skill(path="skills/b"), gate=FAILED)
    run = a_run(policy="the base's .skillgate.yaml", policy_changes=("threshold 70 becomes 10",), notices=("no token",))
    seen = taken_apart(an_action_page(report, run=run), REPOSITORY).text
    assert seen.partition("median")[0].count(f"skills/one : {reason}") == 1
    assert "The change edits its own gate, which takes effect after the merge: threshold 70 becomes 10" in seen
    assert "No token" in seen
    assert f"Evaluated {HEAD[:12]} in pull_request" in seen
    assert f"Compared with {BASE[:12]}" in seen
    assert "Policy from the base's .skillgate.yaml; 1 change to it listed above" in seen
    assert "was at 72.50 ▼ 16.30" in seen
    assert "is new: no baseline" in seen
    assert "Removed: skills/gone" in seen


def test_what_fails_stands_before_what_scores_less() -> None:
    low, bad = a_measured_skill(40, "skills/low", gate=PASSED), a_measured_skill(70, "skills/bad", gate=FAILED)
    seen = read(a_report(low, bad, gate=FAILED))
    assert "those that fail first, then those with errors, then the lowest score" in seen
    first_steps, _, table = seen.partition("Do next")[2].partition("Every skill")
    for part in (first_steps, table):
        assert part.index("skills/bad") < part.index("skills/low")


def dead_links(*, line: int = 179) -> SkillResult:
    """Give a skill with three findings that one piece of advice mends."""
    found = [a_finding(path="skills/one/SKILL.md", line=line + n, message=f"{n} is not there") for n in range(3)]
    advice = Advice("create the files", Dimension.ROBUSTNESS, 12.0, "low", 0.2, 0.6, line=line, removes=3)
    layer = StaticLayer(duration_ms=0, anti_patterns=("ORPHAN_REFERENCE",) * 3)
    return a_skill(*found, path="skills/one", advice=(advice,), layers=(layer,), gate=failing(("error", "3 errors")))


def test_findings_that_one_piece_of_advice_mends_are_one_step_with_its_whole_gain() -> None:
    told = "+12.0 ORPHAN_REFERENCE ×3: create the files robustness 0.20 → 0.60 · lines 179, 180, 181, together"
    assert told in read(a_report(dead_links(), gate=FAILED))
    both = read(a_report(dead_links(), a_skill(path="skills/two"), gate=FAILED))
    assert (
        "+12.0 skills/one ORPHAN_REFERENCE ×3: create the files robustness 0.20 → 0.60 · lines 179, 180, 181, together"
        in both
    )


def test_what_the_change_broke_comes_before_advice() -> None:
    torn = a_finding(id="BROKEN_LINK", severity=Severity.WARNING, path="skills/one/notes.md", line=9, message="torn")
    skill = a_measured_skill(gate=PASSED)._replace(findings=(torn,))
    report = a_report(skill, gate=PASSED)
    diff = a_diff([skill])
    seen = taken_apart(page(report=report, diff=diff, run=a_run(result="pass"))).text
    steps = seen.partition("Do next")[2]
    assert steps.index("Torn; correct the path line 9 of notes.md") < steps.index("Say when to use it")


def test_what_is_gone_needs_no_fix() -> None:
    skill = a_measured_skill()._replace(findings=())
    seen = taken_apart(an_action_page(a_report(skill)), REPOSITORY).text
    assert "Fixed error MISSING_TRIGGER" in seen
    assert "Fix: correct the path" not in seen.partition("Fixed error MISSING_TRIGGER")[2].partition("suppressed")[0]


def test_the_verdict_of_a_run_is_in_the_words_of_its_comment() -> None:
    removed = a_diff([])
    run = a_run(result="pass", reasons=())
    assert taken_apart(page(report=a_report(gate=PASSED), diff=removed, run=run)).text.startswith("1 skill removed ·")
    untouched = taken_apart(page(report=a_report(gate=PASSED), run=replace(run, touched=0))).text
    assert untouched.startswith("No skill is touched ·")
    same = taken_apart(page(report=a_report(a_skill(gate=PASSED), gate=PASSED), diff=unchanged(), run=run)).text
    assert same.startswith("skills/one scores as before ·")


def unchanged() -> Diff:
    """Give a diff in which one skill is as it was."""
    diff = a_diff([a_skill(), a_skill(), a_skill()])
    return replace(diff, skills=diff.skills[2:3], gate=PASSED)


def test_what_only_stands_beside_is_not_shown_unless_it_fails() -> None:
    both = (a_measured_skill(gate=PASSED), a_measured_skill(40, "skills/neighbour", gate=PASSED))
    run = a_run(result="pass", beside=("skills/neighbour",), reasons=())
    seen = taken_apart(page(report=a_report(*both, gate=PASSED), run=run)).text
    assert seen.startswith("skills/one passes ·")
    assert "skills/neighbour" not in seen
    bad = both[1]._replace(gate=FAILED)
    seen = taken_apart(page(report=a_report(both[0], bad, gate=FAILED), run=replace(run, result="fail"))).text
    assert "skills/neighbour" in seen


def test_what_a_change_does_to_its_own_gate_is_one_list() -> None:
    run = a_run(policy_changes=("threshold: 70 → 10", "ignore: none → X"))
    seen = taken_apart(page(report=a_report(), run=run)).text
    assert "takes effect after the merge: threshold: 70 → 10" in seen
    assert "takes effect after the merge: ignore: none → X" in seen


def test_a_merge_is_told_from_the_change_that_was_merged() -> None:
    seen = taken_apart(page(report=a_report(), run=a_run(change="b" * 40))).text
    assert f"Evaluated {'b' * 12} , merged as {HEAD[:12]} in pull_request" in seen


def test_beside_a_baseline_only_the_lists_that_changed_or_are_nearly_full_are_shown() -> None:
    report = many(5)
    full = report.listing[1]._replace(place="full", characters=6400, before=6400)
    report = report._replace(listing=(*report.listing, full))
    diff = replace(a_diff(report.results), listing=report.listing)
    seen = taken_apart(an_action_page(report, diff=diff), REPOSITORY).text
    lists = seen.partition("each client shows its model")[2]
    assert "8,254 of 8,000, +412, over the budget" in lists
    assert "clients Claude Code characters 6,400 of 8,000" in lists
    assert "900 of 8,000" not in lists
    assert seen.index("Every skill") < seen.index("each client shows its model")


def test_clients_that_list_the_same_stand_together() -> None:
    report = many(5)
    twice = (report.listing[0], report.listing[0]._replace(client=Client.CLAUDE_CODE))
    assert "clients Codex, Claude Code characters 8,254 of 8,000" in read(report._replace(listing=twice))


def test_a_run_without_a_report_still_has_a_page() -> None:
    run = a_run("no skill could be read", result="error", exit_code=3)
    seen = taken_apart(page(report=None, run=run)).text
    assert seen.startswith("Nothing could be evaluated")
    assert "no skill could be read" in seen


def test_a_diff_tells_regressions_first_new_removed_and_findings() -> None:
    text = html_diff(a_diff([a_measured_skill(), a_measured_skill(path="skills/b"), a_skill(path="skills/c")]))
    seen = taken_apart(text).text
    assert "1 regression in 4 skills" in seen
    assert ": dropped 16.30 points (allowed: 2)" in seen
    assert "before 88.80 after 72.50 change ▼ 16.30 badge Gold → Silver what changed new: " in seen
    assert re.search("skills/b before — after 72.50 change — badge Silver what changed no baseline", seen)
    assert "skills/gone before 66.00 after — change — badge" in seen
    assert "1 skill unchanged" in seen
    assert "triggering_accuracy before 0.9000 after 0.8200 change ▼ 0.0800" in seen
    assert "base was measured on less" in seen.lower()


def test_an_empty_diff_says_that_nothing_changed() -> None:
    diff = a_diff([])
    none = diff.summary._replace(new=0, removed=0, changed=0, regressions=0)
    seen = taken_apart(html_diff(replace(diff, skills=(), summary=none, gate=PASSED))).text
    assert seen.startswith("No regression: nothing changed · skillgate")


def test_a_comparison_names_its_sides_a_and_b() -> None:
    both = a_measured_skill(60, "one"), a_measured_skill(90, "other")
    comparison = compare(*both, version="1.2.3", digest="")
    seen = taken_apart(html(comparison, "compare")).text
    assert "B scores 30.00 points more than A" in seen
    assert "Dimension A B Change" in seen
    assert "moved from" not in seen


def test_a_comparison_without_a_score_says_so() -> None:
    locked = unread()
    comparison = Comparison(
        a=a_measured_skill(),
        b=locked,
        change=None,
        dimensions={},
        depth=Depth.QUICK,
        coverage=None,
        config_digest="",
        tool=Tool("1.2.3"),
    )
    seen = taken_apart(html(comparison, "compare")).text
    assert "One side has no score to compare" in seen
    assert "B composite" not in seen
    assert "No score in B: not evaluated: Permission denied" in seen


# --- where it leads ---


def test_files_are_linked_at_the_commit_and_rules_at_home() -> None:
    urls = Page(an_action_page(a_report(a_measured_skill()))).all("href")
    assert f"{REPOSITORY}/blob/{HEAD}/skills/one/SKILL.md?plain=1#L7" in urls
    assert f"{REPOSITORY}/commit/{BASE}" in urls
    assert RUN_URL in urls
    assert any(url.endswith("/docs/rules.md#orphan_reference") for url in urls)
    assert not any("example.com" in url for url in urls)  # what the document says of its finding's page


def test_what_is_somebody_elses_word_leads_nowhere() -> None:
    text = an_action_page(a_report(a_measured_skill()), trusted=False)
    seen = taken_apart(text, RUN_URL)
    assert "Nothing in it was verified" in seen.text
    assert {url for url in seen.all("href") if not url.startswith("#")} == {RUN_URL, HOMEPAGE}


@pytest.mark.parametrize(
    ("links", "path"),
    [
        (Links(REPOSITORY, commit="HEAD"), "a.md"),
        (Links(REPOSITORY, commit=HEAD.upper()), "a.md"),
        (Links("javascript:alert(1)//a/b", commit=HEAD), "a.md"),
        (Links("https://user:word@host.example/a/b", commit=HEAD), "a.md"),
        (Links('https://host.example/a"/b', commit=HEAD), "a.md"),
        (Links(commit=HEAD), "a.md"),
        (Links(REPOSITORY, commit=HEAD), "../../other/a.md"),
        (Links(REPOSITORY, commit=HEAD), "/etc/passwd"),
        (Links(REPOSITORY, commit=HEAD), "a\u202e.md"),
        (Links(REPOSITORY, commit=HEAD), "a\udcff.md"),
    ],
)
def test_no_link_where_it_is_not_plain_where_it_leads(links: Links, path: str) -> None:
    assert links.file(path, 1) == ""


def test_a_path_is_quoted_and_begins_in_its_directory() -> None:
    links = Links(REPOSITORY, commit=HEAD, directory="pack/ages")
    assert links.file('./a b/#?"<é>.txt', 3) == f"{REPOSITORY}/blob/{HEAD}/pack/ages/a%20b/%23%3F%22%3C%C3%A9%3E.txt#L3"


@pytest.mark.parametrize("url", ["", "http:", "ftp://a.example/b", "https://a.example/b c", "https://a.example/b\n"])
def test_an_address_of_another_form_is_none(url: str) -> None:
    assert repository(url) == workflow_run(url) == ""


# --- whatever it shows ---


def test_hostile_texts_are_shown_and_do_nothing() -> None:
    report = hostile_report()
    text = an_action_page(report, diff=a_diff(report.results, label=EVIL[0]), run=a_run(EVIL[1], event=EVIL[2]))
    seen = taken_apart(text, REPOSITORY).text
    for evil in EVIL[:4]:
        assert " ".join(evil.split()) in seen
    assert "\\u{202e}gpj.exe\\u{2066}" in seen
    assert not [url for url in Page(text).all("href") if "owned" in url and not url.startswith(REPOSITORY)]


@pytest.mark.parametrize("evil", EVIL)
def test_hostile_labels_and_runs_are_inert(evil: str) -> None:
    run = a_run(evil, head=evil, base=evil, event=evil, tool=Tool(evil, name=evil))
    taken_apart(page(report=None, run=run, repository_url=evil, run_url=evil, directory=evil))
    taken_apart(page(report=hostile_report(), run=run, repository_url=evil, run_url=evil, directory=evil))
    taken_apart(html_diff(a_diff(hostile_report().results, label=evil)))


@settings(max_examples=40, deadline=None)
@given(hostile_reports())
def test_any_report_gives_a_page_like_every_other(report: Report) -> None:
    taken_apart(score(report))
    taken_apart(page(report=report, diff=a_diff(report.results), run=a_run(), repository_url=REPOSITORY), REPOSITORY)


def test_ten_thousand_findings_are_counted_and_cut() -> None:
    found = [a_finding(line=line, message=f"number {line}") for line in range(1, 10_001)]
    text = score(a_report(a_skill(*found), outside=tuple(found)))
    seen = taken_apart(text).text
    assert seen.count("9,600 more findings in the JSON report.") == 2
    assert "errors 10,000" in seen
    assert len(text) < 700_000


@pytest.mark.parametrize("letter", ["W", '"', "\U0001f600", "\u202e"])
def test_a_page_stays_below_its_limit_however_much_there_is(letter: str) -> None:
    long = letter * 3000
    found = tuple(a_finding(message=f"{long}{n}", fix=f"{n}{long}", path=f"{long}{n}") for n in range(60))
    advice = a_measured_skill().advice * 40
    skills = [
        a_skill(*found, path=f"{long}{index}", advice=advice, gate=failing(("threshold", long)))._replace(
            composite=Composite(None, None, reason=long)
        )
        for index in range(300)
    ]
    report = a_report(*skills, outside=found, gate=FAILED)
    diff = a_diff(skills, label=long)
    run = a_run(long)
    frame = len(page(report=report, diff=diff, run=run, limit=0).encode())
    text = page(report=report, diff=diff, run=run, limit=frame + 20_000)
    assert len(text.encode()) <= frame + 20_000 <= LIMIT
    assert " more parts in the JSON report" in taken_apart(text).text
    frame = len(write(changes.view(diff), limit=0).encode())
    assert len(write(changes.view(diff), limit=frame + 20_000).encode()) <= frame + 20_000 <= LIMIT


def test_a_link_to_a_skill_that_was_left_out_is_no_link() -> None:
    found = tuple(a_finding(message="W" * 900, fix=f"{n}" * 200) for n in range(50))
    text = score(a_report(*(a_skill(*found, path=f"s/{index}") for index in range(300))))
    assert 0 < Page(text).text.count("more parts in the JSON report") == 1
    taken_apart(text)  # no address without its id


def test_a_template_cannot_pass_over_a_value_that_is_not_there() -> None:
    from jinja2 import UndefinedError

    from skillgate.report.formats.html import _environment

    with pytest.raises(UndefinedError):
        _environment().from_string("{{ nothing }}").render()


def test_the_same_report_gives_the_same_bytes() -> None:
    assert score(many(20)) == score(many(20))


# --- charts ---


def test_a_bar_shows_what_was_won_or_lost() -> None:
    won, lost = bar(80, "good", 60).shapes[-1], bar(40, "poor", 70).shapes[-1]
    assert (won.x, won.width, won.style) == (60, 20, "up")
    assert (lost.x, lost.width, lost.style) == (40, 30, "down")
    assert [shape.style for shape in bar(None, "").shapes] == ["gap"]


def test_a_histogram_draws_every_column_that_holds_something() -> None:
    drawn = columns([Column("0–5", 2, "none"), Column("5–10", 0), Column("10–15", 1, "gold")])
    found = [(shape.text, shape.style) for shape in drawn.shapes if shape.kind == "rect"]
    assert found == [("0–5: 2", "none"), ("10–15: 1", "gold")]
    assert max(shape.height for shape in drawn.shapes if shape.kind == "rect") < drawn.height


def test_shares_fill_their_bar() -> None:
    parts = shares([("Gold", 1), ("Silver", 0), ("none", 2)]).shapes
    assert [part.style for part in parts] == ["Gold", "none"]
    assert sum(part.width for part in parts) == pytest.approx(100, abs=0.01)
    assert [part.style for part in shares([("Gold", 0)]).shapes] == ["gap"]


# --- where it is made ---


def test_one_module_keeps_the_template_library() -> None:
    keepers = [module.name for module in modules() if {"jinja2", "markupsafe"} & module.imports()]
    assert "skillgate.report.formats.html" in keepers


def test_nothing_is_marked_as_safe() -> None:
    templates = sorted((ROOT / "skillgate" / "report" / "templates").iterdir())
    assert templates
    for file in templates:
        text = file.read_text(encoding="utf-8")
        assert "safe" not in text
        assert "autoescape" not in text
    (source,) = [module.text for module in modules() if module.name == "skillgate.report.formats.html"]
    assert source.count("Markup(") == source.count('Markup("")') == 1  # joins what templates rendered


def test_without_the_extra_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from skillgate.cli.main import main\n"
        "sys.exit(main(['score', 'examples/skills/csv-quality-report', '--output', 'html']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == UsageError.exit_code
    assert done.stderr == 'skillgate: error: HTML needs Jinja2: pip install "skillgate-action[report]" (or [action])\n'
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["score", "check"])
def test_the_command_writes_it(command: str) -> None:
    argv = [sys.executable, "-m", "skillgate", command, "examples/skills", "--output", "html", "--no-cache"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    seen = taken_apart(done.stdout).text
    assert "examples/skills/spreadsheet-import" in seen
    assert not done.stderr


def test_an_interval_is_shown_with_its_score() -> None:
    sampled = DimensionScore(0.7, None, ci_low=0.61, ci_high=0.78, weight=0.2)
    skill = a_skill(dimensions={Dimension.ROBUSTNESS: sampled})
    assert "0.7000 0.6100–0.7800" in read(a_report(skill))


def test_what_a_run_says_more_than_once_is_told_once() -> None:
    reason = "dropped 16.30 points"
    report = a_report(a_skill(gate=failing(("regression", reason))), gate=FAILED)
    run = ActionRun(result="fail", exit_code=1, tool=Tool("1.2.3"), reasons=(f"skills/one: {reason}",))
    seen = taken_apart(page(report=report, run=run)).text
    assert seen.partition("score")[0].count(reason) == 1
