"""The options of the commands that run skills on benchmarks."""

from __future__ import annotations

import argparse

from skillgate import settings
from skillgate.cli.options import section
from skillgate.cli.parser import Rare
from skillgate.cli.shard_word import shard_of_word

_LEAST_MS = 100
_UNITS = {"ms": 1, "s": 1000, "m": 60_000}


def add_benchmark(parser: argparse.ArgumentParser, *, named: bool = True) -> None:
    """Declare which skills and tasks; without ``named`` the command looks for skills itself."""
    group = section(parser, settings.TASKS_RUN.title)
    if named:
        group.add_argument(
            "--skills", metavar="PATH", nargs="+", action="extend", help="skill.json files, or directories"
        )
    group.add_argument("--tasks", metavar="FILE", help="a file of tasks in the place of a benchmark")
    _words(group, "--task-id", "ID", Rare("run these tasks alone; repeatable"))
    _words(group, "--task-tag", "TAG", Rare("run tasks with all of these tags alone; repeatable"))
    group.add_argument("--prose", action="store_true", help=Rare("take in the SKILL.md files that a search meets, too"))


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare how they are run."""
    group = section(parser, settings.RUNNING.title)
    group.add_argument(
        "--timeout",
        metavar="MS",
        dest=settings.TIMEOUT_MS.variable,
        type=milliseconds,
        help=Rare(
            "how long one try may take, start-up included, of a task without timeoutMs: milliseconds, or 30s, 2m"
            f" (default: {settings.TIMEOUT_MS.default})"
        ),
    )
    group.add_argument(
        "--run-as-caller",
        action="store_true",
        help=Rare("run programs as you, and as root not as users of their own: they can do all that you can"),
    )
    names = "a variable that a skill's configuration may name; repeatable"
    _words(group, f"--{settings.ALLOW_ENV.key}", "NAME", Rare(names))
    hosts = "a private host that a skill's server may be; repeatable"
    _words(group, f"--{settings.ALLOW_HOST.key}", "HOST[:PORT]", Rare(hosts))
    group.add_argument(f"--no-{settings.ALLOW_EXEC.key}", action="store_true", help="start no program of any skill")
    group.add_argument("--dry-run", action="store_true", help="say what would be run; run and write nothing")


def add_gates(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare what is asked of each skill; ``report merge`` has ``--on-inconclusive`` for scores too."""
    group = section(parser, settings.BOUNDS.titles.get(command, settings.BOUNDS.title))
    group.add_argument("--exit-on-fail", action="store_true", help="exit 1 where a skill completes too few tasks")
    _words(group, "--require-task", "ID", Rare("a task that must pass in every run; repeatable"))
    if command != settings.MERGE:
        group.add_argument(
            f"--{settings.ON_INCONCLUSIVE.key}",
            choices=settings.ON_INCONCLUSIVE.choices,
            default=settings.ON_INCONCLUSIVE.default,
            help=Rare("what a bound inside a rate's interval does: the point estimate decides, or this"),
        )
    group.add_argument(
        "--allow-skipped", action="store_true", help=Rare("let what could not be measured change no exit code")
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Declare what is written."""
    out = section(parser, settings.REPORTS.title)
    out.add_argument(
        "--format",
        metavar="FORMAT",
        nargs="+",
        action="extend",
        type=_formats,
        help=f"write {', '.join(settings.FORMATS.choices)}; several with commas or blanks (default: json markdown)",
    )
    out.add_argument(
        "--progress", choices=("bar", "json", "none"), default="bar", help=Rare("how progress is told on stderr")
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Declare that one of several shards is run."""
    parser.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_of_word,
        help=Rare("run the I-th of N parts of the tasks alone; report merge joins the reports, and asks the gates"),
    )


def add_write_back(parser: argparse.ArgumentParser) -> None:
    """Declare ``--write-metadata``."""
    parser.add_argument(
        "--write-metadata",
        action="store_true",
        help=Rare("write the completion rate into metadata.benchmarkResults of each skill.json"),
    )


def milliseconds(text: str) -> int:
    """Read milliseconds, or a number with ``ms``, ``s`` or ``m``; a bare number under 100 is surely meant otherwise.

    Raises:
        argparse.ArgumentTypeError: it is none, or too short or too long a time.
    """
    unit = next((unit for unit in ("ms", "s", "m") if text.endswith(unit)), "")
    digits = text.removesuffix(unit)
    if not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"expected milliseconds, or 30s, 2m; found {text!r}")
    value = int(digits[:12]) * _UNITS.get(unit, 1)
    if value < _LEAST_MS:
        hint = f"; for seconds write {digits}s" if not unit else ""
        raise argparse.ArgumentTypeError(f"expected at least {_LEAST_MS} milliseconds, found {text!r}{hint}")
    if value > 86_400_000:
        raise argparse.ArgumentTypeError(f"expected at most a day, found {text!r}")
    return value


def _words(group: argparse._ActionsContainer, option: str, metavar: str, words: str) -> None:
    group.add_argument(option, metavar=metavar, action="append", default=[], help=words)


def _formats(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in settings.FORMATS.choices:
            raise argparse.ArgumentTypeError(f"expected {', '.join(settings.FORMATS.choices)}; found {word!r}")
    return words
