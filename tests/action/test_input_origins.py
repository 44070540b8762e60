"""Every input that names a file or a directory: a change cannot choose what its own gate reads through one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from skillgate.model.setting import BASE_ALONE, NEVER, OUTPUT, UNTRACKED, Kind
from skillgate.settings import INPUTS
from tests.action.pull_request import DEAD_LINK, PullRequest, skill
from tests.action.recorded import log
from tests.action.test_benchmarks import program, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

MAIN = "skills/merge-sheets/SKILL.md"
TOUCHED = {
    **skill("merge-sheets", body="\nKeep the newest of two rows.\n"),
    "programs/doubler/README.md": "# Doubles\n",
}
BROKEN = {**skill("merge-sheets", body=DEAD_LINK), "skills/translate-notes/SKILL.md": "# y\n"}
AFTER_MERGE = "is new in this change"
TRACKED = "in the repository"


def sarif(*places: str) -> str:
    """Write the findings of another tool: an error in each file."""
    results = [
        {
            "ruleId": "theirs",
            "level": "error",
            "message": {"text": "it is bad"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 3}}}],
        }
        for uri in places
    ]
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "other"}}, "results": results}]})


def hard() -> str:
    """Write a benchmark whose only task no program passes."""
    benchmark = json.loads(tasks(1)["benchmarks/doubles.json"])
    benchmark["tasks"][0]["expectedOutput"]["value"] = 1_000
    return json.dumps(benchmark)


EASY = tasks(1)["benchmarks/doubles.json"]
RUN: dict[str, str] = {"skills": "programs", "allow_exec": "true", "min_completion": "1"}
ALL = {**RUN, "benchmark": "doubles"}
GATED: dict[str, str] = {"gate": "publish"}


class Case(NamedTuple):
    """What an input names, in the base and as the change has it; None where it is not there.

    Attributes:
        more: further inputs.
        code: what the step ends with.
        said: in the reasons or the notices.
    """

    value: str
    base: Mapping[str, str]
    change: Mapping[str, str | None]
    code: int
    said: str = ""
    more: Mapping[str, str] = {}


def _both(value: str, then: str | None, now: str | None, code: int, said: str = "", **more: str) -> Case:
    """Make a case of one file."""
    path = value.removeprefix("report:")
    base = {} if then is None else {path: then}
    return Case(value, base, {} if now == then else {path: now}, code, said, more)


CASES: dict[str, list[Case]] = {
    "paths": [Case("skills", {}, BROKEN, 1), Case("skills\nprograms", {}, {}, 0)],
    "working-directory": [Case("skills", {}, BROKEN, 1), Case("skills", {}, {}, 0)],
    "config": [
        _both("gate.yaml", "threshold: 99.9\n", "threshold: 1\n", 1, "is below 99.9"),
        _both("gate.yaml", None, "fail-on: never\n", 1, "the base has no gate.yaml", threshold="99.9"),
    ],
    "baseline": [
        _both("report:kept.json", "{", "[]", 2, "not JSON"),
        _both("report:kept.json", None, "[]", 2, AFTER_MERGE),
    ],
    "cache-dir": [Case("kept", {"kept/a": "x"}, {}, 2, "has files of the repository", {"depth": "standard"})],
    "store": [Case("runs.db", {"runs.db": ""}, {}, 2, "has files of the repository")],
    "corpus-dir": [
        Case("corpus", {"corpus/index.json": "{"}, {"corpus/index.json": None}, 2, "corpus", {"depth": "certify"}),
        Case("corpus", {}, {"corpus/index.json": "{"}, 1, AFTER_MERGE, {"depth": "certify"}),
    ],
    "reports": [Case("kept.json", {"kept.json": "[]"}, {}, 2, "not in pull_request")],
    "certificate": [Case("cert.json", {"cert.json": "{}"}, {}, 2, TRACKED, {"depth": "certify"})],
    "badges": [Case("badges", {"badges/a.svg": "x"}, {}, 2, TRACKED, {"depth": "certify"})],
    "benchmark": [
        _both("benchmarks/doubles.json", hard(), EASY, 1, "completion rate", **RUN),
        _both("benchmarks/doubles.json", None, hard(), 0, AFTER_MERGE, **RUN),
    ],
    "tasks": [
        _both("tasks.json", hard(), EASY, 1, "completion rate", **RUN),
        _both("tasks.json", None, hard(), 0, AFTER_MERGE, **RUN),
    ],
    "skills": [Case("programs", {}, {"programs/doubler/skill.py": "raise SystemExit(1)\n"}, 1, "completion", ALL)],
    "invocations": [
        _both("runs.jsonl", log("merge-sheets", well=False), log("merge-sheets", 400), 1, "publish", **GATED),
        _both("runs.jsonl", None, log("merge-sheets", well=False), 0, AFTER_MERGE, **GATED),
    ],
    "merge-sarif": [
        _both("scan.sarif", sarif(MAIN), sarif(), 1, "1 new error"),
        _both("scan.sarif", sarif(MAIN), None, 1, "1 new error"),
        _both("scan.sarif", None, sarif(), 2, AFTER_MERGE),
        _both("scan.sarif", sarif(), sarif(), 0),
    ],
    "report-dir": [Case("out", {"out/report.json": "{}"}, {}, 2, TRACKED)],
    "sarif": [Case("out.sarif", {"out.sarif": "{}"}, {}, 2, TRACKED)],
}
ROWS = [(name, number) for name, cases in CASES.items() for number in range(len(cases))]


@pytest.fixture
def made(tmp_path: Path) -> PullRequest:
    return PullRequest(folder=tmp_path / "work")


def test_every_input_that_names_a_file_says_where_it_comes_from() -> None:
    assert {entry.key for entry in INPUTS if entry.action and entry.action.origin} == CASES.keys()
    words = ("file", "director", "where", "path")
    texts = [entry for entry in INPUTS if entry.kind in (Kind.TEXT, Kind.TEXTS)]
    silent = [
        (entry.key, entry.action.help or entry.help) for entry in texts if entry.action and not entry.action.origin
    ]
    named = {name for name, text in silent if any(word in text.lower() for word in words)}
    assert named == {"base-url"}  # where requests are sent, which is no place in the workspace


@pytest.mark.parametrize(("name", "number"), ROWS)
def test_what_it_names_comes_from_where_the_table_says(made: PullRequest, name: str, number: int) -> None:
    case = CASES[name][number]
    made.base({**skill("merge-sheets"), **program(), **({} if name == "benchmark" else tasks(1)), **case.base})
    made.change({**TOUCHED, **case.change})
    ran = made.run(**{**case.more, name.replace("-", "_"): case.value})
    assert ran.code == case.code, ran.outputs["reasons"] + ran.err
    assert case.said in ran.outputs["reasons"] + ran.err
    origin = {entry.key: entry.action.origin for entry in INPUTS if entry.action}[name]
    if origin in (BASE_ALONE, UNTRACKED, OUTPUT, NEVER) and case.code == 2:
        assert ran.outputs["score"] == ""


class TestWhatAnEarlierStepWrote:
    """What git does not track is an earlier step's, and is read where it lies, unless a change leads there."""

    def run(self, made: PullRequest, path: str = "out/scan.sarif", **inputs: str) -> Any:
        return made.run(merge_sarif=path, **inputs)

    def test_it_counts(self, made: PullRequest) -> None:
        made.base(skill("merge-sheets"))
        made.change(skill("merge-sheets", body="\nMore.\n"))
        made.write({"out/scan.sarif": sarif(MAIN)})
        assert self.run(made).code == 1

    @pytest.mark.parametrize("there", [True, False])
    def test_what_it_wrote_over_a_file_of_the_repository_is_never_passed_over(
        self, made: PullRequest, *, there: bool
    ) -> None:
        """A change that commits a file where the scanner writes would else take its findings away."""
        made.base({**skill("merge-sheets"), **({"out/scan.sarif": sarif()} if there else {})})
        made.change({**skill("merge-sheets", body="\nMore.\n"), "out/scan.sarif": sarif("README.md")})
        made.write({"out/scan.sarif": sarif(MAIN)})
        ran = self.run(made)
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert ("has overwritten it" if there else AFTER_MERGE) in ran.outputs["reasons"]

    @pytest.mark.parametrize("way", ["the file", "its directory", "to a file of the repository"])
    def test_a_link_that_the_change_brings_is_refused(self, made: PullRequest, tmp_path: Path, way: str) -> None:
        outside = tmp_path / "elsewhere"
        outside.mkdir()
        (outside / "scan.sarif").write_text(sarif(), encoding="utf-8")
        made.base({**skill("merge-sheets"), "empty.sarif": sarif()})
        match way:
            case "its directory":
                (made.folder / "out").symlink_to(outside)
            case "the file":
                made.write({"out/a": ""})
                (made.folder / "out/scan.sarif").symlink_to(outside / "scan.sarif")
            case _:
                made.write({"out/a": ""})
                (made.folder / "out/scan.sarif").symlink_to("../empty.sarif")
        made.change(skill("merge-sheets", body="\nMore.\n"))
        ran = self.run(made)
        assert (ran.code, ran.outputs["result"]) == (2, "error")
        assert "link" in ran.outputs["reasons"] or AFTER_MERGE in ran.outputs["reasons"]

    def test_outside_of_a_change_what_is_checked_out_is_read(self, made: PullRequest) -> None:
        made.base({**skill("merge-sheets"), "scan.sarif": sarif(MAIN)})
        made.name = "schedule"
        assert self.run(made, "scan.sarif").code == 1
        made.write({"scan.sarif": sarif()})
        assert self.run(made, "scan.sarif").code == 0
