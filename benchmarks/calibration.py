"""Compare the static layer with what readers said of public skills: correlations, badges, plots, and the fit itself.

    python -m benchmarks.calibration [--data DIR] [--plots DIR] [--fit] [--percentiles] [--write]

Printed are Spearman correlations over all rated skills (pooled) and the mean over the collections with at least 12 of
them (within), each with a 95 % interval from 2,000 bootstrap samples of skills within their collections; then how the
badges divide the ratings. Sub-checks and composite hold no fitted number but the points that the docs list. The
quality estimate is fitted: its figure is a cross-validation that leaves whole collections out, so that no collection
is predicted from itself. ``--fit`` prints the coefficients of the fit over all collections, which
``skillgate/static/features.py`` holds; ``--percentiles`` the table of composites of all public skills at hand, and with
``--write`` writes it to ``skillgate/scoring/public.py``; ``--plots`` writes scatter plots as SVG.

The readers were language models of one family, so a high figure says that the score agrees with such readers. It needs
numpy and scipy (the extra `stats`) and the ratings: `$SKILLGATE_TEST_DATA/calibration`, or ``--data``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import rankdata

from skillgate.model.score import SCORING_VERSION, Badge, Dimension
from skillgate.model.skill import SkillSource
from skillgate.scoring.composite import MIN_COVERAGE, award, composite, coverage
from skillgate.skill.find import discover, read
from skillgate.skill.parse import parse
from skillgate.static import layer
from skillgate.static.features import TERMS, features, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from skillgate.model.skill import SkillRoot

    Array = npt.NDArray[np.float64]

ROOT = Path(__file__).parents[1]
SEED = 20_261_125
RESAMPLES = 2_000
LEAST_RATED = 12  # skills of a collection, for a correlation within it
RIDGE = 20.0
ASKED = ("trig", "worker", "output", "scope", "overall")
PAIRS = (  # what is compared with which rating; the last two are reported alone
    ("frontmatter_quality", "trig"),
    ("orchestration_wiring", "worker"),
    ("token_efficiency", "scope"),
    ("code_template_quality", "output"),
    ("ecosystem_coherence", "output"),
    ("progressive_disclosure", "output"),
    ("structural_completeness", "output"),
)
# The bars that a change of the scoring must hold: pooled and within.
BARS = {
    "quality_estimate": (0.62, 0.50),
    "composite": (0.40, 0.50),
    "frontmatter_quality": (0.55, None),
    "orchestration_wiring": (0.0, None),
    "token_efficiency": (0.0, None),
    "code_template_quality": (0.0, None),
    "ecosystem_coherence": (0.0, None),
}


class Rated(NamedTuple):
    """One rated skill: mean ratings by what was asked, scores of the sub-checks, composite, badge, features."""

    collection: str
    path: str
    ratings: dict[str, float]
    scores: dict[str, float | None]
    composite: float | None
    badge: Badge | None
    terms: tuple[float, ...]
    estimate: float | None


class Correlation(NamedTuple):
    """A Spearman correlation with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def rated_skills(data: Path) -> list[Rated]:
    """Evaluate every rated skill at quick depth."""
    found = []
    for line in (data / "ratings.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        base = data.parent / "corpus" if row["from"] == "corpus" else data / "skills"
        ratings = {key: float(np.mean([one[key] for one in row["ratings"]])) for key in ASKED}
        found.append(_evaluated(base / row["path"], row["path"], ratings))
    return found


def _evaluated(directory: Path, path: str, ratings: dict[str, float]) -> Rated:
    roots = discover([str(directory)]).roots
    root = next((root for root in roots if str(root.path) == str(directory)), roots[0])
    source = read(root)
    if not isinstance(source, SkillSource):
        raise OSError(f"{directory}: {source.reason}")
    skill = parse(source)
    result = layer.run(skill, optional=False)
    score = _composite(result)
    found = features(skill)
    return Rated(
        collection=path.partition("/")[0],
        path=path,
        ratings=ratings,
        scores={name: measured.score for name, measured in result.scores.items()},
        composite=score,
        badge=award(score, None, withheld=result.no_badge)[0],
        terms=tuple(scaled(found, term) for term in TERMS),
        estimate=result.estimate.value,
    )


def _composite(result: layer.StaticResult) -> float | None:
    measured: dict[Dimension, float | None] = dict.fromkeys(Dimension)
    measured |= {dimension: one.score for dimension, one in result.dimensions.items()}
    return composite(measured, len(result.anti_patterns)) if coverage(measured) >= MIN_COVERAGE else None


# -- Correlations


def spearman(one: Array, two: Array) -> float:
    """Return Spearman's rank correlation; 0 where one of the two is constant."""
    first, second = rankdata(one), rankdata(two)
    if not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def within(one: Array, two: Array, collections: npt.NDArray[np.str_]) -> float:
    """Return the mean correlation over the collections with enough rated skills."""
    counts = Counter(collections.tolist())
    parts = [collections == name for name, count in counts.items() if count >= LEAST_RATED]
    return float(np.mean([spearman(one[part], two[part]) for part in parts])) if parts else float("nan")


def correlate(one: Array, two: Array, collections: npt.NDArray[np.str_]) -> tuple[Correlation, Correlation]:
    """Return the pooled correlation and that within collections, with bootstrap intervals."""
    rng = np.random.default_rng(SEED)
    places = [np.flatnonzero(collections == name) for name in sorted(set(collections.tolist()))]
    pooled, inside = [], []
    for _ in range(RESAMPLES):
        sample = np.concatenate([rng.choice(place, len(place)) for place in places])
        pooled.append(spearman(one[sample], two[sample]))
        inside.append(within(one[sample], two[sample], collections[sample]))
    measured = (spearman(one, two), within(one, two, collections))
    ends = (np.nanquantile(values, (0.025, 0.975)) for values in (pooled, inside))
    first, second = (
        Correlation(value, float(low), float(high)) for value, (low, high) in zip(measured, ends, strict=True)
    )
    return first, second


# -- The fit


def fit(terms: Array, ratings: Array) -> tuple[float, Array]:
    """Fit ratings by ridge regression over standardised terms; return the intercept and a coefficient for each term."""
    mean, spread = terms.mean(axis=0), terms.std(axis=0) + 1e-9
    scaled_terms = (terms - mean) / spread
    gram = scaled_terms.T @ scaled_terms + RIDGE * np.eye(terms.shape[1])
    weights = np.linalg.solve(gram, scaled_terms.T @ (ratings - ratings.mean())) / spread
    return float(ratings.mean() - mean @ weights), weights


def left_out(skills: Sequence[Rated]) -> Array:
    """Predict each skill's rating by a fit over the other collections."""
    terms, ratings, collections = _terms(skills), _rating(skills, "overall"), _collections(skills)
    found = np.zeros(len(skills))
    for name in set(collections.tolist()):
        held = collections == name
        intercept, weights = fit(terms[~held], ratings[~held])
        found[held] = np.clip(intercept + terms[held] @ weights, 0, 10)
    return found


def _terms(skills: Sequence[Rated]) -> Array:
    return np.array([skill.terms for skill in skills])


def _rating(skills: Sequence[Rated], asked: str) -> Array:
    return np.array([skill.ratings[asked] for skill in skills])


def _collections(skills: Sequence[Rated]) -> npt.NDArray[np.str_]:
    return np.array([skill.collection for skill in skills])


# -- Tables


class Row(NamedTuple):
    """One line of the table: what is compared with what, over how many skills, and both correlations."""

    name: str
    asked: str
    skills: int
    pooled: Correlation
    within: Correlation

    @property
    def holds(self) -> str:
        """Say whether the bars hold: ``yes``, ``NO``, or ``-`` without one."""
        bars = BARS.get(self.name)
        if bars is None:
            return "-"
        values = (self.pooled.value, self.within.value)
        strict = all(bar is None or (value > 0 and value >= bar) for value, bar in zip(values, bars, strict=True))
        return "yes" if strict else "NO"


def rows(skills: Sequence[Rated]) -> Iterator[Row]:
    """Yield the lines of the table of correlations."""
    for name, asked in PAIRS:
        yield _row(name, asked, skills, [skill.scores[name] for skill in skills])
    yield _row("composite", "overall", skills, [skill.composite for skill in skills])
    known = [skill for skill in skills if skill.estimate is not None]
    yield _row("quality_estimate", "overall", known, list(left_out(known)))
    yield _row("estimate as shipped", "overall", known, [skill.estimate for skill in known])


def _row(name: str, asked: str, skills: Sequence[Rated], values: Sequence[float | None]) -> Row:
    pairs = [(skill, value) for skill, value in zip(skills, values, strict=True) if value is not None]
    measured = [skill for skill, _ in pairs]
    found = correlate(np.array([value for _, value in pairs]), _rating(measured, asked), _collections(measured))
    return Row(name, asked, len(pairs), *found)


def table(found: Sequence[Row]) -> Iterator[str]:
    """Write the table of correlations."""
    yield f"{'measure':<24}{'rating':<9}{'n':>4}  {'pooled, 95 %':<22}{'within, 95 %':<22}bar holds"
    for row in found:
        yield f"{row.name:<24}{row.asked:<9}{row.skills:>4}  {row.pooled!s:<22}{row.within!s:<22}{row.holds}"


def badges(skills: Sequence[Rated]) -> Iterator[str]:
    """Write how badges divide the ratings."""
    overall = _rating(skills, "overall")
    silver = np.array([skill.badge is not None and skill.badge.composite >= Badge.SILVER.composite for skill in skills])
    for words, part, bar in (("3 or less", overall <= 3, "at most 10 %"), ("7 or more", overall >= 7, "at least 70 %")):
        share = silver[part].mean() if part.any() else float("nan")
        yield f"rated {words}: {share:.0%} of {part.sum()} are Silver or better ({bar})"
    for badge in (None, *reversed(Badge)):
        part = np.array([skill.badge is badge for skill in skills])
        mean = f"mean rating {overall[part].mean():.2f}" if part.any() else "none"
        yield f"{badge.value if badge else 'no badge':<10}{part.sum():>4}  {mean}"


def coefficients(skills: Sequence[Rated]) -> Iterator[str]:
    """Write the fit over all collections next to what is shipped."""
    intercept, weights = fit(_terms(skills), _rating(skills, "overall"))
    errors = left_out(skills) - _rating(skills, "overall")
    yield f"intercept {intercept:.2f}; deviation with collections left out {np.sqrt(np.mean(errors**2)):.2f}"
    yield from (
        f"{term.feature:<12}{weight:>8.2f}   shipped {term.coefficient:>6.2f}"
        for term, weight in zip(TERMS, weights, strict=True)
    )


# -- Percentiles


def public_composites(data: Path) -> list[float]:
    """Return the composites of all available public skills, sorted."""
    found = []
    for root in discover([str(data.parent / "corpus"), str(data / "skills")]).roots:
        score = _score(root)
        if score is not None:
            found.append(score)
    return sorted(found)


def _score(root: SkillRoot) -> float | None:
    source = read(root)
    return _composite(layer.run(parse(source), optional=False)) if isinstance(source, SkillSource) else None


def percentiles(scores: Sequence[float]) -> str:
    """Write the module with the table."""
    cuts = [float(round(np.quantile(scores, step / 100), 2)) for step in range(1, 101)]
    lines = [", ".join(f"{cut:g}" for cut in cuts[start : start + 10]) for start in range(0, 100, 10)]
    body = "\n".join(f"    *({line})," for line in lines)
    return (
        '"""Composites of public skills at quick depth; written by `benchmarks.calibration --percentiles`."""\n\n'
        f"VERSION = {SCORING_VERSION}  # the scoring version that they were scored with\n"
        f"SKILLS = {len(scores):_}\n"
        f"PERCENTILES = (  # the first to the hundredth\n{body}\n)\n"
    )


# -- Plots

_WIDTH, _HEIGHT, _MARGIN = 460, 340, 46


def plot(title: str, along: str, values: Array, up: str, ratings: Array, most: float) -> str:
    """Draw a scatter plot of ratings (0-10) over values (0 to ``most``), with the mean of each tenth, as SVG."""

    def x(value: float) -> float:
        return _MARGIN + value / most * (_WIDTH - 2 * _MARGIN)

    def y(value: float) -> float:
        return _HEIGHT - _MARGIN - value / 10 * (_HEIGHT - 2 * _MARGIN)

    rng = np.random.default_rng(SEED)
    jitter = rng.uniform(-0.18, 0.18, len(ratings))
    dots = [
        f'<circle cx="{x(value):.1f}" cy="{y(rating + moved):.1f}" r="2.6"/>'
        for value, rating, moved in zip(values.tolist(), ratings.tolist(), jitter.tolist(), strict=True)
    ]
    parts = np.array_split(np.argsort(values, kind="stable"), 10)
    means = " ".join(f"{x(float(values[part].mean())):.1f},{y(float(ratings[part].mean())):.1f}" for part in parts)
    marks = [step * most / 5 for step in range(6)]
    axes = [
        f'<text x="{x(mark):.1f}" y="{_HEIGHT - _MARGIN + 18}" text-anchor="middle">{mark:g}</text>' for mark in marks
    ]
    axes += [
        f'<text x="{_MARGIN - 8}" y="{y(step) + 4:.1f}" text-anchor="end">{step}</text>' for step in range(0, 11, 2)
    ]
    frame = f'<path d="M{_MARGIN} {_MARGIN} V{_HEIGHT - _MARGIN} H{_WIDTH - _MARGIN}" fill="none" stroke="#888"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        f' font-size="12" fill="#555" role="img">\n<title>{title}</title>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{frame}\n'
        + "\n".join(axes)
        + f'\n<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{along}</text>\n'
        f'<text x="14" y="{_HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 {_HEIGHT / 2})">{up}</text>\n'
        f'<text x="{_WIDTH / 2}" y="24" text-anchor="middle" font-weight="bold">{title}</text>\n'
        '<g fill="#2563eb" fill-opacity="0.45">\n' + "\n".join(dots) + "\n</g>\n"
        f'<polyline points="{means}" fill="none" stroke="#b91c1c" stroke-width="2"/>\n</svg>\n'
    )


def plots(skills: Sequence[Rated], directory: Path) -> Iterator[Path]:
    """Write the plots; yield their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    known = [skill for skill in skills if skill.estimate is not None and skill.composite is not None]
    drawn: dict[str, tuple[str, Callable[[Rated], float | None], str, float]] = {
        "composite": ("Composite at quick depth", lambda skill: skill.composite, "overall", 100.0),
        "estimate": ("Quality estimate", lambda skill: skill.estimate, "overall", 10.0),
    }
    for name, asked in PAIRS[:5]:
        drawn[name] = (name, lambda skill, name=name: skill.scores[name], asked, 1.0)  # type: ignore[misc]
    for name, (title, value, asked, most) in drawn.items():
        pairs = [(value(skill), skill.ratings[asked]) for skill in known if value(skill) is not None]
        values, ratings = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
        path = directory / f"calibration-{name}.svg"
        path.write_text(plot(title, title, values, f"readers' rating: {asked}", ratings, most), encoding="utf-8")
        yield path


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 where a bar does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="the directory with ratings.jsonl")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write plots as SVG")
    parser.add_argument("--fit", action="store_true", help="print the coefficients of the fit")
    parser.add_argument("--percentiles", action="store_true", help="print the table of public composites")
    parser.add_argument("--write", action="store_true", help="write that table to skillgate/scoring/public.py")
    args = parser.parse_args(argv)
    data = args.data or Path(os.environ.get("SKILLGATE_TEST_DATA", "")) / "calibration"
    if not (data / "ratings.jsonl").is_file():
        parser.error(f"{data}/ratings.jsonl does not exist; set SKILLGATE_TEST_DATA or pass --data")
    if args.percentiles:
        text = percentiles(public_composites(data))
        if args.write:
            (ROOT / "skillgate/scoring/public.py").write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
        return 0
    skills = rated_skills(data)
    found = list(rows(skills))
    print("\n".join([*table(found), "", *badges(skills)]))
    if args.fit:
        print("\n".join(["", *coefficients([skill for skill in skills if skill.estimate is not None])]))
    for path in plots(skills, args.plots) if args.plots else ():
        print(path)
    return int(any(row.holds == "NO" for row in found))


if __name__ == "__main__":
    sys.exit(main())
