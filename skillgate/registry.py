"""Rooms: packages in which each file declares one thing and the file's name is its key.

A room is listed without importing anything from it, and only the file that was asked for is ever loaded.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


class Room:
    """One package of files of a kind, such as ``skillgate.cli.commands``."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.kind = package.rpartition(".")[2].removesuffix("s")

    def names(self) -> tuple[str, ...]:
        """List the room's modules by name, sorted; those with a leading underscore belong to the room itself."""
        files = (file for folder in self._folders() for file in os.listdir(folder))  # noqa: PTH208
        stems = {file.removesuffix(".py") for file in files if file.endswith(".py")}
        return tuple(sorted(stem for stem in stems if not stem.startswith("_")))

    def load(self, name: str) -> ModuleType:
        """Import one module of the room; ``-`` and ``_`` are the same in its name.

        Raises:
            UsageError: the room has no such module; the nearest name is suggested.
        """
        return importlib.import_module(f"{self.package}.{self._module(name)}")

    def summary(self, name: str) -> str:
        """Read the first line of a module's docstring from its file, without importing it.

        Raises:
            UsageError: as :meth:`load`.
        """
        return next(self._lines(name), "").strip().lstrip('r"').rstrip('"')

    def text(self, name: str, constant: str) -> str:
        """Read a constant that a module sets to a plain text, without importing it; ``""`` where it sets none.

        Raises:
            UsageError: as :meth:`load`.
        """
        start = f'{constant} = "'
        return next((line[len(start) :].rstrip('"\n') for line in self._lines(name) if line.startswith(start)), "")

    def _lines(self, name: str) -> Iterator[str]:
        module = self._module(name)
        for folder in self._folders():
            path = os.path.join(folder, module + ".py")  # noqa: PTH118 - pathlib costs start-up time
            if os.path.isfile(path):  # noqa: PTH113
                with open(path, encoding="utf-8") as source:  # noqa: PTH123
                    yield from source

    def _module(self, name: str) -> str:
        known = self.names()
        module = name.replace("-", "_")
        if module in known:
            return module
        keys = [other.replace("_", "-") for other in known]
        raise UsageError(f"unknown {self.kind} {name!r}{did_you_mean(name, keys)}")

    def _folders(self) -> list[str]:
        return list(importlib.import_module(self.package).__path__)
