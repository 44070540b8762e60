"""Documents made to be slow or to exhaust the stack are evaluated like any other, in a process that survives them.

How the time grows with their size is measured by `benchmarks/growth.py`; a clock decides nothing here, but for a limit
so generous that only time growing with the square of the size can reach it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import shapes
from tests.skills import run, write_bytes

_LIMIT_S = 60.0
_MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("one line", _MEGABYTE),
        ("output", _MEGABYTE),
        ("spaces in a line", _MEGABYTE),
        ("headings", 500_000),  # 100,000 of them
        ("quotes", 100_000),
        ("list markers", 200_000),
        ("nested brackets", 200_000),
        ("opening brackets", 100_000),
        ("empty links", _MEGABYTE),
        ("dead links", 200_000),
        ("open comments in text", _MEGABYTE),
        ("short rows", _MEGABYTE),
        ("python of brackets", 60_000),
        ("yaml brackets", 60_000),
        ("yaml bomb", 60_000),
        ("when in the description", 60_000),
    ],
)
def test_a_hostile_document_is_evaluated(shape: str, size: int, tmp_path: Path) -> None:
    skill = write_bytes(tmp_path, "shape", shapes.write(shape, size).encode())
    done = run("score", skill, "--output", "json", cwd=tmp_path, timeout_s=_LIMIT_S)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert 0 <= document["composite"]["score"] <= 100
    assert document["evaluated"] is True


def test_a_file_too_large_to_read_is_said_to_be_so(tmp_path: Path) -> None:
    skill = write_bytes(tmp_path, "shape", b"x" * 5_000_001)
    done = run("check", skill, cwd=tmp_path)
    assert done.returncode == 1
    assert "5,000,001 bytes" in done.stdout
