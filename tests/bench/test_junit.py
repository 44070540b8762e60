"""Benchmark reports as JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from skillgate.bench.answers import bounded_output
from skillgate.bench.request import BenchPolicy
from skillgate.model.bench import ErrorKind, Status
from skillgate.report.bench_junit import render
from tests.bench.made import answering, benchmark, result, run, skill, task
from tests.bench.written import good, mixed, skill_report, whole
from tests.report.pages import EVIL

if TYPE_CHECKING:
    from pathlib import Path


def suites(text: str) -> list[ET.Element]:
    """The suites of a document, which must be well-formed."""
    return list(ET.fromstring(text.encode("utf-8")))


def test_a_suite_for_each_skill_and_a_case_for_each_task_and_run() -> None:
    found = suites(render(whole(skill_report(mixed(), "a"), skill_report(good(tasks=2), "b"))))
    assert [suite.get("name") for suite in found] == ["a on own", "b on own"]
    assert [
        (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) for suite in found
    ] == [("36", "4", "6", "3"), ("6", "0", "0", "0")]
    names = [case.get("name") for case in found[1].iter("testcase")]
    assert names == ["t06 run 1", "t07 run 1", "t06 run 2", "t07 run 2", "t06 run 3", "t07 run 3"]


def test_what_failed_is_told_from_what_broke_and_from_what_was_not_measured() -> None:
    (suite,) = suites(render(whole(skill_report(mixed(runs=1)))))
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure, error, timeout = cases["t01"].find("failure"), cases["t02"].find("error"), cases["t03"].find("error")
    assert failure is not None
    assert failure.get("message") == 'expected 25, found "twenty-four"'
    assert (failure.text or "").splitlines() == ["score 0.250", 'answer: {"result": "24"}']
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("crash", "crash: signal 11 ended it")
    assert "try 1: spawn: no such program" in (error.text or "")
    assert timeout is not None
    assert timeout.get("type") == "timeout"
    assert cases["t05"].find("skipped") is not None
    assert cases["t05"].get("time") is None
    assert list(cases["t06"]) == []
    assert cases["t06"].get("time") == "0.121"


def test_gates_and_figures_stand_at_the_suite() -> None:
    (suite,) = suites(render(whole(skill_report(mixed(runs=1), policy=BenchPolicy(min_completion=0.9)))))
    properties = {item.get("name"): item.get("value") or "" for item in suite.iter("property")}
    assert properties["gate 1"].startswith("fail: completion rate")
    assert properties["consistencyScore"] == "not measured: needs more than one run"
    assert properties["completionRate"] == "0.727"


def test_hostile_texts_leave_it_well_formed() -> None:
    results = [
        result(
            text,
            status,
            error=text,
            error_kind=ErrorKind.CRASH if status is Status.ERROR else None,
            reason=text,
            scorer_type=text,
            output=bounded_output({text: text}),
            number=number + 1,
        )
        for number, text in enumerate((*EVIL, "\ufffe\uffff\x01]]>"))
        for status in Status
    ]
    report = skill_report(results, EVIL[0], skill_version=EVIL[1], benchmark_id=EVIL[3], incomplete=EVIL[6])
    (suite,) = suites(render(whole(report)))
    assert suite.get("tests") == str(len(results))
    assert {child.tag for case in suite.iter("testcase") for child in case} == {"failure", "error", "skipped"}
    assert suite.get("name", "").startswith("</script><script>")


def test_eval_writes_it(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task("one"), task("two", expectedOutput={"value": 2}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--format", "junit", "--output-dir", "r")
    assert done.code == 0
    (suite,) = suites((tmp_path / "r" / "eval-result.junit.xml").read_text(encoding="utf-8"))
    assert [len(case) for case in suite.iter("testcase")] == [0, 1]
