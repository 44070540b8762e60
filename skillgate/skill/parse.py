"""Bytes to a Skill, with its other files: Markdown documents, scripts, and the names of all of them.

Never raises on content: what is wrong becomes a problem, and what cannot be read is left empty.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from skillgate.model.skill import (
    BETWEEN_BLOCKS,
    Document,
    EntryKind,
    Frontmatter,
    Problem,
    Skill,
    Span,
    TextFile,
    Waiver,
)
from skillgate.named_tuple import NamedTuple
from skillgate.skill import frontmatter
from skillgate.skill.frontmatter import routing_of
from skillgate.skill.links import Resolver
from skillgate.skill.markdown import Body
from skillgate.skill.suppressions import waivers
from skillgate.skill.walk import SKIPPED, VERSION_CONTROL, join, main_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from skillgate.model.skill import SkillRoot, SkillSource, Tree


MAX_BYTES = 5_000_000
CHARACTERS_PER_TOKEN = 2.6  # a cautious figure: vendors' tokenisers give 2.6 to 4 characters a token on such text
MAX_LISTED = 2_000  # files of one directory that are looked at
_BOM = "\ufeff"


def parse(source: SkillSource) -> Skill:
    """Parse a skill's main file and look at the files next to it."""
    unscored = _unscorable(source)
    if unscored is not None:
        return Skill(root=source.root, frontmatter=Frontmatter(), problems=(unscored,), unscored=unscored.message)
    raw = source.data.decode("utf-8")
    text, problems = _normalise(raw)
    problems += _misnamed(source.root)
    cut = frontmatter.split(text)
    if cut.problem:
        problems.append(cut.problem)
    head = Frontmatter()
    if cut.yaml is not None:
        head, found = frontmatter.parse(cut.yaml)
        problems += found
    if not cut.body.strip() and not (cut.yaml or "").strip():
        empty = Problem(rule="empty_file", span=Span(), message="the file has neither frontmatter nor instructions")
        return Skill(root=source.root, frontmatter=head, problems=(empty,), unscored=empty.message)
    return _assemble(source, text, cut, head, problems)


def _assemble(
    source: SkillSource, text: str, cut: frontmatter.Split, head: Frontmatter, problems: list[Problem]
) -> Skill:
    root = source.root
    resolver = Resolver(root)
    body = Body(cut.body, first_line=cut.body_line, resolver=resolver)
    problems += _not_directories(root)
    if not body.complete:
        message = "only part of the file is read: it is too long, or made to keep a parser busy"
        problems.append(Problem(rule="partly_read", span=Span(line=cut.body_line), message=message))
    if not body.holds_anything:
        span = Span(max(1, cut.body_line - 1))
        problems.append(Problem("no_body", span, "there are no instructions below the frontmatter"))
    main = body.document(root.tree_path(root.file_name), text)
    names = survey(root, main)
    problems += _clashes(root, names.files)
    read = tuple(documents(root, names))
    parsed = (main, *(one for one in read if isinstance(one, Document)))
    problems += (one for one in read if isinstance(one, Problem))
    aside = [one for document in parsed for one in waivers(document, main=document is main)]
    problems += (one for one in aside if isinstance(one, Problem))
    reached = {link.resolved for link in body.links} | {_mentioned(resolver, word) for word in body.mentions}
    linked = frozenset(path for path in reached if path is not None)
    related = {resolver.other_skill(path) for path in linked} | {resolver.sibling(word) for word in body.mentions}
    return Skill(
        root=root,
        frontmatter=head,
        problems=tuple(problems),
        routing=routing_of(head.text("description"), head.text("when_to_use")),
        lines=_lines(text, body.comments),
        tokens=ceil(len(cut.body) / CHARACTERS_PER_TOKEN),
        headings=main.headings,
        code_blocks=main.code_blocks,
        blocks=main.blocks,
        links=main.links,
        table_headers=tuple(body.table_headers),
        prose_lines=tuple(body.prose_lines),
        related=frozenset(path for path in related if path is not None),
        linked=linked,
        references=frozenset(_files(root.tree, root.tree_path("references"))),
        assets=frozenset(_files(root.tree, root.tree_path("assets"))),
        prose=BETWEEN_BLOCKS.join(block.text for block in body.blocks if block.prose).lower(),
        siblings=source.siblings,
        prose_words=sum(block.words for block in body.blocks if block.prose),
        has_body=body.holds_anything,
        documents=parsed,
        scripts=tuple(scripts(root, names.files, parsed)),
        files=names.files,
        waivers=tuple(one for one in aside if isinstance(one, Waiver)),
    )


def _unscorable(source: SkillSource) -> Problem | None:
    """Name the reason why the bytes hold no document at all, None when they do."""
    if source.dangling:
        message = f"{source.root.file_name} is a symbolic link that leads nowhere"
        return Problem("dangling_skill", Span(), message)
    if source.size > MAX_BYTES:
        return Problem("file_too_large", Span(), f"the file is {source.size:,} bytes long (maximum {MAX_BYTES:,})")
    if not source.data.strip():
        return Problem("empty_file", Span(), "the file is empty")
    nul = source.data.find(b"\x00")
    try:
        source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte 0x{source.data[error.start]:02x} at offset {error.start}"
        return Problem(rule="not_utf8", span=_span(source.data, error.start), message=message)
    if nul >= 0:
        return Problem("nul_byte", _span(source.data, nul), f"the file contains a NUL byte at offset {nul}")
    return None


def _span(data: bytes, offset: int) -> Span:
    start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[start:offset].decode("utf-8", "replace")) + 1
    return Span(line=data.count(b"\n", 0, offset) + 1, column=column)


def _normalise(raw: str) -> tuple[str, list[Problem]]:
    """Drop a byte order mark and make every line end a line feed, as CommonMark does; both are reported."""
    problems = []
    text = raw
    if text.startswith(_BOM):
        text = text[1:]
        message = "the file begins with a byte order mark, which some readers treat as part of the first line"
        problems.append(Problem(rule="byte_order_mark", span=Span(), message=message))
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        lone = text.find("\r")
        name = "Windows line endings (CRLF)" if lone < 0 else "lone carriage returns as line endings"
        line = raw.count("\n", 0, raw.find("\r")) + 1 if lone < 0 else text.count("\n", 0, lone) + 1
        problems.append(Problem(rule="line_ends", span=Span(line=line), message=f"the file has {name}"))
        text = text.replace("\r", "\n")
    return text, problems


def _lines(text: str, comments: list[tuple[int, int]]) -> int:
    """Count physical lines, each run of blank ones once: padding a file with them changes nothing.

    A line of an HTML comment is blank, since it is nothing to a reader.
    """
    hidden = {line for first, last in comments for line in range(first, last + 1)}
    count, blank = 0, False
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        empty = number in hidden or not line.strip()
        count += not (empty and blank)
        blank = empty
    return count


def _misnamed(root: SkillRoot) -> list[Problem]:
    if root.file_name == "SKILL.md":
        return []
    message = f"the file is named {root.file_name}; clients on most systems look only for SKILL.md"
    return [Problem(rule="file_name", span=Span(), message=message)]


def _clashes(root: SkillRoot, files: tuple[str, ...]) -> Iterator[Problem]:
    """Find files whose paths differ in letter case alone: capitals come first in their order, as in ``SKILL.md``."""
    first: dict[str, str] = {}
    for path in files:
        other = first.setdefault(path.casefold(), path)
        if other != path:
            both = f"{root.inside(path)} and {root.inside(other)}"
            message = f"{both} differ only in letter case: some file systems keep only one"
            yield Problem("file_name_clash", Span(), message, path)


def _not_directories(root: SkillRoot) -> Iterator[Problem]:
    for name in ("references", "assets", "scripts"):
        entry = root.tree.entry(root.tree_path(name))
        if entry is None or entry.kind is EntryKind.DIRECTORY:
            continue
        what = "a file" if entry.kind is EntryKind.FILE else "a link to nothing inside the tree, or not a regular file"
        yield Problem(rule="not_a_directory", span=Span(), message=f"{name} is {what}; it must be a directory")


def _files(tree: Tree, directory: str) -> Iterator[str]:
    """List the non-empty files below a directory, at most 2,000 names of it, without recursion.

    What a symbolic link leads to counts only where it leads to another place below the same directory.
    """
    top = tree.real(directory)
    if top is None or (f"{directory}/".startswith(f"{top}/") and top != directory):
        return  # nothing there, or a link to the skill itself or to what it lies in
    pending, seen, entered = [directory], 0, set[str]()
    while pending and seen < MAX_LISTED:
        current = pending.pop()
        for name in tree.names(current):
            seen += 1
            path = f"{current}/{name}"
            entry, real = tree.entry(path), tree.real(path)
            if entry is None or real is None or not real.startswith(f"{top}/"):
                continue
            if entry.kind is EntryKind.DIRECTORY and real not in entered:
                entered.add(real)
                pending.append(path)
            elif entry.kind is EntryKind.FILE and entry.size:
                yield path


def _mentioned(resolver: Resolver, word: str) -> str | None:
    return resolver.resolve(word, resolver.classify(word)) if "/" in word else None


MAX_FILES = 2_000  # names that are looked at
MAX_DOCUMENT_BYTES = 1 << 20  # of one document: a longer one is data
MAX_SCRIPT_BYTES = 1 << 18
MAX_DOCUMENTS = 300
MAX_TOTAL_BYTES = 8 << 20  # of all documents, and again of all scripts; published skills stay below 1 MB
# What lies there is filled in or read by programs; the model does not follow it.
NOT_INSTRUCTIONS = frozenset(("assets", "templates", "template", "fixtures", ".github"))
TESTS = frozenset(("evals", "tests", "test"))  # below references/ a folder of that name holds guides to testing
REFERENCES = frozenset(("references", "reference", "resources", "rules", "workflows", "guides"))
# At the top of a skill these are written for people; further down a README often is the page of its folder.
PAPERS = frozenset(("readme", "license", "licence", "changelog", "contributing", "notice"))
SHOUTED_PAPERS = frozenset(("SECURITY", "SUPPORT", "AUTHORS", "CODE"))  # security.md may well be an instruction
MARKDOWN = (".md", ".markdown")
SCRIPTS = (".py", ".sh", ".bash", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1", ".txt", ".json", ".yaml", ".yml", ".toml")
# Text that no model follows as it stands, but that is read, run or copied: programs, data, templates, settings.
TEXTS = (
    *(
        *SCRIPTS,
        *MARKDOWN,
        ".cjs",
        ".tsx",
        ".jsx",
        ".go",
        ".rs",
        ".sql",
        ".html",
        ".xml",
        ".csv",
        ".zsh",
        ".fish",
        ".bat",
    ),
    *(".cmd", ".env", ".ini", ".cfg", ".conf", ".properties", ".pem", ".key", ".npmrc", ".netrc", ".pypirc", ".tf"),
    *(".tfvars", ".log"),
)
OTHER_TEXTS = (*MARKDOWN, *SCRIPTS, ".cjs", ".tsx", ".jsx", ".go", ".rs", ".r", ".sql", ".html", ".xml", ".mdx", ".csv")
# Programs by their whole name, in any letter case, and by suffix; also what has no suffix and begins with a shebang.
RECIPES = frozenset(("makefile", "gnumakefile", "dockerfile", "containerfile", "justfile", "rakefile"))
NOTEBOOK = ".ipynb"
RECIPE_SUFFIXES = (".mk", NOTEBOOK)


class Survey(NamedTuple):
    """The names of a skill's files."""

    files: tuple[str, ...]  # their tree paths, sorted
    cut: bool  # whether documents may be among the names that were not looked at
    closed: tuple[str, ...] = ()  # directories that may not be read


def survey(root: SkillRoot, main: Document) -> Survey:
    """List the tree paths of a skill's files, without those of skills that lie below it.

    A symbolic link is followed where it leads to another place below the skill. Where there are more than
    :data:`MAX_FILES` names, folders of instructions come first. What the main file links is among them even where it
    comes after these, lies behind a link out of the skill, or in a directory that tools fill.
    """
    found, whole = _walk(root)
    return found if whole else found._replace(files=tuple(sorted({*found.files, *_linked(root, main, found.files)})))


def _walk(root: SkillRoot) -> tuple[Survey, bool]:
    """Return what lies in a skill's directory, and whether no name, tool's directory or link out of it was left out."""
    tree, inside = root.tree, f"{root.directory}/" if root.directory else ""
    found, pending, left = [], [root.directory], MAX_FILES
    entered, whole, cut, closed = {root.directory}, True, [], []
    while pending and left:
        current = pending.pop()
        names = tree.names(current)
        closed += [current] if _is_closed(tree, current, names) else []
        cut += [current] if len(names) > left else []
        names = names[:left]
        left -= len(names)
        below = []
        for name in names:
            path = f"{current}/{name}" if current else name
            entry, real = tree.entry(path), tree.real(path)
            if entry is None or real is None:
                continue
            if not real.startswith(inside):
                whole = False
            elif entry.kind is EntryKind.FILE:
                found.append(path)
            elif entry.kind is EntryKind.DIRECTORY and name in SKIPPED:
                whole = whole and name in VERSION_CONTROL
            elif entry.kind is EntryKind.DIRECTORY and real not in entered:
                entered.add(real)
                if main_file(dict.fromkeys(tree.names(path))) is None:
                    below.append(path)
        pending += sorted(below, key=_comes_late, reverse=True)
    cut += pending
    may_instruct = any(_instructs(root, join(place, "a.md")) for place in cut)
    return Survey(tuple(sorted(found)), cut=may_instruct, closed=tuple(sorted(closed))), whole and not cut


def _is_closed(tree: Tree, directory: str, names: Sequence[str]) -> bool:
    """Return whether a directory may not be read: its names, or what lies behind the first of them, are unknown."""
    entry = tree.entry(join(directory, names[0] if names else "a.md"))
    return entry is not None and entry.kind is EntryKind.UNREADABLE


def _linked(root: SkillRoot, main: Document, listed: Collection[str]) -> dict[str, None]:
    """Return the files of a skill that its main file leads to; the documents among them that are not listed lead on."""
    pending, found, left, known = [main], dict[str, None](), MAX_TOTAL_BYTES, frozenset(listed)
    reach = _Reach(root)
    for document in pending:  # which grows
        for target in reach.files(document):
            if target in found:
                continue
            found[target] = None
            if target in known or len(pending) > MAX_DOCUMENTS or not _instructs(root, target):
                continue
            text, _ = _text(root, target, min(left, MAX_DOCUMENT_BYTES))
            if text is not None:
                left -= len(text)
                pending.append(_parsed(root, target, text))
    return found


class _Reach:
    """Finds the files of one skill that documents lead to; each path is looked up once."""

    def __init__(self, root: SkillRoot) -> None:
        self._root = root
        self._left = MAX_FILES  # names of files and directories that are looked at
        self._queried: set[str | None] = {None}
        self._inner: dict[str, bool] = {root.directory: False}

    def files(self, document: Document) -> Iterator[str]:
        """Return the tree paths that a document leads to by a link or a path in its text; of a directory its files."""
        resolver = Resolver(self._root, at=document.file.rpartition("/")[0])
        words = sorted(word for word in document.mentions if "/" in word)
        mentioned = (resolver.resolve(word, resolver.classify(word)) for word in words)
        for path in (*(link.resolved for link in document.links), *mentioned):
            if path in self._queried or path is None or self._left <= 0:
                continue
            self._queried.add(path)
            names = self._root.tree.names(path)[: self._left]
            self._left -= 1 + len(names)
            yield from filter(self._is_own, (join(path, name) for name in names) if names else (path,))

    def _is_own(self, path: str) -> bool:
        """Return whether a path is a file in the skill's directory, and of no skill below it."""
        root = self._root
        folder = path.rpartition("/")[0]
        if root.directory and not path.startswith(f"{root.directory}/"):
            return False
        if not VERSION_CONTROL.isdisjoint(folder[len(root.directory) :].split("/")) or self._is_inner(folder):
            return False
        entry = root.tree.entry(path)
        return entry is not None and entry.kind is EntryKind.FILE

    def _is_inner(self, folder: str) -> bool:
        """Return whether a directory below the skill's is another skill, or lies in one."""
        pending = []
        while folder not in self._inner:  # not recursive: a path through links can have thousands of parts
            pending.append(folder)
            folder = folder.rpartition("/")[0]
        inner = self._inner[folder]
        for step in reversed(pending):
            inner = inner or main_file(dict.fromkeys(self._root.tree.names(step))) is not None
            self._inner[step] = inner
        return inner


def documents(root: SkillRoot, found: Survey) -> Iterator[Document | Problem]:
    """Read and parse the Markdown files next to the main one that a model may come to follow.

    Not those made to be filled in, tests, papers about the skill, and second names of a file. What cannot be read, is
    no text, or comes after :data:`MAX_DOCUMENTS` or :data:`MAX_TOTAL_BYTES` gives a problem in its place. So does the
    skill as a whole if documents may be among the names that :func:`survey` did not look at.
    """
    if found.cut:
        message = f"the skill has more than {MAX_FILES:,} files; of the rest only linked files are checked"
        yield Problem("document_unread", Span(), message)
    for place in found.closed:
        yield Problem("document_unread", Span(), "the directory is not readable, so nothing in it was checked", place)
    seen = {root.tree.real(root.tree_path(root.file_name))}
    left, count = MAX_TOTAL_BYTES, 0
    wanted = [path for path in found.files if _instructs(root, path)]
    wanted.sort(key=lambda path: (root.tree.real(path) != path, path))  # of two names the file's own
    for index, path in enumerate(wanted):
        real = root.tree.real(path)
        if real in seen:
            continue
        seen.add(real)
        if count >= MAX_DOCUMENTS or left <= 0:
            message = (
                f"this document and those after it ({len(wanted) - index} in all) are not read: there are too many"
            )
            yield Problem("document_unread", Span(), message, path)
            return
        text, reason = _text(root, path, min(MAX_DOCUMENT_BYTES, left))
        if text is None:
            yield Problem("document_unread", Span(), f"the document is not read: {reason}", path)
        else:
            left, count = left - len(text), count + 1
            yield _parsed(root, path, text)


def scripts(root: SkillRoot, paths: Sequence[str], known: Iterable[Document]) -> Iterator[TextFile]:
    """Read the text files that are not ``known`` as documents, each once: scripts, data, templates, ``.env``."""
    seen, left = {root.tree.real(document.file) for document in known}, MAX_TOTAL_BYTES
    for path in paths:
        real = root.tree.real(path)
        if real in seen or not _is_text(root, path):
            continue
        seen.add(real)
        is_notebook = path.lower().endswith(NOTEBOOK)
        limit = min(MAX_DOCUMENT_BYTES if is_notebook else MAX_SCRIPT_BYTES, left)
        text, _ = _text(root, path, limit)
        if text is None:
            text = _of_utf16(root, path, limit)
        if text:
            left -= len(text)
            yield TextFile(path, _code_of_notebook(text) if is_notebook else text)


def _of_utf16(root: SkillRoot, path: str, limit: int) -> str | None:
    """Return a text in UTF-16 with a byte order mark, as PowerShell writes it; None for anything else."""
    try:
        data = root.tree.read(path, limit=limit + 1)
        if len(data) > limit or not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return None
        text = data.decode("utf-16")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\x00" in text else text.replace("\r\n", "\n").replace("\r", "\n")


def _code_of_notebook(text: str) -> str:
    """Return the code of a notebook's cells, each line of it on the line of the file that has it if there is one."""
    import json  # few skills have a notebook

    try:
        cells = json.loads(text)["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        code = "\n".join(one if isinstance(one, str) else "".join(one) for one in sources).split("\n")
    except (ValueError, LookupError, TypeError, RecursionError):
        return text  # no notebook: as it is
    lines, row = [""] * (text.count("\n") + 1), 0
    written = [line.strip().rstrip(",") for line in text.split("\n")]
    for line in filter(None, code):
        forms = {json.dumps(end, ensure_ascii=plain) for end in (line, f"{line}\n") for plain in (True, False)}
        row = next((at for at in range(row, len(written)) if written[at] in forms), len(written))
        if row == len(written):
            return "\n".join(code)  # written in another way: lines count in the code
        lines[row], row = line, row + 1
    return "\n".join(lines)


def _is_text(root: SkillRoot, path: str) -> bool:
    """Return whether a file is text by its name or its shebang.

    At the top of a project only files in the folders that skills have are text.
    """
    inside = root.inside(path)
    name = inside.rpartition("/")[2].lower()
    if not root.directory and not inside.startswith(("scripts/", "assets/", "references/")):
        return False
    if name.endswith((*TEXTS, *RECIPE_SUFFIXES)) or name.startswith(".env") or name in RECIPES:
        return True
    return "." not in name and (inside.startswith("scripts/") or _has_shebang(root, path))


def _has_shebang(root: SkillRoot, path: str) -> bool:
    try:
        return root.tree.read(path, limit=2) == b"#!"
    except OSError:
        return False


def other_texts(root: SkillRoot, paths: Sequence[str], known: Collection[str]) -> Iterator[tuple[str, str] | None]:
    """Yield path and text of what else could name a file of the skill: scripts, templates, data, documents passed over.

    One after the other, without the ``known`` ones, so that a search may end early; None for a file that was not read,
    because it is too large or the system would not give it.
    """
    left = MAX_TOTAL_BYTES
    for path in paths:
        name = path.rpartition("/")[2].lower()
        if path in known or not (name.endswith((*OTHER_TEXTS, *RECIPE_SUFFIXES)) or "." not in name):
            continue
        limit = min(MAX_DOCUMENT_BYTES, left)
        try:
            data = root.tree.read(path, limit=limit + 1)
        except OSError:
            yield None
            continue
        left -= min(len(data), limit)
        yield (path, data.decode("utf-8", "replace")) if len(data) <= limit else None


def _comes_late(path: str) -> tuple[bool, bool, str]:
    name = path.rpartition("/")[2].lower()
    return name not in REFERENCES, name in NOT_INSTRUCTIONS or name in TESTS, path


def _parsed(root: SkillRoot, path: str, text: str) -> Document:
    cut = frontmatter.split(text)
    body = Body(cut.body, first_line=cut.body_line, resolver=Resolver(root, at=path.rpartition("/")[0]), counted=False)
    return body.document(path, text)


def _instructs(root: SkillRoot, path: str) -> bool:
    *folders, name = root.inside(path).split("/")
    if not name.lower().endswith(MARKDOWN) or path == root.tree_path(root.file_name):
        return False
    folders = [folder.lower() for folder in folders]
    apart = folders[:1] == [] or folders[0] not in REFERENCES
    if not root.directory and apart:  # the files around a skill at the top are its project's
        return False
    if not NOT_INSTRUCTIONS.isdisjoint(folders) or (apart and not TESTS.isdisjoint(folders)):
        return False
    return bool(folders) or not _is_paper(name)


def _is_paper(name: str) -> bool:
    """Return whether a file at the top is one that repositories have: README.md, README.zh-CN.md, LICENSE-MIT.md."""
    stem = name.rpartition(".")[0]
    word = stem.replace("-", ".").replace("_", ".").partition(".")[0]
    return word in SHOUTED_PAPERS or (word.lower() in PAPERS and (word.isupper() or word == stem))


def _text(root: SkillRoot, path: str, limit: int) -> tuple[str | None, str]:
    """Read a text file, its line ends normalised; None, with the reason, for one that cannot be had as text."""
    try:
        data = root.tree.read(path, limit=limit + 1)
    except OSError as error:
        return None, f"it cannot be read ({error.strerror or error})"
    if len(data) > limit:
        return None, f"it has more than {limit:,} bytes"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, f"it is not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start})"
    if "\x00" in text:
        return None, "it contains a NUL byte"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""
