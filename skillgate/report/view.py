"""What a report shows, once for every medium: a tree of blocks that the writers lay out.

A subject builds the tree from its document. The writers (``formats.text``, ``formats.markdown``, ``formats.html``) know
nothing of subjects. Every string in a tree is untrusted: each writer makes it inert. Nothing in a tree is markup, and
the only addresses are those that :mod:`skillgate.report.addresses` builds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillgate.report.charts import Drawing

Tone: TypeAlias = Literal["", "good", "fair", "poor", "muted"]
Mark: TypeAlias = Literal["pass", "fail", "error", "none"]
"""``error``: not everything was measured; ``none``: nothing was asked."""


MARKS: Mapping[bool | None, Mark] = {True: "pass", False: "fail", None: "none"}
"""The mark of a gate, by whether it passed."""


class Span(NamedTuple):
    """A part of a line.

    Attributes:
        text: what is shown.
        style: ``code``, ``strong``, ``label`` (a small tag), a tone, the name of a badge or ``""``.
        url: where it leads on a code host; ``""`` for nowhere.
        anchor: the fold of the same page that it leads to; ``""`` for none.
    """

    text: str
    style: str = ""
    url: str = ""
    anchor: str = ""


Line: TypeAlias = "str | Span | tuple[str | Span, ...]"


def spans(line: Line) -> tuple[Span, ...]:
    """Return the parts of a line, without empty ones."""
    parts = line if isinstance(line, tuple) and not isinstance(line, Span) else (line,)
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts if part not in {"", ()})


def plain(line: Line) -> str:
    """Return the characters of a line without their style."""
    return "".join(span.text for span in spans(line))


def joined(lines: Iterable[Line], between: str = ", ") -> Line:
    """Join lines into one."""
    found: list[Span] = []
    for line in lines:
        found += [*([Span(between)] if found else []), *spans(line)]
    return tuple(found)


def code(text: str, url: str = "", anchor: str = "") -> Span:
    """Return a name, path or value as code."""
    return Span(text, "code", url, anchor)


class Bar(NamedTuple):
    """A value from 0 to 100; ``before`` is what it was, None without a comparison."""

    value: float | None
    tone: Tone = ""
    before: float | None = None


class Cell(NamedTuple):
    """One cell of a table.

    Attributes:
        line: what is shown.
        note: small print after it, such as an interval.
        tone: its colour.
        chart: a bar or a drawing before or instead of the line; a drawing is shown by HTML alone.
        sort: what the column is sorted by, if the text does not sort.
    """

    line: Line = ""
    note: str = ""
    tone: Tone = ""
    chart: Bar | Drawing | None = None
    sort: float | None = None


class Row(NamedTuple):
    """One row of a table.

    Attributes:
        cells: one for each column.
        below: what belongs to the row; Markdown leaves it out of rows without an anchor.
        anchor: its name for links within the page.
        quiet: whether a terminal leaves ``below`` out unless it is asked for everything.
        mark: of what the row is about.
    """

    cells: tuple[Cell | Line, ...]
    below: tuple[Block, ...] = ()
    anchor: str = ""
    quiet: bool = True
    mark: Mark = "none"


class Column(NamedTuple):
    """One column: ``text`` is left-aligned, ``number`` right-aligned, ``chart`` is not for Markdown."""

    name: str
    kind: Literal["text", "number", "chart"] = "text"


def columns(*names: str) -> tuple[Column, ...]:
    """Return columns: a name that begins with ``#`` is one of numbers, with ``~`` one of charts."""
    kinds: dict[str, Literal["number", "chart"]] = {"#": "number", "~": "chart"}
    return tuple(Column(name[1:], kinds[name[0]]) if name[:1] in kinds else Column(name) for name in names)


class Table(NamedTuple):
    """A table; its first column names the rows.

    ``most`` is the number of rows that a terminal shows unless it is asked for everything, ``noun`` what they are, and
    ``rest`` what is true of those that it leaves out. On a page it ``scrolls`` in a part of the screen.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    noun: str = "row"
    most: int = 20
    rest: str = ""
    scrolls: bool = False


class Item(NamedTuple):
    """One entry of a list.

    Attributes:
        line: its text.
        label: a short word before it, such as a severity or a number of points.
        tone: the label's colour.
        below: further lines that belong to it.
        excerpt: lines of source with their numbers.
        caret: line and column of the excerpt that a raw list points at; ``(0, 0)`` for nowhere.
    """

    line: Line
    label: str = ""
    tone: Tone = ""
    below: tuple[Line, ...] = ()
    excerpt: tuple[tuple[int, str], ...] = ()
    caret: tuple[int, int] = (0, 0)


class Items(NamedTuple):
    """A list; ``most`` and ``noun`` as of a table. If it ``folds``, a page folds the entries after ``most`` away.

    ``raw``: a terminal shows every entry, and each on one line however long, for programs that read them. ``left`` is
    how many more there are that only the JSON report has.
    """

    items: tuple[Item, ...]
    noun: str = "entry"
    most: int = 20
    ordered: bool = False
    raw: bool = False
    left: int = 0
    folds: bool = False


class Pairs(NamedTuple):
    """Terms with what they say, such as the settings of a run."""

    items: tuple[tuple[str, Line], ...]


class Note(NamedTuple):
    """A paragraph; with a tone it stands out."""

    line: Line
    tone: Tone = ""


class Heading(NamedTuple):
    """A heading of level 2 to 4."""

    text: Line
    level: int = 2


class Figure(NamedTuple):
    """One number of an overview."""

    name: str
    value: str
    note: str = ""
    tone: Tone = ""


class Figures(NamedTuple):
    """The numbers of an overview."""

    items: tuple[Figure, ...]


class Chart(NamedTuple):
    """A picture; ``said`` describes it where it cannot be drawn, and for who cannot see it."""

    drawing: Drawing
    title: str
    said: str
    legend: tuple[tuple[str, Span], ...] = ()


class Fold(NamedTuple):
    """Blocks under a summary that can be folded away.

    Attributes:
        summary: what is seen of it when it is closed.
        blocks: what is in it.
        open: whether a page shows it open.
        quiet: whether a terminal leaves it out unless it is asked for everything.
        anchor: its name for links within the page.
        mark: of the skill that it is about.
        aside: short texts at the end of the summary, such as a score.
    """

    summary: Line
    blocks: tuple[Block, ...]
    open: bool = False
    quiet: bool = False
    anchor: str = ""
    mark: Mark = "none"
    aside: tuple[Cell, ...] = ()


Block: TypeAlias = "Table | Items | Pairs | Note | Heading | Figures | Chart | Fold"


class View(NamedTuple):
    """A whole report.

    Attributes:
        title: the verdict in a few words, such as ``15 skills, 6 errors``.
        mark: whether it passes.
        facts: what it is about and when it was made, on one line.
        reasons: why the verdict is what it is.
        notes: what weakens the whole.
        blocks: the rest, the most urgent first.
        about: how the numbers came about.
        alarm: what must be known before any number, such as answers that no model gave.
        ends: whether a terminal shows the verdict after the rest, where it is seen first of a long output.
    """

    title: Line
    mark: Mark = "none"
    facts: Line = ""
    reasons: tuple[Line, ...] = ()
    notes: tuple[Line, ...] = ()
    blocks: tuple[Block, ...] = ()
    about: tuple[tuple[str, Line], ...] = ()
    alarm: str = ""
    ends: bool = False
