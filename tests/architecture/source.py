"""The package's own source, as the architecture tests read it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "skillgate"


class Module(NamedTuple):
    """One file of the package: its dotted name, its text and its syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """Give the package it lies in, relative to ``skillgate``, with dots."""
        return ".".join(self.name.split(".")[1:-1])

    def imports(self, *, types: bool = False) -> set[str]:
        """Return every module it imports, at any depth of its code; with ``types`` also those for type checkers."""
        found: set[str] = set()
        blocks = () if types else self._for_type_checkers()
        skipped = {id(node) for block in blocks for node in ast.walk(block)}
        for node in ast.walk(self.tree):
            if id(node) in skipped:
                continue
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        return found

    def _for_type_checkers(self) -> list[ast.If]:
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        ]


@cache
def modules() -> tuple[Module, ...]:
    """Read every module of the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found.append(Module(name, path, text, ast.parse(text)))
    return tuple(found)
