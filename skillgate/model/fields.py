"""The fields of a record, a dataclass or a named tuple, with their JSON keys: for encoding, decoding and schemas."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from skillgate.model.marks import key_of, tag_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = Any  # None, bool, int, float, str, and lists and str-keyed dicts of them
MAX_PROBLEMS = 20  # a document of the wrong kind has thousands, and nobody reads them


class Field(NamedTuple):
    """One field of a record: its name, its JSON key, and how it is written and read."""

    name: str
    key: str
    required: bool
    omit_none: bool = False
    init: bool = True
    doc: str = ""


def is_record(cls: object) -> bool:
    """Tell whether a type is written as an object: a dataclass or a named tuple."""
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def json_keys(cls: type) -> tuple[Field, ...]:
    """List the fields of a record with their JSON keys.

    Raises:
        TypeError: when two keys, that of the tag among them, are the same.
    """
    fields = tuple(_dataclass_fields(cls)) if dataclasses.is_dataclass(cls) else _tuple_fields(cls)
    tag = tag_of(cls)
    keys = [field.key for field in fields] + ([tag[0]] if tag else [])
    if len(set(keys)) < len(keys):
        raise TypeError(f"{cls.__qualname__}: two of its JSON keys are the same: {', '.join(keys)}")
    return fields


def _dataclass_fields(cls: type) -> Iterator[Field]:
    for field in dataclasses.fields(cls):
        meta = field.metadata
        required = field.default is field.default_factory is dataclasses.MISSING
        key = meta.get("json") or key_of(cls, field.name)
        yield Field(field.name, key, required, bool(meta.get("omit_none")), field.init, meta.get("doc", ""))


def _tuple_fields(cls: Any) -> tuple[Field, ...]:  # noqa: ANN401 - any named tuple
    return tuple(Field(name, key_of(cls, name), name not in cls._field_defaults) for name in cls._fields)
