"""The document of one skill that was asked about alone: one object, with what every document says of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.invocations.checking import gate_json
from skillgate.invocations.trends import trend_json
from skillgate.model.codec import encode

if TYPE_CHECKING:
    from skillgate.model.invocation_report import InvocationReport

_COMMON = (
    *("schema_version", "scoring_version", "rubric_version", "depth", "coverage", "models", "config_digest"),
    *("store", "days"),
)


def trend_alone(found: InvocationReport) -> str:
    """Give the only trend of a document."""
    return _alone("trend", found, trend_json(found.trends[0]))


def gate_alone(found: InvocationReport) -> str:
    """Give the only answer of a document; the gate's own kind is ``gate_kind``, since ``kind`` is the document's."""
    told = gate_json(found.gates[0])
    return _alone("gate", found, {"gate_kind" if key == "kind" else key: value for key, value in told.items()})


def _alone(kind: str, found: InvocationReport, told: dict[str, Any]) -> str:
    whole = encode(found)
    head = {"kind": kind, **{key: whole[key] for key in _COMMON}}
    return json.dumps({**head, **told}, indent=2, ensure_ascii=False)
