"""The streams, environment and configuration of a command."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from skillgate.errors import IncompleteError
from skillgate.format import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.config import Config

_WIDTH = 100  # columns without a terminal: files and pipes get the same text everywhere
_NARROWEST = 40


class Console:
    """Streams, environment variables (read nowhere else), working directory and options of one command run."""

    signed_only = False
    anew = "use --refresh to ask everything again"

    def __init__(
        self,
        *,
        stdout: TextIO,
        stderr: TextIO,
        environ: Mapping[str, str],
        cwd: str,
        config_file: str | None = None,
        json: bool = False,
        no_house_rules: bool = False,
        no_color: bool = False,
        verbose: bool = False,
        quiet: bool = False,
    ) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.environ = environ
        self.cwd = cwd
        self.json = json
        self.verbose = verbose
        self.quiet = quiet
        self._no_color = no_color
        self.no_house_rules = no_house_rules
        self.config_file = config_file
        self._config: Config | None = None

    @property
    def config(self) -> Config:
        """The configuration of the working directory, read at first use; notices are shown once. Raises UsageError."""
        if self._config is None:
            from skillgate import config  # commands without configuration do not load it

            self._config = config.load(explicit=self.config_file, cwd=self.cwd, environ=self.environ)
            if self.no_house_rules:
                self._config = self._config.with_options({"rules": None})
            for notice in self._config.notices:
                self.note(notice)
        return self._config

    def reload(self) -> None:
        """Read the configuration again at its next use."""
        self._config = None

    def out(self, text: str) -> None:
        """Write text that went through ``printable`` to stdout, with a newline. Raises IncompleteError."""
        deliver(self.stdout, text if text.endswith("\n") else text + "\n")

    def note(self, text: str) -> None:
        """Write to stderr unless ``-q`` was given; each line goes through ``printable``."""
        if not self.quiet:
            self._to_stderr(text)

    def show_progress(self, text: str) -> None:
        """Write to stderr unchanged and at once; ignore failures.

        A dumb terminal gets no line that overwrites another one.
        """
        if text.startswith("\r") and self.environ.get("TERM") == "dumb":
            return
        with suppress(OSError):
            self.stderr.write(text)
            self.stderr.flush()

    def detail(self, text: str) -> None:
        """Write to stderr when ``-v`` was given; each line goes through ``printable``."""
        if self.verbose:
            self._to_stderr(text)

    @property
    def color(self) -> bool:
        """Whether to color stdout: ``--no-color``, then NO_COLOR, then the forcing variables, then the terminal."""
        if self._no_color or self.environ.get("NO_COLOR"):
            return False
        if any(self.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
            return True
        return self.stdout.isatty() and self.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """The columns of a line: the terminal's, at least 40; 100 without one."""
        return width_of(self.stdout, self.environ)

    @property
    def interactive(self) -> bool:
        """Whether there is a user at a terminal to ask."""
        return bool(sys.stdin and sys.stdin.isatty() and self.stderr.isatty() and not self.environ.get("CI"))

    def confirm(self, question: str) -> bool:
        """Ask the user at the terminal; only ``y`` and ``yes`` mean yes."""
        self.show_progress(f"{printable(question)} [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def _to_stderr(self, text: str) -> None:
        lines = [printable(line) for line in text.rstrip("\n").split("\n")]
        with suppress(OSError):  # a failed message does not change the outcome
            self.stderr.write("\n".join(lines) + "\n")


def width_of(stdout: TextIO, environ: Mapping[str, str]) -> int:
    """Return the columns of a line of a stream: the terminal's, at least 40; 100 without one."""
    if not stdout.isatty():
        return _WIDTH
    columns = environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns[:6]):
        return max(_NARROWEST, int(columns[:6]))
    try:
        return max(_NARROWEST, os.get_terminal_size(stdout.fileno()).columns)
    except OSError:
        return _WIDTH


def deliver(stdout: TextIO, text: str, *, flush: bool = False) -> None:
    """Write to stdout; ``flush`` makes sure that the text arrived.

    Raises BrokenPipeError if the reader is gone (``| head``), and IncompleteError for other errors such as a full disk.
    """
    try:
        stdout.write(text)
        if flush:
            stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise IncompleteError(f"cannot write to standard output: {error.strerror}") from error
