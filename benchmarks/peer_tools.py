"""The linters to compare with: how each is called, where it is found, how it is installed.

Pinned, so that figures of different days are about the same programs. Left out: csklint, which needs two programs that
it downloads. plugin-eval is on no registry; `benchmarks.peers` says how to run it from a checkout.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Peer(NamedTuple):
    """A tool and how to call it; words are split as a shell does, then ``{path}`` and the like are filled in.

    ``{layout}`` is a copy with every skill in its own ``.claude/skills``, for a tool that looks nowhere else;
    links between skills are dead there. ``registry`` is pypi or npm. ``cold`` is added where no cache may be used and
    ``warm`` where one must be; ``warm`` is None for a tool without a cache.
    """

    name: str
    registry: str
    version: str
    executable: str
    arguments: str
    cold: str = ""
    warm: str | None = None


PEERS = (
    Peer("agnix", "pypi", "0.59.3", "agnix", "--format json {path}"),
    # Its security scan fetches another program and asks a service.
    Peer("skill-check", "npm", "1.2.0", "skill-check", "check --no-security-scan --format json {path}"),
    Peer("amagi-skill-lint", "pypi", "0.1.0", "amagi-skill-lint", "--format json {path}"),
    Peer("skillcheck", "pypi", "1.5.0", "skillcheck", "--format json {path}"),
    Peer("tracemantle", "pypi", "1.7.0", "tracemantle", "--format json {path}"),
    Peer("doodle-lint", "pypi", "1.2.0", "doodle", "--no-config --format json {path}"),
    Peer("skillsaw", "pypi", "0.22.0", "skillsaw", "lint --format json {path}"),
    Peer(
        name="claude-code-lint",
        registry="npm",
        version="0.5.0",
        executable="claudelint",
        arguments="check-all --no-collapse --format json --cwd {layout}",
        cold="--no-cache",
        warm="--cache-location {cache}",
    ),
)


class Place(NamedTuple):
    """What a tool is given: a file or a tree, the directory of the one skill (empty for a tree), and its layout."""

    path: Path
    directory: str
    layout: Path


class Tool(NamedTuple):
    """A tool that is here: its command, and what is added for each case."""

    name: str
    command: tuple[str, ...]
    cold: tuple[str, ...] = ()
    warm: tuple[str, ...] | None = None

    def line(self, case: str, place: Place, cache: Path) -> tuple[str, ...] | None:
        """Give the command line, or None where there is nothing to run: no cache, or no way to walk a tree."""
        more = self.warm if case == "warm" else self.cold
        walks = any("{path}" in word or "{layout}" in word for word in self.command)
        if more is None or not (walks or place.directory):
            return None
        words = {"path": place.path, "directory": place.directory, "layout": place.layout, "cache": cache}
        return tuple(word.format(**words) for word in (*self.command, *more))


def skillgate() -> Tool:
    """Describe this project's own tool."""
    return Tool("skillgate", (sys.executable, "-m", "skillgate", "check", "--json", "{path}"), ("--no-cache",), ())


def found(peer: Peer, folder: Path | None, named: Mapping[str, str]) -> Tool | None:
    """Look for a peer in ``folder``, then on PATH; ``named`` has executables by peer. None: it is not here."""
    parts = (f"{peer.name}/bin", "node/node_modules/.bin", "bin", "node_modules/.bin")
    places = (*(str(folder / part) for part in parts), None) if folder else (None,)
    name = named.get(peer.name, peer.executable)
    executable = next(filter(None, (shutil.which(name, path=place) for place in places)), None)
    if executable is None:
        return None
    command = (str(Path(executable).absolute()), *shlex.split(peer.arguments))
    warm = None if peer.warm is None else tuple(shlex.split(peer.warm))
    return Tool(peer.name, command, tuple(shlex.split(peer.cold)), warm)


def others(named: Mapping[str, str]) -> Iterator[Tool]:
    """Give the tools outside the table, each by its name with its whole command."""
    for name, command in named.items():
        if name not in {peer.name for peer in PEERS}:
            words = tuple(shlex.split(command))
            given = any("{path}" in word or "{directory}" in word for word in words)
            yield Tool(name, words if given else (*words, "{path}"))


def install(folder: Path) -> int:
    """Fetch every peer into ``folder``, each of PyPI's into its own environment; return how many failed."""
    failures = 0
    for peer in PEERS:
        try:
            for command in _fetch(peer, folder.absolute()):
                subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{peer.name} {peer.version}: installed")
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            print(f"{peer.name} {peer.version}: could not be installed: {said[-1]}")
            failures += 1
    return failures


def _fetch(peer: Peer, folder: Path) -> Iterator[Sequence[str]]:
    if peer.registry == "npm":
        npm = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix")
        yield (*npm, str(folder / "node"), f"{peer.name}@{peer.version}")
    else:
        home = folder / peer.name
        yield (sys.executable, "-m", "venv", str(home))
        pip = (str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        yield (*pip, f"{peer.name}=={peer.version}")
