"""The portable file: entries take what they lack from the top, break alone, and cost the memory of one of them."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.format import printable
from skillgate.invocations.formats import LONGEST, reader
from tests.invocations.readings import LEAST, OPTIONS, SAMPLES, one, read, record
from tests.properties.documents import CI

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.invocation import Read

WHEN = "2026-05-04T10:00:00Z"


def document(*entries: object, **top: Any) -> bytes:
    return json.dumps({"logs_version": "1.0", "skill_name": "csv-merge", **top, "entries": list(entries)}).encode()


def told(data: bytes) -> list[tuple[int, str | None]]:
    return [(found.line, found.problem) for found in read("portable", data)]


def test_a_file_gives_its_entries_by_number() -> None:
    first, second = read("portable", (SAMPLES / "portable.json").read_bytes())
    assert [(found.line, found.unit) for found in (first, second)] == [(1, "entry"), (2, "entry")]
    assert first.invocation
    assert second.invocation
    assert (first.invocation.skill_name, first.invocation.skill_category) == ("csv-merge", "code_generation")
    assert (first.invocation.duration_ms, first.invocation.tokens_used, first.invocation.output_size) == (
        24000,
        2000,
        40,
    )
    assert (first.invocation.requested_items, first.invocation.error_count) == (3, 0)
    assert (second.invocation.skill_name, second.invocation.skill_category) == ("other", "analysis")
    assert first.warnings == ("unknown key input.prompt: text is not stored by default",)


@pytest.mark.parametrize(
    ("entry", "top", "expected"),
    [
        ({}, {}, ("csv-merge", None, None)),
        ({}, {"skill_category": "design", "skill_version": "2"}, ("csv-merge", "design", "2")),
        ({"skill": "b", "category": "research"}, {"skill_category": "design"}, ("b", "research", None)),
        ({"skill_name": "b", "skill_version": None}, {"skill_version": "2"}, ("b", None, "2")),
        ({}, {"skill_version": None}, ("csv-merge", None, None)),
    ],
)
def test_an_entry_takes_from_the_top_what_it_has_not(entry: Any, top: Any, expected: object) -> None:
    found = one(read("portable", document({"timestamp": WHEN, "id": "i", **entry}, **top)))
    assert (found.skill_name, found.skill_category, found.skill_version) == expected


def test_the_name_may_stand_behind_the_entries() -> None:
    data = json.dumps({"entries": [{"timestamp": WHEN}, {"timestamp": WHEN, "skill": "b"}], "skill_name": "a"})
    found = read("portable", data.encode())
    assert [read.invocation and read.invocation.skill_name for read in found] == ["a", "b"]


def test_an_entry_without_any_name_is_rejected() -> None:
    assert told(b'{"entries": [{"timestamp": 1777888800}]}') == [(1, "skill_name is missing")]


def test_an_entry_says_the_same_as_a_line_and_has_the_same_made_id() -> None:
    entry = {"timestamp": WHEN, "duration_ms": 5.25, "tool_calls": ["Read"]}
    line = json.dumps({**entry, "skill_name": "csv-merge"}).encode()
    assert one(read("portable", document(entry))) == one(read("jsonl", line))


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_white_space_does_not_matter(indent: int | None, mark: bytes) -> None:
    data = {
        "a": {"b": [1, {"entries": [3]}]},
        "note": 'q"[]{}\\',
        "skill_name": "q",
        "entries": [{"timestamp": WHEN, "id": "i"}],
    }
    found = one(read("portable", mark + json.dumps(data, indent=indent).encode()))
    assert found.skill_name == "q"


def test_a_broken_entry_is_rejected_alone() -> None:
    good = record().decode()
    entries = [good, "{'a': 1}", '{"a": NaN}', "[1, [2]]", "7", "null", '"x"', '{"a": ' + "1" * 5000 + "}", good]
    data = f'{{"skill_name": "a", "entries": [{", ".join(entries)}]}}'.encode()
    assert told(data) == [
        (1, None),
        (2, "invalid JSON at character 2: Expecting property name enclosed in double quotes"),
        (3, "invalid JSON: contains NaN"),
        (4, "expected an object, found a list"),
        (5, "expected an object, found 7"),
        (6, "expected an object, found null"),
        (7, 'expected an object, found "x"'),
        (8, "contains a number of thousands of digits"),
        (9, None),
    ]


REST = "unreadable from here: "


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (document(LEAST, {"a": 1})[:-4], [(1, None), (2, REST + "truncated JSON")]),
        (document(LEAST)[:-1], [(1, None), (2, REST + "truncated JSON")]),
        (document(LEAST) + b"]", [(1, None), (2, REST + "content after the end of the document")]),
        (document(LEAST) * 2, [(1, None), (2, REST + "content after the end of the document")]),
        (document(LEAST)[:-1] + b"]", [(1, None), (2, REST + "unexpected ]")]),
        (b"[]", [(1, REST + "does not begin with an object")]),
        (b"", [(1, REST + "does not begin with an object")]),
        (b"{}", [(1, "no list of entries")]),
        (b'{"entries": {"a": 1}}', [(1, "no list of entries")]),
        (b'{"entries": []}', []),
        (b'{"a": {"entries": [1]}, "entries": []}', []),
        (b'{"skill_name": tru, "entries": []}', [(1, REST + "invalid JSON at character 1: Expecting value")]),
    ],
)
def test_what_is_no_such_document_is_told(data: bytes, expected: object) -> None:
    assert told(data) == expected


def test_entries_before_the_end_of_a_broken_document_wait_for_no_name() -> None:
    data = b'{"entries": [{"timestamp": 1777888800, "skill": "a"}, {"skill'
    assert told(data)[-1] == (1, None)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (b'{"skill": "a", "timestamp": 1777888800, "x": "' + b"y" * (LONGEST - 100) + b'"}', None),
        (b'{"x": "' + b"y" * LONGEST + b'"}', "longer than 4,000,000 bytes"),
        (b'{"x": [' + b'"y", ' * LONGEST + b"1]}", "longer than 4,000,000 bytes"),
    ],
    ids=["long", "one text", "many texts"],
)
def test_an_entry_that_is_too_long_is_passed_over(entry: bytes, expected: str | None) -> None:
    data = b'{"skill_name": "a", "entries": [' + record() + b",\n" + entry + b",\n" + record() + b"]}"
    assert told(data) == [(1, None), (2, expected), (3, None)]


def test_a_text_without_end_is_not_held() -> None:
    pieces = iter([(1, b'{"entries": ["')] + [(2, b"x" * LONGEST)] * 20)
    tracemalloc.start()
    found = list(reader("portable")(pieces, OPTIONS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [read.problem for read in found] == [REST + "contains a string longer than 4,000,000 bytes"]
    assert peak < 60_000_000


@pytest.mark.parametrize("deep", [b"[" * 200_000, b'{"a":' * 200_000, b"[" * 200_000 + b"]" * 200_000])
@pytest.mark.parametrize("before", [b"", b'{"entries": [', b'{"skill_name": ', b'{"other": '])
def test_nesting_without_end_is_refused(before: bytes, deep: bytes) -> None:
    found = read("portable", before + deep)
    assert found
    assert all(read.invocation is None for read in found)


def large(entries: int, *, lines: bool) -> Iterator[tuple[int, bytes]]:
    """Write a document of 3,000 bytes an entry: over lines, or as pieces of one."""
    entry = json.dumps({**LEAST, "execution": {"duration_ms": 5, "errors": []}, "note": "x" * 2_850}).encode()
    yield 1, b'{"logs_version": "1.0", "skill_name": "csv-merge", "entries": [' + entry
    for number in range(2, entries + 1):
        yield (number if lines else 1), b"," + entry
    yield entries + 1, b"]}"


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "one line"])
def test_a_large_document_is_read_in_the_memory_of_a_small_one(lines: bool) -> None:
    def peak(entries: int) -> float:
        tracemalloc.start()
        read = sum(found.invocation is not None for found in reader("portable")(large(entries, lines=lines), OPTIONS))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert read == entries
        return found

    peak(100)  # what is loaded once
    assert peak(20_000) < peak(1_000) + 1_000_000  # 60 MB


def test_names_behind_the_entries_are_waited_for_up_to_a_bound() -> None:
    def sorted_keys() -> Iterator[tuple[int, bytes]]:
        yield 1, b'{"entries": [{}'
        for number in range(2, 6_002):
            yield number, b', {"timestamp": 1777888800, "note": "' + b"x" * 9_960 + b'"}'
        yield 6_002, b'], "skill_name": "csv-merge"}'

    tracemalloc.start()
    found: list[Read] = list(reader("portable")(sorted_keys(), OPTIONS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    named = sum(read.invocation is not None for read in found)
    assert 3_000 < named < 4_000
    assert {read.problem for read in found if not read.invocation} == {
        "skill_name is missing",
        "timestamp is missing",
    }
    assert peak < 60_000_000


@CI
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text('{}[]":, entrisx1\\\n', max_size=80).map(str.encode),
        st.text('{}[]":,x1\\\n', max_size=60).map(lambda text: b'{"entries": [' + text.encode()),
    )
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for found in read("portable", data):
        assert (found.invocation is None) is (found.problem is not None)
        assert printable(found.problem or "") == (found.problem or "")


@CI
@given(
    st.lists(st.dictionaries(st.text(max_size=6), st.text(max_size=9) | st.integers(0, 9)), max_size=5),
    st.lists(st.integers(1, 40), min_size=1, max_size=50),
    st.booleans(),
)
def test_wherever_a_document_is_cut_into_pieces_the_same_is_read(
    entries: list[dict[str, object]], sizes: list[int], indent: bool
) -> None:
    data = json.dumps({"skill_name": "a", "entries": entries}, indent=2 if indent else None, ensure_ascii=False)
    raw = data.encode("utf-8", "replace")
    pieces: list[tuple[int, bytes]] = []
    at = 0
    while at < len(raw):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append((1, raw[at : at + size]))
        at += size
    assert list(reader("portable")(iter(pieces), OPTIONS)) == read("portable", raw)
