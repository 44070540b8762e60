"""Say whether a certificate still holds: files, date and scoring version. Who made it, its attestation says."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from textwrap import wrap
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError
from skillgate.evaluate.certifying import stamp
from skillgate.evaluate.content import content_of
from skillgate.evaluate.findings import read_whole
from skillgate.model.certificate import Certificate, CertificateCheck, CertifiedSkill, Checked, Content
from skillgate.model.report import Tool
from skillgate.model.text import did_you_mean
from skillgate.report.certificate import ATTESTATION, check, read, render, text

if TYPE_CHECKING:
    import argparse

    from skillgate.session import Session

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


def run(args: argparse.Namespace, session: Session) -> int:
    """Check, and print.

    Raises:
        UsageError: the file is no certificate, or has no such skill.
        IncompleteError: git is missing, or refuses the repository.
    """
    place = os.path.join(session.cwd, args.file)  # noqa: PTH118
    document = read(read_whole(place, args.file, "the certificate"), source=args.file)
    checked = _checked(document, args.path, session)
    holds = bool(checked) and not any(one.fails for one in checked)
    if session.json:
        session.out(render(_found(document, args.file, checked, holds=holds)))
    else:
        session.out("\n".join(text(checked)))
    return EXIT_PASSED if holds else EXIT_GATE_FAILED


def _found(document: Certificate, name: str, checked: tuple[Checked, ...], *, holds: bool) -> CertificateCheck:
    return CertificateCheck(
        tool=Tool(version=__version__),
        certificate=name,
        issued=document.issued,
        expires=document.expires,
        holds=holds,
        skills=checked,
        note=ATTESTATION,
    )


def _checked(document: Certificate, path: str | None, session: Session) -> tuple[Checked, ...]:
    """Check all skills where the certificate shows them, or one that lies at ``path``."""
    today, tomorrow = stamp(), stamp(days=1)
    if path is None:
        asked = [(skill, _shown(skill.path, session)) for skill in document.skills]
    else:
        place = os.path.join(session.cwd, path)  # noqa: PTH118
        asked = [(_named(document, path, session), content_of(place))]
    return tuple(check(document, skill, found, today=today, tomorrow=tomorrow) for skill, found in asked)


def _shown(path: str, session: Session) -> Content:
    """Read what lies where a certificate shows a skill, which a stranger may have written."""
    place = os.path.normpath(os.path.join(session.cwd, path))  # noqa: PTH118
    if "\0" in path or (place != session.cwd and not place.startswith(os.path.join(session.cwd, ""))):  # noqa: PTH118
        return Content(None, reason="its path leads out of the working directory; give it as PATH if it is yours")
    return content_of(place)


def _named(document: Certificate, path: str, session: Session) -> CertifiedSkill:
    """Find the skill that lies at a path: by the path, else by its directory's name where only one bears it.

    Raises:
        UsageError: there is no such directory, or no such skill in the certificate.
    """
    place = os.path.normpath(os.path.join(session.cwd, path))  # noqa: PTH118
    if not os.path.isdir(place):  # noqa: PTH112
        raise UsageError(f"{path} is no directory; name the directory of a skill")
    shown = os.path.relpath(place, session.cwd).replace(os.sep, "/")
    by_path = {skill.path: skill for skill in document.skills}
    if shown in by_path:
        return by_path[shown]
    name = os.path.basename(place)  # noqa: PTH119
    alike = [skill for skill in document.skills if name in (skill.name, PurePosixPath(skill.path).name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise UsageError(f"{len(alike)} skills of the certificate are called {name}; name one by its path")
    raise UsageError(f"the certificate has no skill {shown}{did_you_mean(shown, by_path)}")
