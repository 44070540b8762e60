"""What the README and the generated pages say is true: its blocks run, its pages are those the code would write."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Find the README's code blocks of a language, but for the two commands that install, which CI runs as printed."""
    found = re.findall(rf"(<!-- command: \w+ -->\n)?```{language}\n(.*?)```", README, flags=re.DOTALL)
    return [text for command, text in found if not command]


def environment(tmp_path: Path) -> dict[str, str]:
    """Put a `skillgate` first on PATH that is this interpreter's."""
    shim = tmp_path / "skillgate"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgate "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


@pytest.mark.skipif(sys.platform == "win32", reason="the README's shell blocks are for a POSIX shell")
@pytest.mark.parametrize("line", [line for text in blocks("sh") for line in text.strip().split("\n")][:9])
def test_each_command_of_the_readme_does_what_it_says(line: str, tmp_path: Path) -> None:
    command = line.partition("#")[0].strip()
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the README's shell blocks are for a POSIX shell")
def test_the_script_of_the_readme_prints_the_score(tmp_path: Path) -> None:
    script = next(block for block in blocks("sh") if "score=$(" in block)
    done = subprocess.run(["sh", "-c", script], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True)
    assert float(done.stdout) > 90


@pytest.mark.skipif(sys.platform == "win32", reason="the README's shell blocks are for a POSIX shell")
def test_the_judge_of_the_readme_can_be_tried_without_a_key(tmp_path: Path) -> None:
    pytest.importorskip("anthropic")
    command = next(block for block in blocks("sh") if "--provider scripted" in block)
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SCRIPTED")
    assert "standard depth measures 100 % of the weight" in done.stdout


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    (block,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "95.0"
    assert "examples/skills/csv-quality-report" in done.stdout


def prose_of(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^(`{3,}).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_of_the_documents_lead_somewhere() -> None:
    dead = []
    pages = [*ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)", re.sub(r"`[^`]*`", "", prose_of(page))):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                dead.append(f"{page.relative_to(ROOT)}: {link}")
    assert not dead


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 lays the help of options out differently")
def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
