"""The rules of the house: folders that can be read at a glance, no circles of imports, one front for the command line.

What breaks a rule today stands in a list of exceptions. The lists may shrink and never grow.
"""

from __future__ import annotations

import ast
from collections import Counter

from tests.architecture.source import Module, modules

FOLDER_MODULES = 25
LARGE_FOLDERS = {  # flat folders with more modules, and how many they have
    "skillgate.cli.commands": 26,  # one file for each command
    "skillgate.report": 51,
    "skillgate.static.rules": 49,
}


def test_no_folder_has_more_modules_than_can_be_read_at_a_glance() -> None:
    found = Counter(module.name.rpartition(".")[0] for module in modules() if module.path.name != "__init__.py")
    large = {name: count for name, count in found.items() if count > FOLDER_MODULES}
    grown = {name: count for name, count in large.items() if count > LARGE_FOLDERS.get(name, 0)}
    assert not grown, f"give these folders subfolders, one per subject: {grown}"
    shrunk = {name: large.get(name, 0) for name, count in LARGE_FOLDERS.items() if large.get(name, 0) < count}
    assert not shrunk, f"good: now lower LARGE_FOLDERS to {shrunk}"


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Imports within functions and for type checkers count."""
    found = _circles({module.name: _own_imports(module) for module in modules()})
    assert not [sorted(circle) for circle in found]


def test_only_the_command_line_knows_argparse() -> None:
    found = [module.name for module in modules() if "argparse" in module.text or "Namespace" in module.text]
    assert not [name for name in found if not name.startswith("skillgate.cli.")]


def test_only_the_command_line_passes_arguments_on() -> None:
    found = []
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.arguments):
                names = {one.arg for one in (*node.posonlyargs, *node.args, *node.kwonlyargs)}
                found += [module.name] * ("args" in names)
    assert not [name for name in found if not name.startswith("skillgate.cli.")]


def test_every_command_declares_what_it_reads_of_its_arguments() -> None:
    assert not [module.name for module in modules() if "getattr(args" in module.text]


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
