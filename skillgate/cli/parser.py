"""The argument parser of every command: the options all of them share, and errors that suggest what was meant."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from skillgate import __version__
from skillgate.errors import UsageError
from skillgate.format import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

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
