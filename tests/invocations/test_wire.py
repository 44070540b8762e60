"""Counting the fields of protobuf: never fewer than its own parser finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from skillgate.invocations.wire import count_fields
from tests.invocations.traces import attributes

message = pytest.importorskip("google.protobuf.message", reason="the extra otlp is not installed")
service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

ATTRIBUTES = attributes({"a": [1, "b", {"c": 2.5}], "d": True, "e": {"f": [False, "é"]}})
SPAN = {"name": "x", "traceId": "AAAA", "startTimeUnixNano": "5", "attributes": ATTRIBUTES, "events": [{"name": "y"}]}


def sample() -> bytes:
    from google.protobuf.json_format import ParseDict

    document = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN, SPAN, {}]}]}]}
    return bytes(ParseDict(document, service.ExportTraceServiceRequest()).SerializeToString())


def found(of: Any) -> int:
    """Return how many fields a parsed message has, those of messages in it included."""
    count = 0
    for field, value in of.ListFields():
        many = value if field.is_repeated else [value]
        count += sum(1 + (found(one) if field.message_type else 0) for one in many)
    return count


def test_every_field_is_counted() -> None:
    parsed = service.ExportTraceServiceRequest.FromString(sample())
    assert count_fields(sample(), parsed.DESCRIPTOR, most=10**6) == found(parsed) > 60


def test_counting_stops_at_the_limit() -> None:
    descriptor = service.ExportTraceServiceRequest.DESCRIPTOR
    assert count_fields(sample() + b"\xff", descriptor, most=10) == 11
    with pytest.raises(ValueError, match="without an end"):
        count_fields(sample() + b"\xff", descriptor, most=10**6)


def test_no_damaged_message_has_more_than_was_counted() -> None:
    chance, whole, understood = random.Random(7), sample(), 0
    for _ in range(20_000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(data))
            data[place : place + chance.choice((0, 1, 1))] = [chance.randrange(256)] * chance.choice((0, 1, 1))
        try:
            count = count_fields(bytes(data), service.ExportTraceServiceRequest.DESCRIPTOR, most=10**6)
            parsed = service.ExportTraceServiceRequest.FromString(bytes(data))
        except (ValueError, message.DecodeError):
            continue
        understood += 1
        assert found(parsed) <= count
    assert understood > 1_000
