"""What sampling a model gives for the report: usage, estimates, layers 2 to 4 and lift."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillgate.model.score import Count, Dimension, Ratio, tagged
from skillgate.named_tuple import NamedTuple


class Usage(NamedTuple):
    """What was asked of a model in this run, and what it cost; all 0 at quick depth, which asks nothing."""

    calls: Count = 0  # requests that were sent and answered, tries again not counted
    cached: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: float | None = 0.0  # None if a price is unknown; ``cost_reason`` says which
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    retries: Count = 0
    cost_reason: str | None = None


class Estimate(NamedTuple):
    """A sampled quantity with its 95 % interval and the number of runs it rests on."""

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: Count = 0
    reason: str | None = None


class Quotation(NamedTuple):
    """A passage that a judge quoted, found in the skill.

    ``path`` is relative to the skill's directory, ``judge`` counts from 1.
    """

    text: str
    path: str
    line: Count
    judge: Count = 1


class Assessment(NamedTuple):
    """One judged dimension: the mean over the judges, what they said, and the lines they quoted."""

    score: Ratio | None  # in [0, 1]; None if no judge answered, and ``reason`` says why
    reason: str | None = None
    reasoning: tuple[str, ...] = ()  # each judge's, in their order
    quotations: tuple[Quotation, ...] = ()
    ratings: tuple[Count, ...] = ()  # from 0 to 10, one for each judge that answered
    dropped: Count = 0  # quotations that are not in the text
    ci_low: Ratio | None = None  # ci_low, ci_high: a 95 % interval, None if ``ci_reason`` says why there is none
    ci_high: Ratio | None = None
    ci_reason: str | None = None
    corrected: Estimate | None = None  # the score as a calibration set says people would give it; None without one


class TriggerPrompt(NamedTuple):
    """A prompt on which the judges predicted whether a model would load the skill."""

    prompt: str
    should_trigger: bool  # whether the skill is meant for it
    style: str = "direct"  # ``direct`` (names the task) or ``indirect`` (only describes the situation)
    predicted: tuple[bool | None, ...] = ()  # each judge's answer, in their order; None if there is none


class Triggering(NamedTuple):
    """What the predictions say: class-balanced F1, the two rates it rests on, and plain precision."""

    f1: Estimate  # 2·TPR ÷ (1 + TPR + FPR)
    recall: Estimate  # TPR, the share of prompts that should trigger and do
    false_alarms: Estimate  # FPR, the share of near misses that trigger
    precision: Estimate  # of all predictions that the skill is loaded, the share that should be
    prompts: tuple[TriggerPrompt, ...] = ()
    digest: str | None = None  # of the prompts and labels; only runs on the same prompts are compared
    source: str = "generated"  # ``generated``, ``evals`` (the skill's own) or ``baseline``
    siblings: Count = 0


class Agreement(NamedTuple):
    """How far the judges of a run agree, over all its skills."""

    judges: Count
    items: Count = 0
    kappa: float | None = None  # Cohen's, quadratic weights, the mean over pairs of judges
    kappa_ci_low: float | None = None  # kappa_ci_low, kappa_ci_high: a 95 % bootstrap interval over the items
    kappa_ci_high: float | None = None
    kappa_reason: str | None = None
    kappa_trigger: float | None = None  # unweighted, over the predictions; None with ``kappa_trigger_reason``
    kappa_trigger_reason: str | None = None
    predictions: Count = 0
    icc: float | None = None  # ICC(2,1), None with ``icc_reason``
    icc_reason: str | None = None
    agreement: Ratio | None = None  # the share of pairs of ratings that are equal, None without any
    within_one: Ratio | None = None  # the share of pairs at most one step apart


class Trust(NamedTuple):
    """How far a judge can be believed, and what that does to a run."""

    items: Count
    skills: Count
    kappa: Estimate  # of judge and people, quadratic weights, with a bootstrap interval over items (skills, from ten)
    sensitivity: Estimate  # of what people pass, the share that the judge passes; exact interval
    specificity: Estimate  # of what people do not pass, the share that the judge does not; exact interval
    acceptable: Estimate  # of the run's ratings, the share that people would pass


class DropTest(NamedTuple):
    """Whether a judged score really fell below its baseline's: a paired test over the judges' answers."""

    drop: float | None  # composite points lost, negative for a gain; None if a side has no score
    certain: float | None = None  # of these, what the static layer accounts for alone
    p: Ratio | None = None  # one-sided, corrected for all skills of the run (Holm)
    units: Count = 0
    smallest_detectable: float | None = None  # the drop that the gate would find in 80 of 100 such comparisons
    flip_rate: Ratio | None = None  # of comparisons of two judgings of one text, the share that the gate would fail
    reason: str | None = None  # why the two cannot be compared, None if they can
    p_alone: Ratio | None = None  # the same before the correction, for whoever joins parts of a run


class Cut(NamedTuple):
    """A section that no judge was shown, since all of the skill was too long: its file, heading and lines."""

    path: str
    heading: str
    first: Count
    last: Count


@tagged("name", "judge")
class JudgeLayer(NamedTuple):
    """Layer 2: a model reads the skill."""

    duration_ms: Count
    judges: Count
    kappa: float | None  # kappa, kappa_reason, kappa_trigger: those of ``agreement``, under the names of the method
    kappa_reason: str | None = None
    kappa_trigger: float | None = None
    models: tuple[str, ...] = ()  # of each judge, in their order, as asked for
    assessments: Mapping[Dimension, Assessment] = MappingProxyType({})  # by dimension; only those that were asked about
    reason: str | None = None  # why there is nothing, or not all; None if every question was answered
    provider: str = "anthropic"  # where the answers come from
    live: bool = True  # False for a scripted or replayed model; its numbers say nothing of the skill
    agreement: Agreement | None = None  # over the run, None for one judge
    triggering: Triggering | None = None
    cut: tuple[Cut, ...] = ()
    unread: tuple[str, ...] = ()  # files that no judge could be shown, each as ``path (why)``
    obeyed: Count = 0  # how many answers a control question showed to obey the skill's text; they count nowhere
    # by dimension, the score with the suspicious passages less the one without; the lower counts
    swayed: Mapping[Dimension, float] = MappingProxyType({})
    prompt_version: str = ""
    rubric_version: str = ""
    usage: Usage = Usage()
    silenced: str | None = None  # which judges gave no usable answer where the text can be why
    answered_by: tuple[str, ...] = ()  # the models that answered where another one was asked for, sorted


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
"""The measures that are separate dimensions; robustness is 1 − failures, triggering the F1 or the activation."""


class Simulation(NamedTuple):
    """One simulated session."""

    prompt: str
    should_trigger: bool  # whether the skill is meant for it
    style: str  # ``direct`` or ``indirect``
    # ``completed``; ``failed`` (refusal, cut off, too many turns, an empty or unusable answer, context exceeded);
    # ``not measured`` (an outage, the budget); ``not run`` (the run ended early)
    outcome: str
    kind: str | None = None  # of a failure or of what kept it from being measured, in a word or two
    activated: bool | None = None  # whether the model loaded the skill; None unless measured
    quality: Ratio | None = None  # the grade of the final answer, in [0, 1]
    tokens: Count | None = None  # what the skill added; None if it was not loaded, or no reply reported tokens
    delivers: bool | None = None  # whether the answer is the work itself rather than handing it on; None if ungraded
    covers: bool | None = None  # whether the answer covers the request within what the skill is for
    turns: Count = 0
    loaded: tuple[str, ...] = ()  # the skills that were loaded, in their order, each once
    ungraded: str | None = None  # why there is no grade where the session completed, else None


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

    ``style`` and ``prompts`` name the causes of a wide one: the style with the more varied runs, and the prompts that
    move the measure most, at most three. They are None and empty for a stable one, or if no prompt stands out.
    """

    label: str
    half_width: Ratio
    style: str | None = None
    prompts: tuple[str, ...] = ()


class Loads(NamedTuple):
    """How many sessions loaded the skill, and what their figures count for."""

    loaded: Count  # completed sessions with a prompt that should load the skill, in which it was loaded
    completed: Count
    measured: Count
    # min(1, loaded ÷ min(5, completed)), 0 where none completed. Every score of the layer but triggering, and every
    # term of ``mc_score`` but activation, is multiplied by it.
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
    """Layer 3: simulated sessions. Not-measured runs are separate and in no denominator."""

    duration_ms: Count
    simulations: Count
    completed: Count  # completed, failed, not_measured: of all sessions, near misses included
    failed: Count
    not_measured: Count
    mc_score: Ratio | None  # None if one of its parts was not measured; ``mc_reason`` says which
    # activation_rate, activation_rate_wilson, false_activation_rate, precision, f1, quality, quality_cv, failure_rate,
    # tokens, efficiency, orchestration, scope: each with its n
    measures: Mapping[str, Estimate] = MappingProxyType({})
    prompts_digest: str | None = None  # of prompts and labels; only runs on the same prompts are compared
    stopped_early: str | None = None  # why the run ended before all sessions, None if it did not
    reason: str | None = None  # what could not be evaluated, an outage or too many lost grades
    near_misses: Count = 0  # sessions asked for with prompts that should not load it
    scores: Mapping[Dimension, Estimate] = MappingProxyType({})  # all but triggering times ``loads.factor``
    tokens: TokenSpread | None = None  # None without completed, activated runs
    spread: Mapping[str, Spread] = MappingProxyType({})  # by measure
    runs: tuple[Simulation, ...] = ()  # every session, prompts that should load the skill first
    kinds: Mapping[str, Count] = MappingProxyType({})  # how many sessions failed or were not measured, by kind
    model: str = ""
    grader: str = ""
    provider: str = "anthropic"
    live: bool = True
    runner: str = "messages"  # ``messages`` (a loop of this program's own) or ``agent-sdk`` (the harness itself)
    seed: int = 0  # of the order in which skills were listed
    siblings: Count = 0
    siblings_source: str = "beside"  # ``beside``, ``corpus`` or ``common``
    prompts_source: str = "generated"  # ``evals``, ``generated``, ``evals and generated`` or ``baseline``
    max_turns: Count = 0
    prompt_version: str = ""
    rubric_version: str = ""
    usage: Usage = Usage()
    silenced: str | None = None
    answered_by: tuple[str, ...] = ()
    obeyed: Count = 0  # grades that a control question showed to obey the text that was graded; they count nowhere
    mc_reason: str | None = None  # why there is no ``mc_score``, None if there is one
    short: str | None = None  # that fewer prompts could be had than were asked for, None if there were enough
    loads: Loads | None = None  # None if the sessions were not measured, or ended early


class Rating(NamedTuple):
    """A rating on the Elo scale with its 95 % interval.

    Of the method's Elo the interval is the spread over resampled matches; of Bradley–Terry's it is one of the rating.
    """

    rating: float
    ci_low: float
    ci_high: float


class Match(NamedTuple):
    """A skill compared with one of the corpus, judged in both orders."""

    opponent: str
    opponent_digest: str
    opponent_rating: float
    result: Ratio | None  # 1.0 won, 0.5 drawn, 0.0 lost; None if an order was not judged, and ``reason`` says why
    orders: tuple[str, ...] = ()  # who won with the skill first and with it second: ``win``, ``loss`` or ``draw``
    position_bias: bool = False  # whether the two orders disagree, which makes a draw
    won: tuple[Dimension, ...] = ()  # won, lost: dimensions on which both orders say so
    lost: tuple[Dimension, ...] = ()
    reason: str | None = None


@tagged("name", "ranking")
class RankingLayer(NamedTuple):
    """Matches against a corpus: Elo as the method has it, Bradley–Terry next to it."""

    duration_ms: Count
    matches: Count
    elo: Rating | None  # the method's, in the seeded order against fixed ratings; the interval is resampling spread
    bradley_terry: Rating | None  # by maximum likelihood with a weak prior against the same ratings
    percentile: Ratio | None
    position_bias: Estimate | None = None  # the share of matches in which the two orders disagree
    nearest: str | None = None  # the opponent whose rating is nearest
    provisional: bool = False  # whether Bradley–Terry's interval holds the Elo that the badge asks for
    reason: str | None = None  # why there is no rating
    played: tuple[Match, ...] = ()
    # won, lost: dimensions won or lost against more opponents than the other way round, most first
    won: tuple[Dimension, ...] = ()
    lost: tuple[Dimension, ...] = ()
    corpus: str | None = None  # the digest of the corpus's ratings
    corpus_size: Count = 0
    hindrance: str | None = None  # why a rating of the best badge is out of reach whatever the matches give
    model: str = ""  # model, provider, live, usage, prompt_version, silenced, seed: as of the other sampled layers
    provider: str = "anthropic"
    live: bool = True
    usage: Usage = Usage()
    prompt_version: str = ""
    seed: int = 0
    silenced: str | None = None
    unrated: Count = 0  # opponents that stand at the rating every one begins with, which no match of theirs confirms


class Expectation(NamedTuple):
    """One thing an answer was checked against, and whether it met it; None if unknown, with ``evidence`` why."""

    text: str
    passed: bool | None
    evidence: str = ""


class Arm(NamedTuple):
    """One task answered with the skill, or without it."""

    outcome: str  # as of a :class:`Simulation`
    score: Ratio | None  # the share of expectations that were met, else the grade of the answer
    expectations: tuple[Expectation, ...] = ()  # each of them, empty if the task has none
    tokens: Count | None = None  # of all replies, input and output; None if unknown
    duration_s: float | None = None  # from sending each request to its answer, when it was asked if it was cached
    reason: str | None = None  # why there is no score


class LiftTask(NamedTuple):
    """A task in both arms.

    ``preferred`` is which answer a judge who does not know the arms prefers in both orders: ``with``, ``without``,
    ``neither`` (a draw, or the orders disagree); None if that was not measured.
    """

    id: str
    prompt: str
    with_skill: Arm
    without_skill: Arm
    preferred: str | None = None
    position_bias: bool = False


class Lift(NamedTuple):
    """What the skill adds: the same tasks with it and without it."""

    lift: Estimate  # the mean over tasks of the score with the skill less the one without, in [-1, 1]
    with_skill: Estimate
    without_skill: Estimate
    wins: Count = 0
    losses: Count = 0
    draws: Count = 0
    p: Ratio | None = None  # two-sided, of the exchange test over tasks
    tasks: tuple[LiftTask, ...] = ()
    source: str = "evals"  # ``evals`` or ``generated``
    unsupported: tuple[str, ...] = ()  # graders of the skill's own that nothing here does, each as ``file: kind``
    reason: str | None = None  # why there is no lift
    model: str = ""  # model, grader, provider, live, usage, runner: as of the simulations
    grader: str = ""
    provider: str = "anthropic"
    live: bool = True
    usage: Usage = Usage()
    runner: str = "messages"


class Resumed(NamedTuple):
    """What a run took from the one it continues from: it ended before it could write its report.

    ``answers`` were on disk and not asked for again; ``repeated`` requests were on their way when it ended, and were
    sent once more; ``cost_usd`` is what it had spent, None if a price is unknown.
    """

    answers: Count
    repeated: Count
    cost_usd: float | None = 0.0
