"""Read results recorded next to eval sets by other tools. Only graded runs count.

The forms: skill-creator's ``benchmark.json`` (tasks in two arms), ``grading.json`` (one run) and trigger runs
(``results`` with a rate per query); and ``aggregate-result.json`` of Claude Code's plugin evals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.evals.loading import named
from skillgate.model.evals import Recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.evals.loading import Loaded

POSITION = 4
UNIT = "result"
COMPANIONS = frozenset(("timing.json", "metrics.json", "history.json", "eval_metadata.json", "feedback.json"))
"""Files next to results that hold no outcomes."""
_MOST = 10_000  # records of one file
_ARM = "with_skill"


def is_it(loaded: Loaded, file: str) -> bool:  # noqa: ARG001 - as every format
    """Whether a document has one of the forms."""
    return isinstance(loaded.value, dict) and _reader(loaded.value) is not None


def read(loaded: Loaded, file: str) -> tuple[Recorded, ...]:
    """Read the outcomes of a document: one per case and arm, in document order."""
    reader = _reader(loaded.value)
    sums: dict[tuple[str, str], Recorded] = {}
    for number, one in enumerate(reader(loaded, file) if reader is not None else ()):
        if number == _MOST:
            break
        known = sums.get((one.case, one.arm))
        if known is not None:
            one = known._replace(passed=known.passed + one.passed, runs=known.runs + one.runs)
        sums[one.case, one.arm] = one
    return tuple(one for one in sums.values() if one.runs)


def skill_name(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return the name of the skill that a document is about; None if it has none."""
    inner = value.get("metadata") if isinstance(value, dict) else None
    for place in (value, inner):
        name = place.get("skill_name") if isinstance(place, dict) else None
        if isinstance(name, str) and name:
            return name
    return None


def _reader(value: dict[str, Any]) -> Any:  # noqa: ANN401 - one of the generators below
    runs, results, cases = value.get("runs"), value.get("results"), value.get("cases")
    if isinstance(runs, list) and any(isinstance(run, dict) and "configuration" in run for run in runs):
        return _benchmark
    if isinstance(results, list) and any(isinstance(one, dict) and "should_trigger" in one for one in results):
        return _trigger_runs
    if isinstance(cases, list) and any(isinstance(case, dict) and "arms" in case for case in cases):
        return _plugin_runs
    graded = value.get("expectations") or value.get("assertion_results")
    return _grading if isinstance(graded, list) and isinstance(value.get("summary"), dict) else None


def _benchmark(loaded: Loaded, file: str) -> Iterator[Recorded]:
    for index, run in enumerate(loaded.value["runs"]):
        if not isinstance(run, dict) or not isinstance(run.get("result"), dict):
            continue
        case = named(run.get("eval_id", run.get("eval_name")), index + 1)
        passed = _whole(run["result"])
        if passed is not None:
            arm = named(run.get("configuration"), 0)
            yield Recorded(case, arm, int(passed), 1, file, loaded.line(f"runs[{index}]"))


def _whole(result: dict[str, Any]) -> bool | None:
    """Whether a run passed all its checks; None if nothing was graded."""
    passed, total, rate = result.get("passed"), result.get("total"), result.get("pass_rate")
    if isinstance(total, int) and isinstance(passed, int):
        return passed == total if total > 0 else None
    return rate >= 1 if isinstance(rate, int | float) else None


def _trigger_runs(loaded: Loaded, file: str) -> Iterator[Recorded]:
    for index, one in enumerate(loaded.value["results"]):
        if not isinstance(one, dict) or not isinstance(one.get("should_trigger"), bool):
            continue
        runs, hits = one.get("runs"), one.get("triggers")
        if not (isinstance(runs, int) and isinstance(hits, int) and 0 <= hits <= runs):
            continue
        right = hits if one["should_trigger"] else runs - hits
        query = named(one.get("query"), index + 1)
        yield Recorded(query, _ARM, right, runs, file, loaded.line(f"results[{index}]"), paired=False)


def _plugin_runs(loaded: Loaded, file: str) -> Iterator[Recorded]:
    for index, case in enumerate(loaded.value["cases"]):
        arms = case.get("arms") if isinstance(case, dict) else None
        for arm, runs in arms.items() if isinstance(arms, dict) else ():
            for run in runs if isinstance(runs, list) else ():
                graders = run.get("graders") if isinstance(run, dict) else None
                marks = [one.get("passed") for one in graders or () if isinstance(one, dict)]
                if marks and all(isinstance(mark, bool) for mark in marks):
                    name = named(case.get("name"), index + 1)
                    yield Recorded(name, named(arm, 0), int(all(marks)), 1, file, loaded.line(f"cases[{index}]"))


def _grading(loaded: Loaded, file: str) -> Iterator[Recorded]:
    key = "expectations" if loaded.value.get("expectations") else "assertion_results"
    for index, one in enumerate(loaded.value[key]):
        mark = one.get("passed") if isinstance(one, dict) else None
        if isinstance(mark, bool):
            text = named(one.get("text"), index + 1)
            yield Recorded(text, _ARM, int(mark), 1, file, loaded.line(f"{key}[{index}]"), paired=False)
