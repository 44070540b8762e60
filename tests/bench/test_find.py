"""Skills are found by words, tags, adapter and what they completed before."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.finding import Wanted, fits, folded, ranked, relevance
from skillgate.model.benchmark import AdapterType, FoundSkill, Past
from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

SKILL_MD = """\
---
name: {name}
description: Turns a spreadsheet into a chart. Use when somebody asks for a chart.
{more}---

# Charts
"""


def prose(folder: Path, more: str = "", name: str = "chart-maker") -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL_MD.format(more=more, name=name), encoding="utf-8")
    return folder


def ids(found: Any) -> list[str]:
    return [one["id"] for one in found["skills"]]


def find(cwd: Path, *words: str) -> list[str]:
    done = run(cwd, "find", *words, "--json")
    assert done.code == 0, done.err
    return ids(done.json)


def of(**changes: Any) -> FoundSkill:
    return FoundSkill(**{"id": "one", "adapter_type": AdapterType.SUBPROCESS, **changes})


def test_every_word_must_match_wherever_it_is_and_in_any_order(tmp_path: Path) -> None:
    skill(tmp_path / "skills/web_search", description="Looks things up.", tags=["Retrieval"])
    skill(tmp_path / "skills/other", description="Searches the disk.")
    assert find(tmp_path, "-q", "search web") == ["web_search"]
    assert find(tmp_path, "--query", "WEB-search retrieval") == ["web_search"]
    assert find(tmp_path, "-q", "search disk") == ["other"]
    assert find(tmp_path, "-q", "web disk") == []


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"name": "mail"}, {"description": "mail"}),
        ({"id": "mail"}, {"description": "mail"}),
        ({"description": "mail"}, {"tags": ("mail",)}),
        ({"description": "by mail, at once"}, {"description": "mailing"}),
        ({"description": "mailing"}, {"description": "email"}),
        ({"name": "mail", "tags": ("mail",)}, {"name": "mail"}),
    ],
)
def test_where_and_how_wholly_a_word_matches_decides(better: dict[str, Any], worse: dict[str, Any]) -> None:
    assert relevance(of(**better), "mail") > relevance(of(**worse), "mail") > 0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("c++", "Compiles C++ code"),
        ("straße", "STRASSE"),
        ("ﬁle", "a file"),
        ("天気", "東京の天気予報"),
        ("a-b", "a_b"),
    ],
)
def test_words_are_compared_without_case_in_every_script(query: str, text: str) -> None:
    assert relevance(of(description=text), query) > 0


def test_no_word_is_a_pattern() -> None:
    assert relevance(of(description="anything"), ".*") == 0
    assert relevance(of(description="costs (net)"), "(net)") > 0


def test_tags_are_all_needed_whatever_their_case() -> None:
    one = of(tags=("Retrieval", "api"))
    assert fits(one, Wanted(tags=("API", "retrieval")))
    assert not fits(one, Wanted(tags=("api", "web")))
    assert folded("Über-Netz") == "über netz"


def test_tags_and_adapter_narrow_the_search(tmp_path: Path) -> None:
    skill(tmp_path / "skills/a", tags=["api", "web"])
    skill(tmp_path / "skills/b", tags=["api"], adapterType="http", entrypoint="http://127.0.0.1:1/")
    assert find(tmp_path, "-t", "API", "web") == ["a"]
    assert find(tmp_path, "--tag", "api", "-t", "web") == ["a"]
    assert find(tmp_path, "-a", "http") == ["b"]
    done = run(tmp_path, "find", "-a", "htpp")
    assert (done.code, "did you mean 'http'?" in done.err) == (2, True)


def test_equal_skills_stand_by_id_then_path() -> None:
    known = Past(completion_rate=0.5, source="store")
    found = ranked([of(id="c"), of(id="b", path="2"), of(id="b", path="1"), of(id="z", completion=known)])
    assert [(one.id, one.path) for one in found] == [("z", ""), ("b", "1"), ("b", "2"), ("c", "")]


def test_prose_is_found_by_its_frontmatter_and_can_be_left_out(tmp_path: Path) -> None:
    prose(tmp_path / "skills/charts", "metadata:\n  version: '2.0'\n  tags: [plots, office]\n")
    prose(tmp_path / "skills/broken-head", "metadata: [\n")
    skill(tmp_path / "skills/program")
    done = run(tmp_path, "find", "--json")
    rows = {one["id"]: one for one in done.json["skills"]}
    assert sorted(rows) == ["broken-head", "chart-maker", "program"]
    assert rows["chart-maker"]["version"] == "2.0"
    assert rows["chart-maker"]["adapterType"] == "skillmd"
    assert rows["chart-maker"]["tags"] == ["plots", "office"]
    assert rows["broken-head"]["version"] is None
    assert find(tmp_path, "-q", "spreadsheet", "-t", "plots") == ["chart-maker"]
    alone = run(tmp_path, "find", "--no-prose", "--json")
    assert ids(alone.json) == ["program"]
    assert "2 prose skills (SKILL.md) were left out; use --prose to include them" in alone.err


def test_what_was_measured_ranks_and_what_was_not_is_below_any_bound(tmp_path: Path) -> None:
    skill(tmp_path / "skills/good", answering("data['n']"))
    skill(tmp_path / "skills/bad", answering("0"))
    skill(tmp_path / "skills/new")
    benchmark(tmp_path / "b.json", task())
    evaluated = run(tmp_path, "eval", "--skills", "skills/good", "skills/bad", "--benchmark", "./b.json")
    assert evaluated.code == 0, evaluated.err
    done = run(tmp_path, "find", "--json")
    assert ids(done.json) == ["good", "bad", "new"]
    assert [one["completion"] and one["completion"]["completionRate"] for one in done.json["skills"]] == [1, 0, None]
    assert done.json["skills"][0]["completion"]["benchmarkId"] == "own"
    bounded = run(tmp_path, "find", "--min-completion", "0")
    assert bounded.code == 0
    assert "new" not in bounded.out.split()
    assert "1 not evaluated" in bounded.out
    assert find(tmp_path, "--min-completion", "0.8") == ["good"]
    assert find(tmp_path, "--min-completion", "0.8", "--no-store") == []


def test_only_the_newest_whole_evaluation_of_this_version_counts(tmp_path: Path) -> None:
    folder = skill(tmp_path / "skills/s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task(), task("t2", inputData={"n": 2}))
    assert run(tmp_path, "eval", "--skills", "skills", "--benchmark", "./b.json").code == 0
    assert run(tmp_path, "eval", "--skills", "skills", "--benchmark", "./b.json", "--task-id", "t1").code == 0
    rate = run(tmp_path, "find", "--json").json["skills"][0]["completion"]["completionRate"]
    assert rate == 0.5  # not the part of the tasks that was run last
    skill(folder, answering("1"), version="1.1.0")
    assert run(tmp_path, "find", "--json").json["skills"][0]["completion"] is None
    assert run(tmp_path, "eval", "--skills", "skills", "--benchmark", "./b.json").code == 0
    assert run(tmp_path, "find", "--json").json["skills"][0]["completion"]["completionRate"] == 1


@pytest.mark.parametrize(
    ("results", "rate"),
    [
        ([{"completionRate": 0.75}], 0.75),
        ([{"completionRate": 0.2}, {"completionRate": 0.9}], 0.9),
        (
            [
                {"completionRate": 0.2, "timestamp": "2026-02-01T00:00:00Z"},
                {"completionRate": 0.9, "timestamp": "2026-01-01T00:00:00Z"},
            ],
            0.2,
        ),
        ([{"completionRate": 0.9, "skillVersion": "0.1.0"}], None),
        ([{"completionRate": 7}, {"completionRate": True}, {"completionRate": "1"}, "x", None], None),
        ("all of them", None),
    ],
)
def test_what_a_skill_says_of_itself_counts_where_nothing_was_measured(
    tmp_path: Path, results: Any, rate: float | None
) -> None:
    skill(tmp_path / "skills/s", metadata={"benchmarkResults": results})
    done = run(tmp_path, "find", "--json")
    found = done.json["skills"][0]["completion"]
    assert (found and found["completionRate"]) == rate
    assert ("self-reported" in run(tmp_path, "find").out) == (rate is not None)


def test_a_broken_skill_stops_no_other_and_is_told(tmp_path: Path) -> None:
    skill(tmp_path / "skills/good")
    skill(tmp_path / "skills/worse", id="Bad ID!", version="x")
    (tmp_path / "skills/worst").mkdir()
    (tmp_path / "skills/worst/skill.json").write_text('{"id": ', encoding="utf-8")
    done = run(tmp_path, "find")
    assert done.code == 2
    assert "good" in done.out
    assert "worse/skill.json: id: expected lower-case" in done.err
    assert "version: expected a semantic version" in done.err
    assert "worst/skill.json: " in done.err
    assert "worst/skill.json: 1:8: not JSON" in done.err
    listed = run(tmp_path, "find", "--json")
    assert [one["path"] for one in listed.json["not_loaded"]] == ["skills/worse/skill.json", "skills/worst/skill.json"]


def test_nothing_found_is_said_and_no_failure(tmp_path: Path) -> None:
    skill(tmp_path / "skills/s")
    done = run(tmp_path, "find", "-q", "nothing-like-it")
    assert (done.code, done.out) == (0, "No skill found\n")


def test_the_limit_cuts_and_says_so(tmp_path: Path) -> None:
    for name in "abc":
        skill(tmp_path / "skills" / name)
    done = run(tmp_path, "find", "--limit", "2")
    assert done.out.splitlines()[0] == "2 skills found; 1 more, --limit shows them"
    assert run(tmp_path, "find", "--limit", "2", "--json").json["matched"] == 3


@pytest.mark.parametrize(
    "words",
    [
        ("--limit", "0"),
        ("--limit", "-1"),
        ("--limit", "abc"),
        ("--limit", "2.5"),
        ("--min-completion", "80"),
        ("--min-completion", "nan"),
        ("--min-completion", "80%"),
        ("--skills-dir", "missing"),
        ("--store", "missing.db"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    skill(tmp_path / "skills/s")
    done = run(tmp_path, "find", *words)
    assert (done.code, done.out) == (2, "")
    assert words[-1] in done.err


def test_the_short_q_is_the_query_behind_the_command_and_quiet_before_it(tmp_path: Path) -> None:
    prose(tmp_path / "skills/charts")
    assert "left out" in run(tmp_path, "find", "--no-prose").err
    assert run(tmp_path, "-q", "find", "--no-prose").err == ""
    assert run(tmp_path, "find", "--no-prose", "--quiet").err == ""


def test_a_terminal_obeys_no_text_of_a_skill(tmp_path: Path) -> None:
    skill(tmp_path / "skills/s", name="\x1b[31mred\u202e\n::error::x")
    out = run(tmp_path, "find").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert len(out.splitlines()) == 4


def test_two_thousand_skills_are_found_without_what_only_runs_need(tmp_path: Path) -> None:
    for number in range(2_000):
        folder = tmp_path / "skills" / f"s{number:04d}"
        folder.mkdir(parents=True)
        spec = {"id": folder.name, "name": "S", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "x"}
        (folder / "skill.json").write_text(json.dumps({**spec, "tags": [f"g{number % 50}"]}), encoding="utf-8")
    code = (
        "import sys; from skillgate.cli.main import main;"
        "code = main(['find', '-t', 'g7', '--limit', '99', '--skills-dir', sys.argv[1], '--json'], cwd=sys.argv[1]);"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "skills")],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    exit_code, *loaded = done.stderr.split()
    assert (exit_code, len(json.loads(done.stdout)["skills"])) == ("0", 40)
    heavy = {"sqlalchemy", "numpy", "scipy", "jsonschema", "asyncio", "subprocess", "anthropic", "httpx2", "mcp"}
    assert not heavy & set(loaded)
    assert not {"skillgate.bench.runner", "skillgate.bench.isolation.spawner"} & set(loaded)
