"""The tables of the page about HTTP APIs name every key, and its request is valid."""

from __future__ import annotations

import json
import re
from dataclasses import fields

from skillgate.bench.documents import decoded
from skillgate.bench.http.messages import check_request
from skillgate.model.benchmark import METHODS, AuthType, HttpRequest
from skillgate.model.score import key_of
from tests.docs.page import Page

PAGE = Page("docs/how-to/http-apis.md")


def words_of(section: str) -> set[str]:
    rows = re.findall(r"^\| (`.+?) \|", PAGE.section(section), flags=re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def test_the_page_has_a_row_for_each_key_of_a_request_and_each_kind_of_token() -> None:
    assert words_of("The request") == {key_of(HttpRequest, field.name) for field in fields(HttpRequest)}
    assert words_of("Tokens") - {"authTokenEnvKey", "authType"} == {kind.value for kind in AuthType} - {"none"}
    assert all(f"`{method}`" in PAGE.text for method in METHODS)


def test_the_request_of_the_page_is_valid() -> None:
    (block,) = (block for block in PAGE.of("json") if block.startswith('{"method"'))
    assert [*check_request(decoded(HttpRequest, json.loads(block), "page"))] == []
