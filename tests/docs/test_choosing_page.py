"""What the page about choosing says runs as printed, in its order, and its table names every key and option."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from skillgate.bench.evaluate import TOP_K
from skillgate.bench.finding import DESCRIPTION, EXACT, ID, NAME, PART, PREFIX, TAG
from skillgate.model.benchmark import Filters, SortKey, Strategy
from skillgate.model.score import json_keys
from tests.docs.page import Page

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("choosing")


def test_the_commands_of_the_page_pass_one_after_another(tmp_path: Path) -> None:
    (strategy,) = PAGE.blocks("yaml")
    (tmp_path / "strategy.yaml").write_text(strategy, encoding="utf-8")
    said = PAGE.run(tmp_path)
    assert [one["id"] for one in json.loads((tmp_path / "chosen.json").read_text())] == ["calculator"]
    for line, text in said.items():
        if "--min-completion" in line or "arithmetic" in line:
            assert "calculator" in text, line
    assert "self-reported)" in next(text for line, text in said.items() if line.endswith("--no-store"))


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
