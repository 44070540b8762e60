"""The language of an untagged block: named where nothing else can be meant, and then what the block really is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.static.code import MAX_CHARACTERS, certain_language

CERTAIN = (
    ('{"a": 1}', "json"),
    ('\n[\n  {"a": 1}\n]\n', "json"),
    ("#!/bin/bash\nls\n", "bash"),
    ("#!/usr/bin/env python3.12\n", "python"),
    ("#!/usr/bin/env node\n", "javascript"),
    ("$ make test\nok\n", "console"),
    ('<?xml version="1.0"?>\n<a/>\n', "xml"),
    ("<!DOCTYPE html>\n", "html"),
    ("<?php echo 1;\n", "php"),
    ("diff --git a/x b/x\n", "diff"),
    (">>> 1 + 1\n2\n", "pycon"),
)
DOUBTFUL = (
    "",
    "{}",
    "[]",
    "[1, 2]",
    "[{}]",
    "{a: 1}",
    "{'a': 1}",
    "$5",
    "$ 5",
    "make test",
    "#!/usr/bin/env -S uv run",
    "#!",
)


@pytest.mark.parametrize(("code", "language"), CERTAIN)
def test_a_block_that_can_be_only_one_thing_is_named(code: str, language: str) -> None:
    assert certain_language(code) == language


@pytest.mark.parametrize("code", DOUBTFUL)
def test_a_block_that_can_be_read_otherwise_is_not_named(code: str) -> None:
    assert certain_language(code) is None


def test_a_block_too_large_to_parse_is_not_named() -> None:
    assert certain_language(json.dumps({"a": "x" * MAX_CHARACTERS})) is None


def test_deep_nesting_is_no_language_and_no_error() -> None:
    assert certain_language('["' + "[" * 30_000 + "]" * 30_000 + "]") is None


@given(st.text())
def test_what_is_named_json_is_json(code: str) -> None:
    if certain_language(code) == "json":
        assert json.loads(code)
