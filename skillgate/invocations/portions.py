"""A large file of lines, shared among processes: each reads and scores portions of it, and one keeps what they give."""
# ruff: noqa: PTH123

from __future__ import annotations

from functools import partial
from typing import IO, TYPE_CHECKING, NamedTuple

from skillgate.evaluation.workers import FORKED, MOST, Crew, processors
from skillgate.invocations.forms import reader
from skillgate.invocations.reading import lines_between
from skillgate.invocations.rubric import scorer
from skillgate.invocations.taking import Place, places
from skillgate.registry import INVOCATION_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.invocations.ports import Options

WORTH = 4_000_000
"""Bytes of a file from which on two processes are sooner done."""
_PORTION = 400_000  # bytes: some hundred lines, small enough to be waited for


class Portion(NamedTuple):
    """Whole lines of a file: where they begin and end, and the number of the first."""

    start: int
    end: int
    line: int


def pays(form: str, size: int) -> bool:
    """Return whether a file is worth other processes."""
    return FORKED and INVOCATION_FORMATS.flag(form, "LINE_BY_LINE") and size >= WORTH and processors() > 1


def crew(path: str, form: str, options: Options, rubric: str) -> Crew:
    """Return processes that read and score portions of a file."""
    return Crew(partial(_work, path, form, options._replace(beside=_nothing), rubric), min(processors(), MOST))


def portions(file: IO[bytes]) -> Iterator[Portion]:
    """Part a file at the ends of lines; of a line that is longer than a portion nothing is kept."""
    start = end = 0
    line = following = 1
    while block := file.read(_PORTION):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield Portion(start, end + cut, line)
            start, line = end + cut, following + block.count(b"\n")
        following += block.count(b"\n")
        end += len(block)
    if end > start:
        yield Portion(start, end, line)


def _nothing(_path: str) -> None:
    """Return None: there is no file near one whose lines say all by themselves."""


def _work(path: str, form: str, options: Options, rubric: str, portion: Portion) -> list[Place]:
    with open(path, "rb") as file:
        some = lines_between(file, portion.start, portion.end, portion.line)
        return list(places(reader(form)(some, options), scorer(rubric)))
