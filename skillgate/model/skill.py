"""A skill, from the tree of files it was found in to the values that parsing gives: all frozen, none of it judged.

Named tuples, not dataclasses: a commit hook pays for their creation in each run. Last come the digests of bytes, and
the shards they decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Protocol

from skillgate.named_tuple import NamedTuple

try:
    from _blake2 import blake2b  # without OpenSSL: loading it takes longer than a whole cached run
except ImportError:  # an interpreter that keeps it elsewhere
    from hashlib import blake2b


class EntryKind(Enum):
    """What a path in a tree is."""

    FILE = "file"
    DIRECTORY = "directory"
    OTHER = "other"  # a pipe, a device, a link that leads nowhere or outside the tree
    UNREADABLE = "unreadable"  # below a directory that may not be read: it is unknown whether it is there


class Entry(NamedTuple):
    """One path of a tree: its kind and, for a file, its size in bytes."""

    kind: EntryKind
    size: int = 0


class Tree(Protocol):
    """Files below one root: a directory on disk, or one commit in a git object store.

    Paths are ``/``-separated, relative to the root, without ``.`` or ``..``; ``""`` is the root itself. Names match
    exactly, letter case included, on every file system. Nothing outside the root is ever looked at: a symbolic link
    that leads there is an entry of kind ``OTHER``.
    """

    def entry(self, path: str) -> Entry | None:
        """Describe a path, symbolic links followed; None when there is nothing."""

    def real(self, path: str) -> str | None:
        """Return the path without symbolic links; None if it leads nowhere or outside the root."""

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, sorted by code point; empty if it is no directory or cannot be read."""

    def read(self, path: str, *, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a regular file.

        Raises:
            OSError: as the operating system (or, for a commit, git) reports it.
        """


class Language(Enum):
    """Whether text is English, as far as its letters and function words show."""

    ENGLISH = "english"
    OTHER = "other"  # mostly non-Latin letters, or the function words of another language clearly dominate
    UNKNOWN = "unknown"  # Latin letters without one function word: a list of keywords, a name, nothing


class Trigger(NamedTuple):
    """An accepted trigger phrase, as written; ``start`` and ``end`` are its offsets in the text, end exclusive."""

    phrase: str
    start: int
    end: int


class Routing(NamedTuple):
    """The signs of a description."""

    language: Language = Language.UNKNOWN  # whether the text is English
    triggers: tuple[Trigger, ...] = ()  # the trigger phrases, in order
    use_cases: tuple[str, ...] = ()  # the distinct use cases of the trigger clauses, folded for case and white space
    proactive: bool = False  # whether it says "proactively"
    automatic: bool = False  # whether it says to use the skill automatically or always, to trigger or to invoke it
    context: str | None = None  # the first "when … ing", "for … ing" or "during … ing", as written; None without one


SKILL_FILE = "SKILL.md"


class Span(NamedTuple):
    """A place in a file: line and column count from 1."""

    line: int = 1
    column: int = 1


class SkillRoot(NamedTuple):
    """Where a skill was found."""

    tree: Tree
    directory: str  # the skill's directory in ``tree`` (``""`` if it is the root)
    file_name: str  # ``SKILL.md``, or what stands in its place, such as ``skill.md``
    name: str  # the directory's own name, which the skill's name should equal
    path: PurePosixPath
    plugin: str | None = None  # the tree path of the plugin the skill belongs to, None without one
    repository_path: str | None = None  # the directory from the top of its repository

    def tree_path(self, name: str) -> str:
        """Return the tree path of a file, given by its path below the skill's directory."""
        return f"{self.directory}/{name}" if self.directory else name

    def inside(self, path: str) -> str:
        """Return the path below the skill's directory of one of its files, given by its tree path."""
        return path[len(self.directory) + 1 :] if self.directory else path


class SkillSource(NamedTuple):
    """The bytes of a skill's main file; ``size`` is the file's own, also where it was too large to be read.

    ``siblings`` is how many other skills lie next to it, counted up to 4. ``dangling`` is True for a symbolic link that
    leads nowhere: there are no bytes then.
    """

    root: SkillRoot
    data: bytes
    size: int
    siblings: int = 0
    dangling: bool = False


class Unreadable(NamedTuple):
    """A skill the operating system would not let be read: it is not evaluated, and the reason is reported."""

    root: SkillRoot
    reason: str


class Problem(NamedTuple):
    """Something that reading met. ``rule`` names the file of ``static/defects`` that declares it.

    ``file`` is the tree path of another file than the skill's main one.
    """

    rule: str
    span: Span
    message: str
    file: str | None = None


class Frontmatter(NamedTuple):
    """The YAML mapping at the head of a skill.

    ``values`` holds what was parsed (empty if nothing could be), ``lines`` the line of each key. ``valid`` is False
    if there is no usable mapping: absent, unterminated, not YAML, not a mapping, too large. ``repeated`` holds the keys
    that occur more than once; nested ones are written as in ``metadata.category``.
    """

    values: Mapping[str, Any] = MappingProxyType({})
    lines: Mapping[str, int] = MappingProxyType({})
    valid: bool = False
    repeated: frozenset[str] = frozenset()

    def text(self, key: str) -> str:
        """Return a key's value when it is a string, stripped; ``""`` when it is absent or anything else."""
        value = self.values.get(key)
        return value.strip() if isinstance(value, str) else ""

    def line(self, key: str) -> int:
        """Return the line of a key, or 1 when it is absent."""
        return self.lines.get(key, 1)


class LinkKind(Enum):
    """What a Markdown link points at, judged by its form alone."""

    REFERENCE = "reference"  # into the skill's own references/
    SKILL = "skill"  # another skill, agent or command by relative path
    LOCAL = "local"  # any other relative path
    OTHER = "other"  # a URL, an anchor, an absolute path, a template such as {name}.md


class Link(NamedTuple):
    """A link of the document. ``resolved`` is the tree path it leads to, None if nothing is there (or ``OTHER``)."""

    target: str
    kind: LinkKind
    span: Span
    resolved: str | None = None

    @property
    def dead(self) -> bool:
        """Return whether a relative link leads nowhere."""
        return self.resolved is None and self.kind is not LinkKind.OTHER


class Heading(NamedTuple):
    """A heading with what its section holds, sub-sections included.

    ``words`` of its text, ``links`` that lead to another skill or agent, ``code_lines`` of its longest code block.
    """

    level: int
    text: str
    line: int
    words: int
    links: int
    code_lines: int

    @property
    def counts(self) -> bool:
        """Return whether the section holds something: 8 words, or a code block of 2 lines."""
        return self.words >= MIN_SECTION_WORDS or self.code_lines >= MIN_SECTION_CODE_LINES


MIN_SECTION_WORDS = 8
MIN_SECTION_CODE_LINES = 2


class CodeBlock(NamedTuple):
    """A fenced code block. ``language`` is the first word of its info string, lower-cased; lines count from 1."""

    language: str
    code: str
    line: int
    end_line: int
    closed: bool

    @property
    def lines(self) -> int:
        """Count the lines of code that are not blank."""
        return sum(1 for line in self.code.split("\n") if line.strip())


class TextBlock(NamedTuple):
    """A paragraph, list item, table row or tagged passage: what a model reads as instruction.

    ``text`` keeps its line breaks (line ``line + k`` of the file is its k-th line), holds ``◌`` for each code span and
    nothing for the text of a dead link. ``prose`` is False for a keyword list. ``leads_on`` is True for a link that is
    not dead, or a code span.
    """

    text: str
    line: int
    words: int
    prose: bool
    leads_on: bool = False


class Document(NamedTuple):
    """A Markdown file of a skill, parsed: its main file or one that lies next to it."""

    file: str
    text: str  # all of it, line ends normalised, without a byte order mark
    first_line: int = 1  # the line its body begins on (1 where there is no frontmatter)
    headings: tuple[Heading, ...] = ()  # headings, code_blocks, blocks, links: of the body, in order
    code_blocks: tuple[CodeBlock, ...] = ()
    blocks: tuple[TextBlock, ...] = ()
    links: tuple[Link, ...] = ()
    anchors: frozenset[str] = frozenset()  # what ``#…`` may lead to
    mentions: frozenset[str] = frozenset()
    complete: bool = True  # whether all of it was read


class TextFile(NamedTuple):
    """Another text file of a skill, such as a script, a template or a ``.env``."""

    file: str
    text: str


class Waiver(NamedTuple):
    """A comment in a file that suppress findings."""

    file: str
    line: int  # where the comment is
    rules: tuple[str, ...]
    first: int  # first, last: the lines it covers; a comment for the whole file covers all
    last: int
    reason: str  # why
    until: str | None = None  # the last day it holds, as an ISO date; None without an end
    whole: bool = False  # whether it is for the whole file


class Skill(NamedTuple):
    """A parsed skill: every fact the static layer may count."""

    root: SkillRoot  # where it was found
    frontmatter: Frontmatter
    problems: tuple[Problem, ...] = ()  # what reading met, in file order
    routing: Routing = Routing()  # what its description and ``when_to_use`` say of when it is for
    unscored: str | None = None  # why there is nothing to score (not UTF-8, a NUL byte, over 5 MB, empty), else None
    lines: int = 0  # physical lines of the file, runs of blank lines counted once
    tokens: int = 0  # estimated tokens of the body, ``ceil(characters / 2.6)``
    headings: tuple[Heading, ...] = ()  # headings, code_blocks, blocks, links: of the body, in order
    code_blocks: tuple[CodeBlock, ...] = ()
    blocks: tuple[TextBlock, ...] = ()
    links: tuple[Link, ...] = ()
    table_headers: tuple[tuple[int, tuple[str, ...]], ...] = ()
    prose_lines: tuple[tuple[int, str], ...] = ()
    related: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()  # non-empty files below the directory of that name
    assets: frozenset[str] = frozenset()
    prose: str = ""  # of the prose blocks, lower-cased: what is not in it need not be looked for block by block
    siblings: int = 0  # how many other skills lie next to it, counted up to 4
    prose_words: int = 0
    has_body: bool = False  # whether there is text below the frontmatter, or a code block that holds code
    documents: tuple[Document, ...] = ()  # its Markdown files: the main one first, then those next to it by path
    scripts: tuple[TextFile, ...] = ()
    files: tuple[str, ...] = ()  # tree paths of all its files, those of skills below it left out; at most 2,000
    waivers: tuple[Waiver, ...] = ()

    @property
    def effective_lines(self) -> int:
        """The ``lines``, but more than 800 for a body of more than 10,000 estimated tokens, however few its lines."""
        return max(self.lines, BLOAT_LINES + 1) if self.tokens > MAX_BODY_TOKENS else self.lines

    def problems_of(self, rule: str) -> tuple[Problem, ...]:
        """Select the problems that one rule declares."""
        return tuple(problem for problem in self.problems if problem.rule == rule)


def anchor_key(text: str) -> str:
    """Fold a heading, or what follows ``#`` in a link, to its letters and digits.

    Sites make anchors by differing rules for hyphens, punctuation and repeats; what differs in letters or digits leads
    nowhere in any of them.
    """
    return "".join(filter(str.isalnum, text.casefold()))


BETWEEN_BLOCKS = "\n\n"  # in ``Skill.prose``: no sentence continues across it
BLOAT_LINES = 800
MAX_BODY_TOKENS = 10_000


DIGEST_BYTES = 16  # 128 bits: no two contents are found to share one


def digest(*parts: bytes) -> str:
    """Return 32 hexadecimal digits for byte strings, each separated from its neighbours by its length."""
    found = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def sha256_of(text: str) -> str:
    """Return 64 hexadecimal digits for a text; what UTF-8 cannot encode is escaped."""
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # without OpenSSL; up to Python 3.11
    except ImportError:
        from hashlib import sha256
    found: str = sha256(text.encode(errors="backslashreplace")).hexdigest()
    return found


def dealt(path: str, of: int) -> int:
    """Return which of ``of`` shards a skill belongs to, from 1, by its shown path alone.

    Answers are stored by shard between runs, and a skill that changed its shard would be paid for again.
    """
    return int(digest(path.encode("utf-8", "surrogatepass"))[:8], 16) % of + 1
