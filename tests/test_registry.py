"""A room is listed without imports, loads only what was asked for, and suggests a name for a mistyped one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.cli.main import _GROUPS
from skillgate.errors import UsageError
from skillgate.model.setting import Kind, Setting
from skillgate.registry import Lazy, Room
from skillgate.settings import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    package = tmp_path / f"shelf_{abs(hash(tmp_path))}" / "things"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "_own.py").touch()
    (package / "notes.md").touch()
    (package / "round_ball.py").write_text('"""Rolls far."""\n\nSIZE = 3\n')
    (package / "broken.py").write_text('r"""Cannot be imported."""\n\nraise RuntimeError\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    return Room(f"{package.parent.name}.things")


def test_names_are_the_files_sorted_and_nothing_is_imported(room: Room) -> None:
    assert room.names() == ("broken", "round_ball")
    assert f"{room.package}.broken" not in sys.modules


def test_a_module_is_loaded_by_its_name_or_key(room: Room) -> None:
    assert room.load("round_ball").SIZE == 3
    assert room.load("round-ball") is room.load("round_ball")


def test_the_summary_is_read_without_importing(room: Room) -> None:
    assert room.summary("broken") == "Cannot be imported."
    assert room.summary("round-ball") == "Rolls far."


def test_an_unknown_name_is_a_usage_error_with_a_suggestion(room: Room) -> None:
    with pytest.raises(UsageError, match=r"unknown thing 'round-bal' \(did you mean 'round-ball'\?\)"):
        room.load("round-bal")


def test_lazy_words_are_listed_once_and_only_when_somebody_looks() -> None:
    listed = []

    def words() -> tuple[str, ...]:
        listed.append("again")
        return ("exact", "contains")

    lazy = Lazy(words)
    assert listed == []
    assert "contains" in lazy
    assert tuple(lazy) == ("exact", "contains")
    assert listed == ["again"]


def test_settings_have_unique_keys_and_defaults_and_examples_that_they_accept() -> None:
    declared = SETTINGS
    assert len({setting.key for setting in declared}) == len(declared)
    for setting in declared:
        shown = setting.example if setting.default is None else setting.default
        assert setting.accept(shown) == shown


@pytest.mark.parametrize(
    ("kind", "value", "accepted"),
    [
        (Kind.NUMBER, 5, 5.0),
        (Kind.INTEGER, 5, 5),
        (Kind.TEXT, "x", "x"),
        (Kind.CHOICE, "a", "a"),
        (Kind.CHOICES, "a", ("a",)),
        (Kind.CHOICES, ["b", "a", "b"], ("b", "a")),
        (Kind.NUMBERS, {"a": 1}, {"a": 1.0}),
        (Kind.FLAG, False, False),
        (Kind.FLAG, None, None),
    ],
)
def test_a_fitting_value_is_brought_into_the_kinds_type(kind: Kind, value: object, accepted: object) -> None:
    found = _setting(kind).accept(value)
    assert found == accepted
    assert type(found) is type(accepted)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.NUMBER, "5"),
        (Kind.NUMBER, True),
        (Kind.NUMBER, -1),
        (Kind.NUMBER, 11),
        (Kind.NUMBER, float("nan")),
        (Kind.INTEGER, 5.5),
        (Kind.TEXT, " "),
        (Kind.TEXT, 5),
        (Kind.CHOICE, "c"),
        (Kind.CHOICE, ["a"]),
        (Kind.CHOICES, ["a", "c"]),
        (Kind.CHOICES, []),
        (Kind.CHOICES, [{}]),
        (Kind.NUMBERS, {"c": 1}),
        (Kind.NUMBERS, {"a": "1"}),
        (Kind.NUMBERS, {}),
        (Kind.NUMBERS, [1]),
        (Kind.FLAG, 1),
    ],
)
def test_what_does_not_fit_says_what_was_expected_and_found(kind: Kind, value: object) -> None:
    with pytest.raises(ValueError, match=f"^expected {kind.value}.*, found "):
        _setting(kind).accept(value)


def test_null_is_refused_where_there_is_a_default() -> None:
    with pytest.raises(ValueError, match="found null"):
        Setting(key="k", kind=Kind.NUMBER, help="", default=2.0).accept(None)


def _setting(kind: Kind) -> Setting[Any]:
    return Setting(key="k", kind=kind, help="A key.", choices=("a", "b"), minimum=0, maximum=10)


def test_every_command_stands_in_a_group_of_the_help() -> None:
    room = Room("skillgate.cli.commands")
    assert {name: room.text(name, "GROUP") for name in room.names()} == {
        name: room.load(name).GROUP for name in room.names()
    }
    assert {room.text(name, "GROUP") for name in room.names()} == set(_GROUPS)
    assert room.text("check", "NO_SUCH_CONSTANT") == ""
