"""What the simulations are given of one skill and of the run, and what comes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from skillgate.judge.subject import Opinion, Sibling
    from skillgate.model.evals import TaskCase
    from skillgate.model.judging import TriggerPrompt
    from skillgate.model.simulating import Lift, MonteCarloLayer
    from skillgate.model.skill import Problem


class Served(NamedTuple):
    """What a tool gives a session: a text, or a problem in words that the model is told."""

    text: str | None
    problem: str = ""


class Library(Protocol):
    """The skills of a session, by the names they are listed by: their bodies, and files of a loaded one.

    Nothing outside of a skill's ``references/``, ``assets/`` and ``scripts/`` is ever served, whatever the path says.
    """

    def base(self, skill: str) -> str:
        """Give the directory that a session is told a skill lies in: made up, absolute, the same on every machine."""

    def body(self, skill: str) -> Served:
        """Give the text of a skill after its frontmatter."""

    def file(self, skill: str, path: str) -> Served:
        """Give a text file of a skill; ``path`` is as the model wrote it, relative to :meth:`base` or below it."""

    def files(self, skill: str) -> tuple[str, ...]:
        """Give the paths that :meth:`file` serves, relative to the skill, sorted."""


class Subject(NamedTuple):
    """One skill in its sessions. All text in it is the author's, and data.

    Attributes:
        path: the skill's directory as shown.
        name: what clients list it by.
        description: likewise, with ``when_to_use`` where it has one.
        siblings: the skills beside it, the hardest to tell apart first.
        siblings_source: ``beside``, ``corpus`` or ``common``.
        library: bodies and files of the skill and its siblings.
        prompts: what is to be used of a baseline or of the skill's evals, in its order; empty: all are generated.
        prompts_source: where ``prompts`` come from: ``evals``, ``baseline`` or ``generated`` for none.
        tasks: the skill's own tasks, for lift; empty: they are generated.
        category: ``metadata.category``, ``""`` without one.
        asked: how many sessions the baseline asked for, with prompts that should load the skill and with near misses;
            None where ``prompts`` are not those of one.
        unlisted: why no model can load it, so that there is nothing to simulate; None where one can.
    """

    path: str
    name: str
    description: str
    siblings: tuple[Sibling, ...]
    siblings_source: str
    library: Library
    prompts: tuple[TriggerPrompt, ...] = ()
    prompts_source: str = "generated"
    tasks: tuple[TaskCase, ...] = ()
    category: str = ""
    asked: tuple[int, int] | None = None
    unlisted: str | None = None


class Stop(NamedTuple):
    """When a run may end early: as soon as these gates cannot change any more; None for a gate that is not asked."""

    min_activation: float | None = None
    max_failure_rate: float | None = None
    on_inconclusive: str = "point"


class Plan(NamedTuple):
    """How sessions are run.

    Attributes:
        model: the model under test.
        grader: the model that writes prompts and grades answers.
        simulations: sessions with prompts that should load the skill.
        near_misses: sessions with prompts that should not.
        seed: of the order in which skills are listed.
        max_turns: requests of one session.
        provider: its name, for the report.
        live: whether its answers are a real model's.
        runner: ``messages`` or ``agent-sdk``.
        stop: None: all sessions run.
        most_characters: of a text that a grader is shown; longer answers are cut, and said.
    """

    model: Opinion
    grader: Opinion
    simulations: int = 50
    near_misses: int = 10
    seed: int = 0
    max_turns: int = 10
    provider: str = "anthropic"
    live: bool = True
    runner: str = "messages"
    stop: Stop | None = None
    most_characters: int = 100_000


class Simulated(NamedTuple):
    """What came of one skill's simulations.

    Attributes:
        layer: for the report.
        failure: why there can be no score at this depth; None where all was measured.
        silenced: what the skill's text may have kept from being graded, where it is too much to be passed over.
        problems: what the report must tell at the severity of its rule; ``rule`` names a file of ``static/judged``.
        no_badge: why there is no badge whatever the score: too few sessions loaded the skill, or too many of those
            failed, and what their answers would have been worth is in no figure; None where there may be one.
    """

    layer: MonteCarloLayer
    failure: str | None = None
    silenced: str | None = None
    problems: tuple[Problem, ...] = ()
    no_badge: str | None = None


class Lifted(NamedTuple):
    """What came of comparing a skill with its absence; ``failure`` says why it was not measured, or not wholly."""

    lift: Lift
    failure: str | None = None
