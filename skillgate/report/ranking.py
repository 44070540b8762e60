"""What reports show of matches against a corpus, and of the same tasks with the skill and without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.layers import RankingLayer
from skillgate.model.score import Badge
from skillgate.report import charts
from skillgate.report.numbers import NONE, count, decimal, moved, reason, several, signed, spread
from skillgate.report.view import Cell, Chart, Fold, Item, Items, Row, Table, code, columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.layers import Lift, LiftTask, Match, Rating
    from skillgate.model.report import SkillResult
    from skillgate.report.view import Block, Tone

_NAMED = 3  # dimensions, tasks or graders that a sentence names
_NAME = 60  # characters of another skill's or a task's name
_RESULTS = {1.0: "won", 0.5: "drawn", 0.0: "lost"}
_TONES: dict[str, Tone] = {"won": "good", "drawn": "fair", "lost": "poor"}
_PREFERRED = {"with": "with the skill", "without": "without it"}


def ranking_of(result: SkillResult) -> RankingLayer | None:
    """Return a skill's matches, None where no ranking was requested."""
    return next((layer for layer in result.layers if isinstance(layer, RankingLayer)), None)


def ranking_blocks(result: SkillResult) -> tuple[Block, ...]:
    """Build what the matches say of a skill: its ratings, what weakens them, and every match."""
    layer = ranking_of(result)
    if layer is None:
        return ()
    said = [Item(text, tone="fair") for text in doubts(layer)]
    said += [Item(text) for text in (*rated(layer), *filter(None, (elo_condition(result),)))]
    blocks: list[Block] = [Items(tuple(said), "remark"), *_field(layer)]
    if layer.played:
        rows = []
        for match in layer.played:
            word = result_of(match)
            orders = ", ".join(map(reason, match.orders)) or (NONE if match.reason is None else reason(match.reason))
            orders += ", which disagree" if match.position_bias else ""
            cells = (code(reason(match.opponent, 2 * _NAME)), count(match.opponent_rating))
            rows.append(Row((*cells, Cell(word, tone=_TONES.get(word, "muted")), orders)))
        table = Table(columns("opponent", "#rating", "result", "in both orders"), tuple(rows), noun="match", most=200)
        blocks.append(Fold("Every match", (table,), quiet=True))
    return (Fold("Ranking", tuple(blocks), open=True),)


def rated(layer: RankingLayer) -> Iterator[str]:
    """Say how the skill is rated, how sure that is, and what it rests on; or why there is no rating."""
    if layer.elo is None or layer.bradley_terry is None:
        yield f"no Elo: {reason(layer.reason)}"
    ratings = (_rating("Elo", layer.elo, "resampled "), _rating("Bradley–Terry", layer.bradley_terry, ""))
    yield from filter(None, (", ".join(filter(None, ratings)),))
    if layer.matches:
        yield _matches(layer)
    both = (("wins on", layer.won), ("loses on", layer.lost))
    named = [f"{word} {several([name.value for name in names], _NAMED)}" for word, names in both if names]
    yield from filter(None, ("; ".join(named),))


def _rating(name: str, found: Rating | None, how: str) -> str:
    return "" if found is None else f"{name} {found.rating:,.0f} ({how}{found.ci_low:,.0f} to {found.ci_high:,.0f})"


def _matches(layer: RankingLayer) -> str:
    parts = [f"{plural(layer.matches, 'match')}: {tally(layer.played)}"]
    if layer.percentile is not None:
        parts.append(f"win rate {100 * layer.percentile:.0f} %")
    bias = layer.position_bias
    if bias is not None and bias.value is not None:
        written = spread(bias.value, bias.ci_low, bias.ci_high, 0, scale=100, unit=" %")
        parts.append(f"position bias {100 * bias.value:.0f} %{' ' * bool(written)}{written}")
    if layer.nearest:
        parts.append(f"nearest “{reason(layer.nearest, _NAME)}”")
    return "; ".join(parts)


def tally(played: Sequence[Match]) -> str:
    """Count matches by result, as in ``7 won, 3 drawn, 2 lost, 1 not decided``."""
    found = [result_of(match) for match in played]
    order = (*_RESULTS.values(), "not decided")
    return ", ".join(f"{found.count(word)} {word}" for word in order if word in found)


def result_of(match: Match) -> str:
    """Return how a match ended: ``won``, ``drawn``, ``lost`` or ``not decided``."""
    return "not decided" if match.result is None else _RESULTS.get(match.result, f"{match.result:g}")


def doubts(layer: RankingLayer) -> Iterator[str]:
    """Say what a rating alone would hide: that it is provisional, or that the best one is out of reach."""
    if layer.elo is not None and layer.reason:
        yield f"not completely judged: {reason(layer.reason)}"
    if layer.unrated:
        yield f"provisional: {layer.unrated} of its opponents have no rating that matches confirm"
    elif layer.provisional:
        yield "provisional: the interval of Bradley–Terry contains the Elo that the badge requires"
    if layer.hindrance:
        yield reason(layer.hindrance)


def elo_condition(result: SkillResult) -> str:
    """Compare the Elo with the badge's; ``""`` without a ranking, or where the badge's reason says it already."""
    layer, composite = ranking_of(result), result.composite
    if layer is None or composite.score is None:
        return ""
    if composite.elo is None:
        return "without an Elo the badge rests on the composite alone" if composite.badge else ""
    sought = Badge.from_scores(composite.score) or Badge.BRONZE
    if composite.badge is sought:
        return f"{sought.value} requires an Elo of {sought.elo:,.0f}: it has {composite.elo:,.0f}"
    if " Elo " in f" {composite.badge_reason or ''} ":
        return ""
    word = "reached" if composite.elo >= sought.elo else "not reached"
    return f"the Elo of {sought.elo:,.0f} that {sought.value} requires is {word}: {composite.elo:,.0f}"


def _field(layer: RankingLayer) -> Iterator[Chart]:
    decided = [match for match in layer.played if result_of(match) in _TONES]
    if not decided:
        return
    names = list(_TONES)
    dots = [
        (one.opponent_rating, names.index(result_of(one)), f"{reason(one.opponent)} ({one.opponent_rating:,.0f})")
        for one in decided
    ]
    drawn = charts.field(dots, list(_TONES.items()), layer.elo.rating if layer.elo else None)
    by_result = ((word, [one for one in decided if result_of(one) == word]) for word in names)
    said = "; ".join(
        f"{word} against {', '.join(f'{one.opponent_rating:,.0f}' for one in same)}" for word, same in by_result if same
    )
    yield Chart(drawn, "Matches by the opponent's rating", f"{said}.")


# --- lift ---


def lift_blocks(lift: Lift) -> tuple[Block, ...]:
    """Build what is known of what the skill adds, then every task."""
    blocks: list[Block] = [Items(tuple(map(Item, lift_in_words(lift))), "remark")]
    if lift.tasks:
        table = Table(
            columns("task", "#with", "#without", "#change", "preferred", ""),
            tuple(map(_task, lift.tasks)),
            noun="task",
            most=200,
        )
        blocks.append(Fold("Every task", (table,), quiet=True))
    return (Fold("Lift: the same tasks with the skill and without it", tuple(blocks), open=True),)


def _task(task: LiftTask) -> Row:
    arms, change = (("with", task.with_skill), ("without", task.without_skill)), change_of(task)
    why = [f"{word}: {reason(arm.reason)}" for word, arm in arms if arm.score is None and arm.reason]
    tone: Tone = "" if not change else "poor" if change < 0 else "good"
    preferred = NONE if task.preferred is None else _PREFERRED.get(task.preferred, "neither")
    scores = (decimal(arm.score, 2) for _, arm in arms)
    return Row((code(reason(task.id, _NAME)), *scores, Cell(moved(change), tone=tone), preferred, "; ".join(why)))


def lift_in_words(lift: Lift) -> Iterator[str]:
    """Say what the skill adds, how sure that is, which answers are preferred, where it hurts, what was not graded."""
    found = lift.lift
    if found.value is None:
        yield f"no lift: {reason(lift.reason or found.reason)}"
    else:
        ends = () if found.ci_low is None or found.ci_high is None else (found.ci_low, found.ci_high)
        text = f"lift {signed(found.value, 2)}" + (f" ({signed(ends[0], 2)} to {signed(ends[1], 2)})" if ends else "")
        chance = f"p = {lift.p:.3f}" if lift.p is not None else "no p: nothing differs"
        both = f"{decimal(lift.with_skill.value, 2)} with the skill, {decimal(lift.without_skill.value, 2)} without it"
        yield f"{text}, {chance}, over {plural(found.n, 'task')} ({reason(lift.source, _NAME)}): {both}"
    if lift.wins + lift.losses + lift.draws:
        yield f"blind comparison prefers {lift.wins} with the skill, {lift.losses} without it, {lift.draws} neither"
    if harmed := hurts(lift):
        named = [f"“{reason(task.id, _NAME)}” {signed(change, 2)}" for task, change in harmed]
        yield f"it hurts {plural(len(harmed), 'task')}: {several(named, _NAMED)}"
    if found.value is not None and lift.reason:
        yield f"not completely measured: {reason(lift.reason)}"
    if lift.unsupported:
        yield f"unsupported graders: {several([reason(name, _NAME) for name in lift.unsupported], _NAMED)}"


def change_of(task: LiftTask) -> float | None:
    """Return the score with the skill less the one without; None where either was not measured."""
    one, other = task.with_skill.score, task.without_skill.score
    return None if one is None or other is None else one - other


def hurts(lift: Lift) -> list[tuple[LiftTask, float]]:
    """List the tasks that have a lower score with the skill, the worst first."""
    known = [(task, change) for task in lift.tasks if (change := change_of(task)) is not None and change < 0]
    return sorted(known, key=lambda pair: pair[1])
