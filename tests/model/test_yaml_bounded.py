"""YAML from strangers is counted first, and every failure is one exception with a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.model.yaml_bounded import Limits, MappingDocument, YamlProblem, check_syntax, load_mapping


def test_a_mapping_comes_with_the_lines_of_its_keys_and_places() -> None:
    document = load_mapping("a: 1\nb:\n  - c: x\n")
    assert document.values == {"a": 1, "b": [{"c": "x"}]}
    assert document.lines == {"a": 1, "b": 2}
    assert document.places == {"a": 1, "b": 2, "b[0]": 3, "b[0].c": 3}
    assert document.duplicates == ()


def test_a_repeated_key_keeps_its_last_value_and_is_reported_at_any_depth() -> None:
    document = load_mapping("a: 1\na: 2\nm:\n  k: 1\n  k: 2\n")
    assert document.values == {"a": 2, "m": {"k": 2}}
    assert document.duplicates == (("a", 2), ("m.k", 5))


def test_keys_that_yaml_takes_for_booleans_or_integers_stay_as_written() -> None:
    assert load_mapping("on: 1\n7: 2\n0x10: 3\n").values == {"on": 1, "7": 2, "0x10": 3}


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "empty"),
        ("# only a comment\n", 1, 1, "empty"),
        ("~", 1, 1, "empty"),
        ("- a\n", 1, 1, "a list"),
        ("word", 1, 1, "a single value"),
        ("x: 1\na: [\n", 2, 1, "flow node"),
        ("a: b: c\n", 1, 5, "mapping values are not allowed"),
        ("a: b\n\tc: d\n", 2, 1, "tab"),
        ("a: b\nc: \x00", 2, 4, "control character"),
        ("a: \ud800", 1, 4, "surrogate"),
        ("null: 1", 1, 1, "this key is not a string"),
        ("1.5: x", 1, 1, "this key is not a string"),
        ("? [a]\n: b", 1, 3, "this key is not a string"),
        ("a:\n  ? [a]\n  : b", 2, 5, "unhashable key"),
        ("<<: {a: 1}", 1, 1, "merge keys"),
        ("a: &x {b: 1}\nc:\n  <<: *x", 3, 3, "merge keys"),
        ("a: 1\n---\nb: 2", 2, 1, "second document"),
        ("a: &x [*x]", 1, 8, "is inside its own anchor"),
        ("a: *y", 1, 4, "has no anchor"),
        ("a: 1\nb: 2024-13-45", 2, 4, "not a valid timestamp"),
        ("a: !!int ''", 1, 4, "not a valid int"),
        ("a: !!bool x", 1, 4, "not a valid bool"),
        ("a: !!timestamp x", 1, 4, "not a valid timestamp"),
        ("a: " + "9" * 5000, 1, 4, "a number of 5000 characters"),
        ("a: 0x" + "f" * 5000, 1, 4, "a number of 5002 characters"),
        ("a: !python/object:os.system x", 1, 4, "could not determine a constructor"),
        ("a: " + "x" * 65536, 1, 1, "larger than 64 KiB"),
        ("a: " + "[" * 60_000, 1, 35, "nested deeper than 32 levels"),
        ("- " * 20_000, 1, 65, "nested deeper than 32 levels"),
        ("a: [" + "1," * 2500 + "]", 1, None, "more than 2000 values"),
        ("a: &x 1\nb: [" + "*x," * 51 + "]", 2, None, "more than 50 aliases"),
    ],
)
def test_what_cannot_be_read_is_a_problem_with_its_place(text: str, line: int, column: int | None, words: str) -> None:
    with pytest.raises(YamlProblem) as caught:
        load_mapping(text)
    assert words in caught.value.message
    assert caught.value.line == line
    assert column is None or caught.value.column == column


def test_the_limits_are_exact() -> None:
    assert load_mapping("a: " + "[" * 31 + "x" + "]" * 31).lines == {"a": 1}
    with pytest.raises(YamlProblem, match="nested"):
        load_mapping("a: " + "[" * 32 + "x" + "]" * 32)
    exact = Limits(nodes=5)
    assert load_mapping("a: [1, 2]", limits=exact).values == {"a": [1, 2]}
    with pytest.raises(YamlProblem, match="more than 5 values"):
        load_mapping("a: [1, 2, 3]", limits=exact)
    assert load_mapping("a: &x 1\nb: [" + "*x," * 50 + "]").values["b"] == [1] * 50


def test_aliases_count_as_all_they_stand_for() -> None:
    doubling = "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20))
    with pytest.raises(YamlProblem, match="more than 2000 values"):
        load_mapping("a: &a [x, x]\n" + doubling)
    deep = "a: &a " + "[" * 20 + "]" * 20 + "\nb: " + "[" * 20 + "*a" + "]" * 20
    with pytest.raises(YamlProblem, match="nested"):
        load_mapping(deep)


def test_anchors_in_moderation_are_read() -> None:
    assert load_mapping("a: &x [1]\nb: *x\n").values == {"a": [1], "b": [1]}


def test_a_failure_that_names_no_place_is_found_among_good_values() -> None:
    with pytest.raises(YamlProblem) as caught:
        load_mapping("a: [1, 2001-01-01]\nb:\n  - c: 2001-02-31\n")
    assert (caught.value.line, caught.value.column) == (3, 8)


@pytest.mark.parametrize(
    "text", ["", "a: 1", "a: !Ref x\n---\n- b\n---\n", "on: {push: }", "<<: {a: 1}", "a: 1\na: 2", "[1, 2]"]
)
def test_syntax_allows_any_shape_tag_and_number_of_documents(text: str) -> None:
    assert check_syntax(text) is None


@pytest.mark.parametrize(("text", "line"), [("a: 1\nb: [", 2), ("a: b: c", 1), ("ok: 1\n---\na: *x", 3), ("[" * 99, 1)])
def test_broken_syntax_is_a_problem_with_its_line(text: str, line: int) -> None:
    problem = check_syntax(text)
    assert problem is not None
    assert problem.line == line


def test_a_code_block_may_have_more_values_than_a_document() -> None:
    assert check_syntax("- 1\n" * 15_000) is None
    assert check_syntax("[" + "1," * 25_000 + "]") is not None


_YAMLISH = st.text(alphabet="ab:- \n[]{}&*!|>'\"#?,%@`\t0.1<=~\x00\ud800é", max_size=60)


@given(text=_YAMLISH | st.text(max_size=60))
def test_any_text_is_read_or_is_a_problem(text: str) -> None:
    found = _loaded(text)
    if isinstance(found, YamlProblem):
        assert found.message
        assert 1 <= found.line <= len(text.splitlines()) + 1
    else:
        assert all(isinstance(key, str) for key in found.values)
        assert set(found.lines) == set(found.values)


@given(text=_YAMLISH)
def test_what_loads_has_valid_syntax(text: str) -> None:
    if not isinstance(_loaded(text), YamlProblem):
        assert check_syntax(text) is None


def _loaded(text: str) -> MappingDocument | YamlProblem:
    try:
        return load_mapping(text)
    except YamlProblem as problem:
        return problem
