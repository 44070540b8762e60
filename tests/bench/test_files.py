"""Reading skills and benchmarks: every problem is told with its place, and nothing is guessed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.documents import (
    find_benchmark,
    listed,
    narrowed,
    packaged,
    packaged_ids,
    read_tasks,
    require_tasks,
)
from skillgate.bench.skills import load_skills, read_skill
from skillgate.errors import UsageError
from skillgate.model.benchmark import AdapterType
from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task

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
def test_an_adapter_that_is_not_installed_is_refused_before_anything_runs(tmp_path: Path, kind: str) -> None:
    skill(tmp_path / "a", adapterType=kind)
    assert [one.spec.id for one in loading(tmp_path, "a")().found] == ["a"]  # find shows it
    done = run(tmp_path, "eval", "--skills", "a", "--benchmark", "coding-easy", "--no-store")
    assert done.code == 2
    assert f"adapterType {kind}: no adapter {kind!r} is installed" in done.err
    assert "set command in adapter.config.json" in done.err


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
    refused(loading(tmp_path, "a"), "remove one of them")


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
        ({"id": "only"}, "tasks[0].expectedOutput"),
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
    assert "inputSchema: not a JSON Schema" in run(tmp_path, "bench", "validate", "a").out


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


def test_a_key_of_a_skill_that_is_nearly_one_that_is_read_is_told(tmp_path: Path) -> None:
    skill(tmp_path / "s", entryPoint="python3 other.py", homepage="https://example.org", inputSchem={})
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    assert "s/skill.json: inputSchem is an unknown key (did you mean 'inputSchema'?)" in done.err
    assert "homepage" not in done.err
    assert "entryPoint" not in done.err  # the right one is there too
    validated = run(tmp_path, "bench", "validate", "s")
    assert (validated.code, "inputSchem is" in validated.err) == (0, True)


UNKNOWN_KEYS = [
    (task(goldn=True), {}, 'tasks[0].goldn: expected a known key (did you mean "golden"?)'),
    (task(timeoutMS=5), {}, 'tasks[0].timeoutMS: expected a known key (did you mean "timeoutMs"?)'),
    (task(files=["a.csv"]), {}, "tasks[0].files: expected"),
    (task(setup="x"), {}, "tasks[0].setup: expected"),
    (task(step=[]), {}, "tasks[0].step: expected"),
    (task(expectError=True), {}, "tasks[0].expectError: expected"),
    (task(), {"maxLatency": 7}, 'maxLatency: expected a known key (did you mean "maxLatencyMs"?)'),
    (task(evaluator={"caseSensitiv": True}), {}, 'evaluator.caseSensitiv: expected a known key (did you mean "caseSen'),
    (task(), {"": 1}, "expected one of the keys"),
]


@pytest.mark.parametrize(("one", "more", "words"), UNKNOWN_KEYS)
def test_an_unknown_key_of_a_benchmark_or_task_is_refused_with_a_suggestion(
    tmp_path: Path, one: dict[str, Any], more: dict[str, Any], words: str
) -> None:
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", one, **more)
    (tmp_path / "t.json").write_text(json.dumps({"tasks": [one], **more}), encoding="utf-8")
    evaluated = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert (evaluated.code, words in evaluated.err) == (2, True), evaluated.err
    listed_tasks = run(tmp_path, "eval", "--skills", "s", "--tasks", "t.json")
    assert (listed_tasks.code, words in listed_tasks.err) == (2, True), listed_tasks.err
    validated = run(tmp_path, "bench", "validate", "b.json", "t.json")
    assert (validated.code, validated.out.count(words)) == (1, 2)


def test_metadata_and_keys_that_begin_with_x_are_free(tmp_path: Path) -> None:
    free: dict[str, Any] = {"metadata": {"owner": "us"}, "x-note": [1], "x-": None}
    skill(tmp_path / "s", answering("data['n']"))
    evaluator = {"type": "exact", "x-why": "y"}
    expected = {"value": 1, "x-from": "z"}
    benchmark(
        tmp_path / "b.json",
        task(evaluator=evaluator, expectedOutput=expected, prompt="as in files of eval-skills", **free),
        **{"$schema": "https://example.org/benchmark.schema.json", **free},
    )
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--min-completion", "1")
    assert (done.code, run(tmp_path, "bench", "validate", "b.json").code) == (0, 0), done.err


def test_the_published_schema_refuses_and_accepts_the_keys_that_the_reader_does(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(run(tmp_path, "schema", "benchmark").json)

    def whole(one: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
        return {"id": "own", "name": "Own", "version": "1.0.0", "tasks": [one], **more}

    for one, more, words in UNKNOWN_KEYS:
        assert not validator.is_valid(whole(one, more)), words
    free: dict[str, Any] = {"metadata": {"a": 1}, "x-note": [1]}
    assert validator.is_valid(whole(task(**free), {"$schema": "x", **free}))
    assert not validator.is_valid(whole(task(**{"$schema": "x"}), {}))


def test_an_object_with_tasks_counts_with_all_that_it_says(tmp_path: Path) -> None:
    """Its scoring method was once passed over in silence."""
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps({"tasks": [task()], "scoringMethod": "weighted_mean", "k": 3}), encoding="utf-8")
    loaded = read_tasks(str(file), file.name).benchmark
    assert (loaded.id, loaded.scoring_method.value, loaded.k) == ("custom", "weighted_mean", 3)
    file.write_text(json.dumps({"id": "a", "tasks": [task()]}), encoding="utf-8")
    refused(lambda: read_tasks(str(file), file.name), "name: expected", "version: expected")


HTTP, MCP = {"adapterType": "http"}, {"adapterType": "mcp"}
NOT_RUNNABLE: list[tuple[dict[str, Any], dict[str, Any] | None, str]] = [
    ({"adapterType": "langchain"}, None, "no adapter 'langchain' is installed"),
    ({"adapterType": "custom"}, None, "no adapter 'custom' is installed"),
    ({**HTTP, "entrypoint": "notaurl"}, None, "expected an http:// or https:// address"),
    ({**HTTP, "entrypoint": "http://a b/"}, None, "contains a space"),
    ({**HTTP, "entrypoint": "http://u:p@localhost/"}, None, "contains a user or password"),
    ({**HTTP, "entrypoint": "http://localhost/"}, {"headers": {"Cookie": "a"}}, "Cookie cannot be set here"),
    ({**HTTP, "entrypoint": "http://localhost/"}, {"authType": "bearer"}, "needs the name of the variable"),
    ({**HTTP, "entrypoint": "http://localhost/"}, {"authTokenEnvKey": "SKILL_T"}, "is not used"),
    (
        {**HTTP, "entrypoint": "http://localhost/"},
        {"authType": "bearer", "authTokenEnvKey": "GITHUB_TOKEN"},
        "GITHUB_TOKEN is never passed to a skill",
    ),
    ({**MCP, "entrypoint": "mcp://localhost:8080/x"}, None, "expected a command, or an http(s) address"),
    ({**MCP, "metadata": {"toolName": 7}}, None, "metadata.toolName: expected a string"),
    ({"entrypoint": "python3 skill.py; touch x"}, None, "needs a shell"),
    ({"entrypoint": "python3 'skill.py"}, None, "No closing quotation"),
    ({}, {"passEnv": ["AWS_SECRET_ACCESS_KEY"]}, "AWS_SECRET_ACCESS_KEY is never passed to a skill"),
    ({"adapterType": "skillmd", "entrypoint": "SKILL.md"}, None, "there is no SKILL.md"),
]


@pytest.mark.parametrize(("changes", "config", "words"), NOT_RUNNABLE)
def test_validate_refuses_a_skill_that_eval_refuses(
    tmp_path: Path, changes: dict[str, Any], config: dict[str, Any] | None, words: str
) -> None:
    pytest.importorskip("httpx2")
    pytest.importorskip("mcp")
    skill(tmp_path / "s", config=config, **changes)
    benchmark(tmp_path / "b.json", task())
    evaluated = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", GITHUB_TOKEN="x")
    validated = run(tmp_path, "bench", "validate", "s")
    assert (evaluated.code, words in evaluated.err) == (2, True), evaluated.err
    assert (validated.code, words in validated.out) == (1, True), validated.out


NOT_SCORABLE = [
    ({"type": "numeric", "value": "many"}, {}, "expectedOutput.value: expected a number"),
    ({"type": "exact", "value": 1}, {"path": "no pointer"}, "evaluator.path: "),
    ({"type": "custom"}, {"customScorerPath": "gone.py:score"}, "gone.py is not a file in the benchmark's directory"),
    ({"type": "custom"}, {"customScorerPath": "../out.py:score"}, "is outside the benchmark's directory"),
    ({}, {}, "expectedOutput"),
    ({"caseSensitive": True}, {}, "expectedOutput"),
    ({"type": "custom"}, {"command": [" "]}, "expected a program and its arguments"),
    ({"type": "llm_judge", "judgePrompt": "a", "criteria": "b"}, {}, "is an alias of judgePrompt"),
    ({"type": "json_schema", "schema": {"type": "nope"}}, {}, "expectedOutput.schema: not a JSON Schema"),
]


@pytest.mark.parametrize(("expected", "evaluator", "words"), NOT_SCORABLE)
def test_validate_refuses_a_task_that_eval_refuses(
    tmp_path: Path, expected: dict[str, Any], evaluator: dict[str, Any], words: str
) -> None:
    pytest.importorskip("jsonschema")
    skill(tmp_path / "s")
    benchmark(tmp_path / "b.json", task(), task("t2", expectedOutput=expected, evaluator=evaluator))
    evaluated = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store")
    validated = run(tmp_path, "bench", "validate", "b.json")
    assert (evaluated.code, words in evaluated.err) == (2, True), evaluated.err
    assert (validated.code, f"b.json: tasks[1].{words.split(':')[0]}" in validated.out or words in validated.out) == (
        1,
        True,
    )


def test_a_program_that_scores_is_valid_and_is_not_started_to_find_out(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit('started')\n", encoding="utf-8")
    one = task(expectedOutput={"type": "custom"}, evaluator={"customScorerPath": "own.py:score"})
    benchmark(tmp_path / "b.json", one)
    done = run(tmp_path, "bench", "validate", "b.json")
    assert (done.code, done.out) == (0, "1 of 1 file valid\n")


def test_a_format_in_a_skills_own_schemas_that_cannot_be_checked_is_a_notice(tmp_path: Path) -> None:
    """No answer is held against them, so that it lets nothing pass."""
    pytest.importorskip("jsonschema")
    skill(tmp_path / "s", inputSchema={"properties": {"n": {"type": "integer", "format": "int64"}}})
    skill(tmp_path / "t", inputSchema={"$ref": "#/nowhere"})
    done = run(tmp_path, "bench", "validate", "s")
    assert (done.code, "s/skill.json: inputSchema: the format 'int64' is not supported" in done.err) == (0, True)
    done = run(tmp_path, "bench", "validate", "t")
    assert (done.code, "inputSchema: the reference '#/nowhere' is broken" in done.out) == (1, True)


def test_one_broken_skill_below_a_directory_does_not_stop_eval_for_the_others(tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    skill(tmp_path / "all" / "good", answering("data['n']"))
    (skill(tmp_path / "all" / "broken") / "skill.json").write_text('{"id": ', encoding="utf-8")
    skill(tmp_path / "all" / "bad", version="x")
    skill(tmp_path / "all" / "chain", adapterType="langchain")
    skill(tmp_path / "all" / "web", adapterType="http", entrypoint="notaurl")
    benchmark(tmp_path / "b.json", task())
    words = ("eval", "--skills", "all", "--benchmark", "./b.json", "--no-store")
    done = run(tmp_path, *words, "--min-completion", "1", "--json")
    assert [one["skillId"] for one in done.json["reports"]] == ["good"]
    reasons = {one["path"]: one["reason"] for one in done.json["not_loaded"]}
    assert list(reasons) == [f"all/{name}/skill.json" for name in ("bad", "broken", "chain", "web")]
    assert reasons["all/bad/skill.json"].startswith("version: expected a semantic version")
    assert reasons["all/broken/skill.json"].startswith("1:8: not JSON: ")
    assert done.code == 3  # the gate is met, and not all was measured that was asked for
    text = run(tmp_path, *words).out
    assert "not loaded: all/broken/skill.json: " in " ".join(text.split())
    assert run(tmp_path, *words, "--allow-skipped").code == 3
    dry = run(tmp_path, *words, "--dry-run")
    assert (dry.code, "all/web/skill.json" in dry.err) == (3, True)
    plan = run(tmp_path, *words, "--dry-run", "--json").json
    assert {one["path"]: one["reason"] for one in plan["notLoaded"]} == reasons
    dry = run(tmp_path, "run", "--skills-dir", "all", *words[3:], "--dry-run", "--json")
    told = {one["path"]: one["reason"] for one in dry.json["notLoaded"]}
    assert (dry.code, told["all/broken/skill.json"]) == (3, reasons["all/broken/skill.json"])
    assert told["all/bad/skill.json"] == reasons["all/bad/skill.json"]


def test_the_files_of_a_skill_without_a_program_are_not_needed_and_stop_nothing(tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    skill(tmp_path / "all" / "good", answering("data['n']"))
    web = skill(tmp_path / "all" / "web", adapterType="http", entrypoint="http://127.0.0.1:9/")
    os.mkfifo(web / "pipe")
    web.chmod(0o700)
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "all", "--benchmark", "./b.json", "--no-store", "--json")
    found = {one["skillId"]: one["taskResults"][0]["status"] for one in done.json["reports"]}
    assert (done.code, found) == (0, {"good": "pass", "web": "error"}), done.err


def test_a_gate_that_fails_comes_before_a_skill_that_was_not_loaded(tmp_path: Path) -> None:
    skill(tmp_path / "all" / "wrong", answering("0"))
    skill(tmp_path / "all" / "bad", version="x")
    benchmark(tmp_path / "b.json", task())
    words = ("eval", "--skills", "all", "--benchmark", "./b.json", "--no-store")
    assert run(tmp_path, *words, "--min-completion", "1").code == 1


def test_a_broken_skill_that_a_path_names_is_refused(tmp_path: Path) -> None:
    skill(tmp_path / "all" / "good", answering("data['n']"))
    skill(tmp_path / "all" / "bad", version="x")
    benchmark(tmp_path / "b.json", task())
    for named in (["all/bad"], ["all/bad/skill.json"], ["all", "all/bad"]):
        done = run(tmp_path, "eval", "--skills", *named, "--benchmark", "./b.json", "--no-store")
        assert (done.code, "all/bad/skill.json: version: " in done.err) == (2, True), named


def test_nothing_but_broken_skills_is_refused(tmp_path: Path) -> None:
    skill(tmp_path / "all" / "bad", version="x")
    skill(tmp_path / "all" / "worse", id=None)
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "all", "--benchmark", "./b.json", "--no-store")
    assert done.code == 2
    for told in ("all/bad/skill.json: version: ", "all/worse/skill.json: id: "):
        assert told in done.err


def test_a_static_benchmark_reads_a_skill_that_no_run_could_ask(tmp_path: Path) -> None:
    skill(tmp_path / "all" / "web", adapterType="http", entrypoint="notaurl")
    done = run(tmp_path, "eval", "--skills", "all", "--benchmark", "skill-quality", "--no-store", "--json")
    assert (done.code, [one["skillId"] for one in done.json["reports"]]) == (0, ["web"]), done.err
