"""What a skill's sessions are made of: its listing and its neighbours, its prompts and tasks, and what its tools read.

A path that a model writes is never followed. What can be read is listed first, by walking three folders of a skill
without leaving them. A path is then looked up in that list. So neither ``..`` nor a link nor a forged name leads out.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.read import distinct, read_evals
from skillgate.evals.wording import folded
from skillgate.judge.dossier import Unjudged, category
from skillgate.judge.siblings import OnDisk, listed
from skillgate.judge.subject import Sibling
from skillgate.model.evals import TriggerCase
from skillgate.model.layers import TriggerPrompt
from skillgate.model.skill import EntryKind
from skillgate.montecarlo.subject import Served, Subject
from skillgate.skill import frontmatter
from skillgate.skill.parse import parse
from skillgate.skill.walk import SKIPPED, join, main_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skillgate.judge.siblings import Neighbour, Shelves, Stocked
    from skillgate.model.evals import EvalSet, TaskCase
    from skillgate.model.finding import Assessment
    from skillgate.model.layers import MonteCarloLayer
    from skillgate.model.skill import SkillSource, Tree

LONGEST_NAME = 200  # characters of a name that a session lists; clients refuse those beyond 64
FOLDERS = ("references", "assets", "scripts")  # whose files a session may read, of a skill that it has loaded
ROOT = "/skills"
"""Below which all skills seem to lie: made up, so that no path of any machine gets into a request."""
MOST_BYTES = 200_000  # of one file, and of the main file of a sibling: some 77,000 tokens
MOST_NAMES = 2_000  # names of one skill that are looked through, as many as the static layer looks at
LONGEST_BASE = 64  # characters of a name in a made-up path
_UNSAFE = re.compile(r"[^\w.-]+")
_UNNAMED = "skill"

UNKNOWN = "there is no skill of that name"
OUTSIDE = "only files in references/, assets/ and scripts/ of a loaded skill can be read"
ABSENT = "the skill has no such file"
FOLDER = "that is a directory, not a file"
_CUT = "[The file goes on: what follows its first {:,} {} is not shown.]"
_BY_HAND = "no model can load the skill, because disable-model-invocation is set"


def subject(
    source: SkillSource,
    facts: Assessment,
    *,
    shelves: Shelves,
    corpus: Sequence[Stocked] = (),
    before: MonteCarloLayer | None = None,
    most_siblings: int = 15,
) -> Subject | Unjudged:
    """Put together what the sessions of a skill are made of, or why there is nothing to simulate.

    Never raises on content. No two skills of the subject share a name. ``facts`` is what layer 1 knows of the skill; of
    the ``corpus`` come its siblings where it has no neighbours on disk, and of the layer ``before`` of a baseline its
    prompts.
    """
    if facts.unscored is not None:
        return Unjudged(facts.unscored)
    skill = parse(source)
    if skill.unscored is not None:
        return Unjudged(skill.unscored)
    root = source.root
    name = _plain(facts.listing.name) or _plain(root.name) or _UNNAMED
    description = listed(facts.listing.description, facts.listing.when_to_use)
    neighbours = shelves.neighbours(root, facts.listing.name, description, most_siblings, corpus)
    names = tuple(_names(name, neighbours.found))
    siblings = (Sibling(name, one.sibling.description) for name, one in zip(names, neighbours.found, strict=True))
    names_of_it = tuple(dict.fromkeys((root.name, facts.listing.name)))
    evals = read_evals(root.tree, root.directory, skills=names_of_it)
    requested = None
    if before is not None and before.runs:
        prompts = tuple(TriggerPrompt(run.prompt, run.should_trigger, run.style) for run in before.runs)
        prompts_source, requested = "baseline", (before.simulations, before.near_misses)
    else:
        prompts = _prompts(evals, names_of_it)
        prompts_source = "evals" if prompts else "generated"
    real = root.tree.real(root.directory)
    # The skill's own body is whole, however long, since that is what it costs a session.
    document = skill.documents[0]
    disk = None if real is None else OnDisk(root.tree, real, document.file)
    own = Held(name, frontmatter.split(document.text).body.lstrip("\n"), disk)
    is_by_hand = str(skill.frontmatter.values.get("disable-model-invocation")).strip().lower() == "true"
    return Subject(
        path=str(root.path),
        name=name,
        description=description,
        siblings=tuple(siblings),
        siblings_source=neighbours.source,
        library=SkillLibrary((own, *map(_held, names, neighbours.found))),
        prompts=prompts,
        prompts_source=prompts_source,
        tasks=evals.tasks,
        category=category(skill),
        requested=requested,
        unlisted=_BY_HAND if is_by_hand else None,
    )


def _plain(name: str) -> str:
    """Return a name on one line without invisible characters, so that names which look alike are alike.

    A leading slash is removed too: users may type one before a skill's name, so it distinguishes no two skills.
    """
    return "".join(filter(str.isprintable, " ".join(name.split()))).strip(" /")[:LONGEST_NAME].rstrip()


def _key(name: str) -> str:
    """Fold a name to what a call of it is recognised by: a client may put a plugin's name and a colon before it."""
    return unicodedata.normalize("NFKC", name).casefold().rpartition(":")[2].strip()


def _names(own: str, neighbours: Sequence[Neighbour]) -> Iterator[str]:
    """Name the neighbours so that no two skills share a name: by their own, their directory's, or with a number."""
    taken = {_key(own)}
    for one in neighbours:
        plain, directory = _plain(one.sibling.name), _plain(one.directory)
        name = plain or directory or _UNNAMED
        is_free = directory and _key(directory) not in taken
        yield _distinct(directory if _key(name) in taken and is_free else name, taken, _key)


def _distinct(name: str, taken: set[str], key: Callable[[str], str]) -> str:
    """Add a number to a name that is taken, by its key."""
    found, number = name, 1
    while key(found) in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(key(found))
    return found


def _held(name: str, neighbour: Neighbour) -> Held:
    text = neighbour.text
    if isinstance(text, OnDisk):
        return Held(name, disk=text)
    if text is None:
        return Held(name, COMMON_BODIES[neighbour.sibling.name])
    long = len(text) > MOST_BYTES
    return Held(name, f"{text[:MOST_BYTES]}\n\n{_CUT.format(MOST_BYTES, 'characters')}\n" if long else text)


def _prompts(evals: EvalSet, names: Sequence[str]) -> tuple[TriggerPrompt, ...]:
    """Return the prompts of a skill's evals; a task is a prompt too, that should load the skill."""
    called = {folded(case.prompt) for case in evals.triggers}
    tasks = (
        TriggerCase(task.prompt, should_trigger=True, file=task.file, line=task.line)
        for task in evals.tasks
        if folded(task.prompt) not in called and _is_for_a_session(task)
    )
    cases = distinct((*evals.triggers, *tasks), names)
    return tuple(TriggerPrompt(case.prompt, case.should_trigger, case.style) for case in cases)


def _is_for_a_session(task: TaskCase) -> bool:
    """Return whether a task alone is a prompt that should load the skill.

    One that comes with files is not, since no session has them. Nor is one whose grader looks for a call of some
    skill: where that made no label, it is not meant for this one.
    """
    asks = any(check.kind == "tool_used" and check.text.partition(" ")[0] == "Skill" for check in task.checks)
    return not asks and not task.attached


class Held(NamedTuple):
    """A skill of the library."""

    name: str  # what a session lists it by
    body: str | None = None  # its text after the frontmatter; None: it is read from `disk` at its first use
    disk: OnDisk | None = None  # None for a skill that has no files


class SkillLibrary:
    """A :class:`~skillgate.montecarlo.subject.Library` over trees and texts; each file is read once.

    Of two skills with one name only the first can be reached.
    """

    def __init__(self, skills: Iterable[Held]) -> None:
        self._held: dict[str, Held] = {}
        for one in skills:
            self._held.setdefault(one.name, one)
        self._bases = dict(zip(self._held, _bases(self._held), strict=True))
        self._bodies: dict[str, Served] = {}
        self._paths: dict[str, dict[str, str]] = {}
        self._read: dict[tuple[str, str], Served] = {}

    def base(self, skill: str) -> str:
        """Return the directory that a skill seems to lie in, ``/skills/NAME``; ``/skills`` for an unknown one."""
        return self._bases.get(skill, ROOT)

    def body(self, skill: str) -> Served:
        """Return the text of a skill after its frontmatter; of a long sibling its first 200,000 bytes, and says so."""
        held = self._held.get(skill)
        if held is None:
            return Served(None, UNKNOWN)
        if skill not in self._bodies:
            self._bodies[skill] = _body(held)
        return self._bodies[skill]

    def files(self, skill: str) -> tuple[str, ...]:
        """Return the paths of a skill's files in the three folders, relative to it, sorted; text or not."""
        return tuple(sorted(self._files(skill)))

    def file(self, skill: str, path: str) -> Served:
        """Return a text file of a skill, at most its first 200,000 bytes.

        ``path`` is as the model wrote it: relative to the skill, or absolute below :meth:`base`; backslashes count as
        slashes.
        """
        if skill not in self._held:
            return Served(None, UNKNOWN)
        files = self._files(skill)
        inside = path if path in files else _inside(path, self.base(skill))
        if inside is None:
            return Served(None, OUTSIDE)
        if inside not in files:
            return Served(None, FOLDER if any(file.startswith(f"{inside}/") for file in files) else ABSENT)
        key = skill, files[inside]
        disk = self._held[skill].disk
        if key not in self._read and disk is not None:
            self._read[key] = _text(disk.tree, files[inside])
        return self._read[key]

    def _files(self, skill: str) -> Mapping[str, str]:
        """Return the tree path of each file by its path in the skill."""
        held = self._held.get(skill)
        if held is None or held.disk is None:
            return {}
        if skill not in self._paths:
            self._paths[skill] = dict(_walk(held.disk))
        return self._paths[skill]


def _bases(names: Iterable[str]) -> Iterator[str]:
    """Make up a directory for each name, no two of them equal, letter case aside."""
    taken: set[str] = set()
    for name in names:
        plain = _UNSAFE.sub("-", name).strip("-.")[:LONGEST_BASE] or "skill"
        yield f"{ROOT}/{_distinct(plain, taken, str.casefold)}"


def _body(held: Held) -> Served:
    if held.body is not None:
        return Served(held.body)
    if held.disk is None:
        return Served(None, UNKNOWN)
    found = _text(held.disk.tree, held.disk.file, lenient=True)
    return found if found.text is None else Served(frontmatter.split(found.text).body.lstrip("\n"))


def _walk(disk: OnDisk) -> Iterator[tuple[str, str]]:
    """Yield each file of the three folders, by its path in the skill and its tree path without links.

    What a link leads to has to lie in one of the three itself: next to them lie, among others, the expected answers.
    """
    tree = disk.tree
    allowed = tuple(f"{join(disk.directory, folder)}/" for folder in FOLDERS)
    pending = [(folder, join(disk.directory, folder)) for folder in reversed(FOLDERS)]
    entered: set[str] = set()
    left = MOST_NAMES
    while pending:
        path, place = pending.pop()
        real = tree.real(place)
        entry = None if real is None or not f"{real}/".startswith(allowed) else tree.entry(real)
        if real is None or entry is None or not _is_encodable(path):
            continue
        if entry.kind is EntryKind.FILE:
            yield path, real
        elif entry.kind is EntryKind.DIRECTORY and real not in entered:
            entered.add(real)
            names = tree.names(real)[:left]
            left -= len(names)
            if main_file(dict.fromkeys(names)) is None:  # else it is a skill of its own
                pending += [(f"{path}/{name}", f"{real}/{name}") for name in reversed(names) if name not in SKIPPED]


def _is_encodable(path: str) -> bool:
    """Return whether a path is text: a name on disk need not be, and such a one cannot be sent to a model."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _inside(path: str, base: str) -> str | None:
    """Return a path relative to the skill; None if it leads out of the three folders."""
    whole = posixpath.normpath(posixpath.join(base, path.strip().replace("\\", "/")))
    inside = whole.removeprefix(f"{base}/")
    return inside if whole.startswith(f"{base}/") and inside.partition("/")[0] in FOLDERS else None


def _text(tree: Tree, path: str, *, lenient: bool = False) -> Served:
    """Read a text file, its line ends normalised; with ``lenient`` what is no text is replaced, not refused."""
    try:
        data = tree.read(path, limit=MOST_BYTES + 1)
    except OSError as error:
        return Served(None, f"the file cannot be read ({error.strerror or 'the system does not say why'})")
    is_whole = len(data) <= MOST_BYTES
    if b"\x00" in data and not lenient:
        return Served(None, "the file is binary, not text")
    decoder = getincrementaldecoder("utf-8-sig")("replace" if lenient else "strict")
    try:
        text = decoder.decode(data[:MOST_BYTES], final=is_whole)
    except UnicodeDecodeError:
        return Served(None, "the file is not UTF-8 text")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    return Served(text if is_whole else f"{text}\n\n{_CUT.format(MOST_BYTES, 'bytes')}\n")


# What the common skills say when a session loads one: short, honest instructions for what each description promises.
_BODIES = """\
# Spreadsheets

Look at the header and a few rows before you change anything. Keep formulas as formulas, and say which cells changed.
Give a CSV file back with the delimiter and the encoding that it came with.

# PDF files

Find out first whether the pages hold text or only pictures of it. Take text page by page, list the fields of a form
before you fill them in, and write split or joined pages to a new file, never over the old one.

# Slides

Agree on the outline first: one message for each slide, stated in its title. Keep the text short, put the rest into
the speaker notes, and use the layouts of the deck that is there.

# Text documents

Use the document's own styles for headings and lists. Make changes as tracked changes where others have to approve
them, and answer each comment where it stands.

# Commit messages

Read the whole diff. The first line says in at most 72 characters what the change does, as an order; below a blank
line stands why. Unrelated changes want commits of their own.

# Code review

Read the change with what it calls. Report bugs first, then risks, then style, each with file and line, what can go
wrong and a way out. Say so where you found nothing.

# Browser tests

Start the application, open the page and wait for what you are about to use. Find elements by role and label, take a
picture after each step that matters, and report what the console said.

# Database queries

Look at the schema before you write a query. Name the columns, test on few rows, and explain a slow query by its plan.
A change of the schema comes with the way back.

# Interface design

Ask who uses the page and for what. Lay out by importance, keep to the colours and distances that are there, and check
contrast, keyboard use and small screens.

# Deployment

Find out how the project is built and where it runs. Pin versions, keep secrets out of files, and add a check that
tells whether the release works, together with the way back.

# Research

Put the question into one sentence. Prefer first-hand sources, name one for each claim, tell facts from opinions, and
say what could not be found.

# Translation

Translate meaning, not words, in the tone of the original. Leave names, code and placeholders alone, keep one word for
one term, and list what you were not sure of.
"""
COMMON_BODIES = {
    body.partition("\n")[0].lower().replace(" ", "-"): f"# {body.rstrip()}\n"
    for body in _BODIES.removeprefix("# ").split("\n# ")
}
"""By the names that the common skills are listed by."""
