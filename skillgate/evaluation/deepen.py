"""What the sampled layers are asked about, and what they give back: values between the pipeline and who drives them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.judging import Usage
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from skillgate.model.assessment import Assessment
    from skillgate.model.judging import Agreement, Trust
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Depth
    from skillgate.model.skill import SkillSource
    from skillgate.scoring.result import Deeper


class Asked(NamedTuple):
    """A skill that is asked about: its bytes, what layer 1 knows of it, and what it was, None without a baseline."""

    source: SkillSource
    facts: Assessment
    before: SkillResult | None = None


class Deepened(NamedTuple):
    """What the sampled layers give of a run.

    Attributes:
        skills: by shown path, for every skill that was asked about.
        agreement: of the judges over all of them.
        models: those that were asked, each once.
        spent: how the budget ended the run early, None where it did not.
        trust: how far people bear the judges out, None without a calibration.
    """

    skills: Mapping[str, Deeper] = MappingProxyType({})
    agreement: Agreement | None = None
    models: tuple[str, ...] = ()
    spent: str | None = None
    trust: Trust | None = None


class SampledLayers(NamedTuple):
    """The layers that ask models.

    Attributes:
        depth: which of them there are.
        measure: runs them on skills; may be called several times.
        models: those that are asked, each once.
        judged_as: the versions of the questions, and whether a real model answers: as :func:`judged_as` gives it.
    """

    depth: Depth
    measure: Callable[[Sequence[Asked]], Deepened]
    models: tuple[str, ...] = ()
    judged_as: tuple[str, ...] = ()


def judged_as(prompt_version: str, rubric_version: str, provider: str) -> tuple[str, ...]:
    """Say how a score came about, beside its models; scores that came about otherwise are not compared."""
    is_made_up = provider in PROVIDERS and PROVIDERS.text(provider, "MADE_UP")
    asked = f"{provider} answers" if is_made_up else "a model's answers"
    return (f"prompts {prompt_version}", f"rubrics {rubric_version}", asked)


def total(usages: Iterable[Usage]) -> Usage:
    """Add up what several skills asked for; the cost of all is unknown where that of one is."""
    found = tuple(usages)
    costs = [usage.cost_usd for usage in found]
    known = [cost for cost in costs if cost is not None]
    return Usage(
        calls=sum(usage.calls for usage in found),
        cached=sum(usage.cached for usage in found),
        input_tokens=sum(usage.input_tokens for usage in found),
        output_tokens=sum(usage.output_tokens for usage in found),
        cost_usd=round(sum(known, 0.0), 6) if len(known) == len(costs) else None,
        cache_read_tokens=sum(usage.cache_read_tokens for usage in found),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in found),
        retries=sum(usage.retries for usage in found),
        cost_reason=next((usage.cost_reason for usage in found if usage.cost_reason), None),
    )
