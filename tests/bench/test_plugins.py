"""Skills that an adapter of the user's own runs: a command, or a function of an installed package."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

COMMAND = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]}), flush=True)
"""
PACKAGE = """\
import os, sys

def echo(request):
    print("this is no reply")
    return request

def process(request):
    return os.getpid()

def chain(request):
    sys.path.insert(0, os.getcwd())
    module, _, name = request["entrypoint"].partition(":")
    return getattr(__import__(module), name)(request["input"])

def fails(request):
    raise ValueError("no such " + request["input"]["n"])

def prints(request):
    print("hello")
    raise ValueError("no such " + request["input"]["n"])

def endless(request):
    while True:
        pass

def variables(request):
    return sorted(os.environ)

def leaves(request):
    os._exit(7)

def infinite(request):
    return float("inf")

number = 7
"""
NAMES = ("echo", "process", "chain", "fails", "endless", "variables", "leaves", "infinite", "number", "prints")
# A skill's own user could not enter the directory of a test's interpreter.
CALLER = ("--run-as-caller",)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with entry points, as an installer lays it out."""
    folder = tmp_path / "site"
    (folder / "adapters_of_a_test-1.0.dist-info").mkdir(parents=True)
    (folder / "adapters_of_a_test.py").write_text(PACKAGE, encoding="utf-8")
    about = folder / "adapters_of_a_test-1.0.dist-info"
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: adapters-of-a-test\nVersion: 1.0\n")
    lines = [f"{name} = adapters_of_a_test:{name}" for name in NAMES]
    lines += ["langchain = adapters_of_a_test:chain", "missing = adapters_of_no_test:x"]
    (about / "entry_points.txt").write_text("[skillgate.adapters]\n" + "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(folder))


def evaluated(cwd: Path, *words: str, tasks: int = 1, data: Any = None, **environ: str) -> Done:
    many = [task(f"t{n}", inputData=data or {"n": n}, expectedOutput={"value": n}) for n in range(tasks)]
    benchmark(cwd / "b.json", *many)
    fixed = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store", *CALLER)
    return run(cwd, *fixed, *words, **environ)


def results(done: Done) -> list[dict[str, Any]]:
    assert done.out, done.err
    found: list[dict[str, Any]] = done.json["reports"][0]["taskResults"]
    return found


def outputs(done: Done) -> list[Any]:
    return [(one.get("output") or {}).get("value") for one in results(done)]


REQUEST = {"skillId": "s", "version": "1.0.0", "entrypoint": "some.module:chain", "input": {"n": 0}}


@pytest.mark.parametrize("kind", ["custom", "langchain"])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_command_gets_the_skill_and_the_input(tmp_path: Path, kind: str, persistent: bool) -> None:
    config = {"command": "python3", "args": ["skill.py"], "persistent": persistent, "type": kind}
    skill(tmp_path / "s", COMMAND, adapterType=kind, entrypoint="some.module:chain", config=config)
    assert outputs(evaluated(tmp_path)) == [REQUEST]
    assert run(tmp_path, "bench", "validate", "s").code == 0


def test_a_command_is_isolated_like_a_program(tmp_path: Path) -> None:
    code = COMMAND.replace('request["params"]', "sorted(__import__('os').environ)")
    skill(tmp_path / "s", code, adapterType="custom", config={"command": "python3", "args": ["skill.py"]})
    (found,) = outputs(evaluated(tmp_path, SKILL_TOKEN="x", OPENAI_API_KEY="y"))
    assert "PATH" in found
    assert not {"SKILL_TOKEN", "OPENAI_API_KEY"} & {*found}


@pytest.mark.usefixtures("package")
def test_a_function_gets_the_skill_and_the_input(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="custom", entrypoint="some.module:chain", config={"plugin": "echo"})
    assert outputs(evaluated(tmp_path)) == [REQUEST]


@pytest.mark.usefixtures("package")
def test_the_type_names_the_entry_point(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="langchain", entrypoint="chains:double")
    (tmp_path / "s" / "chains.py").write_text("def double(data):\n    return 2 * data['n']\n")
    assert outputs(evaluated(tmp_path, tasks=3)) == [0, 2, 4]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("persistent", [False, True])
def test_one_process_answers_many_requests_if_it_is_persistent(tmp_path: Path, persistent: bool) -> None:
    config = {"plugin": "process", "persistent": persistent}
    skill(tmp_path / "s", adapterType="custom", entrypoint="x", config=config)
    found = outputs(evaluated(tmp_path, "--concurrency", "1", tasks=3))
    assert len({*found}) == (1 if persistent else 3)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("plugin", "kind", "words"),
    [
        ("fails", "exit_code", "ValueError: no such thing"),
        ("prints", "exit_code", "its standard error ends: ValueError: no such thing"),
        ("infinite", "exit_code", "ValueError: Out of range float values"),
        ("endless", "timeout", "within 1 s"),
        ("leaves", "exit_code", "exited with code 7"),
        ("number", "exit_code", "'int' object is not callable"),
        ("missing", "exit_code", "No module named 'adapters_of_no_test'"),
    ],
)
def test_what_a_function_does_wrong_has_a_kind(tmp_path: Path, plugin: str, kind: str, words: str) -> None:
    skill(tmp_path / "s", adapterType="custom", entrypoint="x", config={"plugin": plugin})
    limit = ("--timeout", "1s") if plugin == "endless" else ()
    (result,) = results(evaluated(tmp_path, *limit, data={"n": "thing"}))
    assert (result["status"] in ("error", "timeout"), result["errorKind"]) == (True, kind), result
    assert words in result["error"]


@pytest.mark.usefixtures("package")
def test_an_exception_is_a_refusal(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="custom", entrypoint="x", config={"plugin": "fails"})
    expected = {"type": "error", "code": 1, "contains": "no such thing"}
    benchmark(tmp_path / "b.json", task(inputData={"n": "thing"}, expectedOutput=expected))
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store", *CALLER)
    assert results(run(tmp_path, *words))[0]["status"] == "pass"


@pytest.mark.usefixtures("package")
def test_a_function_has_no_variable_of_the_users_unless_it_is_allowed(tmp_path: Path) -> None:
    config = {"plugin": "variables", "passEnv": ["SKILL_TOKEN"]}
    skill(tmp_path / "s", adapterType="custom", entrypoint="x", config=config)
    (found,) = outputs(evaluated(tmp_path, SKILL_TOKEN="abcdef", SKILL_OTHER="x", OPENAI_API_KEY="y"))
    assert {"SKILL_TOKEN", "SKILL_OTHER", "OPENAI_API_KEY"} & {*found} == {"SKILL_TOKEN"}


@pytest.mark.usefixtures("package")
def test_no_package_is_imported_by_the_evaluation_itself(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="custom", entrypoint="x", config={"plugin": "echo"})
    assert results(evaluated(tmp_path))
    assert "adapters_of_a_test" not in sys.modules


@pytest.mark.usefixtures("package")
def test_an_unknown_adapter_is_refused_with_those_installed(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="custom", entrypoint="x", config={"plugin": "ech\x1bo"})
    done = evaluated(tmp_path)
    assert done.code == 2
    assert "adapterType custom: no adapter 'ech" in done.err
    assert "chain, echo, endless" in done.err
    assert "\x1b" not in done.err
    assert "no adapter" in run(tmp_path, "bench", "validate", "s").out


def test_nothing_is_started_if_programs_may_not_be(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="custom", config={"command": "python3", "args": ["skill.py"]})
    done = evaluated(tmp_path, "--no-allow-exec")
    assert done.code == 2
    assert "programs may not be started" in done.err


def test_an_unknown_key_names_the_known_ones(tmp_path: Path) -> None:
    skill(tmp_path / "s", adapterType="custom", config={"plugins": "x"})
    done = evaluated(tmp_path)
    assert (done.code, "did you mean" in done.err) == (2, True), json.dumps(done.err)
