"""Skills, a corpus and a judge of a few lines for the tests of matches.

The judge reads nothing but the body of a request: the strength that a skill's own text names stands for its quality.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skillgate.judge.subject import Opinion
from skillgate.model.score import Dimension
from skillgate.ranking.corpus import Entrant, Member, Text
from skillgate.ranking.layer import Arena
from tests.judge.doubles import MODEL, Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillgate.model.exchange import Request

ARENA = Arena(Opinion(MODEL))
STRENGTH = re.compile(r"Strength (-?\d+)\.")


def entrant(name: str = "merge-sheets", strength: int = 0, more: str = "", **changes: Any) -> Entrant:
    text = f"---\nname: {name}\ndescription: Does {name}.\n---\n# {name}\n\nStrength {strength}.\n{more}"
    made = Entrant(name, f"digest-of-{name}", "workflow", 100, (Text("SKILL.md", text),))
    return made._replace(**changes)


def member(name: str, **changes: Any) -> Member:
    made = Member(name, f"digest-of-{name}", f"skills/{name}", "workflow", 100, matches=20)
    return made._replace(**changes)


@dataclass
class Shelf:
    """A corpus in memory."""

    members: tuple[Member, ...] = ()
    texts: Mapping[str, Entrant] = field(default_factory=dict)
    digest: str = "corpus-1"

    def entrant(self, member: Member) -> Entrant | None:
        return self.texts.get(member.digest)


def shelf(strengths: Mapping[str, int], **rated: float) -> Shelf:
    """Make a corpus of skills by their strengths; ratings are 1500 unless told."""
    names = [name.replace("_", "-") for name in strengths]
    ratings = {name.replace("_", "-"): rating for name, rating in rated.items()}
    return Shelf(
        tuple(member(name, rating=ratings.get(name, 1500.0)) for name in names),
        {
            f"digest-of-{name}": entrant(name, strength)
            for name, strength in zip(names, strengths.values(), strict=True)
        },
    )


def places(request: Request) -> tuple[str, str]:
    """Give the two texts that a request shows, in their order."""
    first, second, _ = (str(block["text"]) for block in request.body["messages"][0]["content"])
    return first, second


def verdict(better: str, *, control: int = 0, **dimensions: str) -> dict[str, Any]:
    """Answer as a judge who finds all dimensions equal but those that are named."""
    return {
        "dimensions": {
            dimension.value: {
                "first": ["a line"],
                "second": [],
                "reasoning": f"{dimension.value} is so.",
                "better": dimensions.get(dimension.value, "equal"),
            }
            for dimension in Dimension
        },
        "overall": {"reasoning": "All in all it is so.", "better": better},
        "control": {"score": control},
    }


def by_strength(request: Request) -> dict[str, Any]:
    one, two = (int(found[1]) if (found := STRENGTH.search(text)) else 0 for text in places(request))
    better = "equal" if one == two else "first" if one > two else "second"
    return verdict(better, robustness=better, output_quality=better)


def honest() -> Judge:
    return Judge({"match": by_strength})


def saying(says: Callable[[Request], object]) -> Judge:
    return Judge({"match": says})


def whole(request: Request) -> str:
    return json.dumps(request.body, ensure_ascii=False)
