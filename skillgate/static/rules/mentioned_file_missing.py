"""A file that the instructions name and that does not exist.

Why:
    A model that tries to read or run the file gets an error, and guesses what the file said. Text, code spans and
    commands are searched for paths into references/, scripts/ and assets/, and for paths into other folders that the
    skill has. A path may start from the document's directory, the skill's, or one above it. The finding is an error if
    the skill has that folder, or if the text says to read or run the file; else it is a warning. Each file is reported
    once, where it is first named. Other rules report dead links.
    Not reported: files that the skill says to write, files of another skill or of the user's project, examples,
    placeholders, and code blocks, but for a command that runs such a file. In a skill about skills most paths are
    examples, so only what it says to read or run counts there.

Bad:
    Read `references/limits.md` first.     (and no such file)

Good:
    Read `references/limits.md` first.     (and references/limits.md next to SKILL.md)

Source: Agent Skills specification, file references; field study of named files in published skills.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from posixpath import normpath

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import CodeBlock, Document, Skill, Span
from skillgate.named_tuple import NamedTuple
from skillgate.skill.links import SUFFIXES, is_sample_name, namesake, target_path
from skillgate.static import Hits, rule
from skillgate.static.code import nested_fences
from skillgate.static.text import hit

MAX_HITS = 10
MAX_MENTIONS = 1_000  # that are read: what names more is made to keep a checker busy
_OWN = ("references", "scripts", "assets")
_OF_PROJECTS = frozenset(
    (
        *("app", "bin", "build", "config", "data", "dist", "doc", "docs", "e2e", "lib", "output", "packages", "public"),
        *("spec", "specs", "src", "test", "tests", "tmp", "vendor"),
    )
)
_CONTEXT = 160  # characters before and after a path that are read
_LEAD_WIDTH = 40
_COMMENT = 4_000  # characters before a path that are searched for an open comment
_SUFFIX = "|".join(sorted(SUFFIXES, key=len, reverse=True))
_PATH = re.compile(rf"[\w.-]+(?:/[\w.-]+)*\.(?:{_SUFFIX})(?![\w/(*{{<\[-]|\.\w|:\d)")
_LEAD = re.compile(
    r"(?:(?<![\w/.\\$~}>)\]@:%*+-])|(?:\$\{?(?:CLAUDE_)?SKILL_(?:DIR|ROOT|PATH)\}?|\{baseDir\})/)(?:\.\.?/)*\Z"
)
_COMMANDS = frozenset(("bash", "sh", "shell", "zsh", "console", "powershell", ""))
# Compiled at first use: few skills name a file that is not there.
_RUNS = (
    r"(?:\A|[|;&(])[ \t$]*(?:(?:uv run )?python[\d.]*|uv run|bash|sh|zsh|node|npx tsx|tsx|bun|deno run|ruby|perl|source"
    r"|cat)(?: -\w+){0,3} [\"']?\Z"
)
_SAYS = r"[ \t]*(?:#|//|--)[ \t]*(?:See|Read)[ \t]+\Z"
_HEADER = ("#", "//", "--", "/*", "<!--")
_ORDER = (
    r"(?:\b(?:reads?|see|loads?|runs?|executes?|consult|refer to|follow|open|checks?|use|using|per|via|python3?|bash)\b"
    r"|\breference\W{0,4}:)(?:[^.;!?\n]|\.(?=\w)){0,40}\Z"
)
_MADE = (
    r"(?:\b(?:creat|writ|writt|generat|sav|produc|export|scaffold|add|put|stor|dump|touch|record|append|updat|renam|mov)"
    r"(?:e|es|ed|en|s|ing)?\b"
    r"(?:(?!\b(?:with|using|via|from|by|runs?|running|see|per|read|following|based|use)\b)[^.;!?]){0,80}"
    r"|>>?[ \t]*|\btee[ \t]+)\Z"
)
_CLAUSE = r"(?:[^.;!?\n]|\.(?=\w))"  # characters of the same clause; a dot in a name is one
_DOUBT = (
    r"(?:\be\.g\b|\b(?:examples?|for instance|such as|like|sample|your|user['’]?s?|projects?['’]?s?|repo|repository"
    r"|could|would|might|may|if|unless|no|not|never|don['’]t|without|instead of|rather than|removed?|deleted?"
    r"|deprecated|existing|formerly|old|lacks?|skills?['’]s|skills?|plugin['’]s|bad|wrong|todo|template for)\b)"
    rf"\.?{_CLAUSE}{{0,60}}\Z|`['’]s?[ `*]*\Z|[✗❌✅✓]"
)
_ELSE = (
    r"[^\w\n]{0,6}(?:(?:does not|doesn['’]t|do not|is optional|optional|if|when present|exists?|is missing|are missing"
    r"|coming|planned|will be|created|generated|would|might|may)\b"
    r"|(?:in|of|from) (?:the|your) (?:[\w`-]{1,40} )?(?:skill|project|repo))"
)
_HYPHENATED = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_STANDS_FOR = re.compile(r"(?<=[a-z_-])[NX](?=[._-])")  # phaseN.md
_ABOUT_SKILLS = re.compile(r"\bskills\b|\bskill\.md\b|\bplugins?\b|\bskill-")  # skill-creator


class _Mention(NamedTuple):
    """One place that names a missing file; ``orders``: the text says to use it, ``made``: that something writes it."""

    document: Document
    span: Span
    path: str
    orders: bool
    made: bool


def find(skill: Skill) -> Hits:
    """Yield one hit for each missing file at its first mention, about ten at most, then one for the rest."""
    named: dict[str, list[_Mention]] = {}
    for mention in islice(_Search(skill).mentions(), MAX_MENTIONS):
        named.setdefault(target_path(mention.path), []).append(mention)
    found = [mentions for mentions in named.values() if not any(one.made for one in mentions)]
    shown = found if len(found) == MAX_HITS + 1 else found[:MAX_HITS]
    for mentions in shown:
        yield _hit(skill, mentions)
    if rest := found[len(shown) :]:
        severity = Severity.ERROR if any(_is_certain(skill, mentions) for mentions in rest) else Severity.WARNING
        message = f"and {len(rest)} more files are named but do not exist"
        yield hit(rest[0][0].document, skill, rest[0][0].span, message, severity=severity)


def _hit(skill: Skill, mentions: list[_Mention]) -> Hit:
    first = mentions[0]
    path = target_path(first.path)
    near = namesake(skill, first.document, path)
    times = f" {len(mentions)} times" if len(mentions) > 1 else ""
    message = f"{path} is named{times} but does not exist" + (f"; there is {near}" if near else "")
    severity = Severity.ERROR if _is_certain(skill, mentions) else Severity.WARNING
    return hit(first.document, skill, first.span, message, severity=severity, fix=f"name {near}" if near else None)


def _is_certain(skill: Skill, mentions: list[_Mention]) -> bool:
    return any(one.orders for one in mentions) or _has_folder(skill, mentions[0].path)


def _has_folder(skill: Skill, path: str) -> bool:
    """Whether the skill has the first folder of a path."""
    return skill.root.tree.entry(skill.root.tree_path(target_path(path).partition("/")[0])) is not None


class _Search:
    """Searches the documents of one skill."""

    def __init__(self, skill: Skill) -> None:
        root = skill.root
        self._skill = skill
        parts = [root.inside(path).split("/") for path in skill.files]
        self._tails = {"/".join(path[start:]) for path in parts for start in range(len(path))}
        tops = {path[0] for path in parts if len(path) > 1} if root.directory else set()
        self._folders = [*_OWN, *sorted(tops - _OF_PROJECTS - {*_OWN})]
        self._linked = {target_path(link.target) for document in skill.documents for link in document.links}
        self._real = root.tree.real(root.tree_path(root.file_name))
        about = f"{root.name} {skill.frontmatter.text('description')}".lower()
        self._about_skills = _ABOUT_SKILLS.search(about) is not None

    def mentions(self) -> Iterator[_Mention]:
        """Yield the mentions of missing files that are no samples."""
        for document in self._skill.documents:
            for folder in self._folders:
                yield from self._in_document(document, f"{folder}/")

    def _in_document(self, document: Document, folder: str) -> Iterator[_Mention]:
        starts = [block.line for block in document.code_blocks]
        row, counted = 1, 0
        nested = nested_fences(document)
        is_mixed = not all(block.closed for block in document.code_blocks)
        mixed = (nested[0].block.line if nested else starts[0]) if is_mixed else math.inf
        for place, path in _paths(document.text, folder):
            if self._is_there(document, path) or target_path(path) in self._linked or _is_sample(path):
                continue
            row, counted = row + document.text.count("\n", counted, place), place
            if row > mixed or any(one.covers(row) for one in nested):
                continue  # it may be the inside of a sample
            index = bisect_right(starts, row) - 1
            block = document.code_blocks[index] if index >= 0 and row <= document.code_blocks[index].end_line else None
            mention = self._mention(document, place, path, row, block)
            if mention is not None and (mention.made or mention.orders or not self._about_skills):
                yield mention

    def _is_there(self, document: Document, path: str) -> bool:
        """Whether a path leads to something from a document's directory or one above, or from the real SKILL.md's."""
        if path.replace("../", "") in self._tails:
            return True
        for base in dict.fromkeys((document.file, self._real or document.file)):
            while base:
                base = base.rpartition("/")[0]
                place = normpath(f"{base}/{path}" if base else path)
                if not place.startswith("..") and self._skill.root.tree.entry(place) is not None:
                    return True
        return False

    def _mention(self, document: Document, place: int, path: str, row: int, block: CodeBlock | None) -> _Mention | None:
        """Judge one mention by the text around it; None if it does not speak of the skill's own files."""
        text = document.text
        start = text.rfind("\n", 0, place) + 1
        lead = _LEAD.search(text, max(start, place - _LEAD_WIDTH), place)
        before = text[max(start, place - _CONTEXT) : lead.start() if lead else place].lower()
        span = Span(row, place - start + 1)
        made = re.search(_MADE, before.rstrip("`*_\"'( ")) is not None
        if block is not None:
            made = made or (row <= block.line + 2 and before.strip() in _HEADER)  # the block is the file's content
            orders = self._is_command(document, path, text[start:place], block)
            return _Mention(document, span, path, orders, made) if made or orders else None
        if row < document.first_line or _in_comment(text, place):
            return None
        above = text[max(0, start - _CONTEXT) : start].rpartition("\n\n")[2].replace("\n", " ").lower()
        end = place + len(path.replace("../", ""))
        after = text[end : end + _CONTEXT].partition("\n")[0].lower()
        if not made and (re.search(_DOUBT, f"{above}{before}"[-_CONTEXT:]) or re.match(_ELSE, after)):
            return None
        if not made and self._of_another(f"{above}{before}{after}", path):
            return None
        return _Mention(document, span, path, re.search(_ORDER, before) is not None, made)

    def _is_command(self, document: Document, path: str, before: str, block: CodeBlock) -> bool:
        """Whether a line of code runs the file, or a comment in it says to read it."""
        if document is not self._skill.documents[0] and not _has_folder(self._skill, path):
            return False
        runs = block.language in _COMMANDS and re.search(_RUNS, before) is not None
        return runs or (path.startswith("references/") and re.match(_SAYS, before) is not None)

    def _of_another(self, context: str, path: str) -> bool:
        """Whether the text around a path names another skill that has such a file."""
        root = self._skill.root
        skills = root.directory.rpartition("/")[0]
        names = _HYPHENATED.findall(context)
        return any(root.tree.entry(f"{skills}/{name}/{path}" if skills else f"{name}/{path}") for name in names)


def _paths(text: str, folder: str) -> Iterator[tuple[int, str]]:
    """Yield each path into a folder: where the folder begins, and the path with the dots before it."""
    place = text.find(folder)
    while place >= 0:
        lead = _LEAD.search(text, max(0, place - _LEAD_WIDTH), place)
        found = _PATH.match(text, place) if lead else None
        if lead and found:
            yield place, "../" * lead[0].count("../") + found[0]
        place = text.find(folder, place + 1)


def _is_sample(path: str) -> bool:
    parts = path.lower().split("/")
    return any(is_sample_name(part, last=part is parts[-1]) for part in parts) or bool(_STANDS_FOR.search(path))


def _in_comment(text: str, place: int) -> bool:
    low = max(0, place - _COMMENT)
    return text.rfind("<!--", low, place) > text.rfind("-->", low, place)


RULE = rule(find, Severity.ERROR, "links", fix="create the file, correct the path, or remove the mention")
