"""Options that several commands share. Values are checked by the declarations of the settings they stand for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from skillgate.errors import UsageError
from skillgate.model.setting import Kind
from skillgate.model.text import did_you_mean
from skillgate.settings import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.model.setting import Setting, Value

_SUFFIXES = {
    ".gitlab.json": "gitlab",
    ".sarif.json": "sarif",
    ".sarif": "sarif",
    ".json": "json",
    ".md": "markdown",
    ".txt": "text",
    ".html": "html",
    ".xml": "junit",
    ".csv": "csv",
}
_LAYERED = (
    *("depth", "threshold", "min-badge", "min-dimension", "fail-on", "baseline", "max-drop", "on-inconclusive"),
    *("profile", "select", "ignore", "known-findings"),
    *("layers", "provider", "base-url", "key-variable", "script", "judge-model", "judges", "temperature"),
    *("max-cost-usd", "max-calls", "in-flight", "cache-dir"),
    *("model", "simulations", "near-misses", "seed", "max-turns", "runner", "min-activation", "max-failure-rate"),
    *("early-stop", "corpus-dir", "opponents", "poll-seconds"),
)
_LISTS = ("fail-on", "select", "ignore", "layers", "judge-model")


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add ``PATH…``; ``args.paths`` is a list of str, ``["."]`` where none was given."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="skills, or directories that hold some (default: .)")


def add_depth(parser: argparse.ArgumentParser) -> None:
    """Add ``--depth``; ``args.depth`` is a str or None."""
    _add_setting(parser, "depth", metavar="DEPTH")


def add_gate(parser: argparse.ArgumentParser) -> None:
    """Add the gate's options; :func:`gate_options` reads them, ``args.allow_empty`` is a bool."""
    group = parser.add_argument_group("gate")
    _add_setting(group, "threshold", metavar="N")
    _add_setting(group, "min-badge", metavar="BADGE")
    group.add_argument(
        "--min-dimension",
        metavar="NAME=SCORE",
        action="append",
        type=_typed("min-dimension", _pair),
        help=_declared("min-dimension").help + " Repeatable.",
    )
    _add_list(group, "fail-on", metavar="LIST")
    _add_setting(group, "baseline", metavar="REPORT|REV")
    _add_setting(group, "max-drop", metavar="POINTS")
    _add_setting(group, "on-inconclusive", metavar="WHAT")
    group.add_argument("--allow-empty", action="store_true", help="pass when there is no skill at all")


def add_findings(parser: argparse.ArgumentParser) -> None:
    """Add what decides which findings are reported; :func:`gate_options` reads the settings among them."""
    group = parser.add_argument_group("findings")
    _add_setting(group, "profile", metavar="CLIENT")
    _add_list(group, "select", metavar="RULES")
    _add_list(group, "ignore", metavar="RULES")
    _add_setting(group, "known-findings", metavar="FILE")
    group.add_argument(
        "--write-known-findings", metavar="FILE", help="write what is found now to a file of known findings"
    )
    group.add_argument(
        "--merge-sarif",
        metavar="FILE",
        action="append",
        default=[],
        help="take the findings of another tool into report and gate; repeatable",
    )
    group.add_argument("--changed", action="store_true", help="report only skills that git says are changed")
    group.add_argument("--since", metavar="REV", help="with --changed: since they left this revision (default: HEAD)")
    group.add_argument(
        "--no-cache", action="store_true", help="judge every skill anew, models included, and keep nothing"
    )


def add_models(parser: argparse.ArgumentParser, *, no_cache: bool = False) -> None:
    """Add who judges and what it may cost; :func:`gate_options` reads the settings among them.

    ``no_cache`` adds ``--no-cache`` too, for commands without the options of findings.
    """
    group = parser.add_argument_group("models (from standard depth on)")
    _add_list(group, "layers", metavar="LIST")
    _add_setting(group, "provider", metavar="NAME")
    _add_setting(group, "base-url", metavar="URL")
    _add_setting(group, "key-variable", metavar="NAME")
    _add_setting(group, "script", metavar="FILE")
    _add_list(group, "judge-model", metavar="MODEL")
    _add_setting(group, "judges", metavar="N")
    _add_setting(group, "temperature", metavar="T")
    _add_setting(group, "max-cost-usd", metavar="USD")
    _add_setting(group, "max-calls", metavar="N")
    _add_setting(group, "in-flight", metavar="N")
    _add_setting(group, "poll-seconds", metavar="SECONDS")
    _add_setting(group, "cache-dir", metavar="DIR")
    if no_cache:
        group.add_argument("--no-cache", action="store_true", help="ask every question anew, and keep nothing")
    group.add_argument("--refresh", action="store_true", help="ask anew, also what is kept from an earlier run")
    group.add_argument("--record", metavar="FILE", help="write every exchange with a model to a file")
    group.add_argument("--replay", metavar="FILE", help="let a recording answer in place of a model")
    group.add_argument("--calibration", metavar="FILE", help="show scores as people would give them, too")
    group.add_argument("--dry-run", action="store_true", help="say what it would ask and cost, and ask nothing")


def add_asking(parser: argparse.ArgumentParser) -> None:
    """Add who does the tasks of prose skills and who judges answers in benchmarks, and what it may cost.

    :func:`gate_options` reads the settings among them.
    """
    group = parser.add_argument_group("models (prose skills and judges)")
    _add_setting(group, "model", metavar="MODEL")
    _add_list(group, "judge-model", metavar="MODEL")
    for key, metavar in (("provider", "NAME"), ("base-url", "URL"), ("key-variable", "NAME"), ("script", "FILE")):
        _add_setting(group, key, metavar=metavar)
    for key, metavar in (("max-cost-usd", "USD"), ("max-calls", "N"), ("cache-dir", "DIR")):
        _add_setting(group, key, metavar=metavar)
    group.add_argument("--no-cache", action="store_true", help="ask every question anew, and keep nothing")
    group.add_argument("--refresh", action="store_true", help="ask anew, also what is kept from an earlier run")
    group.add_argument("--record", metavar="FILE", help="write every exchange with a model to a file")
    group.add_argument("--replay", metavar="FILE", help="let a recording answer in place of a model")


def gate_options(args: argparse.Namespace) -> dict[str, Value]:
    """Collect what was given of depth and gate, by setting key, as ``Config.with_options`` takes it."""
    given: dict[str, Value] = {}
    for key in _LAYERED:
        value = vars(args).get(key.replace("-", "_"))
        if value is None:
            continue
        if key == "min-dimension":
            value = {name: score for item in value for name, score in item.items()}
        elif key in _LISTS:
            value = tuple(dict.fromkeys(word for item in value for word in item))
        given[key] = value
    return given


def add_sessions(parser: argparse.ArgumentParser) -> None:
    """Add how sessions are simulated and skills ranked; :func:`gate_options` reads the settings among them."""
    group = parser.add_argument_group("sessions and matches (deep and certify depth)")
    _add_setting(group, "model", metavar="MODEL")
    _add_setting(group, "simulations", metavar="N")
    _add_setting(group, "near-misses", metavar="N")
    _add_setting(group, "seed", metavar="N")
    _add_setting(group, "max-turns", metavar="N")
    _add_setting(group, "runner", metavar="RUNNER")
    _add_setting(group, "min-activation", metavar="SHARE")
    _add_setting(group, "max-failure-rate", metavar="SHARE")
    group.add_argument("--early-stop", action="store_true", default=None, help=_declared("early-stop").help)
    _add_setting(group, "corpus-dir", metavar="DIR")
    _add_setting(group, "opponents", metavar="N")
    group.add_argument("--lift", action="store_true", help="do the skill's tasks with it and without it too")
    group.add_argument(
        "--benchmark-json", metavar="FILE", help="with --lift: write it in the form of skill-creator's viewer"
    )


def add_output(parser: argparse.ArgumentParser, formats: Sequence[str], default: str = "text") -> None:
    """Add ``--output FORMAT`` and ``--output-file PATH``.

    :func:`output_format` says which format stdout gets; ``args.output_file`` is a list of (format, path) pairs.
    """
    names = ", ".join(formats)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output", metavar="FORMAT", type=format_of_word(formats), help=f"print {names} (default: {default})"
    )
    suffixes = ", ".join(suffix for suffix, name in _SUFFIXES.items() if name in formats)
    group.add_argument(
        "--output-file",
        metavar="PATH",
        action="append",
        default=[],
        type=_file_of(formats),
        help=f"write a file too, in the format of its suffix ({suffixes}); repeatable",
    )
    parser.set_defaults(default_output=default)


def output_format(args: argparse.Namespace) -> str:
    """Say which format goes to stdout: ``--output``, else JSON with ``--json``, else the command's default.

    Raises:
        UsageError: ``--json`` beside another format.
    """
    chosen: str | None = args.output
    if args.json and chosen not in (None, "json"):
        raise UsageError(f"--json and --output {chosen} ask for two formats; leave one out")
    if args.json:
        return "json"
    default: str = args.default_output
    return default if chosen is None else chosen


def _declared(key: str) -> Setting[Any]:
    return BY_KEY[key]


def _add_list(group: argparse._ActionsContainer, key: str, *, metavar: str) -> None:
    setting = _declared(key)
    group.add_argument(
        f"--{key}",
        metavar=metavar,
        action="append",
        type=_typed(key, lambda text: [word.strip() for word in text.split(",") if word.strip()]),
        help=setting.help + " Comma-separated; repeatable.",
    )


def _add_setting(group: argparse._ActionsContainer, key: str, *, metavar: str) -> None:
    setting = _declared(key)
    choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
    read = {Kind.NUMBER: float, Kind.INTEGER: int}.get(setting.kind, str)
    group.add_argument(f"--{key}", metavar=metavar, type=_typed(key, read), help=setting.help.rstrip(".") + choices)


def _typed(key: str, read: Callable[[str], object]) -> Callable[[str], Value]:
    """Make an argparse type out of a setting: ``read`` parses the word, the declaration checks it."""
    setting = _declared(key)

    def typed(text: str) -> Value:
        try:
            value = read(text)
        except ValueError:
            value = text
        for word in _names(value) if setting.choices else ():
            if word not in setting.choices:
                known = ", ".join(setting.choices)
                raise argparse.ArgumentTypeError(
                    f"unknown {word!r}{did_you_mean(word, setting.choices)}; known: {known}"
                )
        try:
            return setting.accept(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return typed


def _names(value: object) -> list[str]:
    """List the words of a value that must be among the setting's choices."""
    if isinstance(value, str):
        return [value]
    return [str(word) for word in value] if isinstance(value, list | tuple | dict) else []


def _pair(text: str) -> Mapping[str, float]:
    name, _, number = text.partition("=")
    return {name.strip(): float(number)}


def format_of_word(formats: Sequence[str], *, instead: str = "--output-file") -> Callable[[str], str]:
    """Make an argparse type of formats; who gives a file's name is told to write it with ``instead``."""

    def format_of(text: str) -> str:
        if text in formats:
            return text
        names = ", ".join(formats)
        if "/" in text or "\\" in text or suffix_format(text):
            raise argparse.ArgumentTypeError(f"takes a format ({names}); to write {text!r} use {instead}")
        raise argparse.ArgumentTypeError(f"expected one of {names}, found {text!r}{did_you_mean(text, formats)}")

    return format_of


def _file_of(formats: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    def file_of(text: str) -> tuple[str, str]:
        found = suffix_format(text)
        if found in formats:
            return found, text
        suffixes = ", ".join(suffix for suffix, name in _SUFFIXES.items() if name in formats)
        raise argparse.ArgumentTypeError(f"the suffix says the format and must be one of {suffixes}, found {text!r}")

    return file_of


def suffix_format(path: str) -> str:
    """Say which format a file's suffix stands for; ``""`` for none."""
    return next((form for suffix, form in _SUFFIXES.items() if path.lower().endswith(suffix)), "")


def asked_format(args: argparse.Namespace, formats: Sequence[str], suffixes: str) -> str:
    """Say which format ``report`` is to write: by name, by ``--json``, by the suffix of ``--output``, else text.

    Args:
        args: with ``format``, ``json`` and ``output``.
        formats: that there are.
        suffixes: in words, for the message; ``""`` for none.

    Raises:
        UsageError: two formats are asked for, or the suffix says none.
    """
    chosen: str | None = args.format
    if args.json and chosen not in (None, "json"):
        raise UsageError(f"--json and --format {chosen} ask for two formats; leave one out")
    if args.json or chosen is not None:
        return chosen or "json"
    if args.output is None:
        return "text"
    found = suffix_format(args.output)
    if found not in formats:
        told = f" ({suffixes})" if suffixes else ""
        raise UsageError(f"--output {args.output}: the suffix names no format{told}; say which with --format")
    return found
