"""What a change does to the gate itself: told in sentences, and in force only after the merge."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillgate.cli.action.policy import ORIGIN, load, reading
from skillgate.config_file import DISK
from skillgate.errors import UsageError
from skillgate.report.known import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.cli.action.inputs import Value as InputValue
    from skillgate.cli.action.policy import Place
    from skillgate.config import Config
    from skillgate.config_file import Files
    from skillgate.model.layer import Layer
    from skillgate.model.setting import Value

_MOST = 50  # sentences


def gate_changes(base: Config, place: Place, inputs: Mapping[str, InputValue], *, files: Files) -> tuple[str, ...]:
    """Compare the configuration and the known findings of a base with those of the working tree.

    Args:
        base: the base's configuration.
        place: where the run stands.
        inputs: the Action's.
        files: the base's files.
    """
    try:
        head = load(place, inputs, files=DISK)
    except UsageError as error:
        first = "; ".join(str(error).split("\n"))
        return (f"the configuration of this change is not valid, and after the merge no gate could run: {first}",)
    told = [*_settings(base, head), *_known(base, head, files)]
    return (*told[:_MOST], *([f"{len(told) - _MOST} more changes"] if len(told) > _MOST else []))


def _settings(base: Config, head: Config) -> Iterator[str]:
    then, now = _by_place(base), _by_place(head)
    for where, key in sorted(then.keys() | now.keys()):
        before, after = then.get((where, key)), now.get((where, key))
        if before != after:
            yield f"{key}{f' for {where}' if where else ''}: {_shown(before)} → {_shown(after)}"


def _by_place(config: Config) -> dict[tuple[str, str], Value]:
    """Give every value that a file sets, by the patterns it holds for (empty: for all) and key; the last one counts."""
    found: dict[tuple[str, str], Value] = {}
    for index, layer in enumerate(filter(_is_from_file, config.layers)):
        # Overrides count in their order: one that moves is another one.
        where = f"{', '.join(layer.patterns)} (override {index})" if layer.patterns else ""
        found.update({(where, key): value for key, value in layer.values.items()})
    return found


def _is_from_file(layer: Layer) -> bool:
    return not set(layer.origins.values()) <= {"option", ORIGIN}


def _shown(value: Value) -> str:
    if value is None:
        return "not set"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {number:g}" for name, number in value.items())
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _known(base: Config, head: Config, files: Files) -> Iterator[str]:
    """Say how many findings the change calls known, or no longer so."""
    then, now = _findings(base, files), _findings(head, DISK)
    if isinstance(now, str):
        yield f"the known findings of this change cannot be read: {now}"
    elif not isinstance(then, str):
        for difference, words in ((now - then, "are now called known"), (then - now, "are no longer called known")):
            if difference:
                rules = ", ".join(sorted({identifier for identifier, _, _ in difference}))
                yield f"{difference.total()} findings {words}: {rules}"


def _findings(config: Config, files: Files) -> Counter[tuple[str, str, str]] | str:
    wanted = config.get("known-findings")
    if not isinstance(wanted, str):
        return Counter()
    try:
        text = reading(files)(os.path.join(config.base("known-findings"), wanted), wanted, "the file of known findings")  # noqa: PTH118
        found: Counter[tuple[str, str, str]] = Counter()
        for item in read(text, source=wanted):
            found[(item.id, item.path, item.message)] += item.times
    except UsageError as error:
        return "; ".join(str(error).split("\n"))
    return found
