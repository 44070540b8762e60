"""What rules say of themselves in two places: ids, groups, the words a rule waits for, what is opt-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.scoring.selection import GROUPS, HOUSE
from skillgate.static import layer
from skillgate.static.rules import COMMANDS, CREDENTIALS, NEEDS, OPTIONAL, SECRETS, Searched
from tests.static.cases import declared, skill_of, tables

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import Rule

ROOMS = ("antipatterns", "rules", "across", "defects", "judged")
ALL = [(room, rule) for room in ROOMS for rule in declared(room).values()]
KINDS = {"antipatterns": "anti-pattern", "defects": "reading", "rules": "", "across": "across", "judged": "judge"}


def test_a_rule_is_called_by_its_file() -> None:
    assert {name.upper(): name for name in layer.RULES.names()} == {
        rule.id: name for name, rule in declared("rules").items()
    }


@pytest.mark.parametrize(("room", "rule"), ALL, ids=lambda item: item if isinstance(item, str) else item.id)
def test_a_rule_has_a_group_that_can_be_selected(room: str, rule: Rule) -> None:
    assert (rule.group or KINDS[room]) in GROUPS


def test_every_group_has_a_rule() -> None:
    assert {rule.group or KINDS[room] for room, rule in ALL} == {*GROUPS} - {HOUSE}  # these are the user's


def test_sub_checks_are_listed_heaviest_first() -> None:
    checks = layer.subchecks()
    assert list(checks) == sorted(checks, key=lambda item: (-item[1].weight, item[0]))


def test_opt_in_rules_are_known_without_loading_them() -> None:
    assert {name for name in layer.RULES.names() if layer.rule(name).optional} == OPTIONAL


def test_a_searched_text_holds_what_a_text_holds() -> None:
    words = [
        *COMMANDS,
        *CREDENTIALS,
        *SECRETS,
        *(word for needs in NEEDS.values() if not callable(needs) for word in needs),
    ]
    for word in words:
        for text in (word, f"a|b.c$d]{word}|e.f$g]", word[:-1], word[1:], f"{word[:-1]}\n{word[-1]}"):
            assert (word in Searched(text)) == (word in text), (word, text)


def test_only_rules_of_the_room_wait() -> None:
    assert set(NEEDS) <= set(layer.RULES.names())


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_rule_is_there_wherever_its_table_says_that_it_fires(name: str, tmp_path: Path) -> None:
    for number, case in enumerate(tables("rules")[name]):
        if case.expected:
            skill = skill_of(case, tmp_path / str(number))
            assert layer.rule(name) in layer.rules(skill, optional=True), case.title
