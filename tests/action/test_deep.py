"""The Action where sessions are simulated and skills ranked: shards, the corpus of the base, the budget, the issue."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("numpy")

from tests.action.pull_request import PullRequest, skill
from tests.cli.running import commit
from tests.standard.asking import KEY, Model, model

if TYPE_CHECKING:
    from collections.abc import Iterator

TWO = {
    **skill("merge-sheets"),
    **skill("split-sheets", description="Splits sheets. Use when a table is too long."),
    ".skillgate.yaml": "near-misses: 2\n",
}
MOSTLY_LOADED = {".skillgate.yaml": "near-misses: 2\nmin-activation: 0.9\n"}
FEW = {"simulations": "5", "provider": "scripted"}
WORLD = "world: {seed: 7, activation: {should: 1.0, near_miss: 0.0}}"


@pytest.fixture
def repository(tmp_path: Path) -> PullRequest:
    folder = tmp_path / "repository"
    folder.mkdir()
    return PullRequest(folder=folder)


@pytest.fixture
def demo() -> Iterator[Model]:
    with model(WORLD) as one:
        yield one


def changed(repository: PullRequest, base: dict[str, str] | None = None, **more: str | None) -> None:
    repository.base({**TWO, **(base or {})})
    repository.change({**skill("merge-sheets", body="\nMore of it.\n"), **more})


def on_schedule(repository: PullRequest) -> None:
    repository.base(TWO)
    repository.name, repository.event = "schedule", {"schedule": "23 4 * * 1"}


def layers(report: Any, name: str) -> dict[str, Any]:
    return {
        one["skill"]["path"]: layer for one in report["results"] for layer in one["layers"] if layer["name"] == name
    }


class TestDepth:
    def test_deep_simulates_the_touched_skill_alone_on_one_set_of_prompts(self, repository: PullRequest) -> None:
        changed(repository)
        ran = repository.run(depth="deep", fail_on="error", **FEW)
        report = ran.document("report.json")
        assert (ran.code, report["depth"]) == (0, "deep"), ran.outputs["reasons"]
        found = layers(report, "montecarlo")
        assert list(found) == ["skills/merge-sheets"]
        assert found["skills/merge-sheets"]["simulations"] == 5

    @pytest.mark.parametrize(("inputs", "why"), [
        ({"simulations": "4"}, "simulations"),
        ({"simulations": "5.5"}, "simulations"),
        ({"judges": "0"}, "judges"),
        ({"max_drop": "much"}, "max-drop"),
        ({"shard": "5/4"}, "shard"),
        ({"shard": "1/1001"}, "shard"),
        ({"regression_issue": "perhaps"}, "regression-issue"),
        ({"certificate": "../c.json"}, "certificate"),
        ({"badges": "skills"}, "badges"),
        ({"certificate": "skills/merge-sheets/SKILL.md"}, "SKILL.md"),
    ])  # fmt: skip
    def test_inputs_that_do_not_do_are_refused_before_anything_is_asked(
        self, repository: PullRequest, inputs: dict[str, str], why: str
    ) -> None:
        changed(repository)
        ran = repository.run(depth="deep", **{**FEW, **inputs})
        assert ran.code == 2
        assert why in ran.outputs["reasons"]

    def test_bounds_of_sessions_fail_what_misses_them(self, repository: PullRequest) -> None:
        changed(repository, MOSTLY_LOADED)
        with model("world: {seed: 7, activation: {should: 0.0, near_miss: 0.0}}") as never:
            repository.environ = {"ANTHROPIC_BASE_URL": never.server.base_url, "ANTHROPIC_API_KEY": KEY}
            ran = repository.run(depth="deep", **{**FEW, "provider": "anthropic"})
        assert ran.code == 1
        assert "loaded in 0 of 5 sessions" in ran.outputs["reasons"]

    def test_where_no_session_is_simulated_a_bound_of_sessions_alone_gates_nothing(
        self, repository: PullRequest
    ) -> None:
        changed(repository, MOSTLY_LOADED)
        ran = repository.run()
        assert ran.code == 0
        assert any("min-activation" in notice for notice in ran.run["notices"])

    def test_a_budget_that_does_not_suffice_is_said_first(self, repository: PullRequest, demo: Model) -> None:
        changed(repository)
        repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
        ran = repository.run(depth="deep", max_cost_usd="0.05", **{**FEW, "provider": "anthropic"})
        assert ran.code != 0
        assert ran.run["reasons"][0].startswith("budget: ")
        assert "max-cost-usd" in ran.run["reasons"][0]
        told = [line for line in ran.log.splitlines() if "skillgate:" in line]
        assert "budget" in told[0]
        assert "budget" in ran.summary[:600]


class TestShards:
    def test_reports_of_all_shards_are_told_as_one(self, repository: PullRequest) -> None:
        few = {**FEW, "simulations": "24"}
        on_schedule(repository)
        for number in (1, 2):
            ran = repository.run(
                depth="deep", shard=f"{number}/2", baseline="none", report_dir=f"part-{number}", fail_on="error", **few
            )
            part = json.loads((repository.folder / f"part-{number}/report.json").read_text())
            assert part["shard"] == f"{number}/2", ran.outputs["reasons"]
            assert len(layers(part, "montecarlo")) == 1
        whole = repository.run(
            depth="deep", baseline="none", reports="part-1/report.json\npart-2/report.json", fail_on="error", **few
        )
        assert whole.code == 0, whole.outputs["reasons"]
        joined = whole.document("report.json")
        assert joined.get("shard") is None
        alone = repository.run(depth="deep", baseline="none", fail_on="error", **few).document("report.json")
        assert [one["composite"] for one in joined["results"]] == [one["composite"] for one in alone["results"]]
        assert joined["summary"] == alone["summary"]
        assert all(one["content"].startswith("sha256:") for one in joined["results"])

    def test_a_budget_that_ended_shards_is_said_first_of_the_whole_run(
        self, repository: PullRequest, demo: Model
    ) -> None:
        on_schedule(repository)
        repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
        few = {**FEW, "provider": "anthropic"}
        for number in (1, 2):
            repository.run(
                depth="deep", shard=f"{number}/2", baseline="none", report_dir=f"p{number}", max_cost_usd="0.01", **few
            )
        ran = repository.run(depth="deep", baseline="none", reports="p1/report.json\np2/report.json")
        assert (ran.code, ran.outputs["result"]) == (1, "fail")
        assert ran.run["reasons"][0].startswith("budget: ")
        assert "2 of 2 skills" in ran.run["reasons"][0]

    def test_a_missing_shard_is_refused(self, repository: PullRequest) -> None:
        on_schedule(repository)
        repository.run(shard="1/2", baseline="none", report_dir="part-1")
        ran = repository.run(baseline="none", reports="part-1/report.json")
        assert ran.code == 2
        assert "2/2" in ran.outputs["reasons"]

    def test_a_pull_request_cannot_bring_reports(self, repository: PullRequest) -> None:
        changed(repository)
        ran = repository.run(reports="part-1/report.json")
        assert ran.code == 2
        assert "input reports" in ran.outputs["reasons"]

    def test_reports_outside_of_the_workspace_are_refused(self, repository: PullRequest) -> None:
        on_schedule(repository)
        ran = repository.run(reports="../report.json")
        assert ran.code == 2


class TestTrend:
    def kept(self, repository: PullRequest, name: str, text: str) -> None:
        """Evaluate a skill with a body, and keep the report."""
        place = repository.folder / "skills/merge-sheets/SKILL.md"
        place.write_text(text, encoding="utf-8")
        repository.run(baseline="none", report_dir=name, fail_on="never")

    def test_what_got_worse_than_the_report_before_fails_and_what_did_not_passes(self, repository: PullRequest) -> None:
        on_schedule(repository)
        good = (repository.folder / "skills/merge-sheets/SKILL.md").read_text(encoding="utf-8")
        self.kept(repository, "good", good)
        self.kept(repository, "poor", good[: len(good) // 4])
        worse = repository.run(reports="poor/report.json", baseline="report:good/report.json")
        assert (worse.code, worse.outputs["result"]) == (1, "fail")
        assert "merge-sheets" in worse.outputs["reasons"]
        assert worse.document("diff.json")["summary"]["regressions"] == 1
        better = repository.run(reports="good/report.json", baseline="report:poor/report.json")
        assert (better.code, better.outputs["result"]) == (0, "pass"), better.outputs["reasons"]
        shown = repository.run(reports="poor/report.json", baseline="report:good/report.json", fail_on="never")
        assert shown.code == 0

    def test_numbers_that_mean_something_else_are_not_compared_and_that_is_said(self, repository: PullRequest) -> None:
        on_schedule(repository)
        repository.run(baseline="none", report_dir="before")
        place = repository.folder / "before/report.json"
        document = json.loads(place.read_text())
        place.write_text(json.dumps({**document, "models": ["another-model"]}))
        repository.run(baseline="none", report_dir="now")
        ran = repository.run(reports="now/report.json", baseline="report:before/report.json")
        assert ran.code == 0
        assert any("not compared" in notice and "models" in notice for notice in ran.run["notices"])
        assert not (repository.folder / "skillgate-report/diff.json").exists()

    def test_a_baseline_that_is_missing_is_no_pass(self, repository: PullRequest) -> None:
        on_schedule(repository)
        repository.run(baseline="none", report_dir="now")
        assert repository.run(reports="now/report.json", baseline="report:gone.json").code == 2


def built(folder: Path, cwd: Path) -> None:
    """Build a corpus of two skills."""
    import io

    from skillgate.cli.main import main

    environ = {"HOME": str(cwd)}
    streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    argv = ["corpus", "build", "skills", "--corpus-dir", str(folder)]
    code = main(argv, environ=environ, cwd=str(cwd), **streams)
    assert code == 0, streams["stderr"].getvalue()


class TestCorpus:
    @pytest.fixture
    def made(self, tmp_path: Path) -> Path:
        source = tmp_path / "source"
        for number in range(3):
            text = next(iter(skill(f"old-{number}", body=f"\nNumber {number} of them.\n").values()))
            place = source / f"skills/old-{number}/SKILL.md"
            place.parent.mkdir(parents=True)
            place.write_text(text.replace("merge-sheets", f"old-{number}"), encoding="utf-8")
            (place.parent / "references").mkdir()
            (place.parent / "references/columns.md").write_text("# Columns\n\nWhat each is.\n")
        built(tmp_path / "corpus", source)
        return tmp_path / "corpus"

    def ranked(self, repository: PullRequest, **inputs: str) -> tuple[Any, Any]:
        ran = repository.run(depth="certify", fail_on="error", judges="1", **{**FEW, **inputs})
        found = layers(ran.document("report.json"), "ranking") if ran.code in (0, 1, 3) else {}
        return ran, found.get("skills/merge-sheets")

    def test_a_change_is_ranked_against_the_corpus_of_its_base(self, repository: PullRequest, made: Path) -> None:
        shutil.copytree(made, repository.folder / "corpus")
        repository.base({**TWO, ".skillgate.yaml": "corpus-dir: corpus\n"})
        index = json.loads((repository.folder / "corpus/index.json").read_text())
        one = {**index, "members": index["members"][:1]}
        repository.change({**skill("merge-sheets", body="\nMore.\n"), "corpus/index.json": json.dumps(one)})
        ran, layer = self.ranked(repository)
        assert layer["corpus_size"] == 3
        assert any(change.startswith("corpus-dir corpus: 1 file") for change in ran.run["policy_changes"])

    def test_a_corpus_that_the_change_brings_is_used_after_the_merge(self, repository: PullRequest, made: Path) -> None:
        repository.base({**TWO, ".skillgate.yaml": "corpus-dir: corpus\n"})
        shutil.copytree(made, repository.folder / "corpus")
        repository.change(skill("merge-sheets", body="\nMore.\n"))
        ran, layer = self.ranked(repository)
        assert layer is not None
        assert layer["elo"] is None
        assert any("is new in this change" in notice for notice in ran.run["notices"])

    def test_a_link_in_its_place_is_refused(self, repository: PullRequest, made: Path) -> None:
        repository.base({**TWO, ".skillgate.yaml": "corpus-dir: corpus\n"})
        repository.change(skill("merge-sheets", body="\nMore.\n"))
        (repository.folder / "corpus").symlink_to(made)
        ran, _ = self.ranked(repository)
        assert ran.code == 2
        assert "symbolic link" in ran.outputs["reasons"]

    def test_one_outside_of_the_workspace_is_used_as_it_is(self, repository: PullRequest, made: Path) -> None:
        changed(repository)
        ran, layer = self.ranked(repository, corpus_dir=str(made))
        assert layer is not None, ran.outputs["reasons"]
        assert layer["corpus_size"] == 3
        assert ran.run["policy_changes"] == []


class TestCertificates:
    def test_a_scheduled_run_writes_certificate_and_badges(self, repository: PullRequest) -> None:
        on_schedule(repository)
        ran = repository.run(baseline="none", certificate="out/certificate.json", badges="out/badges")
        assert ran.code == 0, ran.outputs["reasons"]
        document = json.loads((repository.folder / "out/certificate.json").read_text())
        assert document["kind"] == "certificate"
        assert {one["path"] for one in document["skills"]} == {"skills/merge-sheets", "skills/split-sheets"}
        names = {path.name for path in (repository.folder / "out/badges").iterdir()}
        assert {"merge-sheets.svg", "merge-sheets.json"} <= names
        assert ran.outputs["certificate-file"] == "out/certificate.json"
        assert ran.outputs["badges-dir"] == "out/badges"

    def test_what_git_knows_is_not_overwritten(self, repository: PullRequest) -> None:
        on_schedule(repository)
        repository.write({"certificate.json": "{}"})
        commit(repository.folder)
        ran = repository.run(baseline="none", certificate="certificate.json")
        assert ran.code == 2
        assert (repository.folder / "certificate.json").read_text() == "{}"


class TestIssue:
    def test_a_regression_opens_one_and_its_end_closes_it(
        self, repository: PullRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("openapi_core")
        pytest.importorskip("github")
        from tests.github.fake_github import TOKEN, FakeGitHub

        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        on_schedule(repository)
        good = (repository.folder / "skills/merge-sheets/SKILL.md").read_text(encoding="utf-8")
        trend = TestTrend()
        trend.kept(repository, "good", good)
        trend.kept(repository, "poor", good[: len(good) // 4])
        with FakeGitHub() as fake:
            repository.environ = {"INPUT_GITHUB-TOKEN": TOKEN, "GITHUB_API_URL": fake.url}

            def night(now: str) -> Any:
                return repository.run(
                    reports=f"{now}/report.json", baseline="report:good/report.json", regression_issue="true"
                )

            first = night("poor")
            assert (first.code, first.outputs["issue-status"]) == (1, "created"), first.log
            (only,) = fake.issues
            assert first.outputs["issue-url"] == only["html_url"]
            assert "merge-sheets" in only["body"]
            assert night("poor").outputs["issue-status"] in ("unchanged", "updated")
            assert night("good").outputs["issue-status"] == "closed"
            assert [one["state"] for one in fake.issues] == ["closed"]
        assert fake.violations == []

    def test_a_pull_request_opens_none(self, repository: PullRequest) -> None:
        changed(repository)
        ran = repository.run(regression_issue="true")
        assert (ran.code, ran.outputs["issue-status"]) == (0, "skipped")
