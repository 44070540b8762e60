"""Puts together what a judge is given of one skill: its text, its neighbours, and what layer 1 measured."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.read import trigger_prompts
from skillgate.judge.gathering import gather, inside
from skillgate.judge.siblings import Shelves, listed
from skillgate.judge.subject import Dossier
from skillgate.judge.suspicious import passages
from skillgate.model.skill import LinkKind
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.assessment import Assessment
    from skillgate.model.score import Dimension, Measured
    from skillgate.model.skill import Skill, SkillSource

MAX_FACTS = 80
MAX_EVIDENCE = 8  # lines of one sub-check
LONGEST_FACT = 240


class Unjudged(NamedTuple):
    """A skill that no judge is asked about, and why."""

    reason: str


def dossier(
    source: SkillSource, facts: Assessment, *, most_siblings: int = 15, shelves: Shelves | None = None
) -> Dossier | Unjudged:
    """Put together what a judge is given of a skill. Never raises on content.

    All text files of ``references/`` are pages, the other Markdown files that layer 1 takes for instructions of the
    skill, wherever they lie in it, and what else of text these lead to.

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
    documents = {inside(skill, document.file): document for document in skill.documents}
    gathered = gather(skill, documents)
    name, description = facts.listing.name, listed(facts.listing.description, facts.listing.when_to_use)
    return Dossier(
        path=str(root.path),
        name=name,
        description=description,
        category=_category(skill),
        pages=gathered.pages,
        unread=gathered.unread,
        aside=gathered.aside,
        siblings=(shelves or Shelves()).siblings(root, name, description, most_siblings),
        facts=tuple(islice(_facts(skill, facts), MAX_FACTS)),
        code_blocks=sum(len(document.code_blocks) for document in skill.documents),
        suspicious=passages(documents.items(), facts),
        prompts=trigger_prompts(root.tree, root.directory, skills=tuple(dict.fromkeys((root.name, name)))),
    )


_OF_BYTES = ("BYTE_ORDER_MARK", "LINE_ENDS")  # of how a file was checked out, and no matter of what it says


def _category(skill: Skill) -> str:
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    return category.strip() if isinstance(category, str) else ""


def _facts(skill: Skill, facts: Assessment) -> Iterator[str]:
    """Give what layer 1 counted and measured, a line each; words of the author may stand in them."""
    yield from _counts(skill)
    counted = Counter(claim.id for claim in facts.claims if claim.id not in _OF_BYTES)
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
