"""What a change does to skills together is said beside a baseline: clashes that came or went, lists that grew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema

from skillgate.report.schema import report_schema
from tests.cli.running import commit, run
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def two(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy", body=BODY)
    told = "Arranges photographs by day. Use when a camera's card is full."
    write_skill(tmp_path / "skills", "sort", description=told, body="Read the day of every photograph.\n" * 3)


def test_a_clash_that_a_change_brings_is_new_and_one_that_it_mends_is_gone(tmp_path: Path) -> None:
    two(tmp_path)
    commit(tmp_path)
    text = (tmp_path / "skills/sort/SKILL.md").read_text(encoding="utf-8")
    (tmp_path / "skills/sort/SKILL.md").write_text(text.replace("name: sort", "name: tidy"), encoding="utf-8")
    document = run(tmp_path, "check", "--baseline", "HEAD", "--json").json
    assert [item["id"] for item in document["across"]["new"]] == ["DUPLICATE_NAME", "DUPLICATE_NAME"]
    assert document["across"]["fixed"] == []
    assert "new across skills: skills/sort/SKILL.md:2 DUPLICATE_NAME" in run(
        tmp_path, "check", "--baseline", "HEAD"
    ).out.replace("\n", " ")
    commit(tmp_path)
    (tmp_path / "skills/sort/SKILL.md").write_text(text, encoding="utf-8")
    document = run(tmp_path, "check", "--baseline", "HEAD", "--json").json
    assert document["across"]["new"] == []
    assert {item["id"] for item in document["across"]["fixed"]} == {"DUPLICATE_NAME"}


def test_what_was_there_before_is_neither_new_nor_gone(tmp_path: Path) -> None:
    two(tmp_path)
    text = (tmp_path / "skills/sort/SKILL.md").read_text(encoding="utf-8")
    (tmp_path / "skills/sort/SKILL.md").write_text(text.replace("name: sort", "name: tidy"), encoding="utf-8")
    commit(tmp_path)
    document = run(tmp_path, "check", "--baseline", "HEAD", "--json").json
    assert document["across"] == {"new": [], "fixed": []}
    assert {item["id"] for item in document["findings"]} >= {"DUPLICATE_NAME"}


def test_each_clients_list_says_how_much_it_grew(tmp_path: Path) -> None:
    two(tmp_path)
    commit(tmp_path)
    write_skill(tmp_path / "skills", "draw", description="Draws maps of a garden. Use when the user plans a garden.")
    document = run(tmp_path, "check", "--baseline", "HEAD", "--json").json
    grown = {item["client"]: item["characters"] - item["before"] for item in document["listing"]}
    added = len("draw") + len("Draws maps of a garden. Use when the user plans a garden.")
    assert grown == {"claude-code": added, "codex": added}
    said = " ".join(run(tmp_path, "score", "--baseline", "HEAD").out.split())
    assert f"of 8,000, +{added}" in said
    assert "Claude Code, Codex" in said
    assert f"of 8,000, +{added}" in run(tmp_path, "score", "--baseline", "HEAD", "--output", "markdown").out


def test_without_a_baseline_nothing_is_compared(tmp_path: Path) -> None:
    two(tmp_path)
    document = run(tmp_path, "check", "--json").json
    assert document["across"] is None
    assert all(item["before"] is None for item in document["listing"])
    assert "across skills" not in run(tmp_path, "check").out


def test_the_document_is_of_the_published_shape(tmp_path: Path) -> None:
    two(tmp_path)
    commit(tmp_path)
    write_skill(tmp_path / "skills", "draw")
    for command in ("check", "score"):
        document = run(tmp_path, command, "--baseline", "HEAD", "--json").json
        jsonschema.Draft202012Validator(report_schema()).validate(document)
