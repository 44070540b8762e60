"""What a scripted model sees of a session: the skills on its list, what the user wants, what was loaded and read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.llm.scripted.conversation import texts_of, tool_names
from skillgate.model.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEAD = re.compile(r"^The following skills are available\b.*$", re.MULTILINE)
_LISTED = re.compile(r"^- (\S[^\n]*?):(?: ([^\n]*))?$", re.MULTILINE)
_BASE = re.compile(r"^Base directory for this skill: ([^\n]+)$", re.MULTILINE)
_REFERENCE = re.compile(r"references/[\w./-]*\w")


class Loaded(NamedTuple):
    """A skill's text as a session was given it: the directory that it is said to lie in, and the text."""

    base: str
    text: str

    @property
    def reference(self) -> str | None:
        """The first path below ``references/`` that the text names, None where it names none."""
        found = _REFERENCE.search(self.text)
        return None if found is None or ".." in found[0] else found[0]


class Scene(NamedTuple):
    """One request of a session.

    Attributes:
        tools: names of those offered.
        skills: descriptions of those listed, by name.
        prompt: what the user wants.
        opening: a digest of the model, the list and the prompt: the same for every request of the session.
        moment: a digest of all that was said so far: another for each of them.
        called: the tools called so far, in their order.
        loaded: the skills whose text was shown.
    """

    tools: frozenset[str]
    skills: Mapping[str, str]
    prompt: str
    opening: str
    moment: str
    called: tuple[str, ...]
    loaded: tuple[Loaded, ...]


def scene(body: Mapping[str, Any]) -> Scene:
    """Read one request of a session; the body is one that the API takes, and may be anybody's."""
    first, later = _split(body["messages"])
    system = "\n".join(texts_of(body.get("system")))
    said = [text for message in first for text in texts_of(message["content"])]
    asked = [text for message in first if message["role"] == "user" for text in texts_of(message["content"])]
    typed = [text for text in asked if not _BASE.search(text)]  # a skill's text can stand beside what the user typed
    prompt = (typed or asked or [""])[-1]
    rest = [text for message in later for text in texts_of(message["content"])]
    opening = digest(*map(_bytes, (body["model"], system, *said)))
    return Scene(
        tools=frozenset(tool_names(body)),
        skills=_listed(system) or _listed("\n".join(said)),
        prompt=prompt,
        opening=opening,
        moment=digest(opening.encode(), *map(_bytes, rest), *(call.encode() for call in _called(later))),
        called=tuple(_called(later)),
        loaded=_loaded("\n".join([system, *said, *rest])),
    )


def _split(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """Part what was said before the first reply from what came after."""
    at = next((index for index, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    return messages[:at], messages[at:]


def _called(messages: list[Any]) -> Iterator[str]:
    for message in messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                yield str(block.get("name"))


@lru_cache(maxsize=64)
def _listed(text: str) -> Mapping[str, str]:
    """Find the listed skills: below a line that announces them, where there is one; of two of a name the first."""
    head = _HEAD.search(text)  # the first: a description may hold such words too
    found: dict[str, str] = {}
    for match in _LISTED.finditer(text, head.end() if head else 0):
        found.setdefault(match[1], match[2] or "")
    return found


def _loaded(text: str) -> tuple[Loaded, ...]:
    bases = list(_BASE.finditer(text))
    ends = [*(match.start() for match in bases[1:]), len(text)]
    return tuple(Loaded(match[1].strip(), text[match.end() : end]) for match, end in zip(bases, ends, strict=False))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
