"""Certificates and badges through the command line: what is written, where, and what still holds of it."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.evaluation.certify import content_of, file_names, stamp
from skillgate.report.certificate import certificate, render
from tests import skills
from tests.cli.running import Done, commit, run
from tests.report.judged import a_judged_skill
from tests.report.reports import a_report
from tests.standard.asking import write_skill

if TYPE_CHECKING:
    from pathlib import Path

CERTIFY = ("certify", "skills", "--provider", "scripted", "--depth", "deep", "--simulations", "5", "--near-misses", "2")


def certified(base: Path, *names: str) -> None:
    """Write skills, and a certificate of them as a live run gives it that measured everything."""
    contents = {f"skills/{name}": content_of(str(write_skill(base / "skills", name))) for name in names}
    report = a_report(*(a_judged_skill(path=path) for path in contents))
    document = certificate(report, contents, issued=stamp(), expires=stamp(days=90), config_digest="c0ffee")
    (base / "c.json").write_text(render(document))


def verified(base: Path, *words: str) -> Done:
    """Check the certificate."""
    return run(base, "certificate", "verify", "c.json", *words)


def changed(base: Path, **values: Any) -> None:
    """Change values of the certificate."""
    document = json.loads((base / "c.json").read_text())
    document.update(values)
    (base / "c.json").write_text(json.dumps(document))


def test_a_certificate_of_files_that_are_as_they_were_holds(tmp_path: Path) -> None:
    certified(tmp_path, "ants", "bees")
    done = verified(tmp_path)
    assert done.code == 0
    assert "certified Silver, 1 error, 72.50 points" in done.out
    assert "who made the certificate is not checked here" in done.out
    assert "✗" not in done.out


def test_every_change_of_a_skill_s_files_is_found_and_only_that_skill_fails(tmp_path: Path) -> None:
    certified(tmp_path, "ants", "bees")
    (tmp_path / "skills/ants/run.py").write_text("print()\n")
    done = verified(tmp_path, "--json")
    assert done.code == 1
    assert [bool(one["fails"]) for one in done.json["skills"]] == [True, False]
    assert done.json["skills"][0]["fails"] == ["its files are others: run.py (new)"]
    (tmp_path / "skills/ants/run.py").unlink()
    assert verified(tmp_path).code == 0
    (tmp_path / "skills/ants/SKILL.md").write_text("---\nname: ants\n---\n")
    assert "SKILL.md (changed)" in verified(tmp_path).out
    (tmp_path / "skills/ants/SKILL.md").unlink()
    assert "SKILL.md (gone)" in verified(tmp_path).out


def test_one_skill_is_checked_where_it_lies_now(tmp_path: Path) -> None:
    certified(tmp_path, "ants", "bees")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "skills/ants").rename(tmp_path / "elsewhere/ants")
    assert verified(tmp_path, "elsewhere/ants").code == 0
    assert verified(tmp_path, "skills/bees").code == 0
    assert verified(tmp_path).code == 1


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"expires": "2026-01-01T00:00:00Z", "issued": "2025-12-01T00:00:00Z"}, "it expired on 2026-01-01"),
        ({"issued": "2999-01-01T00:00:00Z", "expires": "2999-04-01T00:00:00Z"}, "issued in the future"),
        ({"scoring_version": 0}, "its scoring version is 0"),
    ],
)
def test_a_certificate_of_another_time_or_scale_does_not_hold(
    tmp_path: Path, values: dict[str, Any], says: str
) -> None:
    certified(tmp_path, "ants")
    changed(tmp_path, **values)
    done = verified(tmp_path)
    assert (done.code, says in done.out) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "{}",
        '{"kind": "score"}',
        '{"kind": "certificate"}',
        '{"kind": "certificate", "schema_version": 9}',
    ],
)
def test_what_is_no_certificate_is_an_error_of_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.json").write_text(text)
    done = verified(tmp_path)
    assert (done.code, done.out, "c.json" in done.err) == (2, "", True)


def test_a_skill_that_the_certificate_does_not_have_is_an_error_of_input(tmp_path: Path) -> None:
    certified(tmp_path, "ants")
    write_skill(tmp_path / "skills", "bees")
    assert verified(tmp_path, "skills/bees").code == 2
    assert verified(tmp_path, "skills/nothing").code == 2


def test_a_certificate_makes_nobody_read_outside_the_working_directory(tmp_path: Path) -> None:
    certified(tmp_path, "ants")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret-name").write_text("x")
    document = json.loads((tmp_path / "c.json").read_text())
    for path in ("../other", str(tmp_path / "other"), "skills/../../other"):
        document["skills"][0]["path"] = path
        (tmp_path / "skills/c.json").write_text(json.dumps(document))
        done = run(tmp_path / "skills", "certificate", "verify", "c.json")
        assert (done.code, "secret-name" in done.out) == (1, False)
        assert "leads out of the working directory" in done.out


def test_what_git_ignores_is_no_part_of_a_skill_and_what_is_new_is(tmp_path: Path) -> None:
    commit_of = write_skill(tmp_path / "skills", "ants")
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    commit(tmp_path)
    before = content_of(str(commit_of))
    (commit_of / "a.pyc").write_text("x")
    assert content_of(str(commit_of)) == before
    (commit_of / "a.py").write_text("x")
    assert sorted(content_of(str(commit_of)).files) == ["SKILL.md", "a.py"]


def test_links_count_by_where_they_lead_and_one_that_leads_out_is_not_covered(tmp_path: Path) -> None:
    place = write_skill(tmp_path / "skills", "ants")
    (place / "also.md").symlink_to("SKILL.md")
    inside = content_of(str(place))
    assert (inside.files["also.md"], inside.reason) == ("link:SKILL.md", None)
    (place / "also.md").unlink()
    (place / "also.md").symlink_to("../bees.md")
    out = content_of(str(place))
    assert out.digest not in (None, inside.digest)
    assert out.reason is not None
    assert "also.md is a symbolic link" in out.reason


@pytest.mark.skipif(os.name == "nt", reason="names of any bytes are there on POSIX systems alone")
def test_a_name_of_bytes_that_are_no_text_leaves_a_skill_without_digest(tmp_path: Path) -> None:
    place = write_skill(tmp_path, "ants")
    try:
        (place / os.fsdecode(b"\xff")).write_text("x")
    except OSError:
        pytest.skip("this file system takes names of UTF-8 alone")
    assert content_of(str(place)).digest is None


def test_a_scripted_run_certifies_nothing_and_says_so_everywhere(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    write_skill(tmp_path / "skills", "ants")
    done = run(tmp_path, *CERTIFY, "--certificate", "c.json", "--certificate-days", "7", "--badges", "out/badges")
    assert (done.code, "0 of 1 skills certified" in done.err) == (0, True)
    document = json.loads((tmp_path / "c.json").read_text())
    (skill,) = document["skills"]
    assert (skill["certified"], "not a live model's" in skill["reason"]) == (False, True)
    assert set(skill["prompts"]) == {"triggering", "sessions"}
    times = [datetime.fromisoformat(document[name]) for name in ("issued", "expires")]
    assert times[1] - times[0] == timedelta(days=7)
    checked = verified(tmp_path)
    assert (checked.code, "it was not certified" in checked.out, "its file is as it was" in checked.out) == (
        1,
        True,
        True,
    )
    assert sorted(path.name for path in (tmp_path / "out/badges").iterdir()) == [
        *("ants.json", "ants.svg", "catalogue.json", "catalogue.svg")
    ]
    assert json.loads((tmp_path / "out/badges/ants.json").read_text())["message"] == "scripted"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--certificate", "none/c.json"), "directory none does not exist"),
        (("--certificate", "skills/ants/c.json"), "is inside the skill skills/ants"),
        (("--certificate", "c.json", "--badges", "skills/ants/badges"), "is inside the skill skills/ants"),
        (("--certificate", "c.json", "--shard", "1/2"), "pass it to report merge instead"),
        (("--certificate-days", "7"), "needs --certificate FILE"),
        (("--certificate", "link.json"), "is a symbolic link"),
        (("--badges", "file"), "is not a directory"),
        (("--badges", "linked"), "is a symbolic link"),
        (("--badges", "badges"), "x.svg in it is a symbolic link"),
        (("--certificate-days", "0"), "number of days"),
    ],
)
def test_what_must_not_be_written_is_refused_before_anything_is_asked(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    write_skill(tmp_path / "skills", "ants")
    (tmp_path / "file").write_text("")
    (tmp_path / "badges").mkdir()
    for link in ("link.json", "linked", "badges/x.svg"):
        (tmp_path / link).symlink_to(tmp_path / "target")
    done = run(tmp_path, *CERTIFY, "--record", "asked.jsonl", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not (tmp_path / "asked.jsonl").exists()
    assert not (tmp_path / "target").exists()


def test_names_of_badges_are_safe_and_no_two_alike() -> None:
    hostile = (
        "../../etc/passwd",
        "..",
        "",
        "/",
        "con",
        "COM1.x",
        "a\0b",
        "catalogue",
        "Ants",
        "ants",
        "ünï",
        "x" * 300,
    )
    names = file_names([(name, f"skills/{index}") for index, name in enumerate(hostile)])
    found = list(names.values())
    assert len({name.lower() for name in found}) == len(hostile)
    for name in found:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
        assert not name.startswith((".", "-"))
        assert name not in ("catalogue", "con", "com1.x")
        assert len(name) < 100
    assert file_names([("pdf", "skills/pdf")]) == {"skills/pdf": "pdf"}


def test_a_score_writes_badges_that_say_they_are_estimates(tmp_path: Path) -> None:
    skills.write_skill(tmp_path / "skills")
    done = run(tmp_path, "score", "--badges", "out/badges")
    assert done.code == 0
    assert "![skills](out/badges/catalogue.svg)" in done.err
    for name in (skills.NAME, "catalogue"):
        message = json.loads((tmp_path / f"out/badges/{name}.json").read_text())["message"]
        assert message.endswith(" (estimate)")
        assert message in (tmp_path / f"out/badges/{name}.svg").read_text()
    assert run(tmp_path, "score", "--badges", f"skills/{skills.NAME}/badges").code == 2
    assert not (tmp_path / f"skills/{skills.NAME}/badges").exists()
    (tmp_path / "file").touch()
    assert "is not a directory" in run(tmp_path, "score", "--badges", "file").err
