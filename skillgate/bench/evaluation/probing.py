"""Hold answers that know nothing against a benchmark: what ``bench check`` does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.catalog import find_benchmark
from skillgate.bench.planning import scorers_of, scoring_of
from skillgate.bench.ports import alone
from skillgate.bench.probing import probe
from skillgate.model.benchmark import ScorerName

if TYPE_CHECKING:
    from skillgate.bench.probing import Probe
    from skillgate.model.benchmark import Loaded
    from skillgate.session import Session


class Probed(NamedTuple):
    """What a benchmark lets pass.

    Attributes:
        benchmark: its id.
        probes: of the tasks that were checked.
        checked: how many tasks that were.
        left_out: the ids of tasks that only a model or a program can score.
    """

    benchmark: str
    probes: tuple[Probe, ...]
    checked: int
    left_out: tuple[str, ...]


def probe_benchmark(word: str, benchmarks_dir: str | None, session: Session) -> Probed:
    """Check one benchmark, by its id or its file; nothing is started and no model asked.

    Raises:
        UsageError: there is no such benchmark, or it is not valid.
    """
    loaded, notices = find_benchmark(word, benchmarks_dir, cwd=session.cwd)
    for notice in notices:
        session.note(notice)
    loaded, left_out = _checkable(loaded)
    benchmark = loaded.benchmark
    if left_out:
        names = ", ".join(left_out)
        session.note(f"{benchmark.id}: not checked, since a model or a program scores: {names}")
    scorers = scorers_of(loaded, scoring_of(loaded, "exact"), alone())
    return Probed(benchmark.id, probe(benchmark, scorers), len(benchmark.tasks), left_out)


def _checkable(loaded: Loaded) -> tuple[Loaded, tuple[str, ...]]:
    """Take the tasks out that can only be scored by asking a model or by starting a program; return their ids too."""
    rules = scoring_of(loaded, "exact")
    others = [name for name, rule in rules.items() if rule.scorer in (ScorerName.LLM_JUDGE, ScorerName.CUSTOM)]
    tasks = tuple(task for task in loaded.benchmark.tasks if task.id not in others)
    return replace(loaded, benchmark=replace(loaded.benchmark, tasks=tasks)), tuple(others)
