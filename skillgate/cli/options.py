"""The argument parser of every command, options that several commands share, and how what they print is written."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, NoReturn

from skillgate import __version__, settings
from skillgate.errors import UsageError
from skillgate.files import write
from skillgate.format import did_you_mean
from skillgate.model.setting import Kind
from skillgate.report.rendering import format_of, render, suffixes
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.console import Console
    from skillgate.model.finding import Page
    from skillgate.model.setting import Option, Setting, Value


HELP_ALL = "--help-all"
_WIDTH = 100  # fixed, so that argparse need not import shutil to ask a terminal


class Answer(Exception):  # noqa: N818 - not an error: the way out of argparse with something to print
    """``--help`` or ``--version`` was used; its text is the first argument."""


class Rare(str):
    """The help of an option that ``--help-all`` shows, and ``--help`` does not."""

    __slots__ = ()


class Parser(argparse.ArgumentParser):
    """A parser that takes the options every command has, prints nothing and never exits.

    Sub-parsers made from it are of the same kind, so that shared options stand before or after every word.
    """

    def __init__(self, *, prog: str, description: str = "", **_: object) -> None:
        # Later versions of argparse hand more down to sub-parsers, colour for one; none of it is wanted here.
        super().__init__(
            prog=prog, description=description, add_help=False, allow_abbrev=False, formatter_class=_formatter
        )
        self.color = False  # Python 3.14 would colour help by its own rules
        self._shared = self.add_argument_group("options of every command")
        _add_shared(self._shared)

    def parse(self, arguments: Sequence[str], namespace: argparse.Namespace) -> argparse.Namespace:
        """Parse what follows the command into ``namespace``.

        ``paths``, where the command has them, may stand anywhere between options, and after ``--`` anything is one.

        Raises:
            UsageError: the arguments do not fit.
            Answer: help or the version is to be printed.
        """
        words = list(arguments)
        # Argparse gives an open-ended list only the words of one stretch; the rest is gathered here.
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

    def format_help(self) -> str:
        """Return the help of every option, those of every command last."""
        self._action_groups.sort(key=lambda group: group is self._shared)
        return super().format_help()

    def everyday_help(self) -> str:
        """Return the help without options that are rarely needed, and how to see these, where there are some."""
        hidden = [(action, action.help) for action in self._actions if isinstance(action.help, Rare)]
        for action, _ in hidden:
            action.help = argparse.SUPPRESS
        text = self.format_help()
        for action, rare in hidden:
            action.help = rare
        return f"{text}\n{HELP_ALL} shows the other options too.\n" if hidden else text

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print before it exits.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message}\nTry: {self.prog} --help")

    def _unknown(self, word: str) -> UsageError:
        option = word.partition("=")[0]
        place = "" if " " in self.prog else " before the command; a command's own options stand after its name"
        meant = "--output" if option == "--format" and "--output" in _options(self) else ""
        near = f" (did you mean {meant!r}?)" if meant else did_you_mean(option, _options(self))
        return UsageError(f"unknown option {option}{near}{place}\nTry: {self.prog} --help")


def shared_defaults() -> argparse.Namespace:
    """Return the defaults of the shared options."""
    return argparse.Namespace(config_file=None, json=False, no_color=False, verbose=False, quiet=False)


def takes_value(word: str) -> bool:
    """Return whether an option that may stand before the command takes the next word as its value."""
    return word == "--config" or (word.endswith("c") and word[:1] == "-" and set(word[1:-1]) <= set("vqh"))


class _Help(argparse.Action):
    """Like argparse's own, but the text is handed over, not printed to the process's stdout."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        if isinstance(parser, Parser) and HELP_ALL not in self.option_strings:
            raise Answer(parser.everyday_help())
        raise Answer(parser.format_help())


class _Version(argparse.Action):
    def __call__(self, *_: object) -> NoReturn:
        raise Answer(f"skillgate {__version__}\n")


def _add_shared(group: argparse._ArgumentGroup) -> None:
    """Declare the shared options without defaults, so that one given before the command is not reset after it."""
    none = argparse.SUPPRESS
    group.add_argument(
        "-c", "--config", dest="config_file", metavar="FILE", default=none, help="read this configuration"
    )
    group.add_argument("--json", action="store_true", default=none, help="print JSON")
    group.add_argument("--no-color", action="store_true", default=none, help="print no colours")
    group.add_argument("-v", "--verbose", action="store_true", default=none, help="say more on stderr")
    group.add_argument("-q", "--quiet", action="store_true", default=none, help="no notes on stderr")
    group.add_argument("--version", action=_Version, nargs=0, dest=none, default=none, help="print the version")
    group.add_argument("-h", "--help", action=_Help, nargs=0, dest=none, default=none, help="print this")
    group.add_argument(HELP_ALL, action=_Help, nargs=0, dest=none, default=none, help="print this with every option")


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=32, width=_WIDTH)


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
    parser.add_argument("paths", nargs="*", metavar="PATH", help="skills, or directories that hold some (default: .)")


def add_settings(parser: argparse.ArgumentParser, command: str) -> None:
    """Add every setting that a command takes as an option, in their groups; :func:`option_values` collects them.

    An option that the command has declared by then, under the setting's own name, stays as it is.
    """
    parser.set_defaults(command=command)
    declared = {action.dest for action in parser._actions}
    for group in settings.GROUPS:
        for setting in settings.of_group(group):
            if command in setting.commands and setting.variable not in declared:
                _add_option(section(parser, group.titles.get(command, group.title)), setting)


def section(parser: argparse.ArgumentParser, title: str) -> argparse._ActionsContainer:
    """Return the group of options with a title, new where there is none yet; the parser itself for no title."""
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
    group.add_argument("--allow-empty", action="store_true", help=Rare("pass when there is no skill at all"))


def add_findings(parser: argparse.ArgumentParser) -> None:
    """Add what else decides which skills and findings are reported, in addition to the settings."""
    group = section(parser, settings.FINDINGS.title)
    group.add_argument(
        "--write-known-findings", metavar="FILE", help=Rare("write what is found now to a file of known findings")
    )
    group.add_argument(
        f"--{settings.MERGE_SARIF.key}",
        metavar="FILE",
        action="append",
        default=[],
        help=Rare("take the findings of another tool into report and gate; repeatable"),
    )
    group.add_argument("--changed", action="store_true", help="report only skills that git says are changed")
    group.add_argument(
        "--since", metavar="REV", help=Rare("with --changed: since they left this revision (default: HEAD)")
    )
    group.add_argument(
        "--no-cache", action="store_true", help=Rare("judge every skill anew, models included, and keep nothing")
    )


def add_models(parser: argparse.ArgumentParser, *, no_cache: bool = False) -> None:
    """Add what else decides how models are called, in addition to the settings.

    ``no_cache`` adds ``--no-cache`` too, for commands without the options of findings.
    """
    group = section(parser, settings.MODELS.title)
    _add_answers(group, no_cache=no_cache)
    group.add_argument("--calibration", metavar="FILE", help=Rare("show scores as people would give them, too"))
    group.add_argument("--dry-run", action="store_true", help="say what it would ask and cost, and ask nothing")


def add_model_answers(parser: argparse.ArgumentParser) -> None:
    """Add where the answers of models come from in benchmarks, in addition to the settings."""
    _add_answers(section(parser, settings.MODELS.titles[settings.EVAL]), no_cache=True)


def _add_answers(group: argparse._ActionsContainer, *, no_cache: bool) -> None:
    if no_cache:
        group.add_argument(
            "--no-cache", action="store_true", help=Rare("ask a model again for every answer, and keep none")
        )
    group.add_argument(
        "--refresh", action="store_true", help=Rare("ask again, even for answers kept from an earlier run")
    )
    group.add_argument("--record", metavar="FILE", help=Rare("write every exchange with a model to a file"))
    group.add_argument("--replay", metavar="FILE", help=Rare("let a recording answer in place of a model"))


def add_sessions(parser: argparse.ArgumentParser) -> None:
    """Add what else is measured where sessions are simulated, in addition to the settings."""
    group = section(parser, settings.SESSIONS.title)
    group.add_argument("--lift", action="store_true", help=Rare("do the skill's tasks with it and without it too"))
    group.add_argument(
        "--benchmark-json", metavar="FILE", help=Rare("with --lift: write it in the form of skill-creator's viewer")
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
        help=f"write a file too, in the format of its suffix ({_suffixes_of(formats)}); repeatable",
    )
    parser.set_defaults(default_output=default)


def output_format(args: argparse.Namespace) -> str:
    """Return which format goes to stdout: ``--output``, else JSON with ``--json``, else the command's default.

    Raises:
        UsageError: ``--json`` and another format.
    """
    chosen: str | None = args.output
    if args.json and chosen not in (None, "json"):
        raise UsageError(f"--json and --output {chosen} ask for two formats; leave one out")
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
    """Make an argparse type out of a setting: its kind says how the word is read, and the setting checks it.

    Where it is ``described``, a word that is not known is answered by what fits, and a percentage by its ratio.
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
    """List the words of a value that must be among the setting's choices."""
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
    """Make an argparse type of formats; for a file's name the message is to write it with ``instead``."""

    def checked(text: str) -> str:
        if text in formats:
            return text
        names = ", ".join(formats)
        if "/" in text or "\\" in text or format_of(text):
            raise argparse.ArgumentTypeError(f"takes a format ({names}); to write {text!r} use {instead}")
        raise argparse.ArgumentTypeError(f"expected one of {names}, found {text!r}{did_you_mean(text, formats)}")

    return checked


def _file_of(formats: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    def file_of(text: str) -> tuple[str, str]:
        form = format_of(text)
        if form in formats:
            return form, text
        raise argparse.ArgumentTypeError(
            f"the suffix says the format and must be one of {_suffixes_of(formats)}, found {text!r}"
        )

    return file_of


def _suffixes_of(formats: Sequence[str]) -> str:
    return ", ".join(suffix for suffix, form in suffixes().items() if form in formats)


def report_format(args: argparse.Namespace, formats: Sequence[str], suffixes: str) -> str:
    """Return which format ``report`` is to write: by name, by ``--json``, by the suffix of ``--output``, else text.

    Args:
        args: with ``format``, ``json`` and ``output``.
        formats: that there are.
        suffixes: in words, for the message; ``""`` for none.

    Raises:
        UsageError: there are two formats, or the suffix says none.
    """
    chosen: str | None = args.format
    if args.json and chosen not in (None, "json"):
        raise UsageError(f"--json and --format {chosen} ask for two formats; leave one out")
    if args.json or chosen is not None:
        return chosen or "json"
    if args.output is None:
        return "text"
    form = format_of(args.output)
    if form not in formats:
        which = f" ({suffixes})" if suffixes else ""
        raise UsageError(f"--output {args.output}: the suffix names no format{which}; say which with --format")
    return form


_MOST_SHARDS = 1000
_SHARD = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def shard_of_word(text: str) -> tuple[int, int]:
    """Read ``I/N``: the I-th of N shards, 1 ≤ I ≤ N ≤ 1,000. An argparse type."""
    match = _SHARD.fullmatch(text)
    part, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= of <= _MOST_SHARDS:
        raise argparse.ArgumentTypeError(
            f"expected I/N, the I-th of N shards as in 2/4, at most {_MOST_SHARDS} of them; found {text!r}"
        )
    return part, of


def rendered(
    document: Any,  # noqa: ANN401 - any of the kinds
    kind: str,
    form: str,
    style: Style,
    *,
    verbose: bool = False,
    seconds: float | None = None,
) -> str:
    """Show a document; the arguments are those of :func:`skillgate.report.rendering.render`.

    Raises:
        UsageError: it cannot be shown in this format.
    """
    return render(document, kind, form, style, verbose=verbose, seconds=seconds, pages=_pages)


def _pages() -> Sequence[Page]:
    from skillgate.static.catalogue import pages  # every rule's file

    return pages()


def style_of(session: Console) -> Style:
    """Return how text is shown on stdout."""
    return Style(width=session.width, color=session.color)


def json_text(document: object) -> str:
    """Return a document as indented JSON."""
    import json  # not every command writes it

    return json.dumps(document, indent=2, ensure_ascii=False)


def write_text(path: str, text: str, session: Console) -> None:
    """Write a text to a file, as a whole; what UTF-8 lacks is written out."""
    write(path, text.encode(errors="backslashreplace"), cwd=session.cwd)


def whole_number(expected: str, least: int, most: int, *, digits: int = 9) -> Callable[[str], int]:
    """Make an argparse type of whole numbers; ``expected`` says in its message what fits."""

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
