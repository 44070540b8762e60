"""For each skill that is too short for its kind, the skill that describes nearly the same: one to merge it with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.assessment import Assessment

SIMILAR = 0.6  # of a description's own BM25 score: nearer than that, two skills say nearly the same


def nearest(judged: Sequence[tuple[str, Assessment]]) -> dict[str, str]:
    """Give the nearest neighbour's shown path by shown path, for those that are short and have one."""
    short = [path for path, facts in judged if facts.short]
    if len(judged) < 2 or not short:
        return {}
    from skillgate.skill.similarity import Index  # one skill alone has no neighbours and does not pay for it

    texts = {path: f"{facts.listing.name} {facts.listing.description}" for path, facts in judged}
    index = Index(tuple(texts.items()))
    found = {}
    for key in short:
        matches = index.rank(texts[key], limit=2)
        own = next((match.score for match in matches if match.key == key), 0.0)
        other = next((match for match in matches if match.key != key), None)
        if other is not None and own and other.score >= SIMILAR * own:
            found[key] = other.key
    return found
