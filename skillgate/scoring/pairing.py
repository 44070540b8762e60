"""Which skill of one report is which of another, and whether what models said of the two means the same.

A skill is matched with the one at the same path in the repository, then with the one of the same shown path. Then it
is the only one of the same name and content, of the same name, or of the same content.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.layers import JudgeLayer, Lift, MonteCarloLayer, RankingLayer
from skillgate.registry import PROVIDERS

if TYPE_CHECKING:
    from skillgate.model.report import SkillName, SkillResult

    Pair = tuple[SkillResult | None, SkillResult | None]
    Parts = tuple[str, ...]
    Sampled = JudgeLayer | MonteCarloLayer | RankingLayer | Lift


class Marks(NamedTuple):
    """What a skill is recognised by wherever it is: the names it goes by, the surest first, and its content."""

    names: tuple[str, ...] = ()
    digest: str | None = None

    def by_all(self) -> Iterable[str]:
        """Return each name together with the content."""
        return () if self.digest is None else (f"{name}\0{self.digest}" for name in self.names)

    def by_name(self) -> Iterable[str]:
        """Return the surest name."""
        return self.names[:1]

    def by_any_name(self) -> Iterable[str]:
        """Return every name."""
        return self.names

    def by_content(self) -> Iterable[str]:
        """Return the content."""
        return () if self.digest is None else (self.digest,)


_PASSES = (Marks.by_all, Marks.by_name, Marks.by_any_name, Marks.by_content)


def pair(before: Mapping[str, Marks], after: Mapping[str, Marks]) -> dict[str, str]:
    """Pair skills, each given by its path.

    A path on both sides is one skill. Of what is left, two are one skill where each is the only one on its side that
    has a mark of the other: by name and content, by their surest names, by any name, by content.

    Returns:
        The path before of each skill that was there, by its path after.
    """
    found = {path: path for path in after if path in before}
    for marks in _PASSES:
        left = {path: tuple(marks(before[path])) for path in before.keys() - set(found.values())}
        found |= _by_name(left, {path: tuple(marks(one)) for path, one in after.items() if path not in found})
    return found


def marks_of(result: SkillResult) -> Marks:
    """Return what the skill of a result is recognised by."""
    skill = result.skill
    return Marks(names_of(skill.name, skill.path), skill.digest)


def repository_path(skill: SkillName) -> str | None:
    """Return where a skill lies in its repository, as a report says; None where it says nothing that can be."""
    path = skill.repository_path
    if path is None or path.startswith(("/", "../")) or path in ("", "..") or posixpath.normpath(path) != path:
        return None
    return path


def by_repository(before: Iterable[SkillName], after: Iterable[SkillName]) -> dict[str, str]:
    """Pair skills by their paths in the repository, as far as each is the only one at its path on its side.

    Returns:
        The shown path before by the shown path after.
    """
    then, now = _by_place(before), _by_place(after)
    return {shown[0]: then[place][0] for place, shown in now.items() if len(shown) == len(then.get(place, ())) == 1}


def _by_place(skills: Iterable[SkillName]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for skill in skills:
        if place := repository_path(skill):
            places.setdefault(place, []).append(skill.path)
    return places


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
    """Return the paths that go by each name."""
    holders: dict[str, set[str]] = {}
    for path, names in skills.items():
        for name in names:
            holders.setdefault(name, set()).add(path)
    return holders


def _called(names: Iterable[str], holders: Mapping[str, set[str]]) -> set[str]:
    return {path for name in names for path in holders.get(name, ())}


def names_of(name: str, path: str) -> tuple[str, ...]:
    """Return the names that a skill goes by: its own, and that of its directory where there is one to be seen."""
    directory = path.rpartition("/")[2]
    return tuple(dict.fromkeys(word for word in (name, directory) if word not in ("", ".", "..")))


class Pairs(NamedTuple):
    """Two reports' skills, paired.

    Attributes:
        pairs: what each skill was and is; None on the side that does not have it.
        rebased: for each skill of the first report the path that the second one would show it by, where all of its
            paths begin elsewhere; empty where the paths of both begin alike.
        start: what the first report's paths begin with instead of what the second's begin with, both without a slash
            at the end; None as above.
    """

    pairs: tuple[Pair, ...]
    rebased: Mapping[str, str] = MappingProxyType({})
    start: tuple[str, str] | None = None


def paired(before: Sequence[SkillResult], after: Sequence[SkillResult]) -> Pairs:
    """Pair the skills of two reports; paths are each report's own, and no path appears twice in one.

    Two reports may name one place differently, as from another working directory. That is assumed if no shown path is
    in both, and most skills of one name differ only in how their paths begin.
    """
    then = {result.skill.path: result for result in before}
    now = {result.skill.path: result for result in after}
    placed = by_repository((one.skill for one in before), (one.skill for one in after))
    start = None if then.keys() & now.keys() else _start(then, now)
    shown = {path: _rebased(path, start) for path in then}
    if len(set(shown.values())) < len(shown):
        start, shown = None, {path: path for path in then}
    keys = {path: f"\0{path}" if _lie_apart(one, now.get(shown[path])) else shown[path] for path, one in then.items()}
    left = {keys[path]: marks_of(one) for path, one in then.items() if path not in set(placed.values())}
    found = {path: keys[other] for path, other in placed.items()}
    found |= pair(left, {path: marks_of(one) for path, one in now.items() if path not in placed})
    by_key = {keys[path]: result for path, result in then.items()}
    pairs: list[Pair] = [(by_key.get(found.get(path, "")), result) for path, result in now.items()]
    pairs += [(result, None) for path, result in by_key.items() if path not in set(found.values())]
    if start is None:
        return Pairs(tuple(pairs))
    return Pairs(tuple(pairs), shown, ("/".join(start[0]), "/".join(start[1])))


def _lie_apart(before: SkillResult, after: SkillResult | None) -> bool:
    """Whether two skills that are shown by one path lie at different paths in the repository."""
    then, now = repository_path(before.skill), after and repository_path(after.skill)
    return None not in (then, now) and then != now


def _start(then: Mapping[str, SkillResult], now: Mapping[str, SkillResult]) -> tuple[Parts, Parts] | None:
    """Find what most paths of one side begin with where those of the other begin with something else."""
    by_name = pair(
        {path: marks_of(result) for path, result in then.items()},
        {path: marks_of(result) for path, result in now.items()},
    )
    starts = Counter(_differing_starts(old, new) for new, old in by_name.items())
    del starts[None]
    start, count = max(starts.items(), key=lambda item: item[1], default=(None, 0))
    return start if 2 * count > len(by_name) else None


def _differing_starts(old: str, new: str) -> tuple[Parts, Parts] | None:
    """Return what two paths have before their common end; None where they have none."""
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


# -- Comparability: everything but the skill has to be equal, the models, their providers, the questions, the prompts
#
# The paired test and every comparison that people read ask here, so that they never disagree.

_DIGITS = 12  # hexadecimal digits of a digest that are shown
_LONG = 200  # characters of what else is shown
_DIGESTS = ("the trigger prompts", "the prompts of the sessions", "corpora")
_LIVE = {True: "a model's", False: "scripted or replayed"}


class Difference(NamedTuple):
    """One thing that is not the same on two sides, each side in words."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        """Say it as a fact: ``graders differ: A before, B after``."""
        return f"{self.what} differ: {self.before} before, {self.after} after"

    @property
    def other(self) -> str:
        """Say it as a reason: ``other graders: A before, B after``."""
        return f"other {self.what.removeprefix('the ')}: {self.before} before, {self.after} after"


def apart(before: SkillResult, after: SkillResult) -> tuple[str, ...]:
    """Say why the scores of two results mean different things; nothing where they may be compared.

    Matches and lift are in no score and do not enter. Nor do sessions that measured nothing: they are in no score
    either, but where those of the other side are, the two scores rest on different things.
    """
    one, other = _judge(before), _judge(after)
    was, now = _sessions(before), _sessions(after)
    judged = _alone("was judged", one, other) if one is None or other is None else judges_apart(one, other)
    simulated = (
        _alone("has a score with sessions in it", was, now) if was is None or now is None else sessions_apart(was, now)
    )
    return tuple(each if isinstance(each, str) else each.other for each in (*judged, *simulated))


def _alone(word: str, one: object, other: object) -> tuple[str, ...]:
    """Say that one side alone has a measurement; nothing where neither has."""
    if one is None and other is None:
        return ()
    return (f"only the skill {'after' if one is None else 'before'} {word}",)


def _judge(result: SkillResult) -> JudgeLayer | None:
    return next((layer for layer in result.layers if isinstance(layer, JudgeLayer)), None)


def _sessions(result: SkillResult) -> MonteCarloLayer | None:
    """Return the sessions that are in a skill's score: those that measured a dimension, and did not end early."""
    layer = next((layer for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)
    if layer is None or layer.stopped_early is not None:
        return None
    return layer if any(found.value is not None for found in layer.scores.values()) else None


def judges_apart(one: JudgeLayer, other: JudgeLayer) -> tuple[Difference, ...]:
    """List what differs between two judgings in anything but the skill.

    More opinions of the same judges mean the same, so models are compared by their share.
    """
    found = (
        ("models", _mix(one), _mix(other)),
        ("the models that answered", _answering(one.answered_by), _answering(other.answered_by)),
        ("live and made-up answers", _LIVE[one.live], _LIVE[other.live]),
        *_served("provider", one, other),
        ("prompt version", one.prompt_version, other.prompt_version),
        ("rubric version", one.rubric_version, other.rubric_version),
        *_prompts("the trigger prompts", _trigger_digest(one), _trigger_digest(other)),
    )
    return tuple(_differing(found))


def _trigger_digest(layer: JudgeLayer) -> str | None:
    return layer.triggering.digest if layer.triggering else None


def sessions_apart(one: MonteCarloLayer, other: MonteCarloLayer) -> tuple[Difference, ...]:
    """List what differs between two runs of sessions in anything but the skill."""
    found = (
        ("models under test", one.model, other.model),
        ("graders", one.grader, other.grader),
        ("the models that answered sessions", _answering(one.answered_by), _answering(other.answered_by)),
        ("live and made-up sessions", _LIVE[one.live], _LIVE[other.live]),
        *_served("providers of sessions", one, other),
        ("runners", one.runner, other.runner),
        ("prompt versions of sessions", one.prompt_version, other.prompt_version),
        ("rubric versions of sessions", one.rubric_version, other.rubric_version),
        ("the skills listed in sessions", one.siblings_source, other.siblings_source),
        ("turns allowed", str(one.max_turns), str(other.max_turns)),
        ("near misses asked for", str(one.near_misses), str(other.near_misses)),
        *_prompts("the prompts of the sessions", one.prompts_digest, other.prompts_digest),
    )
    return tuple(_differing(found))


def ratings_apart(one: RankingLayer, other: RankingLayer) -> tuple[Difference, ...]:
    """List what differs between two ratings in anything but the skill: the field, the judge, the order of matches."""
    found = (
        ("corpora", one.corpus or "", other.corpus or ""),
        ("judges of matches", one.model, other.model),
        ("live and made-up matches", _LIVE[one.live], _LIVE[other.live]),
        *_served("providers of matches", one, other),
        ("prompt versions of matches", one.prompt_version, other.prompt_version),
        ("seeds of matches", str(one.seed), str(other.seed)),
    )
    return tuple(_differing(found))


def lifts_apart(one: Lift, other: Lift) -> tuple[Difference, ...]:
    """List what differs between two lifts in anything but the skill: the tasks, who did them, who graded."""
    tasks = [{(task.id, task.prompt) for task in lift.tasks} for lift in (one, other)]
    counts = [f"{len(side)}, {len(tasks[0] & tasks[1])} of them on both sides," for side in tasks]
    found = (
        ("models under test", one.model, other.model),
        ("graders", one.grader, other.grader),
        ("live and made-up tasks", _LIVE[one.live], _LIVE[other.live]),
        *_served("providers of tasks", one, other),
        ("runners", one.runner, other.runner),
        ("sources of the tasks", one.source, other.source),
    )
    return (*_differing(found), *(() if tasks[0] == tasks[1] else (Difference("the tasks", *counts),)))


def _served(what: str, one: Sampled, other: Sampled) -> Iterator[tuple[str, str, str]]:
    """Name who served the models, where it is not said already that only one side had any."""
    if one.live == other.live:
        yield what, _service(one.provider), _service(other.provider)


def _service(provider: str) -> str:
    """Return the provider whose models answer, which may have more than one way to ask them."""
    return (provider in PROVIDERS and PROVIDERS.text(provider, "MODELS_OF")) or provider


def _prompts(what: str, one: str | None, other: str | None) -> Iterator[tuple[str, str, str]]:
    """Compare prompts; what one side does not know it has not measured."""
    if one is not None and other is not None:
        yield what, one, other


def _differing(found: Iterable[tuple[str, str, str]]) -> Iterator[Difference]:
    for what, one, other in found:
        if one != other:
            most = _DIGITS if what in _DIGESTS else _LONG
            yield Difference(what, one[:most] or "none", other[:most] or "none")


def _answering(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "those asked for"


def _mix(layer: JudgeLayer) -> str:
    """Name the models, each with its share of the opinions where they are not shared evenly."""
    counts = Counter(layer.models)
    even = len(set(counts.values())) <= 1
    parts = [name if even else f"{name} ({count / len(layer.models):.1%})" for name, count in sorted(counts.items())]
    return ", ".join(parts)
