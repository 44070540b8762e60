"""Measure what the Action takes for a change to one skill of many, compared with `check` of one side.

    python -m benchmarks.action_cost [--corpus DIR] [--rounds N]

The corpus becomes a repository, and a line is added to one skill. One run of the Action is counted: how often a skill
is assessed, and how many processes of Git start. Then `check --no-cache .` and the Action run in turn. Printed are the
medians of wall and CPU time, children included, and the ratios; aims: assessments at most 8 more than there are skills,
10 processes of Git, and a ratio of 1.15.

Counting needs a system that forks; CPU time needs `os.wait4`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.static import ROOT, Run, waited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ADDED = "\nKeep the newest of two rows that share a key.\n"
_COMMANDS = ("cat-file", "ls-tree", "check-ignore", "merge-base", "diff-tree", "ls-files", "config", "rev-parse")
_COUNTED = """
import os, sys

from skillgate.evaluation import assess

real, log = assess.assess, os.open(os.environ["COUNTED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def counted(source, *arguments, **options):
    os.write(log, b"assess\\n")
    return real(source, *arguments, **options)

def started(event, arguments):
    if event == "subprocess.Popen":
        os.write(log, (" ".join(map(os.fsdecode, arguments[1])).replace("\\n", " ") + "\\n").encode())

assess.assess = counted
sys.addaudithook(started)
from skillgate.cli.main import main
sys.exit(main(["action"]))
"""
_REPOSITORY = "octo-org/skills"


def git(folder: Path, *words: str) -> str:
    """Run Git as a made-up author, and return what it prints."""
    author = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def pull_request(corpus: Path, folder: Path) -> dict[str, str]:
    """Make a repository with GitHub's merge of a change checked out; return the Action's environment."""
    work = folder / "work"
    shutil.copytree(corpus, work, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "-A", "-f")
    git(work, "commit", "-q", "-m", "base")
    base = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "-b", "change")
    with min(work.rglob("SKILL.md")).open("a", encoding="utf-8") as file:
        file.write(ADDED)
    git(work, "commit", "-q", "-a", "-m", "change")
    head = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "--detach", base)
    git(work, "merge", "-q", "--no-ff", "--no-edit", head)
    sides = {
        side: {"sha": sha, "ref": name, "repo": {"full_name": _REPOSITORY}}
        for side, sha, name in (("head", head, "change"), ("base", base, "main"))
    }
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, **sides}}), encoding="utf-8")
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": _REPOSITORY,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_SHA": git(work, "rev-parse", "HEAD"),
        "GITHUB_WORKSPACE": str(work),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "INPUT_COMMENT": "never",
    }


def run(work: Path, environ: Mapping[str, str], *arguments: str) -> Run:
    """Run Python in a repository and measure it.

    Raises:
        RuntimeError: it failed, so that its figures mean nothing.
    """
    shutil.rmtree(work / "skillgate-report", ignore_errors=True)
    started = perf_counter()
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command, cwd=work, env=dict(environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    ) as process:
        taken = waited(process, started)
    if process.returncode not in (0, 1):  # 1: an old finding of the corpus
        raise RuntimeError(f"{' '.join(arguments)[:60]} ended with {process.returncode}")
    return taken


def count(folder: Path, environ: Mapping[str, str]) -> tuple[int, Counter[str]]:
    """Return how often a run of the Action assesses a skill, and its processes of Git by command."""
    log = folder / "counted"
    run(folder / "work", {**environ, "COUNTED": str(log)}, "-c", _COUNTED)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    processes = [line.split() for line in lines if line != "assess"]
    named = (next((word for word in words if word in _COMMANDS), "other") for words in processes)
    return len(lines) - len(processes), Counter(named)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the counts and the table; a clock fails no build."""
    data = os.environ.get("SKILLGATE_TEST_DATA")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path(data) / "corpus" if data else ROOT / "examples")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="skillgate-benchmark-") as name:
        folder = Path(name)
        environ = pull_request(args.corpus.resolve(), folder)
        skills = sum(1 for _ in (folder / "work").rglob("SKILL.md"))
        assessments, processes = count(folder, environ)
        commands = ", ".join(f"{number} {command}" for command, number in sorted(processes.items()))
        print(f"{skills} skills, one touched: {assessments} assessments, {processes.total()} processes ({commands})")
        cases = {"check": ("check", "--no-cache", ".", "-q"), "action": ("action",)}
        runs: dict[str, list[Run]] = {case: [] for case in cases}
        for _ in range(args.rounds):
            for case, words in cases.items():
                runs[case].append(run(folder / "work", environ, "-m", "skillgate", *words))
    print(f"{'':<10}{'wall s':>9}{'CPU s':>9}")
    walls, cpus = (
        {case: median(getattr(one, key) for one in taken) for case, taken in runs.items()} for key in Run._fields[:2]
    )
    for case in cases:
        print(f"{case:<10}{walls[case]:9.2f}{cpus[case]:9.2f}")
    ratios = [f"{of['action'] / of['check']:.2f}" if of["check"] else "—" for of in (walls, cpus)]
    print(f"{'ratio':<10}{ratios[0]:>9}{ratios[1]:>9}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
