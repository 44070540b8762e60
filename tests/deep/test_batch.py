"""`--provider batch` through the command line: the same report as one request at a time, at half the price."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("anthropic")

from skillgate.llm.providers.scripted import Engine, Failure, document
from skillgate.llm.scripted.rules import parse
from tests.deep.test_resume import ROOT, _plain
from tests.llm.batch_server import BatchServer, errored
from tests.standard.asking import KEY, model, run, write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WORDS = ("--simulations", "6", "--judges", "2", "--json")
WORLD = """\
world:
  seed: 5
  failures: {refusal: 0.1, truncated: 0.1}
rules: []
"""


def _answering(key: str, body: Mapping[str, Any], tries: int) -> dict[str, Any]:
    answer = Engine(parse(WORLD.encode(), "world")).answer(dict(body))
    if isinstance(answer, Failure):
        return errored(answer.type)
    return {"type": "succeeded", "message": document(answer)}


def test_batches_give_the_report_of_single_requests(tmp_path: Path) -> None:
    write_skill(tmp_path / "one/work", "invoices")
    write_skill(tmp_path / "two/work", "invoices")
    with model(WORLD) as demo:
        single = run(tmp_path / "one/work", "certify", "invoices", *WORDS, at=demo)
    with BatchServer(_answering) as server:
        words = ("--provider", "batch", "--poll-seconds", "0.01")
        batched = run(tmp_path / "two/work", "certify", "invoices", *WORDS, *words, at=server.url)
        rounds = len(server.batches)
    assert batched.code == single.code == 0, batched.err
    assert _plain(batched.json) == _plain(single.json)
    assert 0 < rounds < 12
    usage, half = single.json["usage"], batched.json["usage"]
    assert half["calls"] == usage["calls"]
    if usage["cost_usd"]:
        assert half["cost_usd"] == pytest.approx(usage["cost_usd"] / 2, rel=0.01)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_run_that_was_killed_takes_its_batch_up_again(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write_skill(work, "invoices")
    environ = {
        "PYTHONPATH": str(ROOT),
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": KEY,
    }
    with BatchServer(_answering) as server:
        server.looks = 1_000_000  # nothing ends before it was killed
        words = ("certify", "invoices", *WORDS, "--provider", "batch", "--poll-seconds", "0.01")
        program = [sys.executable, "-m", "skillgate", *words]
        environ["ANTHROPIC_BASE_URL"] = server.url
        first = subprocess.Popen(program, cwd=work, env=environ, stdout=subprocess.DEVNULL)
        while not server.calls.count("look"):
            assert first.poll() is None
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert len(server.batches) == 1
        server.looks = 1
        second = subprocess.run(program, cwd=work, env=environ, capture_output=True, timeout=120, check=False)
        assert second.returncode == 0, second.stderr.decode()
        names = [{key for key, _ in batch.requests} for batch in server.batches]
    assert len(names) > 1
    assert all(names[0].isdisjoint(later) for later in names[1:])
