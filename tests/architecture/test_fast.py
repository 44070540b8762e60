"""The marker `fast`: what a contributor runs while working reaches every package."""

from __future__ import annotations

from tests.architecture.source import ROOT
from tests.conftest import SLOW


def test_every_slow_file_exists() -> None:
    assert [name for name in SLOW.read_text(encoding="utf-8").split() if not (ROOT / name).is_file()] == []


def test_the_fast_tests_reach_every_package() -> None:
    slow = set(SLOW.read_text(encoding="utf-8").split())
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")} - slow
    packages = {path.parent.name for path in (ROOT / "skillgate").glob("*/__init__.py")}
    missing = [name for name in packages if not any(file.startswith(f"tests/{name}/") for file in files)]
    assert missing == []
