"""A skill as it would be after repairs: parsed and judged in memory, and held against what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.ports import Entry, EntryKind
from skillgate.skill.parse import parse
from skillgate.static import layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.model.ports import Tree
    from skillgate.model.skill import CodeBlock, Document, Skill, SkillSource

MOST = 24  # trials of one skill: each parses all of it, and its author may wish that to take long


class _Changed(NamedTuple):
    """A tree in which some files have other bytes."""

    tree: Tree
    changed: Mapping[str, bytes]

    def entry(self, path: str) -> Entry | None:
        data = self.changed.get(path)
        return self.tree.entry(path) if data is None else Entry(EntryKind.FILE, len(data))

    def real(self, path: str) -> str | None:
        return self.tree.real(path)

    def names(self, path: str) -> tuple[str, ...]:
        return self.tree.names(path)

    def read(self, path: str, *, limit: int) -> bytes:
        data = self.changed.get(path)
        return self.tree.read(path, limit=limit) if data is None else data[:limit]


class Trial:
    """Holds one skill against what repairs would make of it. ``left`` is how many more times it can be asked."""

    def __init__(self, source: SkillSource, skill: Skill) -> None:
        self.left = MOST
        self._source, self._skill = source, skill
        self._main = skill.documents[0].file
        self._judged = layer.run(skill)
        self._known = {(claim.id, claim.file, claim.line) for claim in self._judged.claims}

    def holds(self, changed: Mapping[str, bytes], *, renamed: bool) -> bool:
        """Tell whether the skill would mean the same, score no less in anything, and have no new finding.

        Args:
            changed: new bytes by tree path.
            renamed: whether the name may become that of the directory.
        """
        self.left -= 1
        root = self._source.root._replace(tree=_Changed(self._source.root.tree, changed))
        data = changed.get(self._main, self._source.data)
        after = parse(self._source._replace(root=root, data=data, size=len(data)))
        return self._means_the_same(after, renamed=renamed) and self._is_no_worse(after)

    def _means_the_same(self, after: Skill, *, renamed: bool) -> bool:
        before = self._skill
        head = dict(before.frontmatter.values)
        if renamed:
            head["name"] = before.root.name
        return (
            before.frontmatter.valid == after.frontmatter.valid
            and head == after.frontmatter.values
            and len(before.documents) == len(after.documents)
            and all(_reads_alike(*pair) for pair in zip(before.documents, after.documents, strict=True))
        )

    def _is_no_worse(self, after: Skill) -> bool:
        judged = layer.run(after)
        if any((claim.id, claim.file, claim.line) not in self._known for claim in judged.claims):
            return False
        for dimension, measure in self._judged.dimensions.items():
            score = judged.dimensions[dimension].score
            if measure.score is not None and (score is None or score < measure.score):
                return False
        return True


def _reads_alike(before: Document, after: Document) -> bool:
    """Compare two readings of one file in all but its text, in which the code blocks may have gained a language."""
    same = after._replace(text=before.text, code_blocks=before.code_blocks) == before
    blocks = list(zip(before.code_blocks, after.code_blocks, strict=False))
    return same and len(before.code_blocks) == len(after.code_blocks) and all(_is_same_code(*pair) for pair in blocks)


def _is_same_code(before: CodeBlock, after: CodeBlock) -> bool:
    code = after.code if after.code == before.code + "\n" and not before.closed else before.code
    language = before.language or after.language
    return after == before._replace(code=code, language=language)
