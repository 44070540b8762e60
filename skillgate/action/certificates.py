"""Writes the certificate and the badges that inputs ask for, as the command ``certify`` does."""
# ruff: noqa: PTH103, PTH118, PTH120, PTH208

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from skillgate.cli.commands.certify import add_arguments
from skillgate.errors import UsageError
from skillgate.evaluate.certifying import require_certificates, write_certificates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.action.inputs import Value
    from skillgate.action.listening import Listening
    from skillgate.model.report import Report


def prepare(inputs: Mapping[str, Value], session: Listening) -> argparse.Namespace:
    """Make sure that both can be written, and take down what the skills' files are, before anything is asked.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    given = {name: str(inputs[name] or "") for name in ("certificate", "badges", "shard")}
    for folder in (os.path.dirname(given["certificate"]), given["badges"]):
        try:
            os.makedirs(os.path.join(session.cwd, folder), exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {folder}: {error.strerror}") from error
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = [f"--{name}={value}" for name, value in given.items() if value]
    arguments = parser.parse_args([*options, "--", *_paths(inputs)])
    require_certificates(arguments, session)
    return arguments


def written(report: Report, arguments: argparse.Namespace, session: Listening) -> Iterator[str]:
    """Write them, and give the files, relative to the workspace.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    write_certificates(report, arguments, session)
    if arguments.certificate:
        yield arguments.certificate
    if arguments.badges:
        for name in sorted(os.listdir(os.path.join(session.cwd, arguments.badges))):
            yield os.path.join(arguments.badges, name)


def _paths(inputs: Mapping[str, Value]) -> list[str]:
    listed = inputs["paths"]
    wanted = [path for path in listed if not path.startswith("!")] if isinstance(listed, tuple) else []
    return [os.path.normpath(os.path.join(str(inputs["working-directory"]), path)) for path in wanted or ["."]]
