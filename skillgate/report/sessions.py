"""What reports show of simulated sessions: what they measure, how sure that is, and what failed or was not measured."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.layers import COMPLETED, FAILED, NOT_MEASURED, NOT_RUN, MonteCarloLayer
from skillgate.model.score import Dimension, LayerName
from skillgate.report import charts, numbers
from skillgate.report.numbers import NONE, count, decimal, ratio, reason, several, signed, spread
from skillgate.report.ranking import lift_blocks, ranking_blocks, ranking_of
from skillgate.report.view import Bar, Cell, Chart, Fold, Heading, Item, Items, Note, Row, Table, columns
from skillgate.scoring.composite import BLEND, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.model.documents import SampledChange
    from skillgate.model.layers import Estimate, Resumed, Simulation, Spread, TokenSpread
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.view import Block, Line, Tone

_PROMPT = 60  # characters of a prompt, a style or a kind in a sentence
_WHOLE = 300  # characters of a prompt in a table
_NAMED = 3  # prompts that are named
_LOW = 0.5  # a grade below this is low
_GRADES = 10  # a grade is one of 0 to 10, saved as a tenth of it
_MOST = 50
_LABELS = {
    "activation_rate": "activation",
    "activation_rate_wilson": "activation (Wilson)",
    "false_activation_rate": "false activation",
    "failure_rate": "failures",
    "quality_cv": "quality CV",
    "efficiency": "token efficiency",
    "orchestration": "does the work itself",
    "scope": "covers the request",
    "f1": "F1",
    "mc_score": "mc_score",
    "elo": "Elo",
    "bradley_terry": "Bradley–Terry",
}
_SHARES = ("activation_rate", "activation_rate_wilson", "false_activation_rate", "failure_rate", "precision")
_WHOLES = ("tokens", "elo", "bradley_terry")
_UNDRAWN = ("tokens", "quality_cv", "activation_rate_wilson")  # not between 0 and 1, or the same share again
_FIRST = ("activation_rate", "false_activation_rate", "f1", "quality", "failure_rate", "tokens")
_GROUPS = (
    ("sessions", (*_FIRST, "mc_score")),
    ("ranking", ("elo", "bradley_terry")),
    ("lift", ("lift",)),
)
_TONES: dict[str, Tone] = {"up": "good", "down": "poor"}
_LOWER_IS_BETTER = ("false_activation_rate", "failure_rate", "tokens")


def sessions_of(result: SkillResult) -> MonteCarloLayer | None:
    """Return a skill's simulated sessions, None where none were requested."""
    return next((layer for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)


# --- a whole report ---


def notes(report: Report) -> Iterator[Line]:
    """Say that a report covers a part of the skills only, or that skills were not simulated."""
    if report.shard is not None:
        yield f"shard {reason(report.shard, 20)}: the other skills are in the reports of the other parts"
    layers = _layers(report)
    if (idle := sum(1 for layer in layers if not layer.completed + layer.failed)) and len(layers) > 1:
        yield f"{idle} of {plural(len(layers), 'skill')} not simulated"


def facts(report: Report) -> Iterator[str]:
    """Say in short how many sessions were simulated, and how much of their weight they measure."""
    if layers := _layers(report):
        total = sum(map(requested, layers))
        done = sum(layer.completed + layer.failed for layer in layers)
        yield f"{plural(total, 'session')} simulated" + (f", {done:,} of them measured" if done != total else "")
        yield from filter(None, (_carried(layers),))


def about(report: Report) -> Iterator[tuple[str, Line]]:
    """Say how many sessions were simulated, by which models, against which corpus, and what was resumed."""
    layers = _layers(report)
    if layers:
        models = dict.fromkeys(reason(layer.model) for layer in layers if layer.model)
        tested = (f"tested: {several(list(models))}",) if models else ()
        yield "Sessions", "; ".join((*facts(report), *tested))
    ranked = [layer for result in report.results if (layer := ranking_of(result)) is not None and layer.corpus]
    sizes = dict.fromkeys((layer.corpus_size, layer.corpus or "") for layer in ranked)
    named = [f"{plural(size, 'other skill')} (corpus {reason(digest, 12)})" for size, digest in sizes]
    if named:
        yield "Ranking", f"against {several(named, _NAMED)}"
    if report.resumed is not None:
        yield "Resumed", _resumed(report.resumed)


def _layers(report: Report) -> list[MonteCarloLayer]:
    return [layer for result in report.results if (layer := sessions_of(result)) is not None]


def _resumed(found: Resumed) -> str:
    said = f"{plural(found.answers, 'answer')} reused"
    said += f", {plural(found.repeated, 'request')} sent again" if found.repeated else ""
    if found.cost_usd is None:
        return f"{said}; the cost of the earlier run is not known"
    return f"{said}; the earlier run cost {numbers.dollars(found.cost_usd)}"


def _carried(layers: Sequence[MonteCarloLayer]) -> str:
    """Say how much of the weight of sessions they measured, lowest to highest; ``""`` for all of it.

    Other layers carry the rest, so that the weight that was measured does not show it.
    """
    shares = {dimension: WEIGHTS[dimension] * BLEND[dimension][LayerName.MONTECARLO] / 100 for dimension in Dimension}
    found = sorted(
        sum(shares[key] for key, item in layer.scores.items() if item.value is not None and layer.stopped_early is None)
        for layer in layers
    )
    low, high, full = (f"{value:.0f}" for value in (found[0], found[-1], sum(shares.values())))
    part = low if low == high else f"{low} to {high}"
    return "" if low == full else f"sessions measure {part} of the {full} % of the weight that belong to them"


# --- one skill ---


def skill_blocks(result: SkillResult) -> tuple[Block, ...]:
    """Build what sessions, matches and lift say of a skill, each in its own fold."""
    layer = sessions_of(result)
    found = () if layer is None else (Fold("Simulated sessions", tuple(_blocks(layer)), open=True),)
    lift = () if result.lift is None else lift_blocks(result.lift)
    return (*found, *ranking_blocks(result), *lift)


def _blocks(layer: MonteCarloLayer) -> Iterator[Block]:
    said = [Item(text, tone="poor" if text.startswith("not ") else "fair") for text in remarks(layer)]
    yield from (Items(tuple(said), "remark"),) if said else ()
    if layer.completed + layer.failed:
        yield _measures(layer)
    further = (*not_measured(layer), *_tokens_in_words(layer), wide(layer), lost(layer), who(layer))
    yield Items(tuple(Item(text) for text in further if text), "remark")
    drawn: tuple[Block, ...] = (*_styles(layer.runs), *_grades(layer.runs), *_tokens(layer))
    if drawn:
        yield Fold("Styles, grades and tokens", drawn, open=True, quiet=True)
    if found := by_prompt(amiss(layer)):
        yield Fold("Prompts that failed or missed", (_runs(found, verdict, "outcome"),), quiet=True)


def remarks(layer: MonteCarloLayer) -> Iterator[str]:
    """Say what is missing of the sessions, why they ended early, and which answers do not count."""
    if layer.reason:
        word = "not completely" if layer.completed + layer.failed else "not"
        yield f"{word} simulated: {reason(layer.reason)}"
    if layer.loads is not None and layer.loads.factor < 1:
        yield f"{layer.loads.words}: everything they measure except triggering counts × {layer.loads.factor:.2g}"
    if layer.stopped_early:
        yield f"stopped early {reason(layer.stopped_early)}; rates are only bounds, and count in no score"
    if layer.short:
        yield reason(layer.short)
    if ungraded := [run for run in layer.runs if run.outcome == COMPLETED and run.activated and run.quality is None]:
        yield f"{plural(len(ungraded), 'answer')} without a grade: {reason(ungraded[0].ungraded)}"
    if layer.obeyed:
        yield f"{plural(layer.obeyed, 'grade')} obeyed the answer's text instead of the question, and are ignored"
    if layer.answered_by:
        yield f"answered by {several(list(map(reason, layer.answered_by)))}, not by the requested model"


def lost(layer: MonteCarloLayer) -> str:
    """Count what failed, was not measured or not run, by kind; ``""`` where every session completed."""
    parts = []
    for outcome, total in ((FAILED, layer.failed), (NOT_MEASURED, layer.not_measured)):
        if total:
            kinds = Counter(reason(run.kind or "no kind", _PROMPT) for run in layer.runs if run.outcome == outcome)
            named = several([f"{number} {kind}" for kind, number in kinds.most_common()])
            uncounted = ", in no figure" if outcome == NOT_MEASURED else ""
            parts.append(f"{total:,} {outcome}{f' ({named}{uncounted})' if named else uncounted}")
    if idle := sum(run.outcome == NOT_RUN for run in layer.runs):
        parts.append(f"{idle:,} not run")
    return f"of {plural(requested(layer), 'session')} {', '.join(parts)}" if parts else ""


def requested(layer: MonteCarloLayer) -> int:
    """Count all sessions, those that did not take place included."""
    return len(layer.runs) or layer.completed + layer.failed + layer.not_measured


def who(layer: MonteCarloLayer) -> str:
    """Say which model was tested next to how many skills, who graded, and where the prompts come from."""
    grader = "itself" if layer.grader == layer.model else reason(layer.grader or "no one")
    by = " in Claude Code itself" if layer.runner == "agent-sdk" else ""
    places = {"beside": "", "corpus": " of the corpus", "common": " invented for all"}
    where = places.get(layer.siblings_source, f" ({reason(layer.siblings_source)})")
    others = f" next to {plural(layer.siblings, 'other skill')}{where}" if layer.siblings else " alone"
    tested = f"{reason(layer.model or 'no model')} tested{by}{others}"
    return f"{tested}, graded by {grader}; prompts: {reason(layer.prompts_source)}"


# --- measures ---


def label(name: str) -> str:
    """Return the name of a measure for people."""
    return _LABELS.get(name, reason(name.replace("_", " ")))


def measured(name: str, found: Estimate) -> tuple[str, str]:
    """Write a measure and its interval, as in ``80 %`` and ``(66 to 90 %)``; bounds alone where it ended early."""
    scale, digits, unit = _form(name)
    if found.reason and found.ci_low is not None and found.ci_high is not None:  # it ended early: bounds, no estimate
        return "", f"between {scale * found.ci_low:,.{digits}f} and {scale * found.ci_high:,.{digits}f}{unit}"
    written = spread(found.value, found.ci_low, found.ci_high, digits, scale=scale, unit=unit)
    return value(name, found.value), written


def value(name: str, number: float | None) -> str:
    """Write a figure: per cent, whole tokens and ratings, a lift with its sign."""
    if number is None:
        return NONE
    scale, digits, unit = _form(name)
    return signed(number, 2) if name == "lift" else f"{scale * number:,.{digits}f}{unit}"


def _form(name: str) -> tuple[float, int, str]:
    """Return by what a measure is multiplied, how many decimals it has, and its unit."""
    return (100.0, 0, " %") if name in _SHARES else (1.0, 0 if name in _WHOLES else 4 if name == "mc_score" else 2, "")


def is_missing(found: Estimate | None) -> bool:
    """Return whether a measure has neither a value nor bounds."""
    return found is None or (found.value is None and found.ci_low is None)


def not_measured(layer: MonteCarloLayer) -> Iterator[str]:
    """Say which measures are missing, once for each reason; without any session that is a remark already."""
    if layer.stopped_early is not None or not layer.completed + layer.failed:
        return
    missing: dict[str, list[str]] = {}
    for name, found in layer.measures.items():
        if is_missing(found):
            missing.setdefault(found.reason or "", []).append(label(name))
    if layer.mc_score is None and layer.mc_reason:
        known = next((why for why in missing if why and why in layer.mc_reason), layer.mc_reason)
        missing.setdefault(known, []).append("mc_score")
    for why, names in missing.items():
        is_known = bool(why) and why in (layer.reason or "")
        yield f"not measured: {', '.join(names)}{' for that reason' if is_known else f': {reason(why)}'}"


def _measures(layer: MonteCarloLayer) -> Table:
    names = [*_FIRST, *(name for name in layer.measures if name not in _FIRST)]
    rows = [_measure(layer, name) for name in names if not is_missing(layer.measures.get(name))]
    if layer.mc_score is not None:
        at = sum(not is_missing(layer.measures.get(name)) for name in _FIRST)
        rows.insert(at, Row(("mc_score", Cell(), ratio(layer.mc_score), "", "", "")))
    names_of = columns("measure", "~", "#value", "95 % interval", "#sessions", "")
    return Table(names_of, tuple(rows), noun="measure", most=len(_FIRST) + 1)


def _measure(layer: MonteCarloLayer, name: str) -> Row:
    found = layer.measures[name]
    written, interval = measured(name, found)
    percent, low, high = (None if one is None else 100 * one for one in found[:3])
    drawn = None if name in _UNDRAWN or found.reason else charts.rate(percent, low, high, "")
    said = reason(layer.spread[name].label) if name in layer.spread else ""
    return Row((label(name), Cell(chart=drawn), written, interval, count(found.n), said))


def _tokens_in_words(layer: MonteCarloLayer) -> Iterator[str]:
    if layer.tokens is not None:
        yield f"tokens: {tokens(layer.tokens)}"


def tokens(found: TokenSpread) -> str:
    """Say how many tokens the skill adds, as in ``median 5,190, quartiles 4,594 to 5,234, no outlier, n = 44``."""
    beyond = (
        "" if found.outliers is None else f", {plural(found.outliers, 'outlier') if found.outliers else 'no outlier'}"
    )
    return f"median {found.median:,.0f}, quartiles {found.q1:,.0f} to {found.q3:,.0f}{beyond}, n = {found.n:,}"


def wide(layer: MonteCarloLayer) -> str:
    """Say which measures are wide, and why: the style that varies, the prompts that change it; ``""`` for none."""
    found = [_wide(name, spread) for name, spread in layer.spread.items() if spread.label == "wide"]
    return f"wide: {'; '.join(found)}" if found else ""


def _wide(name: str, found: Spread) -> str:
    varies = f"{reason(found.style, _PROMPT)} prompts vary more" if found.style else ""
    named = ", ".join(f"“{reason(prompt, _PROMPT)}”" for prompt in found.prompts[:_NAMED])
    why = ", ".join(filter(None, (varies, f"changed most by {named}" if named else "")))
    return f"{label(name)} ± {found.half_width:.2f}{f' ({why})' if why else ''}"


# --- single sessions ---


def style(run: Simulation) -> str:
    """Name the kind of a session's prompt: its style, or that it is a near miss."""
    return reason(run.style, _PROMPT) if run.should_trigger else "near miss"


def verdict(run: Simulation) -> str:
    """Say how a session ended, as in ``did not load it``."""
    if run.outcome != COMPLETED:
        return f"{reason(run.outcome)}{f' ({reason(run.kind, _PROMPT)})' if run.kind else ''}"
    grade = f", quality {run.quality:.2f}" if run.quality is not None else ""
    none = ", no grade" if not grade and run.ungraded and run.activated else ""
    return f"{'loaded it' if run.activated else 'did not load it'}{grade}{none}"


def is_missed(run: Simulation) -> bool:
    """Return whether a session loaded the skill where it should not, or did not where it should."""
    return run.activated is not None and run.activated != run.should_trigger


def amiss(layer: MonteCarloLayer) -> list[Simulation]:
    """List the sessions that failed, were not measured, missed, or have a low grade."""
    return [run for run in layer.runs if run.outcome in (FAILED, NOT_MEASURED) or is_missed(run) or _is_poor(run)]


def _is_poor(run: Simulation) -> bool:
    return bool(run.activated) and run.quality is not None and run.quality < _LOW


def by_prompt(runs: Sequence[Simulation]) -> list[tuple[Simulation, int]]:
    """Group sessions of the same prompt and outcome, each with its number; in their order."""
    counted = Counter((run.prompt, run.should_trigger, verdict(run)) for run in runs)
    first = {(run.prompt, run.should_trigger, verdict(run)): run for run in reversed(runs)}
    return [(first[key], number) for key, number in counted.items()]


def _runs(found: Sequence[tuple[Simulation, int]], outcome_of: Callable[[Simulation], str], column: str) -> Table:
    rows = tuple(
        Row((style(run), f"{outcome_of(run)}{f' ×{times}' if times > 1 else ''}", reason(run.prompt, _WHOLE)))
        for run, times in found
    )
    return Table(columns("kind", column, "prompt"), rows, noun="prompt", most=200)


def _styles(runs: Sequence[Simulation]) -> Iterator[Table]:
    """Count by style how many sessions loaded the skill; near misses, which should not, come last."""
    found: dict[tuple[bool, str], list[bool]] = {}
    for run in runs:
        if run.outcome in (COMPLETED, FAILED) and run.activated is not None:
            found.setdefault((not run.should_trigger, style(run)), []).append(bool(run.activated))
    rows = []
    for (wrong, name), loaded in sorted(found.items(), key=lambda item: item[0][0]):
        share = sum(loaded) / len(loaded)
        bar = Bar(100 * share, _tone(1 - share if wrong else share))
        should = "should not load it" if wrong else "should load it"
        rows.append(Row((name, Cell(chart=bar), f"{sum(loaded):,} of {len(loaded):,}", should)))
    if rows:
        yield Table(columns("style", "~", "#loaded it", ""), tuple(rows), noun="style")


def _tone(share: float) -> Tone:
    return "good" if share >= 0.8 else "fair" if share >= 0.6 else "poor"


def _grades(runs: Sequence[Simulation]) -> Iterator[Chart]:
    """Count the grades of answers for which the skill was loaded."""
    graded = [run.quality for run in runs if run.outcome == COMPLETED and run.activated and run.quality is not None]
    counted = Counter(min(_GRADES, max(0, round(grade * _GRADES))) for grade in graded)
    if counted:
        bars = [charts.Column(str(it), counted[it], _tone(it / _GRADES)) for it in range(_GRADES + 1)]
        marks = [(100 * (grade + 0.5) / (_GRADES + 1), str(grade)) for grade in range(0, _GRADES + 1, 2)]
        said = "; ".join(f"{grade}: {number}" for grade, number in sorted(counted.items()))
        drawn = charts.columns(bars, marks, height=90)
        yield Chart(drawn, "Answers by grade, from 0 to 10, of sessions that loaded it", f"{said}.")


def _tokens(layer: MonteCarloLayer) -> Iterator[Chart]:
    found = layer.tokens
    values = [run.tokens for run in served(layer) if run.tokens is not None]
    if found is not None and values:
        drawn = charts.box(values, found.q1, found.median, found.q3, outliers=found.outliers is not None)
        yield Chart(drawn, "Tokens that it adds to a session", tokens(found))


def served(layer: MonteCarloLayer) -> list[Simulation]:
    """List the sessions that completed with the skill loaded."""
    return [run for run in layer.runs if run.outcome == COMPLETED and run.activated]


# --- one dimension ---


class _Rests(NamedTuple):
    """What one dimension is computed from: measures, and the sessions to look at."""

    measures: tuple[str, ...]
    title: str
    chosen: Callable[[MonteCarloLayer], list[Simulation]]
    outcome_of: Callable[[Simulation], str] = verdict
    column: str = "outcome"


def _lowest(layer: MonteCarloLayer) -> list[Simulation]:
    graded = [run for run in served(layer) if run.quality is not None]
    return sorted(graded, key=lambda run: run.quality or 0.0)[:_GRADES]


def _largest(layer: MonteCarloLayer) -> list[Simulation]:
    counted = [run for run in served(layer) if run.tokens is not None]
    return sorted(counted, key=lambda run: -(run.tokens or 0))[:_GRADES]


def _uncovered(layer: MonteCarloLayer) -> list[Simulation]:
    return [run for run in layer.runs if run.outcome == COMPLETED and run.should_trigger and run.covers is False]


_RESTS = {
    Dimension.TRIGGERING_ACCURACY: _Rests(
        ("f1", "activation_rate", "false_activation_rate", "precision"),
        "Prompts that missed",
        lambda layer: [run for run in layer.runs if is_missed(run)],
    ),
    Dimension.OUTPUT_QUALITY: _Rests(
        ("quality", "quality_cv"), "The lowest grades", _lowest, lambda run: decimal(run.quality, 2), "grade"
    ),
    Dimension.ORCHESTRATION_FITNESS: _Rests(
        ("orchestration",),
        "Answers that hand the work on",
        lambda layer: [run for run in served(layer) if run.delivers is False],
    ),
    Dimension.SCOPE_CALIBRATION: _Rests(("scope",), "Requests that the answer does not cover", _uncovered),
    Dimension.TOKEN_EFFICIENCY: _Rests(
        ("efficiency", "tokens"),
        "Sessions to which it adds the most tokens",
        _largest,
        lambda run: count(run.tokens),
        "tokens",
    ),
    Dimension.ROBUSTNESS: _Rests(
        ("failure_rate",), "Sessions that failed", lambda layer: [run for run in layer.runs if run.outcome == FAILED]
    ),
}


def explained(layer: MonteCarloLayer, dimension: Dimension) -> tuple[Block, ...]:
    """Build what sessions say of one dimension: its measures, what weakens them, and the sessions to look at."""
    rests = _RESTS.get(dimension)
    if rests is None:
        return (Note("Sessions do not measure this dimension.", "muted"),)
    said = []
    for name in rests.measures:
        if (found := layer.measures.get(name)) is not None:
            why = f" ({reason(found.reason)})" if is_missing(found) else ""
            said.append(f"{label(name)} {' '.join(filter(None, measured(name, found)))}{why}, n = {found.n:,}")
    width = layer.spread.get(rests.measures[0])
    said += [f"{reason(width.label)}: {_wide(rests.measures[0], width)}"] if width else []
    said += [*remarks(layer), lost(layer), who(layer)]
    items = Items(tuple(Item(text) for text in said if text), "remark")
    runs = by_prompt(rests.chosen(layer))
    if not runs:
        return (items, Note(f"{rests.title}: none."))
    table = _runs(runs[:_MOST], rests.outcome_of, rests.column)
    left = (Note(f"{len(runs) - _MOST} more."),) if len(runs) > _MOST else ()
    return (items, Heading(rests.title, 3), table, *left)


# --- two skills ---


def changes(sampled: Sequence[SampledChange]) -> tuple[Block, ...]:
    """Build what sessions, matches and lift measured on two sides: figures that differ first, then what cannot compare.

    A terminal shows only the figures that differ, unless it is asked for everything.
    """
    if not sampled:
        return ()
    rows = tuple(map(_change, sorted(sampled, key=lambda item: not item.change)))
    differing = sum(bool(item.change) for item in sampled)
    names = columns("figure", "#before", "#after", "#change", "#n")
    table, title = Table(names, rows, noun="figure", most=differing or len(rows)), "Sessions, matches and lift"
    blocks: list[Block] = [Heading(title, 3), table] if differing else [Fold(title, (table,), quiet=True)]
    if not differing and any(item.change is not None for item in sampled):
        blocks.append(Note(f"{title}: no change"))
    if said := list(apart(sampled)):
        blocks.append(Items(tuple(map(Item, said)), "reason"))
    return tuple(blocks)


def _change(item: SampledChange) -> Row:
    written = (measured(item.name, side) for side in (item.before, item.after))
    sides = [Cell(number, interval.strip("()")) for number, interval in written]
    both = " → ".join(dict.fromkeys(count(side.n) for side in (item.before, item.after)))
    worse = -(item.change or 0.0) if item.name in _LOWER_IS_BETTER else item.change
    tone = _TONES.get(numbers.direction(worse), "")
    return Row((label(item.name), *sides, Cell(moved(item), tone=tone), "" if both == "0" else both))


def moved(item: SampledChange) -> str:
    """Write a change, of shares in percentage points."""
    if item.change is None:
        return NONE
    scale, digits, _ = _form(item.name)
    amount = abs(scale * item.change)
    more = digits if round(amount, digits) or not amount else digits + 2
    return "=" if not amount else f"{'▲' if item.change > 0 else '▼'} {amount:,.{more}f}"


def apart(sampled: Iterable[SampledChange]) -> Iterator[str]:
    """Say which figures are not compared, once for each reason; all of a group by its name."""
    found: dict[str, list[str]] = {}
    known = list(sampled)
    for item in known:
        if item.reason:
            found.setdefault(item.reason, []).append(item.name)
    for why, names in found.items():
        named: list[str] = []
        for title, group in _GROUPS:
            asked = [item.name for item in known if item.name in group]
            missing = [name for name in asked if name in names]
            named += [title] if missing and missing == asked else map(label, missing)
        text = reason(why, _WHOLE)
        yield f"{', '.join(named)} {text if text.startswith('not measured') else f'not compared: {text}'}"
