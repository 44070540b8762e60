"""What the page about choosing says runs as printed, in its order, and its table names every key and option."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

from skillgate.bench.choosing.matching import DESCRIPTION, EXACT, ID, NAME, PART, PREFIX, TAG
from skillgate.bench.choosing.running import TOP_K
from skillgate.cli.main import main
from skillgate.model.fields import json_keys
from skillgate.model.strategy import Filters, SortKey, Strategy
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "how-to" / "choosing.md").read_text(encoding="utf-8")
LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("skillgate ")
]


def test_the_commands_of_the_page_pass_one_after_another(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (strategy,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "strategy.yaml").write_text(strategy, encoding="utf-8")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    said = {}
    for line in LINES:
        out, err = io.StringIO(), io.StringIO()
        code = main(shlex.split(line)[1:], stdout=out, stderr=err, environ=environ, cwd=str(tmp_path))
        assert code == 0, (line, err.getvalue())
        said[line] = out.getvalue()
    assert [one["id"] for one in json.loads((tmp_path / "chosen.json").read_text())] == ["calculator"]
    for line, text in said.items():
        if "--min-completion" in line or "arithmetic" in line:
            assert "calculator" in text, line
    assert "(its own word)" in next(text for line, text in said.items() if line.endswith("--no-store"))


def test_the_table_has_every_key_of_a_strategy() -> None:
    rows = re.findall(r"^\| `([A-Za-z0-9.]+)` \| `--", PAGE, flags=re.MULTILINE)
    filters = [f"filters.{field.key}" for field in json_keys(Filters)]
    assert rows == [*filters, *(field.key for field in json_keys(Strategy) if field.key != "filters")]
    assert all(f"`{key.value}`" in PAGE for key in SortKey)


def test_the_page_names_the_weights_and_the_default() -> None:
    assert NAME == ID
    assert f"id or\nname counts {NAME}, in the description {DESCRIPTION}, in a tag {TAG}; times {EXACT}" in PAGE
    assert f"{PREFIX} for the beginning of one, {PART} for a part" in PAGE
    assert f"at most {TOP_K} are" in PAGE
