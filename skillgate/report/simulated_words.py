"""What every format says of simulated sessions, in plain words: what they measure, how sure that is, who took part.

Texts of models and skills in what is given here are bounded and on one line; whoever shows them makes them inert
for where they stand.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.layers import COMPLETED, FAILED, NOT_MEASURED, NOT_RUN, MonteCarloLayer
from skillgate.model.score import Dimension, LayerName
from skillgate.report.findings import bounded
from skillgate.scoring.composite import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.model.layers import Estimate, Simulation, Spread, TokenSpread
    from skillgate.model.report import SkillResult

TEXT = 200  # characters of a reason or a name
PROMPT = 60  # characters of a prompt in a list
_NAMED = 3  # prompts that are named
_BRIEF = 40  # characters of one where several stand in a sentence
_KINDS = 5  # kinds of failures that are counted
_UNEVEN = 0.005  # by how much the two arms of an interval may differ and still be written as one
_LOW = 0.5  # a grade below this is a miss of its own; the middle of the grader's scale
_OURS = {"activation_rate_wilson": "activation (Wilson)", "quality_cv": "quality CV", "f1": "F1"}
LABELS = {
    "activation_rate": "activation",
    "false_activation_rate": "false activation",
    "failure_rate": "failures",
    "efficiency": "token efficiency",
    "orchestration": "does the work itself",
    "scope": "covers the request",
    **_OURS,
}
"""What measures are called, where their names in the report do not say enough."""
_PERCENT = ("activation_rate", "activation_rate_wilson", "false_activation_rate", "failure_rate", "precision")


def sessions_of(result: SkillResult) -> MonteCarloLayer | None:
    """Give a skill's simulated sessions, None where none were asked for."""
    return next((layer for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)


def short(text: str | None, most: int = TEXT) -> str:
    """Bound a text; one that is missing is said to be."""
    return bounded(text or "no reason is given", most)


def label(name: str) -> str:
    """Call a measure by its name for people."""
    return LABELS.get(name, bounded(name.replace("_", " "), TEXT))


def ends(found: Estimate, *, scale: float = 1.0, digits: int = 2, unit: str = "") -> str:
    """Write an interval: ``± 0.06``, by its ends where it lies unevenly; ``""`` for none.

    Args:
        found: the quantity.
        scale: what its values are multiplied by; 100 for per cent.
        digits: after the point.
        unit: written behind the numbers.
    """
    if found.value is None or found.ci_low is None or found.ci_high is None:
        return ""
    value, low, high = (scale * each for each in (found.value, found.ci_low, found.ci_high))
    even = abs((high - value) - (value - low)) <= _UNEVEN * max(1.0, abs(value))
    if even:
        return f"± {(high - low) / 2:,.{digits}f}{unit}"
    return f"({low:,.{digits}f} to {high:,.{digits}f}{unit})".replace("-", "−")


def measured(name: str, found: Estimate) -> str:
    """Write a measure with its interval, as in ``80 % (66 to 90 %)``; a dash and the reason where there is none."""
    share = name in _PERCENT
    scale, digits, unit = (100.0, 0, " %") if share else (1.0, 0 if name == "tokens" else 2, "")
    if found.value is None and found.ci_low is None:
        return f"— ({short(found.reason)})"
    if found.reason and found.ci_low is not None and found.ci_high is not None:  # it ended early: no estimate, bounds
        return f"between {scale * found.ci_low:,.{digits}f} and {scale * found.ci_high:,.{digits}f}{unit}"
    if found.value is None:
        return "—"
    written = ends(found, scale=scale, digits=digits, unit=unit)
    return f"{scale * found.value:,.{digits}f}{unit}{' ' * bool(written)}{written}"


def value(layer: MonteCarloLayer, name: str, *, n: bool = True) -> str:
    """Name a measure and write it with the number of its sessions; ``""`` where the layer does not know it."""
    found = layer.measures.get(name)
    if found is None:
        return ""
    over = f", n = {found.n:,}" if n and (found.value is not None or found.ci_low is not None) else ""
    return f"{label(name)} {measured(name, found)}{over}"


def tokens(found: TokenSpread) -> str:
    """Say how many tokens the skill adds, as in ``tokens 5,190 (quartiles 4,594 to 5,234, no outlier), n = 44``."""
    beyond = (
        "" if found.outliers is None else f", {plural(found.outliers, 'outlier') if found.outliers else 'no outlier'}"
    )
    return f"tokens {found.median:,.0f} (quartiles {found.q1:,.0f} to {found.q3:,.0f}{beyond}), n = {found.n:,}"


def wide(layer: MonteCarloLayer, *, every: bool = False) -> str:
    """Say which measures are wide and what the first of them comes from; ``""`` where none is wide.

    Args:
        layer: the sessions.
        every: whether the width and the prompts of each are told, and which measures are stable.
    """
    known = layer.spread.items()
    wide_measures = [(name, spread) for name, spread in known if spread.label == "wide"]
    stable = [label(name) for name, spread in known if spread.label == "stable"]
    if every:
        parts = [f"wide: {'; '.join(_wide(*pair) for pair in wide_measures)}" if wide_measures else ""]
        return "; ".join(filter(None, (*parts, f"stable: {', '.join(stable)}" if stable else "")))
    if not wide_measures:
        return ""
    first = next((pair for pair in wide_measures if pair[1].prompts or pair[1].style), wide_measures[0])
    others = [label(name) for name, _ in wide_measures if name != first[0]]
    also = f"; also {', '.join(others)}" if others else ""
    return f"wide: {_wide(*first, most=_NAMED - 1)}{also}"


def _wide(name: str, spread: Spread, *, most: int = _NAMED) -> str:
    """Tell how wide a measure is, whose style varies most, and which prompts move it: two things, each by itself."""
    named = ", ".join(quoted(prompt, _BRIEF) for prompt in spread.prompts[:most])
    varies = f"{bounded(spread.style, PROMPT)} prompts vary more" if spread.style else ""
    moved = f"moved most by {named}" if named else ""
    why = ", ".join(filter(None, (varies, moved)))
    return f"{label(name)} ± {spread.half_width:.2f}{f' ({why})' if why else ''}"


def quoted(text: str, most: int = PROMPT) -> str:
    """Quote a prompt, shortened."""
    return f"“{bounded(text.strip(), most)}”"


def lost(layer: MonteCarloLayer) -> str:
    """Count what failed, was not measured or not run, by kind; ``""`` where all completed."""
    parts = []
    for outcome, total in ((FAILED, layer.failed), (NOT_MEASURED, layer.not_measured)):
        if total:
            kinds = Counter(short(run.kind or "no kind", PROMPT) for run in layer.runs if run.outcome == outcome)
            named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(_KINDS))
            left = f" and {len(kinds) - _KINDS} more kinds" if len(kinds) > _KINDS else ""
            parts.append(f"{total:,} {outcome}{f' ({named}{left})' if named else ''}")
            parts[-1] += " and in no figure" if outcome == NOT_MEASURED else ""
    if idle := sum(run.outcome == NOT_RUN for run in layer.runs):
        parts.append(f"{idle:,} not run")
    return f"of {plural(requested(layer), 'session')} {', '.join(parts)}" if parts else ""


def requested(layer: MonteCarloLayer) -> int:
    """Count all sessions: those that took place, and those that did not."""
    return len(layer.runs) or layer.completed + layer.failed + layer.not_measured


def who(layer: MonteCarloLayer) -> str:
    """Say who was tested among how many skills, who graded, and where the prompts come from."""
    grader = "itself" if layer.grader == layer.model else short(layer.grader or "nobody")
    by = " in Claude Code itself" if layer.runner == "agent-sdk" else ""
    where = {"beside": "", "corpus": " of the corpus", "common": " made up for all"}
    among = where.get(layer.siblings_source, f" ({short(layer.siblings_source)})")
    others = f" beside {plural(layer.siblings, 'other skill')}{among}" if layer.siblings else " by itself"
    tested = f"{short(layer.model or 'nobody')} tested{by}{others}"
    return f"{tested}, graded by {grader}; prompts: {short(layer.prompts_source)}"


def remarks(layer: MonteCarloLayer) -> Iterator[str]:
    """Say what else has to be known of the sessions: what is missing, why they ended, what was not obeyed."""
    if layer.reason:
        yield f"{'not wholly' if layer.completed + layer.failed else 'not'} simulated: {short(layer.reason)}"
    if layer.loads is not None and layer.loads.factor < 1:
        yield f"{layer.loads.words}: all that they measure but triggering counts × {layer.loads.factor:.2g}"
    if layer.stopped_early:
        text = "rates are only bounded by that, and count in no score"
        yield f"stopped early {short(layer.stopped_early)}; {text}"
    if layer.short:
        yield short(layer.short)
    if ungraded := [run for run in layer.runs if run.outcome == COMPLETED and run.activated and run.quality is None]:
        yield f"{plural(len(ungraded), 'answer')} without a grade: {short(ungraded[0].ungraded)}"
    if layer.obeyed:
        yield f"{plural(layer.obeyed, 'grade')} obeyed the answer's text instead of the question, and count nowhere"
    if layer.answered_by:
        others = ", ".join(short(name) for name in layer.answered_by[:_KINDS])
        yield f"answered by {others}, which is not what was asked for"


def style(run: Simulation) -> str:
    """Name the kind of a session's prompt: its style, or that it is a near miss."""
    return bounded(run.style, PROMPT) if run.should_trigger else "near miss"


def is_missed(run: Simulation) -> bool:
    """Tell whether a session loaded the skill where it should not, or did not where it should."""
    return run.activated is not None and run.activated != run.should_trigger


def verdict(run: Simulation) -> str:
    """Say what came of a session, in few words, as in ``did not load it``."""
    if run.outcome != COMPLETED:
        kind = f" ({short(run.kind, PROMPT)})" if run.kind else ""
        return f"{run.outcome}{kind}"
    loaded = "loaded it" if run.activated else "did not load it"
    parts = [loaded]
    if run.quality is not None:
        parts.append(f"quality {run.quality:.2f}")
    elif run.ungraded and run.activated:
        parts.append("no grade")
    return ", ".join(parts)


def amiss(layer: MonteCarloLayer) -> list[Simulation]:
    """List the sessions that failed, were not measured, missed, or whose answer has a low grade; in their order."""
    return [run for run in layer.runs if _is_amiss(run)]


def _is_amiss(run: Simulation) -> bool:
    poor = bool(run.activated) and run.quality is not None and run.quality < _LOW
    return run.outcome in (FAILED, NOT_MEASURED) or is_missed(run) or poor


def by_prompt(runs: Sequence[Simulation]) -> list[tuple[Simulation, int]]:
    """Put sessions of the same prompt and outcome together, with how many there are; in their order."""
    counted = Counter((run.prompt, run.should_trigger, verdict(run)) for run in runs)
    first = {(run.prompt, run.should_trigger, verdict(run)): run for run in reversed(runs)}
    return [(first[key], count) for key, count in counted.items()]


def run_in_words(results: Iterable[SkillResult]) -> list[str]:
    """Say of a run how many sessions it simulated and how many of them were measured; nothing where it asked for none.

    ``2 skills not simulated`` counts those that were asked about and gave no session at all.
    """
    layers = [layer for result in results if (layer := sessions_of(result)) is not None]
    if not layers:
        return []
    total = sum(requested(layer) for layer in layers)
    done = sum(layer.completed + layer.failed for layer in layers)
    parts = [f"{plural(total, 'session')} simulated" + (f", {done:,} of them measured" if done != total else "")]
    parts += filter(None, (_carried(layers),))
    if idle := sum(1 for layer in layers if not layer.completed + layer.failed):
        parts.append(f"{idle} of {plural(len(layers), 'skill')} not simulated")
    return parts


def _carried(layers: Sequence[MonteCarloLayer]) -> str:
    """Say how much of what sessions weigh in a score they measured, least to most; ``""`` where they measured it all.

    Where they did not, the other layers carry it: the weight that was measured is as large, and tells nothing of it.
    """
    shares = {dimension: WEIGHTS[dimension] * BLEND[dimension][LayerName.MONTECARLO] / 100 for dimension in Dimension}
    found = sorted(
        sum(
            shares[dimension]
            for dimension, item in layer.scores.items()
            if item.value is not None and layer.stopped_early is None
        )
        for layer in layers
    )
    low, high, full = (f"{value:.0f}" for value in (found[0], found[-1], sum(shares.values())))
    if low == full:
        return ""
    return (
        f"sessions measure {low if low == high else f'{low} to {high}'} of the {full} % of the weight that are theirs"
    )
