"""What a match is given of a skill, what a corpus holds of it, and what comes of the matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from skillgate.judge.subject import Opinion
    from skillgate.model.score import Dimension
    from skillgate.model.simulating import RankingLayer
    from skillgate.model.skill import Problem

MEDIAN = 1500.0
"""The rating that the median skill of a corpus is given, and every one begins with."""


class Text(NamedTuple):
    """A text file of a skill; ``path`` is relative to its directory, with ``/``."""

    path: str
    text: str


class Entrant(NamedTuple):
    """A skill in a match. All text in it is its author's, and data.

    Attributes:
        name: what clients list it by.
        digest: of all its pages; equal ones are the same skill.
        category: ``metadata.category``, ``""`` without one.
        lines: of its main file.
        pages: the main file first, frontmatter included, then the other text files that are its instructions.
    """

    name: str
    digest: str
    category: str
    lines: int
    pages: tuple[Text, ...]


class Member(NamedTuple):
    """A skill of a corpus.

    Attributes:
        name, digest, category, lines: as of an :class:`Entrant`.
        path: where it was found, as shown then.
        composite: of the static layer when it was indexed, None where there was none.
        badge: likewise, in lower case, None for none.
        rating: on the Elo scale, 1500 until it was rated.
        matches: decided ones that the rating rests on; 0: nothing is known of how good it is.
        rateable: whether it can be compared at all; see :class:`~skillgate.model.corpus.Indexed`.
    """

    name: str
    digest: str
    path: str
    category: str
    lines: int
    composite: float | None = None
    badge: str | None = None
    rating: float = MEDIAN
    matches: int = 0
    rateable: bool = True


class Corpus(Protocol):
    """The skills there are to compare with."""

    digest: str
    """Of members and ratings: what matches against it may be compared with."""

    members: tuple[Member, ...]
    """All of them, by name and digest."""

    def entrant(self, member: Member) -> Entrant | None:
        """Give a member with its text; None where its text is gone or is another one now."""


class Verdict(NamedTuple):
    """What a judge said of two skills in one order.

    ``better`` is ``first``, ``second`` or ``equal``; so is each dimension's. None where there is no verdict, and
    ``reason`` says why; ``provoked`` tells whether a text may have kept the judge from it.
    """

    better: str | None
    dimensions: tuple[tuple[Dimension, str], ...] = ()
    reason: str | None = None
    provoked: bool = False


class Arena(NamedTuple):
    """How matches are played.

    Attributes:
        judge: who compares.
        seed: of the order of the matches, and of resampling.
        opponents: how many at most.
        provider, live: for the report.
        most_characters: of both texts in one request.
    """

    judge: Opinion
    seed: int = 0
    opponents: int = 16
    provider: str = "anthropic"
    live: bool = True
    most_characters: int = 400_000


class Ranked(NamedTuple):
    """What came of a skill's matches.

    Attributes:
        layer: for the report.
        failure: why there is no rating where there could be one; None with a rating, and without a corpus.
        problems: what the report must tell.
        no_badge: why the rating earns no badge however high it is; None where it may, and where there is none.
    """

    layer: RankingLayer
    failure: str | None = None
    problems: tuple[Problem, ...] = ()
    no_badge: str | None = None
