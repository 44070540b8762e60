"""What a badge says of a skill or of a catalogue, and the JSON that shields.io draws one from."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural, printable
from skillgate.model.score import Badge
from skillgate.registry import PROVIDERS
from skillgate.scoring.gate import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.report import Report, SkillResult

_COLOURS = {Badge.PLATINUM: "#4f6d7a", Badge.GOLD: "#8a6500", Badge.SILVER: "#5f6670", Badge.BRONZE: "#8c4f20"}
NO_BADGE, NOT_MEASURED = "#6e6e6e", "#9a9a9a"
"""Two distinct greys; white text on the badges' colours and on the darker one has a contrast of at least 4.5 : 1 (WCAG
2.1), and dark text on the lighter one."""
_LONGEST = 40  # characters of a name


class Shield(NamedTuple):
    """A badge: what it is about, what it says, its colour as ``#rrggbb``, and a sentence for who cannot see it."""

    label: str
    message: str
    color: str
    title: str


def of_skill(result: SkillResult, report: Report) -> Shield:
    """Say what a skill earned: its badge and score, or why there is none."""
    name = _short(printable(result.skill.name).strip() or "skill")
    message, color = _earned(result, report)
    return Shield(name, message + _estimate((result,)), color, f"{name}: {message} ({_basis((result,), report)})")


def of_catalogue(report: Report) -> Shield:
    """Say how many skills have which badge; the colour is that of the least one."""
    unearned = _unearned(report.results, report)
    count = len(report.results)
    label = f"{plural(count, 'skill')}"
    if unearned is not None or not count:
        message, color = unearned or "not measured", NOT_MEASURED
        return Shield(label, message, color, f"{label}: {message}")
    kinds = Counter(_kind(result) for result in report.results)
    order = (*(badge.value for badge in Badge), "no badge", "not measured")
    errors = sum(result.errors for result in report.results)
    parts = [f"{kinds[kind]} {kind}" for kind in order if kinds[kind]]
    message = ", ".join([*parts, f"{plural(errors, 'error')}"] if errors else parts)
    least = max(kinds, key=order.index)
    colors = {badge.value: _COLOURS[badge] for badge in Badge} | {"no badge": NO_BADGE, "not measured": NOT_MEASURED}
    title = f"{label}: {message} ({_basis(report.results, report)})"
    return Shield(label, message + _estimate(report.results), colors[least], title)


def endpoint(shield: Shield) -> str:
    """Write the JSON of shields.io's endpoint badge, schema version 1."""
    values = {
        "schemaVersion": 1,
        "label": shield.label,
        "message": shield.message,
        "color": shield.color.removeprefix("#"),
        "isError": shield.color == NOT_MEASURED,
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def _is_estimate(results: Iterable[SkillResult]) -> bool:
    """Return whether a score rests on the files alone: no judge and no session took part."""
    return any(result.composite.score is not None and not any(sampled_layers(result)) for result in results)


def _estimate(results: Iterable[SkillResult]) -> str:
    return " (estimate)" if _is_estimate(results) else ""


def _basis(results: Iterable[SkillResult], report: Report) -> str:
    depth = f"{report.depth.value} depth of skillgate"
    return f"estimated from the files alone, {depth}" if _is_estimate(results) else depth


def _earned(result: SkillResult, report: Report) -> tuple[str, str]:
    composite = result.composite
    unearned = _unearned((result,), report)
    if unearned is not None:
        return unearned, NOT_MEASURED
    if composite.score is None:
        return "not measured", NOT_MEASURED
    if composite.badge is None:
        return f"no badge {composite.score:.2f}", NO_BADGE
    errors = f", {plural(result.errors, 'error')}" if result.errors else ""
    return f"{composite.badge.value} {composite.score:.2f}{errors}", _COLOURS[composite.badge]


def _unearned(results: Iterable[SkillResult], report: Report) -> str | None:
    """Say why a run earns no badge whatever its numbers: made-up or recorded answers, or a part of a run."""
    made_up = sorted({layer.provider for one in results for layer in sampled_layers(one) if not layer.live})
    if made_up:
        named = [PROVIDERS.text(provider, "MADE_UP") if provider in PROVIDERS else "" for provider in made_up]
        return " and ".join(word or "scripted" for word in named)
    return None if report.shard is None else f"part {report.shard} of a run"


def _kind(result: SkillResult) -> str:
    composite = result.composite
    if composite.score is None:
        return "not measured"
    return composite.badge.value if composite.badge else "no badge"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
