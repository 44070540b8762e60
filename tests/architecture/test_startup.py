"""What a run of the command line loads, asked of fresh processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skillgate.evaluation.pipeline import MEASURING
from skillgate.registry import Room
from tests.architecture.source import ROOT

EXAMPLE = "examples/skills/csv-quality-report"
HEAVY = {
    "anthropic",
    "asyncio",
    "concurrent.futures",
    "email",
    "http",
    "jsonschema",
    "multiprocessing",
    "numpy",
    "rich",
    "scipy",
    "socket",
    "ssl",
    "subprocess",
    "unittest",
    "xml",
}
COLD_MODULES, WARM_MODULES = 74, 43  # each costs about a sixth of a millisecond
PARSERS = {"yaml", "markdown_it"}
_CODE = """
import io, sys
before = set(sys.modules)
from skillgate.cli.main import main
code = main(sys.argv[1:], stdout=io.StringIO())
print(code, *(set(sys.modules) - before))
"""


def loaded(*argv: str, code: int = 0) -> set[str]:
    """Run the command line in a process of its own and list the modules that it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE, *argv], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    found, *names = done.stdout.split()
    assert int(found) == code, done.stderr
    return set(names)


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_scoring_loads_nothing_heavy(output: str) -> None:
    assert not loaded("score", EXAMPLE, "--output", output) & HEAVY


@pytest.mark.parametrize("output", ["text", "json"])
def test_checking_loads_nothing_heavy(output: str) -> None:
    assert not loaded("check", EXAMPLE, "--output", output) & HEAVY


def test_a_renderer_is_loaded_only_when_it_is_asked_for() -> None:
    text = loaded("score", EXAMPLE, "--output", "text")
    assert "skillgate.report.formats.text" in text
    assert not {"skillgate.report.json", "skillgate.report.formats.markdown"} & text
    assert "skillgate.report.formats.text" not in loaded("score", EXAMPLE, "--output", "json")


def test_a_defect_is_loaded_only_where_it_applies() -> None:
    assert not {name for name in loaded("score", EXAMPLE) if name.startswith("skillgate.static.defects")}


def test_a_command_loads_no_other_command() -> None:
    commands = {name for name in loaded("check", EXAMPLE) if name.startswith("skillgate.cli.commands.")}
    assert commands == {"skillgate.cli.commands.check"}


@pytest.mark.parametrize("argv", [("--version",), ("--help",), ("-h",)])
def test_help_and_version_load_no_parser(argv: tuple[str, ...]) -> None:
    names = loaded(*argv)
    assert not names & (HEAVY | PARSERS)
    assert not {name for name in names if name.startswith("skillgate.static")}


@pytest.mark.parametrize("command", Room("skillgate.cli.commands").names())
def test_the_help_of_every_command_works_and_loads_nothing_heavy(command: str) -> None:
    assert not loaded(command.replace("_", "-"), "--help") & HEAVY


def test_an_assessment_depends_only_on_packages_that_its_cache_entry_knows() -> None:
    code = (
        "import sys; from time import perf_counter_ns;"
        "from skillgate.evaluation.assess import entry; from skillgate.skill.find import discover, read;"
        "print(entry(read(discover([sys.argv[1]]).roots[0]), perf_counter_ns) != '');"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "examples/skills"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    names = [name.split(".") for name in done.stdout.split() if name.startswith("skillgate.")]
    packages = {name[1] for name in names if len(name) > 2}
    assert "static" in packages
    assert packages <= set(MEASURING)


def test_a_check_of_one_file_loads_few_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second = (
        sum(name.partition(".")[0] == "skillgate" for name in loaded("check", EXAMPLE)) for _ in ("cold", "warm")
    )
    assert first <= COLD_MODULES
    assert second <= WARM_MODULES
