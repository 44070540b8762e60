"""House rules in a pull request: the list and the code of each come from the base, never from the head."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.action.pull_request import PullRequest, skill

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


def test_a_rule_that_fails_leaves_the_run_incomplete(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work")
    broken = code("simply").replace("if 'simply' in line", "if {}[line]")
    made.base({**skill("merge-sheets"), ".skillgate.yaml": NAMED, "house/word.py": broken})
    made.change(skill("merge-sheets", body="One more.\n"))
    ran = made.run()
    assert ran.code == 3, ran.err
    assert "house rule ACME_WORD (house/word.py:15) failed on skills/merge-sheets: KeyError" in ran.err


def test_a_push_uses_the_rules_of_its_own_commit(tmp_path: Path) -> None:
    made = PullRequest(folder=tmp_path / "work", name="push")
    body = "\nThis simply works, as it did before, on every sheet.\n"
    made.sha = made.base(
        {**skill("merge-sheets", body=body), ".skillgate.yaml": NAMED, "house/word.py": code("simply")}
    )
    ran = made.run()
    assert ran.code == 1, ran.err
    assert "the word simply is used" in json.dumps(ran.document("report.json"))
