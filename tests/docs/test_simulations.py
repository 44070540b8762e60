"""What the tutorial and the how-to page say of simulated sessions runs as printed, with a model that is scripted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("anthropic")

import numpy as np
from scipy.special import bdtrc

from skillgate.stats.intervals import clopper_pearson

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "simulations.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorials" / "certify-on-a-schedule.md").read_text(encoding="utf-8")

posix = pytest.mark.skipif(sys.platform == "win32", reason="the blocks are for a POSIX shell")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Give a directory with the examples, and with a `skillgate` that is this interpreter's."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shim = tmp_path / "skillgate"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgate "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return tmp_path


def run(command: str, place: Path) -> str:
    env = {
        **os.environ,
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(place / "cache"),
        "XDG_DATA_HOME": str(place / "data"),
        "COLUMNS": "100",
    }
    done = subprocess.run(["sh", "-c", command], cwd=place, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SCRIPTED")
    return done.stdout


@posix
def test_the_simulated_sessions_of_the_tutorial_are_those_of_its_world(place: Path) -> None:
    (shown,) = re.findall(r"```text\n(Simulated sessions\n.*?)```", TUTORIAL, flags=re.DOTALL)
    printed = run(
        "skillgate certify --provider scripted --script examples/world.yaml examples/skills/csv-quality-report", place
    )
    assert " ".join(shown.split()) in " ".join(printed.split())
    assert "no Elo: no corpus to rank against" in printed


def test_the_intervals_of_the_page_are_those_that_a_report_prints() -> None:
    section = PAGE.partition("| loaded | rate |")[2].partition("So 0.90")[0]
    rows = re.findall(r"\| (\d+) \| ([\d.]+) \| ([\d.]+) to ([\d.]+) \|", section)
    assert len(rows) == 9
    for loaded, rate, low, high in rows:
        ends = clopper_pearson(int(loaded), 50)
        assert float(rate) == int(loaded) / 50
        assert (float(low), float(high)) == pytest.approx(ends, abs=5e-4)


def test_the_least_that_shows_a_rate_is_what_the_page_says() -> None:
    section = PAGE.partition("| sessions | for 0.80 |")[2].partition("No failure in 60")[0]
    rows = re.findall(r"\| (\d+) \| (\d+) \| (\d+|out of reach) \| (?:(\d+) %|never)", section)
    assert len(rows) == 5
    for sessions, *least, often in rows:
        n = int(sessions)
        for rate, said in zip((0.8, 0.9), least, strict=True):
            enough = [k for k in range(n + 1) if clopper_pearson(k, n)[0] >= rate]
            assert said == (str(enough[0]) if enough else "out of reach")
        shown = bdtrc(int(least[1]) - 1, n, 0.95) if least[1].isdigit() else 0.0
        assert int(often or 0) == round(100 * shown)


def test_the_fall_of_the_page_is_the_least_that_four_of_five_comparisons_find() -> None:
    found = re.search(r"\| sessions \|(.*?)\|\n.*\n\| detectable drop \|(.*?)\|\n", PAGE)
    assert found is not None
    sizes, falls = (row.split("|") for row in found.groups())
    assert len(sizes) == 4
    for size, fall in zip(map(int, sizes), map(float, falls), strict=True):
        assert _found(size, fall) > 0.785
        assert _found(size, fall - 0.02) < 0.8


def _found(sessions: int, fall: float) -> float:
    """Simulate how often exchanging sessions, prompt by prompt, calls a fall from 0.90 real."""
    drawn = np.random.default_rng(5).random((2, 10_000, sessions))
    before, after = drawn[0] < 0.9, drawn[1] < 0.9 - fall
    lost, gained = (before & ~after).sum(axis=1), (after & ~before).sum(axis=1)
    p = np.where(lost > 0, bdtrc(np.maximum(lost - 1, 0), lost + gained, 0.5), 1.0)
    return float(np.mean(p <= 0.05))
