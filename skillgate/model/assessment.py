"""What layer 1 knows of one skill by itself: all that a report, a gate and the checks across skills are made from.

It depends on the skill's files alone, neither on configuration nor on the day, so that it can be kept and used again.
Annotations are evaluated: as text each would be compiled once more at start-up.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from skillgate.model.finding import Claim, Client, Hit, Severity
from skillgate.model.score import Dimension, Measured
from skillgate.model.skill import Waiver


class Listing(NamedTuple):
    """What clients list of a skill so that a model can choose it.

    Attributes:
        name: the frontmatter's, else the directory's.
        description: stripped, ``""`` without one.
        when_to_use: the field of that name, which one client joins to the description.
        listed: whether a model sees it at all (not where only the user, or a path, starts it).
        name_line, description_line: where they stand in the main file.
    """

    name: str
    description: str
    when_to_use: str = ""
    listed: bool = True
    name_line: int = 1
    description_line: int = 1


class Told(NamedTuple):
    """What a skill says, for comparing it with others.

    Attributes:
        lines: its prose lines folded for white space, case and list marker, each with its line in the main file.
        uses: its own lines on when to use it (of the section of that name), each with its line.
    """

    lines: tuple[tuple[int, str], ...] = ()
    uses: tuple[tuple[int, str], ...] = ()


class Repair(NamedTuple):
    """What repairs a frontmatter of which something could not be read.

    Attributes:
        rule: the id of the finding that it mends.
        action: what to do, as an instruction.
        line: where in the main file.
        scores: each dimension's static score after it, estimated.
        anti_patterns: how many there would be then.
    """

    rule: str
    action: str
    line: int
    scores: tuple[tuple[Dimension, float | None], ...]
    anti_patterns: int


class Detail(NamedTuple):
    """The sub-checks with their evidence, heaviest first: name, dimension, what was measured.

    ``layer_score`` is that of the report's static layer, ``penalised`` each anti-pattern claim's key of advice and its
    line, ``repair`` what has to be done before advice on name and description makes sense.
    """

    scores: tuple[tuple[str, Dimension, Measured], ...] = ()
    layer_score: float | None = None
    penalised: tuple[tuple[str | None, int], ...] = ()
    repair: Repair | None = None


class Assessment(NamedTuple):
    """One skill, judged by itself.

    Attributes:
        name: the frontmatter's name, ``""`` without one.
        unscored: why there is nothing to score, else None.
        claims: errors first, then by line; suppressions, profile and selection are still to come.
        waivers: the comments that set findings aside.
        anti_patterns: the id of each anti-pattern claim, one entry for each.
        no_badge: why there can be no badge whatever the score, else None.
        measured: each statically measured dimension: its score in [0, 1] (None: not measured, and why).
        short: whether its size is below the band of its category.
        recoverable: composite points that mending every anti-pattern would bring.
        listing: what clients list of it.
        duration_ms: how long the judging took.
        told: gives what is compared with other skills; read only where that is done.
        outside: tree paths outside the skill's directory that judging it asked for, whether something is there or not.
        mark: a digest of ``told`` and ``listing``, ``""`` where nobody made one.
        detail: gives the evidence; read only where it is shown.
    """

    name: str
    unscored: str | None
    claims: tuple[Claim, ...]
    waivers: tuple[Waiver, ...]
    anti_patterns: tuple[str, ...]
    no_badge: str | None
    measured: Mapping[Dimension, tuple[float | None, str | None]]
    short: bool
    recoverable: float
    listing: Listing
    duration_ms: int
    told: Callable[[], Told]
    detail: Callable[[], Detail]
    outside: tuple[str, ...] = ()
    mark: str = ""


class Member(NamedTuple):
    """A skill among others.

    ``path`` is its directory as shown, ``plugin`` that of its plugin (None without one), ``file`` its main file's name,
    ``mark`` the assessment's.
    """

    path: str
    listing: Listing
    told: Callable[[], Told]
    plugin: str | None = None
    file: str = "SKILL.md"
    mark: str = ""


class Clash(NamedTuple):
    """A hit that concerns several skills, in the main file of the skill ``path``.

    Attributes:
        path: the skill it is reported at.
        hit: where, and what.
        skills: the paths of all skills that it is about, or of the one plugin or folder whose list it is about.
        other: the other skill, where there is one other.
    """

    path: str
    hit: Hit
    skills: tuple[str, ...]
    other: str | None = None


class CatalogueRule(NamedTuple):
    """The declaration of a check across skills: one per file of ``static/across``; fields as of ``Rule``."""

    id: str
    severity: Severity
    summary: str
    fix: str
    find: Callable[[Sequence[Member]], Iterable[Clash]]
    group: str = "across"
    optional: bool = False
    about: tuple[Client, ...] = ()
