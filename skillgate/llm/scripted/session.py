"""How a scripted model behaves in a session: which skill it loads, what it reads, and how it ends.

Its final answers say in plain words what is true of them, which a scripted grader reads again.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.scripted.requests import (
    CHARACTERS_PER_TOKEN,
    READ,
    SKILL,
    nearest,
    texts_of,
    tool_names,
    topic_words,
)
from skillgate.llm.scripted.rules import Chance, Scripted
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.llm.scripted.rules import World

OPENING = "Scripted answer, no real work:"
_TICKET = re.compile(r"\bticket (\d{7})\b")
_HEAD = re.compile(r"^The following skills are available\b.*$", re.MULTILINE)
_LISTED = re.compile(r"^- (\S[^\n]*?):(?: ([^\n]*))?$", re.MULTILINE)
_BASE = re.compile(r"^Base directory for this skill: ([^\n]+)$", re.MULTILINE)
_REFERENCE = re.compile(r"references/[\w./-]*\w")
_DELIVERS = {True: "This is the work itself.", False: "The work is left to somebody else."}
_COVERS = {True: "All of the request is covered.", False: "A part of the request is left out."}
_TRUTH = re.compile(
    r"Draft quality ([01]\.\d\d)\. (This is the work itself|The work is left to somebody else)\."
    r" (All of the request is covered|A part of the request is left out)\."
)
_SENTENCES = (
    "First I went through {a} and noted what stands out.",
    "For {a} I kept the order that you gave, with {b} beside it.",
    "The part on {b} is written so that it can be checked against {a}.",
    "Where {a} and {b} disagree, the later one counts, and the other is named.",
    "Nothing was assumed of {b} that the material does not say.",
    "A short summary of {a} follows below, then the details of {b}.",
    "Two points about {b} stay open until somebody confirms {a}.",
)
_PER_PARAGRAPH = 4  # sentences
_FEWEST_WORDS = ("the request", "the material")


class Loaded(NamedTuple):
    """A skill's text as it was put into a session: the directory that it is said to lie in, and the text."""

    base: str
    text: str

    @property
    def reference(self) -> str | None:
        """The first path below ``references/`` that the text names, None where it names none."""
        path = _REFERENCE.search(self.text)
        return None if path is None or ".." in path[0] else path[0]


class Scene(NamedTuple):
    """What a scripted model sees in one request of a session."""

    tools: frozenset[str]
    skills: Mapping[str, str]  # descriptions of those listed, by name
    prompt: str  # what the user wants
    opening: str  # a digest of the model, the list and the prompt: the same for every request of the session
    moment: str  # a digest of all messages so far: another for each of them
    called: tuple[str, ...]  # the tools called so far, in their order
    loaded: tuple[Loaded, ...]


class Truth(NamedTuple):
    """What is true of a final answer: its quality in [0, 1], whether it is the work, whether it covers the request."""

    quality: float
    delivers: bool
    covers: bool


def scene(body: Mapping[str, Any]) -> Scene:
    """Read one request of a session; the body is one that the API takes, and may be anybody's."""
    messages = body["messages"]
    at = next((index for index, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    first, later = messages[:at], messages[at:]
    system = "\n".join(texts_of(body.get("system")))
    before = [text for message in first for text in texts_of(message["content"])]
    user = [text for message in first if message["role"] == "user" for text in texts_of(message["content"])]
    typed = [text for text in user if not _BASE.search(text)]  # a skill's text can come with what the user typed
    rest = [text for message in later for text in texts_of(message["content"])]
    called = tuple(
        str(block.get("name"))
        for message in later
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block["type"] == "tool_use"
    )
    opening = digest(*map(_bytes, (body["model"], system, *before)))
    return Scene(
        tools=frozenset(tool_names(body)),
        skills=_listed(system) or _listed("\n".join(before)),
        prompt=(typed or user or [""])[-1],
        opening=opening,
        moment=digest(opening.encode(), *map(_bytes, rest), *(call.encode() for call in called)),
        called=called,
        loaded=_loaded("\n".join([system, *before, *rest])),
    )


def play(seen: Scene, world: World) -> Scripted:
    """Return the model's next turn: a call of a tool, a final answer, or one of the ways in which a session fails."""
    outages = world.outages
    chances = {"overloaded": outages.overloaded, "cut": outages.cut}
    outage = Chance(world.seed, seen.moment).one_of("outage", chances)
    if outage == "overloaded":
        why = "Overloaded: the scripted world says so."
        return Scripted(status=529, message=why, retry_after_s=outages.retry_after_s)
    turn = _turn(seen, world)
    return turn if outage is None else turn._replace(cut=True)


def ticket(name: str) -> str:
    """Return the mark by which a prompt that the world writes names its skill to the world alone."""
    return f"ticket {int(digest(b'ticket', _bytes(name))[:10], 16) % 10**7:07d}"


def truths(text: str) -> tuple[Truth, ...]:
    """Return what final answers in a text say of themselves, in their order."""
    return tuple(
        Truth(float(match[1]), match[2] == _DELIVERS[True][:-1], match[3] == _COVERS[True][:-1])
        for match in _TRUTH.finditer(text)
    )


def _turn(seen: Scene, world: World) -> Scripted:
    chance = Chance(world.seed, seen.opening)
    if SKILL in seen.tools and SKILL not in seen.called:
        wanted = _wanted(seen, world, chance)
        if wanted is not None:
            return Scripted(tool_use=SKILL, input={"skill": wanted})
    references = ((skill.base, skill.reference) for skill in seen.loaded)
    path = next((f"{base.rstrip('/')}/{name}" for base, name in references if name is not None), None)
    if READ in seen.tools and READ not in seen.called and path is not None and chance.happens("reads", world.reads):
        return Scripted(tool_use=READ, input={"file_path": path})
    failure = chance.one_of("failure", world.failures._asdict())
    if failure == "max_turns" and seen.tools:
        return Scripted(tool_use=READ, input={"file_path": path or "references/more.md"})
    if failure == "refusal":
        return Scripted(stop_reason="refusal", category="general_harms")
    if failure == "empty":
        return Scripted(text="")
    answer = _answer(seen.prompt, chance, world, with_skill=bool(seen.loaded))
    return Scripted(text=answer, truncate=failure == "truncated")


def _wanted(seen: Scene, world: World, chance: Chance) -> str | None:
    """Return the skill that the model loads, None for none."""
    if world.activation is None:
        return _by_words(seen)
    target = _target(seen, world)
    probability = world.activation.near_miss if world.is_near_miss(seen.prompt) else world.activation.should
    return target if target is not None and chance.happens("activation", probability) else None


def _target(seen: Scene, world: World) -> str | None:
    """Return the skill that the prompt is about, None where there is none on the list."""
    marked = _TICKET.search(seen.prompt)
    owner = next((name for name in seen.skills if marked is not None and ticket(name) == marked[0]), None)
    if owner is not None:
        return owner
    if world.target is not None:
        return world.target if world.target in seen.skills else None
    return _by_words(seen) if marked is None else None


def _by_words(seen: Scene) -> str | None:
    skills = {name: _words(f"{name} {text}") for name, text in seen.skills.items()}
    return nearest(frozenset(topic_words(seen.prompt)), skills)


@lru_cache(maxsize=1024)  # the same lists come with every session
def _words(text: str) -> frozenset[str]:
    return frozenset(topic_words(text))


@lru_cache(maxsize=64)
def _listed(text: str) -> Mapping[str, str]:
    """Return the listed skills: below a line that announces them, where there is one; of two of a name the first."""
    head = _HEAD.search(text)  # the first: a description may hold such words too
    skills: dict[str, str] = {}
    for match in _LISTED.finditer(text, head.end() if head else 0):
        skills.setdefault(match[1], match[2] or "")
    return skills


def _loaded(text: str) -> tuple[Loaded, ...]:
    bases = list(_BASE.finditer(text))
    ends = [*(match.start() for match in bases[1:]), len(text)]
    return tuple(Loaded(match[1].strip(), text[match.end() : end]) for match, end in zip(bases, ends, strict=False))


def _answer(prompt: str, chance: Chance, world: World, *, with_skill: bool) -> str:
    """Write a final answer with words of its prompt, as long as the world says, with its truth in the last line."""
    quality = world.quality
    mean = quality.mean if with_skill or quality.without is None else quality.without
    drawn = min(1.0, max(0.0, chance.normal("quality", mean, quality.sd)))
    delivers = _DELIVERS[chance.happens("delivers", world.delivers)]
    truth = f"Draft quality {drawn:.2f}. {delivers} {_COVERS[chance.happens('covers', world.covers)]}"
    most = int(CHARACTERS_PER_TOKEN * round(chance.normal("tokens", world.tokens.answer, world.tokens.sd)))
    room = most - len(OPENING) - len(truth) - 3  # a space and an empty line
    return f"{OPENING} {_prose(prompt, chance, room)}\n\n{truth}"


def _prose(prompt: str, chance: Chance, characters: int) -> str:
    """Write about the words of a prompt: so many characters or a few less, nothing where there is no room."""
    about = (*topic_words(prompt)[:12], *_FEWEST_WORDS)
    at, step = chance.pick("words", len(about)), chance.pick("sentence", len(_SENTENCES))
    parts: list[str] = []
    length = 0
    while length < characters:
        number = len(parts)
        form = _SENTENCES[(step + number) % len(_SENTENCES)]
        sentence = form.format(a=about[(at + number) % len(about)], b=about[(at + 2 * number + 1) % len(about)])
        parts.append(sentence + ("\n\n" if number % _PER_PARAGRAPH == _PER_PARAGRAPH - 1 else " "))
        length += len(parts[-1])
    text = "".join(parts)[: max(0, characters - 1)].rstrip(" \n.")
    return f"{text}." if text else ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
