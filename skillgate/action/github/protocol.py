"""What the runner reads from this process: output files, and commands in the log.

Sources: the runner's ``FileCommandManager`` (files), ``ActionCommand`` and ``ActionCommandManager`` (commands),
``ProcessInvoker`` (lines: .NET ends one at a line feed, a carriage return or both, and at nothing else). It reads what
stands in stderr before what stands in stdout, whichever was written first, and both can hold commands: commands and
the texts around them go to one of the two.

There is no ``add-mask`` here. What the runner knows as a secret it masks already; to name another value to it this
process would have to write that value to its log, which any other runner shows. Values of secrets are taken out of
every text before it is written: see :mod:`skillgate.action.github.redaction`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.model.text import uncommanded
from skillgate.report.formats.github import Annotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")  # what GitHub lets an output or a command be called
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # a variable cannot hold the first, UTF-8 none of the others
_TRIES = 8  # a random token that is in the text already is no accident; eight of them are a broken source


def outputs_text(values: Mapping[str, str], delimiter: Callable[[], str]) -> str:
    """Write outputs for the file that ``GITHUB_OUTPUT`` names, to be appended to it.

    Every value is read back as it is, line ends included, but for NUL and lone surrogates, which become U+FFFD.

    Args:
        values: text by name of output.
        delimiter: gives another random text of 16 to 256 letters, digits, ``_`` and ``-`` at each call.

    Raises:
        ValueError: a name that no output can have, or a source that does not give anything usable.
    """
    for name in values:
        if not _NAME.fullmatch(name):
            raise ValueError(f"no output can be called {name!r}")
    texts = {name: _NO_TEXT.sub("\ufffd", value) for name, value in values.items()}
    end = _unused(delimiter, (*texts, *texts.values()))
    return "".join(f"{name}<<{end}\n{value}\n{end}\n" for name, value in texts.items())


def command(name: str, properties: Iterable[tuple[str, str]] = (), text: str = "") -> str:
    """Write a workflow command on one line, without a line end, whatever its values hold.

    Raises:
        ValueError: a name or a property's name that the runner would not read as one.
    """
    pairs = tuple(properties)
    for word in (name, *(key for key, _ in pairs)):
        if not _NAME.fullmatch(word):
            raise ValueError(f"no command or property can be called {word!r}")
    return _NO_TEXT.sub("\ufffd", str(Annotation(name, pairs, text)))


def quiet(text: str, token: Callable[[], str]) -> str:
    """Wrap a text for the log so that nothing in it is obeyed.

    The runner is told to obey nothing until it reads the token, which nobody else knows; and what looks like a command
    is broken up, for runners that do not know ``stop-commands``, and for lines that it reads at another time.

    Args:
        text: any text; every line end becomes a line feed.
        token: gives another random text of 16 to 256 letters, digits, ``_`` and ``-`` at each call.

    Returns:
        Whole lines, with a line feed at the end; ``""`` for no text.

    Raises:
        ValueError: a source that does not give anything usable.
    """
    if not text:
        return ""
    lines = _LINE_END.split(_NO_TEXT.sub("\ufffd", text))
    shown = [uncommanded(line) for line in (lines if lines[-1] else lines[:-1])]
    end = _unused(token, (text,))
    return "\n".join((command("stop-commands", text=end), *shown, f"::{end}::", ""))


def _unused(source: Callable[[], str], texts: Iterable[str]) -> str:
    """Take a token that stands in none of the texts; the runner compares commands without regard to case."""
    folded = [text.lower() for text in texts]
    for _ in range(_TRIES):
        token = source()
        if not _TOKEN.fullmatch(token):
            raise ValueError(f"a delimiter has 16 to 256 letters, digits, _ and -; found {token[:80]!r}")
        if not any(token.lower() in text for text in folded):
            return token
    raise ValueError("the source of delimiters gives what the texts hold already")
