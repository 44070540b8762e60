"""Runs made by hand, for what is told of them: a dozen situations, named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from skillgate.action.comment.subject import Subject
from skillgate.bench.request import DiffPolicy
from skillgate.model.documents import ActionRun, Diff, DiffSide
from skillgate.model.finding import AcrossChange, Client, Finding, ListingUse, Severity, Suppressed
from skillgate.model.report import (
    Advice,
    Composite,
    DimensionScore,
    GateOutcome,
    Report,
    SkillName,
    SkillResult,
    StaticLayer,
    Tool,
    Verdict,
)
from skillgate.model.score import Badge, Depth, Dimension, Grade, Outcome
from skillgate.report.diff import diff
from skillgate.scoring.composite import summarise

HEAD, BASE = "a1b2c3d4" * 5, "e4f5a6b7" * 5
REPOSITORY = "https://github.com/acme/skills"
RUN_URL = f"{REPOSITORY}/actions/runs/1234567890"
TOOL = Tool(version="1.2.3")

_ANTI_PATTERNS = ("ORPHAN_REFERENCE", "MISSING_TRIGGER")

Pair = tuple[SkillResult | None, SkillResult | None]

_FULL = {
    Dimension.TRIGGERING_ACCURACY: 0.88,
    Dimension.ORCHESTRATION_FITNESS: 0.7,
    Dimension.OUTPUT_QUALITY: None,
    Dimension.SCOPE_CALIBRATION: 0.75,
    Dimension.PROGRESSIVE_DISCLOSURE: 0.6,
    Dimension.TOKEN_EFFICIENCY: 1.0,
    Dimension.ROBUSTNESS: None,
    Dimension.STRUCTURAL_COMPLETENESS: 0.55,
    Dimension.CODE_TEMPLATE_QUALITY: 0.9,
    Dimension.ECOSYSTEM_COHERENCE: 0.5,
}


def finding(
    rule: str = "ORPHAN_REFERENCE",
    message: str = "references/dialects.md does not exist",
    *,
    path: str = "skills/csv-import/SKILL.md",
    line: int = 41,
    severity: Severity = Severity.ERROR,
    **changes: Any,
) -> Finding:
    """Give a finding of ours, unless told."""
    plain = Finding(
        rule, severity, message, PurePosixPath(path), line, 12, "create it, or remove the link", "https://evil.example/"
    )
    return plain._replace(**changes)


NO_TRIGGER = finding(
    "MISSING_TRIGGER",
    "the description never says when to use the skill",
    line=3,
    severity=Severity.WARNING,
    fix='add "Use when …" with two or more concrete situations',
)
DEAD_LINK = finding()
SAY_WHEN = Advice(
    action="say when to use it: “Use when …” with three or more situations, one of them “when …ing”",
    dimension=Dimension.TRIGGERING_ACCURACY,
    gain=11.8,
    gain_per_hour=11.8,
    effort="low",
    before=0.41,
    after=0.88,
    line=3,
    removes=1,
)
MEND_LINK = Advice("create the files", Dimension.PROGRESSIVE_DISCLOSURE, 4.0, "low", 0.2, 0.6, line=41, removes=1)
FAILURES = Advice(
    action="add a Troubleshooting section with three or more failure modes",
    dimension=Dimension.STRUCTURAL_COMPLETENESS,
    gain=2.1,
    gain_per_hour=1.05,
    effort="medium",
    before=0.55,
    after=0.7,
)


def skill(path: str, score: float | None, *findings: Finding, **changes: Any) -> SkillResult:
    """Give a skill's result; its badge follows from the score, and ``dimensions`` changes single ones."""
    moved = changes.pop("dimensions", {})
    values = {**_FULL, **moved}
    scores = {
        key: DimensionScore(value, None if value is None else Grade.of(value), reason=None if value else "no judge ran")
        for key, value in values.items()
    }
    reason = changes.pop("reason", None)
    composite = Composite(score, Badge.from_scores(score), reason=reason)
    name = SkillName(PurePosixPath(path).name or "root-skill", path)
    passed = Verdict(passed=True)
    counted = tuple(one.id for one in findings if one.id in _ANTI_PATTERNS)
    layers = (StaticLayer(duration_ms=0, anti_patterns=counted),)
    result = SkillResult(composite, scores, layers, name, findings=findings, coverage=0.8, gate=passed)
    return result._replace(**changes)


def failed(*reasons: tuple[str, str]) -> Verdict:
    """Give a verdict that failed, by gate and reason."""
    return Verdict(passed=False, outcomes=tuple(GateOutcome(gate, Outcome.FAIL, reason) for gate, reason in reasons))


def report(*results: SkillResult, outside: tuple[Finding, ...] = (), **changes: Any) -> Report:
    """Give a report over results."""
    passed = all(result.gate.passed for result in results)
    plain = Report(
        depth=Depth.QUICK,
        coverage=0.8,
        config_digest="",
        tool=TOOL,
        results=results,
        summary=summarise(results),
        gate=Verdict(passed=passed),
        outside=outside,
    )
    return plain._replace(**changes)


def difference(*pairs: Pair, **more: Any) -> Diff:
    """Give the diff of pairs of results, before and after."""
    return diff(pairs, a=DiffSide("base", BASE), b=DiffSide("head", HEAD), version=TOOL.version, **more)


def run(result: str = "pass", *reasons: str, **changes: Any) -> ActionRun:
    """Give the record of a run on a pull request."""
    values: dict[str, Any] = {
        "result": result,
        "exit_code": {"pass": 0, "fail": 1}.get(result, 3),
        "tool": TOOL,
        "reasons": reasons,
        "event": "pull_request",
        "head": HEAD,
        "base": BASE,
        "compared": "the commit that GitHub merged the change into",
        "policy": "the base",
        "changed_only": True,
    }
    return ActionRun(**{**values, **changes})


def subject(record: ActionRun, *pairs: Pair, more: dict[str, Any] | None = None, **changes: Any) -> Subject:
    """Tell of a run over pairs of results, before and after; ``more`` is for its report."""
    results = [after for _, after in pairs if after is not None]
    about = report(*results, **(more or {}))
    compared = difference(*pairs, listing=about.listing, across=about.across)
    return Subject(record, about, compared, REPOSITORY, RUN_URL)._replace(**changes)


def _fallen() -> Pair:
    before = skill("skills/csv-import", 71.2)
    gate = failed(
        ("error", "1 error"),
        ("threshold", "score 54.90 is below 60"),
        ("regression", "it lost its badge Silver (71.20 → 54.90)"),
    )
    low = {Dimension.TRIGGERING_ACCURACY: 0.41, Dimension.PROGRESSIVE_DISCLOSURE: 0.2}
    after = skill(
        "skills/csv-import",
        54.9,
        DEAD_LINK,
        NO_TRIGGER,
        dimensions=low,
        gate=gate,
        advice=(SAY_WHEN, MEND_LINK, FAILURES),
    )
    return before, after


def fell_in(advice: Advice) -> Subject:
    """A skill that loses its badge because the dimension of a piece of advice fell."""
    gate = failed(("regression", "it lost its badge Silver (71.20 → 66.00)"))
    lower = {advice.dimension: 0.55}
    after = skill("skills/csv-import", 66.0, dimensions=lower, gate=gate, advice=(advice,))
    return subject(run("fail"), (skill("skills/csv-import", 71.2, dimensions={advice.dimension: 0.8}), after))


def _risen() -> Pair:
    gone = finding("MISSING_EXAMPLES", "no example", path="skills/report-writer/SKILL.md", severity=Severity.WARNING)
    before = skill("skills/report-writer", 69.0, gone, dimensions={Dimension.STRUCTURAL_COMPLETENESS: 0.35})
    return before, skill("skills/report-writer", 71.4, advice=(FAILURES,))


def _new(path: str = "skills/pdf-forms", score: float = 91.2, *findings: Finding) -> Pair:
    return None, skill(path, score, *findings)


def same(path: str = "skills/status-report", score: float = 80.0) -> Pair:
    return skill(path, score), skill(path, score)


def all_pass() -> Subject:
    """Two skills are better than before, one is as it was."""
    return subject(run(), _risen(), _new(), same())


def threshold() -> Subject:
    """A new skill is below the threshold."""
    low = skill("skills/pdf-forms", 44.0, gate=failed(("threshold", "score 44.00 is below 60")), advice=(FAILURES,))
    return subject(run("fail", "skills/pdf-forms: score 44.00 is below 60"), (None, low), _risen())


def regression() -> Subject:
    """A skill fell below the threshold and lost its badge; lists of clients grew."""
    listing = (ListingUse(Client.CODEX, "", 12, 7940, 8000, before=7528),)
    overlap = finding(
        "OVERLAPPING_DESCRIPTIONS",
        "describes the same as skills/status-report (“write”, “report”, “weekly”)",
        path="skills/report-writer/SKILL.md",
        line=3,
        severity=Severity.WARNING,
    )
    reasons = (
        "skills/csv-import: 1 error; score 54.90 is below 60; it lost its badge Silver (71.20 → 54.90)",
        "1 error outside the skills",
    )
    more = {"listing": listing, "across": AcrossChange((overlap,), ()), "outside": _foreign()}
    return subject(run("fail", *reasons), _fallen(), _risen(), _new(), more=more)


def new_skill() -> Subject:
    """One new skill, with two warnings."""
    unclear = NO_TRIGGER._replace(path=PurePosixPath("skills/pdf-forms/SKILL.md"))
    return subject(run(), _new("skills/pdf-forms", 74.5, unclear, unclear._replace(line=9)), same())


def removed_and_moved() -> Subject:
    """One skill is gone, one has moved and one is as it was."""
    moved = skill("skills/old-name", 82.0), skill("plugins/reports/skills/new-name", 82.0)
    return subject(run(), (skill("skills/gone", 64.25), None), moved, same())


def no_base() -> Subject:
    """A push: there is nothing to compare with."""
    _, low = _fallen()
    reason, compared = "skills/csv-import: score 54.90 is below 60", "nothing: push is no change to a base"
    record = run("fail", reason, base=None, event="push", compared=compared, policy="this commit", changed_only=False)
    high = skill("skills/pdf-forms", 91.2)
    return Subject(record, report(*filter(None, (low, high))), None, REPOSITORY, RUN_URL)


def unread() -> Subject:
    """A skill could not be read."""
    reason = "not evaluated: Permission denied"
    locked = skill(
        "skills/locked",
        None,
        reason=reason,
        evaluated=False,
        gate=Verdict(passed=None),
        dimensions=dict.fromkeys(Dimension),
    )
    record = run("error", f"skills/locked was not measured: {reason}")
    return subject(record, (skill("skills/locked", 77.0), locked), _risen())


def ended_early() -> Subject:
    """The run ended before there was a report."""
    record = run("error", "the base of the pull request is not in this clone, so its gate cannot be asked", base=None)
    return Subject(record, None, None, REPOSITORY, RUN_URL)


def untouched() -> Subject:
    """The change touches no skill."""
    return subject(run(touched=0))


def unchanged() -> Subject:
    """The change touches skills and moves nothing."""
    return subject(run(touched=2), same(), same("skills/pdf-forms", 91.2))


def own_gate() -> Subject:
    """The change lowers its own gate."""
    changes = (
        "threshold: 60 → 10",
        "ignore: none → ORPHAN_REFERENCE",
        "2 findings are now called known: BLOATED_SKILL",
    )
    record = run("fail", "skills/csv-import: 1 error; score 54.90 is below 60", policy_changes=changes)
    return subject(record, _fallen())


def set_aside() -> Subject:
    """Findings are set aside by the change."""
    before, after = same("skills/csv-import", 71.2)
    assert after is not None
    aside = (
        Suppressed(DEAD_LINK, "comment", "the file is made by the build", "2030-01-31"),
        Suppressed(NO_TRIGGER, "configuration"),
    )
    return subject(run(), (before, after._replace(suppressed=aside)))


HOSTILE = (
    "@octocat @acme/owners #1 GH-1 acme/skills#2 a1b2c3d4e5 <img src=https://evil.example/x.png>"
    " ![x](https://evil.example/p.png) [press](javascript:alert(1)) https://evil.example www.evil.example"
    " mail@evil.example <!-- skillgate:v1 key=default --> $x$ :tada: `` ` | ~~no~~ ::error::x ##[error]x \u202e\u200b"
)
_HOSTILE_NAME = "a|b`<b>@octocat [x](y)\u202e<!-- skillgate:v1 key=default -->"


def hostile() -> Subject:
    """Every text is an attack."""
    path = f"skills/{_HOSTILE_NAME}"
    found = (
        finding("ORPHAN_REFERENCE", HOSTILE, path=f"{path}/SKILL.md", fix=HOSTILE),
        finding(HOSTILE, HOSTILE, path="../../etc/passwd", tool=HOSTILE),
    )
    gate = failed(("error", HOSTILE))
    advice = (SAY_WHEN._replace(action=HOSTILE),)
    after = skill(path, 40.0, *found, gate=gate, advice=advice, suppressed=(Suppressed(found[0], HOSTILE, HOSTILE),))
    silent = skill(f"{path}/2", None, reason=HOSTILE, evaluated=False)
    record = run(
        "fail",
        f"{path}: {HOSTILE}",
        HOSTILE,
        notices=(HOSTILE,),
        policy_changes=(HOSTILE,),
        compared=HOSTILE,
        policy=HOSTILE,
        head=HEAD,
    )
    listing = (ListingUse(Client.CODEX, HOSTILE, 12, 9000, 8000, before=7528),)
    more = {"listing": listing, "across": AcrossChange((found[1],), found[:1]), "outside": found[1:]}
    return subject(record, (skill(path, 70.0), after), (skill("skills/1. x", 50.0), silent), more=more)


def many() -> Subject:
    """300 skills, 10,000 findings."""
    pairs = [_many(number) for number in range(300)]
    reasons = tuple(f"skills/skill-{number:03}: 34 errors" for number in range(300))
    return subject(run("fail", *reasons), *pairs)


def _many(number: int) -> Pair:
    path = f"skills/skill-{number:03}"
    found = [
        finding(
            message=f"references/{index}.md does not exist " + "and is missed " * 30,
            path=f"{path}/SKILL.md",
            line=index,
        )
        for index in range(1, 35)
    ]
    after = skill(path, 40 + number / 10, *found, gate=failed(("error", "34 errors")), advice=(FAILURES,))
    return skill(path, 90.0), after


def fork() -> Subject:
    """The word of a fork's own workflow run."""
    return regression()._replace(trusted=False, run=run("fail", compared="", policy=""))


def three_dead_links() -> Subject:
    """One piece of advice mends three findings, and the change brings a warning beside them."""
    dead = [
        finding(message=f"references/{name}.md does not exist", line=line)
        for line, name in ((179, "one"), (180, "two"), (181, "three"))
    ]
    torn = finding("BROKEN_LINK", "docs/a.md does not exist", line=12, severity=Severity.WARNING)
    mend = MEND_LINK._replace(gain=12.0, line=179, removes=3)
    gate = failed(("error", "3 errors"))
    after = skill("skills/csv-import", 54.9, *dead, torn, gate=gate, advice=(mend, SAY_WHEN))
    return subject(run("fail", "skills/csv-import: 3 errors"), (skill("skills/csv-import", 71.2), after))


def broken_but_passing() -> Subject:
    """The gate passes, and the change brings warnings; advice would bring more points."""
    new = (
        finding("DUPLICATED_CONTENT", "40 lines stand in references/a.md too", line=9, severity=Severity.WARNING),
        finding("CODE_SYNTAX", "this block is no Python", line=30, severity=Severity.WARNING),
        finding("LINE_TOO_LONG", "long", line=2, severity=Severity.INFO),
    )
    before = skill("skills/csv-import", 61.2)
    wordless = Composite(50.0, None, badge_reason="no badge: only 10 words of prose outside headings; 25 are needed")
    after = skill("skills/csv-import", 50.0, *new, advice=(SAY_WHEN,), composite=wordless)
    return subject(run(change="b" * 40), (before, after))


def beside() -> Subject:
    """A skill that the change does not touch is in the report for what it shares with one that it does."""
    neighbour = skill("skills/old-report", 40.0, DEAD_LINK._replace(path=PurePosixPath("skills/old-report/SKILL.md")))
    before, after = _risen()
    record = run(beside=("skills/old-report",), touched=1)
    about = report(*filter(None, (after, neighbour)))
    return Subject(record, about, difference((before, after)), REPOSITORY, RUN_URL)


def _foreign() -> tuple[Finding, ...]:
    return (
        finding(
            "zizmor/unpinned-uses", "unpinned action reference", path=".github/workflows/ci.yml", tool="zizmor", line=9
        ),
    )


def outside() -> Subject:
    """Another tool found something in a file of no skill, and something in a skill."""
    inside = finding("markdownlint/MD001", "heading levels", tool="markdownlint", severity=Severity.WARNING)
    before, after = same("skills/csv-import", 71.2)
    assert after is not None
    record = run("fail", "1 error outside the skills")
    return subject(record, (before, after._replace(findings=(inside,))), more={"outside": _foreign()})


def unmeasured_passes() -> Subject:
    """A skill has no score, and the run passes all the same."""
    reason = "SKILL.md is not UTF-8"
    silent = skill("skills/latin-1", None, reason=reason, dimensions=dict.fromkeys(Dimension))
    record = run("pass", f"skills/latin-1 was not measured: {reason}", notices=("the rest was not judged",))
    return subject(record, (None, silent), _risen())


def at_the_root() -> Subject:
    """The repository is one skill."""
    _, after = _fallen()
    assert after is not None
    found = tuple(item._replace(path=PurePosixPath("SKILL.md")) for item in after.findings)
    name = SkillName("csv-import", ".")
    before = skill(".", 71.2, skill=name)
    return subject(run("fail", ".: 1 error"), (before, after._replace(skill=name, findings=found)))


def measured() -> Subject:
    """Scores, a benchmark that got worse, and gates on recorded invocations."""
    from skillgate.bench.diff import diff as bench_diff
    from tests.bench.written import good, mixed, skill_report, whole
    from tests.report.invocations_made import check, figures
    from tests.report.invocations_made import report as recorded

    passing = good(tasks=7)
    failing = [replace(one, task_id="t06") for one in mixed() if one.task_id == "t01"]
    now = [*failing, *(one for one in passing if one.task_id != "t06")]
    before, after = whole(skill_report(passing, "csv-import")), whole(skill_report(now, "csv-import"))
    compared = bench_diff(
        before, after, label_a="the base", label_b="the change", version=TOOL.version, policy=DiffPolicy()
    )
    low, high = figures("skills/csv-import", 58.4, 47), figures("skills/report-writer", 81.7, 130)
    checks = (
        check(low, "publish", "failed", "average 58.40 is under 70"),
        check(high, "publish", "passed"),
        check(low, "deprecation", "clear", kind="trigger"),
    )
    reasons = (
        "skills/csv-import: the gate publish on recorded invocations failed: average 58.40 is under 70",
        "benchmark: csv-import on own got worse: t06 no longer passes",
    )
    return subject(run("fail", *reasons), _risen(), same("skills/csv-import"))._replace(
        bench=after, bench_diff=compared, invocations=recorded(low, high, gates=checks)
    )


SITUATIONS = {
    make.__name__.replace("_", "-"): make
    for make in (
        all_pass,
        threshold,
        regression,
        new_skill,
        removed_and_moved,
        no_base,
        unread,
        ended_early,
        untouched,
        unchanged,
        own_gate,
        set_aside,
        hostile,
        many,
        fork,
        outside,
        unmeasured_passes,
        at_the_root,
        three_dead_links,
        broken_but_passing,
        beside,
        measured,
    )
}
