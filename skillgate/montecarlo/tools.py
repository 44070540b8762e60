"""The two tools of a simulated session, shaped as a coding agent's own: ``Skill`` loads a skill, ``Read`` a file of it.

Nothing else acts, and nothing that is not below a loaded skill's directory is served. Every call gets an answer, since
the API takes no request in which one is left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.model.digest import digest
from skillgate.model.finding import Client
from skillgate.montecarlo import wording
from skillgate.scoring.listing import LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.montecarlo.subject import Library, Served, Subject

    Block = Mapping[str, Any]

SKILL, READ = "Skill", "Read"
ORDERS = 5
"""Orders in which skills are listed: few, so that the provider's prompt cache can hold a system text for many."""
MOST_CALLS = 32  # of one turn that are carried out
MOST_UNASKED = 1 << 31  # lines that are wanted where no number is given: all there are
MOST_LINES = 2_000  # of a file that are given at once, as a coding agent does
MOST_AT_ONCE = 50_000  # characters of them, likewise; the next read goes on
MOST_SERVED = 400_000
"""Characters that one session is given of files and of other skills, beside the text of the skill under test: some
150,000 tokens. What a text makes a model read is paid for again with each turn that follows."""
MOST_LINE = 2_000  # characters of a line
MOST_NAME = 200  # characters of a name that are listed, far beyond what any client takes
MOST_DESCRIPTION = LIMITS[Client.CLAUDE_CODE].one
"""Characters of a description that are listed: as many as the client shows whose tools these are shaped after."""


def _tool(name: str, text: str, required: str, **properties: Mapping[str, str]) -> dict[str, Any]:
    form = {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}
    return {"name": name, "description": text.strip(), "input_schema": form}


TOOLS: tuple[Mapping[str, Any], ...] = (
    _tool(
        SKILL,
        wording.SKILL_TOOL,
        "skill",
        skill={"type": "string", "description": wording.SKILL_NAME},
        args={"type": "string", "description": wording.SKILL_ARGUMENTS},
    ),
    _tool(
        READ,
        wording.READ_TOOL,
        "file_path",
        file_path={"type": "string", "description": wording.READ_PATH},
        offset={"type": "integer", "description": wording.READ_OFFSET},
        limit={"type": "integer", "description": wording.READ_LIMIT},
    ),
)


class Listing(NamedTuple):
    """The skills that a session may load.

    Attributes:
        text: as the model is shown it.
        own: the line of the skill under test.
        names: by the name in the listing, the name that the library knows.
        target: the name in the listing of the skill under test.
        descriptions: by the name in the listing, as they are shown.
    """

    text: str
    own: str
    names: Mapping[str, str]
    target: str
    descriptions: Mapping[str, str]

    def named(self, called: str) -> str | None:
        """Give the listed name that a call means, None for none.

        A client that loads plugins takes ``plugin:name`` for the name too, and a leading slash as a user types it.
        """
        wanted = called.strip().removeprefix("/")
        return next((name for name in (wanted, wanted.rpartition(":")[2]) if name in self.names), None)


def listing(subject: Subject, seed: int, order: int) -> Listing:
    """List the skill among its siblings, in one of the orders that a seed gives.

    Where in the list it stands follows from the seed alone, and over the orders it stands in every fifth of the list
    once: nothing that an author writes chooses its place. Of two skills with one name the first is listed, the skill
    under test before any other; a client does no more.
    """
    target = _line(subject.name, MOST_NAME)
    rows = {target: (subject.name, _line(subject.description, MOST_DESCRIPTION))}
    for sibling in subject.siblings:
        rows.setdefault(_line(sibling.name, MOST_NAME), (sibling.name, _line(sibling.description, MOST_DESCRIPTION)))
    others = sorted(set(rows) - {target}, key=lambda name: digest(f"{seed} {order}".encode(), _bytes(name)))
    at = _place(seed, order, len(rows))
    names = [*others[:at], target, *others[at:]]
    lines = {name: f"- {name}: {rows[name][1]}" for name in names}
    text = wording.LISTING + "\n".join(lines.values())
    known = {name: rows[name][0] for name in names}
    return Listing(text, lines[target], known, target, {name: rows[name][1] for name in names})


def _place(seed: int, order: int, skills: int) -> int:
    """Give the place of the skill under test in an order, from 0: each order has a fifth of the list for it."""
    fifths = sorted(range(ORDERS), key=lambda fifth: digest(f"{seed} fifth {fifth}".encode()))
    within = int(digest(f"{seed} place".encode())[:8], 16)  # of 2**32
    return skills * ((fifths[order % ORDERS] << 32) + within) // (ORDERS << 32)


def calls(content: Sequence[Block]) -> tuple[Block, ...]:
    """Give the tool calls of a message."""
    return tuple(block for block in content if block.get("type") == "tool_use")


def called(content: Sequence[Block], listed: Listing) -> tuple[str, ...]:
    """Give the listed names of the skills that a message calls for, in its order."""
    wanted = (_input(call).get("skill") for call in calls(content) if call.get("name") == SKILL)
    names = (listed.named(name) for name in wanted if isinstance(name, str))
    return tuple(name for name in names if name is not None)


class Toolbox:
    """The tools of one session, with what it has loaded so far.

    Attributes:
        loaded: listed names of the skills that were loaded, in their order.
        added: what the skill under test has brought into the session beside its line, each text once.
    """

    def __init__(self, listed: Listing, library: Library) -> None:
        """Take what is listed, and what serves it."""
        self.loaded: list[str] = []
        self.added: dict[str, None] = {}
        self._listed = listed
        self._library = library
        self._given: dict[str, set[int]] = {}  # the numbers of the lines that were given, by the text of a file
        self._left = MOST_SERVED

    def answer(self, content: Sequence[Block]) -> list[dict[str, Any]]:
        """Answer every call of a message: the content of the user turn that follows it.

        Results come first, as the API asks, then the texts of the skills that were loaded.
        """
        results: list[dict[str, Any]] = []
        texts: list[dict[str, Any]] = []
        for number, call in enumerate(calls(content)):
            said, failed, text = self._said(call) if number < MOST_CALLS else (wording.TOO_MANY, True, None)
            result = {"type": "tool_result", "tool_use_id": call.get("id"), "content": said}
            results.append({**result, "is_error": True} if failed else result)
            if text is not None:
                texts.append({"type": "text", "text": text})
        return [*results, *texts]

    def _said(self, call: Block) -> tuple[str, bool, str | None]:
        """Give the result of a call, whether it is an error, and the text that goes with it."""
        if call.get("name") == SKILL:
            return self._skill(_input(call))
        if call.get("name") == READ:
            return (*self._read(_input(call)), None)
        return wording.NO_SUCH_TOOL, True, None

    def _skill(self, given: Block) -> tuple[str, bool, str | None]:
        wanted = given.get("skill")
        if not isinstance(wanted, str):
            return wording.BAD_INPUT.format(fault="skill must be a text"), True, None
        name = self._listed.named(wanted)
        if name is None:
            return wording.NO_SUCH_SKILL, True, None
        if name in self.loaded:
            return wording.LOADED_BEFORE.format(name=name), False, None
        text, problem = body(self._library, self._listed.names[name])
        if text is None:
            return problem, True, None
        is_own = name == self._listed.target
        if not is_own and not self._takes(text):
            return wording.FULL, True, None
        self.loaded.append(name)
        said = wording.LAUNCHING.format(name=name)
        if is_own:
            self.added.update(dict.fromkeys((said, text)))
        return said, False, text

    def _read(self, given: Block) -> tuple[str, bool]:
        path, first, many = given.get("file_path"), given.get("offset", 1), given.get("limit", MOST_UNASKED)
        if not isinstance(path, str):
            return wording.BAD_INPUT.format(fault="file_path must be a text"), True
        if not (_isencodable(first) and _isencodable(many)):
            return wording.BAD_INPUT.format(fault="offset and limit must be whole numbers from 0"), True
        if not self.loaded:
            return wording.NOTHING_LOADED, True
        name, served = self._found(path)
        if served.text is None:
            return served.problem or "the file cannot be read", True
        shown, lines = numbered(served.text, max(first, 1), max(many, 1))
        given_before = self._given.setdefault(served.text, set())
        if lines and given_before.issuperset(lines):
            return wording.UNCHANGED, False
        if not self._takes(shown):
            return wording.FULL, True
        given_before.update(lines)
        if name == self._listed.target:
            self.added[shown] = None
        return shown, False

    def _takes(self, text: str) -> bool:
        """Tell whether the session can still hold a text; it then does."""
        if len(text) > self._left:
            return False
        self._left -= len(text)
        return True

    def _found(self, path: str) -> tuple[str, Served]:
        """Look for a file in what is loaded, the latest first; a problem is told by the skill that it lies below."""
        tried = [(name, self._library.file(self._listed.names[name], path)) for name in reversed(self.loaded)]
        served = [one for one in tried if one[1].text is not None]
        within = [one for one in tried if path.startswith(self._library.base(self._listed.names[one[0]]) + "/")]
        return (served or within or tried)[0]


def body(library: Library, skill: str) -> tuple[str | None, str]:
    """Give the text that loading a skill brings into a session, or None with the problem in words."""
    served = library.body(skill)
    if served.text is None:
        return None, served.problem or "the skill cannot be read"
    return wording.DIRECTORY.format(base=library.base(skill), body=encodable(served.text)), ""


def numbered(text: str, first: int, many: int) -> tuple[str, range]:
    """Number some lines of a file, counted from 1; lines of more than 2,000 characters are cut.

    Returns:
        At most 2,000 lines and 50,000 characters, with a note where that is not all that was wanted; and the numbers
        of the lines, none where the file has no such lines.
    """
    lines = encodable(text).splitlines()
    wanted = range(first, 1 + min(len(lines), first - 1 + many))
    if not wanted:
        return wording.BEYOND.format(lines=len(lines)) if lines else wording.EMPTY_FILE, wanted
    shown: list[str] = []
    left = MOST_AT_ONCE
    for number in wanted[:MOST_LINES]:
        line = f"{number:6d}\t{_cut(lines[number - 1])}"
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    given = wanted[: len(shown)]
    if len(given) < len(wanted):
        after = first + len(given)
        shown.append(wording.GOES_ON.format(first=first, last=after - 1, lines=len(lines), next=after))
    return "\n".join(shown), given


def _input(call: Block) -> Block:
    given = call.get("input")
    return given if isinstance(given, dict) else {}


def _isencodable(value: object) -> bool:
    return type(value) is int and value >= 0


def _cut(line: str, most: int = MOST_LINE) -> str:
    return line if len(line) <= most else f"{line[:most]}…"


def _line(text: str, most: int) -> str:
    """Fold a text to one line, so that no description can write a second entry of the listing, and cut it."""
    return _cut(" ".join(encodable(text).split()), most)


def encodable(text: str) -> str:
    """Give a text without halves of characters, which no request can hold: a question mark for each."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
