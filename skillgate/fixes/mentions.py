"""Where other texts mention a skill by its name: what a rename would leave without a target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.fixes.plan import Change
from skillgate.skill.frontmatter import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.skill import Document, Skill, SkillRoot


class Mention(NamedTuple):
    """A file that mentions a name, and what to replace in it."""

    root: SkillRoot  # of the skill that the file belongs to
    file: str
    line: int  # of the first mention
    pattern: str
    name: str  # the new one
    own: bool  # whether it is the skill's own text: then its frontmatter is left alone

    @property
    def shown(self) -> str:
        """Name the file and the line, as findings do."""
        return f"{self._path}:{self.line}"

    @property
    def _path(self) -> str:
        return str(self.root.path / self.root.inside(self.file))

    def renamed(self, change: Change | None, rules: Sequence[str]) -> Change:
        """Return the change of the file, on top of what else ``change`` does to it."""
        if change is None:
            data = self.root.tree.read(self.file, limit=1 << 30)
            change = Change(self.file, self._path, data, data, ())
        text = change.after.decode()
        head = _head(text) if self.own else 0
        after = text[:head] + re.sub(self.pattern, lambda _: self.name, text[head:])
        return change._replace(
            after=after.encode(),
            rules=tuple(sorted({*change.rules, *rules})),
            unsafe=tuple(sorted({*change.unsafe, *rules})),
        )


class Mentions:
    """The texts of all skills that were found, to be searched for names."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = skills

    def of(self, skill: Skill, new: str) -> list[Mention]:
        """Find the files that mention the present name of a skill, its own among them.

        A name with a hyphen is a mention wherever it is written as a whole. A plain word is one only in "use `word`",
        /word or "word skill"; so is any name in the skill's own text. Paths are no mentions.
        """
        name = skill.frontmatter.text("name")
        found = []
        for other in self._skills:
            pattern = _pattern(name, plain=other is skill or not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)+", name))
            for document in other.documents:
                line = _first_line(document, name, pattern, own=other is skill)
                if line is not None:
                    found.append(Mention(other.root, document.file, line, pattern, new, other is skill))
        return found


_VERBS = ("[Ll]oad", "[Uu]se", "[Rr]un", "[Ii]nvoke", "[Aa]ctivate", "[Ss]ee", "with", "skill")


def _pattern(name: str, *, plain: bool) -> str:
    escaped = rf"(?<!\nname: )(?<!\nname: [\"']){re.escape(name)}"  # a skill of the same name keeps it
    whole = rf"(?<![\w/.-]){escaped}(?![\w/-]|\.\w)|(?<=(?<![\w/.])/){escaped}(?![\w/-]|\.\w)"
    if not plain:
        return whole
    marked = "|".join(rf"(?<={verb} {mark}){escaped}(?={mark})" for verb in _VERBS for mark in ("`", "'", '"', r"\*\*"))
    command = rf"(?<=`/){escaped}(?![\w/-]|\.\w)|(?<=\s/){escaped}(?![\w/-]|\.\w)"
    return rf"{marked}|{command}|(?<![\w/.-]){escaped}(?=[`'\"*]{{0,2}} skill\b)"


def _first_line(document: Document, name: str, pattern: str, *, own: bool) -> int | None:
    """Return the line of the first mention; None without one."""
    if not name or name not in document.text:
        return None
    head = _head(document.text) if own else 0
    found = re.search(pattern, document.text[head:])
    return None if found is None else document.text.count("\n", 0, head + found.start()) + 1


def _head(text: str) -> int:
    """Return where the body of a file begins."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    cut = split(whole)
    if cut.yaml is None:
        return 0
    lines = re.finditer(r"\r\n|\r|\n", text)
    ends = [found.end() for _, found in zip(range(cut.body_line - 1), lines, strict=False)]
    return ends[-1] if len(ends) == cut.body_line - 1 else len(text)
