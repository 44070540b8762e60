"""The published JSON Schemas, made from the types and declarations that the program itself uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.model.benchmark import CHECK_TYPE, CHECKS, STATIC, AdapterConfig, Benchmark, Executable, Strategy
from skillgate.model.codec import schema
from skillgate.model.house import KINDS as RULE_KINDS
from skillgate.model.invocation_gate import BOUNDS, CONDITIONS, OF_REQUIREMENTS, OF_TRIGGERS, PACKAGED
from skillgate.model.score import NOT_BLANK, SCHEMA_VERSION, whole
from skillgate.model.setting import REQUIREMENT, TRIGGER, Kind, Setting
from skillgate.model.single_report import SingleReport
from skillgate.registry import SCORERS, SERVERS, scorers
from skillgate.report.rendering import KINDS, model_of
from skillgate.settings import RULES, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

_HOLDERS = ("evaluator", "expectedOutput")
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def report_schema() -> dict[str, Any]:
    """Return the schema of every document with a ``kind``: exactly one of the shapes that there are."""
    documents = [SingleReport, *map(model_of, KINDS)]
    definitions: dict[str, Any] = {}
    for document in documents:
        definitions |= schema(document, title=document.__name__, schema_id="")["$defs"]
    return {
        "$schema": _DRAFT,
        "$id": _id("report"),
        "title": f"skillgate report, schema version {SCHEMA_VERSION}",
        "properties": {"schema_version": {"not": {"type": "integer", "exclusiveMinimum": SCHEMA_VERSION}}},
        "oneOf": [{"$ref": f"#/$defs/{document.__name__}"} for document in documents],
        "$defs": dict(sorted(definitions.items())),
    }


def skill_schema() -> dict[str, Any]:
    """Return the schema of skill.json."""
    return schema(Executable, title="skill.json", schema_id=_id("skill"))


def adapter_schema() -> dict[str, Any]:
    """Give the schema of adapter.config.json."""
    return schema(AdapterConfig, title="adapter.config.json", schema_id=_id("adapter"))


def benchmark_schema() -> dict[str, Any]:
    """Return the schema of a benchmark's file."""
    found = schema(Benchmark, title="A benchmark of skillgate", schema_id=_id("benchmark"))
    definitions = found["$defs"]
    for holder in ("Evaluator", "Expected"):
        definitions[holder]["properties"]["type"] = {"enum": [*scorers(), None]}
    benchmark = definitions["Benchmark"]
    benchmark["properties"]["server"] = {"enum": [*SERVERS.names(), None]}
    static = {"properties": {"adapter": {"const": STATIC}}, "required": ["adapter"]}
    each = {"properties": {"tasks": {"items": _static_task()}}}, {"properties": {"tasks": {"items": _run_task()}}}
    benchmark["allOf"] = [{"if": static, "then": each[0], "else": each[1]}]
    definitions["Task"]["allOf"] = [*map(_scored_by, SCORERS.listed(separator="_")), _scored_by_any()]
    step = definitions["Step"]
    unchecked = {"properties": {"expectedOutput": {"type": "null"}}}
    models = [word for word, name in scorers().items() if name == STATIC or SCORERS.flag(name, "ASKS_MODEL")]
    step["allOf"] = [
        *map(_scored_by, SCORERS.listed(separator="_")),
        {"anyOf": [_named(list(scorers())), unchecked]},
        {"not": _named(models)},
    ]
    return found


def _named(words: Sequence[str]) -> dict[str, Any]:
    """Return what a task fulfils that names a scorer by one of its words."""
    return {"anyOf": [_within(holder, "type", {"enum": [*words]}) for holder in _HOLDERS]}


def _within(holder: str, key: str, shape: dict[str, Any]) -> dict[str, Any]:
    inner = {"type": "object", "properties": {key: shape}, "required": [key]}
    return {"properties": {holder: inner}, "required": [holder]}


def _static_task() -> dict[str, Any]:
    """Return what a task of a static benchmark fulfils: it names no scorer but that of checks, and one of these."""
    only = {"properties": {"type": {"enum": [STATIC, None]}}}
    check = {"type": "object", "properties": {CHECK_TYPE: {"enum": [*CHECKS]}}, "required": [CHECK_TYPE]}
    return {**_named([STATIC]), "properties": {**dict.fromkeys(_HOLDERS, only), "inputData": check}}


def _run_task() -> dict[str, Any]:
    """Return what a task of any other benchmark fulfils: a skill that is run must never score itself."""
    return {"not": _named([STATIC])}


def _scored_by(scorer: str) -> dict[str, Any]:
    """Return what a task fulfils that names a scorer: it names no other, and expects what the scorer needs."""
    words = [word for word, name in scorers().items() if name == scorer]
    only = {"properties": {"type": {"enum": [*words, None]}}}
    needs = _needs(scorer)
    return {"if": _named(words), "then": {"properties": dict.fromkeys(_HOLDERS, only), **needs}}


def _scored_by_any() -> dict[str, Any]:
    """Return what a task fulfils that names no scorer: some scorer could use what it expects."""
    names = [name for name in SCORERS.listed(separator="_") if not SCORERS.flag(name, "BY_NAME")]
    return {"anyOf": [_named(list(scorers())), *map(_needs, names)]}


def _needs(scorer: str) -> dict[str, Any]:
    ways = []
    for need in SCORERS.texts(scorer, "NEEDS"):
        holder, _, key = need.partition(".")
        # Of a value every text and null is one.
        there: dict[str, Any] = {} if key == "value" else {"not": {"enum": [None, []]}, "pattern": NOT_BLANK}
        if SCORERS.flag(scorer, "NO_BLANK_ITEMS"):
            there["items"] = {"pattern": NOT_BLANK}
        ways.append(_within(holder, key, there))
    return {"anyOf": ways} if ways else {}


def strategy_schema() -> dict[str, Any]:
    """Give the schema of a file that says how skills are selected."""
    return schema(Strategy, title="A strategy of skillgate", schema_id=_id("strategy"))


def _id(name: str) -> str:
    """Return a name that is no address: a schema is the same wherever it is published."""
    return f"urn:skillgate:schema:{name}"


def config_schema() -> dict[str, Any]:
    """Give the schema of ``.skillgate.yaml`` and ``[tool.skillgate]``."""
    known = SETTINGS
    values = {setting.key: _setting(setting) for setting in known}
    scoped = {setting.key: _setting(setting) for setting in known if setting.per_path}
    glob = {"type": "string", "minLength": 1}
    globs = {
        "anyOf": [glob, {"type": "array", "items": glob, "minItems": 1}],
        "description": "Globs of skill directories.",
    }
    override = {
        "type": "object",
        "properties": {"paths": globs, **scoped},
        "required": ["paths"],
        "additionalProperties": False,
    }
    return {
        "$schema": _DRAFT,
        "$id": _id("config"),
        "title": "skillgate configuration",
        "type": "object",
        "properties": {**values, "overrides": {"type": ["array", "null"], "items": override}},
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
            text = {"type": "string", "pattern": NOT_BLANK}
            shape = {"anyOf": [text, {"type": "array", "items": text}]}
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
        case Kind.LISTS | Kind.TABLES:
            shape = _mapping(setting)
        case Kind.FLAG:
            shape = {"type": "boolean"}
    if setting.default is None:
        shape = {"anyOf": [shape, {"type": "null"}]}
    return {**shape, "description": setting.help}


def _mapping(setting: Setting[Any]) -> dict[str, Any]:
    """Return the shape of a setting whose value maps names to lists or to mappings."""
    if setting.kind is Kind.TABLES:
        return _rules(setting) if setting is RULES else _gates(setting)
    words = {"type": "string", "pattern": NOT_BLANK}
    listed = {"anyOf": [words, {"type": "array", "items": words, "minItems": 1}]}
    return {"type": "object", "additionalProperties": listed, "minProperties": 1, **_most(setting)}


def _numbers(setting: Setting[Any]) -> list[float]:
    """Give the words of a choice that files may write without quotes, as in ``rubric: 1.1``."""
    found = []
    for word in setting.choices if setting.kind is Kind.CHOICE else ():
        whole, point, rest = word.partition(".")
        if point and whole.isdigit() and rest.isdigit():
            found.append(float(word))
    return found


def _most(setting: Setting[Any]) -> dict[str, int]:
    return {} if setting.maximum is None else {"maxProperties": int(setting.maximum)}


def _table(setting: Setting[Any]) -> dict[str, Any]:
    # A key of a table is there or not; null stands for nothing there.
    plain = {}
    for field in setting.fields:
        shape = _setting(field)
        nullable = {"type": "null"} in shape.get("anyOf", [])
        plain[field.key] = {**shape.pop("anyOf")[0], **shape} if nullable else shape
    return {"type": "object", "properties": plain, "additionalProperties": False, "minProperties": 1}


def _rules(setting: Setting[Any]) -> dict[str, Any]:
    one = {**_table(setting), "oneOf": [{"required": [kind]} for kind in RULE_KINDS]}
    names = {"pattern": whole("[A-Z][A-Z0-9_]{2,39}")}
    return {"type": "object", "additionalProperties": one, "propertyNames": names, "minProperties": 1, **_most(setting)}


def _gates(setting: Setting[Any]) -> dict[str, Any]:
    table = _table(setting)
    return {
        "type": "object",
        "properties": {name: {**table, **_of_kind(gate.kind, asks=True)} for name, gate in PACKAGED.items()},
        "additionalProperties": {
            **table,
            "if": {"anyOf": [_has("kind", {"const": TRIGGER}), _only("max_score", without="kind")]},
            "then": _of_kind(TRIGGER),
            "else": _of_kind(REQUIREMENT),
        },
        "propertyNames": {"pattern": whole("(?=.*[A-Za-z0-9])[A-Za-z0-9_-]{1,40}")},
        "minProperties": 1,
        **_most(setting),
    }


def _of_kind(kind: str, *, asks: bool = False) -> dict[str, Any]:
    """Return what a gate of a kind fulfils; ``asks``: whether it asks for something already."""
    allowed, conditions = (OF_TRIGGERS, CONDITIONS) if kind == TRIGGER else (OF_REQUIREMENTS, OF_REQUIREMENTS)
    refused = [{"not": {"required": [bound]}} for bound in BOUNDS if bound not in allowed]
    needed = [] if asks else [{"anyOf": [{"required": [bound]} for bound in conditions]}]
    return {"allOf": [{"properties": {"kind": {"const": kind}}}, *refused, *needed]}


def _has(key: str, shape: dict[str, Any]) -> dict[str, Any]:
    return {"properties": {key: shape}, "required": [key]}


def _only(key: str, *, without: str) -> dict[str, Any]:
    return {"required": [key], "not": {"required": [without]}}
