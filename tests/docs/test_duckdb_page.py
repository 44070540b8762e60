"""The queries of the page on DuckDB give the figures of ``log query``, ``log trend`` and ``log stats``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.source import ROOT
from tests.cli.running import run
from tests.docs.page import Page

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
for name in ("pyarrow", "sqlalchemy", "scipy"):
    pytest.importorskip(name, reason="the extras parquet, store and stats are not installed")

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = {
    block.title.removesuffix(".sql"): block.text for block in Page("docs/how-to/duckdb.md").blocks if block.title
}
AT = ("--at", "2026-11-20")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store and the exports of the page."""
    folder = tmp_path_factory.mktemp("duckdb")
    (folder / "exports").mkdir()
    assert run(folder, "log", "import", str(ROOT / "examples" / "invocations" / "november.jsonl")).code == 0
    for words, path in (((), "november"), ((), "exports/second"), (("--all",), "exports/first")):
        day = ("--at", "2026-11-10") if "first" in path else AT
        assert run(folder, "log", "export", *day, *words, "--output-file", f"{path}.parquet").code == 0
    return folder


def asked(folder: Path, query: str) -> list[tuple[Any, ...]]:
    text = QUERIES[query]
    for path in ("november.parquet", "exports/"):
        text = text.replace(f"'{path}", f"'{(folder / path).as_posix()}{'/' if path.endswith('/') else ''}")
    with duckdb.connect() as connection:
        found: list[tuple[Any, ...]] = connection.execute(text).fetchall()
    return found


@pytest.mark.parametrize("query", ["leaderboard", "distribution", "opportunities"])
def test_the_published_queries(query: str, folder: Path) -> None:
    rows = run(folder, "log", "query", query, *AT, "--json").json["rows"]
    assert rows
    for mine, theirs in zip(asked(folder, query), rows, strict=True):
        same = [
            found == (pytest.approx(wanted, abs=0.005) if isinstance(wanted, float) else wanted)
            for found, wanted in zip(mine, theirs.values(), strict=True)
        ]
        assert all(same), (mine, theirs)


def test_the_trend(folder: Path) -> None:
    found = {row[0]: row[1:] for row in asked(folder, "trend")}
    trends = run(folder, "log", "trend", *AT, "--json").json["trends"]
    assert len(trends) >= 2
    for trend in trends:
        wanted = (trend["current_avg"], trend["previous_avg"], trend["change"])
        assert found[trend["skill"]] == pytest.approx(wanted, abs=0.01), trend["skill"]


def test_the_percentiles(folder: Path) -> None:
    import numpy as np

    found = {row[0]: row[1:] for row in asked(folder, "percentiles")}
    skills = run(folder, "log", "stats", *AT, "--json").json["skills"]
    assert found.keys() == {one["skill"] for one in skills}
    lines = (ROOT / "examples" / "invocations" / "november.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    for one in skills:
        rated, median, p50, p95, _ = found[one["skill"]]
        assert (rated, median) == (one["invocation_count"], pytest.approx(one["median"], abs=0.01) if rated else None)
        spent = [record["duration_ms"] for record in records if record["skill_name"] == one["skill"]]
        known = [value for value in spent if value is not None]
        assert (p50, p95) == pytest.approx(tuple(np.quantile(known, (0.5, 0.95)) / 1000))


def test_overlapping_exports_count_once(folder: Path) -> None:
    assert asked(folder, "all") == [(138, 4, "1.1")]
    with duckdb.connect() as connection:
        path = (folder / "exports").as_posix()
        ((both,),) = connection.execute(f"SELECT count(*) FROM '{path}/*.parquet'").fetchall()
    assert both > 138
