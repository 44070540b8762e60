"""The three queries that were published with the rubric, as both databases run them on the view ``skill_invocations``.

The published text runs in SQLite alone: it calls ``datetime()``, and uses names of the result in ``HAVING``. Rows have
an order here where it had none, so that both databases give the same.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple


class Query(NamedTuple):
    """A query: the columns of its result, and its text with ``{where}`` for the window."""

    columns: tuple[str, ...]
    text: str


_WEAK = """\
SELECT skill_name, '{area}' AS weak_area, AVG({area}_score) / {most} AS normalized_score
FROM skill_invocations{{where}}
GROUP BY skill_name
HAVING AVG({area}_score) / {most} < 0.7
"""
QUERIES = {
    "leaderboard": Query(
        (
            *("skill_name", "uses", "avg_score"),
            *("avg_completion", "avg_efficiency", "avg_quality", "avg_satisfaction"),
        ),
        """\
SELECT
    skill_name,
    COUNT(*) AS uses,
    AVG(quality_score) AS avg_score,
    AVG(completion_score) AS avg_completion,
    AVG(efficiency_score) AS avg_efficiency,
    AVG(quality_score_component) AS avg_quality,
    AVG(satisfaction_score) AS avg_satisfaction
FROM skill_invocations{where}
GROUP BY skill_name
HAVING COUNT(*) >= 5
ORDER BY avg_score DESC NULLS LAST, skill_name;
""",
    ),
    "distribution": Query(
        ("skill_name", "tier", "count"),
        """\
SELECT
    skill_name,
    CASE
        WHEN quality_score >= 90 THEN 'Excellent'
        WHEN quality_score >= 75 THEN 'Good'
        WHEN quality_score >= 60 THEN 'Acceptable'
        WHEN quality_score >= 40 THEN 'Below Average'
        ELSE 'Poor'
    END AS tier,
    COUNT(*) AS count
FROM skill_invocations{where}
GROUP BY skill_name, tier
ORDER BY skill_name, MAX(quality_score) DESC NULLS LAST;
""",
    ),
    "opportunities": Query(
        ("skill_name", "weak_area", "normalized_score"),
        f"""\
{_WEAK.format(area="completion", most="25.0")}
UNION ALL

{_WEAK.format(area="efficiency", most="20.0")}
ORDER BY normalized_score ASC, skill_name, weak_area;
""",
    ),
}


def query_text(name: str, *, postgres: bool, days: int | None, until: datetime | None) -> str:
    """Return the text of a query for a database.

    Args:
        name: of the query.
        postgres: whether it is for PostgreSQL, else for SQLite.
        days: length of the window; None for everything.
        until: end of the window; None for now, without an upper limit.
    """
    at = None if until is None else f"{until.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    if postgres:
        end = "now()" if at is None else f"timestamptz '{at}+00'"
        since = f"{end} - interval '{24 * (days or 0)} hours'"  # a day of a time zone may have 23
    else:
        end = f"'{at or 'now'}'"
        since = f"datetime({end}, '-{days} days')"
    conditions = [
        *([] if days is None else [f"timestamp > {since}"]),
        *([] if at is None else [f"timestamp < {end}"]),
    ]
    where = "\nWHERE " + "\n  AND ".join(conditions) if conditions else ""
    return QUERIES[name].text.format(where=where)
