"""Summaries: the figures of scored invocations, packed by rubric, skill and day, so that millions are read at once.

A summary holds what its rows hold, nothing less: medians and intervals stay exact. Triggers mark the days whose rows
change, also for changes in a database shell. :func:`refresh` builds their summaries from the rows again.
"""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.model.invocation import Ending
from skillgate.store.invocation_rows import SCORES, ForeignError, check_observations
from skillgate.store.triggers import mark_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.store.invocation_rows import Bulk, Row, Rows

LAYOUT = (
    *(("key", "q"), ("at", "q"), ("total", "d")),
    *((name, "d") for name in ("completion", "efficiency", "quality", "satisfaction", "coverage")),
    *((name, "d") for name in ("tokens", "duration_ms", "cost_usd")),
    *(("context", "i"), ("errors", "b"), ("unrecovered", "b"), ("shared", "b"), ("estimated", "b")),
)
"""The packed values of an invocation, with their types in the words of ``struct``; -1 is unknown.

``key`` is that of its row, ``at`` in seconds since 1970, ``context`` an index into the summary's contexts. The last
four are 0 or 1: whether it met errors, failed, may hold other work, and whether its cost is an estimate.
"""
RECORD = Struct("<" + "".join(kind for _, kind in LAYOUT))
_KEY_AND_TIME = Struct(f"<qq{RECORD.size - 16}x")
_DAY = len("YYYY-MM-DD")
_MOST_NEW = 1_000_000  # maximum invocations of an import whose summaries are in memory: about 100 MB
_MOST = 4_096  # maximum invocations of a part
_AT_ONCE = 100  # summaries that are read at once
_FAILED = (Ending.EXPLAINED_FAILURE.value, Ending.HARD_FAILURE.value)
_FAILED_POINTS = 5.0  # of completion: an explained failure's. Source: the rubric's table of outcomes
_CLEAN_POINTS = 25.0  # of completion without errors
_BLOCK = itemgetter(0, 1, 2)
_COLUMNS = ("rubric_version", "skill_name", "day", "part", "n", "contexts", "data")


class Context(NamedTuple):
    """What invocations of a skill can have in common; None where it is unknown."""

    category: str | None
    version: str | None
    model: str | None
    project: str | None
    source: str | None
    caller: str | None


class Summary(NamedTuple):
    """Some invocations of one skill and day, by time and key: their contexts as JSON, and their packed values."""

    skill: str
    contexts: str
    data: bytes


def contexts_of(text: str) -> list[Context]:
    """Read the contexts of a summary; raise ForeignError if they are something else."""
    try:
        found = [Context(*one) for one in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        found = None
    if found is None or any(not isinstance(item, str | None) for one in found for item in one):
        raise ForeignError(f"contexts is {text[:50]!r}")
    return found


def packed(rows: Sequence[Row]) -> tuple[list[str], bytes]:
    """Return the contexts of each block of rows, which begin with its rubric, skill and day, and their packed values.

    Raises:
        ForeignError: a value does not match its column's type or range.
    """
    _, _, _, keys, *found = zip(*rows, strict=True)
    check_observations(found)
    at, *figures, errors, endings, shared, estimated = found[: -len(Context._fields)]
    codes: list[int] = []
    texts = []
    for _, own in groupby(rows, _BLOCK):
        contexts: dict[tuple[Any, ...], int] = {}
        codes += [contexts.setdefault(row[-len(Context._fields) :], len(contexts)) for row in own]
        texts.append(_text(contexts))
    return texts, b"".join(_records(keys, at, figures, codes, (errors, endings, shared, estimated)))


def _text(contexts: Iterable[tuple[Any, ...]]) -> str:
    return json.dumps(list(contexts), ensure_ascii=False, separators=(",", ":"))


def _records(
    keys: Iterable[int],
    at: Iterable[int],
    figures: Sequence[Iterable[float | None]],
    codes: Iterable[int],
    rest: Sequence[Sequence[Any]],
) -> Iterator[bytes]:
    """Pack columns: the figures from ``total`` to ``cost_usd``; then errors, endings, shared and estimated."""
    errors, endings, shared, estimated = rest
    columns = [
        keys,
        at,
        *([-1.0 if value is None else value for value in column] for column in figures),
        codes,
        [-1 if number is None else number > 0 for number in errors],
        map(_unrecovered, endings, figures[1], errors),
        *([-1 if flag is None else flag for flag in column] for column in (shared, estimated)),
    ]
    return map(RECORD.pack, *columns)


class NewSummaries:
    """Summaries of an import into an empty store, from what it writes: to read it back would take much longer."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, ...], tuple[dict[tuple[str | None, ...], int], bytearray]] = {}
        self._count = 0

    def add(self, keys: Iterable[int], rows: Rows, origins: Sequence[str | None]) -> bool:
        """Add new invocations; return whether there is still memory for them."""
        nothing = (None,) * len(rows.at)
        fields = {"origin": origins, **rows.invocations, **rows.scores}

        def columns(*names: str) -> list[Sequence[Any]]:
            return [fields.get(name, nothing) for name in names]

        blocks = []
        for rubric, skill, at in zip(*columns("rubric_version", "skill_name", "timestamp"), strict=True):
            place = (rubric, skill, at[:_DAY])
            if place not in self._blocks:
                self._blocks[place] = {}, bytearray()
            blocks.append(self._blocks[place])
        names = ("skill_category", "skill_version", "model", "origin", "source", "called_by")
        contexts = zip(*columns(*names), strict=True)
        codes = [own.setdefault(one, len(own)) for (own, _), one in zip(blocks, contexts, strict=True)]
        figures = columns("quality_score", *SCORES[:4], "coverage", "tokens_used", "duration_ms", "cost_usd")
        rest = columns("error_count", "ending", "shared", "cost_estimated")
        for (_, data), record in zip(blocks, _records(keys, rows.at, figures, codes, rest), strict=True):
            data += record
        self._count += len(blocks)
        return self._count <= _MOST_NEW

    def write(self, rows: Bulk) -> None:
        """Write the summaries, in place of all existing ones."""
        rows.run("DELETE FROM invocation_summaries")
        written: list[tuple[Any, ...]] = []
        for place, (contexts, data) in sorted(self._blocks.items()):
            text, records = _text(contexts), _in_order(data)
            for part, start in enumerate(range(0, len(records), _MOST)):
                own = records[start : start + _MOST]
                written.append((*place, part, len(own), text, b"".join(own)))
            if len(written) >= _AT_ONCE:
                _insert(rows, written)
                written = []
        if written:
            _insert(rows, written)


def _in_order(data: bytearray) -> list[bytes]:
    """Return packed invocations, which are in the order of their keys, by time and key."""
    times = [at for _, at in _KEY_AND_TIME.iter_unpack(data)]
    found = [bytes(data[start : start + RECORD.size]) for start in range(0, len(data), RECORD.size)]
    return [found[place] for place in sorted(range(len(times)), key=times.__getitem__)]


def _insert(rows: Bulk, written: Sequence[tuple[Any, ...]]) -> None:
    rows.insert("invocation_summaries", dict(zip(_COLUMNS, zip(*written, strict=True), strict=True)))


def _unrecovered(ending: str | None, completion: float | None, errors: int | None) -> int:
    """Return whether an invocation failed by its recorded ending, else by observed completion points; -1 if unknown.

    Rubric 1.0 gives full points to unobserved completion; that is not a known ending.
    """
    if ending is not None:
        return ending in _FAILED
    if completion is not None and (errors is not None or completion < _CLEAN_POINTS):
        return completion <= _FAILED_POINTS
    return -1


def refresh(rows: Bulk) -> None:
    """Build the outdated summaries again; requires the lock.

    Raises:
        ForeignError: a row has a value that skillgate did not write.
    """
    if not is_outdated(rows):
        return
    outdated = "WHERE (skill_name, day) IN (SELECT skill_name, day FROM outdated_summaries)"
    rows.run(f"DELETE FROM invocation_summaries {outdated}")  # noqa: S608 - our own names
    scores = ", ".join(f"s.{name}" for name in ("quality_score", *SCORES[:4], "coverage"))
    flags = ", ".join(
        f"CASE WHEN i.{name} THEN 1 WHEN NOT i.{name} THEN 0 END" for name in ("shared", "cost_estimated")
    )
    values = (
        f"SELECT s.rubric_version, o.skill_name, o.day, i.id, {rows.epoch}, {scores}, i.tokens_used, i.duration_ms,"  # noqa: S608
        f" i.cost_usd, i.error_count, i.ending, {flags}, i.skill_category, i.skill_version, i.model, i.origin,"
        f" i.source, i.called_by FROM outdated_summaries o CROSS JOIN invocations i CROSS JOIN skill_scores s"
        f" WHERE i.skill_name = o.skill_name AND {rows.within_day} AND s.invocation_id = i.id"
        " ORDER BY o.skill_name, o.day, s.rubric_version, i.timestamp, i.id"
    )
    for number, some in enumerate(rows.parts(values, (), _MOST)):  # a block may be continued in the next part
        texts, data = packed(some)
        written = []
        end = 0
        for text, (block, own) in zip(texts, groupby(some, _BLOCK), strict=True):
            if not isinstance(block[1], str):
                raise ForeignError(f"skill_name is {str(block[1])[:50]!r}")
            start, end = end, end + sum(1 for _ in own)
            written.append((*block, number, end - start, text, data[start * RECORD.size : end * RECORD.size]))
        _insert(rows, written)
    rows.run("DELETE FROM outdated_summaries")


def is_outdated(rows: Bulk) -> bool:
    """Whether a summary does not match its rows."""
    return bool(rows.rows("SELECT 1 FROM outdated_summaries LIMIT 1"))


def is_whole(rows: Bulk) -> bool:
    """Whether summaries that are not outdated hold as many invocations as there are scores."""
    summed = "SELECT coalesce(sum(n), 0) FROM invocation_summaries"
    return bool(rows.rows(f"SELECT (SELECT count(*) FROM skill_scores) = ({summed})")[0][0])  # noqa: S608 - our own names


def outdate_all(rows: Bulk) -> None:
    """Mark all summaries as outdated, and delete scores without an invocation; requires the lock."""
    rows.run("DELETE FROM skill_scores WHERE invocation_id NOT IN (SELECT id FROM invocations)")
    rows.run(mark_all(rows.dialect))


def summaries(rows: Bulk, rubric: str, skill: str | None, since: str | None) -> Iterator[Summary]:
    """Yield summaries by skill and time, of one skill or all, from a day on."""
    where, values = "rubric_version = ?", [rubric]
    for condition, value in (("skill_name = ?", skill), ("day >= ?", since)):
        if value is not None:
            where += f" AND {condition}"
            values.append(value)
    sql = f"SELECT skill_name, contexts, data, n FROM invocation_summaries WHERE {where} ORDER BY skill_name, day, part"  # noqa: S608
    for part in rows.parts(sql, values, _AT_ONCE):
        for skill_name, contexts, data, n in part:
            if not isinstance(data, bytes) or len(data) != n * RECORD.size:
                raise ForeignError(f"data of a summary is {str(data)[:50]!r}")
            yield Summary(skill_name, contexts, data)
