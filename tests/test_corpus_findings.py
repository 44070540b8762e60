"""What skillgate says of public skills: new and lost findings show, and every grave one has been judged by hand."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import findings
from benchmarks.findings import Found
from skillgate.static import antipatterns
from skillgate.static.layer import RULES

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")
CORPUS = Path(DATA, "corpus")
with_corpus = pytest.mark.skipif(not (DATA and CORPUS.is_dir()), reason="SKILLGATE_TEST_DATA names no test data")

AGENTS = "wshobson-agents/plugins/"
CUT_OFF = "UNCLOSED_FENCE"
ONLY_ONE_TOOL = (  # true findings of which a comparison of linters found that hardly any of them has it
    (CUT_OFF, AGENTS + "data-engineering/skills/data-quality-frameworks/SKILL.md:120"),
    (CUT_OFF, AGENTS + "data-engineering/skills/data-quality-frameworks/references/details.md:375"),
    (CUT_OFF, AGENTS + "incident-response/skills/postmortem-writing/references/details.md:74"),
    (CUT_OFF, AGENTS + "documentation-generation/skills/changelog-automation/references/details.md:457"),
    (CUT_OFF, AGENTS + "incident-response/skills/on-call-handoff-patterns/references/details.md:223"),
    ("SUBSTITUTION_HAZARD", AGENTS + "startup-business-analyst/skills/startup-financial-modeling/SKILL.md:167"),
    ("SUBSTITUTION_HAZARD", AGENTS + "shell-scripting/skills/bats-testing-patterns/SKILL.md:134"),
    ("SUBSTITUTION_HAZARD", "obra-superpowers/skills/requesting-code-review/SKILL.md:55"),
    ("UNPINNED_PACKAGE", "getsentry-skills/skills/claude-settings-audit/SKILL.md:237"),
    ("NAME_RESERVED", "anthropics-skills/skills/claude-api/SKILL.md:2"),
    ("NAME_RESERVED", "getsentry-skills/skills/claude-settings-audit/SKILL.md:2"),
    ("INDISTINCT", AGENTS + "backend-development/skills/projection-patterns/SKILL.md:3"),
    ("INDISTINCT", AGENTS + "dgx-spark-ops/skills/spark-training-gotchas/SKILL.md:3"),
    ("INDISTINCT", AGENTS + "llm-application-dev/skills/rag-implementation/SKILL.md:3"),
    ("DEAD_CROSS_REF", AGENTS + "incident-response/skills/on-call-handoff-patterns/SKILL.md:69"),
    ("DEAD_CROSS_REF", AGENTS + "incident-response/skills/on-call-handoff-patterns/SKILL.md:70"),
    ("DEAD_CROSS_REF", AGENTS + "security-scanning/skills/sast-configuration/SKILL.md:173"),
    ("DEAD_CROSS_REF", AGENTS + "security-scanning/skills/sast-configuration/SKILL.md:174"),
    ("DEAD_CROSS_REF", AGENTS + "security-scanning/skills/sast-configuration/SKILL.md:175"),
    ("NAME_MISMATCH", AGENTS + "database-design/skills/postgresql/SKILL.md:2"),
    ("DESCRIPTION_TOO_LONG", "anthropics-skills/skills/claude-api/SKILL.md:3"),
)

PATHS = frozenset(("BACKSLASH_PATH", "BROKEN_LINK", "DEAD_CROSS_REF", "LINK_ESCAPES", "ORPHAN_REFERENCE"))
ATTACKS = frozenset(("HIDDEN_UNICODE", "INSTRUCTION_OVERRIDE", "JUDGE_ADDRESSED"))
MARKUP = frozenset(("DESCRIPTION_MARKUP", "CODE_SYNTAX"))
CLASSES = (  # what other linters report wrongly: the file, a word it holds, and the rules that might fall for it
    ("anthropics-skills/skills/theme-factory/SKILL.md", "license:", frozenset(("UNKNOWN_FIELD",))),
    (AGENTS + "hermes-tweet/skills/hermes-tweet/SKILL.md", "metadata:", frozenset(("UNKNOWN_FIELD", "METADATA_SHAPE"))),
    ("anthropics-skills/skills/claude-api/SKILL.md", "{lang}/", PATHS),
    ("anthropics-skills/skills/claude-api/shared/token-counting.md", "/v1/messages", PATHS),
    ("anthropics-skills/skills/skill-creator/SKILL.md", "/skill-test", PATHS),
    (AGENTS + "backend-development/skills/saga-orchestration/references/advanced-patterns.md", "../SKILL.md", PATHS),
    ("anthropics-skills/skills/algorithmic-art/SKILL.md", "Use this when users", frozenset(("MISSING_TRIGGER",))),
    ("anthropics-skills/skills/brand-guidelines/SKILL.md", "Use it when", frozenset(("MISSING_TRIGGER",))),
    (AGENTS + "plugin-eval/skills/evaluation-methodology/SKILL.md", "`[text](references/", PATHS),
    ("anthropics-skills/skills/mcp-builder/reference/python_mcp_server.md", "@john.doe", PATHS | ATTACKS),
    (AGENTS + "documentation-generation/skills/changelog-automation/references/details.md", "<type>", MARKUP),
    (AGENTS + "cicd-automation/skills/secrets-management/SKILL.md", "vault kv put", ATTACKS),
    (AGENTS + "developer-essentials/skills/bazel-build-optimization/SKILL.md", "WORKSPACE.bazel", PATHS),
    ("anthropics-skills/skills/algorithmic-art/SKILL.md", "p5.js", PATHS),
    (AGENTS + "backend-development/skills/api-design-principles/SKILL.md", "application/vnd.api", PATHS),
    (AGENTS + "documentation-generation/skills/architecture-decision-records/SKILL.md", "docs/adr/README.md", PATHS),
    (AGENTS + "frontend-mobile-development/skills/tailwind-design-system/references/details.md", "(references/", PATHS),
)


@pytest.fixture(scope="module")
def snapshot() -> list[Found]:
    """Read the findings that are known."""
    return findings.read_snapshot()


@pytest.fixture(scope="module")
def page() -> str:
    """Read the page that counts and judges them."""
    return findings.PAGE.read_text(encoding="utf-8")


def lines(found: Counter[Found]) -> str:
    return "".join(f"\n  {item}" for item in sorted(found.elements())) or " none"


@with_corpus
def test_a_run_finds_what_the_snapshot_holds(snapshot: list[Found]) -> None:
    now, then = Counter(findings.check_all(CORPUS)), Counter(snapshot)
    hint = "judge the new ones in docs/findings-on-public-skills.md, then python -m benchmarks.findings --write"
    assert now == then, f"new:{lines(now - then)}\nlost:{lines(then - now)}\n{hint}"


def test_the_snapshot_is_sorted_and_names_each_skill_by_its_path(snapshot: list[Found]) -> None:
    assert snapshot == sorted(snapshot)
    assert {item.place.split("/")[0] for item in snapshot} == set(findings.COLLECTIONS)
    assert {item.severity for item in snapshot} == set(findings.SEVERITIES)


def test_the_page_counts_what_the_snapshot_holds(snapshot: list[Found], page: str) -> None:
    assert findings.written(page, snapshot) == page, "python -m benchmarks.findings --write"


def test_a_page_with_other_figures_is_told_apart(snapshot: list[Found], page: str) -> None:
    assert findings.written(page, snapshot[1:]) != page


def test_every_error_and_warning_is_judged(snapshot: list[Found], page: str) -> None:
    assert findings.waiting(snapshot, page) == []
    assert findings.waiting([*snapshot, Found("warning", "NEW", "somewhere/SKILL.md:1")], page) != []


def test_only_findings_that_are_there_are_judged(snapshot: list[Found], page: str) -> None:
    judged = Counter(item for _, item in findings.judged(page))
    assert judged.total() >= 100
    assert judged - Counter(snapshot) == Counter()


@pytest.mark.parametrize(("severity", "least"), [("error", 0.98), ("warning", 0.90)])
def test_the_precision_aimed_at_is_kept_with_the_doubtful_counted_as_false(
    severity: str, least: float, page: str
) -> None:
    verdicts = [verdict for verdict, item in findings.judged(page) if item.severity == severity]
    assert verdicts.count("true") >= least * len(verdicts)


@pytest.mark.parametrize(("rule", "place"), ONLY_ONE_TOOL)
def test_what_hardly_any_other_linter_finds_is_found(rule: str, place: str, snapshot: list[Found]) -> None:
    assert any((item.rule, item.place) == (rule, place) for item in snapshot)


def test_long_references_without_contents_are_found(snapshot: list[Found]) -> None:
    assert sum(item.rule == "MISSING_TOC" for item in snapshot) >= 95


@pytest.mark.parametrize(("file", "word", "rules"), CLASSES)
def test_what_other_linters_report_wrongly_is_passed_over(
    file: str, word: str, rules: frozenset[str], snapshot: list[Found]
) -> None:
    assert [item for item in snapshot if item.place.rpartition(":")[0] == file and item.rule in rules] == []


@with_corpus
@pytest.mark.parametrize(("file", "word"), [case[:2] for case in CLASSES])
def test_the_file_still_holds_what_misleads_others(file: str, word: str) -> None:
    assert word in (CORPUS / file).read_text(encoding="utf-8")


def test_house_style_and_licences_are_left_alone(snapshot: list[Found]) -> None:
    files = {item.place.rpartition(":")[0] for item in snapshot}
    assert all(file.endswith(".md") and not file.upper().endswith("LICENSE.MD") for file in files)
    theme = {item.rule for item in snapshot if "/theme-factory/" in item.place}
    assert theme <= {"MISSING_TRIGGER"}


def test_the_rules_that_must_be_silent_exist() -> None:
    known = {rule.id for rule in antipatterns.RULES} | {name.upper() for name in RULES.names()}
    assert known >= PATHS | ATTACKS | MARKUP | {"UNKNOWN_FIELD", "METADATA_SHAPE", "MISSING_TRIGGER"}
