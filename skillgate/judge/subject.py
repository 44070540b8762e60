"""What the judge is given of one skill, and what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.exchange import Tokens

if TYPE_CHECKING:
    from skillgate.model.judging import JudgeLayer, TriggerPrompt
    from skillgate.model.score import Dimension
    from skillgate.model.skill import Problem


class Page(NamedTuple):
    """A text file of a skill, whole. ``path`` is relative to the skill's directory, with ``/``."""

    path: str
    text: str


class Sibling(NamedTuple):
    """A skill that a client would list beside the one that is judged."""

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
        path: the skill's directory as shown.
        name: what clients list it by.
        description: likewise, with ``when_to_use`` where it has one.
        category: ``metadata.category``, ``""`` without one.
        pages: the main file first, frontmatter included, then every text file of ``references/``, then what else of the
            skill layer 1 takes for instructions or a page leads to, by path.
        unread: files of ``references/`` and files that pages link to which no judge can be shown, each with why.
        aside: of these, the paths of those that are not text and that are pictures, or that no page sends a model to.
        siblings: the skills beside it, the hardest to tell apart first.
        facts: what layer 1 measured, a line each; of our own making but for names in it.
        code_blocks: how many there are in all pages; without any, code templates are not asked about.
        suspicious: passages that the static layer says address a judge or a model; empty for none.
        prompts: the trigger prompts to predict on, where a baseline or the skill's evals give them; else None.
        prompts_source: where ``prompts`` come from: ``evals`` or ``baseline``.
    """

    path: str
    name: str
    description: str
    category: str
    pages: tuple[Page, ...]
    unread: tuple[tuple[str, str], ...] = ()
    siblings: tuple[Sibling, ...] = ()
    facts: tuple[str, ...] = ()
    code_blocks: int = 0
    suspicious: tuple[Passage, ...] = ()
    prompts: tuple[TriggerPrompt, ...] | None = None
    prompts_source: str = "evals"
    aside: frozenset[str] = frozenset()


class Opinion(NamedTuple):
    """One judge: a model, and the effort it is asked to make (None: the model knows no such thing)."""

    model: str
    effort: str | None = "medium"


class Panel(NamedTuple):
    """The judges of a run, in their order; where a model stands twice, its opinions differ by their sample.

    Attributes:
        opinions: at least one.
        provider: its name, for the report.
        live: whether its answers are a real model's.
        most_characters: of a skill's text in one request; what is beyond is cut at sections, and said.
    """

    opinions: tuple[Opinion, ...]
    provider: str = "anthropic"
    live: bool = True
    most_characters: int = 400_000


class Ratings(NamedTuple):
    """What the judges of one skill gave, for pooling over a run.

    Attributes:
        rated: by dimension, a rating from 0 to 10 of each judge in their order (None: no answer).
        predicted: by trigger prompt, whether each judge would load the skill (None: no answer).
    """

    rated: tuple[tuple[Dimension, tuple[int | None, ...]], ...] = ()
    predicted: tuple[tuple[int | None, ...], ...] = ()


class Judged(NamedTuple):
    """What came of judging one skill.

    Attributes:
        layer: for the report; agreement is still to come.
        ratings: for the agreement of the run.
        problems: what the report must tell at the severity of its rule; ``rule`` names a file of ``static/judged``.
        failure: why it is not judged, or not wholly; None where every question was answered.
        silenced: which judges gave no usable answer where what they read can be why: refused, cut off, of another form
            twice, obeyed, too long. The others' answers make no score then. None where there are none such.
        partial: what of the skill's instructions no judge was shown, for which there is no badge; None: nothing.
        notes: as ``problems``, for information only, whatever their rule's severity.
    """

    layer: JudgeLayer
    ratings: Ratings
    problems: tuple[Problem, ...] = ()
    failure: str | None = None
    silenced: str | None = None
    partial: str | None = None
    notes: tuple[Problem, ...] = ()


NO_TOKENS = Tokens()
