"""Shards joined give the report of one run over all skills, but for times and for how what was asked is counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.score import SCORING_VERSION
from tests.cli.running import Done, commit, run
from tests.standard.asking import write_skill

pytest.importorskip("numpy")

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("ants", "bees", "cats", "dogs", "eels", "figs")
CERTIFY = ("certify", "skills", "--provider", "scripted", "--depth", "deep", "--simulations", "5", "--near-misses", "2")
_ASIDE = ("duration_ms", "duration_s", "usage", "resumed")


def skills(base: Path, *names: str) -> None:
    """Write skills, two of which are alike; one is not to be read as text, and one lies deeper."""
    for name in names or NAMES:
        write_skill(base / "skills", name)
    text = (base / "skills/ants/SKILL.md").read_text()
    write_skill(base / "skills/more", "ants-again")
    (base / "skills/more/ants-again/SKILL.md").write_text(text.replace("name: ants", "name: ants-again"))
    write_skill(base / "skills", "broken")
    (base / "skills/broken/SKILL.md").write_bytes(b"---\nname: broken\n---\n\0\xff")


def sharded(base: Path, of: int, *options: str) -> list[Done]:
    """Run each shard, and write its report to ``1.json``, ``2.json``, …"""
    found = []
    for part in range(1, of + 1):
        done = run(base, *CERTIFY, "--shard", f"{part}/{of}", "--json", *options)
        document = done.json
        assert document["shard"] == f"{part}/{of}"
        (base / f"{part}.json").write_text(json.dumps(document))
        found.append(done)
    return found


def merged(base: Path, of: int, *options: str) -> Done:
    """Join what :func:`sharded` wrote, the last first."""
    return run(base, "report", "merge", *(f"{part}.json" for part in range(of, 0, -1)), "--json", *options)


def plain(value: Any) -> Any:
    """Leave out what differs between two runs of one command."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in _ASIDE}
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("of", "options"),
    [
        pytest.param(1, (), id="one shard"),
        pytest.param(4, ("--threshold", "10"), id="a gate that only what has no score fails"),
        pytest.param(4, ("--judges", "3"), id="judges whose agreement is that of all skills"),
        pytest.param(11, (), id="more shards than skills"),
    ],
)
def test_shards_joined_are_the_run_over_all_skills(tmp_path: Path, of: int, options: tuple[str, ...]) -> None:
    skills(tmp_path)
    whole = run(tmp_path, *CERTIFY, "--json", *options)
    parts = sharded(tmp_path, of, *options)
    together = merged(tmp_path, of)
    assert together.err == ""
    assert plain(together.json) == plain(whole.json)
    assert together.code == whole.code == max(done.code for done in parts)
    assert together.json["usage"]["calls"] == sum(done.json["usage"]["calls"] for done in parts)


def test_how_many_ratings_people_would_pass_is_that_of_all_skills(tmp_path: Path) -> None:
    skills(tmp_path)
    pairs = [
        {"skill": f"s{index}", "dimension": "output_quality", "human": 8 - 5 * (index % 2), "judge": judge}
        for index, judge in enumerate((8, 4) * 11 + (6, 8))
    ]
    layer = next(
        layer
        for result in run(tmp_path, *CERTIFY, "--json").json["results"]
        for layer in result["layers"]
        if layer["name"] == "judge"
    )
    of = {"model": layer["models"][0], "prompt_version": layer["prompt_version"], "date": "2026-11-01", "live": False}
    known = {"kind": "calibration", **of, "rubric_version": layer["rubric_version"], "judges": 1, "items": pairs}
    (tmp_path / "people.json").write_text(json.dumps(known))
    whole = run(tmp_path, *CERTIFY, "--json", "--calibration", "people.json").json
    parts = sharded(tmp_path, 3, "--calibration", "people.json")
    assert whole["calibration"]["acceptable"]["value"] is not None
    assert merged(tmp_path, 3).json["calibration"] == whole["calibration"]
    assert whole["calibration"] not in [done.json["calibration"] for done in parts]


def test_one_skill_given_by_its_path_keeps_its_shape(tmp_path: Path) -> None:
    write_skill(tmp_path, "skills")
    whole = run(tmp_path, *CERTIFY, "--json").json
    sharded(tmp_path, 2)
    assert "results" not in whole
    assert plain(merged(tmp_path, 2).json) == plain(whole)


def test_an_empty_shard_passes_and_holds_no_skill(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "ants")
    empty = [done for done in sharded(tmp_path, 3) if done.json["results"] == []]
    assert len(empty) == 2
    assert all((done.code, done.json["summary"]["found"]) == (0, 1) for done in empty)


def test_a_skill_that_two_shards_show_is_that_of_the_one_that_asked(tmp_path: Path) -> None:
    skills(tmp_path, "ants")
    parts = sharded(tmp_path, 3)
    shown = [sum("ants-again" in one["skill"]["path"] for one in done.json["results"]) for done in parts]
    assert sum(shown) > 1
    found = {one["skill"]["path"]: one for one in merged(tmp_path, 3).json["results"]}
    assert [layer["name"] for layer in found["skills/more/ants-again"]["layers"]] == ["static", "judge", "montecarlo"]


def _worsen(base: Path) -> None:
    for name in ("ants", "bees", "cats", "dogs"):
        write_skill(base / "skills", name, body=f"# {name}\n\nMaybe look at the {name}, or not, as you like it best.\n")


def _fallen(base: Path) -> tuple[str, ...]:
    """Write a baseline and worsen skills; give the options that compare with it."""
    skills(base)
    assert run(base, *CERTIFY, "--judges", "3", "--output-file", "base.json").code in (0, 3)
    _worsen(base)
    return ("--baseline", "base.json", "--fail-on", "regression")


def chances(*documents: Any) -> dict[str, float]:
    """Give the p of each drop that was tested."""
    results = [one for document in documents for one in document["results"]]
    return {one["skill"]["path"]: one["drop"]["p"] for one in results if one["drop"] and one["drop"]["p"]}


@pytest.mark.parametrize("of", [1, 2, 3, 4])
def test_shards_with_a_report_as_baseline_are_joined_into_the_run_over_all_skills(tmp_path: Path, of: int) -> None:
    gate = _fallen(tmp_path)
    whole = run(tmp_path, *CERTIFY, "--judges", "3", "--json", *gate)
    parts = sharded(tmp_path, of, "--judges", "3", *gate)
    for said in ((), gate, gate[2:]):
        together = merged(tmp_path, of, *said)
        assert together.err == ""
        assert plain(together.json) == plain(whole.json)
        assert together.code == whole.code
    assert len(chances(whole.json)) > 3
    if of > 2:
        assert chances(whole.json) != chances(*(done.json for done in parts))  # else nothing was corrected


@pytest.mark.parametrize("of", [1, 3, 4])
def test_shards_with_a_revision_as_baseline_are_joined_into_the_run_over_all_skills(tmp_path: Path, of: int) -> None:
    skills(tmp_path)
    (tmp_path / ".gitignore").write_text("*.json\n/home\n")
    then = commit(tmp_path)
    _worsen(tmp_path)
    write_skill(tmp_path / "skills", "gnus")  # new since
    commit(tmp_path)
    gate = ("--baseline", then, "--fail-on", "regression", "--judges", "3")
    whole = run(tmp_path, *CERTIFY, "--json", *gate)
    parts = sharded(tmp_path, of, *gate)
    together = merged(tmp_path, of)
    assert together.err == ""
    assert plain(together.json) == plain(whole.json)
    assert together.code == whole.code
    assert merged(tmp_path, of, "--fail-on", "regression").out == together.out
    assert len(chances(whole.json)) > 3
    if of > 1:
        assert chances(whole.json) != chances(*(done.json for done in parts))
    other = merged(tmp_path, of, "--baseline", then)
    assert (other.code, "leave --baseline out" in other.err) == (2, True)


def test_a_baseline_and_gates_that_the_shards_did_not_have_are_refused(tmp_path: Path) -> None:
    gate = _fallen(tmp_path)
    sharded(tmp_path, 3, "--judges", "3", *gate)
    other = merged(tmp_path, 3, *gate, "--max-drop", "55", "--threshold", "99")
    assert (other.code, "gate options" in other.err) == (2, True)
    (tmp_path / "now.json").write_text(run(tmp_path, *CERTIFY, "--judges", "3", "--json").out)
    wrong = merged(tmp_path, 3, "--baseline", "now.json", "--fail-on", "regression")
    assert (wrong.code, "the shards were not compared with" in wrong.err) == (2, True)


def test_what_is_asked_of_shards_that_were_asked_for_nothing_is_not_ignored(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "ants")
    sharded(tmp_path, 2)
    gated = merged(tmp_path, 2, "--threshold", "10")
    assert (gated.code, gated.out, "the gates of skills/ants differ from those" in gated.err) == (2, "", True)
    compared = merged(tmp_path, 2, "--baseline", "1.json")
    assert (compared.code, "the shards have no baseline" in compared.err) == (2, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"shard": None}, "2.json is no shard"),
        ({"shard": "1/2"}, "1.json and 2.json are both shard 1/2"),
        ({"shard": "2/3"}, "2.json is one of 3 shards, 1.json one of 2"),
        ({"config_digest": "0"}, "differ in the configuration"),
        ({"depth": "certify"}, "differ in the depth (deep, certify)"),
        ({"models": ["other"]}, "differ in the models"),
        ({"scoring_version": 0}, f"differ in the scoring version ({SCORING_VERSION}, 0)"),
        ({"tool": {"version": "9", "name": "skillgate"}}, "differ in the version of skillgate"),
        ({"results": []}, "2.json says nothing of"),
        ({"kind": "check"}, "2.json is not a score report"),
    ],
)
def test_what_are_not_the_shards_of_one_run_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    for name in ("ants", "cats"):  # which fall to the first shard and to the second
        write_skill(tmp_path / "skills", name)
    sharded(tmp_path, 2)
    document = json.loads((tmp_path / "2.json").read_text())
    document.update(change)
    if change.get("results") == []:  # the first says how many there are, and knows of both
        first = json.loads((tmp_path / "1.json").read_text())
        first["results"] += json.loads((tmp_path / "2.json").read_text())["results"]
        (tmp_path / "1.json").write_text(json.dumps(first))
    (tmp_path / "2.json").write_text(json.dumps(document))
    done = run(tmp_path, "report", "merge", "1.json", "2.json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "ants")
    sharded(tmp_path, 3)
    done = run(tmp_path, "report", "merge", "1.json", "3.json")
    assert (done.code, "shards are missing: 2/3" in done.err) == (2, True)
    assert run(tmp_path, "report", "merge", "1.json", "1.json", "3.json").code == 2


@pytest.mark.parametrize("word", ["0/3", "4/3", "1/1001", "1", "a/b", "-1/3", "1/0", "٢/٣", "1/2\n"])
def test_a_shard_that_cannot_be_is_refused(tmp_path: Path, word: str) -> None:
    done = run(tmp_path, *CERTIFY, f"--shard={word}")
    assert (done.code, "--shard" in done.err) == (2, True)


def test_joined_shards_are_written_in_every_format_that_score_writes(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "ants")
    sharded(tmp_path, 2)
    words = ("--output", "markdown", "--output-file", "all.sarif", "--output-file", "all.html", "--badges", "badges")
    done = run(tmp_path, "report", "merge", "1.json", "2.json", *words)
    assert (done.code, "ants" in done.out) == (0, True)
    assert json.loads((tmp_path / "all.sarif").read_text())["version"] == "2.1.0"
    assert "<html" in (tmp_path / "all.html").read_text()
    assert json.loads((tmp_path / "badges/ants.json").read_text())["message"] == "scripted"
