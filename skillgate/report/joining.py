"""Joins the reports of shards into the one that a run over all skills would have given.

Every shard assesses all skills statically and asks models about its own. What each says of its own skills is taken as
it is; what is said of all of them together is computed again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.model.layers import JudgeLayer, Resumed, Usage
from skillgate.model.report import Report, SkillResult, StaticLayer, Verdict
from skillgate.model.score import Outcome
from skillgate.model.skill import dealt
from skillgate.scoring.composite import summarise
from skillgate.scoring.gate import Policy, judge, sampled_layers, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skillgate.model.finding import AcrossChange, Finding
    from skillgate.model.layers import Agreement, Trust

    Agree = Callable[[Sequence[JudgeLayer], int], Agreement]
    Calibrate = Callable[[Trust, Sequence[JudgeLayer]], Trust]

_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")
_NOT_REQUESTED = "it is not asked about"  # how the pipeline ends the reason of a skill that it only shows
_SEVERITIES = ("error", "warning")  # the gates that a skill may fail which is not asked about


class Part(NamedTuple):
    """One shard's report, and the file it was read from as people gave it."""

    name: str
    report: Report


class Joined(NamedTuple):
    """The joined report, and the paths of the skills in it that were not asked about, only shown with others."""

    report: Report
    extras: frozenset[str]


def join(parts: Sequence[Part], *, agree: Agree, calibrate: Calibrate) -> Joined:
    """Join all shards of one run.

    Args:
        parts: in any order.
        agree: pools what several judges gave, over the layers of all skills in their order.
        calibrate: gives the share of acceptable ratings over all of them, with what is known of the judge.

    Raises:
        UsageError: they are not all the shards of one run, each once; it names what differs.
    """
    ordered = _in_order(parts)
    _require_alike(ordered)
    results, extras = _results(ordered)
    layers = [layer for result in results for layer in result.layers if isinstance(layer, JudgeLayer)]
    first = ordered[0].report
    agreement = None if first.agreement is None else agree(layers, first.agreement.judges)
    if agreement is not None:
        results = tuple(_agreeing(result, agreement) for result in results)
    reports = [part.report for part in ordered]
    joined = first._replace(
        results=results,
        coverage=min((result.coverage for result in results if result.composite.score is not None), default=None),
        summary=summarise(results, found=first.summary.found),
        across=_across(first.across, results),
        outside=_once(finding for report in reports for finding in report.outside),
        usage=_added(report.usage for report in reports),
        agreement=agreement,
        calibration=None if first.calibration is None else calibrate(first.calibration, layers),
        resumed=_resumed([report.resumed for report in reports if report.resumed is not None]),
        shard=None,
    )
    return Joined(decided(joined), extras)


def decided(report: Report) -> Report:
    """Return a report with one verdict of its skills together, and of what belongs to none of them."""
    outside = report.gate.outcomes
    verdicts = [result.gate for result in report.results]
    if outside:
        verdicts.append(Verdict(all(outcome.verdict.value == "pass" for outcome in outside), outside))
    passed = together(verdicts)
    if passed and not all(result.evaluated for result in report.results):
        passed = None
    return report._replace(gate=Verdict(passed, outside))


def _in_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Sort parts by their number.

    Raises:
        UsageError: one is no shard, or of another number of them, or is missing or there twice.
    """
    placed: dict[int, Part] = {}
    total = 0
    for part in parts:
        found = _SHARD.fullmatch(part.report.shard or "")
        if found is None:
            raise UsageError(f"{part.name} is no shard: write one with: skillgate certify PATH --shard 1/4 …")
        number, of = int(found[1]), int(found[2])
        if total not in (0, of):
            raise UsageError(f"{part.name} is one of {of} shards, {parts[0].name} one of {total}")
        if number in placed:
            raise UsageError(f"{placed[number].name} and {part.name} are both shard {number}/{of}")
        placed[number], total = part, of
    missing = [f"{number}/{total}" for number in range(1, total + 1) if number not in placed]
    if missing or not placed:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise UsageError(f"shards are missing: {', '.join(missing[:5]) or 'all'}{more}")
    return tuple(placed[number] for number in sorted(placed))


def _require_alike(parts: Sequence[Part]) -> None:
    """Refuse shards of different runs.

    Raises:
        UsageError: naming all that differs.
    """
    first, problems = parts[0], []
    for part in parts[1:]:
        for what, one, other in zip(_WHAT, _identity(first.report), _identity(part.report), strict=True):
            if one != other:
                problems.append(f"{first.name} and {part.name} differ in {what}{_shown(one, other)}")
    for word, said in (("providers", _said_providers), ("question versions", _said_versions)):
        values = {part.name: found for part in parts if (found := said(part.report))}
        if len(set().union(*values.values())) > 1:
            problems.append(
                f"the answers are of different {word}: {'; '.join(f'{n}: {_list(v)}' for n, v in values.items())}"
            )
    if problems:
        raise UsageError("\n".join((*problems[:10], "only the shards of one run can be joined")))


_WHAT = (
    *("the version of skillgate", "the scoring version", "the configuration", "the depth", "the models"),
    *("the profile", "how many skills there are", "what the skills take of clients' lists", "having a baseline"),
    *("having several judges", "having a calibration"),
)


def _identity(report: Report) -> tuple[object, ...]:
    """Give what all shards of a run have in common, in the order of ``_WHAT``."""
    known = None if report.calibration is None else report.calibration._replace(acceptable=None)  # type: ignore[arg-type]
    judges = None if report.agreement is None else report.agreement.judges
    compared = report.across is not None
    return (
        *(report.tool.version, report.scoring_version, report.config_digest, report.depth.value, report.models),
        *(report.profile, report.summary.found, report.listing, compared, judges, known),
    )


def _shown(one: object, other: object) -> str:
    short = isinstance(one, str | int | float) and isinstance(other, str | int | float)
    return f" ({one}, {other})" if short and not isinstance(one, bool) else ""


def _said_providers(report: Report) -> frozenset[str]:
    return frozenset(layer.provider for result in report.results for layer in sampled_layers(result))


def _said_versions(report: Report) -> frozenset[str]:
    layers = [layer for result in report.results for layer in result.layers if isinstance(layer, JudgeLayer)]
    return frozenset(f"{layer.prompt_version} {layer.rubric_version}" for layer in layers if layer.prompt_version)


def _list(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))


def _results(parts: Sequence[Part]) -> tuple[tuple[SkillResult, ...], frozenset[str]]:
    """Give each skill's result by the shard that asked about it, in the order in which skills are found.

    Raises:
        UsageError: two shards asked about one skill, or none did that should have.
    """
    held: dict[str, list[tuple[Part, SkillResult]]] = {}
    for part in parts:
        for result in part.report.results:
            held.setdefault(result.skill.path, []).append((part, result))
    owners = _owners(parts, held.keys())
    results, extras = [], set()
    for path in sorted(held, key=_parts):
        if owners is not None:
            requested = [one for one in held[path] if one[0] is owners[path]]
            if not requested:
                raise UsageError(f"{owners[path].name} says nothing of {path}: these are not shards of the same skills")
        else:
            requested = [one for one in held[path] if _is_requested(one[1])]
        if len(requested) > 1:
            raise UsageError(f"{requested[0][0].name} and {requested[1][0].name} both asked about {path}")
        if requested:
            results.append(requested[0][1])
        else:
            results.append(_shared([result for _, result in held[path]]))
            extras.add(path)
    return tuple(results), frozenset(extras)


def _owners(parts: Sequence[Part], paths: Iterable[str]) -> dict[str, Part] | None:
    """Give the shard of each skill, where all skills were asked about; None where only some were."""
    known = list(paths)
    if len(known) != parts[0].report.summary.found:
        return None
    return {path: parts[dealt(path, len(parts)) - 1] for path in known}


def _parts(path: str) -> tuple[str, ...]:
    """Give the parts of a path as ``PurePosixPath`` has them, by which skills are sorted."""
    root = ("/",) if path.startswith("/") else ()
    return (*root, *(part for part in path.split("/") if part not in ("", ".")))


def _is_requested(result: SkillResult) -> bool:
    """Return whether a skill was requested; else it is only shown, as it shares a finding with a requested one."""
    deeper = any(not isinstance(layer, StaticLayer) for layer in result.layers)
    return deeper or not result.evaluated or not (result.composite.reason or "").endswith(_NOT_REQUESTED)


def _shared(results: Sequence[SkillResult]) -> SkillResult:
    """Join what several shards show of a skill that none asked about: what it shares with any skill of theirs."""
    findings = _once(finding for result in results for finding in result.findings)
    ranked = tuple(sorted(findings, key=lambda one: (one.severity.rank, str(one.path), one.line, one.column, one.id)))
    suppressed = tuple(dict.fromkeys(item for result in results for item in result.suppressed))
    whole = results[0]._replace(findings=ranked, suppressed=suppressed)
    gates = frozenset(outcome.gate for outcome in whole.gate.outcomes if outcome.gate in _SEVERITIES)
    fresh = judge(whole, Policy(fail_on=gates))
    others = tuple(outcome for outcome in whole.gate.outcomes if outcome.gate not in {*_SEVERITIES, "new-error"})
    new = [outcome for one in results for outcome in one.gate.outcomes if outcome.gate == "new-error"]
    new = sorted(new, key=lambda outcome: outcome.verdict is Outcome.PASS)[:1]  # one that fails, if any does
    passed = False if any(outcome.verdict is not Outcome.PASS for outcome in new) else fresh.passed
    return whole._replace(gate=Verdict(passed, (*new, *fresh.outcomes, *others)))


def _once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(findings))


def _agreeing(result: SkillResult, agreement: Agreement) -> SkillResult:
    """Put the agreement of the run into the judge's layer."""
    layers = tuple(
        layer._replace(
            agreement=agreement,
            kappa=agreement.kappa,
            kappa_reason=agreement.kappa_reason,
            kappa_trigger=agreement.kappa_trigger,
        )
        if isinstance(layer, JudgeLayer)
        else layer
        for layer in result.layers
    )
    return result._replace(layers=layers)


def _across(change: AcrossChange | None, results: Iterable[SkillResult]) -> AcrossChange | None:
    """Leave out of what came between skills what any of them sets aside: each shard knows that of its own alone."""
    if change is None:
        return None
    suppressed = {item.finding for result in results for item in result.suppressed}
    return change._replace(new=tuple(finding for finding in change.new if finding not in suppressed))


def _added(usages: Iterable[Usage]) -> Usage:
    """Add up what the shards asked for; the cost of all is unknown where that of one is."""
    found = tuple(usages)
    sums = {name: sum(getattr(usage, name) for usage in found) for name in _COUNTS}
    costs = [usage.cost_usd for usage in found if usage.cost_usd is not None]
    whole = round(sum(costs, 0.0), 6) if len(costs) == len(found) else None
    why = next((usage.cost_reason for usage in found if usage.cost_reason), None)
    return Usage(**sums, cost_usd=whole, cost_reason=why)


_COUNTS = tuple(name for name in Usage._fields if not name.startswith("cost"))


def _resumed(found: Sequence[Resumed]) -> Resumed | None:
    if not found:
        return None
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    whole = round(sum(costs, 0.0), 6) if len(costs) == len(found) else None
    return Resumed(sum(one.answers for one in found), sum(one.repeated for one in found), whole)
