"""The shape of the source: docstrings, sizes, and the facts that stand in two places."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

import skillgate
from skillgate.model.finding import CheckPage, Severity
from skillgate.model.score import Dimension
from skillgate.scoring.composite import EFFORT
from skillgate.scoring.result import REMEDIES
from skillgate.settings import SETTINGS
from skillgate.static import antipatterns, layer
from skillgate.static.catalogue import check_pages, pages
from tests.architecture.source import ROOT, Module, modules

MODULE_LINES = 600
TABLES = {"skillgate.settings"}  # one entry after another: as long as there are settings
FUNCTION_LINES = 60
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CODE = [module for module in modules() if module.text.strip()]
PAGES = {page.rule.id: page for page in pages()}


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
    assert set(broad) == {"skillgate.cli.main", "skillgate.llm.flow", "skillgate.llm.asker"}


def test_nobody_writes_the_address_by_hand() -> None:
    assert "urls" not in PROJECT
    texts = [path for name in ("*.md", "*.yml", "*.json", "*.toml", "*.py") for path in ROOT.glob(name)]
    texts += [path for name in ("docs", "examples", "skillgate", ".github") for path in (ROOT / name).rglob("*")]
    written = re.compile("(?:github.com/|uses: )(?!<account>)[A-Za-z0-9-]+/skillgate")
    texts = [path for path in texts if path.is_file() and path.suffix != ".pyc"]
    assert [path for path in texts if written.search(path.read_text(encoding="utf-8"))] == []


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


@pytest.mark.parametrize("identifier", PAGES)
def test_a_rule_documents_itself(identifier: str) -> None:
    page = PAGES[identifier]
    assert list(page.sections) == ["Why", "Bad", "Good", "Source"]
    assert all(page.sections.values())
    assert page.title.endswith(".")


@pytest.mark.parametrize("identifier", PAGES)
def test_a_rule_is_declared_in_full(identifier: str) -> None:
    rule = PAGES[identifier].rule
    assert re.fullmatch(r"[A-Z][A-Z0-9_]+", rule.id)
    assert isinstance(rule.severity, Severity)
    assert rule.summary
    assert rule.fix
    assert not rule.summary.endswith(".")
    assert not rule.fix.endswith(".")
    assert getattr(rule, "advice", None) in {None, *REMEDIES}


def test_rule_ids_are_unique() -> None:
    assert len(pages()) == len(PAGES)


def test_the_anti_patterns_are_six() -> None:
    assert {rule.id for rule in antipatterns.RULES} == {
        "BLOATED_SKILL",
        "DEAD_CROSS_REF",
        "EMPTY_DESCRIPTION",
        "MISSING_TRIGGER",
        "ORPHAN_REFERENCE",
        "OVER_CONSTRAINED",
    }


@pytest.mark.parametrize("page", check_pages(), ids=lambda page: page.name)
def test_a_sub_check_names_its_source(page: CheckPage) -> None:
    assert "\nSource: " in page.text
