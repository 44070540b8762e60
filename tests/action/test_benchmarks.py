"""A benchmark in a pull request: the base's tasks, on the skills of the change and on the base's, told and gated."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.action.pull_request import PullRequest, skill
from tests.bench.rights import without_mounting

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("numpy", reason="numpy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

REPLY = """\
import json, sys
request = json.load(sys.stdin)
number = request["params"]["n"]
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": RESULT}))
"""
DOUBLES = REPLY.replace("RESULT", "2 * number")
BROKEN = REPLY.replace("RESULT", "2 * number if number < 4 else 0")


def tasks(count: int = 12) -> dict[str, str]:
    listed = [
        {"id": f"double-{n}", "inputData": {"n": n}, "expectedOutput": {"type": "exact", "value": 2 * n}}
        for n in range(count)
    ]
    whole = {"id": "doubles", "name": "Doubles", "version": "1.0.0", "tasks": listed}
    return {"benchmarks/doubles.json": json.dumps(whole)}


def program(source: str = DOUBLES, name: str = "doubler", **more: Any) -> dict[str, str]:
    spec = {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "python3 skill.py",
        **more,
    }
    return {f"programs/{name}/skill.json": json.dumps(spec), f"programs/{name}/skill.py": source}


INPUTS = {"benchmark": "doubles", "skills": "programs", "allow_exec": "true"}


@pytest.fixture
def repository(tmp_path: Path) -> PullRequest:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), **program(), **program(name="other"), **tasks()})
    return made


def test_a_skill_that_got_worse_fails_the_change_and_the_tasks_are_told(repository: PullRequest) -> None:
    repository.change(program(BROKEN))
    ran = repository.run(**INPUTS)
    assert ran.code == 1, ran.err
    assert ran.outputs["result"] == "fail"
    assert (ran.outputs["completion"], ran.outputs["broken-tasks"]) == ("0.3333", "8")
    assert ran.run["reasons"][0].startswith(
        "benchmark: doubler on doubles got worse: 8 of 12 tasks are broken in 3 of 3 runs: double-4"
    )
    skills = [one["skillId"] for one in ran.document("benchmark.json")["reports"]]
    assert skills == ["doubler"]  # the other is as it was
    assert ran.document("benchmark-diff.json")["verdict"] == "fail"
    summary = ran.summary
    assert "#### Benchmark doubles" in summary
    assert "| completed | 1.000 | 0.333 |" in summary
    assert "33.3 %" in summary
    assert "8 no longer pass" in summary
    assert "`double-7`" in summary


def test_a_change_that_keeps_its_tasks_passes(repository: PullRequest) -> None:
    repository.change(program(DOUBLES + "# as before\n"))
    ran = repository.run(**INPUTS, min_completion="1")
    assert (ran.code, ran.outputs["completion"], ran.outputs["broken-tasks"]) == (0, "1.0000", "0"), ran.err
    assert json.loads(ran.outputs["completions"]) == {"doubler": 1.0}


def test_a_skill_that_is_new_has_no_baseline_and_is_gated_by_its_bounds(repository: PullRequest) -> None:
    repository.change(program(BROKEN, name="third"))
    ran = repository.run(**INPUTS, min_completion="0.9")
    assert ran.code == 1
    assert "benchmark: third on doubles: completion rate" in ran.run["reasons"][0]
    assert ran.outputs["broken-tasks"] == ""
    assert "no baseline" in ran.summary
    assert repository.run(**INPUTS).code == 0


def test_what_is_not_touched_is_not_run(repository: PullRequest) -> None:
    repository.change(skill("merge-sheets", body="\nKeep the newest of two rows that share a key.\n"))
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["completion"]) == (0, ""), ran.err
    assert "the change touches no skill that it could run" in ran.err
    everything = repository.run(**INPUTS, changed_only="false")
    assert sorted(json.loads(everything.outputs["completions"])) == ["doubler", "other"]


@pytest.mark.parametrize(
    "way",
    ["change the id or version", "another directory", "change the id or version and version"],
)
def test_a_skill_keeps_its_baseline_whatever_it_is_called(repository: PullRequest, way: str) -> None:
    files: dict[str, str | None] = dict(program(BROKEN))
    main = "programs/doubler/skill.json"
    spec = json.loads(str(files[main]))
    if "id" in way:
        spec |= {"id": "twice"}
    if "version" in way:
        spec |= {"version": "9.0.0"}
    files[main] = json.dumps(spec)
    if "directory" in way:
        files = {path.replace("/doubler/", "/moved/"): text for path, text in files.items()}
        files["programs/doubler"] = None
    repository.change(files)
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["broken-tasks"]) == (1, "8"), ran.err


@pytest.mark.parametrize("place", [".lib/core.py", "core.pyc", "node_modules/core.js"])
def test_no_file_of_a_skill_changes_unseen(repository: PullRequest, place: str) -> None:
    """Also not where a tool keeps its own: a program may read its code from anywhere."""
    loads = f"exec(open({place!r}).read())\n"
    repository.base({"programs/doubler/skill.py": loads, f"programs/doubler/{place}": DOUBLES})
    repository.change({f"programs/doubler/{place}": BROKEN})
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["broken-tasks"]) == (1, "8"), ran.err


def test_what_lies_beside_a_skill_is_there_for_its_base_too() -> None:
    """A workspace that everybody may read, as on a runner; and a link to a directory is looked into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        made = PullRequest(folder=Path(folder) / "work")
        made.write({"shared/core.py": DOUBLES, **program("exec(open('lib/core.py').read())\n"), **tasks()})
        (made.folder / "programs" / "doubler" / "lib").symlink_to("../../shared")
        made.base({})
        made.change({"shared/core.py": BROKEN})
        ran = made.run(**INPUTS)
        assert (ran.code, ran.outputs["broken-tasks"]) == (1, "8"), ran.err


def test_a_base_that_cannot_be_run_is_told_and_can_be_mended(repository: PullRequest) -> None:
    repository.base(program(DOUBLES, adapter={"passEnv": ["SKILL_NOT_SET"]}))
    repository.change(program(DOUBLES))
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["completions"]) == (0, '{"doubler": 1.0}'), ran.err
    assert any("is left out of the baseline" in notice and "SKILL_NOT_SET" in notice for notice in ran.run["notices"])


@pytest.mark.parametrize("way", ["prose", "in front"])
def test_a_skill_is_not_taken_from_its_benchmark_while_it_stays(repository: PullRequest, way: str) -> None:
    main = "programs/doubler/skill.json"
    prose = "---\nname: doubler\ndescription: Doubles numbers.\n---\nDouble it.\n"
    if way == "prose":
        repository.change({main: None, "programs/doubler/SKILL.md": prose})
    else:
        front = program(name="front")
        changed = {"programs/skill.json": front["programs/front/skill.json"], "programs/skill.py": DOUBLES}
        repository.change({**program(BROKEN), **changed})
    ran = repository.run(**INPUTS)
    assert ran.code == 1, ran.err
    assert "doubler in programs/doubler still exists but would no longer run" in ran.outputs["reasons"]


def test_a_removed_skill_is_told_and_fails_nothing(repository: PullRequest) -> None:
    repository.change({"programs/doubler": None})
    for skills in ("programs", "programs/doubler\nprograms/other"):
        ran = repository.run(**{**INPUTS, "skills": skills})
        assert ran.code == 0, ran.err
        assert "benchmark: doubler in programs/doubler was removed" in ran.run["notices"]


def test_paths_above_the_working_directory_have_a_base_too(repository: PullRequest) -> None:
    repository.base({"sub/notes.txt": "nothing"})
    repository.change(program(BROKEN))
    above = {"working_directory": "sub", "skills": "../programs", "benchmark": "../benchmarks/doubles.json"}
    ran = repository.run(**{**INPUTS, **above})
    assert (ran.code, ran.outputs["broken-tasks"]) == (1, "8"), ran.err


def test_what_paths_leave_out_is_not_run(repository: PullRequest) -> None:
    repository.change({**program(BROKEN), **program(DOUBLES + "# more\n", name="other")})
    ran = repository.run(benchmark="doubles", allow_exec="true", paths="programs\n!programs/doubler")
    assert (ran.code, ran.outputs["completions"]) == (0, '{"other": 1.0}'), ran.err


def test_paths_that_only_leave_out_leave_out_of_all_that_is_checked_out(repository: PullRequest) -> None:
    repository.change({**program(BROKEN), **program(BROKEN, name="other")})
    ran = repository.run(benchmark="doubles", allow_exec="true", paths="!programs/other")
    assert ran.code == 1, ran.outputs["reasons"]
    assert json.loads(ran.outputs["completions"]) == {"doubler": pytest.approx(1 / 3, abs=0.001)}


def test_a_change_gives_itself_no_more_tries(repository: PullRequest) -> None:
    """A program that fails nine times of ten passes where it is asked often enough."""
    unsure = "import os\nif os.getpid() % 10: raise SystemExit(1)\n" + DOUBLES
    repository.change(program(unsure, adapter={"retries": 60}))
    ran = repository.run(**INPUTS)
    assert ran.code == 1, ran.err
    results = [result for one in ran.document("benchmark.json")["reports"] for result in one["taskResults"]]
    assert max(len(result.get("attempts", [])) for result in results) <= 2


def test_tasks_are_those_of_the_base(repository: PullRequest) -> None:
    """A change cannot make its tasks easier, and one that brings a benchmark is not gated by it."""
    easier = json.loads(tasks()["benchmarks/doubles.json"])
    for task in easier["tasks"]:
        task["expectedOutput"] = {"type": "contains", "keywords": ["0"]}
    repository.change({**program(BROKEN), "benchmarks/doubles.json": json.dumps(easier)})
    ran = repository.run(**INPUTS)
    assert (ran.code, ran.outputs["completion"]) == (1, "0.3333")
    by_path = repository.run(**{**INPUTS, "benchmark": "benchmarks/doubles.json"})
    assert (by_path.code, by_path.outputs["completion"]) == (1, "0.3333")


def test_a_benchmark_that_comes_with_the_change_is_run_after_the_merge(repository: PullRequest) -> None:
    repository.change({**program(BROKEN), "benchmarks/more.json": tasks()["benchmarks/doubles.json"]})
    ran = repository.run(**{**INPUTS, "benchmark": "benchmarks/more.json"})
    assert (ran.code, ran.outputs["completion"]) == (0, "")
    assert "the benchmark benchmarks/more.json is new in this change; it runs after the merge" in ran.err


def test_programs_are_not_started_unless_allowed(repository: PullRequest) -> None:
    marker = repository.folder.parent / "ran"
    repository.change(program(f"open({str(marker)!r}, 'w').close()\n" + DOUBLES))
    ran = repository.run(benchmark="doubles", skills="programs")
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert "allow-exec: true" in ran.outputs["reasons"]
    assert not marker.exists()


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Give a directory that everybody can enter, as a runner's temporary one."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_program_learns_nothing_of_the_run(repository: PullRequest, temporary: Path) -> None:
    """No variable of the step, no token in git's settings, nothing of the runner's files reaches it."""
    spy = """\
import glob, json, os, sys
request = json.load(sys.stdin)
seen = dict(os.environ)
for place in [*glob.glob("/proc/[0-9]*/environ"), *PLACES]:
    try:
        with open(place, "rb") as file:
            seen[place] = file.read().decode("latin-1")
    except OSError:
        pass
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": seen}))
"""
    config = repository.folder / ".git" / "config"
    with config.open("a", encoding="utf-8") as file:
        file.write('[http "https://github.example/"]\n\textraheader = AUTHORIZATION: basic c2VjcmV0LW9mLWdpdA==\n')
    kept = temporary / "git-credentials.config"  # where newer checkouts keep the token
    kept.write_text("AUTHORIZATION: basic c2VjcmV0LW9mLWdpdA==\n", encoding="utf-8")
    places = [str(config), str(kept)]
    repository.environ = {
        "RUNNER_TEMP": str(kept.parent),
        "INPUT_GITHUB-TOKEN": "ghs_0123456789abcdefghijklmnopqrstuvwxyz",
        "MY_API_KEY": "k" * 24,
    }
    repository.change(program(spy.replace("PLACES", repr(places))))
    ran = repository.run(**INPUTS)
    assert ran.outputs["completion"] == "0.0000", ran.err
    text = json.dumps(ran.document("benchmark.json"))
    if os.geteuid() == 0:
        assert "c2VjcmV0" not in text
    assert "ghs_0123" not in text
    assert "kkkkkkkk" not in text
    assert "GITHUB_" not in text
    for folder in (config.parent, kept.parent):
        assert oct(folder.stat().st_mode & 0o777) == "0o755"


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"benchmark": "doubles", "skills": "../elsewhere"}, "leads out of the workspace"),
        ({"benchmark": "../doubles.json"}, "leads out of the workspace"),
        ({"benchmark": "nothing-there"}, "there is no benchmark 'nothing-there'"),
        ({"benchmark": "doubles", "runs": "1.5"}, "expected a whole number"),
        ({"benchmark": "doubles", "runs": "0"}, "input runs"),
        ({"benchmark": "doubles", "min_completion": "80"}, "input min-completion"),
        ({"benchmark": "doubles", "skills": "skills/none"}, "does not exist"),
    ],
)
def test_inputs_that_do_not_do_are_refused(repository: PullRequest, inputs: dict[str, str], told: str) -> None:
    repository.change(program(BROKEN))
    ran = repository.run(**{"skills": "programs", "allow_exec": "true", **inputs})
    assert ran.code == 2
    assert told in ran.outputs["reasons"]


def test_a_skill_that_is_a_link_out_of_the_repository_is_not_read(repository: PullRequest) -> None:
    secret = repository.folder.parent / "secret.json"
    secret.write_text(json.dumps({"id": "SECRET-TEXT", "adapterType": "subprocess"}), encoding="utf-8")
    repository.change(program(BROKEN))
    place = repository.folder / "programs" / "doubler" / "skill.json"
    place.unlink()
    place.symlink_to(secret)
    ran = repository.run(**INPUTS)
    assert ran.code == 2
    assert "is a link out of the repository" in ran.outputs["reasons"]
    assert "SECRET-TEXT" not in ran.log + ran.err + ran.summary


def test_inputs_without_a_benchmark_are_told_to_do_nothing(repository: PullRequest) -> None:
    repository.change(program(BROKEN))
    ran = repository.run(skills="programs")
    assert ran.code == 0
    assert "input skills has no effect without the input benchmark" in ran.err


def test_a_gate_that_is_not_listed_is_told_and_fails_nothing(repository: PullRequest) -> None:
    repository.change(program(BROKEN))
    ran = repository.run(**INPUTS, fail_on="error")
    assert ran.code == 0
    assert any("got worse" in notice for notice in ran.run["notices"])


def test_a_repository_of_programs_alone_is_gated(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**program(), **tasks()})
    made.change(program(BROKEN))
    ran = made.run(**INPUTS)
    assert (ran.code, ran.outputs["broken-tasks"]) == (1, "8"), ran.err


def test_hostile_names_are_inert_in_the_comment(repository: PullRequest) -> None:
    answer = DOUBLES.replace("2 * number", '"<img src=x onerror=alert(1)> @octocat | ![](http://evil.example)"')
    repository.change(program(answer))
    ran = repository.run(**INPUTS)
    assert ran.code == 1
    for text in ("<img src=x", "![](http://evil.example", " @octocat"):
        assert text not in ran.summary


def test_another_run_tells_it_too(repository: PullRequest) -> None:
    """The documents of the first half hold the benchmark, and the second reads them as data."""
    from skillgate.action.comment.comment import comment
    from skillgate.action.github import Event, WorkflowRun
    from skillgate.action.main import read_artifact

    repository.change(program(BROKEN))
    ran = repository.run(**INPUTS)
    first = WorkflowRun(id=3, head_sha="a" * 40, event="pull_request", conclusion="failure")
    event = Event(name="workflow_run", workflow_run=first)
    subject = read_artifact(str(repository.folder), "skillgate-report", event, key="default")
    assert ran.code == 1
    assert "8 no longer pass" in comment(subject)
    place = repository.folder / "skillgate-report" / "benchmark.json"
    place.write_text('{"kind": "bench"}', encoding="utf-8")
    with pytest.raises(Exception, match="is not the expected document"):
        read_artifact(str(repository.folder), "skillgate-report", event, key="default")


def test_results_are_kept_where_asked(repository: PullRequest) -> None:
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    from tests.bench.made import run

    repository.change({**program(BROKEN), **skill("merge-sheets", body="\nKeep the newest of two equal rows.\n")})
    ran = repository.run(**INPUTS, store="kept/store.db")
    assert ran.code == 1, ran.err
    for kind, name in (("bench", "doubler"), ("score", "merge-sheets")):
        done = run(repository.folder, "history", "--store", "kept/store.db", "--kind", kind, "--json")
        assert (done.code, name in done.out) == (0, True), done.err


def test_a_store_that_the_change_brings_is_refused(repository: PullRequest) -> None:
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    repository.change({**program(BROKEN), "kept/store.db": "anything"})
    ran = repository.run(**INPUTS, store="kept/store.db")
    assert ran.code == 2
    assert "has files of the repository" in ran.outputs["reasons"]
    ran = repository.run(**INPUTS, store="../store.db")
    assert "leads out of the workspace" in ran.outputs["reasons"]
    ran = repository.run(**INPUTS, store="postgresql://me:s3cret-word@db.example/x")
    assert "PGPASSWORD" in ran.outputs["reasons"]
    assert "s3cret-word" not in ran.log + ran.err + ran.summary + ran.outputs["reasons"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root runs calls as other users")
def test_the_comment_says_that_answers_could_be_read(repository: PullRequest) -> None:
    repository.change(program(BROKEN))
    ran = without_mounting(lambda: repository.run(**INPUTS))
    readable = ran.document("benchmark.json")["run"]["answersReadable"]
    assert ("programs could read the expected answers" in ran.summary) is readable


def test_running_as_the_caller_is_refused(repository: PullRequest) -> None:
    repository.change(program(BROKEN))
    ran = repository.run(**INPUTS, run_as_caller="true")
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert "input run-as-caller: only for the command line" in ran.outputs["reasons"]
