"""How help is laid out: for the width of the terminal, with a short usage."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LONG_NAME = 24  # columns of what stands for the words of a command in its usage
_ENTRY = re.compile(r"  +(\S+  +)?")  # how a line of a list in help begins: what it is about, in a column of its own


class HelpFormatter(argparse.HelpFormatter):
    """Lay help out for a number of columns: paragraphs are filled, indented lines of a list stay lines."""

    def __init__(self, prog: str, width: int) -> None:
        super().__init__(prog, max_help_position=min(32, width // 3), width=width)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None,
    ) -> str:
        """Show of options only those that are required; below, all are listed."""
        if usage is not None:
            return super()._format_usage(usage, actions, groups, prefix)
        self._prog = f"{self._prog} [options]"
        needed = [action for action in actions if action.required or not action.option_strings]
        return super()._format_usage(None, needed, (), None)

    def _metavar_formatter(self, action: argparse.Action, default_metavar: str) -> Callable[[int], tuple[str, ...]]:
        name = default_metavar if _has_listed_choices(action) else action.metavar
        if isinstance(action, argparse._SubParsersAction) and len(str(name)) > _LONG_NAME:
            name = "COMMAND"  # each is listed below it
        return super()._metavar_formatter(action, default_metavar) if name is None else lambda size: (str(name),) * size

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        return f"{text} ({', '.join(map(str, action.choices or ()))})" if _has_listed_choices(action) else text

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap  # only where help is printed

        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        filled = []
        for block in text.split("\n\n"):
            lines = block.split("\n") if "\n  " in block or block.startswith("  ") else [" ".join(block.split())]
            for line in lines:
                entry = _ENTRY.match(line)
                hang = " " * (entry.end() if entry else 0)
                parts = textwrap.wrap(line, width, subsequent_indent=hang, break_on_hyphens=False)
                filled += [indent + part for part in parts]
            filled.append("")
        return "\n".join(filled).rstrip("\n") + "\n"


def _has_listed_choices(action: argparse.Action) -> bool:
    """Return whether an option's choices follow its help; as a name of its value they would be too long."""
    return bool(action.choices and action.option_strings and action.metavar is None)
