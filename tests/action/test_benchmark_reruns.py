"""A benchmark in a pull request: tasks that the change breaks are run again, and what it touches is never silent."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.action.pull_request import PullRequest, skill
from tests.action.test_benchmarks import BROKEN, DOUBLES, INPUTS, program, tasks
from tests.bench.prose import bodies, prose, rule, rules
from tests.github.fake_github import NAME, TOKEN, FakeGitHub
from tests.standard.asking import KEY, model

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("numpy", reason="numpy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")
pytest.importorskip("openapi_core", reason="openapi-core is not installed")

WRONG = DOUBLES.replace("2 * number", "-1")
COUNTED = """\
import os
place = os.path.join({folder!r}, {side!r} + str(number))
descriptor = os.open(place, os.O_WRONLY | os.O_APPEND)
calls = os.fstat(descriptor).st_size
os.write(descriptor, b".")
"""
"""Counts the calls of a task on one side; ``calls`` is how many came before."""


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        yield fake
        assert not fake.violations


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """Give a directory with files that every call can add to, whoever it runs as and whatever it has of its own."""
    with ExitStack() as closing:
        folder = tmp_path
        if os.geteuid() == 0:  # calls run as other users then, and may have a /tmp of their own
            try:
                folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="skillgate-", dir="/srv")))
            except OSError as error:
                pytest.skip(f"no directory outside of /tmp can be made that all users can enter: {error}")
            folder.chmod(0o755)
        for name in ("scored", *(f"{side}{number}" for side in ("base", "head") for number in range(12))):
            (folder / name).touch()
            (folder / name).chmod(0o666)
        yield folder


def counted(shared: Path, side: str, result: str) -> str:
    """Give a program that counts its calls and answers an expression over ``number`` and ``calls``."""
    lines = DOUBLES.replace("2 * number", result).splitlines(keepends=True)
    return "".join([*lines[:3], COUNTED.format(folder=str(shared), side=side), *lines[3:]])


def calls(shared: Path, side: str, count: int) -> list[int]:
    return [(shared / f"{side}{number}").stat().st_size for number in range(count)]


@pytest.fixture
def repository(tmp_path: Path, github: FakeGitHub) -> PullRequest:
    made = PullRequest(folder=tmp_path / "work", repository=NAME)
    made.environ = {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": github.url, "INPUT_COMMENT": "always"}
    made.base({**skill("merge-sheets"), **program(), **program(name="other"), **tasks(4)})
    return made


def reruns(ran: Any) -> dict[str, Any]:
    """Give what was run again, by the task's id."""
    return {one["taskId"]: one for change in ran.document("benchmark-diff.json")["changes"] for one in change["reruns"]}


def test_four_tasks_that_a_change_breaks_fail_it_with_one_run_and_are_told_in_a_comment(
    repository: PullRequest, github: FakeGitHub
) -> None:
    repository.change(program(WRONG))
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["result"], ran.outputs["comment-status"]) == (1, "fail", "created"), ran.err
    reason = ran.run["reasons"][0]
    assert "4 of 4 tasks are broken in 3 of 3 runs" in reason
    assert "p =" not in reason
    body = github.bodies[0]
    assert "no skill is touched" not in body
    assert "broken in 3 of 3 runs" in body
    assert "p = " not in body
    assert "run again" in body
    assert {
        (one["outcome"], one["aPassed"], one["aTotal"], one["bPassed"], one["bTotal"]) for one in reruns(ran).values()
    } == {("broken", 2, 2, 0, 2)}


def test_reruns_enter_no_rate_and_no_p(repository: PullRequest) -> None:
    repository.change(program(WRONG))
    ran = repository.run(**INPUTS)
    report = ran.document("benchmark.json")["reports"][0]
    assert (len(report["taskResults"]), report["summary"]["counts"]["total"]) == (4, 4)
    test = ran.document("benchmark-diff.json")["changes"][0]["test"]
    assert (test["tasks"], test["broken"], test["mcnemarP"]) == (4, 4, 0.125)


def test_one_broken_task_among_many_fails_the_change(repository: PullRequest) -> None:
    repository.base(tasks(12))
    repository.change(program(DOUBLES.replace("2 * number", "2 * number if number != 7 else 0")))
    ran = repository.run(**INPUTS)
    assert ran.code == 1, ran.err
    assert "1 of 12 tasks is broken in 3 of 3 runs: double-7" in ran.run["reasons"][0]


def test_a_change_of_a_benchmarked_program_counts_as_touching_it_and_a_pass_is_commented(
    repository: PullRequest, github: FakeGitHub
) -> None:
    repository.change(program(DOUBLES + "# as before\n"))
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["comment-status"], ran.run["touched"]) == (0, "created", 1), ran.err
    assert "### ✅ skillgate: 1 benchmarked skill passes" in github.bodies[0]
    assert "#### Benchmark doubles" in github.bodies[0]


@pytest.mark.parametrize(("when", "status"), [("failures", "skipped"), ("changes", "skipped"), ("always", "created")])
def test_a_pass_that_changes_no_result_is_commented_as_asked(repository: PullRequest, when: str, status: str) -> None:
    repository.change(program(DOUBLES + "# as before\n"))
    assert repository.run(**INPUTS, comment=when).outputs["comment-status"] == status


def test_a_won_task_is_a_change_to_comment_on(repository: PullRequest) -> None:
    repository.base(program(BROKEN.replace("number < 4", "number < 3")))
    repository.change(program())
    assert repository.run(**INPUTS, comment="changes").outputs["comment-status"] == "created"


def test_a_skill_that_is_scored_and_benchmarked_is_counted_once(repository: PullRequest, github: FakeGitHub) -> None:
    both = {path.replace("programs/doubler", "skills/merge-sheets"): text for path, text in program().items()}
    repository.base(both)
    changed = {"skills/merge-sheets/skill.py": DOUBLES + "# more\n"}
    repository.change({**changed, **skill("merge-sheets", body="\nKeep the newest of two rows.\n")})
    ran = repository.run(**{**INPUTS, "skills": "skills"})
    assert (ran.code, ran.run["touched"]) == (0, 1), ran.err
    assert "merge-sheets" in github.bodies[0].splitlines()[1]


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"entrypoint": "python3 ../../shared/core.py"}, "shared/core.py"),
        ({"adapter": {"command": "python3", "args": ["../../shared/core.py"]}}, "shared/core.py"),
        (
            {"adapter": {"command": "python3", "args": ["-m", "core"], "env": {"PYTHONPATH": "../../shared"}}},
            "shared/core.py",
        ),
        ({"entrypoint": "../../shared/run.py"}, "shared/run.py"),
    ],
)
def test_what_the_adapter_names_outside_of_the_skill_touches_it(spec: dict[str, Any], place: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        made = PullRequest(folder=Path(folder) / "work")
        start = "#!/usr/bin/env python3\n" if place.endswith("run.py") else ""
        made.write({place: start + DOUBLES, **program("", **spec), **tasks(4)})
        (made.folder / place).chmod(0o755)
        made.base({})
        made.change({place: start + WRONG})
        ran = made.run(**INPUTS)
        assert (ran.code, ran.outputs["broken-tasks"]) == (1, "4"), ran.err


@pytest.mark.parametrize("listed", ["error", "never"])
@pytest.mark.parametrize("is_scored", [False, True])
def test_no_headline_says_that_a_broken_skill_passes_where_benchmarks_fail_nothing(
    repository: PullRequest, github: FakeGitHub, listed: str, *, is_scored: bool
) -> None:
    scored = skill("merge-sheets", body="\nKeep the newest of two rows.\n") if is_scored else {}
    repository.change({**program(WRONG), **scored})
    ran = repository.run(**INPUTS, fail_on=listed)
    assert (ran.code, ran.outputs["comment-status"]) == (0, "created"), ran.err
    told = "the benchmark fails, and fail-on does not list it"
    title = github.bodies[0].splitlines()[1]
    assert title.endswith(f"; {told}") if is_scored else title == f"### ✅ skillgate: {told}"
    assert f"{told}\n" in ran.log


@pytest.mark.parametrize("path", ["benchmarks/doubles.json", "benchmarks/scorer.py"])
@pytest.mark.parametrize("touches", [False, True])
def test_what_a_change_does_to_the_benchmark_is_told_as_a_change_to_the_gate(
    repository: PullRequest, github: FakeGitHub, path: str, *, touches: bool
) -> None:
    whole = json.loads(tasks(1)["benchmarks/doubles.json"])
    whole["tasks"][0]["expectedOutput"] = {"type": "custom", "value": 0}
    whole["tasks"][0]["evaluator"] = {"customScorerPath": "scorer.py:score"}
    scorer = "def score(given):\n    return given['output'] == given['expected']\n"
    repository.base({"benchmarks/scorer.py": scorer, "benchmarks/doubles.json": json.dumps(whole)})
    repository.change({path: "{}" if path.endswith(".json") else "", **(program(WRONG) if touches else {})})
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["comment-status"]) == (int(touches), "created"), ran.err
    assert ran.run["policy_changes"] == [f"benchmark doubles: {path} changed"]
    assert "effective after the merge" in github.bodies[0]


@pytest.mark.parametrize("skills", ["programs", "programs/doubler"])
def test_a_removed_benchmarked_skill_is_told_in_a_comment(
    repository: PullRequest, github: FakeGitHub, skills: str
) -> None:
    repository.change({"programs/doubler": None})
    ran = repository.run(**{**INPUTS, "skills": skills})
    assert (ran.code, ran.outputs["comment-status"]) == (0, "created"), ran.err
    assert "no skill is touched" not in github.bodies[0]
    assert "was removed" in github.bodies[0]


def test_what_turns_out_flaky_in_the_base_is_not_broken_and_the_head_is_not_run_again(
    repository: PullRequest, shared: Path
) -> None:
    """The base passes its first run and fails the second: that side cannot reach 3 of 3 any more."""
    repository.base(program(counted(shared, "base", "2 * number if calls == 0 else -1")))
    repository.change(program(counted(shared, "head", "-1")))
    ran = repository.run(**INPUTS)
    assert ran.code == 0, ran.err
    assert calls(shared, "base", 4) == [2] * 4
    assert calls(shared, "head", 4) == [1] * 4
    assert {one["outcome"] for one in reruns(ran).values()} == {"flaky"}
    assert any("which may be chance" in notice for notice in ran.run["notices"])


def test_what_passes_once_more_in_the_head_is_not_run_a_third_time(repository: PullRequest, shared: Path) -> None:
    repository.base(program(counted(shared, "base", "2 * number")))
    repository.change(program(counted(shared, "head", "2 * number if calls else -1")))
    ran = repository.run(**INPUTS)
    assert ran.code == 0, ran.err
    assert (calls(shared, "base", 4), calls(shared, "head", 4)) == ([2] * 4, [2] * 4)


def test_beside_flaky_tasks_a_broken_one_is_run_six_times_and_still_fails_the_change(
    repository: PullRequest, shared: Path
) -> None:
    repository.base(program(counted(shared, "base", "2 * number if calls == 0 or number == 3 else -1")))
    repository.change(program(counted(shared, "head", "-1")))
    ran = repository.run(**INPUTS)
    assert ran.code == 1, ran.err
    assert "1 of 4 tasks is broken in 6 of 6 runs: double-3" in ran.run["reasons"][0]
    assert (calls(shared, "base", 4), calls(shared, "head", 4)) == ([2, 2, 2, 6], [1, 1, 1, 6])


def test_three_runs_of_each_need_no_rerun(repository: PullRequest, shared: Path) -> None:
    repository.base(program(counted(shared, "base", "2 * number")))
    repository.change(program(counted(shared, "head", "-1")))
    ran = repository.run(**INPUTS, runs="3")
    assert ran.code == 1, ran.err
    assert "4 of 4 tasks are broken in 3 of 3 runs" in ran.run["reasons"][0]
    assert (calls(shared, "base", 4), calls(shared, "head", 4)) == ([3] * 4, [3] * 4)


def test_a_rerun_that_cannot_be_measured_leaves_the_verdict_of_the_first_runs_with_its_reason(
    repository: PullRequest, shared: Path
) -> None:
    """The base's scorer breaks from its third call on: no answer is wrong then."""
    scorer = (
        "import os\n"
        "def score(given):\n"
        f"    descriptor = os.open({str(shared / 'scored')!r}, os.O_WRONLY | os.O_APPEND)\n"
        "    os.write(descriptor, b'.')\n"
        "    if os.fstat(descriptor).st_size > 2:\n"
        "        raise RuntimeError('no more')\n"
        "    return given['output'] == given['expected']\n"
    )
    whole = json.loads(tasks(1)["benchmarks/doubles.json"])
    whole["tasks"][0]["expectedOutput"] = {"type": "custom", "value": 0}
    whole["tasks"][0]["evaluator"] = {"customScorerPath": "scorer.py:score"}
    repository.base({"benchmarks/scorer.py": scorer, "benchmarks/doubles.json": json.dumps(whole)})
    repository.change(program(WRONG))
    ran = repository.run(**INPUTS)
    assert ran.code == 0, ran.err + json.dumps(ran.run)
    [one] = reruns(ran).values()
    assert one["outcome"] == "unmeasured"
    assert "no more" in one["reason"]
    assert any("could not be rerun" in notice for notice in ran.run["notices"])


@pytest.mark.parametrize(
    ("most", "outcome", "reason"), [(3, "unmeasured", "max-calls"), (6, "broken", None), (5, "unmeasured", "max-calls")]
)
def test_reruns_of_prose_skills_share_the_limit_with_the_runs_before_them(
    tmp_path: Path, most: int, outcome: str, reason: str | None
) -> None:
    pytest.importorskip("anthropic", reason="anthropic is not installed")
    add = {"inputData": {"a": 1, "b": 2}, "expectedOutput": {"type": "exact", "value": 3}}
    whole = {"id": "adds", "name": "Adds", "version": "1.0.0", "tasks": [{"id": "sum", **add}]}
    made = PullRequest(folder=tmp_path / "work")
    made.base({"benchmarks/adds.json": json.dumps(whole), ".skillgate.yaml": f"max-calls: {most}\n"})
    prose(made.folder / "words" / "adder")
    made.base({})
    made.change({"words/adder/SKILL.md": (made.folder / "words/adder/SKILL.md").read_text() + "\nThen subtract.\n"})
    with model(rules(rule('{text: "-1"}', contains="Then subtract"), rule('{text: "3"}'))) as demo:
        made.environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": demo.server.base_url}
        ran = made.run(benchmark="adds", skills="words/adder", max_cost_usd="100", fail_on="benchmark")
        sent = bodies(demo)
    assert ran.code == int(outcome == "broken"), ran.err + ran.outputs["reasons"]
    [one] = reruns(ran).values()
    assert (one["outcome"], len(sent)) == (outcome, most)
    assert reason is None or reason in one["reason"]


@pytest.mark.parametrize("listed", ["benchmark", "error,benchmark"])
def test_the_gate_of_benchmarks_can_be_listed_by_its_name(repository: PullRequest, listed: str) -> None:
    repository.change(program(WRONG))
    ran = repository.run(**INPUTS, fail_on=listed)
    assert (ran.code, ran.outputs["result"]) == (1, "fail"), ran.err
    refused = repository.run(fail_on=listed)
    assert (refused.code, "does not measure" in refused.outputs["reasons"]) == (2, True)
