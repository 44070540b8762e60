"""The shape of the source: docstrings, sizes, and the facts that stand in two places."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

import skillgate
from skillgate.model.finding import Severity
from skillgate.model.score import Dimension
from skillgate.model.tool import HOMEPAGE
from skillgate.registry import Room
from skillgate.scoring.advice import REMEDIES
from skillgate.scoring.weights import EFFORT
from skillgate.settings import SETTINGS
from skillgate.static import layer
from tests.architecture.source import ROOT, Module, modules

MODULE_LINES = 600
TABLES = {"skillgate.settings"}  # one entry after another: as long as there are settings
FUNCTION_LINES = 60
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CODE = [module for module in modules() if module.text.strip()]
RULES = [
    (room, name) for room in ("antipatterns", "rules", "defects") for name in Room(f"skillgate.static.{room}").names()
]


@pytest.mark.parametrize("module", CODE, ids=lambda module: module.name)
def test_every_module_says_what_it_is(module: Module) -> None:
    assert ast.get_docstring(module.tree)


def test_no_module_is_very_long() -> None:
    lines = {module.name: module.text.count("\n") for module in CODE}
    assert not {name: count for name, count in lines.items() if count > MODULE_LINES and name not in TABLES}


def test_functions_fit_a_screen() -> None:
    offenders = {}
    for module in CODE:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                length = node.end_lineno - node.lineno + 1
                if length > FUNCTION_LINES:
                    offenders[f"{module.name}.{node.name}"] = length
    assert not offenders


def test_everything_public_is_documented() -> None:
    offenders = []
    for module in CODE:
        classes = [node for node in module.tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        for body in (module.tree.body, *(node.body for node in classes)):
            offenders += [f"{module.name}.{name}" for node in body if (name := _undocumented(node))]
    assert not offenders


def _undocumented(node: ast.stmt) -> str | None:
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
        return None
    return None if ast.get_docstring(node) or _only_declares(node) else node.name


def _only_declares(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Tell the overloads of a function, which its implementation documents."""
    return any(ast.unparse(item).endswith("overload") for item in node.decorator_list)


def test_names_are_those_of_things() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
    assert not [module.name for module in modules() if vague & set(module.name.split("."))]


def test_no_module_hides_a_public_name() -> None:
    """Importing a submodule binds it on the package, over a function of the same name."""
    assert not [module.name for module in modules() if module.name.removeprefix("skillgate.") in skillgate.__all__]


def test_nobody_swallows_every_exception_but_the_boundary() -> None:
    broad = []
    for module in CODE:
        for node in ast.walk(module.tree):
            caught = ast.unparse(node.type) if isinstance(node, ast.ExceptHandler) and node.type else "bare"
            if isinstance(node, ast.ExceptHandler) and caught in ("Exception", "BaseException", "bare"):
                broad.append(module.name)
    # The driver hands what a layer or a thread raised to whoever takes the result.
    assert set(broad) == {"skillgate.cli.main", "skillgate.llm.crew", "skillgate.llm.driver"}


def test_the_home_page_is_that_of_the_package() -> None:
    assert PROJECT["urls"]["Homepage"] == HOMEPAGE


def test_the_base_needs_two_packages() -> None:
    names = {re.split(r"[<>=!~ \[;]", item, maxsplit=1)[0] for item in PROJECT["dependencies"]}
    assert names == {"PyYAML", "markdown-it-py"}


def test_the_settings_name_the_ten_dimensions() -> None:
    (setting,) = (item for item in SETTINGS if item.key == "min-dimension")
    assert setting.choices == tuple(dimension.value for dimension in Dimension)


def _keys_in_source() -> set[str]:
    """Collect every advice key that the static layer names, as keyword, as part of a table, or as an argument."""
    found: set[str] = set()
    for module in CODE:
        if module.name.startswith("skillgate.static."):
            strings = {node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant)}
            found |= {value for value in strings if isinstance(value, str) and value in REMEDIES}
            for node in ast.walk(module.tree):
                if isinstance(node, ast.keyword) and node.arg == "advice" and isinstance(node.value, ast.Constant):
                    found |= {node.value.value} if isinstance(node.value.value, str) else set()
    return found


def test_every_advice_key_has_a_remedy_and_every_remedy_a_key() -> None:
    assert _keys_in_source() == set(REMEDIES)


@pytest.mark.parametrize("key", sorted(REMEDIES))
def test_a_remedy_says_what_to_do_for_which_dimension_at_what_effort(key: str) -> None:
    remedy = REMEDIES[key]
    assert remedy.action[0].islower()
    assert not remedy.action.endswith(".")
    assert remedy.dimension in {check.dimension for _, check in layer.subchecks()}
    assert remedy.effort in EFFORT


@pytest.mark.parametrize(("room", "name"), RULES)
def test_a_rule_documents_itself(room: str, name: str) -> None:
    text = Room(f"skillgate.static.{room}").load(name).__doc__ or ""
    heads = ["Why:", "Bad:", "Good:", "Source:"]
    places = [text.find(f"\n{head}") for head in heads]
    assert -1 not in places
    assert places == sorted(places)
    assert text.splitlines()[0].endswith(".")


@pytest.mark.parametrize(("room", "name"), RULES)
def test_a_rule_is_declared_in_full(room: str, name: str) -> None:
    rule = Room(f"skillgate.static.{room}").load(name).RULE
    assert re.fullmatch(r"[A-Z][A-Z0-9_]+", rule.id)
    assert isinstance(rule.severity, Severity)
    assert rule.summary
    assert rule.fix
    assert not rule.summary.endswith(".")
    assert not rule.fix.endswith(".")
    assert rule.advice is None or rule.advice in REMEDIES


def test_rule_ids_are_unique() -> None:
    ids = [Room(f"skillgate.static.{room}").load(name).RULE.id for room, name in RULES]
    assert len(ids) == len(set(ids))


def test_an_anti_pattern_has_the_id_of_its_file() -> None:
    room = Room("skillgate.static.antipatterns")
    assert [room.load(name).RULE.id for name in room.names()] == [name.upper() for name in room.names()]
    assert set(room.names()) == {
        "bloated_skill",
        "dead_cross_ref",
        "empty_description",
        "missing_trigger",
        "orphan_reference",
        "over_constrained",
    }


@pytest.mark.parametrize("name", Room("skillgate.static.subchecks").names())
def test_a_sub_check_names_its_source(name: str) -> None:
    assert "\nSource: " in (Room("skillgate.static.subchecks").load(name).__doc__ or "")
