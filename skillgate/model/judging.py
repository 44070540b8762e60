"""What sampling a model gives for the report: usage, estimates, and layer 2 with all that it rests on.

Annotations are evaluated, as in :mod:`skillgate.model.report`, which this belongs to.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from skillgate.model.marks import Range, tagged
from skillgate.model.score import Dimension

Ratio = Annotated[float, Range(0, 1)]
Points = Annotated[float, Range(0, 100)]
Count = Annotated[int, Range(0, None)]


class Usage(NamedTuple):
    """What was asked of a model in this run, and what it cost; all 0 at quick depth, which asks nothing.

    Attributes:
        calls: requests that were sent and answered, tries again not counted.
        cached: answers that were kept from an earlier run; they cost nothing.
        input_tokens: what was neither read from nor written to the provider's prompt cache.
        output_tokens: thinking included.
        cost_usd: None where a price is unknown; ``cost_reason`` says which.
        cache_read_tokens, cache_write_tokens: of the provider's prompt cache.
        retries: how often something was sent again.
    """

    calls: Count = 0
    cached: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: float | None = 0.0
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
    """One judged dimension: the mean over the judges, what they said, and the lines they quoted.

    Attributes:
        score: in [0, 1]; None where no judge answered, and ``reason`` says why.
        reasoning: each judge's, in their order.
        quotations: those that are in the text.
        ratings: from 0 to 10, one for each judge that answered; empty for triggering, which is computed.
        dropped: quotations that are not in the text.
        ci_low, ci_high: a 95 % interval, None where ``ci_reason`` says why there is none.
        corrected: the score as a calibration set says people would give it; None without one.
    """

    score: Ratio | None
    reason: str | None = None
    reasoning: tuple[str, ...] = ()
    quotations: tuple[Quotation, ...] = ()
    ratings: tuple[Count, ...] = ()
    dropped: Count = 0
    ci_low: Ratio | None = None
    ci_high: Ratio | None = None
    ci_reason: str | None = None
    corrected: Estimate | None = None


class TriggerPrompt(NamedTuple):
    """A prompt on which the judges predicted whether a model would load the skill.

    Attributes:
        prompt: what a user says.
        should_trigger: whether the skill is meant for it.
        style: ``direct`` (names the task) or ``indirect`` (only describes the situation).
        predicted: each judge's answer, in their order; None where there is none.
    """

    prompt: str
    should_trigger: bool
    style: str = "direct"
    predicted: tuple[bool | None, ...] = ()


class Triggering(NamedTuple):
    """What the predictions say: class-balanced F1, the two rates it rests on, and plain precision.

    Attributes:
        f1: 2·TPR ÷ (1 + TPR + FPR).
        recall: TPR, the share of prompts that should trigger and do.
        false_alarms: FPR, the share of near misses that trigger.
        precision: of all predictions that the skill is loaded, the share that should be.
        prompts: all of them.
        digest: of the prompts and labels; only runs on the same prompts are compared.
        source: ``generated``, ``evals`` (the skill's own) or ``baseline``.
        siblings: how many skills it was listed among.
    """

    f1: Estimate
    recall: Estimate
    false_alarms: Estimate
    precision: Estimate
    prompts: tuple[TriggerPrompt, ...] = ()
    digest: str | None = None
    source: str = "generated"
    siblings: Count = 0


class Agreement(NamedTuple):
    """How far the judges of a run agree, over all its skills.

    Attributes:
        judges: how many there are.
        items: ratings that every judge gave.
        kappa: Cohen's, quadratic weights, the mean over pairs of judges; None under 40 items, with ``kappa_reason``.
        kappa_ci_low, kappa_ci_high: a 95 % bootstrap interval over the items.
        kappa_trigger: unweighted, over the predictions; None with ``kappa_trigger_reason``.
        predictions: how many of them every judge gave.
        icc: ICC(2,1), None with ``icc_reason``.
        agreement: the share of pairs of ratings that are equal, None without any.
        within_one: the share of pairs at most one step apart.
    """

    judges: Count
    items: Count = 0
    kappa: float | None = None
    kappa_ci_low: float | None = None
    kappa_ci_high: float | None = None
    kappa_reason: str | None = None
    kappa_trigger: float | None = None
    kappa_trigger_reason: str | None = None
    predictions: Count = 0
    icc: float | None = None
    icc_reason: str | None = None
    agreement: Ratio | None = None
    within_one: Ratio | None = None


class Trust(NamedTuple):
    """How far a judge can be believed, and what that does to a run.

    Attributes:
        items: pairs it rests on, of all dimensions that are rated (triggering is computed).
        skills: how many skills these are of.
        kappa: of judge and people, quadratic weights, with a bootstrap interval over items (skills, from ten).
        sensitivity: of what people pass, the share that the judge passes; exact interval.
        specificity: of what people do not pass, the share that the judge does not; exact interval.
        acceptable: of the run's ratings, the share that people would pass, by the judge's own share and both of
            the above (Rogan and Gladen, 1978); its interval holds the doubt in all three.
    """

    items: Count
    skills: Count
    kappa: Estimate
    sensitivity: Estimate
    specificity: Estimate
    acceptable: Estimate


class DropTest(NamedTuple):
    """Whether a judged score really fell below its baseline's: a paired test over the judges' answers.

    Attributes:
        drop: composite points lost, negative for a gain; None where a side has no score.
        certain: of these, what the static layer accounts for alone.
        p: one-sided, corrected for all skills of the run (Holm); None where no answer differs or nothing is compared.
        units: answers that were paired.
        smallest_detectable: the drop that the gate would find in 80 of 100 such comparisons, None where it finds none.
        flip_rate: of comparisons of two judgings of one text, the share that the gate would fail.
        reason: why the two cannot be compared, None where they can.
        p_alone: the same before the correction, for whoever joins parts of a run; None where ``p`` is.
    """

    drop: float | None
    certain: float | None = None
    p: Ratio | None = None
    units: Count = 0
    smallest_detectable: float | None = None
    flip_rate: Ratio | None = None
    reason: str | None = None
    p_alone: Ratio | None = None


class Cut(NamedTuple):
    """A section that no judge was shown, since all of the skill was too long: its file, heading and lines."""

    path: str
    heading: str
    first: Count
    last: Count


@tagged("name", "judge")
class JudgeLayer(NamedTuple):
    """Layer 2: a model reads the skill.

    Attributes:
        judges: how many opinions were asked for.
        kappa, kappa_reason, kappa_trigger: those of ``agreement``, under the names of the method.
        models: of each judge, in their order, as asked for.
        assessments: by dimension; only those that were asked about.
        reason: why there is nothing, or not all; None where every question was answered.
        provider: where the answers come from.
        live: False for a scripted or replayed model; its numbers say nothing of the skill.
        agreement: over the run, None for one judge.
        triggering: what the trigger score rests on.
        cut: sections that were left out.
        unread: files that no judge could be shown, each as ``path (why)``.
        obeyed: how many answers a control question showed to obey the skill's text; they count nowhere.
        swayed: by dimension, the score with the suspicious passages less the one without; the lower counts.
        prompt_version, rubric_version: of the questions.
        usage: what this layer asked for.
        silenced: which judges gave no usable answer where the text can be why; None where there are none such.
        answered_by: the models that answered where another one was asked for, sorted; both of them known.
    """

    duration_ms: Count
    judges: Count
    kappa: float | None
    kappa_reason: str | None = None
    kappa_trigger: float | None = None
    models: tuple[str, ...] = ()
    assessments: Mapping[Dimension, Assessment] = MappingProxyType({})
    reason: str | None = None
    provider: str = "anthropic"
    live: bool = True
    agreement: Agreement | None = None
    triggering: Triggering | None = None
    cut: tuple[Cut, ...] = ()
    unread: tuple[str, ...] = ()
    obeyed: Count = 0
    swayed: Mapping[Dimension, float] = MappingProxyType({})
    prompt_version: str = ""
    rubric_version: str = ""
    usage: Usage = Usage()
    silenced: str | None = None
    answered_by: tuple[str, ...] = ()
