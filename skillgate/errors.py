"""The errors that end a run, and their exit codes.

Content defects of a skill are findings, never exceptions. These errors stop a whole command; the error boundary in
:mod:`skillgate.cli.main` turns them into a message on stderr and an exit code.
"""

from __future__ import annotations

EXIT_PASSED = 0
EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_INCOMPLETE = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


class SkillgateError(Exception):
    """A problem that ends the command: what is wrong, where, and what to do next."""

    exit_code = EXIT_INCOMPLETE


class UsageError(SkillgateError):
    """Invalid usage, input or configuration: nothing ran."""

    exit_code = EXIT_USAGE


class IncompleteError(SkillgateError):
    """The evaluation could not be completed (provider, network, version control, a depth that cannot run)."""

    exit_code = EXIT_INCOMPLETE


class CodecError(SkillgateError):
    """A document has the wrong shape; the message names the path, such as ``results[3].skill.name``."""

    exit_code = EXIT_USAGE
