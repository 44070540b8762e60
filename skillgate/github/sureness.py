"""How sure a comment's numbers are: what they rest on, what intervals are wide by, which drops may be chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.github.fit import Section
from skillgate.github.links import shown_path
from skillgate.model.judging import JudgeLayer
from skillgate.model.score import Depth
from skillgate.model.simulating import MonteCarloLayer
from skillgate.report.findings import bounded
from skillgate.report.judge_compared import first_hint
from skillgate.report.judge_doubt import drop_in_words, inconclusive, wide_by
from skillgate.report.judge_markdown import how_sure as judge_sureness
from skillgate.report.judge_text import missed_prompts
from skillgate.report.judge_words import answers_warning, breadth, judge_of, missed_in_words, remarks, sure
from skillgate.report.markdown import code, inert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.github.subject import Subject
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.run import ActionRun
    from skillgate.report.standing import Row

_TEXT = 400  # characters of a sentence that holds something of the change
_MOST = 5  # hints, skills, or reasons of each kind
_PROMPTS = 2  # trigger prompts that are named
_DROPS = 20  # skills whose drops may be chance


def how_sure(subject: Subject, rows: Sequence[Row]) -> Section:
    """Say what the numbers rest on, folded away."""
    report = subject.report
    if report is None or not any(row.listed for row in rows):
        return Section("how sure this is")
    lines = ["- Static scores are exact: the same files give the same numbers."]
    if report.depth is Depth.QUICK and report.coverage is not None:
        share = f"{100 * report.coverage:.0f} %"
        lines.append(f"- The quick depth measures {share} of the weight: no judge and no simulation was run.")
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
    """List what differences may come from; that answers are no model's is said at the top already."""
    if subject.diff is None:
        return ()
    return first_hint(subject.diff)[1] if answers_warning(report.results) else subject.diff.hints


def _sampled(report: Report, worst: Sequence[SkillResult]) -> Iterator[str]:
    layers = [layer for result in report.results for layer in result.layers]
    if any(isinstance(layer, JudgeLayer) for layer in layers):
        yield from (f"- {inert(bounded(line, _TEXT))}" for line in judge_sureness(report))
        fell = [result for result in worst if inconclusive(result)]
        for result in fell[:_DROPS]:
            yield f"- {code(shown_path(result.skill.path))} {inert(bounded(inconclusive(result), _TEXT))}"
        if len(fell) > _DROPS:
            yield f"- {len(fell) - _DROPS:,} more drops that are inconclusive"
        for result in worst[:_MOST]:
            yield from (f"- {code(shown_path(result.skill.path))} {line}" for line in _of_one(result))
    if any(isinstance(layer, MonteCarloLayer) for layer in layers):
        runs = sum(layer.completed + layer.failed for layer in layers if isinstance(layer, MonteCarloLayer))
        yield f"- Simulations: {runs:,} runs were measured."


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
        beside = missed if wide_by(result) else f"{missed} ({named})"  # then they stand there
        yield f"{composite.score:.2f} {written}" + (inert(f"; {beside}") if missed else "")
    yield from (inert(told) for told in (wide_by(result), drop_in_words(result.drop)) if told)
    yield from (inert(bounded(remark, _TEXT)) for remark in remarks(layer))


def _suppressed(subject: Subject) -> str:
    counts = subject.report.summary.suppressed if subject.report else {}
    return ", ".join(f"{count:,} by {inert(bounded(by, 40))}" for by, count in sorted(counts.items())[:_MOST])
