"""The values of simulations: the skill, the plan of the run, and the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from skillgate.judge.subject import Opinion, Sibling
    from skillgate.model.evals import TaskCase
    from skillgate.model.layers import Lift, MonteCarloLayer, TriggerPrompt
    from skillgate.model.skill import Problem


class Served(NamedTuple):
    """What a tool gives a session: a text, or a problem in words for the model."""

    text: str | None
    problem: str = ""


class Library(Protocol):
    """The skills of a session, by the names they are listed by: their bodies, and files of a loaded one.

    Nothing outside of a skill's ``references/``, ``assets/`` and ``scripts/`` is ever served, whatever the path says.
    """

    def base(self, skill: str) -> str:
        """Return the directory that a skill seems to lie in: made up, absolute, the same on every machine."""

    def body(self, skill: str) -> Served:
        """Return the text of a skill after its frontmatter."""

    def file(self, skill: str, path: str) -> Served:
        """Return a text file of a skill; ``path`` is as the model wrote it, relative to :meth:`base` or below it."""

    def files(self, skill: str) -> tuple[str, ...]:
        """Return the paths that :meth:`file` serves, relative to the skill, sorted."""


class Subject(NamedTuple):
    """One skill in its sessions. All text in it is the author's, and data."""

    path: str  # as shown
    name: str  # what clients list it by
    description: str  # likewise, with when_to_use where it has one
    siblings: tuple[Sibling, ...]  # the hardest to tell apart first
    siblings_source: str  # "beside", "corpus" or "common"
    library: Library  # bodies and files of the skill and its siblings
    prompts: tuple[TriggerPrompt, ...] = ()  # of a baseline or the skill's evals, in order; empty: all are generated
    prompts_source: str = "generated"  # for no prompts; or "evals" or "baseline"
    tasks: tuple[TaskCase, ...] = ()  # the skill's own, for lift; empty: they are generated
    category: str = ""  # metadata.category, "" without one
    requested: tuple[int, int] | None = None  # sessions of each kind that the baseline was to run, if it has one
    unlisted: str | None = None  # why no model can load it, so that there is nothing to simulate


class Stop(NamedTuple):
    """When a run may end early: as soon as these gates cannot change any more; None for a gate that is not in use."""

    min_activation: float | None = None
    max_failure_rate: float | None = None
    on_inconclusive: str = "point"


class Plan(NamedTuple):
    """How sessions are run."""

    model: Opinion  # the model under test
    grader: Opinion  # the model that writes prompts and grades answers
    simulations: int = 50  # sessions with prompts that should load the skill
    near_misses: int = 10  # sessions with prompts that should not
    seed: int = 0  # of the order in which skills are listed
    max_turns: int = 10  # requests of one session
    provider: str = "anthropic"  # its name, for the report
    live: bool = True  # whether its answers are a real model's
    runner: str = "messages"  # or "agent-sdk"
    stop: Stop | None = None  # None: all sessions run
    most_characters: int = 100_000  # of a text that a grader is shown; longer answers are cut, and said


class Simulated(NamedTuple):
    """The result of one skill's simulations; ``problems`` name a rule of ``static/judged``."""

    layer: MonteCarloLayer
    failure: str | None = None  # why there can be no score at this depth
    silenced: str | None = None  # what the skill's text may have prevented from being graded, if it is too much
    problems: tuple[Problem, ...] = ()  # at the severity of their rule
    no_badge: str | None = None  # whatever the score: too few sessions loaded the skill, or too many of those failed


class Lifted(NamedTuple):
    """The result of comparing a skill with its absence; ``failure`` says why it was not measured, or not wholly."""

    lift: Lift
    failure: str | None = None
