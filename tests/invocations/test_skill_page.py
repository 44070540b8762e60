"""One page of a skill: promised, tested, observed, and how well scores agree with what is observed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
stats = pytest.importorskip("scipy.stats")

from skillgate.report.schema import report_schema  # noqa: E402
from tests.cli.running import run  # noqa: E402
from tests.invocations.recorded import AT, GOOD, line, write  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [f"sort-rows-{n:02}" for n in range(12)]


def skill(folder: Path, name: str, number: int) -> None:
    """Write a skill; the larger the number, the more is missing."""
    folder.mkdir(parents=True)
    body = "\n".join(f"## Step {n}\n\nRead row {n}, and compare it with the one before.\n" for n in range(12 - number))
    when = " Use when rows need an order." if number < 6 else ""
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Sort the rows of a table.{when}\n---\n\n{body}\n"
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the scores of twelve skills and records of all of them, one with a plugin's name."""
    folder = tmp_path_factory.mktemp("page")
    for number, name in enumerate(NAMES):
        skill(folder / "skills" / name, name, number)
    (folder / "scores.json").write_text(run(folder, "score", "skills", "--json").out)
    assert run(folder, "history", "import", "scores.json").code == 0
    records = [
        line(n, skill=f"acme:{name}" if number == 3 else name, **{**GOOD, "user_edit_ratio": number / 12})
        for number, name in enumerate(NAMES)
        for n in range(6)
    ]
    write(folder / "a.jsonl", records)
    assert run(folder, "log", "import", "a.jsonl").code == 0
    return folder


def page(folder: Path, *words: str) -> Any:
    done = run(folder, "log", "skill", *words, "--at", AT, "--json")
    assert done.code == 0, done.err
    jsonschema.validate(done.json, report_schema())
    return done.json


def test_it_has_the_score_and_the_records_of_the_skill_alone(stored: Path) -> None:
    found = page(stored, NAMES[1])
    scores = {
        one["skill"]["name"]: one["composite"]["score"]
        for one in json.loads((stored / "scores.json").read_text())["results"]
    }
    assert [one["composite"] for one in found["promised"]] == [pytest.approx(scores[NAMES[1]])]
    assert found["tested"] == []
    assert [one["skill"] for one in found["observed"]["skills"]] == [NAMES[1]]
    assert (found["observed"]["invocations"], len(found["observed"]["worst"])) == (6, 5)


def test_a_name_finds_the_records_with_its_plugins(stored: Path) -> None:
    for name in (NAMES[3], f"acme:{NAMES[3]}"):
        found = page(stored, name)
        assert (found["skill"], found["observed"]["rated"], len(found["promised"])) == (f"acme:{NAMES[3]}", 6, 1)


def test_the_correlation_is_over_all_skills_with_both(stored: Path) -> None:
    (found,) = page(stored, NAMES[0])["correlations"]
    scores = [one["composite"]["score"] for one in json.loads((stored / "scores.json").read_text())["results"]]
    assert (found["depth"], found["n"]) == ("quick", 12)
    assert found["rho"] == pytest.approx(stats.spearmanr(scores, range(12, 0, -1)).statistic)
    assert found["low"] < found["rho"] <= found["high"]


def test_below_ten_skills_it_is_null_with_a_reason(stored: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [line(n, skill=NAMES[0], **GOOD) for n in range(6)])
    run(tmp_path, "log", "import", "a.jsonl")
    assert run(tmp_path, "history", "import", str(stored / "scores.json")).code == 0
    (found,) = page(tmp_path, NAMES[0])["correlations"]
    assert (found["rho"], found["n"]) == (None, 1)
    assert found["reason"] == "1 skill with a score and 5 rated invocations; a correlation needs 10"


def test_the_page_says_what_is_missing_and_how_to_get_it(stored: Path) -> None:
    said = run(stored, "log", "skill", NAMES[2], "--at", AT).out
    assert said.startswith(f"{NAMES[2]}: promised ")
    assert "Nothing is in the store; skillgate eval puts it there." in said
    assert "static score: 95 % " in said
    idle = run(stored, "log", "skill", NAMES[2], "--at", "2020-01-01").out
    assert "Nothing was recorded of it in this time; that does not mean that it was not used." in idle
    assert run(stored, "log", "skill", "sort-rows-1").code == 2
    assert "did you mean" in run(stored, "log", "skill", "sort-rows-1").err


def test_a_page_is_written_as_html(stored: Path) -> None:
    pytest.importorskip("jinja2")
    done = run(stored, "log", "skill", NAMES[2], "--at", AT, "--output-file", "page.html")
    assert done.code == 0, done.err
    assert "Do scores agree with what is observed?" in (stored / "page.html").read_text()


def test_a_certificate_is_shown_with_its_end(stored: Path) -> None:
    run(stored, "certify", f"skills/{NAMES[0]}", "--certificate", "certificate.json")
    document = json.loads((stored / "certificate.json").read_text())
    found = page(stored, NAMES[0], "--certificate", "certificate.json")["certificate"]
    assert (found["expired"], found["expires"]) == (False, document["expires"])
    assert found["certified"] is document["skills"][0]["certified"]
    assert run(stored, "log", "skill", NAMES[1], "--certificate", "certificate.json").code == 2
