"""The page on house rules: its rules are loaded and find what it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml

from skillgate.rules import failed_cases
from skillgate.settings import RULES
from tests.architecture.source import ROOT
from tests.cli.running import git, run
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "house-rules.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


TEMPLATES, NAMED = blocks("yaml")
RULE, TEST = blocks("python")


def test_the_page_names_every_key() -> None:
    keys = {key for row in re.findall(r"^\| (`.+?) \|", PAGE, flags=re.MULTILINE) for key in re.findall("`(.+?)`", row)}
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
    (command,) = blocks("sh")
    done = run(tmp_path, *command.split()[1:])
    assert "ACME" not in done.out


def test_the_case_table_of_the_page_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "capitals.py").write_text(RULE, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (table,) = blocks("text")
    (tmp_path / "tests" / "capitals.md").write_text(table, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    exec(compile(TEST, "test_capitals.py", "exec"), space)
    test = space["test_headings_in_capitals"]
    assert callable(test)
    test()
    (tmp_path / "tests" / "capitals.md").write_text(table.replace(":7:1", ":6:1"), encoding="utf-8")
    with pytest.raises(AssertionError):
        test()
    assert failed_cases.__doc__
