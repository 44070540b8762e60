"""What a change does to the gate itself, in sentences: it is in force only after the merge.

It is compared with the commit where the change began: what has changed in the base branch since is not its doing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.action.policy import ORIGIN, load, reader
from skillgate.config import Config
from skillgate.errors import UsageError
from skillgate.report.findings import bounded
from skillgate.report.known import known_as, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.context import RunContext
    from skillgate.config_file import Files, Layer
    from skillgate.model.setting import Value

    Counted = Counter[tuple[str, ...]]

_MOST = 50  # sentences
_TEXT = 120  # characters of patterns or of a value, so that no length of one takes another out of the sentence


def gate_changes(context: RunContext) -> tuple[str, ...]:
    """Compare the configuration and the known findings that a change found with those that it leaves.

    Raises:
        UsageError: the change leaves a configuration with which no gate could run, and found one that could.
    """
    start, head = context.files.start, context.files.head
    base = _configuration(context, start)
    try:
        now = load(context.checkout, context.request, head)
    except UsageError as error:
        if base is None:  # it was so, and has been mended in the base branch since
            return (
                "the configuration of this branch cannot be used, nor could it where the change began; update the"
                " branch",
            )
        problem = "; ".join(str(error).split("\n"))
        message = f"the configuration of this change is not valid, and after the merge no gate could run: {problem}"
        raise UsageError(message) from None
    base = base or Config(cwd=context.checkout.workspace)
    sentences = [*_settings(base, now), *_known(_findings(base, start), _findings(now, head)), *_tables(base, now)]
    left = len(sentences) - _MOST
    return (*sentences[:_MOST], *([f"{left} more changes"] if left > 0 else []))


def _configuration(context: RunContext, files: Files) -> Config | None:
    """Read the configuration of a commit, None where it is not valid or the input ``config`` names none there."""
    try:
        return load(context.checkout, context.request, files)
    except UsageError:
        return None


def _settings(base: Config, head: Config) -> Iterator[str]:
    then, now = _by_place(base), _by_place(head)
    for where, key in sorted(then.keys() | now.keys()):
        before, after = then.get((where, key)), now.get((where, key))
        if before != after and not (_is_tables(before) or _is_tables(after)):
            yield f"{key}{f' for {where}' if where else ''}: {_change(before, after)}"


def _tables(base: Config, head: Config) -> Iterator[str]:
    """Say of mappings of mappings what each place in them becomes, as in ``gates.publish.min_score: 80 → 70``.

    After all else: there may be many of them, and they must not take the place of anything.
    """
    then, now = _flat(_by_place(base)), _flat(_by_place(head))
    for key in sorted(then.keys() | now.keys()):
        before, after = then.get(key), now.get(key)
        if before != after:
            yield f"{key}: {_change(before, after)}"


def _flat(values: Mapping[tuple[str, str], Value]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for (_, key), value in values.items():
        for name, table in value.items() if isinstance(value, Mapping) else ():
            for inner, item in table.items() if isinstance(table, Mapping) else ():
                found[f"{key}.{name}.{inner}"] = item
    return found


def _is_tables(value: Value) -> bool:
    return isinstance(value, Mapping) and any(isinstance(item, Mapping) for item in value.values())


def _change(before: Value, after: Value) -> str:
    """Describe a change; of lists what came and went, since a long one would hide that."""
    then, now = _items(before), _items(after)
    if not then or not now:
        return " → ".join(bounded(_shown(value), _TEXT) for value in (before, after))
    parts = {
        "added": [item for item in now if item not in then],
        "taken out": [item for item in then if item not in now],
    }
    words = [f"{word} {bounded(', '.join(items), _TEXT)}" for word, items in parts.items() if items]
    return "; ".join(words) or "in another order"


def _items(value: Value) -> tuple[str, ...]:
    """Return the items of a list or table in words; none of anything else."""
    if isinstance(value, Mapping):
        return tuple(f"{name} {number:g}" for name, number in value.items() if isinstance(number, float))
    return value if isinstance(value, tuple) else ()


def _by_place(config: Config) -> dict[tuple[str, str], Value]:
    """Return every value that a file sets, by its patterns (empty: for all) and key; the last one counts."""
    found: dict[tuple[str, str], Value] = {}
    for index, layer in enumerate(filter(_is_from_file, config.layers)):
        # Overrides count in their order: one that moves is another one.
        where = f"{bounded(', '.join(layer.patterns), _TEXT)} (override {index})" if layer.patterns else ""
        found.update({(where, key): value for key, value in layer.values.items()})
    return found


def _is_from_file(layer: Layer) -> bool:
    return not set(layer.origins.values()) <= {"option", ORIGIN}


def _shown(value: Value) -> str:
    if value is None:
        return "not set"
    if isinstance(value, (tuple, Mapping)):
        return ", ".join(_items(value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _known(then: Counted | str, now: Counted | str) -> Iterator[str]:
    """Say how many findings the change calls known, or no longer so."""
    if isinstance(now, str):
        yield f"the known findings of this change cannot be read: {now}"
    elif not isinstance(then, str):
        for difference, words in ((now - then, "now called known"), (then - now, "no longer called known")):
            if count := difference.total():
                rules = ", ".join(sorted({identifier for identifier, *_ in difference}))
                yield f"{count} finding{' is' if count == 1 else 's are'} {words}: {rules}"


def _findings(config: Config, files: Files) -> Counted | str:
    wanted = config.get(settings.KNOWN_FINDINGS)
    if not isinstance(wanted, str):
        return Counter()
    place = os.path.join(config.base(settings.KNOWN_FINDINGS), wanted)  # noqa: PTH118
    if not files.is_file(place):
        return f"there is no file {wanted}"
    try:
        text = reader(files)(place, wanted, "the file of known findings")
        found: Counted = Counter()
        for item in read(text, source=wanted):
            found[known_as(item)] += item.times
    except UsageError as error:
        return "; ".join(str(error).split("\n"))
    return found
