"""The page on house rules: its rules are loaded and find what it says."""

from __future__ import annotations

import re
import runpy
from typing import TYPE_CHECKING

import yaml

from skillgate.rules import failed_cases
from skillgate.settings import RULES
from tests.cli.running import git, run
from tests.docs.page import Page
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from pathlib import Path

PAGE = Page("docs/house-rules.md")
TEMPLATES, NAMED = PAGE.of("yaml")
RULE, _ = PAGE.of("python")


def test_the_page_names_every_key() -> None:
    keys = {
        key for row in re.findall(r"^\| (`.+?) \|", PAGE.text, flags=re.MULTILINE) for key in re.findall("`(.+?)`", row)
    }
    assert keys == {field.key for field in RULES.fields}


def test_the_rules_of_the_page_find_what_it_says(tmp_path: Path) -> None:
    body = f"{BODY}\n## IMPORTANT NOTES\n\nIt simply works.\n"
    folder = write_skill(tmp_path / "skills", body=body)
    (folder / "scripts").mkdir()
    (folder / "scripts" / "a.py").write_text("print()\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "capitals.py").write_text(RULE, encoding="utf-8")
    (tmp_path / ".skillgate.yaml").write_text(TEMPLATES + NAMED.replace("rules:\n", ""), encoding="utf-8")
    named = [*yaml.safe_load(TEMPLATES)["rules"], *yaml.safe_load(NAMED)["rules"]]
    found = run(tmp_path, "check", "--json", "--select", "house").json["findings"]
    assert {one["id"]: one["severity"] for one in found} == {
        identifier: "error" if identifier == "ACME_SUPPORT" else "warning" for identifier in named
    }
    assert "ACME" not in run(tmp_path, "check", "--no-house-rules").out


def test_a_wrong_case_in_the_table_of_the_page_is_found(tmp_path: Path) -> None:
    (tmp_path / "capitals.py").write_text(RULE, encoding="utf-8")
    (table,) = (block.text for block in PAGE.blocks if block.title == "tests/capitals.md")
    (tmp_path / "cases.md").write_text(table.replace(":7:1", ":6:1"), encoding="utf-8")
    rule = runpy.run_path(str(tmp_path / "capitals.py"))["RULE"]
    assert failed_cases(rule, str(tmp_path / "cases.md"))
