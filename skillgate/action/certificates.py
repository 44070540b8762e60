"""Certificate and badges of a run, and the digests of files that a later certificate can be compared with."""
# ruff: noqa: PTH103, PTH118, PTH120, PTH208

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate.errors import IncompleteError, UsageError
from skillgate.model.score import Depth
from skillgate.scoring.regression import sampled_layers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.action.request import ActionRequest
    from skillgate.action.session import ActionSession
    from skillgate.evaluation.request import CertificateRequest, Scope
    from skillgate.model.certificate import Content
    from skillgate.model.report import Report
    from skillgate.model.skill import SkillRoot


class Certificates(NamedTuple):
    """Certificate and badges that are wanted.

    Attributes:
        wanted: what is to be written.
        scope: the skills that it is about.
        before: what their files were before anything was evaluated, by shown path.
        config_digest: of the configuration that held.
    """

    wanted: CertificateRequest
    scope: Scope
    before: Mapping[str, Content]
    config_digest: str = ""


def prepare(request: ActionRequest, session: ActionSession) -> Certificates:
    """Require that both can be written, and take down what the skills' files are, before anything is evaluated.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    from skillgate.evaluation.certifying import contents_of, require_certificates
    from skillgate.evaluation.request import CertificateRequest, Scope

    for folder in (os.path.dirname(request.certificate), request.badges):
        try:
            os.makedirs(os.path.join(session.cwd, folder), exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {folder}: {error.strerror}") from error
    wanted = CertificateRequest(request.certificate or None, badges=request.badges or None)
    paths = (os.path.normpath(os.path.join(request.working_directory, path)) for path in request.paths or (".",))
    scope = Scope(tuple(paths), shard=request.shard)
    require_certificates(wanted, scope, session)
    return Certificates(wanted, scope, contents_of(scope, session, wanted))


def write_certificates(report: Report, certificates: Certificates, session: ActionSession) -> Iterator[str]:
    """Write both, and return the files, relative to the workspace.

    Raises:
        UsageError: one cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    from skillgate.evaluation import certifying

    wanted, scope, before, digest = certificates
    contents: Mapping[str, Content] = {}
    if wanted.certificate is not None:
        contents = certifying.unmoved(before, certifying.contents_of(scope, session, wanted))
    certifying.write_certificates(report._replace(config_digest=digest), contents, wanted, session)
    if wanted.certificate is not None:
        yield wanted.certificate
    if wanted.badges is not None:
        for name in sorted(os.listdir(os.path.join(session.cwd, wanted.badges))):
            yield os.path.join(wanted.badges, name)


def digests(roots: Sequence[SkillRoot], depth: Depth, cwd: str) -> dict[str, str]:
    """Return the digest of each skill's files, by shown path, where it covers all of them; none where git cannot tell.

    Only skills that are measured by sessions can be certified, and only theirs are digested.
    """
    if depth not in (Depth.DEEP, Depth.CERTIFY):
        return {}
    from skillgate.evaluation.content import content_of  # few runs go as deep

    try:
        found = {str(root.path): content_of(os.path.join(cwd, str(root.path))) for root in roots}
    except IncompleteError:
        return {}
    return {path: one.digest for path, one in found.items() if one.digest is not None and one.reason is None}


def with_digests(report: Report, before: Mapping[str, str], after: Mapping[str, str]) -> Report:
    """Put into each result that a model was asked about what its files were, where they are so still."""
    return report._replace(
        results=tuple(
            result._replace(content=before[path])
            if sampled_layers(result) and path in before and before[path] == after.get(path)
            else result
            for result in report.results
            for path in (result.skill.path,)
        )
    )
