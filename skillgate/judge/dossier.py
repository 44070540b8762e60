"""What a judge reads of one skill: its text files, its neighbours, what layer 1 measured, and what looks suspicious.

The text is what a model is sent to when it uses the skill, whatever the files are called. What cannot be had as text is
named with why, so that nothing the skill's pages lead to is passed over in silence.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from codecs import getincrementaldecoder
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.read import trigger_prompts
from skillgate.judge.siblings import Shelves, listed
from skillgate.judge.subject import Dossier, Page, Passage
from skillgate.model.finding import Severity
from skillgate.model.skill import LinkKind
from skillgate.skill.links import target_path
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skillgate.model.finding import Assessment
    from skillgate.model.score import Dimension, Measured
    from skillgate.model.skill import Document, Skill, SkillSource, Tree

MAX_FACTS = 80
MAX_EVIDENCE = 8  # lines of one sub-check
LONGEST_FACT = 240
MAX_BYTES = 1 << 20  # of one file but the main one: a longer one is data
MAX_TOTAL_BYTES = 8 << 20  # of all of them; published skills stay below 1 MB
MAX_PAGES = 300
MAX_UNREAD = 100  # files that are named; those beyond are counted
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".avif")  # shown to readers, no instructions
PROGRAMS = ("scripts", "assets")  # a model runs or fills in these files, and need not read them
RULES = frozenset(("JUDGE_ADDRESSED", "INSTRUCTION_OVERRIDE", "HIDDEN_UNICODE"))
"""The rules whose claims make a passage suspicious, but for those for information only."""
_OF_BYTES = ("BYTE_ORDER_MARK", "LINE_ENDS")  # of how a file was checked out, and no matter of what it says


class Unjudged(NamedTuple):
    """A skill that no judge is asked about, and why."""

    reason: str


def dossier(
    source: SkillSource, facts: Assessment, *, most_siblings: int = 15, shelves: Shelves | None = None
) -> Dossier | Unjudged:
    """Put together what a judge reads of a skill. Never raises on content.

    ``facts`` is what layer 1 knows of it, ``shelves`` the neighbours looked through so far in a run of many skills.
    """
    if facts.unscored is not None:
        return Unjudged(facts.unscored)
    skill = parse(source)
    if skill.unscored is not None:
        return Unjudged(skill.unscored)
    root = source.root
    documents = {inside(skill, document.file): document for document in skill.documents}
    gathered = gather(skill, documents)
    name, description = facts.listing.name, listed(facts.listing.description, facts.listing.when_to_use)
    return Dossier(
        path=str(root.path),
        name=name,
        description=description,
        category=category(skill),
        pages=gathered.pages,
        unread=gathered.unread,
        aside=gathered.aside,
        siblings=(shelves or Shelves()).siblings(root, name, description, most_siblings),
        facts=tuple(islice(_facts(skill, facts), MAX_FACTS)),
        code_blocks=sum(len(document.code_blocks) for document in skill.documents),
        suspicious=tuple(_passages(documents.items(), facts)),
        prompts=trigger_prompts(root.tree, root.directory, skills=tuple(dict.fromkeys((root.name, name)))),
    )


def category(skill: Skill) -> str:
    """Return ``metadata.category``, ``""`` without one."""
    metadata = skill.frontmatter.values.get("metadata")
    found = metadata.get("category") if isinstance(metadata, dict) else None
    return found.strip() if isinstance(found, str) else ""


def _facts(skill: Skill, facts: Assessment) -> Iterator[str]:
    """Yield what layer 1 counted and measured, a line each; words of the author may be in them."""
    dead = sum(link.dead for link in skill.links)
    to_files = sum(link.kind is not LinkKind.OTHER for link in skill.links)
    references, assets = len(skill.references), len(skill.assets)
    yield (
        f"main file: {skill.lines:,} lines, {skill.prose_words:,} words of prose, about {skill.tokens:,} tokens,"
        f" {len(skill.headings):,} headings, {len(skill.code_blocks):,} code blocks"
    )
    yield f"links to files: {to_files:,}, of which {dead:,} lead nowhere"
    yield f"files: {references:,} in references/, {assets:,} in assets/, {len(skill.files):,} in all"
    counted = Counter(claim.id for claim in facts.claims if claim.id not in _OF_BYTES)
    if counted:
        rules = (f"{rule} ×{count}" if count > 1 else rule for rule, count in sorted(counted.items()))
        yield _short(f"findings: {', '.join(rules)}")
    for check in facts.detail().scores:
        yield from _measured(*check)


def _measured(name: str, dimension: Dimension, measured: Measured) -> Iterator[str]:
    score = f"{measured.score:.2f} of 1" if measured.score is not None else f"not measured ({measured.reason})"
    yield _short(f"{name} (counts for {dimension.value}): {score}")
    for item in measured.evidence[:MAX_EVIDENCE]:
        line = f"line {item.line}: " if item.line else ""
        worth = f"{item.points:+.2f} of {item.possible:.2f}" if item.possible else f"{item.points:+.2f}"
        yield _short(f"- {line}{item.text} ({worth})")
    if len(measured.evidence) > MAX_EVIDENCE:
        yield f"- and {len(measured.evidence) - MAX_EVIDENCE:,} more"


def _short(text: str) -> str:
    """Put a fact on one line of bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_FACT else f"{flat[: LONGEST_FACT - 1]}…"


class Gathered(NamedTuple):
    """Text files of a skill, and those that could not be had as text."""

    pages: tuple[Page, ...]  # the main file, then the files of references/, then others, each group by path
    unread: tuple[tuple[str, str], ...]  # path and why
    aside: frozenset[str]  # paths of those that are no text, and that are pictures or that no page leads to by itself


def gather(skill: Skill, documents: Mapping[str, Document]) -> Gathered:
    """Read the text files of a skill.

    Pages are its documents (Markdown files by path relative to the skill, the main one first) and all text files of
    ``references/``. Every other text file of the skill is a page if one of its documents links or names it or a
    directory that contains it. Files in ``scripts/`` and ``assets/`` are not pages.
    """
    main = next(iter(documents))
    unread = [
        (inside(skill, problem.file), problem.message.removeprefix("the document is not read: "))
        if problem.file
        else ("references", problem.message)
        for problem in skill.problems_of("document_unread")
    ]
    extras = _Extras(skill, documents, passed_over={path for path, _ in unread})
    pages = [*(Page(path, document.text) for path, document in documents.items()), *extras.pages()]
    pages.sort(key=lambda page: (page.path != main, not page.path.startswith("references/"), page.path))
    unread += extras.unread
    unread += ((page.path, f"it comes after the first {MAX_PAGES} files") for page in pages[MAX_PAGES:])
    # Those that matter are named first; those beyond the limit are counted, and matter where one of them does.
    aside = extras.aside
    unread.sort(key=lambda entry: (entry[0] in aside, entry))
    entries, rest = unread[:MAX_UNREAD], unread[MAX_UNREAD:]
    if rest:
        more = f"{len(rest):,} more files"
        entries.append((more, "for reasons such as those above"))
        aside = aside | {more} if all(path in aside for path, _ in rest) else aside - {more}
    return Gathered(tuple(pages[:MAX_PAGES]), tuple(entries), frozenset(aside & {path for path, _ in entries}))


def inside(skill: Skill, path: str) -> str:
    """Return a tree path as one relative to the skill's directory."""
    return path[len(skill.root.directory) + 1 :] if skill.root.directory else path


class _Extras:
    """Reads the files that are no documents; ``unread`` and ``aside`` hold what it could not read."""

    def __init__(self, skill: Skill, documents: Mapping[str, Document], passed_over: set[str]) -> None:
        self.unread: list[tuple[str, str]] = []
        self.aside: set[str] = set()
        self._skill = skill
        self._tree = skill.root.tree
        self._passed_over = passed_over
        self._known = {self._tree.real(document.file) for document in documents.values()}
        self._left = MAX_TOTAL_BYTES - sum(len(document.text) for document in list(documents.values())[1:])
        self._linked = _linked(skill, documents.values())

    def pages(self) -> Iterator[Page]:
        """Yield the files that are text, each once whatever links lead to it."""
        wanted = {*self._skill.references, *filter(self._is_followed, self._skill.files)}
        for path in sorted(wanted, key=lambda path: (self._tree.real(path) != path, path)):
            real, name = self._tree.real(path), inside(self._skill, path)
            if real in self._known or name in self._passed_over:
                continue
            self._known.add(real)
            if real is None or (self._skill.root.directory and not real.startswith(f"{self._skill.root.directory}/")):
                self.unread.append((name, "it lies outside of the skill"))
                continue
            text, why, is_text = _text(self._tree, path, min(MAX_BYTES, self._left))
            if text is not None:
                self._left -= len(text)
                yield Page(name, text)
                continue
            self.unread.append((name, why))
            if not is_text and (path not in self._linked or path.lower().endswith(PICTURES)):
                self.aside.add(name)

    def _is_followed(self, path: str) -> bool:
        if inside(self._skill, path).partition("/")[0] in PROGRAMS:
            return False
        return path in self._linked or not self._linked.isdisjoint(_directories(self._skill, path))


def _linked(skill: Skill, documents: Iterable[Document]) -> frozenset[str]:
    """Return the tree paths that the skill's documents link or name, of files and of directories in it."""
    found = set(skill.linked)
    for document in documents:
        found.update(link.resolved for link in document.links if link.resolved)
        for word in document.mentions:
            if "/" in word or "." in word:  # a word alone may be anything
                for base in (posixpath.dirname(document.file), skill.root.directory):
                    found.add(posixpath.normpath(posixpath.join(base, target_path(word))))
    found.discard(skill.root.directory)
    return frozenset(found)


def _directories(skill: Skill, path: str) -> Iterator[str]:
    """Yield the directories of a file, up to and without the skill's own."""
    directory = path.rpartition("/")[0]
    while directory and directory != skill.root.directory:
        yield directory
        directory = directory.rpartition("/")[0]


def _text(tree: Tree, path: str, limit: int) -> tuple[str | None, str, bool]:
    """Read a text file, its line ends normalised; else None, the reason, and whether it may be text all the same."""
    if limit <= 0:
        return None, f"the files before it have {MAX_TOTAL_BYTES:,} bytes already", True
    try:
        data = tree.read(path, limit=limit + 1)
    except OSError as error:
        return None, f"it cannot be read ({error.strerror or error})", True
    if b"\x00" in data:
        return None, "it is not text: it holds a NUL byte", False
    is_whole = len(data) <= limit
    try:
        text = getincrementaldecoder("utf-8-sig")().decode(data, final=is_whole)
    except UnicodeDecodeError as error:
        return None, f"it is not UTF-8 text (byte 0x{error.object[error.start]:02x} at offset {error.start})", False
    if not is_whole:
        return None, f"it has more than {limit:,} bytes", True
    return text.replace("\r\n", "\n").replace("\r", "\n"), "", True


# What ends where it says so, whatever blank lines stand in it; as CommonMark has it, or the end of the text.
_ENCLOSED = re.compile(
    r"(?ims)<!--.*?(?:-->|\Z)|^[ ]{0,3}<(?:script|style|textarea)(?=[\s>]).*?(?:</(?:script|style|textarea)|\Z)"
)
_KEY = re.compile(r"[^\s#-][^:]*:")


def _passages(documents: Iterable[tuple[str, Document]], facts: Assessment) -> Iterator[Passage]:
    """Yield the passages that speak to a judge or a model, or hide something, by file and line; none overlap.

    They are whole paragraphs, list items, comments or values of the frontmatter. Comments that set a finding aside make
    no difference here.
    """
    lines: dict[str, set[int]] = defaultdict(set)
    for claim in facts.claims:
        if claim.id in RULES and claim.severity is not Severity.INFO:
            lines[claim.file].add(claim.line)
    for path, document in documents:
        if path in lines:
            surroundings = _Surroundings(document)
            yield from (Passage(path, *span) for span in _merged(map(surroundings.span, lines[path])))


class _Surroundings:
    """Finds the passages around the lines of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines = document.text.split("\n")
        self._headings = {heading.line for heading in document.headings}
        blocks = sorted((block.line, block.line + block.text.count("\n")) for block in document.blocks)
        self._spans = (list(_enclosed(document.text)), blocks)

    def span(self, line: int) -> tuple[int, int]:
        """Return the first and last line of the passage that a line is in."""
        if line < self._document.first_line:
            return self._value(line)
        found = []
        for spans in self._spans:  # of each kind the last that begins up to the line, where it reaches that far
            index = bisect_right(spans, line, key=lambda span: span[0]) - 1
            if index >= 0 and line <= spans[index][1]:
                found.append(spans[index])
        if found:
            return min(first for first, _ in found), max(last for _, last in found)
        return (line, line) if line in self._headings else self._paragraph(line)

    def _value(self, line: int) -> tuple[int, int]:
        """Return a key of the frontmatter with all of its value."""
        first, end = line, self._document.first_line - 1  # the line that closes the frontmatter
        while first > 2 and not _KEY.match(self._lines[first - 1]):
            first -= 1
        last = line
        while last + 1 < end and not _KEY.match(self._lines[last]):
            last += 1
        return first, last

    def _paragraph(self, line: int) -> tuple[int, int]:
        first = last = min(line, len(self._lines))
        while first > self._document.first_line and self._lines[first - 2].strip():
            first -= 1
        while last < len(self._lines) and self._lines[last].strip():
            last += 1
        return first, last


def _enclosed(text: str) -> Iterator[tuple[int, int]]:
    line, counted = 1, 0
    for match in _ENCLOSED.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield line, line + match[0].count("\n")


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
