"""Fix what is safe to fix, or plan the fixes."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from skillgate.evaluation.known import require_writable
from skillgate.evaluation.request import EvaluateRequest, selections
from skillgate.evaluation.run import find, touching
from skillgate.fixes import Change, apply, diff, plan
from skillgate.fixes.mentions import Mentions
from skillgate.format import printable
from skillgate.model.skill import Skill, SkillRoot, Unreadable
from skillgate.scoring.listing import harness
from skillgate.skill.find import read
from skillgate.skill.frontmatter import as_meant
from skillgate.skill.parse import parse
from skillgate.skill.tree import disk_of
from skillgate.static.catalogue import find_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import PurePosixPath

    from skillgate.console import Console
    from skillgate.fixes import Place
    from skillgate.fixes.mentions import Mention
    from skillgate.scoring.selection import Selection
    from skillgate.skill.find import Discovery

RENAMES = frozenset(("NAME_MISMATCH", "NAME_INVALID"))


class _Plan(NamedTuple):
    """The planned changes of one skill."""

    root: SkillRoot
    selection: Selection
    changes: tuple[Change, ...]

    @property
    def renaming(self) -> Change | None:
        """The change that renames the skill."""
        return next((one for one in self.changes if RENAMES & {*one.rules} and one.skipped is None), None)


class Repairs(NamedTuple):
    """The planned file changes, and whether all of the paths could be searched."""

    changes: tuple[Change, ...]
    complete: bool


def planned(request: EvaluateRequest, session: Console, *, unsafe: bool = False, place: Place | None = None) -> Repairs:
    """Plan fixes without changing anything; note what is skipped. ``unsafe`` fixes may change what was meant.

    With a ``place`` only findings there are fixed.

    Raises:
        UsageError: a path or an option is not valid.
    """
    discovery = find(request.scope, session)
    for notice in discovery.notices:
        session.note(notice)
    plans = _plans(request, discovery, session, unsafe=unsafe, place=place)
    changes = [change for one in plans for change in one.changes]
    return Repairs(_wanted(changes, session), discovery.complete)


def repair(request: EvaluateRequest, session: Console, *, unsafe: bool = False) -> None:
    """Fix, and note what was fixed and what was not; each change with an ``unsafe`` fix is shown as a diff.

    Raises:
        UsageError: a path or an option is not valid.
    """
    if request.write_known_findings is not None:
        require_writable(request.write_known_findings, request, session)  # the run afterwards would fail there
    count = 0
    for one in _plans(request, find(request.scope, session), session, unsafe=unsafe):
        for result in apply(_wanted(one.changes, session), disk_of(one.root)):
            change = result.change
            if result.written:
                count += 1
                remark = f" ({printable(result.note)})" if result.note else ""
                session.note(f"fixed {change.path}: {', '.join(change.rules)}{remark}")
                if change.unsafe:
                    session.note(diff((change,)).rstrip("\n"))
            else:
                session.note(f"not fixed {change.path}: {result.reason}")
    session.note(f"fixed {count} file{'s' * (count != 1)}")


def _wanted(changes: Iterable[Change], session: Console) -> tuple[Change, ...]:
    """Note skipped changes, and return the others."""
    wanted = []
    for change in changes:
        if change.skipped is None:
            wanted.append(change)
        else:
            session.note(f"skipped {change.path}: {', '.join(change.rules)}: {change.skipped}")
    return tuple(wanted)


def _plans(
    request: EvaluateRequest, discovery: Discovery, session: Console, *, unsafe: bool, place: Place | None = None
) -> list[_Plan]:
    """Plan the fixes of each selected skill; with --changed, of those that the change touches."""
    selection_of = selections(request.config)
    touched = touching(request.scope, discovery.roots, session)
    plans = []
    for root in discovery.roots:
        if touched is None or touched(root, None):
            selection = selection_of(root.path)
            changes = plan(root, _is_selected(selection), today=selection.today, unsafe=unsafe, place=place)
            plans.append(_Plan(root, selection, changes))
    return _renamed(plans, discovery.roots, unsafe=unsafe) if any(one.renaming for one in plans) else plans


def _renamed(plans: Iterable[_Plan], roots: Sequence[SkillRoot], *, unsafe: bool) -> list[_Plan]:
    """Keep a skill's name where the new one is taken, or a text mentions the old one; ``unsafe`` renames that too."""
    skills = {root.path: skill for root in roots if (skill := _skill(root)) is not None}
    names = {root.path: _name(root, skills.get(root.path)) for root in roots}
    kept = list(_without_clashes(plans, roots, names, unsafe=unsafe))
    mentions = Mentions(tuple(skills.values()))
    for place, one in enumerate(kept):
        change = one.renaming
        if change is None:
            continue
        found = mentions.of(skills[one.root.path], unicodedata.normalize("NFKC", one.root.name))
        if found and not unsafe:
            kept[place] = _keeping_the_name(one, f"{found[0].shown} mentions the name; see --diff --unsafe-fixes")
        elif found:
            _rename_mentions(kept, place, found)
    return kept


def _rename_mentions(plans: list[_Plan], place: int, found: Sequence[Mention]) -> None:
    """Replace the old name of one skill in the files that mention it, on top of what else changes there."""
    one = plans[place]
    change = one.renaming
    if change is None:
        return
    if any(mention.root.tree.real(mention.file) != mention.file for mention in found):
        plans[place] = _keeping_the_name(one, "a symbolic link mentions the name; rename it by hand")
        return
    rules = tuple(sorted(RENAMES & {*change.rules}))
    unsafe = change._replace(unsafe=tuple(sorted({*change.unsafe, *rules})))
    plans[place] = one._replace(changes=tuple(unsafe if item is change else item for item in one.changes))
    for mention in {item.file: item for item in found}.values():
        index = next((at for at, item in enumerate(plans) if item.root.path == mention.root.path), None)
        if index is None:
            plans.append(_Plan(mention.root, one.selection, ()))
            index = len(plans) - 1
        target = plans[index]
        old = next((item for item in target.changes if item.file == mention.file and item.skipped is None), None)
        new = mention.renamed(old, rules)
        changes = tuple(new if item is old else item for item in target.changes)
        plans[index] = target._replace(changes=changes if old is not None else (*changes, new))


def _keeping_the_name(one: _Plan, reason: str, *, unsafe: bool = False) -> _Plan:
    """Plan everything but the renaming of a skill, and say why that is left out."""
    change = one.renaming
    if change is None:
        return one
    less = plan(one.root, _is_selected(one.selection, but=RENAMES), today=one.selection.today, unsafe=unsafe)
    rules = tuple(sorted(RENAMES & {*change.rules}))
    return one._replace(changes=(*less, change._replace(after=change.before, rules=rules, skipped=reason, unsafe=())))


def _without_clashes(
    plans: Iterable[_Plan], roots: Sequence[SkillRoot], names: dict[PurePosixPath, str], *, unsafe: bool
) -> Iterator[_Plan]:
    """Keep a skill's name if another skill of the same client has the new name, or will get it."""
    for one in plans:
        root = one.root
        if one.renaming is None:
            yield one
            continue
        new = unicodedata.normalize("NFKC", root.name)
        # Copies for several clients are never read by the same client.
        others = (other for other in roots if other is not root and harness(str(other.path)) == harness(str(root.path)))
        bearer = next((other for other in others if names[other.path] == new), None)
        if bearer is None:
            names[root.path] = new
            yield one
            continue
        yield _keeping_the_name(one, f"{bearer.path} already has the name {root.name!r}", unsafe=unsafe)


def _skill(root: SkillRoot) -> Skill | None:
    source = read(root)
    if isinstance(source, Unreadable):
        return None
    skill = parse(source)
    return skill if skill.frontmatter.valid else as_meant(skill)[0]


def _name(root: SkillRoot, skill: Skill | None) -> str:
    """Return the name that clients use for a skill."""
    written = "" if skill is None else skill.frontmatter.text("name")
    return unicodedata.normalize("NFKC", written or root.name)


def _is_selected(selection: Selection, *, but: frozenset[str] = frozenset()) -> Callable[[str], bool]:
    """Whether a rule is selected and not ignored, by id, group, ``all`` or ``default``; those of ``but`` are not."""

    def is_named(rule: str, words: frozenset[str]) -> bool:
        group, optional = _declared(rule)
        return not words.isdisjoint({rule, group, "all"}) or ("default" in words and not optional)

    return lambda rule: rule not in but and is_named(rule, selection.select) and not is_named(rule, selection.ignore)


@cache
def _declared(identifier: str) -> tuple[str, bool]:
    """Return the group of a rule, and whether it is opt-in."""
    rule, kind = find_rule(identifier)
    return rule.group or kind, rule.optional
