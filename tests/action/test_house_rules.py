"""House rules in a pull request: the list and the code of each come from the base, never from the head."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.action.pull_request import DEAD_LINK, PullRequest, skill

if TYPE_CHECKING:
    from pathlib import Path

RULE = '''\
"""A word that is not used here.

Why:
    It is no word of ours.
"""

from pathlib import Path

from skillgate.rules import Hit, Hits, Severity, Skill, Span, rule

{more}

def find(skill: Skill) -> Hits:
    for number, line in skill.prose_lines:
        if {word!r} in line:
            yield Hit(Span(number), "the word {word} is used")


RULE = rule(find, Severity.ERROR, fix="use another")
'''
NAMED = "rules: {ACME_WORD: {python: house/word.py}}\n"
ENTRY = "rules: {ACME_WORD: {entry-point: word}}\n"


def code(word: str, mark: Path | None = None) -> str:
    """Give a rule's file; where it runs, it writes ``mark``."""
    return RULE.format(word=word, more="" if mark is None else f"Path({str(mark)!r}).write_text('ran')\n")


def hostile(mark: Path) -> list[dict[str, str]]:
    """Give changes that bring code to the places where house rules are looked for."""
    evil = code("gone", mark)
    metadata = {"word-1.dist-info/METADATA": "Name: word\nVersion: 1\n", "word.py": evil}
    points = {"word-1.dist-info/entry_points.txt": "[skillgate.rules]\nword = word\n", **metadata}
    toml = '[tool.skillgate.rules.ACME_WORD]\npython = "house/word.py"\n'
    return [
        {".skillgate.yaml": NAMED, "house/word.py": evil},
        {".skillgate.yaml": ENTRY, **points},
        {"pyproject.toml": toml, "house/word.py": evil},
        {"skills/.skillgate.yaml": NAMED, "skills/house/word.py": evil},
        {"skills/merge-sheets/.skillgate.yaml": NAMED, "skills/merge-sheets/house/word.py": evil},
        {"skills/merge-sheets/skillgate_house_rules.py": evil, "skillgate_house_rules/__init__.py": evil},
    ]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("number", range(6))
def test_a_change_brings_no_rule(tmp_path: Path, number: int, *, merge: bool) -> None:
    mark = tmp_path / "ran"
    made = PullRequest(folder=tmp_path / "work")
    made.base(skill("merge-sheets"))
    made.change({**hostile(mark)[number], **skill("merge-sheets", body="One more.\n")}, merge=merge)
    ran = made.run(sarif="skillgate-report/a.sarif")
    assert ran.code == 0, ran.err
    assert not mark.exists()
    assert "ACME_WORD" not in json.dumps(ran.document("report.json"))
    if number < 2:
        assert any(one.startswith("rules.ACME_WORD.") for one in ran.run["policy_changes"])


@pytest.mark.parametrize("merge", [True, False])
def test_the_code_of_the_base_runs_and_not_that_of_the_change(tmp_path: Path, *, merge: bool) -> None:
    mark = tmp_path / "ran"
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": code("simply")})
    made.change(
        {
            **skill("merge-sheets", body="\nThis simply works, as it did before, on every sheet.\n"),
            ".skillgate.yaml": "rules: {ACME_WORD: {python: house/other.py}}\n",
            "house/word.py": code("nothing", mark),
            "house/other.py": code("nothing", mark),
        },
        merge=merge,
    )
    ran = made.run()
    assert ran.code == 1, ran.err
    assert not mark.exists()
    found = [one for one in ran.document("report.json")["results"][0]["findings"] if one["id"] == "ACME_WORD"]
    assert [one["message"] for one in found] == ["the word simply is used"]
    assert ran.run["policy_changes"] == [
        "rules.ACME_WORD.python: house/word.py → house/other.py",
    ]


def test_a_change_of_a_rule_s_code_is_reported(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": code("simply")})
    made.change({"house/word.py": code("nothing")})
    assert made.run().run["policy_changes"] == ["rules.ACME_WORD.python: house/word.py changed"]
    made = PullRequest(folder=tmp_path / "removed")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": code("simply")})
    made.change({"house/word.py": None})
    ran = made.run()
    assert ran.run["policy_changes"] == ["rules.ACME_WORD.python: house/word.py is gone, so no gate could run"]


def test_a_link_of_the_base_leads_to_no_file_of_the_change(tmp_path: Path) -> None:
    """The path of a rule's file is looked up in the base's tree; what lies there on disk has no say."""
    mark = tmp_path / "ran"
    made = PullRequest(folder=tmp_path / "work")
    made.write({**skill("merge-sheets"), ".skillgate.yaml": NAMED})
    (made.folder / "house").mkdir()
    (made.folder / "house" / "word.py").symlink_to("../other.py")
    made.base({"other.py": code("simply")})
    made.change({"other.py": code("nothing", mark)})
    ran = made.run()
    assert ran.code == 0, ran.err
    assert not mark.exists()


def test_an_import_of_the_base_finds_no_module_of_the_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "ran"
    made = PullRequest(folder=tmp_path / "work")
    importing = code("simply").replace("from pathlib import Path", "import acme_words_of_the_change")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": importing})
    made.change({"acme_words_of_the_change.py": code("nothing", mark), **skill("merge-sheets", body="One.\n")})
    monkeypatch.syspath_prepend(str(made.folder))  # as python -m does, started in the workspace
    ran = made.run()
    assert ran.code == 2
    assert "rules.ACME_WORD: house/word.py:7: ModuleNotFoundError" in ran.log
    assert not mark.exists()


def test_a_template_of_the_base_gates_a_change_that_removes_it(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    rules = "rules: {ACME_SUPPORT: {required-section: Support, severity: error}}\n"
    made.base({**skill("merge-sheets", body="\n## Support\n\nAsk us.\n"), ".skillgate.yaml": rules})
    made.change({**skill("merge-sheets"), ".skillgate.yaml": "rules: null\n"})
    ran = made.run()
    assert ran.code == 1, ran.err
    assert "no section 'Support'" in json.dumps(ran.document("report.json"))


LIMITED = "rules: {ACME_WORD: {python: house/word.py, paths: ['skills/merge-sheets/**']}}\n"
USED = "\nThis simply works, as it did before, on every sheet.\n"


@pytest.mark.parametrize(("place", "found"), [("merge-sheets", True), ("join-sheets", True), ("other", False)])
def test_a_skill_does_not_move_out_from_under_a_rule(tmp_path: Path, place: str, *, found: bool) -> None:
    """A moved skill is judged by the rules of its place in the base; a new skill elsewhere is not."""
    made = PullRequest(folder=tmp_path / "work")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": LIMITED, "house/word.py": code("simply")})
    was = skill("merge-sheets", body=USED)
    if place == "other":
        own = "Draw charts of quarterly sales for a deck. Use when plotting figures, or when asked for a bar chart."
        made.change(skill("draw-charts", description=own, body=USED))
    elif place == "join-sheets":
        made.change({"skills/merge-sheets": None, **{path.replace("merge", "join"): was[path] for path in was}})
    else:
        made.change(was)
    ran = made.run(max_drop="100", fail_on="new-error", min_new_score="0")
    ids = [one["id"] for result in ran.document("report.json")["results"] for one in result["findings"]]
    assert (ran.code, "ACME_WORD" in ids) == ((1, True) if found else (0, False)), ran.err


def test_a_comment_on_a_rule_that_does_not_apply_is_unused(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work", name="push")
    limited = "rules: {ACME_WORD: {forbidden-phrase: simply, paths: ['other/**']}}\n"
    comment = "\n<!-- skillgate: ignore ACME_WORD: as the office says -->\nIt simply works.\n"
    made.sha = made.base({**skill("merge-sheets", body=comment), ".skillgate.yaml": limited})
    findings = made.run().document("report.json")["results"][0]["findings"]
    assert [one["id"] for one in findings if one["id"] in ("ACME_WORD", "SUPPRESSION_UNUSED")] == ["SUPPRESSION_UNUSED"]


@pytest.mark.parametrize("inputs", [{}, {"on_unmeasured": "pass"}, {"fail_on": "never", "on_unmeasured": "pass"}])
def test_no_input_excuses_a_rule_that_fails(tmp_path: Path, inputs: dict[str, str]) -> None:
    """It is a reason of its own, named once; other reasons do not stand for it."""
    made = PullRequest(folder=tmp_path / "work")
    broken = code("simply").replace("if 'simply' in line", "if {}[line]")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": broken})
    made.change({path.replace("merge", "join"): text for path, text in skill("merge-sheets").items()})
    ran = made.run(min_new_score="0", **inputs)
    said = "house rule ACME_WORD (house/word.py:15) failed on skills/"
    assert (ran.code, ran.run["result"]) == (3, "error"), ran.err
    (reason,) = ran.run["reasons"]
    assert reason.startswith(said)
    assert not any(said in notice for notice in ran.run["notices"])


def test_a_failed_gate_counts_more_than_a_rule_that_fails(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    broken = code("simply").replace("if 'simply' in line", "if {}[line]")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": broken})
    made.change(skill("merge-sheets", body=DEAD_LINK))
    ran = made.run()
    assert (ran.code, [one.split(" ")[0] for one in ran.run["reasons"]]) == (1, ["skills/merge-sheets:", "house"])


def test_a_rule_that_fails_gives_no_secret_away(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    key = "gh" + "p_" + "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY3zA5"
    broken = code("simply").replace("if 'simply' in line", f"if {key[:4]!r} in line and {{}}[line]")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": broken})
    made.change(skill("merge-sheets", body=f"\nLog in with {key} first.\n"))
    ran = made.run()
    assert "KeyError: 'log in with ghp_… (40 characters) first.'" in ran.run["reasons"][-1]
    assert key[4:20].lower() not in (ran.log + ran.err + json.dumps(ran.run)).lower()


def test_a_rule_that_fails_leaves_the_run_incomplete(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    broken = code("simply").replace("if 'simply' in line", "if {}[line]")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": broken})
    made.change(skill("merge-sheets", body="One more.\n"))
    ran = made.run()
    assert ran.code == 3, ran.err
    assert "house rule ACME_WORD (house/word.py:15) failed on skills/merge-sheets: KeyError" in ran.log


def test_a_push_uses_the_rules_of_its_own_commit(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work", name="push")
    body = "\nThis simply works, as it did before, on every sheet.\n"
    made.sha = made.base(
        {**skill("merge-sheets", body=body), ".skillgate.yaml": NAMED, "house/word.py": code("simply")}
    )
    ran = made.run()
    assert ran.code == 1, ran.err
    assert "the word simply is used" in json.dumps(ran.document("report.json"))
