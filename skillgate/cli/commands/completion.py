"""Print a script that completes commands, options, values and rule ids in bash, zsh or fish."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, cast

from skillgate import settings
from skillgate.cli.options import Parser
from skillgate.errors import UsageError
from skillgate.model.score import Dimension
from skillgate.registry import COMMANDS
from skillgate.static.catalogue import rule_ids

if TYPE_CHECKING:
    from skillgate.console import Console

GROUP = "reference"
_SHELLS = ("bash", "zsh", "fish")
_INSTALLING = """\
Run it again after an update. The directories must exist:

  bash  skillgate completion bash > ~/.local/share/bash-completion/completions/skillgate
  zsh   skillgate completion zsh > ~/.zfunc/_skillgate (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  fish  skillgate completion fish > ~/.config/fish/completions/skillgate.fish
"""
_FOLDERS = frozenset({"DIR"})
_FILES = frozenset({"FILE", "PATH", "SKILL", "A", "B", "REPORT|REV", "PATH|URL", "ID|PATH"})  # what is on disk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.epilog = _INSTALLING
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help="bash, zsh or fish")


def run(args: argparse.Namespace, session: Console) -> int:
    """Print the script.

    Raises:
        UsageError: shtab is not installed.
    """
    try:
        import shtab
    except ModuleNotFoundError as missing:
        raise UsageError('completion needs shtab: pip install "skillgate-action[completion]"') from missing
    session.out(shtab.complete(_whole_parser(), args.shell).rstrip("\n"))
    return 0


def _whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command, for completion alone: its choices are more than what is parsed."""
    from shtab import DIRECTORY, FILE

    program = Parser(prog="skillgate")
    words = program.add_subparsers()
    for name in COMMANDS.listed():
        module, summary = COMMANDS.load(name), COMMANDS.summary(name)
        parser = words.add_parser(name, help=summary, description=summary)
        module.add_arguments(parser)
        formats = getattr(module, "FORMATS", ())
        for action in _actions(parser):
            action.choices = action.choices or _choices(action, formats) or None
            place = str(action.metavar)
            if not action.choices and place in _FOLDERS | _FILES:
                cast("Any", action).complete = DIRECTORY if place in _FOLDERS else FILE
    return program


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """List the options and arguments of a command and of those below it, which get a description of one line."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                below.description = (below.description or "").partition("\n")[0]
                found += _actions(below)
        else:
            found.append(action)
    return found


def _choices(action: argparse.Action, formats: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that a value may be, where they are known."""
    if action.metavar == "FORMAT":
        return formats
    if action.dest == "topic":
        return (*sorted(rule_ids()), *(dimension.value for dimension in Dimension), "grades", "badges", "penalty")
    if action.dest in (settings.SELECT.variable, settings.IGNORE.variable):
        return tuple(sorted(rule_ids()))
    return next((tuple(one.choices) for one in settings.SETTINGS if one.variable == action.dest and one.choices), ())
