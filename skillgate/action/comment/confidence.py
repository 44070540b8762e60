"""How sure a comment's numbers are: what they rest on, what intervals are wide by, which drops may be chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.fit import Section
from skillgate.action.comment.links import shown_path
from skillgate.model.layers import JudgeLayer, MonteCarloLayer
from skillgate.model.score import Depth, Outcome
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.judge_compared import first_hint
from skillgate.report.judge_doubt import drop_in_words, in_words, inconclusive, wide_by
from skillgate.report.judge_markdown import how_sure as judge_sureness
from skillgate.report.judge_text import missed_prompts
from skillgate.report.judge_words import answers_warning, breadth, judge_of, missed_in_words, remarks, sure
from skillgate.report.ranking_words import doubts, ranking_of
from skillgate.report.resumed_words import part_of
from skillgate.report.simulated_words import lost, run_in_words, sessions_of, wide
from skillgate.report.simulated_words import remarks as simulated_remarks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.documents import ActionRun
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.standing import Row

_TEXT = 400  # characters of a sentence that holds something of the change
_MOST = 5  # hints, skills, or reasons of each kind
_PROMPTS = 2  # trigger prompts that are named
_DROPS = 20  # skills whose drops may be chance


def confidence(subject: Subject, rows: Sequence[Row]) -> Section:
    """Say what the numbers rest on, folded away."""
    report = subject.report
    if report is None or not any(row.listed for row in rows):
        return Section("how sure this is")
    lines = ["- Static scores are exact: the same files give the same numbers."]
    if report.depth is Depth.QUICK and report.coverage is not None:
        share = f"{100 * report.coverage:.0f} %"
        lines.append(f"- The quick depth measures {share} of the weight: no judge and no simulation was run.")
    lines += _by_chance(rows)
    lines += _sampled(report, [row.result for row in rows if row.result is not None])
    lines += [f"- {inert(bounded(hint, _TEXT))}" for hint in _hints(subject, report)[:_MOST]]
    if subject.diff is None:
        lines.append(f"- {_baseline(subject.run)}")
    if report.summary.suppressed:
        lines.append(f"- Set aside and not gated: {_suppressed(subject)}.")
    head = ("", "<details><summary>How sure is this?</summary>", "")
    return Section("how sure this is", head, tuple(lines), ("", "</details>"), rank=7)


def _baseline(run: ActionRun) -> str:
    """Say that there is no baseline, and why."""
    compared = inert(bounded(run.compared, _TEXT))
    return f"No baseline{compared.removeprefix('nothing')}." if compared.startswith("nothing") else "No baseline."


def _hints(subject: Subject, report: Report) -> tuple[str, ...]:
    """List what differences may come from; that no model gave the answers stands at the top already."""
    if subject.diff is None:
        return ()
    return first_hint(subject.diff)[1] if answers_warning(report.results) else subject.diff.hints


def _sampled(report: Report, worst: Sequence[SkillResult]) -> Iterator[str]:
    layers = [layer for result in report.results for layer in result.layers]
    if any(isinstance(layer, JudgeLayer) for layer in layers):
        yield from (f"- {inert(bounded(line, _TEXT))}" for line in judge_sureness(report))
        for result in worst[:_MOST]:
            yield from (f"- {code(shown_path(result.skill.path))} {line}" for line in _of_one(result))
    if any(isinstance(layer, MonteCarloLayer) for layer in layers):
        yield f"- Simulations: {inert('; '.join(run_in_words(report.results)))}."
        for result in worst[:_MOST]:
            yield from (f"- {code(shown_path(result.skill.path))} {line}" for line in _simulated(result))
    if shard := part_of(report):
        yield f"- {inert(bounded(shard, _TEXT))}."


def _by_chance(rows: Sequence[Row]) -> Iterator[str]:
    """List the drops that fail nothing, since they may be chance; what was not compared at all is a hint."""
    fell = [(row.path, text) for row in rows if (text := _fell(row))]
    yield from (f"- {code(shown_path(path))} {inert(bounded(text, _TEXT))}" for path, text in fell[:_DROPS])
    if len(fell) > _DROPS:
        yield f"- {len(fell) - _DROPS:,} more drops that are inconclusive"


def _fell(row: Row) -> str:
    doubt = inconclusive(row.result) if row.result else ""
    outcome = row.change.regression if row.change else None
    passed = outcome is not None and outcome.verdict is Outcome.PASS
    return doubt or (in_words(outcome) if passed else "")


def _of_one(result: SkillResult) -> Iterator[str]:
    """Say what a wide interval comes from, and what else has to be known of how one skill was judged."""
    layer, composite = judge_of(result), result.composite
    wide = breadth(composite.score, composite.ci_low, composite.ci_high, scale=100.0) == "wide"
    if layer is None:
        return
    if wide and composite.score is not None:
        missed = missed_in_words(layer.triggering) if layer.triggering else ""
        named = missed_prompts(layer.triggering, _PROMPTS) if layer.triggering and missed else ""
        written = sure(composite.score, composite.ci_low, composite.ci_high, scale=100.0)
        missing = missed if wide_by(result) else f"{missed} ({named})"  # then they stand there
        yield f"{composite.score:.2f} {written}" + (inert(f"; {missing}") if missed else "")
    yield from (inert(text) for text in (wide_by(result), drop_in_words(result.drop)) if text)
    yield from (inert(bounded(remark, _TEXT)) for remark in remarks(layer))


def _simulated(result: SkillResult) -> Iterator[str]:
    """Say what the sessions and the rating of one skill leave open, each in a sentence."""
    layer, ranking = sessions_of(result), ranking_of(result)
    texts = [*simulated_remarks(layer), wide(layer), lost(layer)] if layer is not None else []
    texts += doubts(ranking) if ranking is not None else ()
    yield from (inert(bounded(text, _TEXT)) for text in texts[:_MOST] if text)


def _suppressed(subject: Subject) -> str:
    counts = subject.report.summary.suppressed if subject.report else {}
    return ", ".join(f"{count:,} by {inert(bounded(by, 40))}" for by, count in sorted(counts.items())[:_MOST])
