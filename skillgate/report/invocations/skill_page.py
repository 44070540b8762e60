"""What is promised, tested and observed of one skill, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.report import history
from skillgate.report.findings import bounded
from skillgate.report.invocations.dashboard import details, of_window, stretches, trend_items
from skillgate.report.invocations.groups import TONES, tier_of
from skillgate.report.numbers import NONE, ends, points, share, total
from skillgate.report.view import Figure, Figures, Heading, Item, Items, Note, View, code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill_page import Certified, Correlation, SkillPage
    from skillgate.report.view import Block, Line, Tone

_SPARK = 45  # stretches of its course
_DEPTHS = {"quick": "static score", "standard": "score with a judge", "deep": "score with judge and sessions"}


def view(page: SkillPage) -> View:
    """Build the page."""
    observed = page.observed
    figures = observed.skills[0] if observed.skills else None
    blocks: list[Block] = [Figures(tuple(_tiles(page)))]
    blocks.append(Heading("Promised: what its files score"))
    blocks.append(history.scores(page.promised) if page.promised else Note(_how("score"), "muted"))
    blocks.append(Heading("Tested: what benchmarks and certificates say"))
    blocks.append(history.evaluations(page.tested) if page.tested else Note(_how("eval"), "muted"))
    blocks += [Note(*_certificate(page.certificate))] if page.certificate is not None else []
    blocks.append(Heading(f"Observed: {of_window(observed)}"))
    if figures is None:
        blocks.append(Note("Nothing was recorded of it in this time; that does not mean that it was not used.", "fair"))
    else:
        course, step = stretches((observed.by_skill or {}).get(figures.skill, ()), _SPARK, observed)
        blocks += [Items(tuple(trend_items(observed.trends, {})), "trend")] if observed.trends else []
        blocks += details(figures, observed, course, step)
    blocks.append(Heading("Do scores agree with what is observed?"))
    if page.correlations:
        blocks.append(Items(tuple(map(_correlation, page.correlations)), "correlation"))
        note = "Over all skills of the store: how far scores agree with observations, not why."
        blocks.append(Note(note, "muted"))
    else:
        blocks.append(Note("The store holds no scores to compare with.", "muted"))
    about: tuple[tuple[str, Line], ...] = (
        ("Rubric", observed.rubric_version),
        ("Correlation", "Spearman's, with the interval of Bonett and Wright"),
        ("Trend", "corrected for the number of skills in the store"),
        ("Store", page.store),
        ("Program", f"{page.tool.name} {page.tool.version}"),
    )
    return View((code(page.skill), *_title(page)), notes=page.notices, blocks=tuple(blocks), about=about)


def one_line(page: SkillPage) -> str:
    """Write what is promised, tested and observed in one line."""
    return ", ".join(f"{one.name} {one.value}{f' {one.note}' if one.note else ''}" for one in _tiles(page))


def _title(page: SkillPage) -> tuple[str]:
    return (f": {one_line(page)}",)


def _tiles(page: SkillPage) -> Iterator[Figure]:
    score = page.promised[0] if page.promised else None
    yield Figure("promised", points(score.composite) if score else NONE, (score.badge or "") if score else "")
    run = page.tested[0] if page.tested else None
    yield Figure("tested", share(run.completion_rate) if run else NONE, bounded(run.benchmark_id, 60) if run else "")
    figures = page.observed.skills[0] if page.observed.skills else None
    tier = tier_of(figures.avg_score) if figures else None
    note = f"{tier.value}, n {figures.invocation_count:,}" if figures and tier else ""
    yield Figure("observed", total(figures.avg_score if figures else None), note, TONES[tier] if tier else "")


def _how(command: str) -> str:
    source = "skillgate history import REPORT.json" if command == "score" else "skillgate eval"
    return f"Nothing is in the store; {source} puts it there."


def _certificate(found: Certified) -> tuple[str, Tone]:
    badge = found.badge or "no badge"
    if not found.certified:
        return f"The certificate of {found.issued[:10]} does not vouch for it: {found.reason or 'no reason'}", "fair"
    until = f"{'expired on' if found.expired else 'until'} {found.expires[:10]}"
    return f"Certified {badge} on {found.issued[:10]}, {until}.", "fair" if found.expired else "good"


def _correlation(found: Correlation) -> Item:
    what = _DEPTHS.get(found.depth, f"score at depth {bounded(found.depth, 40)}")
    if found.rho is None:
        return Item(f"{what}: not known: {found.reason}", NONE, "muted")
    limits = ends(found.low, found.high, 2).replace("-", "−").replace("–", " to ")
    tone: Tone = "good" if (found.low or 0) > 0 else "poor" if (found.high or 0) < 0 else "muted"
    sure = "" if tone != "muted" else "; this may be no correlation at all"
    return Item(f"{what}: 95 % {limits}, over {found.n:,} skills{sure}", f"ρ {found.rho:.2f}".replace("-", "−"), tone)
