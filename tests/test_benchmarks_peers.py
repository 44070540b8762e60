"""The comparison with other linters says what is absent, refuses what checks nothing, and lays the rest out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKILL = (
    "---\nname: reading\ndescription: Read things. Use when there are things to read.\n---\n\n# Reading\n\nRead it.\n"
)
PRINTS = """#!{python} -S
import sys
print({output!r})
sys.exit({code})
"""
FINDINGS = '{{"results": [{{"items": [{{"{key}": "error"}}, {{"{key}": "{warning}"}}]}}]}}'


def executable(path: Path, output: str, code: int) -> None:
    path.write_text(PRINTS.format(python=sys.executable, output=output, code=code))
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="the tools are scripts with an interpreter line")
def test_tools_that_work_are_laid_out_and_the_others_named_with_the_reason(tmp_path: Path) -> None:
    tools, corpus = tmp_path / "bin", tmp_path / "corpus" / "reading"
    tools.mkdir()
    corpus.mkdir(parents=True)
    (corpus / "SKILL.md").write_text(SKILL)
    executable(tools / "agnix", FINDINGS.format(key="level", warning="warning"), 1)
    executable(tools / "skill-check", FINDINGS.format(key="severity", warning="warn"), 0)
    executable(tools / "skillsaw", '{"violations": []}', 0)
    executable(tools / "doodle", "no such file", 2)
    executable(tools / "mine", "all is well", 0)
    options = ("--corpus", corpus.parent, "--rounds", "1", "--peer", f"mine={tools / 'mine'} {{directory}}")
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", *options],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tools)},
        capture_output=True,
        text=True,
        check=True,
    )
    file, cold, warm = (part.splitlines() for part in ran.stdout.split("| Wall ms |")[1:])
    rows = [
        {line.split(" |")[0].strip("| "): line for line in part if line.startswith("| ")} for part in (file, cold, warm)
    ]
    assert "1 / 1 / 0" in rows[0]["agnix"]
    assert "1 / 1 / 0" in rows[1]["skill-check"]
    assert rows[1]["agnix"].endswith("| 1.00, 1.00 |")
    assert rows[2]["agnix (no cache)"].split("|")[2:6] == rows[1]["agnix"].split("|")[2:6]
    assert "| ? |" in rows[0]["mine"]
    assert "mine" not in rows[1]  # it is given one skill and walks no tree
    assert "not measured: skillsaw: found nothing in a broken skill" in ran.stdout
    assert "not measured: doodle-lint: exit code 2" in ran.stdout
    assert "not here: amagi-skill-lint, skillcheck, tracemantle, claude-code-lint" in ran.stdout
    assert not any("skillsaw" in row or "doodle-lint" in row for row in rows)
