"""The published JSON Schemas, made from the types and declarations that the program itself uses."""

from __future__ import annotations

from typing import Any

from skillgate.model.bench import BenchReport
from skillgate.model.bench_diff import BenchDiff
from skillgate.model.benchmark import Benchmark
from skillgate.model.certificate import Certificate, CertificateCheck
from skillgate.model.choosing import FoundSkills
from skillgate.model.codec import schema
from skillgate.model.diff import Diff
from skillgate.model.documents import DOCUMENTS
from skillgate.model.executable import AdapterConfig, Executable
from skillgate.model.invocation_report import InvocationReport
from skillgate.model.run import ActionRun
from skillgate.model.score import SCHEMA_VERSION
from skillgate.model.setting import Kind, Setting
from skillgate.model.strategy import Strategy
from skillgate.model.tool import HOMEPAGE
from skillgate.settings import SETTINGS

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ALL = (
    *DOCUMENTS,
    *(Diff, ActionRun, BenchReport, BenchDiff, Certificate, CertificateCheck, FoundSkills, InvocationReport),
)


def report_schema() -> dict[str, Any]:
    """Give the schema of every document with a ``kind``: exactly one of the published shapes."""
    definitions: dict[str, Any] = {}
    for document in _ALL:
        definitions |= schema(document, title=document.__name__, schema_id="")["$defs"]
    return {
        "$schema": _DRAFT,
        "$id": f"{HOMEPAGE}/blob/main/docs/schemas/report.schema.json",
        "title": f"skillgate report, schema version {SCHEMA_VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{document.__name__}"} for document in _ALL],
        "$defs": dict(sorted(definitions.items())),
    }


def skill_schema() -> dict[str, Any]:
    """Give the schema of skill.json; that ids and versions have a form, no schema of a shape says."""
    return schema(Executable, title="skill.json", schema_id=_id("skill"))


def adapter_schema() -> dict[str, Any]:
    """Give the schema of adapter.config.json."""
    return schema(AdapterConfig, title="adapter.config.json", schema_id=_id("adapter"))


def benchmark_schema() -> dict[str, Any]:
    """Give the schema of a benchmark's file."""
    return schema(Benchmark, title="A benchmark of skillgate", schema_id=_id("benchmark"))


def strategy_schema() -> dict[str, Any]:
    """Give the schema of a file that says how skills are selected."""
    return schema(Strategy, title="A strategy of skillgate", schema_id=_id("strategy"))


def _id(name: str) -> str:
    return f"{HOMEPAGE}/blob/main/docs/schemas/{name}.schema.json"


def config_schema() -> dict[str, Any]:
    """Give the schema of ``.skillgate.yaml`` and ``[tool.skillgate]``."""
    known = SETTINGS
    values = {setting.key: _setting(setting) for setting in known}
    scoped = {setting.key: _setting(setting) for setting in known if setting.per_path}
    paths = {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Globs of skill directories."}
    override = {
        "type": "object",
        "properties": {"paths": paths, **scoped},
        "required": ["paths"],
        "additionalProperties": False,
    }
    return {
        "$schema": _DRAFT,
        "$id": f"{HOMEPAGE}/blob/main/docs/schemas/config.schema.json",
        "title": "skillgate configuration",
        "type": "object",
        "properties": {**values, "overrides": {"type": "array", "items": override}},
        "additionalProperties": False,
    }


def _setting(setting: Setting[Any]) -> dict[str, Any]:
    number: dict[str, Any] = {"type": "integer" if setting.kind is Kind.INTEGER else "number"}
    if setting.minimum is not None:
        number["minimum"] = setting.minimum
    if setting.maximum is not None:
        number["maximum"] = setting.maximum
    word: dict[str, Any] = {"enum": [*setting.choices, *_numbers(setting)]} if setting.choices else {"type": "string"}
    match setting.kind:
        case Kind.NUMBER | Kind.INTEGER:
            shape = number
        case Kind.TEXTS:
            return {"type": ["array", "string"], "items": {"type": "string"}}
        case Kind.TEXT:
            most = {} if setting.maximum is None else {"maxLength": int(setting.maximum)}
            shape = {"type": "string", "pattern": r"\S", **most}
        case Kind.CHOICE:
            shape = word
        case Kind.CHOICES:
            shape = {"anyOf": [word, {"type": "array", "items": word, "minItems": 1}]}
        case Kind.NUMBERS:
            names = {"propertyNames": word} if setting.choices else {}
            shape = {"type": "object", "additionalProperties": number, "minProperties": 1, **names}
        case Kind.TABLES:
            shape = _tables(setting)
        case Kind.FLAG:
            shape = {"type": "boolean"}
    if setting.default is None:
        shape = {"anyOf": [shape, {"type": "null"}]}
    return {**shape, "description": setting.help}


def _numbers(setting: Setting[Any]) -> list[float]:
    """Give the words of a choice that files may write without quotes, as in ``rubric: 1.1``."""
    found = []
    for word in setting.choices if setting.kind is Kind.CHOICE else ():
        whole, point, rest = word.partition(".")
        if point and whole.isdigit() and rest.isdigit():
            found.append(float(word))
    return found


def _tables(setting: Setting[Any]) -> dict[str, Any]:
    # A key of a table is there or not; null stands for nothing there.
    fields = {field.key: _setting(field) for field in setting.fields}
    plain = {key: {**shape.pop("anyOf")[0], **shape} if "anyOf" in shape else shape for key, shape in fields.items()}
    table = {"type": "object", "properties": plain, "additionalProperties": False, "minProperties": 1}
    most = {} if setting.maximum is None else {"maxProperties": int(setting.maximum)}
    names = {"propertyNames": {"pattern": "^(?=.*[A-Za-z0-9])[A-Za-z0-9_-]{1,40}$"}}
    return {"type": "object", "additionalProperties": table, "minProperties": 1, **most, **names}
