"""Say whether a certificate still holds: files, date and scoring version. Who made it, its attestation says."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from skillgate.cli.options import style_of
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED
from skillgate.evaluation.certify import verify
from skillgate.report.certificate import ATTESTATION
from skillgate.report.rendering import render

if TYPE_CHECKING:
    import argparse

    from skillgate.console import Console

GROUP = "reference"
_NOTE = "\n".join(wrap(f"Note: {ATTESTATION}", 118))
_VERIFY = "say of each skill of a certificate what still holds, and what does not"
_MORE = f"""\
Checked are the certificate's form, the files of each skill's directory (all that git does not ignore), the date and the
scoring version. A skill that was scored and not certified does not hold. The exit code is 0 where all holds, 1 where
something does not, 2 where the file is no certificate or has no such skill.

{_NOTE}."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``verify``."""
    words = parser.add_subparsers(dest="word", required=True, metavar="verify")
    verifying = words.add_parser("verify", help=_VERIFY, description=f"{_VERIFY[0].upper()}{_VERIFY[1:]}.\n\n{_MORE}")
    verifying.add_argument("file", metavar="FILE", help="the certificate")
    verifying.add_argument(
        "path", metavar="PATH", nargs="?", help="one skill's directory (default: all, where the certificate shows them)"
    )


def run(args: argparse.Namespace, session: Console) -> int:
    """Check, and print.

    Raises:
        UsageError: the file is no certificate, or has no such skill.
        IncompleteError: git is missing, or refuses the repository.
    """
    checked = verify(args.file, args.path, session)
    session.out(render(checked, "certificate-check", "json" if session.json else "text", style_of(session)))
    return EXIT_PASSED if checked.holds else EXIT_GATE_FAILED
