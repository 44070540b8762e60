"""A finding about a block's syntax is certain: whatever stands in the block, asking never fails."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.static.code import certain_error, syntax_error

LANGUAGES = ("python", "py", "python3", "json", "toml", "yaml", "yml")


@given(st.sampled_from((*LANGUAGES, "rust", "")), st.text(alphabet="{}[]\":,'#/-+@=.\n\tab1<>|\\\u201c ", max_size=60))
def test_any_text_is_judged_and_no_more_is_said_than_the_parser_says(language: str, code: str) -> None:
    certain = certain_error(language, code)
    assert certain is None or certain == syntax_error(language, code)


@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_right_with_a_comment_before_and_a_second_value_behind(value: object) -> None:
    code = json.dumps(value)
    assert certain_error("json", f"// forms.json\n{code}\n{code}\n") is None


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("json", '{"a" 1}'),
        ("json", "{'a': 1}"),
        ("json", "POST /forms\n{}"),
        ("python", "def fill(form:\n    pass\n"),
        ("python", "if form\n    pass\n"),
        ("python", "pip install forms\n"),
        ("python", "x = “form”\n"),
        ("toml", "a = form\n"),
        ("yaml", "a: b: c\n"),
        ("yaml", "a: @form\n"),
        ("yaml", "a:\n\tb: 1\n"),
    ],
)
def test_what_nobody_would_write_on_purpose_is_an_error(language: str, code: str) -> None:
    assert certain_error(language, code) is not None


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "toml"])
def test_what_is_too_much_for_a_parser_is_no_error(language: str) -> None:
    assert certain_error(language, "[" * 2_000 + "]" * 2_000) is None
