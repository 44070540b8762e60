"""Compare the time of skillgate with other skill linters: the same tree, in turn (A B C …, A B C …), in one run.

    python -m benchmarks.peers --install DIR                    fetch the pinned peers into DIR
    python -m benchmarks.peers [--tools DIR] [--corpus DIR] [--rounds N] [--peer NAME=COMMAND]

Three cases: one file and a whole tree, both without a cache, and the tree again with a filled one, where a tool that
keeps none has the figures it had before. Printed, as Markdown, are medians of wall time, CPU time (of all processes and
threads of the tool) and peak memory, the findings, and the ratios of wall and CPU time to skillgate and to agnix.

All write JSON, so that the findings can be counted. Before it is timed a tool must find something in a broken skill:
some exit 0 after having looked at nothing. "?" marks an output that is no JSON, of which nothing is proved.

A tool is looked for in ``--tools`` (as ``--install`` fills it, or with a ``bin`` or ``node_modules/.bin``), then on
PATH. ``--peer NAME=COMMAND`` names the executable of one in the table, or adds another with its whole command:
``{path}`` there is the file or the tree, ``{directory}`` that of the one skill, for a tool that walks no tree. So can
plugin-eval, which is on no registry, run from a checkout:
``--peer "plugin-eval=plugin-eval score {directory} --depth quick --output markdown"``.

A process is charged at least the memory that this one held when it started it: what "Python alone" is shown with.
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
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.peer_tools import PEERS, Place, Tool, found, install, others, skillgate
from benchmarks.static import ROOT, Run, typical, waited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CASES = {
    "file": "One file, no cache",
    "cold": "Whole tree, no cache",
    "warm": "Whole tree, cache filled",
}
IMPORTS = "Python that imports argparse, yaml and markdown_it"
FLOORS = (
    Tool("Python alone", (sys.executable, "-c", "pass")),
    Tool(IMPORTS, (sys.executable, "-c", "import argparse, yaml, markdown_it")),
)
BROKEN = "---\nname: Not_The_Directory\n---\n\n# Broken\n\nRead [this](references/missing.md) and do it.\n"
RANKS = {"error": "error", "warning": "warning", "warn": "warning", "info": "info"}


class NotMeasuredError(Exception):
    """A tool does not run or looks at nothing; the message says why."""


class Measured(NamedTuple):
    """The medians of one tool in one case, and its findings by severity: None where its output is no JSON."""

    run: Run
    findings: Counter[str] | None


Table = dict[tuple[str, str], Measured]
"""What was measured, by case and tool."""


def timed(line: Sequence[str], folder: Path, output: Path) -> Run:
    """Run a command in ``folder`` with its output in a file; 0 and 1 (findings that fail) are good exit codes.

    Raises:
        NotMeasuredError: it ended otherwise, or does not start.
    """
    env = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "PYTHONPATH": str(ROOT) if line[0] == sys.executable else "",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "NO_COLOR": "1",
    }
    try:
        with output.open("wb") as out, output.with_suffix(".err").open("wb") as err:
            started = perf_counter()
            with subprocess.Popen(
                line, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, text=True
            ) as process:
                taken = waited(process, started)
    except OSError as error:
        raise NotMeasuredError(f"does not start: {error}") from None
    if process.returncode not in (0, 1):
        said = output.with_suffix(".err").read_text(errors="replace").split("\n", 1)[0]
        raise NotMeasuredError(f"exit code {process.returncode}: {said[:160]}")
    return taken


def findings(output: Path) -> Counter[str] | None:
    """Count the findings in the output of any of the tools by severity; None where it is no JSON."""
    try:
        return Counter(_severities(json.loads(output.read_bytes())))
    except ValueError:
        return None


def _severities(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        rank = value.get("severity", value.get("level"))
        if isinstance(rank, str) and rank.lower() in RANKS:
            yield RANKS[rank.lower()]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _severities(inner)


def places(corpus: Path, folder: Path) -> tuple[Place, Place, Place]:
    """Copy what is read below ``folder``, since some tools write: a broken skill, one file, and the tree."""
    tree, broken = folder / "tree", folder / "broken" / "the-directory"
    shutil.copytree(corpus, tree, symlinks=True)
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_text(BROKEN)
    one = typical(tree)
    return (
        Place(broken / "SKILL.md", str(broken), _layout((broken,), folder / "layout-broken")),
        Place(one / "SKILL.md", str(one), _layout((one,), folder / "layout-file")),
        Place(tree, "", _layout([path.parent for path in sorted(tree.rglob("SKILL.md"))], folder / "layout-tree")),
    )


def _layout(skills: Sequence[Path], into: Path) -> Path:
    for number, skill in enumerate(skills):
        shutil.copytree(skill, into / str(number) / ".claude" / "skills" / skill.name, symlinks=True)
    return into


def looks(tool: Tool, broken: Place, folder: Path) -> None:
    """Try a tool on a broken skill.

    Raises:
        NotMeasuredError: it does not run, or finds nothing.
    """
    output = folder / f"broken-{tool.name}"
    timed(tool.line("file", broken, folder / "cache" / tool.name) or (), folder, output)
    told = findings(output)
    if told is not None and not told:
        raise NotMeasuredError("found nothing in a broken skill, so that its times mean nothing")


def measure(tools: Sequence[Tool], corpus: Path, folder: Path, rounds: int) -> tuple[Table, dict[str, str]]:
    """Time every tool in every case, in turn; give the medians, and why tools without any have none.

    One round more goes first, which compiles modules and fills caches.
    """
    broken, file, tree = places(corpus, folder)
    failed: dict[str, str] = {}
    for tool in tools:
        try:
            looks(tool, broken, folder)
        except NotMeasuredError as reason:
            failed[tool.name] = str(reason)
    runs: dict[tuple[str, str], list[Run]] = {}
    for _ in range(rounds + 1):
        for case in CASES:
            for tool in (*FLOORS, *tools) if case == "file" else tools:
                line = tool.line(case, file if case == "file" else tree, folder / "cache" / tool.name)
                if line is None or tool.name in failed:
                    continue
                try:
                    taken = timed(line, folder, folder / f"{case}-{tool.name}")
                except NotMeasuredError as reason:
                    failed[tool.name] = f"{CASES[case]}: {reason}"
                else:
                    runs.setdefault((case, tool.name), []).append(taken)
    return {
        key: _summed(taken[1:], folder / "-".join(key)) for key, taken in runs.items() if key[1] not in failed
    }, failed


def _summed(runs: Sequence[Run], output: Path) -> Measured:
    figures = Run(*(median(figure) for figure in zip(*runs, strict=True)))
    return Measured(figures, findings(output))


def table(measured: Table, case: str) -> Iterator[str]:
    """Lay out one case as a Markdown table, the fastest by wall time first; without a cache, warm is cold."""
    rows = {name: row for (where, name), row in measured.items() if where == ("cold" if case == "warm" else case)}
    rows |= {name: row for (where, name), row in measured.items() if where == case}
    bases = {name: rows[name].run for name in (IMPORTS, "skillgate", "agnix") if name in rows}
    yield f"| {CASES[case]} | Wall ms | CPU ms | Peak MB | Errors / warnings / infos |" + "".join(
        f" ÷ {'imports' if name == IMPORTS else name}: wall, CPU |" for name in bases
    )
    yield "|---" * (5 + len(bases)) + "|"
    for name, row in sorted(rows.items(), key=lambda item: item[1].run.wall_s):
        cached = "" if case != "warm" or ("warm", name) in measured else " (no cache)"
        times = f"{row.run.wall_s * 1e3:,.0f} | {row.run.cpu_s * 1e3:,.0f} | {row.run.peak_mb:.1f}"
        ratios = "".join(f" {_ratio(row.run, base)} |" for base in bases.values())
        yield f"| {name}{cached} | {times} | {_counts(name, row)} |{ratios}"


def _counts(name: str, row: Measured) -> str:
    if name in {floor.name for floor in FLOORS}:
        return "—"
    return "?" if row.findings is None else " / ".join(str(row.findings[rank]) for rank in ("error", "warning", "info"))


def _ratio(run: Run, base: Run) -> str:
    cpu = f"{run.cpu_s / base.cpu_s:.2f}" if base.cpu_s else "—"
    return f"{run.wall_s / base.wall_s:.2f}, {cpu}"


def report(tools: Sequence[Tool], corpus: Path, rounds: int) -> Iterator[str]:
    """Measure, and give the lines to print."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        measured, failed = measure(tools, corpus, Path(folder), rounds)
    size, files = (typical(corpus) / "SKILL.md").stat().st_size, len(list(corpus.rglob("SKILL.md")))
    python = sys.version.split()[0]
    yield f"{files} skills; the one file has {size:,} bytes; medians of {rounds}; Python {python}"
    for case in CASES:
        yield ""
        yield from table(measured, case)
    yield ""
    yield from (f"not measured: {name}: {reason}" for name, reason in failed.items())
    known = {peer.name: peer.version for peer in PEERS}
    yield "not here: " + (", ".join(name for name in known if name not in {tool.name for tool in tools}) or "none")


def _named(text: str) -> tuple[str, str]:
    name, _, command = text.partition("=")
    if not name or not command:
        raise argparse.ArgumentTypeError("NAME=COMMAND, please")
    return name, command


def chosen(folder: Path | None, named: Mapping[str, str]) -> tuple[Tool, ...]:
    """List skillgate and the peers that are here."""
    return (skillgate(), *filter(None, (found(peer, folder, named) for peer in PEERS)), *others(named))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; a clock fails no build."""
    data = os.environ.get("SKILLGATE_TEST_DATA")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="install the peers there, and stop")
    parser.add_argument("--tools", type=Path, metavar="DIR", help="where the peers are installed")
    parser.add_argument("--peer", type=_named, action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--corpus", type=Path, default=Path(data) / "corpus" if data else ROOT / "examples")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args(argv)
    if args.install:
        return min(install(args.install), 1)
    for line in report(chosen(args.tools, dict(args.peer)), args.corpus.resolve(), args.rounds):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
