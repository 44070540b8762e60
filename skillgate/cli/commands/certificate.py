"""Check whether a certificate is still valid: files, date and scoring version.

Use its attestation to verify who issued it.
"""

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
_VERIFY = "check each skill of a certificate, and show what is still valid and what is not"
_MORE = f"""\
This checks the certificate's format, the files in each skill's directory (all that Git does not ignore), the date and
the scoring version. A skill that was scored but not certified is not valid. Exits with 0 if everything is valid, 1 if
something is not, and 2 if the file is not a certificate or has no such skill.

{_NOTE}."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``verify``."""
    words = parser.add_subparsers(dest="word", required=True, metavar="verify")
    verifying = words.add_parser("verify", help=_VERIFY, description=f"{_VERIFY[0].upper()}{_VERIFY[1:]}.\n\n{_MORE}")
    verifying.add_argument("file", metavar="FILE", help="the certificate")
    verifying.add_argument(
        "path", metavar="PATH", nargs="?", help="one skill's directory (default: all, at the paths in the certificate)"
    )


def run(args: argparse.Namespace, session: Console) -> int:
    """Check, and print.

    Raises:
        UsageError: the file is not a certificate, or has no such skill.
        IncompleteError: Git is missing, or refuses the repository.
    """
    checked = verify(args.file, args.path, session)
    session.out(render(checked, "certificate-check", "json" if session.json else "text", style_of(session)))
    return EXIT_PASSED if checked.holds else EXIT_GATE_FAILED
