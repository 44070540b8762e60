"""``report diff``: two documents, what differs, and the exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from skillgate.report.schema import report_schema
from tests.cli.running import Done, commit, run
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLIPS = "Cuts clips out of films. Use when the user names a scene."
LINK = "\nSee [the columns](references/columns.md).\n"


def score(cwd: Path, name: str, *words: str) -> Path:
    """Score the skills of a directory into a file above it."""
    file = cwd.parent / name
    done = run(cwd, "score", *(words or ("skills",)), "--json")
    file.write_text(done.out, encoding="utf-8")
    return file


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Give a directory with a.json and b.json: one skill kept, one worse by a dead link, one removed, one new."""
    for side in ("a", "b"):
        write_skill(
            tmp_path / side / "skills", "kept", description=CLIPS, body="Cut the clip where a scene ends.\n" * 3
        )
        write_skill(tmp_path / side / "skills", "worse", body=BODY + (LINK if side == "b" else ""))
        other = "gone" if side == "a" else "fresh"
        told = "Draws maps. Use when the user plans a garden."
        write_skill(tmp_path / side / "skills", other, description=told, body="Draw a bed as a box.\n" * 3)
        score(tmp_path / side, f"{side}.json")
    return tmp_path


def diff(cwd: Path, *words: str) -> Done:
    return run(cwd, "report", "diff", *words)


def edited(file: Path, edit: Callable[[Any], None]) -> Path:
    """Write a changed copy of a document beside it, and give it."""
    document = json.loads(file.read_text(encoding="utf-8"))
    edit(document)
    copy = file.with_name(f"edited-{file.name}")
    copy.write_text(json.dumps(document), encoding="utf-8")
    return copy


def test_each_skill_is_told_by_what_became_of_it(two: Path) -> None:
    document = diff(two, "a.json", "b.json", "--json").json
    assert {item["name"]: item["state"] for item in document["skills"]} == {
        "kept": "unchanged",
        "worse": "changed",
        "gone": "removed",
        "fresh": "new",
    }
    worse = next(item for item in document["skills"] if item["name"] == "worse")
    assert [item["id"] for item in worse["new"]] == ["ORPHAN_REFERENCE"]
    assert worse["regression"]["verdict"] == "fail"
    assert (document["kind"], document["of"], document["a"]["label"]) == ("diff", "score", "a.json")
    jsonschema.Draft202012Validator(report_schema()).validate(document)


def test_the_exit_code_is_1_only_where_a_regression_shall_fail_it(two: Path) -> None:
    assert diff(two, "a.json", "b.json").code == 0
    assert diff(two, "a.json", "b.json", "--fail-on-regression").code == 1
    assert diff(two, "a.json", "b.json", "--fail-on-regression", "--max-drop", "50").code == 0
    assert diff(two, "a.json", "a.json", "--fail-on-regression").code == 0
    shown = diff(two, "a.json", "b.json", "--max-drop", "1")
    assert (shown.code, "allowed: 1" in shown.out) == (0, True)


def test_how_much_may_be_lost_is_configured_by_path(two: Path) -> None:
    (two / ".skillgate.yaml").write_text(
        "overrides:\n  - paths: ['skills/worse']\n    max-drop: 50\n", encoding="utf-8"
    )
    assert diff(two, "a.json", "b.json", "--fail-on-regression").code == 0
    assert diff(two, "a.json", "b.json", "--fail-on-regression", "--max-drop", "1").code == 1


def test_what_could_not_be_evaluated_after_cannot_be_decided(two: Path) -> None:
    def lock(document: Any) -> None:
        (result,) = (item for item in document["results"] if item["skill"]["name"] == "kept")
        result.update(evaluated=False, findings=[], dimensions={})
        result["composite"].update(score=None, badge=None, reason="not evaluated: Permission denied")

    locked = edited(two / "a.json", lock)
    done = diff(two, "a.json", locked.name, "--fail-on-regression")
    assert done.code == 3
    assert "Not every skill could be evaluated" in done.out
    assert "Permission denied" in done.out
    assert diff(two, "a.json", locked.name).code == 0
    locked = edited(two / "b.json", lock)
    assert diff(two, "a.json", locked.name, "--fail-on-regression").code == 1  # failed whatever that one would be


def test_labels_stand_in_place_of_file_names(two: Path) -> None:
    done = diff(two, "a.json", "b.json", "--label-a", "v1.0", "--label-b", "v2.0")
    assert "\nv1.0 → v2.0\n" in done.out
    assert (
        "\nv1.0 → v2.0\n"
        in diff(two, "a.json", "b.json", "--label-a", "v1.0", "--label-b", "v2.0", "--format", "markdown").out
    )


@pytest.mark.parametrize(
    ("name", "start"), [("d.md", "# ❌ 1 regression"), ("d.txt", "regressions 1"), ("d.json", "{\n")]
)
def test_a_file_has_the_format_of_its_suffix_and_stderr_says_where_it_is(two: Path, name: str, start: str) -> None:
    done = diff(two, "a.json", "b.json", "--output", name, "--fail-on-regression")
    assert (done.code, done.out) == (1, "")
    assert (two / name).read_text(encoding="utf-8").startswith(start)
    assert f"wrote {name}\n" in done.err
    assert "skills/worse: it dropped" in done.err


def test_a_named_format_goes_before_the_suffix(two: Path) -> None:
    assert diff(two, "a.json", "b.json", "--output", "d.txt", "--format", "markdown").code == 0
    assert (two / "d.txt").read_text(encoding="utf-8").startswith("# 1 regression")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "d.md"), "to write 'd.md' use --output"),
        (("--format", "out/d"), "to write 'out/d' use --output"),
        (("--format", "mardown"), "did you mean 'markdown'?"),
        (("--output", "markdown"), "use --format markdown"),
        (("--output", "d.pdf"), "name one with --format"),
        (("--output", "SKILL.md"), "main file of a skill"),
        (("--json", "--format", "text"), "two formats"),
        (("--output-file", "d.json"), "use --output PATH and --format"),
        (("--output-file=d.json",), "Try: skillgate report diff --help"),
        (("--output-file",), "use --output PATH and --format"),
        (("--max-drop", "nan"), "a number of at least 0"),
        (("--max-drop", "-1"), "a number of at least 0"),
    ],
)
def test_the_wrong_kind_of_word_is_refused_naming_the_right_one(two: Path, words: tuple[str, ...], said: str) -> None:
    done = diff(two, "a.json", "b.json", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_nothing_is_written_through_a_link(two: Path) -> None:
    (two / "d.md").symlink_to(two / "elsewhere")
    done = diff(two, "a.json", "b.json", "--output", "d.md")
    assert (done.code, (two / "elsewhere").exists()) == (2, False)


def kind(two: Path, name: str, *words: str) -> str:
    (two / name).write_text(run(two / "a", *words).out, encoding="utf-8")
    return name


def test_documents_without_two_sides_of_scores_are_refused_by_what_they_are(two: Path) -> None:
    check = kind(two, "check.json", "check", "skills", "--json")
    compare = kind(two, "compare.json", "compare", "skills/kept", "skills/worse", "--json")
    run(two, "report", "diff", "a.json", "b.json", "--output", "diff.json")
    for name in (check, compare, "diff.json"):
        done = diff(two, name, name)
        assert done.code == 2
        assert f"{name} is a" in done.err
        assert "score PATH --output-file" in done.err
    done = diff(two, "a.json", check)
    assert done.code == 2
    assert "a.json is of kind score and check.json is of kind check" in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"kind": "bench"}', "is not a benchmark report: reports"),
        ('{"kind": "invocations"}', "this command compares only score documents"),
        ('{"kind": "known-findings"}', "a file of known findings"),
        ('{"kind": "poem"}', "of the unknown kind 'poem'"),
        ('{"kind": ["score"]}', "not a skillgate document"),
        ("[]", "not a skillgate document"),
        ("{", "is not JSON"),
        ('{"kind": "score"}', "composite"),
        ('{"kind": "score", "schema_version": 99}', "a later one wrote it"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_score_document_is_refused(two: Path, text: str, said: str) -> None:
    (two / "odd.json").write_text(text, encoding="utf-8")
    done = diff(two, "odd.json", "odd.json")
    assert done.code == 2
    assert said in done.err
    assert len(done.err) < 2000


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda it: it["results"][1]["composite"].update(score="high"), "results[1].composite.score"),
        (lambda it: it["results"][0]["composite"].update(score=1e9), "results[0].composite.score"),
        (lambda it: it["results"][0]["findings"].append({}), ".findings[0]"),
        (lambda it: it["results"].append(it["results"][0]), "results[3].skill.path"),
        (lambda it: it.update(depth="shallow"), "depth"),
    ],
)
def test_a_bad_value_is_named_by_its_path(two: Path, edit: Callable[[Any], None], said: str) -> None:
    done = diff(two, "a.json", edited(two / "b.json", edit).name)
    assert done.code == 2
    assert "edited-b.json" in done.err
    assert said in done.err


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda it: it.update(depth="standard"), "has depth quick, edited-b.json standard"),
        (lambda it: it.update(scoring_version=7), "has scoring version"),
        (lambda it: it.update(models=["m"]), "has models none, edited-b.json m"),
    ],
)
def test_numbers_that_mean_different_things_are_not_compared(two: Path, edit: Callable[[Any], None], said: str) -> None:
    done = diff(two, "a.json", edited(two / "b.json", edit).name)
    assert done.code == 2
    assert said in done.err
    assert "Score both sides again" in done.err


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda it: it.update(profile="codex"), "has profile any, edited-b.json has codex"),
        (lambda it: it["tool"].update(version="99"), "from 99: a finding may be new because its rule is new"),
        (lambda it: it["summary"].update(found=40), "covers 3 of 40 skills"),
    ],
)
def test_what_a_difference_may_come_from_is_hinted_at(two: Path, edit: Callable[[Any], None], said: str) -> None:
    done = diff(two, "a.json", edited(two / "b.json", edit).name)
    assert done.code == 0
    assert said in " ".join(done.out.split())


def test_a_file_that_is_not_there_is_named(two: Path) -> None:
    done = diff(two, "a.json", "none.json")
    assert done.code == 2
    assert "the report none.json does not exist" in done.err


def test_reports_made_from_elsewhere_are_paired_by_the_rest_of_the_path(two: Path) -> None:
    score(two / "a" / "skills", "here.json", ".")
    (two / "a" / "here.json").rename(two / "here.json")
    document = diff(two, "here.json", "b.json", "--json").json
    assert document["summary"]["moved"] == 0
    assert {item["name"]: item["state"] for item in document["skills"]}["kept"] == "unchanged"
    assert "paths in here.json begin with nothing, in b.json with 'skills'" in document["hints"][0]
    assert [use["before"] is not None for use in document["listing"]] == [True, True]


def test_a_skill_that_moved_is_one_skill(tmp_path: Path) -> None:
    for side, folder in (("a", "old"), ("b", "new")):
        write_skill(tmp_path / side / folder, "tidy", body=BODY + LINK)
        write_skill(tmp_path / side / "skills", "kept")
        score(tmp_path / side, f"{side}.json", ".")
    document = diff(tmp_path, "a.json", "b.json", "--json").json
    assert document["summary"] == {
        "new": 0,
        "removed": 0,
        "changed": 0,
        "unchanged": 2,
        "moved": 1,
        "regressions": 0,
        "findings_new": 0,
        "findings_fixed": 0,
        "findings_kept": 3,
    }


def test_two_single_documents_are_about_one_skill_whatever_it_is_called(tmp_path: Path) -> None:
    for side, name in (("a", "tidy"), ("b", "neat")):
        write_skill(tmp_path / side / "skills", name)
        score(tmp_path / side, f"{side}.json", f"skills/{name}")
    done = diff(tmp_path, "a.json", "b.json", "--json")
    (skill,) = done.json["skills"]
    assert (skill["before"]["path"], skill["after"]["path"], skill["change"]) == ("skills/tidy", "skills/neat", 0.0)
    assert done.json["across"] is None
    assert "the single skills are treated as the same" in done.json["hints"][0]


def test_what_a_change_does_to_skills_together_is_told(tmp_path: Path) -> None:
    for side in ("a", "b"):
        write_skill(tmp_path / side / "skills", "tidy", body=BODY)
        told = "Arranges photographs by day. Use when a camera's card is full."
        name = "sort" if side == "a" else "tidy"
        head = f"name: {name}\ndescription: {told}"
        write_skill(tmp_path / side / "skills", "sort", frontmatter=head, body="Read the day of every photo.\n" * 3)
        score(tmp_path / side, f"{side}.json")
    document = diff(tmp_path, "a.json", "b.json", "--json").json
    assert [item["id"] for item in document["across"]["new"]] == ["DUPLICATE_NAME", "DUPLICATE_NAME"]
    assert document["across"]["fixed"] == []
    assert "new across skills" in diff(tmp_path, "a.json", "b.json").out
    assert "new across skills" in diff(tmp_path, "a.json", "b.json", "--format", "markdown").out


def test_a_report_beside_a_revision_says_the_same_as_the_diff_of_two(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "worse")
    commit(tmp_path)
    (tmp_path / "a.json").write_text(run(tmp_path, "score", "skills", "--json").out, encoding="utf-8")
    write_skill(tmp_path / "skills", "worse", body=BODY + LINK)
    done = run(tmp_path, "score", "skills", "--baseline", "HEAD", "--json")
    (tmp_path / "b.json").write_text(done.out, encoding="utf-8")
    (beside,) = (item for item in done.json["results"][0]["gate"]["outcomes"] if item["gate"] == "regression")
    (skill,) = diff(tmp_path, "a.json", "b.json", "--json").json["skills"]
    assert skill["regression"] == beside


def test_the_page_is_one_of_the_formats(two: Path) -> None:
    pytest.importorskip("jinja2")
    done = diff(two, "a.json", "b.json", "--format", "html")
    assert done.code == 0
    assert done.out.lstrip().lower().startswith("<!doctype html>")
    assert "skills/worse" in done.out
