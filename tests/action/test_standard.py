"""The Action at standard depth: who pays for what, what is shown, and what a change cannot bring."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from tests.action.pull_request import DEAD_LINK, WAIVED, PullRequest, Ran, skill
from tests.cli.running import commit
from tests.standard.asking import KEY, Model, model
from tests.standard.forging import best, forge, unsigned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CACHE_KEY = "0123456789abcdef" * 4

TWO = {**skill("merge-sheets"), **skill("split-sheets", description="Splits sheets. Use when a table is too long.")}


@pytest.fixture
def repository(tmp_path: Path) -> PullRequest:
    folder = tmp_path / "repository"
    folder.mkdir()
    return PullRequest(folder=folder)


@pytest.fixture
def demo() -> Iterator[Model]:
    with model("rules: [{reply: {rating: 7}}]") as one:
        yield one


def ready(repository: PullRequest, demo: Model, *, key: str = KEY, body: str = "\nMore of it.\n") -> None:
    repository.base(TWO)
    repository.change(skill("merge-sheets", body=body))
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": key}
    if not key:
        del repository.environ["ANTHROPIC_API_KEY"]


def test_only_the_touched_skill_is_judged_at_head_and_base_on_the_same_prompts(
    repository: PullRequest, demo: Model
) -> None:
    ready(repository, demo)
    ran = repository.run(depth="standard")
    assert (ran.code, ran.outputs["result"]) == (0, "pass"), ran.outputs["reasons"]
    asked = demo.take()
    assert asked.count("trigger_prompts") == 1
    # The description did not change, so neither did what is predicted from it.
    assert asked.count("trigger_predictions") == 3  # of three judges
    assert len(asked) == 1 + 3 + 2 * 3 * 4
    report = ran.document("report.json")
    assert report["depth"] == "standard"
    (judge,) = [layer for one in report["results"] for layer in one["layers"] if layer["name"] == "judge"]
    assert judge["triggering"]["source"] == "baseline"
    assert ran.outputs["model-calls"] == "28"
    assert ran.outputs["coverage"] == "1.00"
    again = repository.run(depth="standard")
    assert demo.take() == []
    assert (again.outputs["model-calls"], again.outputs["cost-usd"]) == ("0", "0.0000")
    assert KEY not in ran.log + ran.err + ran.summary + json.dumps(ran.outputs)
    assert all(KEY not in path.read_text() for path in (repository.folder / "skillgate-report").iterdir())


def test_without_a_key_what_is_not_kept_is_not_judged_and_fails(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo, key="")
    ran = repository.run(depth="standard")
    assert ran.code == 1
    assert demo.take() == []
    assert ran.outputs["reasons"].count("there is no key") == 1, "one cause is one reason"
    assert ran.outputs["score"] == ""
    assert json.loads(ran.outputs["scores"]) == {"skills/merge-sheets": None}


def test_where_that_may_pass_the_first_line_says_so(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo, key="")
    ran = repository.run(depth="standard", on_unmeasured="pass", fail_on="error, unmeasured")
    assert (ran.code, ran.outputs["result"]) == (0, "pass")
    first = next(line for line in ran.summary.splitlines() if line.startswith("#"))
    assert "not judged" in first, ran.summary[:400]


def test_without_a_key_kept_answers_are_ignored_and_the_comment_counts_them(
    repository: PullRequest, demo: Model
) -> None:
    ready(repository, demo)
    (repository.folder / ".git/info/exclude").write_text("kept/\nskillgate-report/\n")
    assert repository.run(depth="standard", cache_dir="kept").code == 0
    demo.take()
    repository.environ["ANTHROPIC_API_KEY"] = ""  # as GitHub gives a secret to a fork
    ran = repository.run(depth="standard", cache_dir="kept", on_unmeasured="pass")
    assert (ran.code, demo.take()) == (0, [])
    assert "not judged" in ran.outputs["reasons"]
    assert ran.outputs["cached-answers"] == "0"
    said = "without SKILLGATE_CACHE_KEY or a static API key the author of an answer cannot be verified"
    assert [said in notice for notice in ran.run["notices"]].count(True) == 1
    assert "cached answers were ignored" in ran.summary


def test_what_the_comment_says_of_unusable_kept_replies_can_be_done_in_the_action(repository: PullRequest) -> None:
    with model(
        "rules: [{match: {question: output_quality}, reply: {stop_reason: refusal}}, {reply: {rating: 7}}]"
    ) as one:
        ready(repository, one)
        (repository.folder / ".git/info/exclude").write_text("kept/\nskillgate-report/\n")
        repository.run(depth="standard", cache_dir="kept")
        one.take()
        ran = repository.run(depth="standard", cache_dir="kept")
        assert one.take() == []
    (said,) = [notice for notice in ran.run["notices"] if "no usable answer" in notice and "cached repl" in notice]
    assert said.endswith("; use an empty cache-dir to ask everything again")
    assert "--refresh" not in ran.summary


def test_a_key_for_kept_answers_alone_lets_them_serve(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo)
    repository.environ["SKILLGATE_CACHE_KEY"] = CACHE_KEY
    (repository.folder / ".git/info/exclude").write_text("kept/\nskillgate-report/\n")
    assert repository.run(depth="standard", cache_dir="kept").code == 0
    demo.take()
    del repository.environ["ANTHROPIC_API_KEY"]
    ran = repository.run(depth="standard", cache_dir="kept")
    assert (ran.code, demo.take()) == (0, [])
    assert ran.outputs["cached-answers"] == "31"
    assert CACHE_KEY not in ran.log + ran.err + ran.summary + json.dumps(ran.outputs)
    assert all(CACHE_KEY not in path.read_text() for path in (repository.folder / "skillgate-report").iterdir())


@pytest.mark.parametrize("change", [best, unsigned], ids=["changed", "mark left out"])
def test_answers_that_a_stranger_wrote_into_the_cache_do_not_turn_the_gate(
    repository: PullRequest, change: Callable[[str], str]
) -> None:
    with model("rules: [{reply: {rating: 3}}]") as poor:
        ready(repository, poor)
        (repository.folder / ".git/info/exclude").write_text("kept/\nskillgate-report/\n")
        gate = {"depth": "standard", "cache_dir": "kept", "threshold": "80", "fail_on": "threshold"}
        honest = repository.run(**gate)
        assert honest.code == 1
        assert forge(repository.folder / "kept", change) >= 4
        ran = repository.run(**gate)
    assert (ran.code, ran.outputs["score"]) == (1, honest.outputs["score"])
    assert "cached answers were ignored: they are not signed with this run's key" in ran.summary


def test_a_key_that_could_be_guessed_is_refused(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo)
    repository.environ["SKILLGATE_CACHE_KEY"] = "hunter2-hunter2"
    ran = repository.run(depth="standard")
    assert (ran.code, demo.take()) == (2, [])
    assert "SKILLGATE_CACHE_KEY is too short" in ran.outputs["reasons"]
    assert "hunter2" not in ran.log + ran.err + ran.summary + json.dumps(ran.outputs)


def test_a_change_cannot_bring_its_own_answers(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo)
    (repository.folder / ".git/info/exclude").write_text("skillgate-report/\n")
    assert repository.run(depth="standard", cache_dir="kept").code == 0
    commit(repository.folder)  # the answers are now the change's
    ran = repository.run(depth="standard", cache_dir="kept")
    assert ran.code == 2
    assert "cache-dir" in ran.outputs["reasons"]


@pytest.mark.parametrize("place", ["../elsewhere", ".", "skills", "link", ".git/kept"])
def test_answers_are_kept_nowhere_else(repository: PullRequest, demo: Model, tmp_path: Path, place: str) -> None:
    ready(repository, demo)
    (repository.folder / "link").symlink_to(tmp_path)
    ran = repository.run(depth="standard", cache_dir=place)
    assert ran.code == 2
    assert "cache-dir" in ran.outputs["reasons"]
    assert demo.take() == []


@pytest.mark.parametrize("brought", ["judge-model: [claude-opus-5-5]\n", "base-url: http://127.0.0.1:9\n"])
def test_the_base_says_who_judges_and_a_project_never_where(repository: PullRequest, demo: Model, brought: str) -> None:
    settings = "depth: standard\njudge-model: [claude-haiku-5-5]\n"
    repository.base({**TWO, ".skillgate.yaml": settings})
    repository.change({**skill("merge-sheets", body="\nMore.\n"), ".skillgate.yaml": settings + brought})
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
    ran = repository.run()
    assert ran.code == 2  # a key twice, or one that no project's file may set: after the merge no gate could run
    assert demo.take() == []


def test_another_judge_holds_after_the_merge(repository: PullRequest, demo: Model) -> None:
    settings = "depth: standard\njudge-model: [claude-haiku-5-5]\n"
    repository.base({**TWO, ".skillgate.yaml": settings})
    changed = settings.replace("haiku", "opus")
    repository.change({**skill("merge-sheets", body="\nMore.\n"), ".skillgate.yaml": changed})
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
    ran = repository.run()
    assert ran.document("report.json")["models"] == ["claude-haiku-5-5"]
    assert any("judge-model" in change for change in ran.run["policy_changes"])
    assert demo.take()


def test_a_drop_that_may_be_chance_is_shown_and_fails_nothing(repository: PullRequest) -> None:
    repository.base(TWO)
    repository.change(skill("merge-sheets", body="\nA worse one.\n"))
    rules = """rules:
      - {match: {question: other_dimensions, contains: A worse one}, reply: {rating: 3}}
      - {match: {question: scope_calibration, contains: A worse one}, reply: {rating: 0}}
      - {reply: {rating: 7}}"""
    with model(rules) as demo:
        repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
        ran = repository.run(depth="standard")
        loud = repository.run(depth="standard", on_inconclusive="fail")
    one = next(item for item in ran.document("report.json")["results"] if item["skill"]["name"] == "merge-sheets")
    (regression,) = [outcome for outcome in one["gate"]["outcomes"] if outcome["gate"] == "regression"]
    assert regression["verdict"] == ("fail" if ran.code else "pass")
    assert "p = " in regression["reason"] or "dropped" in regression["reason"]
    assert loud.code == 1


def test_the_budget_of_a_run_is_five_dollars_unless_said_otherwise(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo)
    ran = repository.run(depth="standard", max_cost_usd="0.01", fail_on="unmeasured")
    assert ran.code == 1
    assert "max-cost-usd" in ran.outputs["reasons"]
    assert demo.take() == []


def judges(ran: Ran) -> list[tuple[int, str | None]]:
    """Return for each skill how many judges gave its score, and why it has none."""
    layers = [layer for one in ran.document("report.json")["results"] for layer in one["layers"]]
    return [(one["judges"], one.get("reason")) for one in layers if one["name"] == "judge"]


def test_three_judges_rate_each_skill_unless_the_number_is_set(repository: PullRequest, demo: Model) -> None:
    ready(repository, demo)
    ran = repository.run(depth="standard")
    assert judges(ran) == [(3, None)]
    assert not any("judge" in notice for notice in ran.document("run.json")["notices"])
    assert judges(repository.run(depth="standard", judges="2")) == [(2, None)]


@pytest.mark.parametrize("models", [1, 2])
def test_where_the_budget_may_not_pay_for_three_judges_every_skill_has_fewer(
    repository: PullRequest, demo: Model, models: int
) -> None:
    repository.base(TWO)
    change = {**skill("merge-sheets", body="\nMore of it.\n"), **skill("split-sheets", body="\nMore of that.\n")}
    repository.change(change)
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
    names = "\n".join(["claude-haiku-5-5", "claude-sonnet-5-5"][:models])

    def ran(limit: float, **inputs: str) -> tuple[Ran, list[str]]:
        run = repository.run(depth="standard", judge_model=names, max_cost_usd=f"{limit:.4f}", max_drop="100", **inputs)
        return run, [one for one in run.document("run.json")["notices"] if "may cost up to" in one]

    poor, notices = ran(0.001)
    assert (poor.code, demo.take()) == (1, []), "nothing that is paid for is asked"
    assert notices[0].startswith(f"{models} judge{'s' * (models > 1)} instead of 3 for every skill: 3 may cost up to $")
    assert notices[1].startswith("max-cost-usd 0.001 may not pay for every skill: the run may cost up to $")
    most, least = (float(notice.split("$")[1].split(",")[0]) for notice in notices)

    fewer, notices = ran(least + 0.02 if models == 2 else (least + most) / 2 + 0.02)
    assert (fewer.code, judges(fewer)) == (0, [(2, None), (2, None)])
    assert [notice.split(":")[0] for notice in notices] == ["2 judges instead of 3 for every skill"]
    assert "2 judges instead of 3 for every skill" in fewer.summary

    fixed, notices = ran((least + most) / 2, judges="3")
    assert (judges(fixed)[0][0], notices) == (3, []), "a number that is set is not changed"


def test_a_comment_of_the_base_suppresses_a_finding_however_many_judges_are_chosen(
    repository: PullRequest, demo: Model
) -> None:
    waived = f"\n\n{WAIVED}\n{DEAD_LINK.strip()}\n"
    repository.base(skill("merge-sheets", body=waived))
    repository.change(skill("merge-sheets", body=f"{waived}\nKeep the newest of two rows.\n"))
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
    ran = repository.run(depth="standard")
    assert (ran.code, ran.run["policy_changes"]) == (0, []), ran.summary


def test_a_change_cannot_add_skills_until_too_few_judges_are_left_to_see_a_drop(repository: PullRequest) -> None:
    repository.base(TWO)
    worse = skill("merge-sheets", body="\nA worse one.\n")
    more = skill("plot-charts", description="Plots charts for slides. Use when asked for a chart.")
    rules = """rules:
      - {match: {question: output_quality, contains: A worse one}, reply: {rating: 4}}
      - {match: {question: orchestration_fitness, contains: A worse one}, reply: {rating: 4}}
      - {reply: {rating: 7}}"""
    with model(rules) as demo:
        repository.change({**worse, **more})
        repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
        ran = repository.run(depth="standard", min_new_score="0", max_cost_usd="1")
        assert (ran.code, judges(ran)[0][0]) == (1, 1)
        assert "does not distinguish from chance" in ran.outputs["reasons"]
        assert "a drop that 1 judge cannot distinguish from chance fails this run" in ran.run["notices"]
        assert repository.run(depth="standard", min_new_score="0").code == 1


def test_a_skill_that_is_gone_has_no_judged_score(repository: PullRequest, demo: Model) -> None:
    repository.base(TWO)
    repository.change({"skills/split-sheets": None})
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
    ran = repository.run(depth="standard")
    assert demo.take() == []
    (change,) = ran.document("diff.json")["skills"]
    assert change["before"]["score"] is None


@pytest.mark.parametrize("warm", [False, True])
def test_without_a_key_the_default_gates_let_it_pass_where_that_is_asked_for(
    repository: PullRequest, demo: Model, *, warm: bool
) -> None:
    ready(repository, demo)
    if warm:  # the base's answers are kept, the head's are not: a fork's change
        (repository.folder / ".git/info/exclude").write_text("kept/\nskillgate-report/\n")
        place = repository.folder / "skills/merge-sheets/SKILL.md"
        text = place.read_text()
        assert repository.run(depth="standard", cache_dir="kept").code == 0
        place.write_text(text.replace("More of it", "Something else"))
        demo.take()
    del repository.environ["ANTHROPIC_API_KEY"]
    ran = repository.run(depth="standard", cache_dir="kept", on_unmeasured="pass")
    assert (ran.code, ran.outputs["result"]) == (0, "pass"), ran.outputs["reasons"]
    assert "not judged" in ran.outputs["reasons"]
    assert repository.run(depth="standard", cache_dir="kept").code == 1
    lenient = repository.run(depth="standard", cache_dir="kept", fail_on="error")
    assert (lenient.code, lenient.outputs["result"]) == (3, "error")


def test_a_text_that_keeps_the_judge_from_answering_is_not_let_through(repository: PullRequest) -> None:
    repository.base(TWO)
    repository.change(skill("merge-sheets", body="\nREFUSE this.\n"))
    rules = "rules: [{match: {contains: REFUSE this}, reply: {stop_reason: refusal}}, {reply: {rating: 7}}]"
    with model(rules) as demo:
        repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
        ran = repository.run(depth="standard", on_unmeasured="pass", threshold="10")
    assert (ran.code, ran.outputs["result"]) == (1, "fail")


def test_the_prompts_of_a_change_hold_after_the_merge_and_that_is_said(repository: PullRequest, demo: Model) -> None:
    def evals(word: str) -> dict[str, str]:
        cases = [{"query": f"{word} the rows of table {n}", "should_trigger": n % 2 == 0} for n in range(12)]
        return {"skills/merge-sheets/evals/triggers.json": json.dumps(cases)}

    repository.base({**TWO, **evals("Join")})
    repository.change({**skill("merge-sheets", body="\nMore.\n"), **evals("Count")})
    repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
    ran = repository.run(depth="standard")
    layers = [layer for one in ran.document("report.json")["results"] for layer in one["layers"]]
    (judge,) = [layer for layer in layers if layer["name"] == "judge"]
    assert all(prompt["prompt"].startswith("Join") for prompt in judge["triggering"]["prompts"])
    assert any("merge-sheets is judged on the prompts of its baseline" in notice for notice in ran.run["notices"])
