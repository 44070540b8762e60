"""Which badge a skill earns, and what held the next one back."""

from __future__ import annotations

from skillgate.model.score import Badge


def award(score: float | None, elo: float | None, *, withheld: str | None) -> tuple[Badge | None, str | None]:
    """Give the badge and the reason why it is not a better one.

    Args:
        score: the composite, 0–100, or None.
        elo: a rating, None where none was computed.
        withheld: why there can be no badge whatever the score, else None.

    Returns:
        The badge, or None; and the condition that held the next badge back, None for Platinum.
    """
    if withheld is not None:
        return None, f"no badge: {withheld}"
    earned = Badge.from_scores(score, elo)
    better = [badge for badge in Badge if earned is None or badge.composite > earned.composite]
    if not better or score is None:
        return earned, None
    following = better[-1]
    if score < following.composite:
        return earned, f"{following.value} needs {following.composite - score:.2f} more points"
    return earned, f"{following.value} needs an Elo of {following.elo:g}, and has {elo:g}"
