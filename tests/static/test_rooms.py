"""What the rooms of rules say of themselves in two places: ids, groups, the words a rule waits for, what is opt-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.registry import Room
from skillgate.scoring.selection import GROUPS
from skillgate.static import layer
from skillgate.static.optional import OPTIONAL
from skillgate.static.rules import NEEDS
from tests.static.cases import skill_of, tables

if TYPE_CHECKING:
    from pathlib import Path

ROOMS = ("antipatterns", "rules", "across", "defects", "judged")
ALL = [(room, name) for room in ROOMS for name in Room(f"skillgate.static.{room}").names()]
KINDS = {"antipatterns": "anti-pattern", "defects": "reading", "rules": "", "across": "across", "judged": "judge"}


@pytest.mark.parametrize(("room", "name"), ALL)
def test_a_rule_is_called_by_its_file(room: str, name: str) -> None:
    assert Room(f"skillgate.static.{room}").load(name).RULE.id == name.upper()


@pytest.mark.parametrize(("room", "name"), ALL)
def test_a_rule_has_a_group_that_can_be_selected(room: str, name: str) -> None:
    assert (Room(f"skillgate.static.{room}").load(name).RULE.group or KINDS[room]) in GROUPS


def test_every_group_has_a_rule() -> None:
    found = {Room(f"skillgate.static.{room}").load(name).RULE.group or KINDS[room] for room, name in ALL}
    assert found == set(GROUPS)


def test_opt_in_rules_are_known_without_loading_them() -> None:
    assert {name for name in layer.RULES.names() if layer.rule(name).optional} == OPTIONAL


def test_only_rules_of_the_room_wait_for_words() -> None:
    assert set(NEEDS) <= set(layer.RULES.names())


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_rule_is_there_wherever_its_table_says_that_it_fires(name: str, tmp_path: Path) -> None:
    for number, case in enumerate(tables("rules")[name]):
        if case.expected:
            skill = skill_of(case, tmp_path / str(number))
            assert layer.rule(name) in layer.rules(skill, optional=True), case.title
