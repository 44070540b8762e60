"""The page of coverages, made of its rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"


class Covered(NamedTuple):
    """One interval over its grid: its least and its mean coverage, and its mean half-width, in the measure's unit."""

    interval: str
    grid: str
    cells: int
    least: float
    mean: float
    half_width: float
    repetitions: int | None = None

    def row(self) -> str:
        """Give a line of the table."""
        often = "exact" if self.repetitions is None else f"{self.repetitions:,}"
        return (
            f"| {self.interval} | {self.grid} | {self.cells} | {often} | {self.least:.3f} | {self.mean:.3f} "
            f"| {self.half_width:,.3f} |"
        )

    @classmethod
    def read(cls, row: str) -> Covered:
        """Take a line of the table."""
        name, grid, *figures = (
            cell.strip().replace(",", "") if place > 1 else cell.strip()
            for place, cell in enumerate(row.strip("| \n").split("|"))
        )
        cells, often, least, mean, half_width = figures
        repetitions = None if often == "exact" else int(often)
        return cls(name, grid, int(cells), float(least), float(mean), float(half_width), repetitions)


def rows(text: str) -> list[Covered]:
    """Read the table of a page."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [Covered.read(line) for line in lines[1:]]


def page(found: Sequence[Covered]) -> str:
    """Give the page with the table."""
    lines = "\n".join(item.row() for item in found)
    return f"""# How often intervals hold the true value

Every interval that skillgate prints is to hold the true value in 95 of 100 cases. Here is how often each kind does,
over a grid of true values, sample sizes and distributions: the least and the mean over the cells of its grid. The table
says how often each cell was simulated; "exact" are sums over all outcomes, with no chance in them. The least of many
simulated cells is by chance alone below what is true: by some 0.01 at 5,000 repetitions, 0.015 at 1,000 or 2,000,
0.02 at 400 and 0.04 at 150. The distributions stand in `benchmarks/coverage_worlds.py`, matches in
`benchmarks/coverage_ranking.py`.

| Interval | Grid | Cells | Repetitions | Least | Mean | Mean half-width |
|---|---|---|---|---|---|---|
{lines}

Half-widths are in the measure's own unit: tokens for tokens, points for the composite and for Elo and
strengths, else shares; kappa has none.

What to know of some rows:

- **Elo's resampling spread is no interval for a skill's strength.** It {_elo_words(found)}. It tells how far chance and
  order move the number, and is printed under that name. The interval of the strength is Bradley–Terry's.
- Bradley–Terry's interval takes the opponents' ratings as they stand in the corpus: what is uncertain in those is not
  in it.
- The percentile, a win rate against the opponents met, is printed without an interval, as are the mean scores of the
  two arms of lift. The score it is made of is the one that Bradley–Terry's interval rests on.
- Lift has the interval of the mean paired difference, tried through its own figures from five tasks on.
- Position bias is a rate with the exact interval; n are the decided matches.
- The t interval of a rating by two judges covers too little. Ratings are whole steps of the scale, two of them are
  often equal, and then half a step to each side is all there is. With three judges it comes near to what it should;
  near an end of the scale, where ratings lean to one side, it stays below with five. The composite, which many
  dimensions make up together, is held as often as it should be with two judges too.
- Kappa's bootstrap interval, of judges among themselves or held against people, covers a little too little. Wilson's is
  shown beside the exact one since it is the narrower; nothing is decided by it.
- False activations, precision and the judge's rates in a calibration have the exact interval of the first row. Two that
  a calibration prints were not tried: kappa's with whole skills drawn, and that of the corrected share of passes.

Made by `python -m benchmarks.coverage --write`.
"""


def _elo_words(found: Sequence[Covered]) -> str:
    held = [item for item in found if item.interval.startswith("Elo's")]
    if not held:
        return "was not tried here"
    strength, mean = held
    least, usual, of_mean = (round(100 * share) for share in (strength.least, strength.mean, mean.mean))
    return (
        f"holds the strength in {usual} of 100 cases on average and in {least} for the\n"
        f"  worst kind of skill; even the Elo that such a skill has on average it holds in only {of_mean}"
    )
