"""Rooms: packages in which each file declares one thing, with the file's name as its key.

Listing a room imports nothing from it, and only the requested file is ever loaded. What lists need to know is in
constants at the top level of each file, read from its source: ``POSITION = 3`` is its place among the others.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, overload

from skillgate.errors import UsageError
from skillgate.format import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_LAST = 1_000  # the position of a file that declares none


class Room:
    """One package of files of a kind, such as ``skillgate.cli.commands``. Directory and files are read once."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.kind = package.rpartition(".")[2].removesuffix("s")
        self._sources: dict[str, list[str]] = {}

    def __contains__(self, key: str) -> bool:
        """Whether there is a file of this name or key."""
        return key.replace("-", "_") in self.names()

    def names(self) -> tuple[str, ...]:
        """List the room's modules by name, sorted, without those that start with an underscore."""
        return self._names

    def listed(self, *, separator: str = "-") -> tuple[str, ...]:
        """List the room's keys by ``POSITION``, then by name, with ``_`` replaced by a separator."""
        places = {name: int(self._literal(name, "POSITION") or _LAST) for name in self.names()}
        return tuple(name.replace("_", separator) for name in sorted(places, key=lambda name: (places[name], name)))

    def load(self, name: str) -> ModuleType:
        """Import a module of the room; ``-`` and ``_`` are the same. Raises UsageError with the nearest known name."""
        return importlib.import_module(f"{self.package}.{self._module(name)}")

    def summary(self, name: str) -> str:
        """Read the first line of a module's docstring without importing it. Raises UsageError as :meth:`load`."""
        return next(iter(self._lines(name)), "").strip().lstrip('r"').rstrip('"')

    def text(self, name: str, constant: str) -> str:
        """Read a string constant of a module without importing it; ``""`` if it is not set."""
        return next(iter(self.texts(name, constant)), "")

    def texts(self, name: str, constant: str) -> tuple[str, ...]:
        """Read a constant that is a string or a tuple of strings (without quotes or brackets), without an import."""
        return tuple(self._literal(name, constant).split('"')[1::2])

    def table(self, name: str, constant: str) -> dict[str, str]:
        """Read a constant that is a mapping of strings, like :meth:`texts`."""
        texts = self.texts(name, constant)
        return dict(zip(texts[::2], texts[1::2], strict=True))

    def flag(self, name: str, constant: str) -> bool:
        """Read whether a module sets a constant to True, without importing it."""
        return self._literal(name, constant) == "True"

    def defines(self, name: str, function: str) -> bool:
        """Return whether a module defines a function of this name, without importing it."""
        return any(line.startswith(f"def {function}(") for line in self._lines(name))

    def _literal(self, name: str, constant: str) -> str:
        """Return the source of a constant's value, ``""`` if it is not set."""
        start = f"{constant} = "
        lines = iter(self._lines(name))
        for line in lines:
            if line.startswith(start):
                source = line[len(start) :].partition("  #")[0].strip()
                if source[:1] in ("(", "{") and source[-1:] not in (")", "}"):
                    source += "".join(iter(lambda: next(lines).rstrip("\n"), {"(": ")", "{": "}"}[source]))
                return source
        return ""

    @cached_property
    def _names(self) -> tuple[str, ...]:
        files = (file for folder in self._folders() for file in os.listdir(folder))  # noqa: PTH208
        stems = {file.removesuffix(".py") for file in files if file.endswith(".py")}
        return tuple(sorted(stem for stem in stems if not stem.startswith("_")))

    def _lines(self, name: str) -> list[str]:
        module = self._module(name)
        if module not in self._sources:
            paths = (os.path.join(folder, module + ".py") for folder in self._folders())  # noqa: PTH118
            with open(next(filter(os.path.isfile, paths)), encoding="utf-8") as source:  # noqa: PTH123
                self._sources[module] = source.readlines()
        return self._sources[module]

    def _module(self, name: str) -> str:
        known = self.names()
        module = name.replace("-", "_")
        if module in known:
            return module
        keys = [other.replace("_", "-") for other in known]
        raise UsageError(f"unknown {self.kind} {name!r}{did_you_mean(name, keys)}")

    def _folders(self) -> list[str]:
        # Search from the top package, so that listing imports no package in between.
        top, *below = self.package.split(".")
        return [os.path.join(path, *below) for path in importlib.import_module(top).__path__]  # noqa: PTH118


COMMANDS = Room("skillgate.cli.commands")
OUTPUT_FORMATS = Room("skillgate.report.formats")
PROVIDERS = Room("skillgate.llm.providers")
ADAPTERS = Room("skillgate.bench.adapters")
SCORERS = Room("skillgate.bench.scorers")
STARTERS = Room("skillgate.bench.starters")
SERVERS = Room("skillgate.bench.servers")
EVAL_FORMATS = Room("skillgate.evals.formats")
INVOCATION_FORMATS = Room("skillgate.invocations.formats")


@cache
def scorers() -> dict[str, str]:
    """Return the scorer's name for every name and alias."""
    names = SCORERS.listed(separator="_")
    aliases = {alias: name for name in names for alias in SCORERS.texts(name, "ALIASES")}
    return {name: name for name in names} | aliases


class Lazy(Sequence[str]):
    """Words that are listed at first use: choices of a setting that are the keys of a room."""

    def __init__(self, words: Callable[[], tuple[str, ...]]) -> None:
        self._words = cache(words)  # reads the room's files only once

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        """Return a word, or several."""
        return self._words()[index]

    def __len__(self) -> int:
        """Count the words."""
        return len(self._words())
