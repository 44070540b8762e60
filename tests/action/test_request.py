"""The request that inputs make, and the notes that a session collects."""

from __future__ import annotations

import io

import pytest

from skillgate.action.protocol import Redactor
from skillgate.action.request import ActionSession, BenchmarkRequest, read_inputs, request_of
from skillgate.config import Config
from skillgate.console import Console


def test_inputs_that_are_not_given_ask_for_what_action_yml_says() -> None:
    request = request_of(read_inputs({}))
    assert (request.mode, request.paths, request.working_directory) == ("auto", (".",), ".")
    assert (request.baseline, request.changed_only, request.on_unmeasured) == ("auto", "auto", "fail")
    assert (request.config, request.store, request.cache_dir, request.shard, request.pr_number) == (None,) * 5
    assert (request.report_dir, request.sarif, request.certificate, request.badges) == ("skillgate-report", "", "", "")
    assert request.benchmark == BenchmarkRequest()
    assert "threshold" not in request.options


@pytest.mark.parametrize(
    ("text", "paths", "excluded"),
    [
        ("a\nb", ("a", "b"), ()),
        ("a\n! old \n!b", ("a",), ("old", "b")),
        ("!old", (), ("old",)),
    ],
)
def test_paths_with_an_exclamation_mark_are_left_out(
    text: str, paths: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    request = request_of(read_inputs({"INPUT_PATHS": text}))
    assert (request.paths, request.excluded) == (paths, excluded)


def test_inputs_that_are_settings_lie_over_the_configuration() -> None:
    request = request_of(read_inputs({"INPUT_THRESHOLD": "70", "INPUT_FAIL-ON": "error, threshold"}))
    assert request.options["threshold"] == 70.0
    assert request.options["fail-on"] == ("error", "threshold")


def test_numbers_and_shards_are_read() -> None:
    request = request_of(read_inputs({"INPUT_SHARD": "2/14", "INPUT_PR-NUMBER": "31", "INPUT_RUNS": "3"}))
    assert (request.shard, request.pr_number, request.benchmark.runs) == ((2, 14), 31, 3)


@pytest.mark.parametrize(
    ("given", "is_wanted", "names"),
    [
        ({}, False, ()),
        ({"BENCHMARK": "x"}, True, ("benchmark",)),
        ({"TASKS": "x.json"}, True, ("tasks",)),
        ({"RUNS": "2", "ALLOW-EXEC": "true"}, False, ("runs", "allow-exec")),
        ({"MIN-COMPLETION": "0.5", "ALLOW-ENV": "A"}, False, ("min-completion", "allow-env")),
    ],
)
def test_a_benchmark_is_wanted_by_its_name_or_its_tasks(
    given: dict[str, str], is_wanted: bool, names: tuple[str, ...]
) -> None:
    request = request_of(read_inputs({f"INPUT_{name}": text for name, text in given.items()}))
    assert (request.benchmark.is_wanted, request.benchmark.names) == (is_wanted, names)


def test_notes_are_collected_once_without_secrets_whatever_configuration_holds() -> None:
    stderr = io.StringIO()
    plain = Console(stdout=io.StringIO(), stderr=stderr, environ={}, cwd="/nowhere")
    session = ActionSession(plain, workspace="/workspace", redactor=Redactor(["s3cret-word"]))
    session.note("a\ns3cret-word")
    config = Config(cwd="/workspace")
    settled = session.with_config(config)
    settled.note("b")
    settled.note("b")
    assert session.notes == settled.notes == ("a ***", "b")
    assert settled.cwd == "/workspace"
    assert settled.config is config
    assert stderr.getvalue() == "a\n***\nb\nb\n"
