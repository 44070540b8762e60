"""A file's form is recognised by its beginning, whatever stands around it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.errors import UsageError
from skillgate.invocations.formats import reader, recognise
from skillgate.registry import INVOCATION_FORMATS as ROOM
from tests.invocations.readings import LEAST, SAMPLES, record
from tests.invocations.traces import SKILL, span, traces
from tests.properties.documents import CI

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("name", ROOM.listed())
def test_a_form_is_read_by_its_own_reader(name: str) -> None:
    assert reader(name) is ROOM.load(name).read


def test_a_mistyped_form_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"unknown format 'portabel' \(did you mean 'portable'\?\)"):
        reader("portabel")


@pytest.mark.parametrize(
    ("file", "form"),
    [("records.jsonl", "jsonl"), ("portable.json", "portable"), ("otlp.json", "otlp"), ("otlp.jsonl", "otlp")],
)
def test_samples_are_recognised(file: str, form: str) -> None:
    assert recognise((SAMPLES / file).read_bytes()) == form


PORTABLE = json.dumps({"entries": [LEAST], "logs_version": "1.0"}).encode()
LONG = json.dumps({"logs_version": "1.0", "skill_name": "a", "entries": [LEAST] * 2000}).encode()[:65_536]
NESTED = record(entries=3, note='"entries": [', more={"entries": [1]}, deep={"logs_version": 2})


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (record(), "jsonl"),
        (record() + b"\n" + record(), "jsonl"),
        (b"\r\n\r\n" + record(), "jsonl"),
        (b'{"skill_name": "a", "no', "jsonl"),
        (NESTED, "jsonl"),
        (record(note='{"resourceSpans": []}', sessionId="x"), "jsonl"),
        (PORTABLE, "portable"),
        (b"\n" + PORTABLE + b"\n", "portable"),
        (json.dumps({"entries": []}, indent=2).encode(), "portable"),
        (LONG, "portable"),
        (traces(span(1, None, SKILL)), "otlp"),
        (traces(span(1, None, SKILL), indent=2), "otlp"),
        (b'{"resourceMetrics": []}\n' + traces(), "otlp"),
        (b'  {\n "resourceSpans" : [', "otlp"),
        (b"", None),
        (b"\n\n", None),
        (b"[1, 2]", None),
        (b'[{"skill_name": "a"}]', None),
        (b"{\n", None),
        (b'{\n  "skill_name": "a"\n}', None),
        (b"skill_name,timestamp\na,b\n", None),
        (b"\x1f\x8b\x08\x00", None),
        (b"\xff\xfe{\x00", None),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.parametrize("mark", [b"", MARK], ids=["", "mark"])
def test_a_form_is_recognised(head: bytes, form: str | None, mark: bytes) -> None:
    assert recognise(mark + head) == form


@CI
@given(st.binary(max_size=200) | st.text('{}[]":, entrisx1\\\n', max_size=80).map(str.encode))
def test_any_beginning_has_one_form_or_none(head: bytes) -> None:
    assert recognise(head) in (None, *ROOM.listed())
