"""The two tools of a simulated session, shaped as a coding agent's own: ``Skill`` loads a skill, ``Read`` a file of it.

Nothing else acts, and nothing that is not below a loaded skill's directory is served. Every call gets an answer, since
the API takes no request in which one is left open. A test compares a digest of all wording with its version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.judge.asking import one_line
from skillgate.model.finding import Client
from skillgate.model.skill import digest
from skillgate.scoring.listing import LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.montecarlo.subject import Library, Served, Subject

    Block = Mapping[str, Any]

SKILL, READ = "Skill", "Read"
ORDERS = 5  # in which skills are listed: few, so that a prompt cache can hold a system text for many sessions
MOST_CALLS = 32  # of one turn that are carried out
ALL_LINES = 1 << 31  # wanted where no number is set
MOST_LINES = 2_000  # of a file in one answer, as of a coding agent
MOST_AT_ONCE = 50_000  # characters of them, likewise; the next read goes on
MOST_SERVED = 400_000
"""Characters that one session gets of files and of other skills, without the text of the skill under test: some
150,000 tokens. What a text makes a model read is paid for once more with each turn that follows."""
MOST_LINE = 2_000  # characters of a line
MOST_NAME = 200  # characters of a name that are listed, far beyond what any client takes
MOST_DESCRIPTION = LIMITS[Client.CLAUDE_CODE].one  # characters that the client shows whose tools these are like

PROMPT_VERSION = "1"  # of the session's texts and tools, of the grader's instructions and schemas

LISTING = "The following skills are available for use with the Skill tool:\n\n"

SKILL_TOOL = """\
Load a skill. A skill is a set of instructions, made for one kind of task, that is not in this conversation until you \
load it; the listing in the system prompt names those there are, each with what it is for. Where one of them covers \
what the user wants, call this tool with its name before you do anything else, and then follow what it says. Use only \
names from the listing, and do not speak of a skill without loading it. Where none of them is for the task, do without.
"""
SKILL_NAME = "The name of a skill from the listing, nothing else."
SKILL_ARGUMENTS = "What to hand over to the skill, where it asks for something."

READ_TOOL = """\
Read a text file. The files that can be read are those of the skills you have loaded, below the base directory that \
came with each. Lines are numbered from 1; of a long file give the first line and the number of lines you want.
"""
READ_PATH = "The absolute path of the file."
READ_OFFSET = "The line to begin with, counted from 1."
READ_LIMIT = "How many lines to read."

LAUNCHING = "Launching skill: {name}"
LOADED_BEFORE = "The skill {name} is loaded already; its instructions stand above."
DIRECTORY = "Base directory for this skill: {base}\n\n{body}"
NO_SUCH_SKILL = "There is no such skill. Only those of the listing can be loaded."
NO_SUCH_TOOL = "There is no such tool. There are Skill and Read."
NOTHING_LOADED = "No skill is loaded, and only files of loaded skills can be read."
BAD_INPUT = "The tool cannot be called like that: {fault}."
TOO_MANY = "Too many calls at once: this one was not carried out."
EMPTY_FILE = "(the file is empty)"
BEYOND = "(the file has only {lines} lines)"
GOES_ON = "(lines {first} to {last} of {lines} are shown: give {next} as the first line to read on)"
UNCHANGED = "Unchanged: these lines were given already, and stand above."
FULL = "This session has been given as much text as it can hold: nothing more can be loaded or read. Go on with what \
is there."


def _tool(name: str, text: str, required: str, **properties: Mapping[str, str]) -> dict[str, Any]:
    form = {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}
    return {"name": name, "description": text.strip(), "input_schema": form}


TOOLS: tuple[Mapping[str, Any], ...] = (
    _tool(
        SKILL,
        SKILL_TOOL,
        "skill",
        skill={"type": "string", "description": SKILL_NAME},
        args={"type": "string", "description": SKILL_ARGUMENTS},
    ),
    _tool(
        READ,
        READ_TOOL,
        "file_path",
        file_path={"type": "string", "description": READ_PATH},
        offset={"type": "integer", "description": READ_OFFSET},
        limit={"type": "integer", "description": READ_LIMIT},
    ),
)


class Listing(NamedTuple):
    """The skills that a session may load."""

    text: str  # as the model is shown it
    own: str  # the line of the skill under test
    names: Mapping[str, str]  # by the name in the listing, the name that the library knows
    target: str  # the name in the listing of the skill under test
    descriptions: Mapping[str, str]  # by the name in the listing, as they are shown

    def named(self, called: str) -> str | None:
        """Return the listed name that a call means, None for none.

        A client that loads plugins takes ``plugin:name`` for the name too, and a leading slash as a user types it.
        """
        wanted = called.strip().removeprefix("/")
        return next((name for name in (wanted, wanted.rpartition(":")[2]) if name in self.names), None)


def listing(subject: Subject, seed: int, order: int) -> Listing:
    """List the skill among its siblings, in one of the orders that a seed gives.

    Its place in the list follows from the seed alone, and over the orders it is in every fifth of the list once:
    nothing that an author writes chooses its place. Of two skills with one name the first is listed, the skill under
    test before any other; a client does no more.
    """
    target = _line(subject.name, MOST_NAME)
    rows = {target: (subject.name, _line(subject.description, MOST_DESCRIPTION))}
    for sibling in subject.siblings:
        rows.setdefault(_line(sibling.name, MOST_NAME), (sibling.name, _line(sibling.description, MOST_DESCRIPTION)))
    others = sorted(
        set(rows) - {target}, key=lambda name: digest(f"{seed} {order}".encode(), name.encode("utf-8", "surrogatepass"))
    )
    at = _place(seed, order, len(rows))
    names = [*others[:at], target, *others[at:]]
    lines = {name: f"- {name}: {rows[name][1]}" for name in names}
    known = {name: rows[name][0] for name in names}
    descriptions = {name: rows[name][1] for name in names}
    return Listing(LISTING + "\n".join(lines.values()), lines[target], known, target, descriptions)


def _place(seed: int, order: int, skills: int) -> int:
    """Return the place of the skill under test in an order, from 0: each order has a fifth of the list for it."""
    fifths = sorted(range(ORDERS), key=lambda fifth: digest(f"{seed} fifth {fifth}".encode()))
    within = int(digest(f"{seed} place".encode())[:8], 16)  # of 2**32
    return skills * ((fifths[order % ORDERS] << 32) + within) // (ORDERS << 32)


def calls(content: Sequence[Block]) -> tuple[Block, ...]:
    """Return the tool calls of a message."""
    return tuple(block for block in content if block.get("type") == "tool_use")


def called(content: Sequence[Block], listed: Listing) -> tuple[str, ...]:
    """Return the listed names of the skills that a message calls for, in its order."""
    wanted = (arguments(call).get("skill") for call in calls(content) if call.get("name") == SKILL)
    names = (listed.named(name) for name in wanted if isinstance(name, str))
    return tuple(name for name in names if name is not None)


def arguments(call: Block) -> Block:
    """Return the input of a call, empty where it is no object."""
    found = call.get("input")
    return found if isinstance(found, dict) else {}


class Toolbox:
    """The tools of one session, with what it has loaded so far.

    Attributes:
        loaded: listed names of the skills that were loaded, in their order.
        added: what the skill under test has brought into the session besides its line, each text once.
    """

    def __init__(self, listed: Listing, library: Library) -> None:
        self.loaded: list[str] = []
        self.added: dict[str, None] = {}
        self._listed = listed
        self._library = library
        self._shown: dict[str, set[int]] = {}  # the numbers of the lines that were shown, by the text of a file
        self._left = MOST_SERVED

    def answer(self, content: Sequence[Block]) -> list[dict[str, Any]]:
        """Answer every call of a message: the content of the user turn that follows it.

        Results come first, as the API asks, then the texts of the skills that were loaded.
        """
        results: list[dict[str, Any]] = []
        texts: list[dict[str, Any]] = []
        for number, call in enumerate(calls(content)):
            message, failed, text = self._result(call) if number < MOST_CALLS else (TOO_MANY, True, None)
            result = {"type": "tool_result", "tool_use_id": call.get("id"), "content": message}
            results.append({**result, "is_error": True} if failed else result)
            if text is not None:
                texts.append({"type": "text", "text": text})
        return [*results, *texts]

    def _result(self, call: Block) -> tuple[str, bool, str | None]:
        """Return the result of a call, whether it is an error, and the text that goes with it."""
        if call.get("name") == SKILL:
            return self._load(arguments(call).get("skill"))
        if call.get("name") == READ:
            return (*self._read(arguments(call)), None)
        return NO_SUCH_TOOL, True, None

    def _load(self, wanted: object) -> tuple[str, bool, str | None]:
        if not isinstance(wanted, str):
            return BAD_INPUT.format(fault="skill must be a text"), True, None
        name = self._listed.named(wanted)
        if name is None:
            return NO_SUCH_SKILL, True, None
        if name in self.loaded:
            return LOADED_BEFORE.format(name=name), False, None
        text, problem = body(self._library, self._listed.names[name])
        if text is None:
            return problem, True, None
        is_own = name == self._listed.target
        if not is_own and not self._takes(text):
            return FULL, True, None
        self.loaded.append(name)
        message = LAUNCHING.format(name=name)
        if is_own:
            self.added.update(dict.fromkeys((message, text)))
        return message, False, text

    def _read(self, call: Block) -> tuple[str, bool]:
        path, first, many = call.get("file_path"), call.get("offset", 1), call.get("limit", ALL_LINES)
        if not isinstance(path, str):
            return BAD_INPUT.format(fault="file_path must be a text"), True
        if not (type(first) is int and first >= 0 and type(many) is int and many >= 0):
            return BAD_INPUT.format(fault="offset and limit must be whole numbers from 0"), True
        if not self.loaded:
            return NOTHING_LOADED, True
        name, served = self._find(path)
        if served.text is None:
            return served.problem or "the file cannot be read", True
        shown, lines = numbered(served.text, max(first, 1), max(many, 1))
        before = self._shown.setdefault(served.text, set())
        if lines and before.issuperset(lines):
            return UNCHANGED, False
        if not self._takes(shown):
            return FULL, True
        before.update(lines)
        if name == self._listed.target:
            self.added[shown] = None
        return shown, False

    def _takes(self, text: str) -> bool:
        """Return whether the session can still hold a text; it then does."""
        if len(text) > self._left:
            return False
        self._left -= len(text)
        return True

    def _find(self, path: str) -> tuple[str, Served]:
        """Look for a file in what is loaded, the latest first; a problem is that of the skill that it lies below."""
        tried = [(name, self._library.file(self._listed.names[name], path)) for name in reversed(self.loaded)]
        served = [one for one in tried if one[1].text is not None]
        within = [one for one in tried if path.startswith(self._library.base(self._listed.names[one[0]]) + "/")]
        return (served or within or tried)[0]


def body(library: Library, skill: str) -> tuple[str | None, str]:
    """Return the text that loading a skill adds to a session, or None with the problem in words."""
    served = library.body(skill)
    if served.text is None:
        return None, served.problem or "the skill cannot be read"
    return DIRECTORY.format(base=library.base(skill), body=encodable(served.text)), ""


def numbered(text: str, first: int, many: int) -> tuple[str, range]:
    """Number some lines of a file, counted from 1; lines of more than 2,000 characters are cut.

    Returns:
        At most 2,000 lines and 50,000 characters, with a note where that is not all that was wanted; and the numbers
        of the lines, none where the file has no such lines.
    """
    lines = encodable(text).splitlines()
    wanted = range(first, 1 + min(len(lines), first - 1 + many))
    if not wanted:
        return BEYOND.format(lines=len(lines)) if lines else EMPTY_FILE, wanted
    shown: list[str] = []
    left = MOST_AT_ONCE
    for number in wanted[:MOST_LINES]:
        line = f"{number:6d}\t{_cut(lines[number - 1], MOST_LINE)}"
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    after = first + len(shown)
    if len(shown) < len(wanted):
        note = GOES_ON.format(first=first, last=after - 1, lines=len(lines), next=after)
        return "\n".join((*shown, note)), range(first, after)
    return "\n".join(shown), wanted


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else f"{line[:most]}…"


def _line(text: str, most: int) -> str:
    """Fold a text to one line, so that no description can write a second entry of the listing, and cut it."""
    return _cut(one_line(encodable(text)), most)


def encodable(text: str) -> str:
    """Return a text without halves of characters, which no request can hold: a question mark for each."""
    return text.encode("utf-8", "replace").decode("utf-8")
