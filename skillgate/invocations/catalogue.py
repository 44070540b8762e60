"""Compare the skills of a directory with what was recorded: used, used earlier, or not observed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.model.invocation import Catalogue, CatalogueSkill, Filters, Observed
from skillgate.model.skill import Unreadable
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.skill.walk import names_in_records

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from skillgate.model.invocation import InvocationReport
    from skillgate.model.skill import SkillRoot
    from skillgate.store.invocations import InvocationStore, Record


class Listed(NamedTuple):
    """One skill of a directory: its shown path, its name, and its names in records."""

    path: str
    name: str
    names: tuple[str, ...]
    in_plugin: bool


def skills_of(directory: str, cwd: str) -> tuple[Listed, ...]:
    """Find the skills of a directory.

    Raises:
        UsageError: it does not exist, or holds no skill.
    """
    roots = discover([directory], cwd=cwd).roots
    if not roots:
        raise UsageError(f"--skills: no skill found in {directory}: a skill is a directory with a SKILL.md")
    return tuple(_listed(root) for root in roots)


def recorded_as(skill: Listed, skills: Collection[Listed], known: Collection[str]) -> tuple[str, ...]:
    """Return which of the recorded names mean a skill.

    A skill outside of a plugin is also meant by ``plugin:name``, if no other skill of the directory has that name.
    """
    found = tuple(name for name in skill.names if name in known)
    if found or skill.in_plugin:
        return found
    shared = Counter(name for one in skills for name in set(one.names))
    own = {name for name in skill.names if shared[name] == 1}
    return tuple(sorted(name for name in known if ":" in name and name.rpartition(":")[2] in own))


def catalogue(directory: str, skills: Sequence[Listed], report: InvocationReport, store: InvocationStore) -> Catalogue:
    """Say of each skill whether it was observed in the window of a report over all skills.

    Raises:
        IncompleteError: the database failed.
    """
    known = store.skills()
    first = [one.first_seen for one in report.skills if one.first_seen is not None]
    last = [one.last_seen for one in report.skills if one.last_seen is not None]
    groups = [group for one in report.skills for group in (one.groups or {}).get("source", ())]
    sources = {group.value for group in groups if group.value is not None}
    found = [_observed(one, recorded_as(one, skills, known), report, store) for one in skills]
    order = [*Observed]
    return Catalogue(
        directory=directory,
        since=min(first, default=None),
        until=max(last, default=None),
        sources=tuple(sorted(sources)),
        skills=tuple(sorted(found, key=lambda one: (-order.index(one.observed), one.path))),
    )


def _listed(root: SkillRoot) -> Listed:
    source = read(root)
    name = "" if isinstance(source, Unreadable) else parse(source).frontmatter.text("name")
    return Listed(str(root.path), name or root.name, names_in_records(root, name or root.name), root.plugin is not None)


def _observed(
    skill: Listed, names: tuple[str, ...], report: InvocationReport, store: InvocationStore
) -> CatalogueSkill:
    last: Record | None = None
    count, filters = 0, report.selection or Filters()
    if names:
        latest = store.recent(report.rubric_version, skills=names, until=report.until, filters=filters, most=1)
        last = next(iter(latest), None)
        count = store.count_within(skills=names, since=report.since, until=report.until, filters=filters)
    observed = Observed.USED if count else Observed.EARLIER if last else Observed.NOT_OBSERVED
    if observed is Observed.NOT_OBSERVED and not report.invocations:
        observed = Observed.UNKNOWN
    return CatalogueSkill(
        path=skill.path,
        name=skill.name,
        recorded_as=names,
        observed=observed,
        recorded=count,
        last_seen=last.invocation.timestamp if last else None,
    )
