"""Puts together what a judge is given of one skill: its text, its neighbours, and what layer 1 measured."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.read import trigger_prompts
from skillgate.judge.siblings import Shelves, listed
from skillgate.judge.subject import Dossier, Page
from skillgate.judge.suspicious import passages
from skillgate.model.skill import LinkKind
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.model.assessment import Assessment
    from skillgate.model.ports import Tree
    from skillgate.model.score import Dimension, Measured
    from skillgate.model.skill import Document, Skill, SkillSource

MAX_BYTES = 1 << 20  # of one file beside the main one: a longer one is data
MAX_TOTAL_BYTES = 8 << 20  # of all of them; published skills stay below 1 MB
MAX_PAGES = 300
MAX_UNREAD = 100  # files that are named; those beyond are counted
MAX_FACTS = 80
MAX_EVIDENCE = 8  # lines of one sub-check
LONGEST_FACT = 240


class Unjudged(NamedTuple):
    """A skill that no judge is asked about, and why."""

    reason: str


class _Gathered(NamedTuple):
    """Text files of a skill, and those that could not be had as text with why."""

    pages: tuple[Page, ...]
    unread: tuple[tuple[str, str], ...]


def dossier(
    source: SkillSource, facts: Assessment, *, most_siblings: int = 15, shelves: Shelves | None = None
) -> Dossier | Unjudged:
    """Put together what a judge is given of a skill. Never raises on content.

    All text files of ``references/`` are pages, and so are the other Markdown files that layer 1 takes for instructions
    of the skill, wherever they lie in it.

    Args:
        source: the bytes of its main file, and where it lies.
        facts: what layer 1 knows of it.
        most_siblings: how many skills it is listed among, at most.
        shelves: the neighbours looked through so far; given for a run of many skills, so that none is read twice.

    Returns:
        The dossier, or why there is nothing to judge.
    """
    if facts.unscored is not None:
        return Unjudged(facts.unscored)
    skill = parse(source)
    if skill.unscored is not None:
        return Unjudged(skill.unscored)
    root = source.root
    documents = {_inside(skill, document.file): document for document in skill.documents}
    gathered = _gather(skill, documents)
    name, description = facts.listing.name, listed(facts.listing.description, facts.listing.when_to_use)
    return Dossier(
        path=str(root.path),
        name=name,
        description=description,
        category=_category(skill),
        pages=gathered.pages,
        unread=gathered.unread,
        siblings=(shelves or Shelves()).siblings(root, name, description, most_siblings),
        facts=tuple(islice(_facts(skill, facts), MAX_FACTS)),
        code_blocks=sum(len(document.code_blocks) for document in skill.documents),
        suspicious=passages(documents.items(), facts),
        prompts=trigger_prompts(root.tree, root.directory),
    )


def _inside(skill: Skill, path: str) -> str:
    """Give a tree path as one relative to the skill's directory."""
    return path[len(skill.root.directory) + 1 :] if skill.root.directory else path


def _category(skill: Skill) -> str:
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    return category.strip() if isinstance(category, str) else ""


def _gather(skill: Skill, documents: Mapping[str, Document]) -> _Gathered:
    """Give the main file, then the files of ``references/``, then other documents, each group by path."""
    main = next(iter(documents))
    pages = [Page(path, document.text) for path, document in documents.items()]
    unread = [
        (_inside(skill, problem.file), problem.message.removeprefix("the document is not read: "))
        if problem.file
        else ("references", problem.message)
        for problem in skill.problems_of("document_unread")
    ]
    beside = _References(skill, documents)
    pages += beside.pages()
    pages.sort(key=lambda page: (page.path != main, not page.path.startswith("references/"), page.path))
    known = {path for path, _ in unread}
    unread += (entry for entry in beside.unread if entry[0] not in known)
    if len(pages) > MAX_PAGES:
        unread += ((page.path, f"it comes after the first {MAX_PAGES} files") for page in pages[MAX_PAGES:])
    return _Gathered(tuple(pages[:MAX_PAGES]), _bounded(unread))


def _bounded(unread: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    if len(unread) <= MAX_UNREAD:
        return tuple(sorted(unread))
    more = (f"{len(unread) - MAX_UNREAD:,} more files", "for reasons such as those above")
    return (*sorted(unread)[:MAX_UNREAD], more)


class _References:
    """Reads what of ``references/`` is no document that was read already; ``unread`` is what it could not read."""

    def __init__(self, skill: Skill, documents: Mapping[str, Document]) -> None:
        tree = skill.root.tree
        self._skill = skill
        self._known = {tree.real(document.file) for document in documents.values()}
        self._left = MAX_TOTAL_BYTES - sum(len(document.text) for document in list(documents.values())[1:])
        self.unread: list[tuple[str, str]] = []

    def pages(self) -> Iterator[Page]:
        """Give the files that are text, each once whatever links lead to it."""
        tree = self._skill.root.tree
        for path in sorted(self._skill.references, key=lambda path: (tree.real(path) != path, path)):
            real = tree.real(path)
            if real in self._known:
                continue
            self._known.add(real)
            inside = _inside(self._skill, path)
            text, why = _text(tree, path, min(MAX_BYTES, self._left))
            if text is None:
                self.unread.append((inside, why))
            else:
                self._left -= len(text)
                yield Page(inside, text)


def _text(tree: Tree, path: str, limit: int) -> tuple[str | None, str]:
    """Read a text file, its line ends normalised; None, with the reason, where it is none."""
    if limit <= 0:
        return None, f"the files before it have {MAX_TOTAL_BYTES:,} bytes already"
    try:
        data = tree.read(path, limit=limit + 1)
    except OSError as error:
        return None, f"it cannot be read ({error.strerror or error})"
    if len(data) > limit:
        return None, f"it has more than {limit:,} bytes"
    if b"\x00" in data:
        return None, "it is not text: it holds a NUL byte"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, f"it is not UTF-8 text (byte 0x{data[error.start]:02x} at offset {error.start})"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""


def _facts(skill: Skill, facts: Assessment) -> Iterator[str]:
    """Give what layer 1 counted and measured, a line each; words of the author may stand in them."""
    yield from _counts(skill)
    counted = Counter(claim.id for claim in facts.claims)
    if counted:
        told = ", ".join(f"{rule} ×{count}" if count > 1 else rule for rule, count in sorted(counted.items()))
        yield _short(f"findings: {told}")
    yield from (line for check in facts.detail().scores for line in _measured(*check))


def _counts(skill: Skill) -> Iterator[str]:
    dead = sum(link.dead for link in skill.links)
    to_files = sum(link.kind is not LinkKind.OTHER for link in skill.links)
    yield (
        f"main file: {skill.lines:,} lines, {skill.prose_words:,} words of prose, about {skill.tokens:,} tokens,"
        f" {len(skill.headings):,} headings, {len(skill.code_blocks):,} code blocks"
    )
    yield f"links to files: {to_files:,}, of which {dead:,} lead nowhere"
    references, assets = len(skill.references), len(skill.assets)
    yield f"files: {references:,} in references/, {assets:,} in assets/, {len(skill.files):,} in all"


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
    """Bring a fact to one line of bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_FACT else f"{flat[: LONGEST_FACT - 1]}…"
