"""Files, gates and waivers from the base of a change; those of the change apply after the merge."""
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action.context import RunContext, excluded, requested_paths
from skillgate.errors import UsageError
from skillgate.evaluation.baseline import BaselineOptions, load_baseline
from skillgate.evaluation.request import MAX_BYTES, policies, read_whole, selections
from skillgate.files import toplevel
from skillgate.model.documents import Diff, DiffSide
from skillgate.model.skill import digest
from skillgate.report.across_change import across_findings
from skillgate.report.diff import Siblings, diff
from skillgate.report.known import EXACT, folded
from skillgate.scoring.gate import Policy, strictest
from skillgate.skill import find as skill_read
from skillgate.skill.git import is_tracked, open_commit
from skillgate.skill.tree import TreeFiles
from skillgate.skill.walk import join

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.action.request import ActionSession
    from skillgate.config import Config, Files
    from skillgate.console import Console
    from skillgate.evaluation import pipeline
    from skillgate.evaluation.pipeline import Baseline
    from skillgate.evaluation.request import Reading
    from skillgate.model.finding import Assessment, Claim, Finding
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.score import Depth
    from skillgate.model.skill import SkillRoot, SkillSource, Waiver
    from skillgate.scoring.selection import Selection
    from skillgate.skill.find import Discovery

    Key = tuple[str, str, str, str]
    InFile = Callable[[str], frozenset[str]]


_MOST = 50  # refused comments that are listed


def read_of_base(context: RunContext) -> Reading:
    """Return a reader for a baseline report or the findings of other tools.

    Tracked files are read from the tip of the base branch. Untracked files, such as those of an earlier step, are read
    in place.

    Raises:
        UsageError: from the reader, for a file that the change may have added. Such a file exists only in the change,
            is behind a link or in a nested repository, or was written by an earlier step over a file of the base.
    """

    def read(place: str, shown: str, what: str) -> str:
        if context.base.commit is None:
            return read_whole(place, shown, what)
        if context.files.tip.is_file(place):
            if _is_written_over(context, place):
                raise UsageError(
                    f"{what} {shown} is in the repository, and an earlier step has overwritten it; write to another"
                    " path"
                )
            return context.read_policy_file(place, shown, what)
        _require_own(context, place, f"{what} {shown}")
        return read_whole(place, shown, what)

    return read


def _require_own(context: RunContext, place: str, shown: str) -> None:
    """Refuse a file of the change that the base branch does not have."""
    real = os.path.realpath(place)
    owner = toplevel(os.path.dirname(real))
    if owner not in (None, context.checkout.top) and f"{owner}/".startswith(f"{context.checkout.top}/"):
        raise UsageError(f"{shown} is in a nested repository, whose files the change may choose")
    below = os.path.relpath(os.path.normpath(place), context.checkout.workspace)
    by_name = os.path.normpath(os.path.join(os.path.realpath(context.checkout.workspace), below))
    for one in {real, by_name}:
        inside = os.path.relpath(one, context.checkout.top).replace(os.sep, "/")
        if not inside.startswith("../") and is_tracked(context.checkout.top, inside):
            if context.files.is_removed(place):
                raise UsageError(f"{shown} is no longer in the base branch; update the branch")
            raise UsageError(f"{shown} is new in this change; it can be used after the merge")
    if real != by_name and not below.startswith(".."):
        raise UsageError(f"{shown} is, or is behind, a symbolic link, which a change may have made")


def _is_written_over(context: RunContext, place: str) -> bool:
    """Whether a file in the working tree differs from the checked-out commit."""
    here = _text(context.files.head, place)
    return here is not None and here != _text(
        TreeFiles(open_commit(context.checkout.workspace, context.base.head)), place
    )


def _text(files: Files, place: str) -> bytes | None:
    """Read a file with normalized line ends; None if there is none."""
    try:
        return files.read(place, MAX_BYTES + 1).replace(b"\r\n", b"\n") if files.is_file(place) else None
    except OSError:
        return None


def policies_of(
    context: RunContext, session: ActionSession, moved: Mapping[str, Collection[str]], depth: Depth
) -> Callable[[PurePosixPath], Policy]:
    """Return the gate of each skill: the strictest of all its current and old names.

    ``session``: gets one note per limit without effect. ``moved``: the other places of a skill in the base, by its
    current shown path. ``depth``: decides which limits have an effect.
    """

    def note(text: str) -> None:
        if not text.startswith("baseline "):  # not set by anyone: it is what a change is compared with
            session.note(text)

    policy_of = _strict_policies(context.config, moved, note, depth)
    if context.request.on_unmeasured != "pass":
        return policy_of
    return lambda path: (one := policy_of(path))._replace(fail_on=one.fail_on - {"unmeasured"}, lenient=True)


def _strict_policies(
    config: Config, moved: Mapping[str, Collection[str]], note: Callable[[str], None], depth: Depth
) -> Callable[[PurePosixPath], Policy]:
    by_place, by_name = (
        policies(one, command="action", note=note, depth=depth) for one in (config, config.as_called())
    )

    def policy(path: PurePosixPath) -> Policy:
        return strictest([by_place(path), *map(by_name, _names(path, moved))])

    return policy if config.scoped else by_place


def strict_selections(config: Config, moved: Mapping[str, Collection[str]]) -> Callable[[PurePosixPath], Selection]:
    """Return the selection of each skill's findings: everything selected under one of its names."""
    by_place, by_name = selections(config), selections(config.as_called())

    def selection(path: PurePosixPath) -> Selection:
        found = by_place(path)
        for other in map(by_name, _names(path, moved)):
            found = found._replace(
                profile=found.profile or other.profile,
                select=found.select | other.select,
                ignore=found.ignore & other.ignore,
                ignored_in=_in_both(found.ignored_in, other.ignored_in),
                inapplicable_in=_in_both(found.inapplicable_in, other.inapplicable_in),
            )
        return found

    return selection if config.scoped else by_place


def _in_both(one: InFile | None, other: InFile | None) -> InFile | None:
    """Return what both leave out in a file."""
    return None if one is None or other is None else lambda file: one(file) & other(file)


def _names(path: PurePosixPath, moved: Mapping[str, Collection[str]]) -> Iterator[PurePosixPath]:
    yield path
    yield from map(PurePosixPath, moved.get(str(path), ()))


class BaseSkill(NamedTuple):
    """A skill in the base."""

    root: SkillRoot
    facts: Assessment


class BaseWaivers:
    """Decide whether a comment may suppress a claim, as ``pipeline.Criteria.honoured``.

    A comment for a whole file applies to everything that the base's comment applies to. One for a place applies only to
    as many findings of the same kind as the base's suppressed: else it could be moved to where it hides something else.
    For possible attacks (``EXACT``), both apply only to the same text in the same file.
    """

    def __init__(
        self,
        before: Mapping[str, BaseSkill],
        now: Mapping[str, SkillRoot],
        *,
        start: Mapping[str, BaseSkill] | None = None,
    ) -> None:
        """Store the skills of the base and the current ones, both by current shown path.

        ``before``: at the tip of the base branch. ``start``: where the change left the base branch.
        """
        self._before, self._now, self._start = before, now, start or {}
        self._left: dict[str, Counter[Key]] = {}
        self._without_effect: dict[tuple[str, Waiver], set[str]] = {}

    def __call__(self, path: str, claim: Claim, waiver: Waiver) -> bool:
        """Whether a comment of the skill at ``path`` may suppress a claim; each call counts."""
        if self._holds(path, claim, waiver):
            return True
        self._without_effect.setdefault((path, waiver), set()).add(claim.id)
        return False

    def refused(self) -> tuple[str, ...]:
        """Return sentences about new comments of the change, which have no effect yet."""
        return _sentences(
            f"{_comment(path, waiver, rules)}: {waiver.reason}"
            for (path, waiver), rules in self._without_effect.items()
            if not self._is_outdated(path, waiver)
        )

    def outdated(self) -> tuple[str, ...]:
        """Return sentences about comments without effect because the base branch no longer has them."""
        return _sentences(
            f"{_comment(path, waiver, rules)} is no longer in the base branch and has no effect; update the branch"
            for (path, waiver), rules in self._without_effect.items()
            if self._is_outdated(path, waiver)
        )

    def _is_outdated(self, path: str, waiver: Waiver) -> bool:
        """Whether a comment existed where the change began, but not at the tip of the base branch."""
        start, tip = ((held[path].facts.waivers if path in held else ()) for held in (self._start, self._before))
        return any(_same(one, waiver) for one in start) and not any(_same(one, waiver) for one in tip)

    def _holds(self, path: str, claim: Claim, waiver: Waiver) -> bool:
        was, root = self._before.get(path), self._now.get(path)
        if was is None or root is None:
            return False
        if claim.group == "across":  # found across skills, also in the base: not among a skill's own claims
            return any(_same(one, waiver) and claim.id in one.rules for one in was.facts.waivers)
        likewise = [one for one in was.facts.waivers if _same(one, waiver) and claim.id in one.rules]
        if waiver.whole and claim.id not in EXACT and any(one.whole for one in likewise):
            return True
        if path not in self._left:
            self._left[path] = Counter(_covered(was))
        key = _key(claim, waiver, root)
        if not likewise or not self._left[path][key]:
            return False
        self._left[path][key] -= 1
        return True


def _comment(path: str, waiver: Waiver, rules: Iterable[str]) -> str:
    return f"the comment at {path}/{waiver.file}:{waiver.line} that suppresses {', '.join(sorted(rules))}"


def _sentences(found: Iterable[str]) -> tuple[str, ...]:
    sentences = tuple(found)
    left = len(sentences) - _MOST
    return (*sentences[:_MOST], *([f"{left} more comments that suppress findings"] if left > 0 else []))


def _same(one: Waiver, other: Waiver) -> bool:
    return (one.file, one.reason, one.until, one.whole) == (other.file, other.reason, other.until, other.whole)


def _covered(was: BaseSkill) -> Iterator[Key]:
    """Yield the claims of the base that its comments cover, once per comment."""
    for waiver in was.facts.waivers:
        for claim in was.facts.claims:
            if claim.file == waiver.file and claim.id in waiver.rules and waiver.first <= claim.line <= waiver.last:
                yield _key(claim, waiver, was.root)


def _key(claim: Claim, waiver: Waiver, root: SkillRoot) -> Key:
    message = folded(claim.message)
    if claim.id in EXACT:
        message = f"{claim.message} {digest(*_around(_lines(root, claim.file), claim, waiver))}"
    return claim.id, claim.file, message, waiver.reason


def _around(lines: list[bytes], claim: Claim, waiver: Waiver) -> list[bytes]:
    """Return the text that a comment suppresses with a claim: its range; for a whole file, up to a blank line."""
    first, last = waiver.first, waiver.last
    if waiver.whole:
        first = last = claim.line
        while first > 1 and lines[first - 2 : first - 1] and lines[first - 2].strip():
            first -= 1
        while last < len(lines) and lines[last].strip():
            last += 1
    return [line for line in lines[first - 1 : last] if line.strip()]


@cache
def _lines(root: SkillRoot, file: str) -> list[bytes]:
    """Read the lines of a skill's file, without their ends; none if it cannot be read."""
    try:
        return root.tree.read(join(root.directory, file), limit=skill_read.MAX_BYTES).splitlines()
    except OSError:
        return []


class BaseSkills(NamedTuple):
    """The skills in the base of a change.

    Attributes:
        waivers: decides which comments may suppress findings.
        moved: the other places of a skill, where the change began and at the tip of the base branch, by current path.
        results: each skill at the tip, or else where the change began, by current path.
    """

    waivers: BaseWaivers
    moved: Mapping[str, Collection[str]]
    results: Mapping[str, SkillResult]


def evaluate_base(
    context: RunContext, found: Discovery, session: Console, evaluator: pipeline.Evaluator
) -> tuple[Baseline | None, BaseSkills | None]:
    """Evaluate the baseline, and the base of a change: where it began, and the tip, whose policy applies."""
    options = BaselineOptions(
        reading=read_of_base(context),
        notes_missing=False,
        top=context.checkout.top,
        excluded=excluded(context),
        committed=True,
        name=context.checkout.name,
    )

    @cache
    def at(value: str) -> tuple[Baseline, Mapping[str, BaseSkill]]:
        known: dict[str, BaseSkill] = {}
        config = context.config.with_options({settings.BASELINE.key: value})
        recording = evaluator._replace(assess=_recording(evaluator.assess, known))
        base = load_baseline(config, found.roots, requested_paths(context), session, recording, options)
        return base, {path: known[one.skill.path] for path, one in base.results.items() if one.skill.path in known}

    compared = context.compared.commit or context.compared.value
    baseline = None if compared is None else at(compared)[0]
    if context.base.commit is None:
        return baseline, None
    (start, before), (tip, now) = at(context.base.commit), at(context.base.tip or context.base.commit)
    moved: dict[str, set[str]] = {}
    for place, path in (*start.moves.items(), *tip.moves.items()):
        moved.setdefault(path, set()).add(place)
    waivers = BaseWaivers(now, {str(root.path): root for root in found.roots}, start=before)
    return baseline, BaseSkills(waivers, moved, {**start.results, **tip.results})


def difference(
    context: RunContext,
    report: Report,
    baseline: Baseline,
    extras: Sequence[str],
    policy_of: Callable[[PurePosixPath], Policy],
    across: Sequence[Finding],
) -> Diff:
    """Compare both sides, without the skills that the report has only for shared findings (``extras``).

    ``across`` has every finding across skills at the head, even of skills outside the report.
    """
    results = [result for result in report.results if result.skill.path not in extras]
    pairs = [
        *((baseline.results.get(result.skill.path), result) for result in results),
        *((result, None) for result in baseline.gone),
    ]
    shown = {result.skill.path for result in results}
    others = Siblings(
        before=across_findings(result for path, result in baseline.results.items() if path not in shown),
        after=tuple(finding for finding in across if str(finding.path.parent) not in shown),
        paths=tuple((result.skill.path, path) for path, result in baseline.results.items() if path not in shown),
    )
    commit, head = context.compared.commit, context.base.head
    label = commit[:12] if commit else context.compared.how
    return diff(
        pairs,
        a=DiffSide(label=label, commit=commit, tool=__version__),
        b=DiffSide(label=head[:12] or "here", commit=head or None, tool=__version__),
        max_drop=lambda path: policy_of(PurePosixPath(path)).max_drop,
        listing=report.listing,
        across=report.across,
        profile=report.profile,
        digest=report.config_digest,
        version=__version__,
        siblings=others,
    )


def _recording(assess: pipeline.Assess, known: dict[str, BaseSkill]) -> pipeline.Assess:
    """Record the assessment of each skill by shown path."""

    def recorded(sources: Sequence[SkillSource]) -> Iterator[Assessment]:
        for source, facts in zip(sources, assess(sources), strict=True):
            known[str(source.root.path)] = BaseSkill(source.root, facts)
            yield facts

    return recorded
