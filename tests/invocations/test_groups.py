"""Figures by version, model, project, source and caller, changes between versions, and the worst invocations."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")
pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

from skillgate.invocations.figures import figures, tally_of
from skillgate.invocations.groups import MOST_GROUPS, with_groups, worst
from tests.cli.running import run
from tests.invocations.observed import NOW, Observation, at, columns, seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.invocation import SkillFigures

EXAMPLES = Path(__file__).parents[2] / "examples" / "invocations" / "november.jsonl"


def of(some: Iterable[Observation]) -> SkillFigures:
    tally = tally_of(columns(some), now=NOW, days=None)
    return with_groups(figures(tally), tally.seen)


def test_tokens_duration_and_cost_have_a_median_a_95th_percentile_and_a_sum() -> None:
    some = [seen(50.0, tokens=number, duration_ms=1000.0 * number) for number in (4, 1, 3, 2, 5)]
    some += [seen(50.0, cost_usd=0.25, cost_estimated=1), seen(50.0, cost_usd=0.5, cost_estimated=0)]
    found = of(some)
    assert found.tokens is not None
    assert found.duration_ms is not None
    assert found.cost_usd is not None
    # Of 1 to 5 the 95th percentile lies at 0.95 × 4 = 3.8, so at 4.8.
    assert (found.tokens.p50, found.tokens.p95, found.tokens.total, found.tokens.n) == (3.0, 4.8, 15.0, 5)
    assert (found.duration_ms.p50, found.duration_ms.p95) == (3000.0, 4800.0)
    assert (found.cost_usd.p50, found.cost_usd.total, found.cost_usd.n, found.cost_usd.estimated) == (0.375, 0.75, 2, 1)
    assert of([seen(50.0)]).tokens is None


def test_percentiles_are_those_of_the_standard_library() -> None:
    values = [(number * 7919) % 1009 for number in range(333)]
    found = of(seen(50.0, tokens=value) for value in values).tokens
    assert found is not None
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    assert (found.p50, found.p95) == pytest.approx((cuts[9], cuts[18]))


def test_groups_come_by_size_with_figures_of_their_own() -> None:
    some = [
        *[seen(60.0, version="1", model="m", error_count=1, days_ago=9, tokens=10)] * 2,
        *[seen(80.0, version="2", model="m", error_count=0, days_ago=5, ending="hard_failure")] * 3,
        seen(None, version=None, model="m", days_ago=2),
    ]
    found = of(some)
    assert found.groups is not None
    by_version = found.groups["version"]
    figured = [(one.value, one.recorded, one.rated, one.average, one.error_rate) for one in by_version]
    assert figured == [("2", 3, 3, 80.0, 0.0), ("1", 2, 2, 60.0, 1.0), (None, 1, 0, None, None)]
    assert [one.unrecovered_rate for one in by_version] == [1.0, None, None]
    assert by_version[1].tokens is not None
    assert (by_version[1].tokens.p50, by_version[0].tokens) == (10.0, None)
    assert [one.first_seen.timestamp() for one in by_version] == [at(5), at(9), at(2)]
    (model,) = found.groups["model"]
    assert (model.value, model.recorded, model.rated, model.average) == ("m", 6, 5, found.avg_score)
    assert (model.interval, model.first_seen) == (found.interval, found.first_seen)
    assert [one.value for one in found.groups["caller"]] == [None]
    assert found.more_groups is None


def test_of_many_groups_those_with_most_invocations_are_listed_and_the_others_counted() -> None:
    found = of([seen(50.0, project=f"p{number:02}") for number in range(MOST_GROUPS + 7)] + [seen(50.0, project="p25")])
    assert found.groups is not None
    assert len(found.groups["project"]) == MOST_GROUPS
    assert found.groups["project"][0].value == "p25"
    assert found.more_groups == {"project": 7}


def test_versions_are_compared_in_order_of_first_use_by_the_statistics_of_trends() -> None:
    def version(name: str, day: float, *totals: float) -> list[Observation]:
        return [seen(total, version=name, days_ago=day) for total in totals]

    some = [
        *version("2.0", 20, 50.0, 52.0, 48.0, 51.0, 49.0),
        *version("1.0", 15, 70.0, 72.0, 68.0, 71.0, 69.0),
        *version("3.0", 10, 90.0, 90.0),
    ]
    first, second = of(some).versions
    assert (first.before, first.after, first.n_before, first.n_after, first.status) == ("2.0", "1.0", 5, 5, "ok")
    assert (first.average_before, first.average_after, first.change) == (50.0, 70.0, 20.0)
    assert first.interval is not None
    assert 0 < first.interval.low < 20 < first.interval.high
    assert (second.status, second.change, second.interval) == ("insufficient_data", None, None)
    assert second.reason == "2 rated with 3.0 and 5 with 1.0; a comparison needs 5 of each"


def test_the_worst_are_the_lowest_totals_and_of_equal_ones_the_latest() -> None:
    totals = [50.0, None, 10.0, 10.0, 90.0, 10.0, 30.0, 10.0, 10.0, 10.0]
    some = [seen(total, days_ago=20 - number) for number, total in enumerate(totals)]
    assert worst(columns(some)) == (9, 8, 7, 5, 3)
    assert worst(columns(some[:3])) == (2, 0)
    assert worst(columns(some[1:2])) == ()


def reported(folder: Path, word: str, *options: str) -> dict[str, Any]:
    done = run(folder, "log", word, *options, "--all", "--json")
    assert done.code in (0, 1, 3), done.err
    found: dict[str, Any] = done.json
    return found


def test_a_store_is_compared_by_version_and_filtered_on_every_command(tmp_path: Path) -> None:
    assert run(tmp_path, "log", "import", str(EXAMPLES), "--project", "one").code == 0
    skill = next(one for one in reported(tmp_path, "stats")["skills"] if one["skill"] == "json-schema-draft")
    (change,) = skill["versions"]
    assert (change["before"], change["after"], change["n_before"], change["n_after"]) == ("0.3.2", "0.4.0", 34, 10)
    assert round(change["change"], 1) == 17.7  # 94.9 and 77.2
    assert change["interval"]["low"] > 0
    only = ("json-schema-draft", "--skill-version", "0.4.0")
    found = reported(tmp_path, "dashboard", *only)
    assert (found["invocations"], found["selection"]["version"]) == (10, "0.4.0")
    assert {one["version"] for one in found["worst"]} == {"0.4.0"}
    assert [one["total"] for one in found["worst"]] == sorted(one["total"] for one in found["worst"])
    assert reported(tmp_path, "stats", *only)["skills"][0]["recorded"] == 10
    assert reported(tmp_path, "gate", "publish", *only)["stats"]["recorded"] == 10
    trend = reported(tmp_path, "trend", *only)
    assert trend["recent"]["n"] + trend["previous"]["n"] == 10
    assert len(reported(tmp_path, "list", *only)["invocations"]) == 10
    whole = reported(tmp_path, "dashboard")
    assert whole["selection"] is None
    for options, number in (
        (("--project", "one"), whole["invocations"]),
        (("--project", "two"), 0),
        (("--source", "otlp"), 0),
        (("--caller", "skill"), 0),
        (("--model", "unheard-of"), 0),
    ):
        assert reported(tmp_path, "dashboard", *options)["invocations"] == number
