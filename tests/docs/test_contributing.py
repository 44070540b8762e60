"""CONTRIBUTING: its map leaves no package out, what it names exists, and its walk-throughs are short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGES = sorted(path.parent.name for path in (ROOT / "skillgate").glob("*/__init__.py"))
MODULES = sorted(path.stem for path in (ROOT / "skillgate").glob("*.py") if not path.stem.startswith("__"))
MOST_STEPS = 8


def section(title: str) -> str:
    """Return the text below a heading, down to the next one."""
    return re.split(r"\n#+ ", TEXT.partition(f"# {title}\n")[2], maxsplit=1)[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_has_every_package(package: str) -> None:
    rows = section("The packages, in the order of the data flow")
    assert f"\n| `{package}/` |" in rows


@pytest.mark.parametrize("package", PACKAGES)
def test_there_is_a_recipe_for_every_package(package: str) -> None:
    assert f"\n| `{package}` |" in section("Add a thing: one file or one entry, and one table of cases")


@pytest.mark.parametrize("module", MODULES)
def test_every_single_module_is_named(module: str) -> None:
    assert f"`{module}`" in section("How the code is laid out") + section("The packages, in the order of the data flow")


def test_every_path_exists() -> None:
    paths = set(re.findall(r"`([a-z_/]+/[\w/.<>-]*)`", TEXT))
    found = {path.partition("<")[0] for path in paths if not path.startswith(".venv")}
    assert len(found) > 60
    assert [path for path in sorted(found) if not any((ROOT / top / path).exists() for top in ("", "skillgate"))] == []


@pytest.mark.parametrize(
    "title", ["From `score PATH` to a printed finding", "From the Action's input `threshold` to the exit code"]
)
def test_a_walk_through_goes_from_module_to_module_in_few_steps(title: str) -> None:
    steps = re.findall(r"^(\d+)\. (.+)$", section(title), re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert 4 <= len(steps) <= MOST_STEPS
    for _, step in steps:
        assert re.search(r"`[a-z_/]+\.py`", step)


def test_what_a_walk_through_names_is_defined() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "skillgate").rglob("*.py"))
    for title in ("From `score PATH` to a printed finding", "From the Action's input `threshold` to the exit code"):
        for name in re.findall(r"`([A-Z][A-Za-z]+|[a-z]+_[a-z_]+)`", section(title)):
            assert re.search(rf"^(class|def) {name}\b", text, re.MULTILINE), name
