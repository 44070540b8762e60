"""What README and generated pages say is true: blocks run, outputs and picture are real, pages are up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")


MOST = 6_000  # bytes
posix = pytest.mark.skipif(sys.platform == "win32", reason="the shell blocks are for a POSIX shell")


def blocks(language: str, text: str = README) -> list[str]:
    """Find the code blocks of a language, but for those with a comment above: what CI runs, and what is not run."""
    found = re.findall(rf"(<!-- [^\n]+ -->\n)?```{language}\n(.*?)```", text, flags=re.DOTALL)
    return [block for comment, block in found if not comment]


def environment(tmp_path: Path) -> dict[str, str]:
    """Put a `skillgate` first on PATH that is this interpreter's."""
    shim = tmp_path / "skillgate"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m skillgate "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def run(command: str, tmp_path: Path) -> str:
    """Run a command of a page and return what it prints; it must pass."""
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_is_short() -> None:
    assert len(README.encode()) <= MOST


@posix
@pytest.mark.parametrize("line", [line for text in blocks("sh") for line in text.strip().split("\n")])
def test_each_command_of_the_readme_does_what_it_says(line: str, tmp_path: Path) -> None:
    if "--provider" in line:
        pytest.importorskip("anthropic")
    printed = run(line, tmp_path)
    assert printed
    assert ("SCRIPTED" in printed) == ("--provider scripted" in line)


@posix
def test_the_first_command_of_the_readme_prints_what_is_below_it(tmp_path: Path) -> None:
    (command,) = re.findall(r"<!-- command: run -->\n```sh\n.* && (skillgate .*)\n```", README)
    (shown,) = blocks("text")
    beginning, _, rest = shown.partition("…\n")
    assert not rest
    assert run(command, tmp_path).startswith(beginning)


def test_the_picture_is_there_and_small() -> None:
    (name,) = re.findall(r"!\[.+\]\((.+)\)", README)
    picture = ROOT / name
    assert picture.stat().st_size < 60_000
    assert "http" not in picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_the_picture_is_what_the_command_prints(tmp_path: Path) -> None:
    pytest.importorskip("rich", reason="the extra docs is not installed")
    script = "import screenshot; print(screenshot.picture(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "docs"), str(ROOT)]), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == (ROOT / "docs/assets/score.svg").read_text(encoding="utf-8")


@posix
def test_the_script_of_the_page_on_python_prints_the_score(tmp_path: Path) -> None:
    (script,) = blocks("sh", PYTHON)
    assert float(run(script, tmp_path)) > 90


def test_the_python_of_its_page_runs(tmp_path: Path) -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", block],
            cwd=ROOT,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for block in blocks("python", PYTHON)
    ]
    assert "examples/skills/csv-quality-report" in printed[0]
    assert printed[1] == "95.0\n"


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
