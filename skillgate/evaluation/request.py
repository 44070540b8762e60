"""What a front asks of an evaluation: plain values, whatever they were written as."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillgate.config import Config


class Scope(NamedTuple):
    """Which skills a run is about.

    Attributes:
        paths: skills, or directories that hold some.
        allow_empty: whether there may be no skill at all.
        changed: whether only skills that a change touches are reported.
        since: the revision that ``changed`` compares with; None for the last commit.
        of_files: whether the paths are those of the skills that some files belong to.
        shard: which part of how many is reported, from (1, 1) on; None for all skills.
    """

    paths: tuple[str, ...] = (".",)
    allow_empty: bool = False
    changed: bool = False
    since: str | None = None
    of_files: bool = False
    shard: tuple[int, int] | None = None


class ModelOptions(NamedTuple):
    """How models are asked, beside what the configuration says.

    Attributes:
        record: a file to write every exchange to.
        replay: a recording that answers in a provider's place.
        refresh: whether answers that are kept are asked for anew.
        keep_answers: whether answers are kept between runs.
        calibration: a file of ratings that people gave.
        dry_run: whether the run only estimates what it would ask and cost.
        lift: whether the skills' tasks are done without them too.
        benchmark_json: a file that the lift of one skill will be written to; whoever publishes the report writes it.
    """

    record: str | None = None
    replay: str | None = None
    refresh: bool = False
    keep_answers: bool = True
    calibration: str | None = None
    dry_run: bool = False
    lift: bool = False
    benchmark_json: str | None = None


class EvaluateRequest(NamedTuple):
    """What to evaluate, and how.

    Attributes:
        config: the configuration, with options over it.
        scope: which skills the run is about.
        command: ``check`` for the static layer alone and without advice, or ``score``.
        models: how models are asked.
        merge_sarif: files with findings of other tools.
        write_known_findings: a file for the findings that there are now.
        use_cache: whether what was measured of files before is used, and kept.
        use_processes: whether several processes may share the work.
        digest: whether the report holds the configuration's digest, which takes longer than a short run.
    """

    config: Config
    scope: Scope = Scope()
    command: str = "score"
    models: ModelOptions = ModelOptions()
    merge_sarif: tuple[str, ...] = ()
    write_known_findings: str | None = None
    use_cache: bool = True
    use_processes: bool = True
    digest: bool = True


class CertificateRequest(NamedTuple):
    """What to write once skills are certified; None for nothing.

    Attributes:
        certificate: a file.
        days: how long the certificate holds.
        badges: a directory.
    """

    certificate: str | None = None
    days: int | None = None
    badges: str | None = None


class MergeRequest(NamedTuple):
    """The shards of one run, to be joined into one report.

    Attributes:
        files: every shard's report, in any order.
        config: the configuration, with options over it.
        baseline: the report that the shards are said to have been compared with; None where nobody says so.
        insisted: whether options ask for gates: the shards must have been asked for them, too.
    """

    files: tuple[str, ...]
    config: Config
    baseline: str | None = None
    insisted: bool = False


class CompareRequest(NamedTuple):
    """Two skills to compare, each a path or ``REV:path``.

    Attributes:
        a: the skill before.
        b: the skill after.
        config: the configuration, with options over it.
        models: how models are asked.
        max_drop: points that ``b`` may score below ``a``; None for no gate.
    """

    a: str
    b: str
    config: Config
    models: ModelOptions = ModelOptions()
    max_drop: float | None = None
