"""The values for judging one skill: what the judge reads, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillgate.model.layers import JudgeLayer, TriggerPrompt
    from skillgate.model.score import Dimension
    from skillgate.model.skill import Problem

SWAYED, PARTLY = "judge_swayed", "partly_judged"  # rules: files of `static/judged`


class Page(NamedTuple):
    """A whole text file of a skill; ``path`` is relative to the skill's directory, with ``/``."""

    path: str
    text: str


class Sibling(NamedTuple):
    """A skill that a client would list together with the judged one."""

    name: str
    description: str


class Passage(NamedTuple):
    """Lines of a page, from 1, both ends included."""

    path: str
    first: int
    last: int


class Dossier(NamedTuple):
    """One skill as the judge reads it. All text in it is the author's, and data.

    Attributes:
        pages: the main file first, with frontmatter, then the text files of ``references/``, then other instructions
            and files that pages refer to, by path.
        unread: files that should be pages but cannot be shown to a judge, each with the reason.
        aside: paths of unread files without text for a model: pictures, and non-text files that no page refers to.
    """

    path: str  # as shown
    name: str  # as clients list it
    description: str  # as clients list it, with when_to_use if there is one
    category: str  # metadata.category, "" without one
    pages: tuple[Page, ...]
    unread: tuple[tuple[str, str], ...] = ()
    siblings: tuple[Sibling, ...] = ()  # the most similar first
    facts: tuple[str, ...] = ()  # measurements of layer 1, one per line; our own words except for names
    code_blocks: int = 0  # in all pages; without any, code templates are not rated
    suspicious: tuple[Passage, ...] = ()  # passages that address a judge or a model, by the static layer
    prompts: tuple[TriggerPrompt, ...] | None = None  # to predict on, from a baseline or the skill's evals
    prompts_source: str = "evals"  # or "baseline"
    aside: frozenset[str] = frozenset()


class Opinion(NamedTuple):
    """One judge: a model and its effort (None if the model has no such setting)."""

    model: str
    effort: str | None = "medium"


class Panel(NamedTuple):
    """The judges of a run, at least one, in order; opinions of the same model differ by their sample."""

    opinions: tuple[Opinion, ...]
    provider: str = "anthropic"  # its name, for the report
    live: bool = True  # whether its answers come from a real model
    most_characters: int = 400_000  # of a skill's text in one request; longer texts are cut at sections


class Ratings(NamedTuple):
    """The answers of one skill's judges, in order, for pooling over a run; None for no answer."""

    rated: tuple[tuple[Dimension, tuple[int | None, ...]], ...] = ()  # from 0 to 10
    predicted: tuple[tuple[int | None, ...], ...] = ()  # per trigger prompt, whether each judge would load the skill


class Judged(NamedTuple):
    """The result for one skill; ``problems`` and ``notes`` name a rule of ``static/judged``.

    Attributes:
        silenced: the answers that the skill's text may have prevented (refused, truncated, invalid twice, failed
            control item, too long), so that there is no score; None if there are none.
        partial: the instructions that no judge was shown, so that there is no badge; None if all were shown.
    """

    layer: JudgeLayer  # without agreement, which is added later
    ratings: Ratings
    problems: tuple[Problem, ...] = ()  # at the severity of their rule
    failure: str | None = None  # why it is not judged, or only partly
    silenced: str | None = None
    partial: str | None = None
    notes: tuple[Problem, ...] = ()  # for information only
