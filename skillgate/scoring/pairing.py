"""Which skill of one report is which of another: the one at the same path, else the only one of that name."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skillgate.model.report import SkillResult

    Pair = tuple[SkillResult | None, SkillResult | None]
    Parts = tuple[str, ...]


def pair(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Pair skills, each given by its path with the names it goes by, the surest name first.

    A path on both sides is one skill. Of what is left, two are one skill where each is the only one on its side that
    goes by a name of the other: by their surest names first, then by any.

    Returns:
        The path before of each skill that was there, by its path after.
    """
    found = {path: path for path in after if path in before}
    for most in (1, None):
        left = {path: before[path][:most] for path in before.keys() - set(found.values())}
        found |= _by_name(left, {path: names[:most] for path, names in after.items() if path not in found})
    return found


def _by_name(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> dict[str, str]:
    then, now = _holders(before), _holders(after)
    found = {}
    for path, names in after.items():
        others = _called(names, then)
        if len(others) == 1:
            (other,) = others
            if _called(before[other], now) == {path}:
                found[path] = other
    return found


def _holders(skills: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Give the paths that go by each name."""
    holders: dict[str, set[str]] = {}
    for path, names in skills.items():
        for name in names:
            holders.setdefault(name, set()).add(path)
    return holders


def _called(names: Iterable[str], holders: Mapping[str, set[str]]) -> set[str]:
    return {path for name in names for path in holders.get(name, ())}


def names_of(name: str, path: str) -> tuple[str, ...]:
    """Give the names that a skill goes by: its own, and that of its directory where there is one to be seen."""
    directory = path.rpartition("/")[2]
    return tuple(dict.fromkeys(word for word in (name, directory) if word not in ("", ".", "..")))


class Pairs(NamedTuple):
    """Two reports' skills, paired.

    Attributes:
        pairs: what each skill was and is; None on the side that does not have it.
        rebased: for each skill of the first report the path that the second one would show it by, where all of its
            paths begin elsewhere; empty where the paths of both begin alike.
        start: what the first report's paths begin with instead of what the second's begin with, both without a slash
            at the end; None likewise.
    """

    pairs: tuple[Pair, ...]
    rebased: Mapping[str, str] = MappingProxyType({})
    start: tuple[str, str] | None = None


def paired(before: Sequence[SkillResult], after: Sequence[SkillResult]) -> Pairs:
    """Pair the skills of two reports; paths are each report's own, and no path stands twice in one.

    Where no path is in both, and most skills of one name differ by the beginning of their paths alone, the reports are
    taken to be of one place that was named differently, as from another working directory.
    """
    then = {result.skill.path: result for result in before}
    now = {result.skill.path: result for result in after}
    start = None if then.keys() & now.keys() else _start(then, now)
    shown = {path: _rebased(path, start) for path in then}
    if len(set(shown.values())) < len(shown):
        start, shown = None, {path: path for path in then}
    named = {shown[path]: names_of(result.skill.name, path) for path, result in then.items()}
    found = pair(named, {path: names_of(result.skill.name, path) for path, result in now.items()})
    by_shown = {shown[path]: result for path, result in then.items()}
    pairs: list[Pair] = [(by_shown.get(found.get(path, "")), result) for path, result in now.items()]
    pairs += [(result, None) for path, result in by_shown.items() if path not in set(found.values())]
    if start is None:
        return Pairs(tuple(pairs))
    return Pairs(tuple(pairs), shown, ("/".join(start[0]), "/".join(start[1])))


def _start(then: Mapping[str, SkillResult], now: Mapping[str, SkillResult]) -> tuple[Parts, Parts] | None:
    """Find what most paths of one side begin with where those of the other begin with something else."""
    by_name = pair(
        {path: names_of(result.skill.name, path) for path, result in then.items()},
        {path: names_of(result.skill.name, path) for path, result in now.items()},
    )
    starts = Counter(_differing(old, new) for new, old in by_name.items())
    del starts[None]
    start, count = max(starts.items(), key=lambda item: item[1], default=(None, 0))
    return start if 2 * count > len(by_name) else None


def _differing(old: str, new: str) -> tuple[Parts, Parts] | None:
    """Give what two paths have before their common end; None where they have none."""
    one, other = _parts(old), _parts(new)
    common = 0
    while common < min(len(one), len(other)) and one[-1 - common] == other[-1 - common]:
        common += 1
    return (one[: len(one) - common], other[: len(other) - common]) if common else None


def _rebased(path: str, start: tuple[Parts, Parts] | None) -> str:
    parts = _parts(path)
    if start is None or parts[: len(start[0])] != start[0]:
        return path
    return "/".join((*start[1], *parts[len(start[0]) :])) or "."


def _parts(path: str) -> Parts:
    return () if path == "." else tuple(path.split("/"))
