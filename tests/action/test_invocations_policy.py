"""Whose gate and whose record hold: a pull request changes neither for itself, and nothing in a record comes alive."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.action.pull_request import PullRequest, skill
from tests.action.recorded import INPUTS, log, records, repository, touching
from tests.architecture.source import ROOT
from tests.cli.running import commit
from tests.invocations.transcripts import SESSION, Transcript

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

SKILL = "skills/merge-sheets"
GATES = "gates:\n  ours: {min_score: %d, min_invocations: 5}\n"
HOSTILE = "<img src=x onerror=alert(1)> @octocat | ![](http://evil.example) ::error::x ##[error]y"


def test_a_change_cannot_lower_its_gate(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False), {".skillgate.yaml": GATES % 70})
    made.change({**touching(), ".skillgate.yaml": GATES % 1})
    ran = made.run(**{**INPUTS, "gate": "ours"})
    assert ran.code == 1, ran.err
    assert any("gates.ours.min_score" in line for line in ran.run["policy_changes"])


@pytest.mark.parametrize("setting", ["rubric: '1.0'", "log-days: 3650"])
def test_rubric_and_window_are_those_of_the_base(tmp_path: Path, setting: str) -> None:
    made = repository(tmp_path, log("merge-sheets", days_ago=40), {".skillgate.yaml": "log-days: 20\n"})
    made.change({**touching(), ".skillgate.yaml": f"{setting}\n"})
    document = made.run(**INPUTS).document("invocations.json")
    assert (document["rubric_version"], document["days"], document["invocations"]) == ("1.1", 20, 0)


def test_a_gate_that_comes_with_the_change_is_asked_after_the_merge(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change({**touching(), ".skillgate.yaml": GATES % 70})
    ran = made.run(**{**INPUTS, "gate": "ours"})
    assert (ran.code, ran.outputs["gates"]) == (0, ""), ran.err
    assert "the gate ours is new in this change; it applies after the merge" in ran.run["notices"]
    assert made.run(**{**INPUTS, "gate": "ours,publish"}).code == 1


@pytest.mark.parametrize("way", ["changed", "removed", "added beside", "a link in its place"])
def test_a_log_in_the_repository_is_the_bases(tmp_path: Path, way: str) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    better = log("merge-sheets", 400)
    files: dict[str, str | None] = {**touching()}
    match way:
        case "changed":
            files["logs/runs.jsonl"] = better
        case "removed":
            files["logs"] = None
        case "added beside":
            files["logs/more.jsonl"] = better
        case _:
            made.write({"logs": None, "other/runs.jsonl": better})
            (made.folder / "logs").symlink_to("other")
    made.change(files)
    for place in ("logs", "logs/runs.jsonl"):
        ran = made.run(**{**INPUTS, "invocations": place})
        assert (ran.code, ran.document("invocations.json")["invocations"]) == (1, 12), ran.err


def test_a_log_that_comes_with_the_change_counts_after_the_merge(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base(skill("merge-sheets"))
    made.change({**touching(), "logs/runs.jsonl": log("merge-sheets", well=False)})
    ran = made.run(**INPUTS)
    assert (ran.code, ran.outputs["gates"]) == (0, ""), ran.err
    assert "invocations: logs/runs.jsonl is new in this change; it counts after the merge" in ran.run["notices"]


def test_what_git_does_not_know_is_read_where_it_lies_beside_what_it_knows(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets"))
    made.change({**touching(), "logs/brought.jsonl": log("merge-sheets", 300, days_ago=2)})
    made.write({"logs/downloaded.jsonl": log("merge-sheets", 20, well=False, days_ago=3)})
    ran = made.run(**{**INPUTS, "invocations": "logs"})
    assert (ran.code, ran.document("invocations.json")["invocations"]) == (1, 32), ran.err


@pytest.mark.parametrize("place", ["kept", f"kept/{SESSION}.jsonl"])
def test_a_transcript_of_a_sub_agent_that_the_change_brings_is_not_read_beside_one_that_git_does_not_know(
    tmp_path: Path, place: str
) -> None:
    session = Transcript().prompt().skill("merge-sheets", "toolu_1").agent_call().agent_done("a1").say().prompt()
    agent = Transcript(agent="a1", tag="s").user("count it").say()
    made = PullRequest(folder=tmp_path / "work")
    made.base(skill("merge-sheets"))
    made.change({**touching(), f"kept/{SESSION}/subagents/agent-a1.jsonl": agent.data.decode()})
    made.write({f"kept/{SESSION}.jsonl": session.data.decode()})
    ran = made.run(**{**INPUTS, "invocations": place})
    assert any("a sub-agent's transcript is missing or nested too deep" in line for line in ran.run["notices"])


@pytest.mark.parametrize("way", ["name", "directory", "both"])
def test_a_skill_keeps_its_record_whatever_it_is_called(tmp_path: Path, way: str) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False) + log("join-sheets"))
    name = "merge-sheets" if way == "directory" else "join-sheets"
    folder = "skills/merge-sheets" if way == "name" else "tools/join-sheets"
    text = touching()[f"{SKILL}/SKILL.md"].replace("name: merge-sheets", f"name: {name}")
    moved: dict[str, str | None] = {SKILL: None, f"{folder}/references/columns.md": "# Columns\n\nWhat each is.\n"}
    made.change({**moved, f"{folder}/SKILL.md": text} if way != "name" else {f"{SKILL}/SKILL.md": text})
    ran = made.run(**INPUTS, fail_on="unmeasured")
    assert (ran.code, json.loads(ran.outputs["gates"])) == (1, {folder: {"publish": "failed"}}), ran.err


def test_a_plugin_that_is_renamed_keeps_the_record(tmp_path: Path) -> None:
    manifest = ".claude-plugin/plugin.json"
    runs = log("sheets:merge-sheets", well=False) + log("tables:merge-sheets")
    made = repository(tmp_path, runs, {manifest: json.dumps({"name": "sheets"})})
    made.change({**touching(), manifest: json.dumps({"name": "tables"})})
    assert made.run(**INPUTS).code == 1


def test_no_path_leads_through_a_link_or_into_another_repository(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(log("SECRET-NAME"), encoding="utf-8")
    made = repository(tmp_path, log("merge-sheets"))
    (made.folder / "out").symlink_to(secret)
    (made.folder / "in").symlink_to("logs")
    made.base({})
    made.change(touching())
    (made.folder / "new-link").symlink_to("logs/runs.jsonl")
    made.write({"nested/runs.jsonl": log("merge-sheets", 300)})
    commit(made.folder / "nested")
    for place, told in (
        ("out", "leads out of the workspace"),
        ("new-link", "a symbolic link, which a change may have made"),
        ("nested", "a nested repository"),
    ):
        ran = made.run(**{**INPUTS, "invocations": place})
        assert (ran.code, told in ran.outputs["reasons"]) == (2, True), (place, ran.outputs["reasons"])
        assert "SECRET-NAME" not in ran.log + ran.err + ran.summary
    assert made.run(**{**INPUTS, "invocations": "in"}).document("invocations.json")["invocations"] == 12


def test_a_store_that_the_change_brings_is_refused(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets"))
    made.change({**touching(), "kept/store.db": "anything"})
    ran = made.run(invocations="store", gate="publish", store="kept/store.db")
    assert (ran.code, "has files of the repository" in ran.outputs["reasons"]) == (2, True)


def test_nothing_that_a_record_says_comes_alive(tmp_path: Path) -> None:
    """Of names, ids and keys in a log, and of a gate's description."""
    gate = {"gates": {"ours": {"min_score": 99.9, "description": HOSTILE}}}
    rows: list[dict[str, Any]] = [{**one, "skill_category": HOSTILE} for one in records("merge-sheets")]
    rows += [{**one, HOSTILE: 1, "invocation_id": f"{HOSTILE}{number}"} for number, one in enumerate(rows)]
    rows += [{**rows[-1], "error_count": 5}, {"skill_name": HOSTILE, "timestamp": HOSTILE}]
    made = repository(tmp_path, "".join(f"{json.dumps(row)}\n" for row in rows), {".skillgate.yaml": json.dumps(gate)})
    made.change(touching())
    ran = made.run(**{**INPUTS, "gate": "ours"})
    assert ran.code == 1, ran.err
    for text in ("<img src=x", "![](http://evil.example", " @octocat"):
        assert text not in ran.summary
    for line in (ran.log + ran.err).split("\n"):
        assert not line.lstrip().startswith("::error::x")
        assert "##[error]y" not in line


def test_secrets_are_taken_out_of_all_that_is_told(tmp_path: Path) -> None:
    secret = "s3cret-word-of-the-job"
    runs = log("merge-sheets").replace('"analysis"', f'"{secret}"')
    made = repository(tmp_path, f'{{"skill_name": "x", "timestamp": "{secret}"}}\n{runs}')
    made.change(touching())
    made.environ = {"MY_TOKEN": secret}
    ran = made.run(**INPUTS)
    assert ran.code == 0, ran.err
    texts = [path.read_text(encoding="utf-8") for path in (ran.folder / "skillgate-report").iterdir()]
    assert "***" in ran.err
    assert all(secret not in text for text in (ran.log, ran.err, ran.summary, *ran.outputs.values(), *texts))


def test_another_run_tells_it_too(tmp_path: Path) -> None:
    """The documents of the first half hold the gates, and the second reads them as data."""
    from skillgate.action.comment.comment import comment
    from skillgate.action.github import Event, WorkflowRun
    from skillgate.action.main import read_artifact
    from skillgate.errors import UsageError

    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change(touching())
    assert made.run(**INPUTS).code == 1
    first = WorkflowRun(id=3, head_sha="a" * 40, event="pull_request", conclusion="failure")
    event = Event(name="workflow_run", workflow_run=first)
    place = made.folder / "skillgate-report" / "invocations.json"
    document = json.loads(place.read_text(encoding="utf-8"))
    document["gates"][0] |= {"skill": HOSTILE, "status": HOSTILE, "failures": [HOSTILE]}
    document |= {"invocations": 10**400, "rubric_version": HOSTILE}
    place.write_text(json.dumps(document), encoding="utf-8")
    told = comment(read_artifact(str(made.folder), "skillgate-report", event, key="default"))
    assert "Gates on recorded invocations" in told
    shown = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", told)  # but for code, which is inert
    for text in ("<img src=x", "![](http://evil.example", " @octocat"):
        assert text not in shown
    place.write_text('{"kind": "invocations"}', encoding="utf-8")
    with pytest.raises(UsageError, match="is not the expected document"):
        read_artifact(str(made.folder), "skillgate-report", event, key="default")


_WITHOUT = """
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == {name!r} else super().find_spec(name, path, target)
sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""


@pytest.mark.parametrize(("package", "extra"), [("sqlalchemy", "store"), ("scipy", "stats")])
def test_a_missing_package_is_one_clear_sentence(tmp_path: Path, package: str, extra: str) -> None:
    made = repository(tmp_path, log("merge-sheets"))
    done = _process(made, _WITHOUT.format(name=package), **INPUTS)
    sentence = f"{package} is not installed: pip install 'skillgate-action[{extra}]'"
    assert f"input gate: cannot read recorded invocations: {sentence}" in done.stdout


def test_a_run_without_gates_loads_nothing_of_them(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets"))
    done = _process(made, "import sys")
    loaded = set(done.stderr.split("\n")[-2].split())
    assert loaded <= {"skillgate.invocations", "skillgate.model.invocation_gate"}


def _process(made: PullRequest, first: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the Action in a process of its own, on a push, and name what it loaded of this in its last line."""
    code = (
        f"{first}\nfrom skillgate.cli.main import main\nmain(['action'])\n"
        "print(*(name for name in sys.modules if 'invocation' in name or name == 'sqlalchemy'), file=sys.stderr)"
    )
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(made.folder), "GITHUB_EVENT_NAME": "push"}
    environ |= {f"INPUT_{name.upper()}": value for name, value in {**inputs, "comment": "never"}.items()}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
