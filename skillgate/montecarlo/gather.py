"""Puts together what a skill's sessions are given: how it is listed and among which, its files, prompts and tasks."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from skillgate.evals.read import distinct, read_evals
from skillgate.evals.wording import folded
from skillgate.judge.dossier import Unjudged
from skillgate.judge.siblings import OnDisk, listed
from skillgate.judge.subject import Sibling
from skillgate.model.evals import TriggerCase
from skillgate.model.judging import TriggerPrompt
from skillgate.montecarlo.common_bodies import COMMON_BODIES
from skillgate.montecarlo.library import Held, SkillLibrary, bounded
from skillgate.montecarlo.subject import Subject
from skillgate.skill import frontmatter
from skillgate.skill.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.judge.siblings import Neighbour, Shelves, Stocked
    from skillgate.model.assessment import Assessment
    from skillgate.model.evals import EvalSet, TaskCase
    from skillgate.model.simulating import MonteCarloLayer
    from skillgate.model.skill import Skill, SkillSource

LONGEST_NAME = 200  # characters of a name that a session lists; clients refuse those beyond 64
_UNNAMED = "skill"
_BY_HAND = "no model can load the skill: disable-model-invocation keeps it to users"


def subject(
    source: SkillSource,
    facts: Assessment,
    *,
    shelves: Shelves,
    corpus: Sequence[Stocked] = (),
    before: MonteCarloLayer | None = None,
    most_siblings: int = 15,
) -> Subject | Unjudged:
    """Put together what the sessions of a skill are given. Never raises on content.

    Args:
        source: the bytes of its main file, and where it lies.
        facts: what layer 1 knows of it.
        shelves: the neighbours looked through so far in this run.
        corpus: skills to list it among where it has no neighbours on disk; without any, a few common ones.
        before: its simulations of a baseline, whose prompts are used again; None without one.
        most_siblings: how many skills it is listed among, at most; the hardest to tell apart by BM25.

    Returns:
        The subject, in which no two skills share a name; or why there is nothing to simulate.
    """
    if facts.unscored is not None:
        return Unjudged(facts.unscored)
    skill = parse(source)
    if skill.unscored is not None:
        return Unjudged(skill.unscored)
    root = source.root
    name = _plain(facts.listing.name) or _plain(root.name) or _UNNAMED
    description = listed(facts.listing.description, facts.listing.when_to_use)
    beside = shelves.neighbours(root, facts.listing.name, description, most_siblings, corpus)
    names = tuple(_names(name, beside.found))
    names_of_it = tuple(dict.fromkeys((root.name, facts.listing.name)))
    evals = read_evals(root.tree, root.directory, skills=names_of_it)
    prompts, prompts_source = _prompts(evals, names_of_it, before)
    return Subject(
        path=str(root.path),
        name=name,
        description=description,
        siblings=tuple(Sibling(name, one.sibling.description) for name, one in zip(names, beside.found, strict=True)),
        siblings_source=beside.source,
        library=SkillLibrary((_own(skill, name), *map(_held, names, beside.found))),
        prompts=prompts,
        prompts_source=prompts_source,
        tasks=evals.tasks,
        category=_category(skill),
        asked=(before.simulations, before.near_misses) if before is not None and prompts_source == "baseline" else None,
        unlisted=_BY_HAND if _is_by_hand(skill) else None,
    )


def _plain(name: str) -> str:
    """Bring a name to one line without characters that nobody sees, so that names which look alike are alike.

    A slash before it goes too: whoever types a skill's name may write one, so it tells no two skills apart.
    """
    return "".join(filter(str.isprintable, " ".join(name.split()))).strip(" /")[:LONGEST_NAME].rstrip()


def _key(name: str) -> str:
    """Fold a name to what a call of it is told by: a client may put a plugin's name and a colon before it."""
    return unicodedata.normalize("NFKC", name).casefold().rpartition(":")[2].strip()


def _names(own: str, neighbours: Sequence[Neighbour]) -> Iterator[str]:
    """Name the neighbours so that no two skills share a name: by their own, their directory's, or with a number."""
    taken = {_key(own)}
    for one in neighbours:
        plain = _plain(one.sibling.name) or _plain(one.directory) or _UNNAMED
        name, number = plain, 1
        if _key(name) in taken and one.directory:
            name = _plain(one.directory) or plain
        while _key(name) in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(_key(name))
        yield name


def _own(skill: Skill, name: str) -> Held:
    """Hold the skill itself: its body whole, however long, since that is what it costs a session."""
    root = skill.root
    body = frontmatter.split(skill.documents[0].text).body.lstrip("\n")
    real = root.tree.real(root.directory)
    return Held(name, body, None if real is None else OnDisk(root.tree, real, skill.documents[0].file))


def _held(name: str, neighbour: Neighbour) -> Held:
    text = neighbour.text
    if isinstance(text, OnDisk):
        return Held(name, disk=text)
    return Held(name, COMMON_BODIES[neighbour.sibling.name] if text is None else bounded(text))


def _prompts(
    evals: EvalSet, names: Sequence[str], before: MonteCarloLayer | None
) -> tuple[tuple[TriggerPrompt, ...], str]:
    """Give the prompts to be used, in their order, and where they come from."""
    if before is not None and before.runs:
        return tuple(TriggerPrompt(run.prompt, run.should_trigger, run.style) for run in before.runs), "baseline"
    called = {folded(case.prompt) for case in evals.triggers}
    tasks = (_case(task) for task in evals.tasks if folded(task.prompt) not in called and _is_for_a_session(task))
    cases = distinct((*evals.triggers, *tasks), names)
    prompts = tuple(TriggerPrompt(case.prompt, case.should_trigger, case.style) for case in cases)
    return prompts, "evals" if prompts else "generated"


def _case(task: TaskCase) -> TriggerCase:
    """Take a task for a prompt that should load the skill: it is what the skill's answers are checked on."""
    return TriggerCase(task.prompt, should_trigger=True, file=task.file, line=task.line)


def _is_for_a_session(task: TaskCase) -> bool:
    """Tell whether a task can stand alone as a prompt that should load the skill.

    One that comes with files cannot, since no session has them. Nor can one whose grader looks for a call of some
    skill: where that made no label, it is not meant for this one.
    """
    asks = any(check.kind == "tool_used" and check.text.partition(" ")[0] == "Skill" for check in task.checks)
    return not asks and not task.attached


def _is_by_hand(skill: Skill) -> bool:
    """Tell whether only a user can start the skill, so that no client lists it to a model."""
    return str(skill.frontmatter.values.get("disable-model-invocation")).strip().lower() == "true"


def _category(skill: Skill) -> str:
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    return category.strip() if isinstance(category, str) else ""
