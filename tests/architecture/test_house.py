"""The rules of the house: folders that can be read at a glance, no circles of imports, one front for the command line.

What breaks a rule today stands in a list of exceptions. The lists may shrink and never grow.
"""

from __future__ import annotations

from collections import Counter

from tests.architecture.source import Module, modules

FOLDER_MODULES = 25
LARGE_FOLDERS = {  # flat folders with more modules, and how many they have
    "skillgate.llm": 40,
    "skillgate.model": 43,
    "skillgate.montecarlo": 29,
    "skillgate.report": 91,
    "skillgate.skill": 28,
    "skillgate.static.rules": 34,
}
CIRCLES: set[frozenset[str]] = {
    frozenset({"skillgate.action.github.api", "skillgate.action.github.repository"}),
}
"""Modules that import one another in a circle; imports within functions and for type checkers count."""


KNOW_ARGPARSE: set[str] = set()
"""Modules outside the command line that still read its arguments."""


def test_no_folder_has_more_modules_than_can_be_read_at_a_glance() -> None:
    found = Counter(module.name.rpartition(".")[0] for module in modules() if module.path.name != "__init__.py")
    large = {name: count for name, count in found.items() if count > FOLDER_MODULES}
    grown = {name: count for name, count in large.items() if count > LARGE_FOLDERS.get(name, 0)}
    assert not grown, f"give these folders subfolders, one per subject: {grown}"
    shrunk = {name: large.get(name, 0) for name, count in LARGE_FOLDERS.items() if large.get(name, 0) < count}
    assert not shrunk, f"good: now lower LARGE_FOLDERS to {shrunk}"


def test_no_modules_import_one_another_in_a_circle() -> None:
    found = _circles({module.name: _own_imports(module) for module in modules()})
    assert found <= CIRCLES, f"new circles: {[sorted(circle) for circle in found - CIRCLES]}"
    assert found >= CIRCLES, f"good: now drop these from CIRCLES: {[sorted(circle) for circle in CIRCLES - found]}"


def test_only_the_command_line_knows_argparse() -> None:
    found = {module.name for module in modules() if "argparse" in module.text and ".cli" not in module.name}
    assert found == KNOW_ARGPARSE


def _own_imports(module: Module) -> set[str]:
    known = {other.name for other in modules()}
    types = module.name != "skillgate"  # the package names there what it loads at first use
    return (module.imports(types=types) & known) - {module.name}


def _circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the strongly connected components of more than one module (Tarjan's algorithm, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: set[frozenset[str]] = set()
    for root in graph:
        work = [(root, iter(sorted(graph[root])))] if root not in index else []
        while work:
            name, rest = work[-1]
            if name not in index:
                index[name] = low[name] = len(index)
                stack.append(name)
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    place = stack.index(name)
                    if len(stack) - place > 1:
                        found.add(frozenset(stack[place:]))
                    del stack[place:]
            elif following not in index:
                work.append((following, iter(sorted(graph[following]))))
            elif following in stack:
                low[name] = min(low[name], index[following])
    return found
