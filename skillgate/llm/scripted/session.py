"""How a scripted model behaves in a session: which skill it loads, what it reads, and how it ends."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from skillgate.llm.scripted import work
from skillgate.llm.scripted.conversation import READ, SKILL
from skillgate.llm.scripted.material import told_words
from skillgate.llm.scripted.rules import Given
from skillgate.llm.scripted.world import Chance
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.scripted.scene import Scene
    from skillgate.llm.scripted.world import World

LEAST_IN_COMMON = 2  # words
_TICKET = re.compile(r"\bticket (\d{7})\b")


def play(seen: Scene, world: World) -> Given:
    """Give the model's next turn: a call of a tool, a final answer, or one of the ways in which a session fails."""
    down = _outage(Chance(world.seed, seen.moment), world)
    if down is not None and down.status is not None:
        return down
    turn = _turn(seen, world)
    return turn if down is None else turn._replace(cut=True)


def ticket(name: str) -> str:
    """Give the mark by which a prompt that the world writes names its skill to the world, and to nobody else."""
    return f"ticket {int(digest(b'ticket', name.encode('utf-8', 'replace'))[:10], 16) % 10**7:07d}"


def nearest(words: frozenset[str], skills: Mapping[str, frozenset[str]]) -> str | None:
    """Give the skill with most words in common, rare ones first; None where none has enough, the first of equals."""
    spread = Counter(word for known in skills.values() for word in known)
    weighed = {
        name: sum(math.log1p(len(skills) / spread[word]) for word in sorted(words & known))
        for name, known in skills.items()
        if len(words & known) >= LEAST_IN_COMMON
    }
    return max(sorted(weighed), key=lambda name: weighed[name], default=None)


def _outage(chance: Chance, world: World) -> Given | None:
    outages = world.outages
    kind = chance.one_of("outage", {"overloaded": outages.overloaded, "cut": outages.cut})
    if kind is None:
        return None
    if kind == "cut":
        return Given(cut=True)
    return Given(status=529, message="Overloaded: the scripted world says so.", retry_after_s=outages.retry_after_s)


def _turn(seen: Scene, world: World) -> Given:
    chance = Chance(world.seed, seen.opening)
    if SKILL in seen.tools and SKILL not in seen.called:
        wanted = _wanted(seen, world, chance)
        if wanted is not None:
            return Given(tool_use=SKILL, input={"skill": wanted})
    path = _to_read(seen)
    if READ in seen.tools and READ not in seen.called and path is not None and chance.happens("reads", world.reads):
        return Given(tool_use=READ, input={"file_path": path})
    return _ending(seen, world, chance, path)


def _ending(seen: Scene, world: World, chance: Chance, path: str | None) -> Given:
    failed = chance.one_of("failure", world.failures._asdict())
    if failed == "max_turns" and seen.tools:
        return Given(tool_use=READ, input={"file_path": path or "references/more.md"})
    if failed == "refusal":
        return Given(stop_reason="refusal", category="general_harms")
    if failed == "empty":
        return Given(text="")
    answer = work.answer(seen.prompt, chance, world, with_skill=bool(seen.loaded))
    return Given(text=answer, truncate=failed == "truncated")


def _wanted(seen: Scene, world: World, chance: Chance) -> str | None:
    """Give the skill that the model loads, None for none."""
    if world.activation is None:
        return _by_words(seen)
    target = _target(seen, world)
    probability = world.activation.near_miss if world.is_near_miss(seen.prompt) else world.activation.should
    return target if target is not None and chance.happens("activation", probability) else None


def _target(seen: Scene, world: World) -> str | None:
    """Give the skill that the prompt is about, None where there is none on the list."""
    marked = _TICKET.search(seen.prompt)
    owner = next((name for name in seen.skills if marked is not None and ticket(name) == marked[0]), None)
    if owner is not None:
        return owner
    if world.target is not None:
        return world.target if world.target in seen.skills else None
    return _by_words(seen) if marked is None else None


def _by_words(seen: Scene) -> str | None:
    skills = {name: _told(f"{name} {said}") for name, said in seen.skills.items()}
    return nearest(frozenset(told_words(seen.prompt)), skills)


@lru_cache(maxsize=1024)  # the same lists come with every session
def _told(text: str) -> frozenset[str]:
    return frozenset(told_words(text))


def _to_read(seen: Scene) -> str | None:
    found = ((skill.base, skill.reference) for skill in seen.loaded)
    return next((f"{base.rstrip('/')}/{path}" for base, path in found if path is not None), None)
