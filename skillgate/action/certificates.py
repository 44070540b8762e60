"""Writes the certificate and the badges that inputs ask for, as the command ``certify`` does."""
# ruff: noqa: PTH103, PTH118, PTH120, PTH208

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import UsageError
from skillgate.evaluate.certifying import contents_of, require_certificates, unmoved, write_certificates
from skillgate.evaluate.request import CertificateRequest, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.action.inputs import Value
    from skillgate.model.certificate import Content
    from skillgate.model.report import Report
    from skillgate.session import Session


class Certifying(NamedTuple):
    """What is to be written of which skills, and what their files were before anything was asked."""

    wanted: CertificateRequest
    scope: Scope
    before: Mapping[str, Content]


def prepare(inputs: Mapping[str, Value], session: Session) -> Certifying:
    """Make sure that both can be written, and take down what the skills' files are, before anything is asked.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    certificate, badges = (str(inputs[name] or "") for name in ("certificate", "badges"))
    for folder in (os.path.dirname(certificate), badges):
        try:
            os.makedirs(os.path.join(session.cwd, folder), exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {folder}: {error.strerror}") from error
    wanted = CertificateRequest(certificate or None, badges=badges or None)
    scope = Scope(_paths(inputs), shard=shard_of(inputs))
    require_certificates(wanted, scope, session)
    return Certifying(wanted, scope, contents_of(scope, session, wanted))


def written(report: Report, certifying: Certifying, session: Session) -> Iterator[str]:
    """Write them, and give the files, relative to the workspace.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    wanted, scope, before = certifying
    contents = {} if wanted.certificate is None else unmoved(before, contents_of(scope, session, wanted))
    write_certificates(report, contents, wanted, session)
    if wanted.certificate is not None:
        yield wanted.certificate
    if wanted.badges is not None:
        for name in sorted(os.listdir(os.path.join(session.cwd, wanted.badges))):
            yield os.path.join(wanted.badges, name)


def shard_of(inputs: Mapping[str, Value]) -> tuple[int, int] | None:
    """Return the shard that is asked about, None for all skills."""
    given = inputs.get("shard")
    if not isinstance(given, str):
        return None
    part, _, of = given.partition("/")
    return int(part), int(of)


def _paths(inputs: Mapping[str, Value]) -> tuple[str, ...]:
    listed = inputs["paths"]
    wanted = [path for path in listed if not path.startswith("!")] if isinstance(listed, tuple) else []
    return tuple(os.path.normpath(os.path.join(str(inputs["working-directory"]), path)) for path in wanted or ["."])
