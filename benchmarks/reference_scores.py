"""Compare skillgate with the recorded scores of the method's original implementation, over the skills that both hold.

    python -m benchmarks.reference_scores [--data DIR] [--verbose]

DIR (by default what SKILLGATE_TEST_DATA names) holds `reference/plugineval-scores.json` and `corpus/`. Printed are the
rank correlation of the composites and, for every sub-check that differs by more than 0.05, the causes. A cause is not
asserted: the original's rule is recomputed with one slip put right at a time, and what changes is laid to that slip.

Exit code: 0 when every difference is attributed, 1 when one is not, 2 without data.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import attribution, original
from benchmarks.attribution import Step
from skillgate import composite_score, evaluate
from skillgate.model.report import StaticLayer
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.static import layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.report import SkillResult
    from skillgate.model.skill import SkillRoot

COLLECTIONS = {"wshobson/agents": "wshobson-agents", "anthropics/skills": "anthropics-skills"}
DIMENSIONS = {"frontmatter_quality": "triggering_accuracy", "orchestration_wiring": "orchestration_fitness"}
SMALLEST = 0.05  # differences of a sub-check up to this need no cause
TOLERANCE = 0.001  # what the causes of a difference may leave over; recorded scores have six decimals
CHANGED = "the text changed since it was scored"
LEFT_OUT = "files next to SKILL.md that this copy of the collection leaves out"


class Compared(NamedTuple):
    """One sub-check of one skill: the recorded score, ours, and the steps from the one to the other."""

    skill: str
    sub_check: str
    recorded: float
    ours: float
    steps: tuple[Step, ...]

    @property
    def difference(self) -> float:
        """Give ours less the recorded."""
        return self.ours - self.recorded

    @property
    def unattributed(self) -> float:
        """Give what the steps leave unexplained."""
        return self.difference - sum(step.change for step in self.steps)


class Comparison(NamedTuple):
    """All skills: what is compared, and the composites in the same order."""

    absent: tuple[str, ...]
    changed: tuple[str, ...]
    unmeasured: tuple[str, ...]
    rows: tuple[Compared, ...]
    recorded: tuple[float, ...]
    results: tuple[SkillResult, ...]

    @property
    def ours(self) -> tuple[float, ...]:
        """Give our composites, in the order of the recorded ones."""
        return tuple(result.composite.score or 0.0 for result in self.results)

    @property
    def tables(self) -> list[float]:
        """Give our composites as they were if the method's table decided every sub-check."""
        return [_from_tables(result) for result in self.results]

    def swapped(self, sub_check: str) -> list[float]:
        """Give our composites as they were with the recorded values of one sub-check in place of ours."""
        name = DIMENSIONS.get(sub_check, sub_check)
        recorded = {row.skill: row.recorded for row in self.rows if row.sub_check == sub_check}
        return [_rescored(result, name, recorded) for result in self.results]

    @property
    def large(self) -> tuple[Compared, ...]:
        """Select the differences that need a cause."""
        return tuple(row for row in self.rows if abs(row.difference) > SMALLEST + 1e-9)

    @property
    def unexplained(self) -> tuple[Compared, ...]:
        """Select the differences that the causes do not add up to."""
        return tuple(row for row in self.large if abs(row.unattributed) > TOLERANCE)


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Give Spearman's rank correlation, equal values sharing the mean of their ranks; nan where a side is constant."""
    a, b = _ranks(left), _ranks(right)
    mean = (len(a) + 1) / 2
    shared = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    spread: float = (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5
    return shared / spread if spread else float("nan")


def _ranks(values: Sequence[float]) -> list[float]:
    places = defaultdict(list)
    for place, value in enumerate(sorted(values), start=1):
        places[value].append(place)
    return [fmean(places[value]) for value in values]


def compare(data: Path) -> Comparison:
    """Score every recorded skill that the collections hold."""
    records = json.loads((data / "reference" / "plugineval-scores.json").read_text(encoding="utf-8"))["skills"]
    absent, changed, unmeasured, rows = [], [], [], []
    pairs = []
    roots = dict(_roots(data))
    results = dict(_results(data))
    for record in records:
        directory = data / "corpus" / COLLECTIONS[record["repo"]] / record["path"]
        root = roots.get(directory)
        if root is None:
            absent.append(f"{record['repo']}/{record['path']}")
            continue
        if original.read(directory).lines != record["line_count"]:
            changed.append(record["path"])
        found = tuple(_compare(record, directory, root))
        rows += [row for row in found if row.ours >= 0]
        unmeasured += [f"{row.skill} {row.sub_check}" for row in found if row.ours < 0]
        pairs.append((record["composite"], results[directory]))
    recorded, ours = zip(*pairs, strict=True) if pairs else ((), ())
    return Comparison(tuple(absent), tuple(changed), tuple(unmeasured), tuple(rows), tuple(recorded), tuple(ours))


def _rescored(result: SkillResult, dimension: str, recorded: dict[str, float]) -> float:
    scores = {key.value: score.score for key, score in result.dimensions.items()}
    path = next((path for path in recorded if result.skill.path.endswith(f"/{path}")), None)
    if path is not None:
        scores[dimension] = recorded[path]
    count = sum(len(layer.anti_patterns) for layer in result.layers if isinstance(layer, StaticLayer))
    return composite_score(scores, count, renormalise=True)


def _from_tables(result: SkillResult) -> float:
    """Give the composite of what the method's table names, with our penalty."""
    (static,) = (layer for layer in result.layers if isinstance(layer, StaticLayer))
    scores = {
        DIMENSIONS.get(name, name): None
        if measured.score is None
        else attribution.cut(sum(attribution.table_points(name, measured.evidence)))
        for name, measured in static.sub_checks.items()
        if name in original.SUB_CHECKS
    }
    return composite_score(scores, len(static.anti_patterns), renormalise=True)


def _collections(data: Path) -> list[Path]:
    return [place for name in COLLECTIONS.values() if (place := data / "corpus" / name).is_dir()]


def _roots(data: Path) -> Iterator[tuple[Path, SkillRoot]]:
    for collection in _collections(data):
        for root in discover([str(collection)]).roots:
            yield Path(str(root.path)), root


def _results(data: Path) -> Iterator[tuple[Path, SkillResult]]:
    for collection in _collections(data):
        for result in evaluate(collection).results:
            yield Path(result.skill.path), result


def _compare(record: dict[str, Any], directory: Path, root: SkillRoot) -> Iterator[Compared]:
    document = original.read(directory)
    source = read(root)
    skill = parse(source)  # type: ignore[arg-type]
    scores = layer.run(skill).scores
    recomputed = original.scores(document)
    for sub_check in original.SUB_CHECKS:
        measured, recorded = scores[sub_check], record["sub_scores"][sub_check]
        since = _since(record, document, sub_check, recomputed[sub_check] - recorded)
        found = (*since, *attribution.steps(sub_check, document, skill, measured))
        ours = measured.score if measured.score is not None else -1.0
        yield Compared(record["path"], sub_check, recorded, ours, found)


def _since(record: dict[str, Any], document: original.Document, sub_check: str, change: float) -> tuple[Step, ...]:
    """Explain a recorded score that the original's rule does not give on this text."""
    if abs(change) <= TOLERANCE:
        return ()
    if document.lines != record["line_count"]:
        return (Step(CHANGED, change),)
    missing = [name for name in ("references", "assets") if not document.files(name)]
    worth = {0.15 if name == "assets" or document.lines <= 400 else 0.25 for name in missing}
    if sub_check == "progressive_disclosure" and any(abs(change + points) <= TOLERANCE for points in worth):
        return (Step(LEFT_OUT, change),)
    return ()


def report(found: Comparison, *, verbose: bool) -> Iterator[str]:
    """Write the comparison, a line each."""
    held = len(found.ours)
    yield f"skills recorded: {held + len(found.absent)}, held by both: {held}"
    yield f"held by both with another line count than was recorded: {len(found.changed)}"
    yield f"Spearman rank correlation of the composites: {spearman(found.recorded, found.ours):.3f}"
    yield f"Spearman rank correlation of what the method's table decides: {spearman(found.recorded, found.tables):.3f}"
    yield f"mean composite: recorded {fmean(found.recorded):.1f}, here {fmean(found.ours):.1f}"
    yield ""
    yield "sub-check                 rank corr.  recorded    here   beyond 0.05   composite's corr. with it as recorded"
    for name in original.SUB_CHECKS:
        rows = [row for row in found.rows if row.sub_check == name]
        theirs, ours = [row.recorded for row in rows], [row.ours for row in rows]
        beyond = sum(1 for row in found.large if row.sub_check == name)
        swapped = spearman(found.recorded, found.swapped(name))
        means = f"{fmean(theirs):9.3f} {fmean(ours):7.3f}"
        yield f"{name:<25} {spearman(theirs, ours):10.3f} {means} {beyond:13} {swapped:41.3f}"
    yield ""
    yield f"{'what the differences beyond 0.05 come from':<99} {'skills':>6} {'mean change':>13}"
    yield from _causes(found)
    if verbose:
        for row in found.large:
            yield f"{row.skill} {row.sub_check}: recorded {row.recorded:.3f}, here {row.ours:.3f}"
            yield from (f"    {step.change:+.3f}  {step.cause}" for step in row.steps)
    yield f"\n{len(found.large)} differences beyond {SMALLEST}, {len(found.unexplained)} of them unattributed"
    for row in found.unexplained:
        yield f"UNATTRIBUTED {row.skill} {row.sub_check}: {row.unattributed:+.4f} of {row.difference:+.4f}"


def _causes(found: Comparison) -> Iterator[str]:
    for name in original.SUB_CHECKS:
        changes: dict[str, list[float]] = defaultdict(list)
        for row in found.large:
            if row.sub_check == name:
                for step in row.steps:
                    changes[step.cause].append(step.change)
        yield f"  {name}"
        for cause, values in sorted(changes.items(), key=lambda item: (-len(item[1]), item[0])):
            yield f"    {cause:<95} {len(values):6} {fmean(values):+13.3f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison; the exit code says whether everything is attributed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("SKILLGATE_TEST_DATA"))
    parser.add_argument("--verbose", action="store_true", help="list every difference with its steps")
    args = parser.parse_args(argv)
    if args.data is None or not (Path(args.data) / "reference" / "plugineval-scores.json").is_file():
        print("no data: give --data DIR, or set SKILLGATE_TEST_DATA", file=sys.stderr)
        return 2
    found = compare(Path(args.data))
    print("\n".join(report(found, verbose=args.verbose)))
    return 1 if found.unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
