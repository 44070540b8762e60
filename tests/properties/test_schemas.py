"""A published schema takes a document exactly when the reader does, whatever is changed in one that both take."""

from __future__ import annotations

import copy
import json
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.bench.documents import check_benchmark, check_config, check_executable
from skillgate.config import LayerReader
from skillgate.errors import CodecError, UsageError
from skillgate.model.benchmark import AdapterConfig, Benchmark, Executable, Strategy
from skillgate.model.codec import decode, encode
from skillgate.report.json import kind_of, shaped
from skillgate.report.rendering import KINDS
from skillgate.report.schema import (
    adapter_schema,
    benchmark_schema,
    config_schema,
    report_schema,
    skill_schema,
    strategy_schema,
)
from skillgate.settings import BY_KEY
from tests.properties.documents import CI
from tests.report import kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parent.parent.parent


def read_skill(data: Any) -> bool:
    return not list(check_executable(decode(Executable, data)))


def read_adapter(data: Any) -> bool:
    return not list(check_config(decode(AdapterConfig, data)))


def read_benchmark(data: Any) -> bool:
    return not list(check_benchmark(decode(Benchmark, data)))


def read_strategy(data: Any) -> bool:
    return bool(decode(Strategy, data))


def read_config(data: Any) -> bool:
    """The user's own file: that of a project refuses the settings that are personal, and has the same schema."""
    reader = LayerReader(label="x", base="/", places={}, declared=BY_KEY, personal=True)
    return isinstance(data, dict) and reader.layers(data) is not None


def read_report(data: Any) -> bool:
    return kind_of(data) in KINDS and bool(shaped(data, source="x"))


class Pair(NamedTuple):
    """A schema, its reader, documents to begin with, and words that mean something in them."""

    schema: Callable[[], dict[str, Any]]
    read: Callable[[Any], bool]
    seeds: Sequence[Any]
    words: Sequence[Any]

    def is_read(self, data: Any) -> bool:
        try:
            return self.read(data)
        except (CodecError, UsageError):
            return False


SKILL = {
    "id": "shout",
    "name": "Shout",
    "version": "0.1.0",
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
    "description": "",
    "tags": ["text"],
    "metadata": {"author": "x"},
    "adapter": {"command": "python3", "args": ["-I"], "env": {"A": "b"}, "workDir": "copy", "timeoutMs": 100},
}
BENCHMARK: dict[str, Any] = {
    "id": "own",
    "name": "Own",
    "version": "1.0.0",
    "k": 2,
    "server": None,
    "tasks": [
        {"id": "a", "inputData": {}, "expectedOutput": {"type": "exact", "value": "x"}, "weight": 1.5},
        {"id": "b", "inputData": {}, "expectedOutput": {"keywords": ["x"]}, "evaluator": {"type": "contains"}},
        {"id": "c", "inputData": {}, "expectedOutput": {"patterns": ["x+"], "value": 1}},
        {"id": "d", "inputData": {}, "expectedOutput": {"schema": {}}, "evaluator": {"type": "schema", "path": ""}},
        {"id": "e", "inputData": {}, "expectedOutput": {"judgePrompt": "x"}, "timeoutMs": 1000},
        {
            "id": "g",
            "setup": [{"tool": "x", "expectedOutput": {"type": "contains", "keywords": ["a"]}}],
            "steps": [{"inputData": {}, "capture": {"id": "/id"}, "evaluator": {"type": "error"}}],
            "expectedOutput": {"type": "error", "code": 1},
        },
        {"id": "f", "inputData": {}, "expectedOutput": {"customScorerPath": "x.py:f"}, "evaluator": {"scope": "json"}},
    ],
}
STATIC = {
    **BENCHMARK,
    "adapter": "static",
    "tasks": [{"id": "a", "inputData": {"checkType": "metadata"}, "expectedOutput": {"type": "static"}}],
}
CONFIG: dict[str, Any] = {
    "threshold": 70,
    "fail-on": ["error"],
    "min-dimension": {"robustness": 0.5},
    "provider": "batch",
    "rubric": 1.1,
    "early-stop": True,
    "select": ["default"],
    "formats": "json",
    "gates": {"publish": {"min_score": 75}, "own": {"kind": "requirement", "max_error_rate": 0.5}},
    "overrides": [{"paths": ["a/*"], "threshold": 1, "ignore": ["X"]}],
}
WORDS = ["static", "contains", "custom", "exact", "schema", "regex", "llm_judge", "metadata", "api", "placeholder"]
PAIRS = {
    "skill": Pair(skill_schema, read_skill, [SKILL], ["http", "static", "per-call", "Shout", "1.0.0-rc.1", "a\n"]),
    "adapter": Pair(adapter_schema, read_adapter, [SKILL["adapter"], {"serve": ["x"]}], ["per-call", "shared", "a\0"]),
    "benchmark": Pair(benchmark_schema, read_benchmark, [BENCHMARK, STATIC], WORDS),
    "strategy": Pair(
        strategy_schema,
        read_strategy,
        [{"filters": {"minCompletionRate": 0.5, "adapterTypes": ["http"]}, "sortBy": "latency", "topK": 1}],
        ["asc", "tokenCost", "langchain"],
    ),
    "config": Pair(config_schema, read_config, [CONFIG], [[], "error", "1.0", "trigger", "any", {"x": 1}]),
    "report": Pair(
        report_schema,
        read_report,
        [json.loads(json.dumps(encode(document))) for document in kinds.documents().values()],
        ["bench", "check", "score"],
    ),
}
POOL: list[Any] = [
    *(None, True, False, 0, 1, -1, 0.5, 101, 1.0, "", " ", "x", "x\n", "é", "\0", "1.0.0", "2026-11-22T12:30:00Z"),
    *([], {}, ["x"], [None], {"x": "y"}),
]


TIMES = jsonschema.FormatChecker(())


@TIMES.checks("date-time")
def is_time(value: object) -> bool:
    """Times, which a validator checks where it is asked to check formats."""
    try:
        return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


class Beyond(NamedTuple):
    """A rule that JSON Schema cannot say: why, and a document that only the reader refuses."""

    reason: str
    is_met: Callable[[Any], bool]
    document: Any


def tasks(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict) and isinstance(data.get("tasks"), list):
        yield from (task for task in data["tasks"] if isinstance(task, dict))


def same_ids(data: Any) -> bool:
    ids = [json.dumps(task.get("id")) for task in tasks(data)]
    return len(ids) > len(set(ids))


def bad_patterns(data: Any) -> bool:
    for task in tasks(data):
        expected = task.get("expectedOutput")
        for pattern in (expected.get("patterns") if isinstance(expected, dict) else None) or ():
            try:
                re.compile(str(pattern))
            except re.error:
                return True
    return False


def changed(data: Any, **keys: Any) -> Any:
    return {**copy.deepcopy(data), **keys}


def whole_floats(data: Any) -> bool:
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return (isinstance(data, float) and data.is_integer()) or any(map(whole_floats, inner))


def as_float(document: Any) -> Beyond:
    return Beyond("to JSON Schema 1.0 is an integer, and a reader takes it for a slip", whole_floats, document)


def rubric_one(data: Any) -> bool:
    return isinstance(data, dict) and type(data.get("rubric")) is int


EXCEPTIONS: dict[str, list[Beyond]] = {
    "skill": [as_float(changed(SKILL, adapter={"retries": 1.0}))],
    "adapter": [as_float({"retries": 1.0})],
    "strategy": [as_float({"topK": 1.0})],
    "report": [as_float(changed(PAIRS["report"].seeds[0], schema_version=1.0))],
    "config": [
        as_float({"judges": 1.0}),
        Beyond(
            "to JSON Schema 1 is the number 1.0, which is how YAML has 1.0 without quotes", rubric_one, {"rubric": 1}
        ),
    ],
    "benchmark": [
        as_float(changed(BENCHMARK, k=1.0)),
        Beyond(
            "it compares whole tasks, and not their ids alone",
            same_ids,
            changed(BENCHMARK, tasks=[BENCHMARK["tasks"][0], {**BENCHMARK["tasks"][0], "weight": 2}]),
        ),
        Beyond(
            "no keyword says what a pattern of Python is",
            bad_patterns,
            changed(BENCHMARK, tasks=[{"id": "a", "inputData": {}, "expectedOutput": {"patterns": ["("]}}]),
        ),
    ],
}


def changes(document: Any, pool: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Documents that one to three changes make of another: something taken away, replaced, or put beside."""

    @st.composite
    def change(draw: st.DrawFn) -> Any:
        found = copy.deepcopy(document)
        for _ in range(draw(st.integers(1, 3))):
            found = _changed(found, draw, pool)
        return found

    return change()


def _changed(found: Any, draw: st.DrawFn, pool: Sequence[Any]) -> Any:
    places = list(_places(found))
    if not places:
        return copy.deepcopy(draw(st.sampled_from(pool)))
    holder, key = draw(st.sampled_from(places))
    match draw(st.sampled_from(["drop", "replace", "replace", "replace", "add"])):
        case "drop":
            del holder[key]
        case "replace":
            holder[key] = copy.deepcopy(draw(st.sampled_from(pool)))
        case "add" if isinstance(holder, dict):
            name = draw(st.sampled_from(["x-own", "$schema", "unknown", "kind", *map(str, holder)]))
            holder[name] = copy.deepcopy(draw(st.sampled_from(pool)))
        case _:
            holder.insert(0, copy.deepcopy(draw(st.sampled_from(pool))))
    return found


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


@pytest.mark.parametrize("name", PAIRS)
def test_a_schema_takes_what_its_reader_takes(name: str) -> None:
    pair = PAIRS[name]
    validator = jsonschema.Draft202012Validator(pair.schema(), format_checker=TIMES)
    documents = st.sampled_from(pair.seeds).flatmap(lambda seed: changes(seed, [*POOL, *pair.words]))

    @settings(CI, max_examples=150)
    @given(documents)
    def agree(document: Any) -> None:
        errors = [error.message[:300] for error in validator.iter_errors(document)]
        is_read = pair.is_read(document)
        if is_read or not any(one.is_met(document) for one in EXCEPTIONS.get(name, ())):
            assert (not errors) is is_read, (errors, document)

    for seed in pair.seeds:
        assert pair.is_read(seed)
        assert not list(validator.iter_errors(seed))
    agree()


@pytest.mark.parametrize(
    ("name", "exception"), [(name, one) for name, several in EXCEPTIONS.items() for one in several]
)
def test_each_exception_is_needed(name: str, exception: Beyond) -> None:
    assert exception.is_met(exception.document)
    jsonschema.validate(exception.document, PAIRS[name].schema())
    assert not PAIRS[name].is_read(exception.document)


@pytest.mark.parametrize("name", PAIRS)
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(PAIRS[name].schema())


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("skillgate/bench/builtin/*.json", "benchmark"),
        ("examples/**/skill.json", "skill"),
    ],
)
def test_files_of_users_are_valid(pattern: str, name: str) -> None:
    validator = jsonschema.Draft202012Validator(PAIRS[name].schema())
    for file in sorted(ROOT.glob(pattern)):
        data = json.loads(file.read_text(encoding="utf-8"))
        assert not list(validator.iter_errors(data)), file
        assert PAIRS[name].is_read(data), file
