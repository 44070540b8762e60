"""What a corpus of skills writes and reads back: its index, the texts, the matches between its skills, one file of all.

All of it may come from a stranger, since a corpus can be exported and imported: types and ranges are checked when it is
read, digests where the texts are available.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from skillgate.model.report import Tool
from skillgate.model.score import SCORING_VERSION, Dimension, Range, Ratio
from skillgate.named_tuple import NamedTuple

CORPUS_VERSION = 1
"""Of these documents; one with another number is not read."""
LIVE = "live"
"""The source of what a real model said; else the name of the provider that replaced one."""

Count = Annotated[int, Range(0, 1_000_000_000)]
"""Bounded, unlike those of a report: it may come from a stranger, and what no float holds cannot be reckoned with."""
Lines = Annotated[int, Range(0, 10_000_000)]
Elo = Annotated[float, Range(-10_000, 10_000)]
Points = Annotated[float, Range(0, 100)]


class Indexed(NamedTuple):
    """A skill of a corpus, or one that was of it and has matches still."""

    name: str  # name, category, lines: as clients list it, ``metadata.category``, and of its main file
    digest: str
    path: str  # where it was found, as shown then; never opened
    category: str
    lines: Lines
    composite: Points | None = None
    badge: str | None = None
    scoring_version: Count = SCORING_VERSION
    rating: Elo = 1500.0  # fitted to ``matches`` decided ones, 1500 without any
    matches: Count = 0
    anchor: bool = False  # whether it was among those whose median was put at 1500 in that fit
    origin: str = ""  # the directory it was found in, relative to the corpus
    rateable: bool = True  # whether it could be compared


class Fit(NamedTuple):
    """What the ratings were fitted to."""

    source: str  # ``live``, or the name of the provider that stood in for a model. Both are never counted together
    read: Count
    pairs: Count  # decided pairs that counted
    models: tuple[str, ...] = ()  # whose verdicts they are, sorted


class Played(NamedTuple):
    """Two skills compared in both orders, and decided."""

    first: str  # first, second: their digests, the lesser one first
    second: str
    result: Ratio  # 1.0 the first is better, 0.0 the second, 0.5 neither
    orders: tuple[str, ...]  # how it came out for the first skill, shown first and shown second
    position_bias: bool  # whether the orders disagree
    won: tuple[Dimension, ...]  # won, lost: dimensions on which both orders find the first better, or the second
    lost: tuple[Dimension, ...]
    model: str  # model, prompt_version, source: who said so, to which wording; ``source`` as of :class:`Fit`
    prompt_version: str
    source: str
    origin: str = ""  # the file that it was imported from


class Provoked(NamedTuple):
    """Two skills of which the judge gave no verdict, and text may be why; the lesser digest first.

    ``reason`` says what happened; ``model``, ``prompt_version`` and ``source`` are as of a :class:`Played`.
    """

    first: str
    second: str
    reason: str
    model: str
    prompt_version: str
    source: str


class PageText(NamedTuple):
    """A text file of a skill; ``path`` is relative to its directory."""

    path: str
    text: str


class SkillText(NamedTuple):
    """All pages of a skill, the main file first."""

    digest: str
    pages: tuple[PageText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusIndex:
    """The index of a corpus: its members, those that have left and have matches still, and what the ratings rest on.

    ``provoked`` are the pairs that text may have kept from a verdict. They are not exported: a stranger's word must
    not keep a skill from being rated.
    """

    TAG: ClassVar[tuple[str, str]] = ("kind", "corpus-index")

    members: tuple[Indexed, ...] = ()
    former: tuple[Indexed, ...] = ()
    fit: Fit | None = None
    provoked: tuple[Provoked, ...] = ()
    corpus_version: Count = CORPUS_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusExport:
    """A whole corpus in one document: ``corpus export`` writes it, ``corpus import`` reads it."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "corpus")

    tool: Tool
    members: tuple[Indexed, ...]
    former: tuple[Indexed, ...]
    texts: tuple[SkillText, ...]
    matches: tuple[Played, ...]
    fit: Fit | None = None
    corpus_version: Count = CORPUS_VERSION


class ListedSkill(NamedTuple):
    """A member as ``corpus list`` shows it; ``rating`` is None if it has no decided match, or is not rateable."""

    name: str
    digest: str
    path: str
    category: str
    lines: Lines
    composite: Points | None
    badge: str | None
    rating: Elo | None
    matches: Count
    rateable: bool = True


class ShownMatch(NamedTuple):
    """A match of a member: ``result`` is 1.0 where it is better than the opponent, 0.5 for a draw, 0.0 for worse."""

    opponent: str
    opponent_digest: str
    opponent_rating: Elo | None
    result: Ratio
    position_bias: bool
    won: tuple[Dimension, ...]
    lost: tuple[Dimension, ...]
    model: str
    source: str
    origin: str = ""


class ShownSkill(NamedTuple):
    """A member and all its matches."""

    skill: ListedSkill
    played: tuple[ShownMatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusList:
    """``corpus list``: the members, the best rated first, those without a rating last."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "corpus-list")

    tool: Tool
    members: tuple[ListedSkill, ...]
    fit: Fit | None
    corpus_version: Count = CORPUS_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusShow:
    """``corpus show``: every member of a name, with its matches."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "corpus-show")

    tool: Tool
    skills: tuple[ShownSkill, ...]
    corpus_version: Count = CORPUS_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusVerify:
    """``corpus verify``: what is wrong with a corpus, and what is only worth knowing."""

    TAG: ClassVar[tuple[str, str]] = ("kind", "corpus-verify")

    tool: Tool
    members: Count
    matches: Count
    defects: tuple[str, ...]
    notes: tuple[str, ...]
    corpus_version: Count = CORPUS_VERSION
