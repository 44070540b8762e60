"""Write certificates and badges, and verify certificates."""
# ruff: noqa: PTH112, PTH114, PTH118, PTH119, PTH120, PTH208

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import require_folder, require_place, write
from skillgate.model.certificate import Content
from skillgate.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.evaluation.request import CertificateRequest, EvaluateRequest, Scope
    from skillgate.evaluation.run import Evaluation
    from skillgate.model.certificate import Certificate, CertificateCheck, CertifiedSkill
    from skillgate.model.report import Report
    from skillgate.session import Session

MOVED = "its files changed while it was scored"
_CATALOGUE = "catalogue"  # the name of the badge of all skills together
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 60  # characters of a file's name
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # names that Windows keeps for itself
_SUFFIXES = ("svg", "json")


def certify(
    request: EvaluateRequest, wanted: CertificateRequest, session: Session, *, outputs: Sequence[str] = ()
) -> Evaluation:
    """Evaluate skills, and write certificate and badges; ``outputs`` are other files that are written after it.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: what was asked for cannot run.
    """
    from skillgate.config import config_digest
    from skillgate.evaluation.run import evaluate

    require_certificates(wanted, request.scope, session, outputs=outputs)
    before = {} if request.models.dry_run else contents_of(request.scope, session, wanted)
    evaluation = evaluate(request, session)
    if evaluation.estimate is not None:
        return evaluation
    contents = unmoved(before, contents_of(request.scope, session, wanted))
    report = _with_contents(evaluation.report, contents, session)
    digest = "" if wanted.certificate is None else config_digest(request.config)
    write_certificates(report._replace(config_digest=digest), contents, wanted, session)
    return evaluation._replace(report=report)


def require_certificates(
    wanted: CertificateRequest, scope: Scope, session: Session, *, outputs: Sequence[str] = ()
) -> None:
    """Refuse what cannot be written, before anything is paid for.

    Args:
        wanted: what is to be written.
        scope: the skills that are scored.
        session: the run.
        outputs: other files that the run writes.

    Raises:
        UsageError: a place that must not be written, or options that do not fit.
    """
    if wanted.certificate is not None and scope.shard is not None:
        raise UsageError("--certificate is about a whole run, not about one shard: give it to report merge")
    require_written(wanted, session)
    if wanted.certificate is not None:
        from skillgate.skill.discover import discover

        roots = discover(scope.paths, cwd=session.cwd).roots
        require_outside([str(root.path) for root in roots], wanted, session, outputs=outputs)


def require_written(wanted: CertificateRequest, session: Session) -> None:
    """Refuse a certificate or badges that must not be written where they shall be.

    Raises:
        UsageError: naming the place.
    """
    if wanted.badges is not None:
        _require_badges(wanted.badges, session)
    if wanted.certificate is not None:
        require_folder(wanted.certificate, session.cwd)
    elif wanted.days is not None:
        raise UsageError("--certificate-days is about a certificate: give --certificate FILE, too")


def require_outside(
    skills: Iterable[str], wanted: CertificateRequest, session: Session, *, outputs: Sequence[str] = ()
) -> None:
    """Refuse to write into a skill that is certified: its files would not be those of the certificate any more.

    Args:
        skills: their directories, as shown.
        wanted: what is to be written.
        session: the run.
        outputs: other files that the run writes.

    Raises:
        UsageError: naming the first file.
    """
    names = [*([] if wanted.certificate is None else [wanted.certificate]), *outputs]
    names += [] if wanted.badges is None else [os.path.join(wanted.badges, "")]
    for path in skills:
        skill = os.path.join(os.path.realpath(os.path.join(session.cwd, path)), "")
        for name in names:
            if os.path.join(os.path.realpath(os.path.join(session.cwd, name)), "").startswith(skill):
                raise UsageError(f"{name} lies in the skill {path}, whose files are certified: write it elsewhere")


def _require_badges(badges: str, session: Session) -> None:
    """Refuse a directory of badges that must not be written, or in which a link stands in a badge's place.

    Raises:
        UsageError: naming it.
    """
    place = require_place(os.path.join(badges, f"{_CATALOGUE}.svg"), session.cwd)
    folder = os.path.dirname(place)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--badges {badges} is no directory")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in sorted(names):
        if name.endswith(_SUFFIXES) and os.path.islink(os.path.join(folder, name)):
            raise UsageError(f"--badges {badges}: {name} in it is a symbolic link; remove it")


def _with_contents(report: Report, contents: Mapping[str, Content], session: Session) -> Report:
    """Put the digest of its files into the result of each skill that may be certified.

    ``contents`` are what :func:`unmoved` makes of those before and after the run.
    """
    from skillgate.scoring.regression import sampled_layers

    asked = {result.skill.path for result in report.results if sampled_layers(result)}
    for path in sorted(asked & contents.keys()):
        if contents[path].reason == MOVED:
            session.note(f"{path}: {MOVED}; no certificate can be made of it")
    whole = {path: found.digest for path, found in contents.items() if found.reason is None and path in asked}
    return report._replace(results=tuple(one._replace(content=whole.get(one.skill.path)) for one in report.results))


def write_certificates(
    report: Report, contents: Mapping[str, Content], wanted: CertificateRequest, session: Session
) -> None:
    """Write certificate and badges of a report, where they are asked for.

    Args:
        report: with the digest of its configuration.
        contents: what was scored file by file, by shown path; what is missing is as the report has it.
        wanted: what to write.
        session: the run.

    Raises:
        UsageError: a file cannot be written.
    """
    if wanted.badges is not None:
        _write_badges(report, wanted.badges, session)
    if wanted.certificate is None:
        return
    from skillgate.report.certificate import DAYS, certificate, render

    document = certificate(
        report,
        contents,
        issued=stamp(),
        expires=stamp(days=wanted.days or DAYS),
        config_digest=report.config_digest,
    )
    write(wanted.certificate, render(document).encode(errors="backslashreplace"), cwd=session.cwd)
    certified = sum(skill.certified for skill in document.skills)
    session.note(f"wrote {wanted.certificate}: {certified} of {len(document.skills)} skills certified")


def stamp(*, days: int = 0) -> str:
    """Give the time so many days from now as certificates write it: UTC, to the second."""
    from time import gmtime, strftime, time

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time() + days * 86_400))


def _write_badges(report: Report, folder: str, session: Session) -> None:
    """Write the badge of each skill and that of all together into a directory.

    Raises:
        UsageError: a file cannot be written.
    """
    from skillgate.report.badge_svg import svg
    from skillgate.report.shields import endpoint, of_catalogue, of_skill

    names = file_names([(result.skill.name, result.skill.path) for result in report.results])
    shields = [(names[result.skill.path], of_skill(result, report)) for result in report.results]
    for name, shield in (*shields, (_CATALOGUE, of_catalogue(report))):
        for suffix, drawn in zip(_SUFFIXES, (svg(shield), endpoint(shield)), strict=True):
            place = os.path.join(folder, f"{name}.{suffix}")
            write(place, drawn.encode(errors="backslashreplace"), cwd=session.cwd, parents=True)


def file_names(skills: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Give each skill's file a name without suffix, by its path: no name holds anything a system would obey.

    Names are in lower case, as not every system tells the cases apart. Of skills whose names would be one, each gets
    a digest of its path, so that it keeps its name whatever other skills there are; so does what was left with none.

    Args:
        skills: name and shown path of each; no path stands twice.
    """
    plain = {path: _plain(name) for name, path in skills}
    times = Counter(plain.values())
    found = {
        path: name if name and times[name] == 1 and not _is_kept(name) else _told(name, path, 8)
        for path, name in plain.items()
    }
    taken = Counter(found.values())
    return {path: name if taken[name] == 1 else _told(plain[path], path, 32) for path, name in found.items()}


def _plain(name: str) -> str:
    return _UNSAFE.sub("-", name.lower()).strip("-._")[:_LONGEST].strip("-._")


def _is_kept(name: str) -> bool:
    return name == _CATALOGUE or _DEVICES.fullmatch(name) is not None


def _told(name: str, path: str, digits: int) -> str:
    from skillgate.model.digest import digest

    return f"{'skill' if not name or _is_kept(name) else name}-{digest(path.encode('utf-8', 'surrogatepass'))[:digits]}"


def contents_of(scope: Scope, session: Session, wanted: CertificateRequest) -> dict[str, Content]:
    """Digest the directory of every skill that is reported, by shown path.

    Raises:
        IncompleteError: git is missing, or refuses the repository, and a certificate is wanted; else there are none.
    """
    try:
        return dict(_digested(scope, session))
    except IncompleteError:
        if wanted.certificate is not None:
            raise
        return {}


def _digested(scope: Scope, session: Session) -> Iterator[tuple[str, Content]]:
    from skillgate.evaluation.content import content_of
    from skillgate.evaluation.run import in_shard
    from skillgate.skill.discover import discover

    roots = discover(scope.paths, cwd=session.cwd).roots
    asked = in_shard(scope.shard, roots, None)
    for root in roots:
        if asked is None or asked(root, None):
            yield str(root.path), content_of(os.path.join(session.cwd, str(root.path)))


def unmoved(before: Mapping[str, Content], after: Mapping[str, Content]) -> dict[str, Content]:
    """Return what the files were; where they changed while they were scored, nobody knows which were.

    Where nothing is known of them after the run, nothing is known at all.
    """
    return {
        path: content if after.get(path) == content else content._replace(digest=None, reason=MOVED)
        for path, content in (before.items() if after else ())
    }


def verify(file: str, path: str | None, session: Session) -> CertificateCheck:
    """Check a certificate against the files that it is about.

    Args:
        file: the certificate.
        path: the directory of the one skill to check; None for all, where the certificate shows them.
        session: the run.

    Raises:
        UsageError: the file is no certificate, or has no such skill.
        IncompleteError: git is missing, or refuses the repository.
    """
    from skillgate.evaluation.content import content_of
    from skillgate.evaluation.findings import read_whole
    from skillgate.model.certificate import CertificateCheck
    from skillgate.model.report import Tool
    from skillgate.report.certificate import ATTESTATION, check, read

    document = read(read_whole(os.path.join(session.cwd, file), file, "the certificate"), source=file)
    if path is None:
        skills = [(skill, _shown(skill.path, session)) for skill in document.skills]
    else:
        skills = [(_named(document, path, session), content_of(os.path.join(session.cwd, path)))]
    today, tomorrow = stamp(), stamp(days=1)
    checked = tuple(check(document, skill, found, today=today, tomorrow=tomorrow) for skill, found in skills)
    return CertificateCheck(
        tool=Tool(version=__version__),
        certificate=file,
        issued=document.issued,
        expires=document.expires,
        holds=bool(checked) and not any(one.fails for one in checked),
        skills=checked,
        note=ATTESTATION,
    )


def _shown(path: str, session: Session) -> Content:
    """Read what lies where a certificate shows a skill, which a stranger may have written."""
    place = os.path.normpath(os.path.join(session.cwd, path))
    if "\0" in path or (place != session.cwd and not place.startswith(os.path.join(session.cwd, ""))):
        return Content(None, reason="its path leads out of the working directory; give it as PATH if it is yours")
    from skillgate.evaluation.content import content_of

    return content_of(place)


def _named(document: Certificate, path: str, session: Session) -> CertifiedSkill:
    """Find the skill that lies at a path: by the path, else by its directory's name where only one bears it.

    Raises:
        UsageError: there is no such directory, or no such skill in the certificate.
    """
    place = os.path.normpath(os.path.join(session.cwd, path))
    if not os.path.isdir(place):
        raise UsageError(f"{path} is no directory; name the directory of a skill")
    shown = os.path.relpath(place, session.cwd).replace(os.sep, "/")
    by_path = {skill.path: skill for skill in document.skills}
    if shown in by_path:
        return by_path[shown]
    name = os.path.basename(place)
    alike = [skill for skill in document.skills if name in (skill.name, PurePosixPath(skill.path).name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise UsageError(f"{len(alike)} skills of the certificate are called {name}; name one by its path")
    raise UsageError(f"the certificate has no skill {shown}{did_you_mean(shown, by_path)}")
