"""Advice where the frontmatter cannot be read: repair it first, and nothing that rests on the values that were lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from skillgate.scoring.result import REMEDIES
from tests.skills import BODY, score, static

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.report import SkillResult

# Each of these rests on name, description or category.
RESTS_ON_HEAD = frozenset(
    REMEDIES[key].action
    for key in ("trigger", "situations", "describe", "proactive", "automatic", "name", "objects", "vague", "boundary")
)
DESCRIBED = (
    "Checks the figures of a yearly report: totals, ratios and dates. Use when the user asks to check a report, to add"
    " up a table, or when comparing two years."
)
GOOD = f'name: sample\ndescription: "{DESCRIBED}"\n'


class Broken(NamedTuple):
    """A head that cannot be read, and the words that the first advice must hold."""

    head: str
    words: str
    rule: str


BROKEN = {
    "colon in the description": Broken(
        f"---\nname: sample\ndescription: {DESCRIBED}\n---\n",
        "put the value in quotes",
        "FRONTMATTER_INVALID",
    ),
    "not closed": Broken(f"---\n{GOOD}\n", "close the frontmatter", "FRONTMATTER_UNCLOSED"),
    "over 64 KiB": Broken(
        f"---\n{GOOD}notes: >-\n  {'word ' * 14_000}\n---\n", "shorten the frontmatter", "FRONTMATTER_TOO_LARGE"
    ),
    "description indented": Broken(
        f'---\nname: sample\n  description: "{DESCRIBED}"\n---\n', "fix the frontmatter", "FRONTMATTER_INVALID"
    ),
    "description behind a tab": Broken(
        f'---\nname: sample\n\tdescription: "{DESCRIBED}"\n---\n', "fix the frontmatter", "FRONTMATTER_INVALID"
    ),
    "merge keys": Broken(f"---\n{GOOD}<<: {{a: b}}\n---\n", "fix the frontmatter", "FRONTMATTER_INVALID"),
    "description in a list": Broken(
        f'---\nname: sample\ndescription: ["{DESCRIBED}"]\n---\n', "description must be a string", "FIELD_TYPE"
    ),
}
NOTHING_TO_SAVE = {
    "none": Broken("", "start the file with a frontmatter", "FRONTMATTER_MISSING"),
    "empty": Broken("---\n---\n", "name of its directory", "FRONTMATTER_INVALID"),
    "a list": Broken("---\n- name\n- description\n---\n", "name of its directory", "FRONTMATTER_INVALID"),
    "a word": Broken("---\nsample\n---\n", "name of its directory", "FRONTMATTER_INVALID"),
}


def written(tmp_path: Path, text: str, place: str = "a") -> SkillResult:
    directory = tmp_path / place / "sample"
    directory.mkdir(parents=True)
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return score(directory)


def rests_on_head(action: str) -> bool:
    return any(part in action for part in RESTS_ON_HEAD)


@pytest.mark.parametrize("broken", [*BROKEN.values(), *NOTHING_TO_SAVE.values()], ids=[*BROKEN, *NOTHING_TO_SAVE])
def test_the_first_advice_repairs_the_frontmatter(broken: Broken, tmp_path: Path) -> None:
    first = written(tmp_path, broken.head + BODY).advice[0]
    assert broken.words in first.action
    assert first.rule == broken.rule
    assert first.gain > 5


@pytest.mark.parametrize("broken", [*BROKEN.values(), *NOTHING_TO_SAVE.values()], ids=[*BROKEN, *NOTHING_TO_SAVE])
def test_no_other_advice_rests_on_what_was_lost(broken: Broken, tmp_path: Path) -> None:
    _, *others = written(tmp_path, broken.head + BODY).advice
    assert others
    assert not {item.action for item in others if rests_on_head(item.action)}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_the_repair_brings_what_was_estimated(broken: Broken, tmp_path: Path) -> None:
    before = written(tmp_path, broken.head + BODY)
    after = written(tmp_path, f"---\n{GOOD}---\n{BODY}", "b")
    assert before.composite.score is not None
    assert after.composite.score is not None
    gained = after.composite.score - before.composite.score
    swallowed = broken.rule == "FRONTMATTER_UNCLOSED"  # its lines are part of the body until it is closed
    assert before.advice[0].gain == pytest.approx(gained, abs=8 if swallowed else 0.15)


def test_a_repair_that_uncovers_a_flaw_brings_less(tmp_path: Path) -> None:
    said = "Figures: a tool for the totals of the yearly report, and for its many tables."
    before = written(tmp_path, f"---\nname: sample\ndescription: {said}\n---\n{BODY}")
    after = written(tmp_path, f'---\nname: sample\ndescription: "{said}"\n---\n{BODY}', "b")
    assert "MISSING_TRIGGER" in {item.id for item in after.findings}
    assert before.composite.score is not None
    assert after.composite.score is not None
    assert before.advice[0].gain == pytest.approx(after.composite.score - before.composite.score, abs=0.02)


def test_a_repeated_key_is_named_first_and_its_values_are_not_judged(tmp_path: Path) -> None:
    text = f"---\nname: sample\ndescription: {{}}\ndescription: Short one.\n---\n{BODY}"
    first, *others = written(tmp_path, text.format("Another one.")).advice
    assert "key 'description' appears twice" in first.action
    assert (first.rule, first.line, first.gain) == ("DUPLICATE_KEY", 4, 0.0)
    assert [item.action for item in others if rests_on_head(item.action)] == []


def test_a_repeated_key_that_no_point_rests_on_leaves_the_other_advice(tmp_path: Path) -> None:
    first, *others = written(
        tmp_path, f"---\nname: sample\nlicense: MIT\nlicense: BSD\ndescription: Short one.\n---\n{BODY}"
    ).advice
    assert first.rule == "DUPLICATE_KEY"
    assert any(item.action == REMEDIES["describe"].action for item in others)


def test_a_number_as_a_name_leaves_the_advice_on_the_description(tmp_path: Path) -> None:
    first, *others = written(tmp_path, f"---\nname: 123\ndescription: Short one.\n---\n{BODY}").advice
    assert "name must be a string" in first.action
    actions = {item.action for item in others}
    assert REMEDIES["describe"].action in actions
    assert REMEDIES["name"].action not in actions


def test_no_evidence_counts_characters_of_a_description_that_was_lost(tmp_path: Path) -> None:
    result = written(tmp_path, BROKEN["colon in the description"].head + BODY)
    texts = [item.text for item in static(result).sub_checks["frontmatter_quality"].evidence]
    assert texts == ["the frontmatter cannot be read, so name and description are not known"]


def test_a_file_read_in_part_gets_no_advice_on_its_body(tmp_path: Path) -> None:
    long = "word " * 20_000
    result = written(tmp_path, f"---\nname: sample\ndescription: Short one.\n---\n{BODY}\n{long}\n")
    assert "PARTLY_READ" in {item.id for item in result.findings}
    assert result.advice
    taken_away = ("remove", "drop", "keep")  # what is read may hold too much; what it lacks may be in the rest
    others = [item.action for item in result.advice if not rests_on_head(item.action)]
    assert [action for action in others if not action.startswith(taken_away) and "split it" not in action] == []
    assert not any("write out what is missing" in item.action for item in result.advice)


def test_repairing_hostile_frontmatter_stays_bounded(tmp_path: Path) -> None:
    many = "".join(f"k{number}: [\n" for number in range(100_000))
    first = written(tmp_path, f"---\n{many}---\n{BODY}").advice[0]
    assert first.rule == "FRONTMATTER_TOO_LARGE"
    deep = written(tmp_path, f"---\nname: {'[' * 60_000}\ndescription: {'{' * 400}\n---\n{BODY}", "b").advice[0]
    assert deep.rule == "FRONTMATTER_INVALID"
