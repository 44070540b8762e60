"""The options of the commands that run skills on benchmarks."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.cli.shard_word import shard_of_word
from skillgate.settings import BENCH_FORMATS as FORMATS
from skillgate.settings import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.setting import Setting, Value

_LEAST_MS = 100
_UNITS = {"ms": 1, "s": 1000, "m": 60_000}
_ON_INCONCLUSIVE = ("point", "pass", "warn", "fail")


def add_benchmark(parser: argparse.ArgumentParser, *, named: bool = True) -> None:
    """Declare which skills and tasks; without ``named`` the command looks for skills itself."""
    if named:
        parser.add_argument(
            "--skills", metavar="PATH", nargs="+", action="extend", help="skill.json files, or directories"
        )
    _setting(parser, "benchmark", "ID|PATH")
    parser.add_argument("--tasks", metavar="FILE", help="a file of tasks in the place of a benchmark")
    _setting(parser, "benchmarks-dir", "DIR")
    _words(parser, "--task-id", "ID", "run these tasks alone; repeatable")
    _words(parser, "--task-tag", "TAG", "run tasks with all of these tags alone; repeatable")
    parser.add_argument("--prose", action="store_true", help="take in the SKILL.md files that a search meets, too")


def add_running(parser: argparse.ArgumentParser) -> None:
    """Declare how they are run."""
    running = parser.add_argument_group("how it is run")
    for key, metavar in (("concurrency", "N"), ("retries", "N"), ("retry-delay-s", "S"), ("runs", "N")):
        _setting(running, key, metavar)
    running.add_argument(
        "--timeout",
        metavar="MS",
        dest="timeout_ms",
        type=milliseconds,
        help="how long one try may take, start-up included, of a task without timeoutMs: milliseconds, or 30s, 2m"
        " (default: 30000)",
    )
    _setting(running, "evaluator", "SCORER")
    running.add_argument(
        "--memory",
        metavar="MB",
        dest="memory_mb",
        type=_typed(_declared("memory-mb")),
        help=f"{_declared('memory-mb').help.rstrip('.')} (default: 1024)",
    )
    _setting(running, "sandbox", "none|bwrap|auto")
    running.add_argument(
        "--run-as-caller",
        action="store_true",
        help="run programs as you, and as root not as users of their own: they can do all that you can",
    )
    _words(running, "--allow-env", "NAME", "a variable that a skill's configuration may name; repeatable")
    _words(running, "--allow-host", "HOST[:PORT]", "a private host that a skill's server may be; repeatable")
    running.add_argument("--no-allow-exec", action="store_true", help="start no program of any skill")
    running.add_argument("--dry-run", action="store_true", help="say what would be run; run and write nothing")


def add_gates(parser: argparse.ArgumentParser, *, title: str = "gates", undecided: bool = True) -> None:
    """Declare what is asked of each skill; without ``undecided`` the command has ``--on-inconclusive`` already."""
    gates = parser.add_argument_group(title)
    gates.add_argument("--exit-on-fail", action="store_true", help="exit 1 where a skill completes too few tasks")
    for setting in settings.BENCH_GATES:
        _setting(gates, setting.key, "MS" if setting.key.endswith("ms") else "SHARE")
    _words(gates, "--require-task", "ID", "a task that must pass in every run; repeatable")
    if undecided:
        gates.add_argument(
            "--on-inconclusive",
            choices=_ON_INCONCLUSIVE,
            default="point",
            help="what a bound inside a rate's interval does: the point estimate decides, or this",
        )
    gates.add_argument(
        "--allow-skipped", action="store_true", help="let what could not be measured change no exit code"
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Declare what is written."""
    out = parser.add_argument_group("output")
    out.add_argument(
        "--format",
        metavar="FORMAT",
        nargs="+",
        action="extend",
        type=_formats,
        help=f"write {', '.join(FORMATS)}; several with commas or blanks (default: json markdown)",
    )
    _setting(out, "output-dir", "DIR")
    out.add_argument(
        "--progress", choices=("bar", "json", "none"), default="bar", help="how progress is told on stderr"
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    """Declare that one of several shards is run."""
    parser.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_of_word,
        help="run the I-th of N parts of the tasks alone; report merge joins the reports, and asks the gates",
    )


def add_write_back(parser: argparse.ArgumentParser) -> None:
    """Declare ``--write-metadata``."""
    parser.add_argument(
        "--write-metadata",
        action="store_true",
        help="write the completion rate into metadata.benchmarkResults of each skill.json",
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


def _setting(group: argparse._ActionsContainer, key: str, metavar: str) -> None:
    setting = _declared(key)
    default = "" if setting.default is None else f" (default: {setting.default})"
    group.add_argument(f"--{key}", metavar=metavar, type=_typed(setting), help=setting.help.rstrip(".") + default)


def _words(group: argparse._ActionsContainer, option: str, metavar: str, words: str) -> None:
    group.add_argument(option, metavar=metavar, action="append", default=[], help=words)


def _declared(key: str) -> Setting[Any]:
    return BY_KEY[key]


def _typed(setting: Setting[Any]) -> Callable[[str], Value]:
    def typed(text: str) -> Value:
        value: object = text
        numeric = setting.expected().startswith(("a number", "a whole number"))
        if numeric:
            try:
                value = float(text) if setting.expected().startswith("a number") else int(text)
            except ValueError:
                value = text
        try:
            return setting.accept(value)
        except ValueError as error:
            hint = _as_share(setting, text)
            raise argparse.ArgumentTypeError(f"{error}{hint}") from None

    return typed


def _as_share(setting: Setting[Any], text: str) -> str:
    """Say what a percentage was meant to be."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return ""
    return f"; did you mean {number / 100:g}?" if setting.maximum == 1 and 1 < number <= 100 else ""


def _formats(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in FORMATS:
            raise argparse.ArgumentTypeError(f"expected {', '.join(FORMATS)}; found {word!r}")
    return words
