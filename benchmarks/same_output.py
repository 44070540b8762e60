"""Whether two commits say the same: exit codes and JSON documents exactly, texts as a difference to read.

    python -m benchmarks.same_output OLD [NEW] [--corpus DIR] [--only WORD] [--texts FILE]

Both commits are checked out below a temporary directory, and each command is run by both on the same files: the
examples of OLD, and, with ``--corpus``, a collection of skills. NEW is HEAD where it is not named; ``.`` is the working
tree. A command that writes files has its files compared, too.

What differs between any two runs is left out: durations, times, temporary directories and ids that are drawn. The exit
code is 1 where an exit code or a document differs, or a command was killed, and 0 where only texts do.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT_S = 300
_SCRIPTED = ("--provider", "scripted", "--script", "examples/world.yaml")
_SKILL = "examples/skills/csv-quality-report"
_VOLATILE = re.compile(
    r"(?:duration|latency|elapsed|seconds|compositeScore)|(?:_at|At)$|^(?:timestamp|time|date|commit|runId)$"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00| UTC)?")
_DURATION = re.compile(r"\d+(?:[.,]\d+)? ?(?:ms|s|min)\b")
_DRAWN = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\bfolder-[0-9a-f]{12}\b")

DOCUMENTS: Sequence[Sequence[str]] = (
    ("check", "examples/skills"),
    ("check", "examples/skills", "--profile", "spec"),
    ("check", "examples/skills", "--select", "all"),
    ("check", "nowhere"),
    ("score", "examples/skills"),
    ("score", _SKILL),
    ("score", "examples/skills", "--threshold", "90"),
    ("score", "examples/skills", "--baseline", "HEAD"),
    ("score", _SKILL, "--depth", "standard", *_SCRIPTED, "--no-cache"),
    ("score", _SKILL, "--depth", "deep", "--simulations", "6", *_SCRIPTED, "--no-cache"),
    ("certify", _SKILL, "--simulations", "6", *_SCRIPTED, "--no-cache"),
    ("compare", f"HEAD:{_SKILL}", _SKILL),
    ("rules",),
    ("config", "list"),
    ("find", "--skills-dir", "examples/executable"),
    ("eval", "--skills", "examples/executable/calculator", "--benchmark", "coding-easy", "--no-store"),
    ("bench", "list"),
    ("bench", "validate", "examples/executable"),
    ("log", "import", "examples/invocations/november.jsonl"),
    ("log", "stats", "--at", "2026-11-20"),
    ("log", "dashboard", "--at", "2026-11-20"),
    ("log", "gate", "publish", "--at", "2026-11-20"),
    *(("schema", name) for name in ("report", "config", "skill", "adapter", "benchmark", "strategy")),
)
"""Commands that write a document with ``--json``, in an order in which later ones may use what earlier ones left."""

TEXTS: Sequence[Sequence[str]] = (
    *(
        (name, "--help")
        for name in (
            *("action", "bench", "certificate", "certify", "check", "compare", "config", "corpus", "create"),
            *("demo-server", "eval", "evals", "explain", "find", "history", "init", "log", "report", "rules"),
            *("run", "schema", "score", "select", "task"),
        )
    ),
    ("--help",),
    ("check", "examples/skills"),
    ("score", "examples/skills"),
    ("score", "examples/skills", "--output", "markdown"),
    ("explain", "grades"),
    ("explain", "BROKEN_LINK"),
    ("score", "--thresold", "9", "examples/skills"),
    ("log", "dashboard", "--at", "2026-11-20"),
    ("log", "list", "--all", "--limit", "5"),
)
"""Commands with text that is shown as a difference."""


class Ran(NamedTuple):
    """What a command did: its exit code, and what it wrote to both streams."""

    code: int
    out: str
    err: str


class Difference(NamedTuple):
    """Where two commits differ; ``counts`` means that it is more than wording."""

    command: str
    what: str
    counts: bool


def compare(
    old: Path, new: Path, files: Path, commands: Sequence[Sequence[str]], texts: Sequence[Sequence[str]]
) -> Iterator[Difference]:
    """Run commands by two trees, each in its own copy of some files.

    Args:
        old: a checkout.
        new: the same for the new commit.
        files: a directory that both get a copy of, at the same path, one after the other.
        commands: are given ``--json``, and must have the same exit code and the same document.
        texts: must have the same exit code; their texts are compared line by line.
    """
    words = [*(("json", command) for command in commands), *(("text", command) for command in texts)]
    sides = [_side(tree, files, words) for tree in (old, new)]
    for (form, command), before, after in zip(words, *sides, strict=True):
        yield from _differences(" ".join(command), before, after, is_json=form == "json")


def _side(tree: Path, files: Path, words: Sequence[tuple[str, Sequence[str]]]) -> list[Ran]:
    with tempfile.TemporaryDirectory(prefix="same-output-") as folder:
        place = Path(folder) / "place"
        shutil.copytree(files, place, symlinks=True)
        _repository(place)
        home = Path(folder) / "home"
        home.mkdir()
        return [_run(tree, place, home, [*command, *(["--json"] if form == "json" else [])]) for form, command in words]


def _repository(place: Path) -> None:
    """Commit the files: some commands compare with a revision."""
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid")
    dates = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-q", "-m", "files")):
        subprocess.run(["git", *words], cwd=place, env={**os.environ, **dates}, check=True, capture_output=True)


def _run(tree: Path, place: Path, home: Path, words: Sequence[str]) -> Ran:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(tree),
        "PYTHONSAFEPATH": "1",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }
    command = [sys.executable, "-m", "skillgate", *words]
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env=environ,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(-1, "", f"killed after {TIMEOUT_S} s")
    return Ran(done.returncode, *(_steady(text, place, home, tree) for text in (done.stdout, done.stderr)))


def _steady(text: str, *places: Path) -> str:
    for folder in (folder for place in places for folder in (place, place.parent)):
        text = re.sub(rf"(?<![\w.]){re.escape(str(folder))}(?![\w-])", "PLACE", text)  # /work, but not ../workbook
    for pattern, word in ((_TIME, "TIME"), (_DRAWN, "DRAWN"), (_DURATION, "DURATION")):
        text = pattern.sub(word, text)
    return text


def _differences(command: str, before: Ran, after: Ran, *, is_json: bool) -> Iterator[Difference]:
    if before.code != after.code or before.code < 0:
        yield Difference(command, f"exit code {before.code} became {after.code}", counts=True)
    documents = [_document(ran.out) for ran in (before, after)] if is_json else [None, None]
    if documents[0] is not None and documents[1] is not None:
        for place, then, now in _unequal("", *documents):
            yield Difference(command, f"{place or 'the document'}: {_short(then)} became {_short(now)}", counts=True)
    elif before.out != after.out:
        yield Difference(command, _diff(before.out, after.out), counts=is_json and documents != [None, None])
    if before.err != after.err:
        yield Difference(command, _diff(before.err, after.err), counts=False)


def _document(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except ValueError:
        return None


_ABSENT = object()


def _unequal(place: str, then: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 - JSON
    """Give the places where two documents differ, but for what no two runs have in common."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now}):
            if not _VOLATILE.search(key):
                yield from _unequal(f"{place}.{key}".lstrip("."), then.get(key, _ABSENT), now.get(key, _ABSENT))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (one, other) in enumerate(zip(then, now, strict=True)):
            yield from _unequal(f"{place}[{number}]", one, other)
    elif then != now:
        yield place, then, now


def _short(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is _ABSENT:
        return "(absent)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "old", "new", lineterm="", n=1)
    return "\n".join(lines)


def checkout(revision: str, folder: Path, root: Path) -> Path:
    """Give the tree of a commit; ``.`` is the working tree itself."""
    if revision == ".":
        return root
    archive = subprocess.run(["git", "archive", revision], cwd=root, check=True, capture_output=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def main() -> int:
    """Compare two commits, and say what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", metavar="OLD", help="a revision")
    parser.add_argument("new", metavar="NEW", nargs="?", default="HEAD", help="a revision, or . (default: HEAD)")
    parser.add_argument("--corpus", metavar="DIR", type=Path, help="a collection of skills, checked and scored as well")
    parser.add_argument("--only", metavar="WORD", default="", help="commands that hold this word alone")
    parser.add_argument("--texts", metavar="FILE", type=Path, help="write differences of texts there")
    given = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory(prefix="same-output-") as folder:
        old = checkout(given.old, Path(folder) / "old", root)
        new = checkout(given.new, Path(folder) / "new", root)
        files = Path(folder) / "files"
        shutil.copytree(old / "examples", files / "examples")
        commands, texts = list(DOCUMENTS), list(TEXTS)
        if given.corpus is not None:
            shutil.copytree(given.corpus, files / "corpus", symlinks=True)
            commands += [("check", "corpus"), ("score", "corpus")]
        commands, texts = ([one for one in some if given.only in " ".join(one)] for some in (commands, texts))
        found = list(compare(old, new, files, commands, texts))
    wording = [one for one in found if not one.counts]
    shown = "\n\n".join(f"$ skillgate {one.command}\n{one.what}" for one in wording)
    if given.texts is not None:
        given.texts.write_text(shown + "\n", encoding="utf-8")
    elif shown:
        print(shown)
    for one in found:
        if one.counts:
            print(f"DIFFERENT  skillgate {one.command}: {one.what}")
    counted = len(found) - len(wording)
    print(f"{len(commands)} documents and {len(texts)} texts: {counted} differences, {len(wording)} texts differ")
    return 1 if counted else 0


if __name__ == "__main__":
    sys.exit(main())
