"""A run that is killed goes on from where it was: the same report, and nothing asked for twice but what was on its way.

``SKILLGATE_KILLS`` says at how many moments a run is killed; three unless told otherwise.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic")

from tests.standard.asking import KEY, Model, model, write_skill

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("SKILLGATE_KILLS", "3"))
IN_FLIGHT = 8
ASIDE = {"duration_ms", "usage", "resumed", "config_digest"}  # times, and what was paid for now
WORLD = """\
world:
  seed: 3
  failures: {refusal: 0.1, truncated: 0.1, empty: 0.05}
rules: []
"""


CERTIFY = ("certify", "invoices", "letters", "--simulations", "6", "--judges", "2", "--json")


def _command(work: Path, *words: str, at: Model, out: Path) -> subprocess.Popen[bytes]:
    home = work.parent / f"home-{out.stem}"
    environ = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "ANTHROPIC_BASE_URL": at.server.base_url,
        "ANTHROPIC_API_KEY": KEY,
    }
    with out.open("wb") as file, out.with_suffix(".err").open("ab") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "skillgate", *CERTIFY, *words], cwd=work, env=environ, stdout=file, stderr=err
        )


def _is_whole(out: Path) -> bool:
    try:
        json.loads(out.read_text())
    except ValueError:
        return False
    return True


def _plain(value: Any) -> Any:
    """Leave out what may differ."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in ASIDE}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _sent(demo: Model) -> Counter[str]:
    """Count the requests since the last time, by their body."""
    asked = Counter(json.dumps(exchange["body"], sort_keys=True) for exchange in demo.asked)
    demo.take()
    return asked


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("invoices", "letters"):
        write_skill(work, name)
    chance = random.Random(11)
    with model(WORLD, latency_s=0.03) as demo:
        whole = _command(work, "--no-cache", at=demo, out=tmp_path / "whole.json")
        began = time.monotonic()
        assert whole.wait(120) == 0, (tmp_path / "whole.err").read_text()
        took_s = time.monotonic() - began
        expected, once = json.loads((tmp_path / "whole.json").read_text()), _sent(demo)
        cut = 0
        for number in range(KILLS):
            out = tmp_path / f"killed{number}.json"
            first = _command(work, "--no-cache", at=demo, out=out)
            time.sleep(took_s * chance.uniform(0.25, 0.95))
            first.send_signal(signal.SIGKILL)
            first.wait()
            time.sleep(0.2)  # what is on its way arrives at the server
            if _is_whole(out):
                demo.take()
                continue  # it had written its report, and need not be gone on from
            cut += 1
            assert _command(work, "--no-cache", at=demo, out=out).wait(120) == 0, out.with_suffix(".err").read_text()
            resumed, sent = json.loads(out.read_text()), _sent(demo)
            assert _plain(resumed) == _plain(expected)
            extra = sent - once
            assert not once - sent
            repeated = (resumed["resumed"] or {"repeated": 0})["repeated"]
            assert extra.total() <= repeated <= IN_FLIGHT
        assert cut


@pytest.mark.parametrize("anew", ["--refresh", "--no-cache"])
def test_a_run_that_asks_everything_anew_takes_nothing_from_a_killed_one_that_did_not(
    tmp_path: Path, anew: str
) -> None:
    work = tmp_path / "work"
    for name in ("invoices", "letters"):
        write_skill(work, name)
    out = tmp_path / "out.json"
    with model(WORLD, latency_s=0.03) as demo:
        first = _command(work, at=demo, out=out)
        deadline = time.monotonic() + 60
        while len(demo.asked) < 20 and time.monotonic() < deadline:
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert not _is_whole(out)
        assert list((tmp_path / "home-out").rglob("*.journal"))
        time.sleep(0.2)  # what is on its way arrives at the server
        assert len(demo.take()) >= 20
        assert _command(work, anew, at=demo, out=out).wait(120) == 0, out.with_suffix(".err").read_text()
        asked = len(demo.take())
    report = json.loads(out.read_text())
    assert report["resumed"] is None
    assert report["usage"]["calls"] == asked
    assert report["usage"]["cached"] == 0
