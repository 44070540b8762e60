"""What scikit-learn and pingouin say of the same ratings, and ratings to ask them about."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(items: int, raters: int, *, seed: int, spread: float = 1.5) -> list[tuple[int, ...]]:
    """Make ratings from 0 to 10 that agree to some degree."""
    np: Any = pytest.importorskip("numpy")
    rng = np.random.default_rng(seed)
    true = rng.uniform(0, 10, (items, 1))
    given = np.clip(np.rint(true + rng.normal(0, spread, (items, raters))), 0, 10).astype(int)
    return [tuple(int(value) for value in row) for row in given]


def sklearn_kappa(one: Sequence[int], two: Sequence[int], weights: str | None) -> float:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    return float(metrics.cohen_kappa_score(one, two, labels=range(11), weights=weights))


def pingouin_icc(ratings: Sequence[Sequence[float]]) -> float:
    """Ask pingouin for ICC(2,1), under the name it gives it: single raters, absolute agreement."""
    pingouin: Any = pytest.importorskip("pingouin")
    pandas: Any = pytest.importorskip("pandas")
    rows = [(item, rater, value) for item, row in enumerate(ratings) for rater, value in enumerate(row)]
    long = pandas.DataFrame(rows, columns=["item", "rater", "rating"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it asks of pandas is its own affair
        whole = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="rating")
    found = whole.set_index("Type")["ICC"]
    return float(found["ICC2" if "ICC2" in found.index else "ICC(A,1)"])
