"""The direction of imports, and what the pure rooms and the base path may not import."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillgate.registry import Room
from tests.architecture.source import ROOT, Module, modules

WORLD = {"os", "socket", "subprocess", "time", "random", "pathlib", "shutil", "tempfile", "io", "secrets", "datetime"}
PURE_IN_SKILL = {"commonmark", "frontmatter", "language", "links", "markdown", "parse", "similarity", "suppressions"}
DOORS_IN_SKILL = {"find", "git", "tree", "walk"}
POSIX_ONLY = {
    "crypt",
    "curses",
    "fcntl",
    "grp",
    "posix",
    "pty",
    "pwd",
    "readline",
    "resource",
    "spwd",
    "syslog",
    "termios",
    "tty",
}
HEAVY = {"numpy", "scipy", "anthropic", "jsonschema", "rich", "asyncio", "pydantic", "requests", "httpx"}
KEEPERS = {  # the one module that may import a package of an extra
    "skillgate.action.api": {"github", "requests"},
    "skillgate.cli.commands.completion": {"shtab"},  # within functions
    "skillgate.report.formats.html": {"jinja2", "markupsafe"},
    "skillgate.http_transport": {"httpx2", "httpcore2"},
    "skillgate.llm.port": {"jsonschema"},  # within a function
    "skillgate.llm.providers.anthropic": {"anthropic", "httpx2"},
    "skillgate.llm.providers.batch": {"anthropic"},
    "skillgate.llm.agent_sdk": {"claude_agent_sdk", "asyncio"},
    # Both within functions; fcntl within a try: elsewhere there are no turns between processes.
    "skillgate.llm.flow": {"tenacity", "fcntl"},
    "skillgate.llm.wire": {"httpx2", "httpcore2"},
    "skillgate.evaluation.corpus.store": {"fcntl"},  # within a try
    "skillgate.bench.isolation.seclusion": {"resource"},  # within a suppress
    "skillgate.bench.formats": {"idna", "regress"},  # within functions
    "skillgate.bench.importing.rows": {"pyarrow"},  # within a function
    "skillgate.bench.scorers.json_schema": {"jsonschema", "referencing"},
    "skillgate.bench.schemas": {"jsonschema", "jsonschema_specifications", "referencing"},
    "skillgate.invocations.formats._struct": {"msgspec"},
    "skillgate.invocations.exporting": {"pyarrow"},  # within a function
    "skillgate.invocations.serving": {"google"},  # within functions
    "skillgate.invocations.spool": {"fcntl"},  # within a try
    "skillgate.lsp.server": {"asyncio", "lsprotocol", "pygls"},
    "skillgate.invocations.figures": {"numpy"},
    "skillgate.invocations.groups": {"numpy"},
    "skillgate.store.observations": {"numpy"},
    "skillgate.store.keeper": {"sqlalchemy"},
    "skillgate.store.schema": {"sqlalchemy", "alembic"},
    "skillgate.store.invocation_rows": {"sqlalchemy"},
    "skillgate.store.migrations.env": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0001_results": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0002_invocations": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0003_added": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0004_uses": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0005_callers": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0006_summaries": {"sqlalchemy", "alembic"},
    "skillgate.store.migrations.versions.r0007_synced": {"sqlalchemy", "alembic"},
    "skillgate.bench.adapters.http": {"httpx2", "httpcore2"},
    "skillgate.bench.adapters.mcp": {"asyncio", "mcp_types"},
    "skillgate.bench.conformance": {"referencing"},
    "skillgate.bench.mcp.session": {"asyncio", "anyio", "httpcore2", "httpx2", "mcp", "mcp_types"},
}
# What these compute with arrays is loaded only where something was sampled.
ARRAYS = (
    *("skillgate.stats.", "skillgate.judge.calibration"),
    *("skillgate.scoring.sampled", "skillgate.scoring.paired"),
    *("skillgate.montecarlo.measures", "skillgate.ranking.ratings"),
    "skillgate.bench.diff",
)
PURE_PACKAGES = {
    *("evals", "fixes", "judge", "model", "montecarlo", "ranking", "report", "scoring", "static", "stats"),
}
DOORS_IN_GITHUB = {"api"}
READS_TIMES = {
    "skillgate.model.bench",
    "skillgate.model.benchmark",
    "skillgate.model.codec",
    "skillgate.model.documents",
    "skillgate.model.invocation",
    "skillgate.model.shape",
    "skillgate.report.invocations.dashboard",
    "skillgate.skill.suppressions",
    "skillgate.action.github",
}
DECLARING = ("subchecks", "antipatterns", "defects", "across")  # modules of ``static``, beside its folder of rules


def _top_level(module: Module) -> set[str]:
    return {name.partition(".")[0] for name in module.imports()}


def _kept(module: Module) -> set[str]:
    arrays = {"numpy", "scipy"} if module.name.startswith(ARRAYS) else set()
    return KEEPERS.get(module.name, set()) | arrays


def _lint_imports() -> str | None:
    return shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")


def test_imports_go_one_way() -> None:
    program = _lint_imports()
    if program is None:
        pytest.skip("import-linter is not installed")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _is_pure(module: Module) -> bool:
    parts = module.name.split(".")[1:]
    return bool(parts) and (
        parts[0] in PURE_PACKAGES
        or (parts[0] == "skill" and parts[-1] in PURE_IN_SKILL)
        or parts[:2] in (["action", "comment"], ["action", "plan"])
        or (parts[:2] == ["action", "github"] and parts[-1] not in DOORS_IN_GITHUB)
    )


def test_the_modules_of_skill_are_either_pure_or_doors() -> None:
    names = {module.name.rpartition(".")[2] for module in modules() if module.room == "skill"}
    assert names == PURE_IN_SKILL | DOORS_IN_SKILL


@pytest.mark.parametrize("module", [item for item in modules() if _is_pure(item)], ids=lambda item: item.name)
def test_pure_rooms_touch_nothing_of_the_world(module: Module) -> None:
    allowed = {"pathlib"} if module.name.startswith("skillgate.model.") else set()
    if module.name == "skillgate.action.protocol":
        allowed.add("pathlib")  # it cleans pure paths as it cleans texts
    if module.name in READS_TIMES:
        allowed.add("datetime")  # they read and write times, and never ask for one
        assert ".now(" not in module.text
    assert not (_top_level(module) & WORLD) - allowed


@pytest.mark.parametrize("module", modules(), ids=lambda item: item.name)
def test_nothing_needs_posix_or_a_heavy_package(module: Module) -> None:
    assert not _top_level(module) & (POSIX_ONLY | HEAVY) - _kept(module)


@pytest.mark.parametrize("module", modules(), ids=lambda item: item.name)
def test_only_the_standard_library_and_two_packages_are_imported(module: Module) -> None:
    allowed = {"skillgate", "yaml", "markdown_it"} | _kept(module)
    assert _top_level(module) <= sys.stdlib_module_names | allowed


def test_processes_are_spawned_in_one_place() -> None:
    assert [module.name for module in modules() if "subprocess" in _top_level(module)] == ["skillgate.process"]


def test_what_declares_checks_does_not_lean_on_its_neighbours() -> None:
    declaring = {f"skillgate.static.{name}" for name in DECLARING}
    rules = {f"skillgate.static.rules.{name}" for name in Room("skillgate.static.rules").names()}
    found = [module for module in modules() if module.name in declaring | rules]
    assert len(found) == len(declaring | rules)
    ids_across = {("skillgate.static.defects", "skillgate.static.across")}  # the ids of what not every run asks
    for module in found:
        leaning = {(module.name, name) for name in module.imports() if name in (declaring | rules) - {module.name}}
        assert leaning <= ids_across


def test_a_fresh_import_of_the_package_loads_no_parser() -> None:
    code = "import sys, skillgate; print(skillgate.__version__); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    version, _, loaded = done.stdout.partition("\n")
    assert version
    assert not {"yaml", "markdown_it", "skillgate.evaluation.pipeline", "argparse"} & set(loaded.split()) - _bare()


def _bare() -> set[str]:
    """List what the interpreter itself loads, which differs by installation."""
    code = "import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    return set(done.stdout.split())
