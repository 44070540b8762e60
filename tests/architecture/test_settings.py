"""Settings are declared in one table: nothing beside it enumerates their keys, and few modules spell one out."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from skillgate.settings import BY_KEY, TABLE
from tests.architecture.source import modules

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER_MEANINGS = {"known-findings"}  # it is the kind of a document, too
HYPHENATED = [entry.key for entry in TABLE if "-" in entry.key and entry.key not in OTHER_MEANINGS]


def test_nothing_beside_the_table_enumerates_settings() -> None:
    """Two hyphenated keys in one collection, or three keys of the configuration, are a list of settings."""
    beside = (module for module in modules() if module.name != "skillgate.settings")
    found = [module.name for module in beside if any(map(_enumerates, _collections(module.tree)))]
    assert not found, f"read the settings by settings.of_group(…), or by an attribute of their entries: {found}"


def test_a_key_is_spelled_out_in_two_modules_at_most() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        text = "\n".join(_texts(module.tree))
        for key in HYPHENATED:
            if re.search(rf"(?<![\w-])(?:--)?{key}(?![\w-])", text):
                found[key].add(module.name)
    many = {key: sorted(names) for key, names in found.items() if len(names) > 2}
    assert not many, f"write settings.NAME.key: {many}"


def _collections(tree: ast.Module) -> Iterator[list[ast.expr]]:
    for node in ast.walk(tree):
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                yield items
            case ast.Dict(keys=keys, values=values):
                yield [key for key in keys if key is not None]
                yield values
            case _:
                pass


def _enumerates(items: list[ast.expr]) -> bool:
    words = [item.value for item in items if isinstance(item, ast.Constant)]
    return sum(word in HYPHENATED for word in words) >= 2 or sum(word in BY_KEY for word in words) >= 3


def _texts(tree: ast.Module) -> Iterator[str]:
    """Yield every text but docstrings and the like."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value
