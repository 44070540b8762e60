"""What a comment and a summary are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.score import SCHEMA_VERSION, Count, Depth, Points

if TYPE_CHECKING:
    from skillgate.model.bench import BenchDiff, BenchReport
    from skillgate.model.documents import ActionRun, Diff
    from skillgate.model.invocation import InvocationReport
    from skillgate.model.report import Report


class SkillScore(NamedTuple):
    """One skill in one run; ``score`` is None if it was not measured."""

    path: str
    score: Points | None


class PastRun(NamedTuple):
    """One run over every skill; figures are None if nothing was measured."""

    head: str  # the commit, ``""`` if not known
    run: Count  # GitHub's number, 0 if not known
    mean: Points | None = None
    lowest: Points | None = None
    badges: Count | None = None  # how many skills have one
    errors: Count | None = None
    skills: tuple[SkillScore, ...] = ()


class RunHistory(NamedTuple):
    """Comparable runs, the newest last."""

    depth: Depth
    scoring_version: int
    runs: tuple[PastRun, ...]
    schema_version: int = SCHEMA_VERSION


class Subject(NamedTuple):
    """One run, as people read of it.

    Attributes:
        run: what was compared, the policy, the result.
        report: the head's report, over the skills that are asked about; None where the run ended before there was one.
        diff: base against head; None without a base.
        repository_url: ``https://HOST/OWNER/NAME`` without a slash at the end, ``""`` where it is not known.
        run_url: the workflow run, for "full report"; ``""`` where it is not known.
        trusted: False if run, report and diff come from another workflow (a fork's): no address in them is used, and
            the comment says so.
        key: distinguishes the comments of several jobs on one pull request; letters, digits, ``.``, ``_`` and ``-``.
        bench: of the benchmark that was run; None without one.
        bench_diff: base against head on that benchmark; None without a base.
        invocations: what is recorded of the skills, by their paths, with gates on it; None where none was asked for.
        history: the scores of the last runs and this one; None of a change, or where none is known.
    """

    run: ActionRun
    report: Report | None
    diff: Diff | None = None
    repository_url: str = ""
    run_url: str = ""
    trusted: bool = True
    key: str = "default"
    bench: BenchReport | None = None
    bench_diff: BenchDiff | None = None
    invocations: InvocationReport | None = None
    history: RunHistory | None = None
