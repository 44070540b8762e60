"""Run a command again whenever a file changes: the files are polled, so that every system works alike."""
# ruff: noqa: PTH112, PTH116, PTH118, PTH120

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from skillgate.config import OTHER_FILES, TOML_NAME, YAML_NAME
from skillgate.errors import EXIT_PASSED, SkillgateError
from skillgate.settings import RULES
from skillgate.skill.walk import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skillgate.console import Console

INTERVAL_S = 0.3
_MOST = 100_000  # files that are looked at

State = frozenset[tuple[str, int, int]]


def watch(run: Callable[[], int], paths: Sequence[str], session: Console) -> int:
    """Call ``run``, and again after each change below ``paths`` or of the configuration, until Ctrl-C.

    An error of a run is shown, and the next change runs it again: the configuration may be half written.

    Returns:
        0, whatever was found.
    """
    before: State | None = None
    try:
        while True:
            now = _state(paths, session)
            if now != before:
                before = now
                session.reload()
                _once(run, session)
                session.note("waiting for changes; Ctrl-C ends")
            time.sleep(INTERVAL_S)
    except KeyboardInterrupt:
        session.note("stopped")
        return EXIT_PASSED


def _once(run: Callable[[], int], session: Console) -> None:
    try:
        run()
    except SkillgateError as error:
        session.note(f"error: {error}")
    session.stdout.flush()


def _state(paths: Sequence[str], session: Console) -> State:
    """Return path, time and size of every watched file."""
    found = set()
    for number, path in enumerate(_files(paths, session)):
        if number == _MOST:
            break
        try:
            status = os.stat(path)
        except OSError:
            continue
        found.add((path, status.st_mtime_ns, status.st_size))
    return frozenset(found)


def _files(paths: Sequence[str], session: Console) -> Iterator[str]:
    for path in paths:
        place = os.path.join(session.cwd, path)
        yield place
        for folder, below, names in os.walk(place if os.path.isdir(place) else os.path.dirname(place)):
            below[:] = [name for name in below if name not in SKIPPED]
            yield from (os.path.join(folder, name) for name in names)
    folder = session.cwd
    while True:
        yield from (os.path.join(folder, name) for name in (YAML_NAME, TOML_NAME, *OTHER_FILES))
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):
            break
        folder = parent
    yield from _rule_files(session)


def _rule_files(session: Console) -> Iterator[str]:
    """Yield the files of house rules; none while the configuration is not valid."""
    try:
        layer, tables = session.config.layer(RULES), session.config.get(RULES)
    except SkillgateError:
        return
    named: Mapping[str, Mapping[str, object]] = tables or {}
    for table in named.values():
        if layer is not None and "python" in table:
            yield os.path.join(layer.folder, str(table["python"]))
