"""`config` shows what holds and where it was set."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from skillgate.cli.main import main
from skillgate.settings import SETTINGS

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
        "min-new-score = null",
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
        *(f"{key} = null" for key in ("per-file-ignores", "exclude", "known-findings", "rules")),
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
        "memory-mb = 1024",
        "sandbox = none",
        "allow-env = []",
        "allow-host = []",
        *(f"{key} = null" for key in ("min-completion", "min-partial", "min-composite", "max-error-rate")),
        "max-p95-ms = null",
        "store = null",
        "store-url = null",
        *("rubric = 1.1", "log-days = 30", "sync = null", "gates = null"),
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
        *["default"] * 3,
        ".skillgate.yaml:2",
        *["default"] * (len(SETTINGS) - 6),
        ".skillgate.yaml:5",
    ]


def test_list_as_json_has_values_and_origins(configured: Path) -> None:
    _, out, _ = run("config", "list", "--json", cwd=configured)
    document = json.loads(out)
    assert list(document["settings"]) == [setting.key for setting in SETTINGS]
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
    assert "[tool.skillgate] is ignored" in run("config", "get", "depth", cwd=configured)[2]
    assert run("-q", "config", "get", "depth", cwd=configured) == (0, "quick\n", "")


def test_values_from_files_are_shown_safely(configured: Path) -> None:
    (configured / ".skillgate.yaml").write_text('baseline: "x\\e[31m"\n')
    assert run("config", "get", "baseline", cwd=configured)[1] == "x\\x1b[31m\n"


OTHER = """\
concurrency: 2
timeoutMs: 5000
outputDir: ./out
defaultFormats: [json, md, html]
plugins: [x]
llm:
  model: gpt-4o
  temperature: 0
  baseUrl: https://elsewhere.example
"""


def test_a_configuration_of_eval_skills_is_read_with_a_notice_where_there_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "eval-skills.config.yaml").write_text(OTHER)
    code, out, err = run("config", "list", "--show-origin", cwd=tmp_path / "below")
    assert code == 0
    lines = {line.split(" = ")[0]: line.split(" = ")[1].split("  ")[0] for line in out.splitlines()}
    assert lines["concurrency"] == "2"
    assert lines["timeout-ms"] == "5000"
    assert lines["output-dir"] == "./out"
    assert lines["formats"] == '["json", "markdown", "html"]'
    assert lines["judge-model"] == '["gpt-4o"]'
    assert lines["temperature"] == "0"
    assert lines["base-url"] == "null"  # a project's file does not say where requests go
    assert "../eval-skills.config.yaml:1" in out
    assert err.splitlines() == [
        "../eval-skills.config.yaml: used because there is no .skillgate.yaml",
        "../eval-skills.config.yaml: line 5: plugins has no equivalent and is ignored",
        "../eval-skills.config.yaml: line 9: llm.baseUrl is ignored in a project's file; set your own with skillgate"
        " config set base-url VALUE",
    ]
    (tmp_path / ".skillgate.yaml").write_text("runs: 3\n")
    code, out, err = run("config", "get", "concurrency", cwd=tmp_path / "below")
    assert (code, out, err) == (0, "4\n", "")


def test_it_is_read_too_where_it_is_named_and_its_mistakes_are_told(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "eval-skills.config.json").write_text('{"concurrency": 0, "timeoutMs": "soon"}')
    for words in (("-c", "elsewhere/eval-skills.config.json", "config", "list"), ("config", "validate", str(place))):
        words = (*words[:2], f"{place}/eval-skills.config.json") if words[1] == "validate" else words
        code, _, err = run(*words, cwd=tmp_path)
        assert code == 2
        assert "concurrency: expected a whole number from 1 to 256, found 0" in err
        assert "timeout-ms: expected a whole number" in err
    (place / "eval-skills.config.json").write_text('{"concurrency": 7}')
    code, out, _ = run("-c", "elsewhere/eval-skills.config.json", "config", "get", "concurrency", cwd=tmp_path)
    assert (code, out) == (0, "7\n")


def own(*argv: str, cwd: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    environ = {"HOME": str(cwd / "home")}
    return main(argv, stdout=out, stderr=err, environ=environ, cwd=str(cwd)), out.getvalue(), err.getvalue()


def test_set_keeps_a_value_for_every_project(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".config" / "skillgate" / "config.yaml"
    for word, value in (("concurrency", "8"), ("llm.model", "gpt-4o"), ("llm.temperature", "0"), ("timeoutMs", "500")):
        code, _, err = own("config", "set", word, value, cwd=tmp_path)
        assert (code, err) == (0, "")
    assert file.read_text() == 'concurrency: 8\njudge-model: ["gpt-4o"]\ntemperature: 0\ntimeout-ms: 500\n'
    assert own("config", "get", "llm.model", cwd=tmp_path)[1] == '["gpt-4o"]\n'
    assert own("config", "get", "llm.temperature", cwd=tmp_path)[1] == "0\n"
    code, out, _ = own("config", "set", "formats", "json,html", "--json", cwd=tmp_path)
    assert json.loads(out) == {"key": "formats", "value": ["json", "html"], "file": str(file)}
    (tmp_path / ".skillgate.yaml").write_text("concurrency: 2\n")
    code, _, err = own("config", "set", "concurrency", "9", cwd=tmp_path)
    assert code == 0
    assert ".skillgate.yaml:1 sets concurrency to something else" in err


def test_set_leaves_every_other_line_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "home" / ".config" / "skillgate" / "config.yaml"
    file.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.yaml"
    real.write_text("# mine\nruns: 3  # three\nformats:\n  - json\n  - csv\n\n# last\nretries: 1")
    file.symlink_to(real)
    assert own("config", "set", "formats", '["html"]', cwd=tmp_path)[0] == 0
    assert own("config", "set", "model", "null", cwd=tmp_path)[0] == 0
    assert file.is_symlink()
    wanted = '# mine\nruns: 3  # three\nformats: ["html"]\n\n# last\nretries: 1\nmodel: null\n'
    assert real.read_text() == wanted


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("concurrency", "0"), "concurrency: expected a whole number from 1 to 256"),
        (("timeoutMs", "soon"), "timeoutMs: expected a whole number"),
        (("concurency", "4"), "concurrency"),
        (("__proto__.x", "4"), "unknown key"),
        (("llm.modl", "x"), "llm.model"),
        (("formats", "pdf"), "formats: expected a list of json"),
        (("runs", "null"), "runs: expected"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_is_written(
    words: tuple[str, str], told: str, tmp_path: Path
) -> None:
    code, _, err = own("config", "set", *words, cwd=tmp_path)
    assert code == 2
    assert told in err
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("text", ["{runs: 2}\n", "runs: 2\n...\n", "nonsense: 1\n", "concurrency: [1,\n2]\n"])
def test_a_file_that_cannot_be_changed_line_by_line_is_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / "home" / ".config" / "skillgate" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert own("config", "set", "concurrency", "4", cwd=tmp_path)[0] == 2
    assert file.read_text() == text


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that can be opened and not read")
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "home" / ".config" / "skillgate" / "config.yaml"
    place.parent.mkdir(parents=True)
    place.symlink_to("/proc/self/mem")
    code, _, err = own("config", "set", "concurrency", "9", cwd=tmp_path)
    assert code == 2
    assert "cannot read" in err


def test_without_a_home_there_is_nothing_to_set(tmp_path: Path) -> None:
    code, _, err = run("config", "set", "runs", "3", cwd=tmp_path)
    assert code == 2
    assert "HOME" in err
