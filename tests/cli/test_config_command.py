"""`config` shows what holds and where it was set."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.main import main
from skillgate.registry import settings

if TYPE_CHECKING:
    from pathlib import Path


def run(*argv: str, cwd: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(argv, stdout=out, stderr=err, environ={}, cwd=str(cwd)), out.getvalue(), err.getvalue()


@pytest.fixture
def configured(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".skillgate.yaml").write_text(
        "threshold: 80\nfail-on: [error, badge]\noverrides:\n  - paths: ['legacy/**']\n    threshold: 50.5\n"
    )
    return tmp_path


def test_list_prints_every_setting_and_the_overrides(configured: Path) -> None:
    code, out, err = run("config", "list", cwd=configured)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "depth = quick",
        "threshold = 80",
        "min-badge = null",
        "min-dimension = null",
        'fail-on = ["error", "badge"]',
        "baseline = null",
        "max-drop = 2",
        "on-inconclusive = point",
        "layers = null",
        "profile = any",
        'select = ["default"]',
        "ignore = null",
        "known-findings = null",
        "provider = anthropic",
        *(f"{key} = null" for key in ("base-url", "key-variable", "script", "judge-model")),
        "judges = null",
        *(f"{key} = null" for key in ("temperature", "max-cost-usd", "max-calls")),
        "in-flight = 8",
        "poll-seconds = 10",
        "cache-dir = null",
        "model = null",
        "simulations = 50",
        "near-misses = null",
        "seed = 0",
        "max-turns = 10",
        "runner = messages",
        "min-activation = null",
        "max-failure-rate = null",
        "early-stop = false",
        "corpus-dir = null",
        "opponents = 16",
        "benchmark = coding-easy",
        "runs = 1",
        "concurrency = 4",
        "timeout-ms = 30000",
        "retries = 0",
        "retry-delay-s = 1",
        "evaluator = exact",
        'formats = ["json", "markdown"]',
        "output-dir = reports",
        "benchmarks-dir = benchmarks",
        "allow-exec = true",
        "allow-env = []",
        "allow-host = []",
        *(f"{key} = null" for key in ("min-completion", "min-partial", "min-composite", "max-error-rate")),
        "max-p95-ms = null",
        "",
        "for legacy/**",
        "threshold = 50.5",
    ]


def test_list_shows_origins_when_asked(configured: Path) -> None:
    _, out, _ = run("config", "list", "--show-origin", cwd=configured)
    rows = [line.rsplit("  ", 1) for line in out.splitlines() if "  " in line]
    assert [row[1] for row in rows] == [
        "default",
        ".skillgate.yaml:1",
        "default",
        "default",
        ".skillgate.yaml:2",
        *["default"] * (len(settings()) - 5),
        ".skillgate.yaml:5",
    ]


def test_list_as_json_has_values_and_origins(configured: Path) -> None:
    _, out, _ = run("config", "list", "--json", cwd=configured)
    document = json.loads(out)
    assert list(document["settings"]) == [setting.key for setting in settings()]
    assert document["settings"]["threshold"] == {"value": 80.0, "origin": ".skillgate.yaml:1"}
    assert document["overrides"] == [
        {"paths": ["legacy/**"], "settings": {"threshold": {"value": 50.5, "origin": ".skillgate.yaml:5"}}}
    ]


@pytest.mark.parametrize(("key", "value"), [("threshold", "80"), ("depth", "quick"), ("baseline", "null")])
def test_get_prints_one_value(key: str, value: str, configured: Path) -> None:
    assert run("config", "get", key, cwd=configured) == (0, value + "\n", "")


def test_get_as_json_names_key_and_origin(configured: Path) -> None:
    _, out, _ = run("--json", "config", "get", "max-drop", cwd=configured)
    assert json.loads(out) == {"key": "max-drop", "value": 2.0, "origin": "default"}


def test_an_unknown_key_is_exit_2_with_a_suggestion(configured: Path) -> None:
    code, out, err = run("config", "get", "max_drop", cwd=configured)
    assert (code, out) == (2, "")
    assert "unknown key 'max_drop' (did you mean 'max-drop'?)" in err


def test_notices_go_to_stderr_unless_quiet(configured: Path) -> None:
    (configured / "pyproject.toml").write_text("[tool.skillgate]\nthreshold = 1\n")
    assert "[tool.skillgate] is not read" in run("config", "get", "depth", cwd=configured)[2]
    assert run("-q", "config", "get", "depth", cwd=configured) == (0, "quick\n", "")


def test_values_from_files_are_shown_safely(configured: Path) -> None:
    (configured / ".skillgate.yaml").write_text('baseline: "x\\e[31m"\n')
    assert run("config", "get", "baseline", cwd=configured)[1] == "x\\x1b[31m\n"
