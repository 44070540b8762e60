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
        ("json", "POST the form\n{}"),
        ("json", "[Name] {'a': 1}"),
        ("python", "def fill(form:\n    pass\n"),
        ("python", "if form\n    pass\n"),
        ("python", "pip install forms\n"),
        ("python", "fill(form='a', 'b')\n"),
        ("python", "fill(form: str) -> bool\npip install forms\n"),
        ("python", "fill(form: str -> bool\n"),
        ("python", "fill(form: Form Field) -> bool\n"),
        ("python", "x = “form”\n"),
        ("toml", "a = form\n"),
        ("yaml", "a: b: c\n"),
        ("yaml", "a: @form\n"),
        ("yaml", "a:\n\tb: 1\n"),
    ],
)
def test_what_nobody_would_write_on_purpose_is_an_error(language: str, code: str) -> None:
    assert certain_error(language, code) is not None


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "fill(form: str) -> bool\n"),
        ("python", "forms.fill(\n    form: Form,\n    page: int = 1,  # from 1\n    **more,\n) -> Form  # a copy\n"),
        ("python", 'Form(path: \'str\') -> None\n\nForm.read(*, limit: int) -> list[str]\n    """Read it."""\n'),
        ("python", "import forms\n\nform = forms.Form.open(path: str)\n"),
        ("python", "title = [Form Title]\n"),
        ("json", '{"private": true/false, "page": null | 3}'),
        ("json", '{"title": [Form Title]}'),
        ("json", '{\n  "forms": "^1.0",  ✓ fills\n  "pdf": "^2.0"   → reads\n}'),
        ("json", '✅ Good:\n{"a": 1}\n\n❌ Poor:\n{"b": 1}'),
        ("json", 'POST /forms\nAccept: application/json\n{"a": 1}\n\nHTTP/1.1 404 Not Found\n{"b": 1}'),
        ("json", 'Request:\nPOST {"a": 1}'),
        ("yaml", "title: [Form Title] of all\n"),
        ("yaml", "# .github/form.md\n---\nname: Form\n---\n\n## Form: all\n- [ ] a: b: c\n"),
    ],
)
def test_what_is_meant_so_is_no_error(language: str, code: str) -> None:
    assert syntax_error(language, code) is not None
    assert certain_error(language, code) is None


@pytest.mark.parametrize("code", ["f(" * 30_000, "f(a: b)\n" * 8_000, " " * 60_000 + "(#", "f( # " * 9_000 + "'"])
def test_many_signatures_take_no_longer_than_they_are(code: str) -> None:
    assert certain_error("python", code) in (None, syntax_error("python", code))


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "toml"])
def test_what_is_too_much_for_a_parser_is_no_error(language: str) -> None:
    assert certain_error(language, "[" * 2_000 + "]" * 2_000) is None
