"""The table of the page about choosing names every key and option, and its text the weights."""

from __future__ import annotations

import re

from skillgate.bench.evaluate import TOP_K
from skillgate.bench.finding import DESCRIPTION, EXACT, ID, NAME, PART, PREFIX, TAG
from skillgate.model.benchmark import Filters, SortKey, Strategy
from skillgate.model.score import json_keys
from tests.docs.page import Page

PAGE = Page("docs/how-to/choosing.md")


def test_the_table_has_every_key_of_a_strategy() -> None:
    rows = re.findall(r"^\| `([A-Za-z0-9.]+)` \| `--", PAGE.text, flags=re.MULTILINE)
    filters = [f"filters.{field.key}" for field in json_keys(Filters)]
    assert rows == [*filters, *(field.key for field in json_keys(Strategy) if field.key != "filters")]
    assert all(f"`{key.value}`" in PAGE.text for key in SortKey)


def test_the_page_names_the_weights_and_the_default() -> None:
    assert NAME == ID
    text = " ".join(PAGE.text.split())
    assert f"the id or name counts {NAME}, in the description {DESCRIPTION}, in a tag {TAG}." in text
    assert f"multiplied by {EXACT} for a whole word, {PREFIX} for the beginning of one, {PART} for a part" in text
    assert f"At most {TOP_K} are selected" in text
