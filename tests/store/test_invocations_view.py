"""What others may ask a SQLite store of invocations: the dashboard queries that the rubric comes with, as written.

How our own tables differ from these queries:

* a total under 20 is Failing; the query calls it Poor;
* an invocation that is not rated has no tier, and no part in averages of totals; the query calls it Poor, and counts it
  among the uses;
* all four components may be opportunities, not the first two alone;
* an opportunity needs five invocations that measure the component; the query takes one.
"""

from __future__ import annotations

import os
import re
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.invocation import InvocationScore, Tier
from tests.store.invocations_made import invocation, observed, opened, put, score, scored
from tests.store.test_keeper import rows

if TYPE_CHECKING:
    from skillgate.model.invocation import Scored

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")
RUBRIC = Path(DATA, "seeds", "skill-scoring-rubric.md")
with_rubric = pytest.mark.skipif(not (DATA and RUBRIC.is_file()), reason="SKILLGATE_TEST_DATA names no test data")
DAY = timedelta(days=1)


def queries() -> list[str]:
    """The three queries, as they stand there."""
    blocks = re.findall(r"^```sql\n(.*?)^```", RUBRIC.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found = [query.strip() for block in blocks for query in block.split(";") if query.strip()]
    assert len(found) == 3
    return found


def asked(place: str, query: str) -> list[Any]:
    """Ask a file as a shell does: with nothing of ours."""
    connection = sqlite3.connect(place)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


Points = tuple[float | None, float | None, float | None, float | None, float | None]


def one(number: int, skill: str, *points: *Points, ago: timedelta = DAY) -> Scored:
    """An invocation with points by component and a total, in the order of the score's fields."""
    found = InvocationScore("1.1", *points, coverage=0.9, baseline="analysis")
    return scored(invocation(number, skill_name=skill, timestamp=datetime.now(UTC) - ago), found)


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Six of a good skill, of which one is over a month old; five of a poor one, of which one is not rated; and one."""
    place = str(tmp_path / "store.db")
    good = [one(number, "good", 25.0, 18.0, 27.0, 20.0, 90.0) for number in range(4)]
    good += [one(4, "good", 20.0, 10.0, 15.0, 15.0, 60.0), one(5, "good", 0.0, 0.0, 0.0, 0.0, 0.0, ago=31 * DAY)]
    poor = [one(10, "poor", 5.0, 15.0, 3.0, 2.0, 10.0), one(11, "poor", None, None, 9.0, None, None)]
    poor += [one(number, "poor", 15.0, 15.0, 12.0, 8.0, 50.0) for number in (12, 13, 14)]
    put(opened(place), [*good, *poor, one(20, "rare", 25.0, 4.0, 30.0, 25.0, 84.0)])
    return place


@with_rubric
def test_the_leaderboard(place: str) -> None:
    assert asked(place, queries()[0]) == [
        # uses, (4·90 + 60)/5, (4·25 + 20)/5, (4·18 + 10)/5, (4·27 + 15)/5, (4·20 + 15)/5
        ("good", 5, 84.0, 24.0, pytest.approx(16.4), pytest.approx(24.6), 19.0),
        # five uses, of which four are rated: (10 + 3·50)/4, (5 + 3·15)/4, 15, (3 + 9 + 3·12)/5, (2 + 3·8)/4
        ("poor", 5, 40.0, 12.5, 15.0, pytest.approx(9.6), 6.5),
    ]


@with_rubric
def test_the_distribution_calls_failing_and_unrated_ones_poor(place: str) -> None:
    assert sorted(asked(place, queries()[1])) == [
        ("good", "Acceptable", 1),
        ("good", "Excellent", 4),
        ("poor", "Below Average", 3),
        ("poor", "Poor", 2),  # a total of 10, and one that is not rated
        ("rare", "Good", 1),
    ]
    assert Tier.of(10.0) is Tier.FAILING
    assert [found.total for found in observed(opened(place), "1.1", skill="poor")].count(None) == 1


@with_rubric
def test_the_opportunities_are_of_two_components_and_of_single_invocations(place: str) -> None:
    assert asked(place, queries()[2]) == [("rare", "efficiency", 0.2), ("poor", "completion", 0.5)]
    # Of "poor", output quality (9.6 of 30) and satisfaction (6.5 of 25) are as weak; "rare" was used once.


@with_rubric
def test_a_window_ends_at_the_second_whatever_the_hour(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    now = datetime(2026, 3, 31, 12, tzinfo=UTC)
    edge = now - 30 * DAY
    ends = (edge - timedelta(hours=12), edge - timedelta(seconds=1), edge, edge + timedelta(seconds=1), now)
    put(opened(place), [scored(invocation(number, skill_name=f"{at}", timestamp=at)) for number, at in enumerate(ends)])
    query = queries()[1].replace("datetime('now',", "datetime('2026-03-31 12:00:00',")
    assert [row[0] for row in asked(place, query)] == [f"{at}" for at in ends[3:]]


def test_the_view_follows_the_version_that_was_imported_last_or_made_current(place: str) -> None:
    store = opened(place)
    shown = "SELECT rubric_version, count(*), sum(quality_score) FROM skill_invocations GROUP BY 1"
    first = asked(place, shown)
    assert first == [("1.1", 12, 4 * 90 + 60 + 10 + 150 + 84)]
    store.rescore("1.0", lambda _: score("1.0", total=1.0), make_current=False)
    assert asked(place, shown) == first
    store.rescore("1.0", lambda _: score("1.0", total=2.0), make_current=True)
    assert asked(place, shown) == [("1.0", 12, 24.0)]
    put(store, [one(30, "new", 1.0, 1.0, 1.0, 1.0, 4.0)])
    assert asked(place, shown) == [("1.1", 13, first[0][2] + 4)]


def test_the_view_names_what_others_may_want(place: str) -> None:
    query = """
        SELECT invocation_id, skill_name, skill_version, timestamp, skill_category, baseline_category, error_count,
               outcome, rubric_version, coverage, duration_ms, tokens_input, tokens_output, tokens_used, quality_score
        FROM skill_invocations WHERE skill_name = 'rare'
    """
    ((name, skill, version, at, *rest),) = asked(place, query)
    assert (name, skill, version) == (invocation(20).invocation_id, "rare", None)
    assert datetime.fromisoformat(at) < datetime.now(UTC).replace(tzinfo=None)
    assert rest == ["analysis", "analysis", 2, None, "1.1", 0.9, 1500.25, None, None, 10, 84.0]


def test_no_column_of_the_view_hides_a_name_that_a_query_gives(place: str) -> None:
    (table,) = asked(place, "SELECT group_concat(name) FROM pragma_table_info('skill_invocations')")
    assert not {"tier", "uses", "count", "weak_area", "normalized_score"} & set(table[0].split(","))
    assert rows(place, "SELECT count(*) FROM skill_invocations") == [(12,)]
