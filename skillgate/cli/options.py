"""The argument parser of every command, shared options, and the output of documents."""

from __future__ import annotations

import argparse
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from skillgate import __version__, settings
from skillgate.errors import UsageError
from skillgate.files import write
from skillgate.format import Style, did_you_mean
from skillgate.model.setting import Kind
from skillgate.report.rendering import format_of, render, suffixes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.console import Console
    from skillgate.model.finding import Page
    from skillgate.model.setting import Option, Setting, Value


R = TypeVar("R")
HELP_ALL = "--help-all"
_formatter = partial(argparse.HelpFormatter, width=100)  # for errors; without a width it would import shutil


class Answer(Exception):  # noqa: N818 - not an error: the way out of argparse with something to print
    """What ``--help`` or ``--version`` prints: a function of the columns of a line."""

    def __init__(self, text: Callable[[int], str]) -> None:
        super().__init__()
        self.text = text


class Rare(str):
    """The help of an option that only ``--help-all`` shows."""

    __slots__ = ()


class Parser(argparse.ArgumentParser):
    """A parser with the options of every command; it prints nothing and never exits.

    Its subparsers are of the same class, so shared options may be placed before or after every word.
    """

    def __init__(self, *, prog: str, description: str = "", **_: object) -> None:
        # Later versions of argparse pass more to subparsers, such as color; none of it is used here.
        super().__init__(
            prog=prog, description=description, add_help=False, allow_abbrev=False, formatter_class=_formatter
        )
        self.color = False  # Python 3.14 would color help by its own rules
        self._shared = self.add_argument_group("options of every command")
        _add_shared(self._shared)

    def parse(self, arguments: Sequence[str], namespace: argparse.Namespace) -> argparse.Namespace:
        """Parse what follows the command into ``namespace``.

        ``paths``, if the command has them, may be anywhere between options; after ``--`` everything is a path.

        Raises:
            UsageError: the arguments are not valid.
            Answer: help or the version must be printed.
        """
        words = list(arguments)
        # argparse fills an open-ended list from one stretch of words only; collect the rest here.
        open_ended = any(action.dest == "paths" for action in self._actions)
        cut = words.index("--") if open_ended and "--" in words else len(words)
        parsed, rest = self.parse_known_args(words[:cut], namespace)
        for word in rest:
            if word.startswith("-") and word != "-":
                raise self._unknown(word)
        rest += words[cut + 1 :]
        if open_ended:
            parsed.paths = [*parsed.paths, *rest] or ["."]
        elif rest:
            self.error(f"unexpected argument {rest[0]!r}")
        return parsed

    def whole_help(self, width: int) -> str:
        """Return the help of every option, those of every command last, for a number of columns."""
        self._action_groups.sort(key=lambda group: group is self._shared)
        from skillgate.cli.help import HelpFormatter  # few runs print help

        self.formatter_class = partial(HelpFormatter, width=width)
        return self.format_help()

    def everyday_help(self, width: int) -> str:
        """Return the help without rarely needed options, with a hint on how to see them."""
        hidden = [(action, action.help) for action in self._actions if isinstance(action.help, Rare)]
        for action, _ in hidden:
            action.help = argparse.SUPPRESS
        text = self.whole_help(width)
        for action, rare in hidden:
            action.help = rare
        return f"{text}\n{HELP_ALL} shows all options.\n" if hidden else text

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print before it exits.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message}\nTry: {self.prog} --help")

    def _unknown(self, word: str) -> UsageError:
        option = word.partition("=")[0]
        place = "" if " " in self.prog else " before the command; put a command's own options after its name"
        meant = "--output" if option == "--format" and "--output" in _options(self) else ""
        near = f" (did you mean {meant!r}?)" if meant else did_you_mean(option, _options(self))
        return UsageError(f"unknown option {option}{near}{place}\nTry: {self.prog} --help")


def shared_defaults() -> argparse.Namespace:
    """Return the defaults of the shared options."""
    return argparse.Namespace(
        config_file=None, json=False, no_house_rules=False, no_color=False, verbose=False, quiet=False
    )


def takes_value(word: str) -> bool:
    """Return whether an option before the command takes the next word as its value."""
    return word == "--config" or (word.endswith("c") and word[:1] == "-" and set(word[1:-1]) <= set("vqh"))


class _Help(argparse.Action):
    """Like argparse's own, but raise the text instead of printing it to the process's stdout."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        if HELP_ALL not in self.option_strings:
            raise Answer(cast("Parser", parser).everyday_help)
        raise Answer(cast("Parser", parser).whole_help)


class _Version(argparse.Action):
    def __call__(self, *_: object) -> NoReturn:
        raise Answer(lambda _width: f"skillgate {__version__}\n")


def _add_shared(group: argparse._ArgumentGroup) -> None:
    """Declare the shared options without defaults, so that one given before the command is not reset after it."""
    none = argparse.SUPPRESS
    group.add_argument(
        "-c", "--config", dest="config_file", metavar="FILE", default=none, help="read this configuration file"
    )
    group.add_argument("--json", action="store_true", default=none, help="print JSON")
    group.add_argument(
        "--no-house-rules",
        action="store_true",
        default=none,
        help="leave out the rules that the configuration adds, and run none of their code",
    )
    group.add_argument("--no-color", action="store_true", default=none, help="print without color")
    group.add_argument("-v", "--verbose", action="store_true", default=none, help="print more on stderr")
    group.add_argument("-q", "--quiet", action="store_true", default=none, help="print no notes on stderr")
    group.add_argument("--version", action=_Version, nargs=0, dest=none, default=none, help="print the version")
    group.add_argument("-h", "--help", action=_Help, nargs=0, dest=none, default=none, help="print this help")
    group.add_argument(
        HELP_ALL, action=_Help, nargs=0, dest=none, default=none, help="print this help with all options"
    )


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """List a parser's options and those of the words below it (argparse has no public way to ask)."""
    options: list[str] = []
    for action in parser._actions:
        options += action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            options += [option for below in action.choices.values() for option in _options(below)]
    return options


_LISTS = (Kind.CHOICES, Kind.TEXTS)


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add ``PATH…``; ``args.paths`` is a list of str, ``["."]`` by default."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="skills, or directories with skills (default: .)")


def add_settings(parser: argparse.ArgumentParser, command: str) -> None:
    """Add every setting that a command takes as an option, by group; :func:`option_values` collects them.

    Options that the command has already declared under the setting's name stay as they are.
    """
    parser.set_defaults(command=command)
    declared = {action.dest for action in parser._actions}
    for group in settings.GROUPS:
        for setting in settings.of_group(group):
            if command in setting.commands and setting.variable not in declared:
                _add_option(section(parser, group.titles.get(command, group.title)), setting)


def section(parser: argparse.ArgumentParser, title: str) -> argparse._ActionsContainer:
    """Return the option group with a title, made if missing; the parser itself for no title."""
    if not title:
        return parser
    groups = (group for group in parser._action_groups if group.title == title)
    return next(groups, None) or parser.add_argument_group(title)


def option_values(args: argparse.Namespace) -> dict[str, Value]:
    """Collect the settings that options set, by key, as ``Config.with_options`` takes them."""
    values: dict[str, Value] = {}
    for setting in settings.SETTINGS:
        value = vars(args).get(setting.variable) if args.command in setting.commands else None
        if value is None:
            continue
        if setting.kind is Kind.NUMBERS:
            value = {name: number for item in value for name, number in item.items()}
        elif setting.kind in _LISTS:
            value = tuple(dict.fromkeys(word for item in value for word in item))
        values[setting.key] = value
    return values


def add_allow_empty(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow-empty``; ``args.allow_empty`` is a bool."""
    group = section(parser, settings.GATE.title)
    group.add_argument("--allow-empty", action="store_true", help=Rare("pass if there is no skill at all"))


def add_findings(parser: argparse.ArgumentParser) -> None:
    """Add the options about reported skills and findings that are not settings."""
    group = section(parser, settings.FINDINGS.title)
    group.add_argument(
        "--write-known-findings", metavar="FILE", help=Rare("write the current findings to a file of known findings")
    )
    group.add_argument(
        f"--{settings.MERGE_SARIF.key}",
        metavar="FILE",
        action="append",
        default=[],
        help=Rare("add the findings of another tool to report and gate; repeatable"),
    )
    group.add_argument("--changed", action="store_true", help="report only skills that changed according to Git")
    group.add_argument(
        "--since",
        metavar="REV",
        help=Rare("with --changed: compare with the point where the branch left this revision (default: HEAD)"),
    )
    group.add_argument(
        "--no-cache",
        action="store_true",
        help=Rare("evaluate every skill from scratch, models included, and cache nothing"),
    )


def add_models(parser: argparse.ArgumentParser, *, no_cache: bool = False) -> None:
    """Add the options about model calls that are not settings.

    ``no_cache`` adds ``--no-cache`` too, for commands without the options of findings.
    """
    group = section(parser, settings.MODELS.title)
    _add_answers(group, no_cache=no_cache)
    group.add_argument("--calibration", metavar="FILE", help=Rare("also show scores as people would give them"))
    group.add_argument(
        "--dry-run", action="store_true", help="show what would be asked and what it would cost; ask nothing"
    )


def add_model_answers(parser: argparse.ArgumentParser, command: str = settings.EVAL) -> None:
    """Add the options about model answers that are not settings, for a command with its own title for them."""
    _add_answers(section(parser, settings.MODELS.titles[command]), no_cache=True)


def _add_answers(group: argparse._ActionsContainer, *, no_cache: bool) -> None:
    if no_cache:
        group.add_argument(
            "--no-cache", action="store_true", help=Rare("ask a model again for every answer, and cache none")
        )
    group.add_argument("--refresh", action="store_true", help=Rare("ask again even for cached answers"))
    group.add_argument("--record", metavar="FILE", help=Rare("write every exchange with a model to a file"))
    group.add_argument("--replay", metavar="FILE", help=Rare("answer from a recording instead of a model"))


def add_sessions(parser: argparse.ArgumentParser) -> None:
    """Add the options about simulated sessions that are not settings."""
    group = section(parser, settings.SESSIONS.title)
    group.add_argument("--lift", action="store_true", help=Rare("also do the skill's tasks with and without it"))
    group.add_argument(
        "--benchmark-json",
        metavar="FILE",
        help=Rare("with --lift: write the result in the format of skill-creator's viewer"),
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
    group.add_argument(
        "--output-file",
        metavar="PATH",
        action="append",
        default=[],
        type=_file_of(formats),
        help=f"also write a file, in the format of its suffix ({suffixes_of(formats)}); repeatable",
    )
    parser.set_defaults(default_output=default)


def output_format(args: argparse.Namespace) -> str:
    """Return which format goes to stdout: ``--output``, else JSON with ``--json``, else the command's default.

    Raises:
        UsageError: ``--json`` and another format.
    """
    chosen: str | None = args.output
    if args.json and chosen not in (None, "json"):
        raise UsageError(f"--json and --output {chosen} name two formats; leave one out")
    if args.json:
        return "json"
    default: str = args.default_output
    return default if chosen is None else chosen


def _add_option(group: argparse._ActionsContainer, setting: Setting[Any]) -> None:
    option = setting.option
    if option is None:
        return
    text = _help(setting, option)
    if not option.everyday:
        text = Rare(text)
    name = f"--{option.name or setting.key}"
    if setting.kind is Kind.FLAG:
        group.add_argument(name, dest=setting.variable, action="store_true", default=None, help=text)
        return
    repeated = setting.kind in (*_LISTS, Kind.NUMBERS)
    group.add_argument(
        name,
        dest=setting.variable,
        metavar=option.metavar,
        action="append" if repeated else "store",
        type=_typed(setting, described=option.group.shows_default),
        help=text,
    )


def _help(setting: Setting[Any], option: Option) -> str:
    if setting.kind is Kind.FLAG:
        return setting.help
    if setting.kind is Kind.NUMBERS:
        return f"{setting.help} Repeatable."
    if setting.kind in _LISTS:
        return f"{setting.help} Comma-separated; repeatable."
    more = f" ({', '.join(setting.choices)})" if setting.choices else ""
    if option.group.shows_default:
        more = "" if setting.default is None else f" (default: {setting.default})"
    return setting.help.rstrip(".") + more


def _typed(setting: Setting[Any], *, described: bool) -> Callable[[str], Value]:
    """Make an argparse type from a setting, whose kind reads the word and which checks it.

    With ``described`` the message for an unknown word says what
    is expected, and suggests the ratio for a percentage.
    """

    def typed(text: str) -> Value:
        try:
            value = _READ.get(setting.kind, str)(text)
        except ValueError:
            value = text
        for word in _names(value) if setting.choices and not described else ():
            if word not in setting.choices:
                known = ", ".join(setting.choices)
                raise argparse.ArgumentTypeError(
                    f"unknown {word!r}{did_you_mean(word, setting.choices)}; known: {known}"
                )
        try:
            return setting.accept(value)
        except ValueError as error:
            hint = _as_ratio(setting, text) if described else ""
            raise argparse.ArgumentTypeError(f"{error}{hint}") from None

    return typed


def _names(value: object) -> list[str]:
    """List the words of a value that the setting's choices must contain."""
    if isinstance(value, str):
        return [value]
    return [str(word) for word in value] if isinstance(value, list | tuple | dict) else []


def _as_ratio(setting: Setting[Any], text: str) -> str:
    """Return what a percentage was meant to be."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return ""
    return f"; did you mean {number / 100:g}?" if setting.maximum == 1 and 1 < number <= 100 else ""


def _pair(text: str) -> Mapping[str, float]:
    name, _, number = text.partition("=")
    return {name.strip(): float(number)}


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


_READ: Mapping[Kind, Callable[[str], object]] = {
    Kind.NUMBER: float,
    Kind.INTEGER: int,
    Kind.NUMBERS: _pair,
    Kind.CHOICES: _words,
    Kind.TEXTS: _words,
}


def format_of_word(formats: Sequence[str], *, instead: str = "--output-file") -> Callable[[str], str]:
    """Make an argparse type of formats; the message for a file name suggests the option ``instead``."""

    def checked(text: str) -> str:
        if text in formats:
            return text
        names = ", ".join(formats)
        if "/" in text or "\\" in text or format_of(text):
            raise argparse.ArgumentTypeError(f"expected a format ({names}); to write {text!r} use {instead}")
        raise argparse.ArgumentTypeError(f"expected one of {names}, found {text!r}{did_you_mean(text, formats)}")

    return checked


def _file_of(formats: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    def file_of(text: str) -> tuple[str, str]:
        form = format_of(text)
        if form in formats:
            return form, text
        raise argparse.ArgumentTypeError(f"expected a file with a suffix of {suffixes_of(formats)}, found {text!r}")

    return file_of


def suffixes_of(formats: Sequence[str]) -> str:
    """Return the file suffixes of formats, for messages."""
    return ", ".join(suffix for suffix, form in suffixes().items() if form in formats)


def report_format(args: argparse.Namespace, formats: Sequence[str], suffixes: str) -> str:
    """Return the format that ``report`` must write: by name, by ``--json``, by the suffix of ``--output``, else text.

    Args:
        args: with ``format``, ``json`` and ``output``.
        formats: the known formats.
        suffixes: the suffixes for the message; ``""`` for none.

    Raises:
        UsageError: two formats are named, or the suffix names none.
    """
    chosen: str | None = args.format
    if args.json and chosen not in (None, "json"):
        raise UsageError(f"--json and --format {chosen} name two formats; leave one out")
    if args.json or chosen is not None:
        return chosen or "json"
    if args.output is None:
        return "text"
    form = format_of(args.output)
    if form not in formats:
        which = f" ({suffixes})" if suffixes else ""
        raise UsageError(f"--output {args.output}: no format has this suffix{which}; name one with --format")
    return form


_MOST_SHARDS = 1000
_SHARD = r"([0-9]{1,9})/([0-9]{1,9})"


def shard_of_word(text: str) -> tuple[int, int]:
    """Read ``I/N``: the I-th of N shards, 1 ≤ I ≤ N ≤ 1,000. An argparse type."""
    match = re.fullmatch(_SHARD, text)
    part, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= of <= _MOST_SHARDS:
        raise argparse.ArgumentTypeError(f"expected I/N such as 2/4 (at most {_MOST_SHARDS} shards), found {text!r}")
    return part, of


def rendered(
    document: Any,  # noqa: ANN401 - any of the kinds
    kind: str,
    form: str,
    style: Style,
    *,
    verbose: bool = False,
    seconds: float | None = None,
    house: Callable[[], Sequence[Page]] = tuple,
) -> str:
    """Render a document; see :func:`skillgate.report.rendering.render` for the arguments.

    ``house`` gives the pages of house rules.

    Raises:
        UsageError: this format cannot show it.
    """
    every = partial(_pages, house)
    return render(document, kind, form, style, verbose=verbose, seconds=seconds, pages=every)


def _pages(house: Callable[[], Sequence[Page]]) -> Sequence[Page]:
    from skillgate.static.catalogue import pages  # every rule's file

    return *pages(), *house()


def house_pages(session: Console) -> Sequence[Page]:
    """Load the pages of the house rules of the configuration.

    Raises:
        UsageError: the configuration is not valid, or a rule cannot be loaded.
    """
    if session.config.get(settings.RULES) is None:
        return ()
    from skillgate.evaluation.house import load  # few configurations have any

    house = load(session.config)
    return () if house is None else house.pages


def style_of(session: Console) -> Style:
    """Return the style of text on stdout."""
    terminal = session.stdout.isatty()
    return Style(width=session.width, color=session.color, links=session.color and terminal, terminal=terminal)


def json_text(document: object) -> str:
    """Return a document as indented JSON."""
    import json  # not every command writes it

    return json.dumps(document, indent=2, ensure_ascii=False)


def write_text(path: str, text: str, session: Console) -> None:
    """Write a text to a file; what UTF-8 cannot encode is escaped."""
    write(path, text.encode(errors="backslashreplace"), cwd=session.cwd)


def whole_number(expected: str, least: int, most: int, *, digits: int = 9) -> Callable[[str], int]:
    """Make an argparse type of whole numbers; ``expected`` describes them in the message."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > digits or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}")
        return int(text)

    return read


def read_number(text: str) -> float:
    """Read a number; -1 for anything else."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def request_from(kind: type[R], args: argparse.Namespace, **own: object) -> R:
    """Return a request, a named tuple: each field from ``own``, else from the argument of its name."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    named = {name: value for name, value in vars(args).items() if name in fields and name not in own}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in named.items()}, **own)


def at_least_zero(expected: str) -> Callable[[str], float]:
    """Make an argparse type of finite numbers of at least 0; ``expected`` describes them in the message."""

    def read(text: str) -> float:
        number = read_number(text)
        if not 0 <= number < float("inf"):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {text!r}")
        return number

    return read


def share(text: str) -> float:
    """Read a ratio from 0 to 1; an argparse type whose message for a percentage suggests the ratio."""
    number = read_number(text.removesuffix("%"))
    if text.endswith("%") or not 0 <= number <= 1:
        hint = f"; did you mean {number / 100:g}?" if 0 < number <= 100 else ""
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text!r}{hint}")
    return number
