"""No filter buys a badge: a rule that withholds it does so whatever is selected, ignored, suppressed or known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from skillgate.model.finding import Client
from skillgate.static.catalogue import pages
from tests.cli.running import run
from tests.skills import DESCRIPTION, NAME, RICH_FILES, rich_body, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

HEAD = f"name: {NAME}\ndescription: {DESCRIPTION}\n"
BODY = rich_body()
WHOLE = f"---\n{HEAD}---\n{BODY}"
BLOCKED: dict[str, str | bytes] = {
    "EMPTY_DESCRIPTION": f"---\nname: {NAME}\n---\n{BODY}",
    "EMPTY_FILE": "",
    "FRONTMATTER_MISSING": BODY,
    "FRONTMATTER_UNCLOSED": f"---\n{HEAD}\n{BODY}",
    "FRONTMATTER_INVALID": f"---\n{HEAD}x: a: b\n---\n{BODY}",
    "FRONTMATTER_TOO_LARGE": f"---\n{HEAD}x: {'y' * 70_000}\n---\n{BODY}",
    "DUPLICATE_KEY": f"---\n{HEAD}license: MIT\nlicense: BSD\n---\n{BODY}",
    "FIELD_TYPE": f"---\n{HEAD}compatibility: [a, b]\n---\n{BODY}",
    "NO_BODY": f"---\n{HEAD}---\n",
    "NOT_UTF8": WHOLE.encode() + b"\xff",
    "NUL_BYTE": WHOLE + "\0",
    "FILE_TOO_LARGE": WHOLE + "more\n" * 1_000_001,
    "PARTLY_READ": f"{WHOLE}\n{'word ' * 20_000}\n",
}
PROFILES = tuple(client.value for client in Client)


def written(tmp_path: Path, text: str | bytes) -> Path:
    """Write a skill that would be Gold but for this."""
    (tmp_path / ".git").mkdir(exist_ok=True)
    return write_bytes(tmp_path, NAME, text.encode() if isinstance(text, str) else text, files=RICH_FILES)


def badge_of(tmp_path: Path, *words: str) -> str | None:
    composite = run(tmp_path, "score", NAME, "--json", *words).json["composite"]
    badge: str | None = composite["badge"]
    assert badge is not None or composite["badge_reason"].startswith("no badge: ")  # not for want of points
    return badge


def test_the_skill_has_a_badge_without_the_defect(tmp_path: Path) -> None:
    written(tmp_path, WHOLE)
    assert badge_of(tmp_path) == "Gold"


def test_the_table_has_every_rule_that_withholds_a_badge() -> None:
    blocking = {page.rule.id for page in pages() if getattr(page.rule, "blocks_badge", False)}
    # A dangling link has no text at all. NO_BODY is a warning, and nothing to read is too little for a badge anyway.
    blocked = {*BLOCKED, "DANGLING_SKILL"} - {"NO_BODY"}
    assert blocking == {*blocked, "PARTLY_JUDGED"}  # this one is the judge's: no option of a quick run concerns it


@pytest.mark.parametrize("rule", BLOCKED)
def test_no_option_brings_the_badge_back(rule: str, tmp_path: Path) -> None:
    written(tmp_path, BLOCKED[rule])
    found = run(tmp_path, "score", NAME, "--json").json["findings"]
    assert rule in {finding["id"] for finding in found}
    options = [(), ("--ignore", rule), ("--select", "LINE_ENDS"), *(("--profile", name) for name in PROFILES)]
    assert {words: badge_of(tmp_path, *words) for words in options} == dict.fromkeys(options)


@pytest.mark.parametrize("rule", ["FIELD_TYPE", "DUPLICATE_KEY", "PARTLY_READ", "EMPTY_DESCRIPTION"])
def test_no_configuration_comment_or_known_finding_brings_the_badge_back(rule: str, tmp_path: Path) -> None:
    text = BLOCKED[rule]
    assert isinstance(text, str)
    written(tmp_path, text.replace("# Merge", f"<!-- skillgate: ignore-file {rule}: it is meant -->\n\n# Merge", 1))
    override = f"overrides:\n  - paths: ['**']\n    ignore: [{rule}]\n"
    (tmp_path / ".skillgate.yaml").write_text(f"ignore: [{rule}]\n{override}", encoding="utf-8")
    assert badge_of(tmp_path) is None
    (tmp_path / ".skillgate.yaml").unlink()
    assert run(tmp_path, "check", NAME, "--write-known-findings", "known.json").code == 0
    assert json.loads((tmp_path / "known.json").read_text(encoding="utf-8"))
    assert badge_of(tmp_path, "--known-findings", "known.json") is None
    assert "no badge: " in run(tmp_path, "score", NAME, "--select", "LINE_ENDS").out


@pytest.mark.parametrize("profile", PROFILES)
def test_a_badge_is_the_same_under_every_profile(profile: str, tmp_path: Path) -> None:
    written(tmp_path, WHOLE.replace("---\n", "---\nowner: x\n", 1))
    assert badge_of(tmp_path, "--profile", profile) == badge_of(tmp_path) == "Gold"
