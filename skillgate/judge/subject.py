"""What the judge reads of one skill, and what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillgate.model.layers import JudgeLayer, TriggerPrompt
    from skillgate.model.score import Dimension
    from skillgate.model.skill import Problem

SWAYED, PARTLY = "judge_swayed", "partly_judged"  # rules: files of `static/judged`


class Page(NamedTuple):
    """A text file of a skill, whole; ``path`` is relative to the skill's directory, with ``/``."""

    path: str
    text: str


class Sibling(NamedTuple):
    """A skill that a client would list with the one that is judged."""

    name: str
    description: str


class Passage(NamedTuple):
    """Lines of a page, counted from 1, both ends included."""

    path: str
    first: int
    last: int


class Dossier(NamedTuple):
    """One skill as the judge reads it. All text in it is the author's, and data.

    Attributes:
        pages: the main file first, frontmatter included, then every text file of ``references/``, then what else of the
            skill layer 1 takes for instructions or a page leads to, by path.
        unread: files of ``references/`` and files that pages link to which no judge can be shown, each with why.
        aside: of these, the paths of those that are not text and that are pictures, or that no page sends a model to.
    """

    path: str  # as shown
    name: str  # what clients list it by
    description: str  # likewise, with when_to_use where it has one
    category: str  # metadata.category, "" without one
    pages: tuple[Page, ...]
    unread: tuple[tuple[str, str], ...] = ()
    siblings: tuple[Sibling, ...] = ()  # the hardest to tell apart first
    facts: tuple[str, ...] = ()  # what layer 1 measured, a line each; our own words but for names
    code_blocks: int = 0  # in all pages; without any, code templates are not rated
    suspicious: tuple[Passage, ...] = ()  # what the static layer says addresses a judge or a model
    prompts: tuple[TriggerPrompt, ...] | None = None  # to predict on, of a baseline or the skill's evals
    prompts_source: str = "evals"  # or "baseline"
    aside: frozenset[str] = frozenset()


class Opinion(NamedTuple):
    """One judge: a model, and the effort it should make (None: the model knows no such thing)."""

    model: str
    effort: str | None = "medium"


class Panel(NamedTuple):
    """The judges of a run, at least one, in their order; the opinions of one model differ by their sample."""

    opinions: tuple[Opinion, ...]
    provider: str = "anthropic"  # its name, for the report
    live: bool = True  # whether its answers are a real model's
    most_characters: int = 400_000  # of a skill's text in one request; what is beyond is cut at sections, and said


class Ratings(NamedTuple):
    """What the judges of one skill answered, in their order, for pooling over a run; None: no answer."""

    rated: tuple[tuple[Dimension, tuple[int | None, ...]], ...] = ()  # from 0 to 10
    predicted: tuple[tuple[int | None, ...], ...] = ()  # by trigger prompt, whether each would load the skill


class Judged(NamedTuple):
    """What came of judging one skill; ``problems`` and ``notes`` name a rule of ``static/judged``.

    Attributes:
        silenced: which judges gave no usable answer where what they read can be why: refused, cut off, of another form
            twice, obeyed, too long. The others' answers make no score then. None where there are none such.
        partial: what of the skill's instructions no judge was shown, for which there is no badge; None: nothing.
    """

    layer: JudgeLayer  # agreement is still to come
    ratings: Ratings
    problems: tuple[Problem, ...] = ()  # at the severity of their rule
    failure: str | None = None  # why it is not judged, or not wholly
    silenced: str | None = None
    partial: str | None = None
    notes: tuple[Problem, ...] = ()  # for information only
