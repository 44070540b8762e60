"""Reading skills and benchmarks: every problem is told with its place, and nothing is guessed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.catalog import find_benchmark, listed, narrowed, packaged, packaged_ids, read_tasks, require_tasks
from skillgate.bench.loading import load_skills, read_skill
from skillgate.errors import UsageError
from skillgate.model.executable import AdapterType
from tests.architecture.source import ROOT
from tests.bench.made import benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path


def refused(call: Any, *words: str) -> str:
    with pytest.raises(UsageError) as raised:
        call()
    for word in words:
        assert word in str(raised.value)
    return str(raised.value)


def loading(cwd: Path, *paths: str, **options: Any) -> Any:
    return lambda: load_skills(paths, cwd=str(cwd), **options)


def test_a_file_and_its_directory_are_one_skill(tmp_path: Path) -> None:
    skill(tmp_path / "a")
    one, other = (load_skills([path], cwd=str(tmp_path)).found[0] for path in ("a", "a/skill.json"))
    assert one == other
    assert one.root == str(tmp_path / "a")


def test_one_given_twice_is_one_with_a_notice(tmp_path: Path) -> None:
    skill(tmp_path / "a")
    found = load_skills(["a", "a/skill.json"], cwd=str(tmp_path))
    assert len(found.found) == 1
    assert "once" in found.notices[0]


def test_a_path_that_is_missing_is_refused_beside_one_that_is_there(tmp_path: Path) -> None:
    skill(tmp_path / "a")
    refused(loading(tmp_path, "a", "b"), "b does not exist")


def test_json_that_is_broken_has_a_line(tmp_path: Path) -> None:
    folder = skill(tmp_path / "a")
    (folder / "skill.json").write_text('{\n "id": }', encoding="utf-8")
    refused(loading(tmp_path, "a"), "a/skill.json:2:8: not JSON")


def test_all_problems_of_all_skills_are_told_at_once(tmp_path: Path) -> None:
    skill(tmp_path / "a", id="Bad ID!", version="x")
    skill(tmp_path / "b", id=None, name=7)
    refused(
        loading(tmp_path, "."),
        "a/skill.json: id: ",
        "a/skill.json: version: ",
        "b/skill.json: id",
        "b/skill.json: name",
    )


@pytest.mark.parametrize("version", ["1.0.0-rc.1+build.5", "0.0.0", "10.20.30"])
def test_a_version_is_a_semantic_one(tmp_path: Path, version: str) -> None:
    skill(tmp_path / "a", version=version)
    assert load_skills(["a"], cwd=str(tmp_path)).found[0].spec.version == version


@pytest.mark.parametrize("version", ["01.0.0", "1.0", "v1.0.0", "1.0.0-01", ""])
def test_another_version_is_none(tmp_path: Path, version: str) -> None:
    skill(tmp_path / "a", version=version)
    refused(loading(tmp_path, "a"), "version")


@pytest.mark.parametrize("kind", ["langchain", "custom"])
def test_an_adapter_that_nothing_runs_is_refused_before_anything_runs(tmp_path: Path, kind: str) -> None:
    skill(tmp_path / "a", adapterType=kind)
    refused(loading(tmp_path, "a"), f"adapterType {kind}", "subprocess")


def test_two_skills_of_one_id_and_version_are_refused(tmp_path: Path) -> None:
    skill(tmp_path / "a", id="same")
    skill(tmp_path / "b", id="same")
    refused(loading(tmp_path, "."), "'same'", "a", "b")


def test_two_versions_of_one_id_are_told_apart(tmp_path: Path) -> None:
    skill(tmp_path / "a", id="same")
    skill(tmp_path / "b", id="same", version="2.0.0")
    found = load_skills(["."], cwd=str(tmp_path)).found
    assert [one.key for one in found] == ["same@1.0.0", "same@2.0.0"]


def test_an_unknown_key_of_an_adapters_settings_is_refused(tmp_path: Path) -> None:
    skill(tmp_path / "a", config={"timeoutMS": 1000})
    refused(loading(tmp_path, "a"), "a/adapter.config.json", "timeoutMS")


def test_settings_in_two_places_are_refused(tmp_path: Path) -> None:
    skill(tmp_path / "a", config={"timeoutMs": 1000}, adapter={"timeoutMs": 2000})
    refused(loading(tmp_path, "a"), "leave one of them out")


def test_a_prose_skill_is_taken_where_it_is_named_or_asked_for(tmp_path: Path) -> None:
    skill(tmp_path / "a")
    prose = tmp_path / "p"
    prose.mkdir()
    (prose / "SKILL.md").write_text("---\nname: my-prose\ndescription: d\nmetadata: {version: 1.2.3}\n---\n# P\n")
    assert [one.key for one in load_skills(["."], cwd=str(tmp_path)).found] == ["a"]
    both = load_skills(["."], cwd=str(tmp_path), prose=True).found
    assert [(one.key, one.spec.version, one.spec.adapter_type) for one in both][1] == (
        "my-prose",
        "1.2.3",
        AdapterType.SKILLMD,
    )
    assert load_skills(["p"], cwd=str(tmp_path)).found[0].key == "my-prose"


def test_the_digest_of_a_skill_is_that_of_its_files(tmp_path: Path) -> None:
    folder = skill(tmp_path / "a")
    before = load_skills(["a"], cwd=str(tmp_path)).found[0].digest
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert load_skills(["a"], cwd=str(tmp_path)).found[0].digest == before
    (folder / "skill.py").write_text("1", encoding="utf-8")
    assert load_skills(["a"], cwd=str(tmp_path)).found[0].digest != before


# Benchmarks


def test_the_packaged_ones_are_valid_wherever_one_stands() -> None:
    assert set(packaged_ids()) >= {"coding-easy", "gaia-v1", "toolbench-lite"}
    assert [len(packaged(one).benchmark.tasks) for one in ("coding-easy", "gaia-v1")] == [20, 0]


def test_an_unknown_one_is_refused_with_what_there_is(tmp_path: Path) -> None:
    refused(lambda: find_benchmark("coding-esay", None, cwd=str(tmp_path)), "did you mean 'coding-easy'", "gaia-v1")


def test_a_placeholder_says_where_its_tasks_come_from() -> None:
    refused(lambda: require_tasks(packaged("gaia-v1")), "placeholder")


def test_a_broken_file_keeps_no_other_from_being_found(tmp_path: Path) -> None:
    benchmark(tmp_path / "benchmarks" / "good.json", task())
    (tmp_path / "benchmarks" / "bad.json").write_text("{", encoding="utf-8")
    found = listed("benchmarks", cwd=str(tmp_path))
    assert "own" in found.found
    assert any("bad.json" in notice for notice in found.notices)
    assert find_benchmark("own", "benchmarks", cwd=str(tmp_path))[0].origin == "benchmarks/good.json"


def test_a_directory_stands_for_the_benchmark_in_it(tmp_path: Path) -> None:
    benchmark(tmp_path / "b" / "benchmark.json", task())
    assert find_benchmark("./b", None, cwd=str(tmp_path))[0].benchmark.id == "own"
    (tmp_path / "empty").mkdir()
    refused(lambda: find_benchmark("./empty", None, cwd=str(tmp_path)), "empty is a directory without")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"id": "only"}, "tasks[0].inputData"),
        (task(evaluator={"type": "fuzzy"}), "tasks[0].evaluator.type: unknown scorer 'fuzzy'"),
        (task(expectedOutput={"type": "contains", "value": "x"}), "tasks[0].expectedOutput.keywords"),
        (task(expectedOutput={"type": "exact"}), "tasks[0].expectedOutput.value"),
        (task(weight=0), "tasks[0].weight"),
        (task(timeoutMs=5), "tasks[0].timeoutMs"),
        (task(evaluator={"casesensitive": True}), "casesensitive"),
    ],
)
def test_a_task_that_cannot_be_is_refused_with_its_place(tmp_path: Path, broken: dict[str, Any], words: str) -> None:
    file = benchmark(tmp_path / "b.json", broken)
    refused(lambda: find_benchmark("b.json", None, cwd=str(tmp_path)), words)
    assert run(tmp_path, "bench", "validate", file.name).code == 1


def test_two_tasks_of_one_id_are_refused(tmp_path: Path) -> None:
    benchmark(tmp_path / "b.json", task("x"), task("x"))
    refused(lambda: find_benchmark("b.json", None, cwd=str(tmp_path)), "tasks[1].id: 'x' is also the id of tasks[0]")


@pytest.mark.parametrize("shape", ["list", "object", "benchmark"])
def test_a_file_of_tasks_has_any_of_three_shapes(tmp_path: Path, shape: str) -> None:
    file = tmp_path / "basic.eval.json"
    if shape == "benchmark":
        benchmark(file, task())
    else:
        file.write_text(json.dumps([task()] if shape == "list" else {"tasks": [task()]}), encoding="utf-8")
    assert read_tasks(str(file), file.name).benchmark.tasks[0].id == "t1"


def test_tasks_are_narrowed_by_id_and_tag(tmp_path: Path) -> None:
    file = benchmark(tmp_path / "b.json", task("a", tags=["x", "y"]), task("b", tags=["x"]), task("c"))
    loaded = read_tasks(str(file), file.name)
    assert [one.id for one in narrowed(loaded, ("b", "a"), ("x",)).benchmark.tasks] == ["a", "b"]
    assert narrowed(loaded, ("b",), ()).digest == loaded.digest
    refused(lambda: narrowed(loaded, ("d",), ("z",)), "no task 'd'", "no tag 'z'")


def test_validate_names_every_problem_and_counts(tmp_path: Path) -> None:
    skill(tmp_path / "good")
    skill(tmp_path / "bad", version="1", inputSchema={"type": "nope"})
    benchmark(tmp_path / "benchmarks" / "b.json", task())
    done = run(tmp_path, "bench", "validate")
    assert done.code == 1
    assert "bad/skill.json: version" in done.out
    assert "2 of 3 files valid" in done.out
    assert run(tmp_path, "bench", "validate", "good", "benchmarks").code == 0


def test_validate_knows_a_schema_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("jsonschema")
    skill(tmp_path / "a", inputSchema={"type": "nope"})
    assert "inputSchema: no JSON Schema" in run(tmp_path, "bench", "validate", "a").out


def test_validate_says_that_schemas_were_not_checked_without_the_package(tmp_path: Path) -> None:
    skill(tmp_path / "a", inputSchema={"type": "nope"}, outputSchema={"type": "number"})
    benchmark(tmp_path / "b.eval.json", task(expectedOutput={"type": "schema", "schema": {"type": "object"}}))
    code = "import sys; sys.modules['jsonschema'] = None; from skillgate.cli.main import entry; entry()"
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", code, "bench", "validate", "--json"]
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["uncheckedSchemas"]) == (0, 3), done.stderr
    assert "3 JSON Schemas were not checked" in done.stderr
    assert "pip install" in done.stderr


def test_validate_refuses_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert run(tmp_path, "bench", "validate", "nowhere").code == 2


def test_list_and_show(tmp_path: Path) -> None:
    benchmark(tmp_path / "benchmarks" / "b.json", task(description="\x1b[31mred"))
    rows = run(tmp_path, "bench", "list", "--json").json["benchmarks"]
    counts = {row["id"]: row["taskCount"] for row in rows}
    assert (counts["own"], counts["coding-easy"], counts["gaia-v1"]) == (1, 20, 0)
    shown = run(tmp_path, "bench", "show", "own")
    assert "\x1b" not in shown.out
    assert "placeholder" in run(tmp_path, "bench", "show", "gaia-v1").out


def test_the_digest_of_a_skill_goes_through_no_link(tmp_path: Path) -> None:
    """A link may lead to what has no end, or to a file that is not the skill's."""
    outside = tmp_path / "outside"
    outside.write_text("one", encoding="utf-8")
    place = skill(tmp_path / "s")
    (place / "link").symlink_to(outside)
    (place / "endless").symlink_to("/proc/kmsg")
    before = read_skill(str(place / "skill.json"), "s/skill.json").digest
    outside.write_text("two", encoding="utf-8")
    assert read_skill(str(place / "skill.json"), "s/skill.json").digest == before
    (place / "link").unlink()
    (place / "link").symlink_to("/dev/zero")
    assert read_skill(str(place / "skill.json"), "s/skill.json").digest != before


def test_a_key_that_is_nearly_one_that_is_read_is_told(tmp_path: Path) -> None:
    """A golden task that is not golden for a typo would be a gate that leaks."""
    skill(tmp_path / "s", entryPoint="python3 other.py", homepage="https://example.org")
    benchmark(tmp_path / "b.json", task("a", goldn=True), task("b", timeoutMS=5, note="fine"), maxLatency=7)
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    for told in (
        "b.json: maxLatency is a key that nothing reads (did you mean 'maxLatencyMs'?)",
        "b.json: tasks[0].goldn is a key that nothing reads (did you mean 'golden'?)",
        "b.json: tasks[1].timeoutMS is a key that nothing reads (did you mean 'timeoutMs'?)",
    ):
        assert told in done.err
    assert "note" not in done.err.replace("notes", "")
    assert "homepage" not in done.err
    assert "entryPoint" not in done.err  # the right one stands beside it
    validated = run(tmp_path, "bench", "validate", "b.json", "s")
    assert (validated.code, "tasks[0].goldn" in validated.err) == (0, True)
    (file,) = run(tmp_path, "bench", "validate", "b.json", "--json").json["files"]
    assert len(file["notices"]) == 3
