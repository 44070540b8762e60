"""Changes of the gate and the corpus in a change; they apply after the merge."""
# ruff: noqa: PTH102, PTH118, PTH123

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.action.context import ORIGIN, RunContext, load_policy, reader
from skillgate.config import Config
from skillgate.errors import UsageError
from skillgate.files import toplevel
from skillgate.format import printable
from skillgate.report.findings import bounded
from skillgate.report.known import known_as, read
from skillgate.skill.git import changes, is_tracked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.action.request import ActionSession, Checkout
    from skillgate.config import Files
    from skillgate.model.setting import Value

    Counted = Counter[tuple[str, ...]]

_MOST = 50  # sentences
_TEXT = 120  # characters of patterns or of a value, so that a long one does not push out another


_RULE_BYTES = 1_000_000  # of the code of a rule that are compared
MAX_BYTES = 256_000_000  # of a whole corpus: a thousand skills of 100 KB are less than half
_KEY = settings.CORPUS_DIR.key
_INDEX, _MATCHES, _TEXTS = "index.json", "matches.jsonl", "texts"


def gate_changes(context: RunContext) -> tuple[str, ...]:
    """Compare configuration and known findings before and after a change.

    Raises:
        UsageError: the change breaks the configuration, so that no gate could run.
    """
    start, head = context.files.start, context.files.head
    base = _configuration(context, start)
    try:
        now = load_policy(context.checkout, context.request, head)
    except UsageError as error:
        if base is None:  # it was broken before, and fixed in the base branch since
            return ("the configuration of this branch was already unusable where the change began; update the branch",)
        problem = "; ".join(str(error).split("\n"))
        message = f"the configuration of this change is not valid; after the merge no gate could run: {problem}"
        raise UsageError(message) from None
    base = base or Config(cwd=context.checkout.workspace)
    known = _known(_findings(base, start), _findings(now, head))
    sentences = [*_settings(base, now), *known, *_rule_files(base, now, start, head), *_tables(base, now)]
    left = len(sentences) - _MOST
    return (*sentences[:_MOST], *([f"{left} more changes"] if left > 0 else []))


def _configuration(context: RunContext, files: Files) -> Config | None:
    """Read the configuration of a commit; None if it is not valid or the file of the input ``config`` is missing."""
    try:
        return load_policy(context.checkout, context.request, files)
    except UsageError:
        return None


def _settings(base: Config, head: Config) -> Iterator[str]:
    then, now = _by_place(base), _by_place(head)
    for where, key in sorted(then.keys() | now.keys()):
        before, after = then.get((where, key)), now.get((where, key))
        if before != after and not (_is_tables(before) or _is_tables(after)):
            yield f"{key}{f' for {where}' if where else ''}: {_change(before, after)}"


def _tables(base: Config, head: Config) -> Iterator[str]:
    """Describe changes in nested mappings, as in ``gates.publish.min_score: 80 → 70``.

    They come last: there may be many, and they must not push out anything.
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
    """Describe a change; for lists the added and removed items, since a long list would hide them."""
    then, now = _items(before), _items(after)
    if not then or not now:
        return " → ".join(bounded(_shown(value), _TEXT) for value in (before, after))
    parts = {
        "added": [item for item in now if item not in then],
        "removed": [item for item in then if item not in now],
    }
    words = [f"{word} {bounded(', '.join(items), _TEXT)}" for word, items in parts.items() if items]
    return "; ".join(words) or "in another order"


def _items(value: Value) -> tuple[str, ...]:
    """Return the items of a list or table in words; none for other values."""
    if isinstance(value, Mapping):
        numbers = (f"{name} {item:g}" for name, item in value.items() if isinstance(item, float))
        return (*numbers, *(f"{name}: {' '.join(item)}" for name, item in value.items() if isinstance(item, tuple)))
    return value if isinstance(value, tuple) else ()


def _by_place(config: Config) -> dict[tuple[str, str], Value]:
    """Return every value set in a file, by its patterns (empty: for all) and key; the last one counts."""
    found: dict[tuple[str, str], Value] = {}
    layers = (layer for layer in config.layers if not set(layer.origins.values()) <= {"option", ORIGIN})
    for index, layer in enumerate(layers):
        # The order of overrides matters: a moved one is a different one.
        where = f"{bounded(', '.join(layer.patterns), _TEXT)} (override {index})" if layer.patterns else ""
        found.update({(where, key): value for key, value in layer.values.items()})
    return found


def _shown(value: Value) -> str:
    if value is None:
        return "not set"
    if isinstance(value, (tuple, Mapping)):
        return ", ".join(_items(value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _known(then: Counted | str, now: Counted | str) -> Iterator[str]:
    """Describe how many findings become known, or are no longer known."""
    if isinstance(now, str):
        yield f"the known findings of this change cannot be read: {now}"
    elif not isinstance(then, str):
        for difference, words in ((now - then, "now known"), (then - now, "no longer known")):
            if count := difference.total():
                rules = ", ".join(sorted({identifier for identifier, *_ in difference}))
                yield f"{count} finding{' is' if count == 1 else 's are'} {words}: {rules}"


def _rule_files(base: Config, now: Config, start: Files, head: Files) -> Iterator[str]:
    """Describe changes of the code of house rules that both sides have."""
    then = _code(base, start)
    for place, (key, shown, after) in _code(now, head).items():
        before = then[place][2] if place in then else after
        if after is None:
            yield f"{key}: {bounded(shown, _TEXT)} is gone, so no gate could run"
        elif after != before:
            yield f"{key}: {bounded(shown, _TEXT)} changed"


def _code(config: Config, files: Files) -> dict[str, tuple[str, str, bytes | None]]:
    """Return key, shown path and bytes of the file of each house rule, by its absolute path; None for no file."""
    layer, tables = config.layer(settings.RULES), config.get(settings.RULES)
    found: dict[str, tuple[str, str, bytes | None]] = {}
    for identifier, table in tables.items() if layer is not None and tables else ():
        if layer is not None and "python" in table:
            shown = str(table["python"])
            place = os.path.normpath(os.path.join(layer.folder, shown))
            data = files.read(place, _RULE_BYTES) if files.is_file(place) else None
            found[place] = (f"{settings.RULES.key}.{identifier}.python", shown, data)
    return found


def _findings(config: Config, files: Files) -> Counted | str:
    wanted = config.get(settings.KNOWN_FINDINGS)
    if not isinstance(wanted, str):
        return Counter()
    place = os.path.join(config.base(settings.KNOWN_FINDINGS), wanted)
    if not files.is_file(place):
        return f"{wanted} does not exist"
    try:
        text = reader(files)(place, wanted, "the file of known findings")
        found: Counted = Counter()
        for item in read(text, source=wanted):
            found[known_as(item)] += item.times
    except UsageError as error:
        return "; ".join(str(error).split("\n"))
    return found


@contextmanager
def with_base_corpus(context: RunContext, session: ActionSession) -> Iterator[Config]:
    """Return the configuration with the effective corpus: for a change, that of its base, in a temporary directory.

    A corpus outside of the repository, or an untracked one in it (from an earlier step), is used in place. One that
    only the change has is not used, with a note.

    Raises:
        UsageError: it is behind a link or in a nested repository, or is broken or too large.
        IncompleteError: git fails.
    """
    place = _place(context, session.environ)
    below = None if context.base.commit is None or not place else _below(context.checkout, place)
    if below is None:
        yield context.config
        return
    with tempfile.TemporaryDirectory(prefix="skillgate-corpus-") as folder:
        if context.files.tip.is_file(os.path.join(place, _INDEX)):
            _copy(context.files.tip, place, folder, below)
        elif is_tracked(context.checkout.top, below):
            is_gone = context.files.is_removed(os.path.join(place, _INDEX))
            why = (
                "is no longer in the base branch; no skill is ranked against it"
                if is_gone
                else "is new in this change; skills are ranked against it after the merge"
            )
            session.note(f"the corpus {printable(below)} {why}")
        else:
            _require_own(context.checkout, place, below)
            yield context.config
            return
        yield context.config.with_options({_KEY: folder})


def corpus_changes(context: RunContext, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return at most one sentence on what a change does to the corpus; it applies after the merge.

    Raises:
        UsageError: the corpus is in a forbidden place.
        IncompleteError: git fails.
    """
    place = _place(context, environ)
    below = None if context.base.commit is None or not place else _below(context.checkout, place)
    if below is None:
        return ()
    start = "" if below == "." else f"{below}/"
    touched = [
        path for path in changes(context.checkout.top, context.base.commit, committed=True) if path.startswith(start)
    ]
    if not touched:
        return ()
    return (f"{_KEY} {below}: {len(touched)} file{'s' * (len(touched) != 1)} of the corpus changed",)


def _place(context: RunContext, environ: Mapping[str, str]) -> str:
    """Return the directory of the corpus; ``""`` for the system's own, which a change cannot fill."""
    folder = context.config.get(settings.CORPUS_DIR)
    if folder is None:
        return ""
    from skillgate.evaluation.corpus.store import place_of  # most repositories have no corpus

    return place_of(environ, folder, context.config.base(settings.CORPUS_DIR))


def _below(checkout: Checkout, place: str) -> str | None:
    """Return a path in the repository relative to its top, with ``/``; None for one outside."""
    top, real = os.path.realpath(checkout.top), os.path.realpath(place)
    for one in (checkout.top, top, checkout.workspace):
        if place == one or place.startswith(one.rstrip(os.sep) + os.sep):
            return os.path.relpath(place, one if one != checkout.workspace else checkout.top).replace(os.sep, "/")
    if real == top or real.startswith(top.rstrip(os.sep) + os.sep):
        raise UsageError(f"{_KEY} {_short(place)} is a link into the repository; use the target path")
    return None


def _require_own(checkout: Checkout, place: str, below: str) -> None:
    """Refuse an untracked corpus that the change may still control."""
    real = os.path.realpath(place)
    if real != os.path.normpath(os.path.join(os.path.realpath(checkout.top), below)):
        raise UsageError(f"{_KEY} {_short(below)} is behind a symbolic link, which a change may have made")
    if os.path.lexists(real) and toplevel(real) not in (None, checkout.top, os.path.realpath(checkout.top)):
        raise UsageError(f"{_KEY} {_short(below)} is in a nested repository, which a change may choose")


def _copy(files: Files, place: str, folder: str, shown: str) -> None:
    """Copy index, matches and texts of a corpus in a commit to a directory; missing texts are skipped."""
    from skillgate.evaluation.corpus.store import Store

    left = _write(files, os.path.join(place, _INDEX), os.path.join(folder, _INDEX), MAX_BYTES)
    try:
        index = Store(folder).index()
    except UsageError as error:
        raise UsageError(str(error).replace(folder, _short(shown))) from None
    if files.is_file(os.path.join(place, _MATCHES)):
        left = _write(files, os.path.join(place, _MATCHES), os.path.join(folder, _MATCHES), left)
    os.mkdir(os.path.join(folder, _TEXTS))
    for member in index.members if index else ():
        name = os.path.join(_TEXTS, f"{member.digest}.json")
        if files.is_file(os.path.join(place, name)):
            left = _write(files, os.path.join(place, name), os.path.join(folder, name), left)


def _write(files: Files, place: str, to: str, left: int) -> int:
    data = files.read(place, left + 1)
    if len(data) > left:
        raise UsageError(f"the corpus in the base of the change is larger than {MAX_BYTES:,} bytes")
    with open(to, "wb") as file:
        file.write(data)
    return left - len(data)


def _short(path: str) -> str:
    return printable(path)[:120]
