"""Score the share of keywords in the answer, keys included; all must be there to pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import OUTPUT, searched
from skillgate.bench.scorers import fold, scorer, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.bench.ports import Rules, Scored
    from skillgate.model.benchmark import Expected

POSITION = 2
NEEDS = ("expectedOutput.keywords",)
NO_BLANK_ITEMS = True


def check(expected: Expected) -> Iterator[str]:
    """Yield empty keywords."""
    for index, word in enumerate(expected.keywords):
        if not word.strip():
            yield f"expectedOutput.keywords[{index}]: an empty keyword is in every answer"


@scorer(scope=OUTPUT)
def contains(found: Any, rules: Rules) -> Scored:  # noqa: ANN401 - JSON
    """Score the share of keywords found."""
    text = fold(searched(found, rules.evaluator.scope or OUTPUT), rules, sensitive=False)
    keywords = rules.expected.keywords
    missed = [word for word in keywords if fold(word, rules, sensitive=False) not in text]
    return share(missed, len(keywords), "keywords; missing")
