"""The shell recipes that the method's own text gives work once the command's name is changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GATE = """
score=$(skillgate score {skill} --output json | \\
  python3 -c "import sys,json; print(json.load(sys.stdin)['composite']['score'])")
if (( $(echo "$score < 70" | bc -l) )); then
  echo "Quality gate failed: score $score < 70"
  exit 1
fi
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def bash(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in which `skillgate` and `python3` are this interpreter's."""
    for name, words in (("skillgate", "-m skillgate"), ("python3", "")):
        shim = tmp_path / name
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", script], cwd=ROOT, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(("skill", "code"), [("csv-quality-report", 0), ("json-schema-draft", 1)])
def test_threshold_in_one_command(skill: str, code: int, tmp_path: Path) -> None:
    done = bash(f"skillgate score examples/skills/{skill} --depth quick --output json --threshold 70", tmp_path)
    assert done.returncode == code
    assert '"composite"' in done.stdout


@pytest.mark.skipif(shutil.which("bc") is None, reason="bc is not installed")
@pytest.mark.parametrize(("skill", "code"), [("csv-quality-report", 0), ("json-schema-draft", 1)])
def test_threshold_by_reading_the_composite(skill: str, code: int, tmp_path: Path) -> None:
    done = bash(GATE.format(skill=f"examples/skills/{skill}"), tmp_path)
    assert done.returncode == code, done.stderr
    assert ("Quality gate failed" in done.stdout) == bool(code)
