"""What simulated sessions, matches and comparisons without the skill give for the report: layers 3 and 4, and lift.

Annotations are evaluated, as in :mod:`skillgate.model.report`, which this belongs to.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from skillgate.model.judging import Count, Estimate, Ratio, Usage
from skillgate.model.marks import tagged
from skillgate.model.score import Dimension

COMPLETED, FAILED, NOT_MEASURED, NOT_RUN = "completed", "failed", "not measured", "not run"
LEAST_LOADS = 5
"""So many sessions must load a skill before what they measure counts in full, or all that completed where these are
fewer."""


MEASURED_BY: Mapping[Dimension, str] = MappingProxyType(
    {
        Dimension.ORCHESTRATION_FITNESS: "orchestration",
        Dimension.OUTPUT_QUALITY: "quality",
        Dimension.SCOPE_CALIBRATION: "scope",
        Dimension.TOKEN_EFFICIENCY: "efficiency",
    }
)
"""The measures that are dimensions of their own; robustness is 1 − failures, triggering the F1 or the activation."""


class Simulation(NamedTuple):
    """One simulated session.

    Attributes:
        prompt: what the user said.
        should_trigger: whether the skill is meant for it.
        style: ``direct`` or ``indirect``.
        outcome: ``completed``; ``failed`` (refusal, cut off, too many turns, an empty or unusable answer, context
            exceeded); ``not measured`` (an outage, the budget); ``not run`` (the run ended early).
        kind: of a failure or of what kept it from being measured, in a word or two; None where it completed.
        activated: whether the model loaded the skill; None where the session was not measured or not run.
        quality: the grade of the final answer, in [0, 1]; None where there is none, and ``ungraded`` says why.
        tokens: what the skill added; None where the replies said nothing of tokens, or where the skill was not loaded.
        delivers: whether the answer is the work itself rather than handing it on; None where ungraded.
        covers: whether the answer covers the request within what the skill is for; None where ungraded.
        turns: requests of the session.
        loaded: the skills that were loaded, in their order, each once.
        ungraded: why there is no grade where the session completed, else None.
    """

    prompt: str
    should_trigger: bool
    style: str
    outcome: str
    kind: str | None = None
    activated: bool | None = None
    quality: Ratio | None = None
    tokens: Count | None = None
    delivers: bool | None = None
    covers: bool | None = None
    turns: Count = 0
    loaded: tuple[str, ...] = ()
    ungraded: str | None = None


class TokenSpread(NamedTuple):
    """Tokens that the skill added to a session: quartiles over completed, activated runs, and those far above them.

    ``outliers`` counts runs beyond the third quartile plus 1.5 times the distance of the quartiles, or below the first
    less as much; None under eight runs, or where the quartiles are equal.
    """

    median: float
    q1: float
    q3: float
    n: Count
    outliers: Count | None = None


class Spread(NamedTuple):
    """How wide a measure's interval is: ``stable`` below a half-width of 0.05, else ``wide``.

    ``style`` and ``prompts`` name where a wide one comes from: the style whose runs vary more, and the prompts that
    move the measure most, at most three; None and empty for a stable one, or where no prompt stands out.
    """

    label: str
    half_width: Ratio
    style: str | None = None
    prompts: tuple[str, ...] = ()


class Loads(NamedTuple):
    """How many sessions loaded the skill, and what their figures count for.

    Attributes:
        loaded: completed sessions with a prompt that should load the skill, in which it was loaded.
        completed: such sessions, loaded or not.
        measured: such sessions, failed ones too.
        factor: min(1, loaded ÷ min(5, completed)), 0 where none completed. Every score of the layer but triggering, and
            every term of ``mc_score`` but activation, is multiplied by it.
    """

    loaded: Count
    completed: Count
    measured: Count
    factor: Ratio

    @property
    def few(self) -> bool:
        """Whether too few sessions loaded the skill for a badge."""
        return self.loaded < max(1, min(LEAST_LOADS, self.completed))

    @property
    def words(self) -> str:
        """Say it, as in ``loaded in 2 of 50 sessions``."""
        if not self.completed:
            return f"none of the {self.measured} sessions meant for it completed"
        failed = self.completed < self.measured
        return f"loaded in {self.loaded} of {self.completed} sessions{' that completed' if failed else ''}"


@tagged("name", "montecarlo")
class MonteCarloLayer(NamedTuple):
    """Layer 3: simulated sessions. Not-measured runs stand apart and in no denominator.

    Attributes:
        simulations: sessions asked for with prompts that should load the skill.
        completed, failed, not_measured: of all sessions, near misses included; what was not run is in none.
        mc_score: None where one of its parts was not measured; ``mc_reason`` says which.
        measures: by name (``activation_rate``, ``activation_rate_wilson``, ``false_activation_rate``, ``precision``,
            ``f1``, ``quality``, ``quality_cv``, ``failure_rate``, ``tokens``, ``efficiency``, ``orchestration``,
            ``scope``), each with its n.
        prompts_digest: of prompts and labels; only runs on the same prompts are compared.
        stopped_early: why the run ended before all sessions, None where it did not; then rates are bounds over all.
        reason: what could not be evaluated, an outage or too many lost grades; None where all that could be measured
            was, also where no session loaded the skill: the reason of a measure says so.
        near_misses: sessions asked for with prompts that should not load it.
        scores: by dimension, what the layer says of it; all but triggering are multiplied by ``loads.factor``, which
            ``measures`` are not.
        tokens: None without completed, activated runs.
        spread: by measure, how wide its interval is.
        runs: every session, prompts that should load the skill first.
        kinds: how many sessions failed or were not measured, by kind.
        model, grader: as asked for.
        provider, live, usage, prompt_version, rubric_version, silenced, answered_by: as of the judge's layer.
        runner: ``messages`` (a loop of this program's own) or ``agent-sdk`` (the harness itself).
        seed: of the order in which skills were listed.
        siblings: how many skills it was listed among.
        siblings_source: ``beside``, ``corpus`` or ``common``.
        prompts_source: ``evals``, ``generated``, ``evals and generated`` or ``baseline``.
        max_turns: of a session.
        obeyed: grades that a control question showed to obey the text that was graded; they count nowhere.
        mc_reason: why there is no ``mc_score``, None where there is one.
        short: that fewer prompts could be had than were asked for, None where there were enough.
        loads: None where the sessions were not measured, or ended early.
    """

    duration_ms: Count
    simulations: Count
    completed: Count
    failed: Count
    not_measured: Count
    mc_score: Ratio | None
    measures: Mapping[str, Estimate] = MappingProxyType({})
    prompts_digest: str | None = None
    stopped_early: str | None = None
    reason: str | None = None
    near_misses: Count = 0
    scores: Mapping[Dimension, Estimate] = MappingProxyType({})
    tokens: TokenSpread | None = None
    spread: Mapping[str, Spread] = MappingProxyType({})
    runs: tuple[Simulation, ...] = ()
    kinds: Mapping[str, Count] = MappingProxyType({})
    model: str = ""
    grader: str = ""
    provider: str = "anthropic"
    live: bool = True
    runner: str = "messages"
    seed: int = 0
    siblings: Count = 0
    siblings_source: str = "beside"
    prompts_source: str = "generated"
    max_turns: Count = 0
    prompt_version: str = ""
    rubric_version: str = ""
    usage: Usage = Usage()
    silenced: str | None = None
    answered_by: tuple[str, ...] = ()
    obeyed: Count = 0
    mc_reason: str | None = None
    short: str | None = None
    loads: Loads | None = None


class Rating(NamedTuple):
    """A rating on the Elo scale with its 95 % interval.

    Of the method's Elo the interval is the spread over resampled matches; of Bradley–Terry's it is one of the rating.
    """

    rating: float
    ci_low: float
    ci_high: float


class Match(NamedTuple):
    """A skill beside one of the corpus, judged in both orders.

    Attributes:
        opponent: its name.
        opponent_digest: of its content.
        opponent_rating: fixed, on the Elo scale.
        result: 1.0 won, 0.5 drawn, 0.0 lost; None where an order was not judged, and ``reason`` says why.
        orders: who won with the skill first and with it second: ``win``, ``loss`` or ``draw``; empty without verdicts.
        position_bias: whether the two orders disagree, which makes a draw.
        won, lost: dimensions on which both orders say so.
    """

    opponent: str
    opponent_digest: str
    opponent_rating: float
    result: Ratio | None
    orders: tuple[str, ...] = ()
    position_bias: bool = False
    won: tuple[Dimension, ...] = ()
    lost: tuple[Dimension, ...] = ()
    reason: str | None = None


@tagged("name", "ranking")
class RankingLayer(NamedTuple):
    """Matches against a corpus: Elo as the method has it, Bradley–Terry beside it.

    Attributes:
        matches: that were decided.
        elo: the method's, in the seeded order against fixed ratings; the interval is resampling spread.
        bradley_terry: by maximum likelihood with a weak prior against the same ratings.
        percentile: the pairwise win rate, draws as half.
        position_bias: the share of matches in which the two orders disagree.
        nearest: the opponent whose rating is nearest.
        provisional: whether Bradley–Terry's interval holds the Elo that the badge asks for, or opponents are unrated.
        reason: why there is no rating; None where there is one. Of single matches that were not judged, their own says.
        played: every match.
        won, lost: dimensions won or lost against more opponents than the other way round, most first.
        corpus: the digest of the corpus's ratings.
        corpus_size: skills in it that could be opponents.
        hindrance: why a rating of the best badge is out of reach whatever the matches give; None where it is not.
        unrated: opponents that stand at the rating every one begins with, which no match of theirs bears out.
        model, provider, live, usage, prompt_version, silenced, seed: as of the other sampled layers.
    """

    duration_ms: Count
    matches: Count
    elo: Rating | None
    bradley_terry: Rating | None
    percentile: Ratio | None
    position_bias: Estimate | None = None
    nearest: str | None = None
    provisional: bool = False
    reason: str | None = None
    played: tuple[Match, ...] = ()
    won: tuple[Dimension, ...] = ()
    lost: tuple[Dimension, ...] = ()
    corpus: str | None = None
    corpus_size: Count = 0
    hindrance: str | None = None
    model: str = ""
    provider: str = "anthropic"
    live: bool = True
    usage: Usage = Usage()
    prompt_version: str = ""
    seed: int = 0
    silenced: str | None = None
    unrated: Count = 0


class Expectation(NamedTuple):
    """One thing an answer was held to, and whether it met it; None where nobody could tell, with ``evidence`` why."""

    text: str
    passed: bool | None
    evidence: str = ""


class Arm(NamedTuple):
    """One task answered with the skill, or without it.

    Attributes:
        outcome: as of a :class:`Simulation`.
        score: the share of expectations that were met, else the grade of the answer; None where not measured.
        expectations: each of them, empty where the task has none.
        tokens: of all replies, input and output; None where unknown.
        duration_s: from sending each request to its answer, when it was asked where it was kept; None where one is not
            known, as of batches.
        reason: why there is no score.
    """

    outcome: str
    score: Ratio | None
    expectations: tuple[Expectation, ...] = ()
    tokens: Count | None = None
    duration_s: float | None = None
    reason: str | None = None


class LiftTask(NamedTuple):
    """A task in both arms.

    ``preferred`` is which answer a judge who does not know the arms prefers in both orders: ``with``, ``without``,
    ``neither`` (a draw, or the orders disagree); None where that was not measured.
    """

    id: str
    prompt: str
    with_skill: Arm
    without_skill: Arm
    preferred: str | None = None
    position_bias: bool = False


class Lift(NamedTuple):
    """What the skill adds: the same tasks with it and without it.

    Attributes:
        lift: the mean over tasks of the score with the skill less the one without, in [-1, 1], with its interval.
        with_skill, without_skill: the mean scores.
        wins, losses, draws: of the blind comparisons.
        p: two-sided, of the exchange test over tasks; None where nothing differs or nothing was measured.
        tasks: all of them.
        source: ``evals`` or ``generated``.
        unsupported: graders of the skill's own that nothing here does, each as ``file: kind``.
        reason: why there is no lift.
        model, grader, provider, live, usage, runner: as of the simulations.
    """

    lift: Estimate
    with_skill: Estimate
    without_skill: Estimate
    wins: Count = 0
    losses: Count = 0
    draws: Count = 0
    p: Ratio | None = None
    tasks: tuple[LiftTask, ...] = ()
    source: str = "evals"
    unsupported: tuple[str, ...] = ()
    reason: str | None = None
    model: str = ""
    grader: str = ""
    provider: str = "anthropic"
    live: bool = True
    usage: Usage = Usage()
    runner: str = "messages"


class Resumed(NamedTuple):
    """What a run took from the one it goes on from: it ended before it could write its report.

    ``answers`` were on disk and not asked for again; ``repeated`` requests were on their way when it ended, and were
    sent once more; ``cost_usd`` is what it had spent, None where a price is unknown.
    """

    answers: Count
    repeated: Count
    cost_usd: float | None = 0.0
