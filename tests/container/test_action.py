"""The Action as GitHub's runner runs it: what it gates, what it leaves behind, what later steps see of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from skillgate.action.plan import OUTPUTS
from tests.container.limits import ANNOTATIONS_OF_A_LEVEL
from tests.container.pull_request import BROKEN, NUMBER, OTHER, POOR, Change, skill
from tests.container.runner import OWNER, TOKEN, Runner, Step

if TYPE_CHECKING:
    from pathlib import Path

    from tests.container.engine import Engine

QUIET = {"comment": "never"}
DOCUMENTS = ("diff.json", "report.html", "report.json", "report.md", "run.json")


@pytest.fixture
def runner(engine: Engine, image: str, tmp_path: Path) -> Runner:
    return Runner(engine=engine, image=image, folder=tmp_path)


def gate(runner: Runner, change: Change, network: str = "none", **inputs: str) -> Step:
    """Run the Action on a pull request, without a comment and without a network where nothing else is said."""
    given = {**QUIET, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    return runner.run("pull_request", change.payload(), inputs=given, network=network)


def test_a_change_that_is_well_passes_and_says_so(runner: Runner) -> None:
    change = Change(runner.workspace, skill("tidy"), skill("chart", OTHER))
    step = gate(runner, change)
    assert step.code == 0, step.said
    assert tuple(step.outputs) == tuple(output.name for output in OUTPUTS)
    told = {name: step.outputs[name] for name in ("result", "reasons", "skills", "errors", "baseline-rev")}
    assert told == {"result": "pass", "reasons": "", "skills": "1", "errors": "0", "baseline-rev": change.base}
    assert list(json.loads(step.outputs["scores"])) == ["skills/chart"]
    assert "skills/chart" in (step.summary or "")


def test_what_it_writes_belongs_to_whoever_owns_the_workspace(runner: Runner) -> None:
    step = gate(runner, Change(runner.workspace, skill("tidy"), skill("chart", OTHER)), sarif="out/deep/found.sarif")
    assert (step.code, step.root_owned, step.refused) == (0, (), ""), step.said
    report = runner.workspace / "skillgate-report"
    assert sorted(path.name for path in report.iterdir()) == list(DOCUMENTS)
    assert {path.stat().st_uid for path in (report, *report.iterdir())} == {OWNER}
    assert json.loads((runner.workspace / step.outputs["sarif-file"]).read_text())["version"] == "2.1.0"


def test_a_step_that_fails_keeps_its_outputs_its_summary_and_its_documents(runner: Runner) -> None:
    step = gate(runner, Change(runner.workspace, skill("tidy"), skill("tidy", BROKEN)))
    assert (step.code, step.refused, step.root_owned) == (1, "", ()), step.said
    assert step.outputs["result"] == "fail"
    assert step.outputs["errors"] == "1"
    assert "skills/tidy" in step.outputs["reasons"]
    assert "skills/tidy" in (step.summary or "")
    assert (runner.workspace / step.outputs["report-json"]).exists()
    (mark,) = [mark for mark in step.log.annotations if mark.name == "error"]
    line = (runner.workspace / mark.properties["file"]).read_text().split("\n")[int(mark.properties["line"]) - 1]
    assert "references/kinds.md" in line


def test_the_reason_is_the_first_line_of_the_log(runner: Runner) -> None:
    step = gate(runner, Change(runner.workspace, skill("tidy"), skill("tidy", POOR)))
    assert step.code == 1
    first = step.log.text.lstrip().split("\n")[0]
    assert "skills/tidy" in first, step.said


def test_a_fall_fails_and_the_base_is_named(runner: Runner) -> None:
    change = Change(runner.workspace, skill("tidy"), skill("tidy", POOR))
    step = gate(runner, change, fail_on="regression")
    assert (step.code, step.outputs["baseline-rev"]) == (1, change.base), step.said
    assert "it lost its badge" in step.outputs["reasons"]
    assert gate(runner, change, fail_on="regression", max_drop="100").outputs["result"] in ("pass", "fail")


def test_skills_that_a_change_does_not_touch_do_not_fail_it(runner: Runner) -> None:
    base = {**skill("old", BROKEN), **skill("tidy")}
    change = Change(runner.workspace, base, {"README.md": "A line.\n"})
    assert gate(runner, change).code == 0
    assert gate(runner, change, changed_only="false", fail_on="error").code == 1


def test_a_pull_request_cannot_lower_the_gate_it_has_to_pass(runner: Runner) -> None:
    base = {**skill("tidy"), ".skillgate.yaml": "threshold: 99\n"}
    head = {**skill("tidy", POOR), ".skillgate.yaml": "threshold: 1\nfail-on: [never]\n"}
    step = gate(runner, Change(runner.workspace, base, head))
    assert step.code == 1, step.said
    assert "99" in step.outputs["reasons"]


def test_many_findings_are_annotated_up_to_what_the_runner_keeps(runner: Runner) -> None:
    links = "\n".join(f"See [{number}](references/{number}.md)." for number in range(60))
    step = gate(runner, Change(runner.workspace, skill("tidy"), {"skills/tidy/SKILL.md": BROKEN + links}))
    errors = [mark for mark in step.log.annotations if mark.name == "error"]
    assert len(errors) == ANNOTATIONS_OF_A_LEVEL
    assert step.log.dropped == 0


@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({"threshold": "high"}, 2, "input threshold"),
        ({"paths": "nowhere"}, 2, "nowhere"),
    ],
)
def test_what_cannot_run_is_an_error_that_says_why(
    runner: Runner, inputs: dict[str, str], code: int, said: str
) -> None:
    change = Change(runner.workspace, skill("tidy"), skill("chart", OTHER))
    step = runner.run("pull_request", change.payload(), inputs={**QUIET, **inputs}, network="none")
    assert (step.code, step.outputs["result"]) == (code, "error"), step.said
    assert said in step.outputs["reasons"]
    assert step.root_owned == ()


def test_a_depth_that_nobody_can_answer_for_is_not_judged_and_fails(runner: Runner) -> None:
    change = Change(runner.workspace, skill("tidy"), skill("chart", OTHER))
    step = runner.run("pull_request", change.payload(), inputs={**QUIET, "depth": "certify"}, network="none")
    assert (step.code, step.outputs["result"]) == (1, "fail"), step.said
    assert "there is no key" in step.outputs["reasons"]
    assert step.outputs["score"] == ""


def test_an_input_that_does_not_exist_is_named(runner: Runner) -> None:
    step = gate(runner, Change(runner.workspace, skill("tidy"), skill("chart", OTHER)), treshold="70")
    assert step.code == 0, step.said
    assert "treshold" in step.said


def test_a_report_directory_that_leads_elsewhere_is_not_followed(runner: Runner) -> None:
    change = Change(runner.workspace, skill("tidy"), skill("chart", OTHER))
    (runner.workspace / "skillgate-report").symlink_to("/github/home")
    step = gate(runner, change)
    assert step.code != 0, step.said
    assert not any((runner.folder / "home").iterdir())


def test_the_token_is_in_nothing_that_it_leaves(runner: Runner) -> None:
    step = gate(runner, Change(runner.workspace, skill("tidy"), skill("tidy", BROKEN + f"\nUse {TOKEN}.\n")))
    kept = [path.read_text() for path in (runner.workspace / "skillgate-report").iterdir()]
    assert all(TOKEN not in text for text in (step.said, step.summary or "", *step.outputs.values(), *kept))


def test_a_push_gates_every_skill_against_nothing(runner: Runner) -> None:
    Change(runner.workspace, skill("tidy"), skill("chart", OTHER))
    step = runner.run("push", {"ref": "refs/heads/main"}, inputs={"baseline": "none"}, network="none")
    assert (step.code, step.outputs["skills"], step.outputs["baseline-rev"]) == (0, "2", ""), step.said


def test_a_pull_request_gets_one_comment_that_is_kept_up_to_date(engine: Engine, image: str, tmp_path: Path) -> None:
    pytest.importorskip("openapi_core", reason="openapi-core is not installed: pip install skillgate-action[dev]")
    from tests.github.fake_github import FakeGitHub

    with FakeGitHub() as fake:
        runner = Runner(engine=engine, image=image, folder=tmp_path, api_url=fake.url)
        change = Change(runner.workspace, skill("tidy"), skill("tidy", BROKEN))
        steps = [gate(runner, change, network="host", comment="always") for _ in range(2)]
        assert [step.outputs["comment-status"] for step in steps] == ["created", "unchanged"], steps[0].said
        again = gate(runner, change, network="host", comment="always", fail_on="never")
        assert (again.code, again.outputs["comment-status"]) == (0, "updated"), again.said
        assert len(fake.bodies) == 1
        assert f"/issues/{NUMBER}/comments" in "".join(fake.lines)
        assert again.outputs["comment-url"].startswith("https://")
    assert fake.violations == []
