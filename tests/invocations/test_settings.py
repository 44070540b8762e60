"""The settings of recorded invocations in files and on the command line: nested gates above all."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from skillgate import settings
from skillgate.cli.main import main
from skillgate.config import Config, config_digest, load
from skillgate.config_writing import new_file
from skillgate.errors import UsageError
from skillgate.invocations.rubric import DEFAULT, VERSIONS
from skillgate.model.invocation_gate import PACKAGED, known
from skillgate.report.schema import config_schema
from skillgate.settings import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

YAML = """\
rubric: 1.0
log-days: 90
gates:
  publish:
    min_score: 75
  release:
    kind: requirement
    description: Before a release
    min_invocations: 30
    max_unrecovered_rate: 0.02
"""
TOML = """\
[tool.skillgate]
rubric = "1.0"
log-days = 90
[tool.skillgate.gates.publish]
min_score = 75
[tool.skillgate.gates.release]
kind = "requirement"
description = "Before a release"
min_invocations = 30
max_unrecovered_rate = 0.02
"""
GATES = {
    "publish": {"min_score": 75.0},
    "release": {
        "kind": "requirement",
        "description": "Before a release",
        "min_invocations": 30,
        "max_unrecovered_rate": 0.02,
    },
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def read(place: Path, text: str, name: str = ".skillgate.yaml") -> Config:
    (place / name).write_text(text, encoding="utf-8")
    return load(explicit=name, cwd=str(place), environ={})


def run(*argv: str, place: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    home = {"HOME": str(place.parent), "APPDATA": str(place.parent / ".config")}
    return main(argv, stdout=out, stderr=err, environ=home, cwd=str(place)), out.getvalue(), err.getvalue()


@pytest.mark.parametrize(("name", "text"), [(".skillgate.yaml", YAML), ("pyproject.toml", TOML)])
def test_gates_are_read_alike_from_yaml_and_toml(place: Path, name: str, text: str) -> None:
    config = read(place, text, name)
    assert [config.get(settings.RUBRIC), config.get(settings.LOG_DAYS), config.get(settings.GATES)] == [
        "1.0",
        90,
        GATES,
    ]
    gates = known(config.get(settings.GATES))
    assert gates["publish"].bounds == {**PACKAGED["publish"].bounds, "min_score": 75}
    assert gates["release"].bounds == {"min_invocations": 30, "max_unrecovered_rate": 0.02}


def test_without_a_file_there_are_the_packaged_gates(place: Path) -> None:
    config = load(explicit=None, cwd=str(place), environ={})
    assert [config.get(settings.RUBRIC), config.get(settings.LOG_DAYS), config.get(settings.GATES)] == ["1.1", 30, None]
    assert known(config.get(settings.GATES)) == PACKAGED


@pytest.mark.parametrize("written", ["1.1", "'1.1'", '"1.0"', "1.0"])
def test_a_rubric_may_stand_with_or_without_quotes(place: Path, written: str) -> None:
    assert read(place, f"rubric: {written}\n").get(settings.RUBRIC) == written.strip("'\"")


@pytest.mark.parametrize("written", ["1", "2.0", "true", "1.10.0"])
def test_another_rubric_is_refused(place: Path, written: str) -> None:
    with pytest.raises(UsageError, match=r"rubric: expected one of 1\.0, 1\.1"):
        read(place, f"rubric: {written}\n")


def test_the_settings_rubrics_are_those_there_are() -> None:
    (setting,) = (item for item in SETTINGS if item.key == "rubric")
    assert (set(setting.choices), setting.default) == (set(VERSIONS), DEFAULT)


PROBLEMS = """\
gates:
  publish:
    min_scor: 70
    max_error_rate: 10
  own: 5
  empty: {}
  "a b": {min_score: 1}
  late: {kind: trigger, min_score: 3}
  word: {min_score: high, kind: gate}
"""


def test_every_problem_of_the_gates_is_told_with_its_line(place: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(place, PROBLEMS)
    head, *lines = str(caught.value).split("\n")
    assert head == ".skillgate.yaml: 8 problems"
    for line, start in zip(
        lines,
        (
            ".skillgate.yaml:3: gates.publish.min_scor: unknown key 'min_scor' (did you mean 'min_score'?); known are ",
            ".skillgate.yaml:4: gates.publish.max_error_rate: expected a number from 0 to 1, found 10",
            ".skillgate.yaml:5: gates.own: expected a mapping of some of min_score, max_score, ",
            ".skillgate.yaml:6: gates.empty: expected a mapping of some of min_score, max_score, ",
            ".skillgate.yaml:7: gates.a b: a name has 1 to 40 letters, digits, - and _",
            ".skillgate.yaml:8: gates.late: a trigger does not ask for min_score; it takes max_score, ",
            ".skillgate.yaml:9: gates.word.min_score: expected a number from 0 to 100, found 'high'",
            ".skillgate.yaml:9: gates.word.kind: expected one of requirement, trigger, found 'gate'",
        ),
        strict=True,
    ):
        assert line.startswith(start)


@pytest.mark.parametrize("written", ["5", "[publish]", "{}", "publish"])
def test_what_is_no_mapping_of_gates_is_refused(place: Path, written: str) -> None:
    with pytest.raises(UsageError, match="gates: expected a mapping of names to mappings of min_score, "):
        read(place, f"gates: {written}\n")


def test_there_are_not_more_gates_than_anybody_reads(place: Path) -> None:
    tables = "".join(f"  g{number}: {{min_score: 1}}\n" for number in range(51))
    with pytest.raises(UsageError, match="gates: expected a mapping"):
        read(place, f"gates:\n{tables}")


def test_a_line_break_in_a_name_begins_no_line_of_the_message(place: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(place, 'gates: {"a\\n.skillgate.yaml: fine": {min_score: 1}, b: {"x\\ny": 1}}\n')
    assert len(str(caught.value).split("\n")) == 3


def test_gates_hold_for_a_whole_run(place: Path) -> None:
    with pytest.raises(UsageError, match="gates applies to a whole run"):
        read(place, "overrides:\n  - paths: ['a/**']\n    gates: {publish: {min_score: 1}}\n")


def test_gates_are_listed_with_where_they_stand_and_told_as_json(place: Path) -> None:
    (place / ".skillgate.yaml").write_text(YAML, encoding="utf-8")
    code, out, _ = run("config", "list", "--show-origin", place=place)
    (line,) = (line for line in out.splitlines() if line.startswith("gates = "))
    assert code == 0
    assert json.loads(line.removeprefix("gates = ").rpartition("  ")[0]) == GATES
    assert line.endswith(".skillgate.yaml:3")
    assert json.loads(run("--json", "config", "get", "gates", place=place)[1])["value"] == GATES
    assert run("config", "validate", ".skillgate.yaml", place=place)[0] == 0


def test_gates_that_are_not_valid_do_not_validate(place: Path) -> None:
    (place / "other.yaml").write_text(PROBLEMS, encoding="utf-8")
    code, _, err = run("config", "validate", "other.yaml", place=place)
    assert code == 2
    assert "gates.publish.min_scor" in err


def test_gates_can_be_set_as_json_and_replaced_in_the_users_own_file(place: Path) -> None:
    for value in (GATES, {"publish": {"min_score": 60.0}}):
        assert run("config", "set", "gates", json.dumps(value), place=place)[0] == 0
        assert json.loads(run("--json", "config", "get", "gates", place=place)[1])["value"] == value
    code, _, err = run("config", "set", "gates", '{"publish": {"min_scor": 1}}', place=place)
    assert code == 2
    assert "gates: publish.min_scor: unknown key 'min_scor'" in err
    assert run("config", "set", "rubric", "1.0", place=place)[0] == 0
    assert run("config", "get", "rubric", place=place)[1] == "1.0\n"


def test_the_digest_follows_the_gates_and_not_how_they_are_written(place: Path) -> None:
    one = config_digest(read(place, YAML))
    assert config_digest(read(place, TOML, "pyproject.toml")) == one
    assert config_digest(read(place, YAML.replace("0.02", "0.03"))) != one


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (YAML, True),
        ("rubric: '1.1'\ngates: null\n", True),
        ("rubric: 1.2\n", False),
        ("gates: {}\n", False),
        ("gates: {publish: {}}\n", False),
        ("gates: {publish: {min_scor: 1}}\n", False),
        ("gates: {publish: {min_score: 101}}\n", False),
        ("gates: {publish: {min_score: null}}\n", False),
        ("gates: {publish: {min_invocations: 1.5}}\n", False),
        ("gates: {'a b': {min_score: 1}}\n", False),
        ("gates: {publish: {min_score: 1, kind: gate}}\n", False),
        (f"gates: {{publish: {{min_score: 1, description: {'x' * 201}}}}}\n", False),
    ],
)
def test_the_published_schema_takes_what_is_read_and_nothing_else(place: Path, text: str, *, valid: bool) -> None:
    validator: Any = jsonschema.Draft202012Validator(config_schema())
    assert validator.is_valid(yaml.safe_load(text)) is valid
    if valid:
        read(place, text)
    else:
        with pytest.raises(UsageError):
            read(place, text)


def test_the_examples_are_valid_as_they_are_written_to_a_configuration(place: Path) -> None:
    gates = settings.GATES.accept(settings.GATES.example)
    text = new_file({"gates": gates, "rubric": settings.RUBRIC.default})
    assert read(place, text).get(settings.GATES) == {"publish": {"min_score": 75.0, "max_unrecovered_rate": 0.05}}
    assert read(place, text).get(settings.RUBRIC) == "1.1"
