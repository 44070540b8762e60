"""Write certificates and badges, and verify certificates."""
# ruff: noqa: PTH112, PTH114, PTH115, PTH118, PTH119, PTH120, PTH123, PTH208
# Plain strings: names may be any bytes.

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections import Counter
from pathlib import PurePosixPath
from time import gmtime, strftime, time
from typing import TYPE_CHECKING

from skillgate import __version__
from skillgate.config import config_digest
from skillgate.errors import IncompleteError, UsageError
from skillgate.evaluation.request import CertificateRequest, EvaluateRequest, Scope, read_whole
from skillgate.evaluation.run import Evaluation, evaluate, in_shard
from skillgate.files import require_folder, require_place, toplevel, write
from skillgate.format import did_you_mean
from skillgate.model.documents import Certificate, CertificateCheck, CertifiedSkill, Content
from skillgate.model.report import Report, Tool
from skillgate.model.skill import digest
from skillgate.scoring.gate import sampled_layers
from skillgate.skill.find import discover
from skillgate.skill.walk import SKIPPED, VERSION_CONTROL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.console import Console

MOVED = "its files changed while it was scored"
_BLOCK = 1 << 20
_MOST_FILES = 20_000
_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
CATALOGUE = "catalogue"  # the badge of all skills
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 60  # characters of a file's name
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # names that Windows reserves
_SUFFIXES = ("svg", "json")


def certify(
    request: EvaluateRequest, wanted: CertificateRequest, session: Console, *, outputs: Sequence[str] = ()
) -> Evaluation:
    """Evaluate skills, and write certificate and badges; ``outputs`` are other files that are written later.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: the depth cannot run.
    """
    require_certificates(wanted, request.scope, session, outputs=outputs)
    before = {} if request.models.dry_run else contents_of(request.scope, session, wanted)
    evaluation = evaluate(request, session)
    if evaluation.estimate is not None:
        return evaluation
    contents = unmoved(before, contents_of(request.scope, session, wanted))
    report = evaluation.report
    # The digest of its files goes into the result of each skill that may be certified.
    sampled = {result.skill.path for result in report.results if sampled_layers(result)}
    for path in sorted(sampled & contents.keys()):
        if contents[path].reason == MOVED:
            session.note(f"{path}: {MOVED}; it cannot be certified")
    whole = {path: one.digest for path, one in contents.items() if one.reason is None and path in sampled}
    results = tuple(one._replace(content=whole.get(one.skill.path)) for one in report.results)
    report = report._replace(results=results)
    configured = "" if wanted.certificate is None else config_digest(request.config)
    write_certificates(report._replace(config_digest=configured), contents, wanted, session)
    return evaluation._replace(report=report)


def require_certificates(
    wanted: CertificateRequest, scope: Scope, session: Console, *, outputs: Sequence[str] = ()
) -> None:
    """Refuse what cannot be written before anything is paid for; ``outputs`` are other files of the run.

    Raises:
        UsageError: a path must not be written, or options do not go together.
    """
    if wanted.certificate is not None and scope.shard is not None:
        raise UsageError("--certificate needs a whole run, not one shard; pass it to report merge instead")
    require_written(wanted, session)
    if wanted.certificate is not None:
        roots = discover(scope.paths, cwd=session.cwd, excluded=scope.excluded).roots
        require_outside([str(root.path) for root in roots], wanted, session, outputs=outputs)


def require_written(wanted: CertificateRequest, session: Console) -> None:
    """Raise UsageError if certificate or badges must not be written to their paths."""
    if wanted.badges is not None:
        _require_badges(wanted.badges, session)
    if wanted.certificate is not None:
        require_folder(wanted.certificate, session.cwd)
    elif wanted.days is not None:
        raise UsageError("--certificate-days needs --certificate FILE")


def _require_badges(badges: str, session: Console) -> None:
    """Refuse a directory of badges that must not be written, or that has a link with the name of a badge."""
    place = require_place(os.path.join(badges, f"{CATALOGUE}.svg"), session.cwd)
    folder = os.path.dirname(place)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--badges {badges} is not a directory")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith(_SUFFIXES) and os.path.islink(os.path.join(folder, name)):
            raise UsageError(f"--badges {badges}: {name} in it is a symbolic link; remove it")


def require_outside(
    skills: Iterable[str], wanted: CertificateRequest, session: Console, *, outputs: Sequence[str] = ()
) -> None:
    """Raise UsageError, naming the first file, if a run would write into an evaluated skill.

    That would invalidate a certificate. ``skills`` are the shown directories.
    """
    names = [*([] if wanted.certificate is None else [wanted.certificate]), *outputs]
    names += [] if wanted.badges is None else [os.path.join(wanted.badges, "")]
    for path in skills:
        skill = os.path.join(os.path.realpath(os.path.join(session.cwd, path)), "")
        for name in names:
            if os.path.join(os.path.realpath(os.path.join(session.cwd, name)), "").startswith(skill):
                raise UsageError(f"{name} is inside the skill {path}; write it elsewhere")


def write_certificates(
    report: Report, contents: Mapping[str, Content], wanted: CertificateRequest, session: Console
) -> None:
    """Write certificate and badges of a report, if requested.

    ``report``: with the digest of its configuration. ``contents``: the scored files of each skill, by shown path;
    missing ones are taken from the report.

    Raises:
        UsageError: a file cannot be written.
    """
    if wanted.badges is not None:
        _write_badges(report, wanted.badges, session)
    if wanted.certificate is None:
        return
    from skillgate.report.certificate import DAYS, certificate, render

    document = certificate(
        report, contents, issued=stamp(), expires=stamp(days=wanted.days or DAYS), config_digest=report.config_digest
    )
    write(wanted.certificate, render(document).encode(errors="backslashreplace"), cwd=session.cwd)
    certified = sum(skill.certified for skill in document.skills)
    session.note(f"wrote {wanted.certificate}: {certified} of {len(document.skills)} skills certified")


def stamp(*, days: int = 0) -> str:
    """Return the time ``days`` from now in the format of certificates: UTC, to the second."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time() + days * 86_400))


def _write_badges(report: Report, folder: str, session: Console) -> None:
    """Write a badge for each skill and one for all of them to a directory."""
    from skillgate.report.badge_svg import svg
    from skillgate.report.shields import endpoint, of_catalogue, of_skill

    names = file_names([(result.skill.name, result.skill.path) for result in report.results])
    shields = [(names[result.skill.path], of_skill(result, report)) for result in report.results]
    for name, shield in (*shields, (CATALOGUE, of_catalogue(report))):
        for suffix, drawn in zip(_SUFFIXES, (svg(shield), endpoint(shield)), strict=True):
            place = os.path.join(folder, f"{name}.{suffix}")
            write(place, drawn.encode(errors="backslashreplace"), cwd=session.cwd, parents=True)


def file_names(skills: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return a safe file name without suffix for each skill, by path.

    Names are in lower case, since not every system distinguishes case. Skills with the same name, or without a usable
    one, each get a digest of their path, so that no name depends on other skills.

        ``skills``: name and shown path of each; paths are unique.
    """
    plain = {path: _UNSAFE.sub("-", name.lower()).strip("-._")[:_LONGEST].strip("-._") for name, path in skills}
    times = Counter(plain.values())

    def with_digest(path: str, digits: int) -> str:
        name = plain[path]
        mark = digest(path.encode("utf-8", "surrogatepass"))[:digits]
        return f"{'skill' if not name or _is_reserved(name) else name}-{mark}"

    names = {
        path: name if name and times[name] == 1 and not _is_reserved(name) else with_digest(path, 8)
        for path, name in plain.items()
    }
    taken = Counter(names.values())
    return {path: name if taken[name] == 1 else with_digest(path, 32) for path, name in names.items()}


def _is_reserved(name: str) -> bool:
    return name == CATALOGUE or _DEVICES.fullmatch(name) is not None


def contents_of(scope: Scope, session: Console, wanted: CertificateRequest) -> dict[str, Content]:
    """Digest the directory of every reported skill, by shown path.

    Raises:
        IncompleteError: Git is missing or refuses the repository, and a certificate is wanted; else the result is
            empty.
    """
    try:
        roots = discover(scope.paths, cwd=session.cwd, excluded=scope.excluded).roots
        is_reported = in_shard(scope.shard, roots, None)
        return {
            str(root.path): content_of(os.path.join(session.cwd, str(root.path)))
            for root in roots
            if is_reported is None or is_reported(root, None)
        }
    except IncompleteError:
        if wanted.certificate is not None:
            raise
        return {}


def unmoved(before: Mapping[str, Content], after: Mapping[str, Content]) -> dict[str, Content]:
    """Return the scored files; without a digest if they changed in the meantime.

    Empty if nothing is known about them after the run.
    """
    return {
        path: content if after.get(path) == content else content._replace(digest=None, reason=MOVED)
        for path, content in (before.items() if after else ())
    }


def content_of(directory: str) -> Content:
    """Digest the contents of an absolute directory: files by their bytes, links by their targets.

    Files that Git ignores are left out; outside of a repository, directories that tools fill.

    Raises:
        IncompleteError: Git is missing, or refuses the repository.
    """
    real = os.path.realpath(directory)
    if not os.path.isdir(real):
        return Content(None, reason="the directory does not exist")
    entries: dict[str, str] = {}
    try:
        paths = _paths(real)
        if len(paths) > _MOST_FILES:
            return Content(None, reason=f"more than {_MOST_FILES:,} files")
        for path in paths:
            path.encode("utf-8")  # other bytes have no unique form in JSON
            entries[path] = _entry(os.path.join(real, path))
    except UnicodeEncodeError:
        return Content(None, reason="a file name is not UTF-8")
    except OSError as error:
        return Content(None, reason=f"cannot be read: {error.strerror or error}")
    # In a fixed order; its length separates each part from the next.
    whole = hashlib.sha256()
    for pair in sorted(entries.items()):
        for part in pair:
            data = part.encode("utf-8")
            whole.update(len(data).to_bytes(8, "little"))
            whole.update(data)
    return Content(f"sha256:{whole.hexdigest()}", entries, _uncovered(real, entries))


def _paths(real: str) -> list[str]:
    """List a directory's own files, relative to it and with ``/``, sorted."""
    top = toplevel(real)
    if top is None:
        return sorted(_walk(real, "", SKIPPED))
    from skillgate.skill.git import complaint, decoded, git  # starts git

    done = git(real, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if done.returncode:
        raise IncompleteError(f"git cannot list the files of a skill: {complaint(done)}")
    paths: set[str] = set()
    for name in {decoded(part).rstrip("/") for part in done.stdout.split(b"\0") if part}:
        place = os.path.join(real, name)
        if os.path.isdir(place) and not os.path.islink(place):  # a nested repository
            paths.update(_walk(real, name, VERSION_CONTROL))
        elif os.path.lexists(place) and os.path.realpath(os.path.dirname(place)) == os.path.dirname(place):
            paths.add(name)  # a tracked file may be deleted, or a link may have replaced its directory
    return sorted(paths)


def _walk(real: str, below: str, left_out: Collection[str]) -> Iterator[str]:
    """Yield the files below a directory, without following links."""
    pending, count = [below], 0
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(real, folder)) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending += [] if entry.name in left_out else [path]
                else:
                    count += 1
                    if count > _MOST_FILES + 1:
                        return
                    yield path


def _entry(place: str) -> str:
    """Return the target of a link, or the digest of a file."""
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        return f"link:{os.readlink(place)}"
    if not stat.S_ISREG(status.st_mode):
        return "other"
    whole, descriptor = hashlib.sha256(), os.open(place, _FLAGS)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "a file was replaced by something else")
        while data := file.read(_BLOCK):
            whole.update(data)
    return f"sha256:{whole.hexdigest()}"


def _uncovered(real: str, entries: Mapping[str, str]) -> str | None:
    """Return what the digest does not cover: a link out of the directory, or something that is not a file."""
    for path, entry in entries.items():
        if entry == "other":
            return f"{path} is not a file"
        if entry.startswith("link:"):
            target = os.path.realpath(os.path.join(real, path))
            inside = os.path.relpath(target, real).replace(os.sep, "/")
            if inside not in entries and not any(name.startswith(f"{inside}/") for name in entries):
                return f"{path} is a symbolic link to a target that the digest does not cover"
    return None


def verify(file: str, path: str | None, session: Console) -> CertificateCheck:
    """Check a certificate against the skills' files.

    ``path``: the directory of one skill to check; None for all, at the paths in the certificate.

    Raises:
        UsageError: the file is not a certificate, or has no such skill.
        IncompleteError: Git is missing, or refuses the repository.
    """
    from skillgate.report.certificate import ATTESTATION, check, read

    document = read(read_whole(os.path.join(session.cwd, file), file, "the certificate"), source=file)
    if path is None:
        skills = [(skill, _shown(skill.path, session)) for skill in document.skills]
    else:
        skills = [(_named(document, path, session), content_of(os.path.join(session.cwd, path)))]
    today, tomorrow = stamp(), stamp(days=1)
    checked = tuple(check(document, skill, content, today=today, tomorrow=tomorrow) for skill, content in skills)
    return CertificateCheck(
        tool=Tool(version=__version__),
        certificate=file,
        issued=document.issued,
        expires=document.expires,
        holds=bool(checked) and not any(one.fails for one in checked),
        skills=checked,
        note=ATTESTATION,
    )


def _shown(path: str, session: Console) -> Content:
    """Digest the directory at a skill's path in a certificate, which is untrusted."""
    place = os.path.normpath(os.path.join(session.cwd, path))
    if "\0" in path or (place != session.cwd and not place.startswith(os.path.join(session.cwd, ""))):
        return Content(None, reason="its path leads out of the working directory; pass it as PATH if it is yours")
    return content_of(place)


def _named(document: Certificate, path: str, session: Console) -> CertifiedSkill:
    """Find the skill at a path: by the path, else by its directory's name if that is unique."""
    place = os.path.normpath(os.path.join(session.cwd, path))
    if not os.path.isdir(place):
        raise UsageError(f"{path} is not a directory; pass the directory of a skill")
    shown = os.path.relpath(place, session.cwd).replace(os.sep, "/")
    by_path = {skill.path: skill for skill in document.skills}
    if shown in by_path:
        return by_path[shown]
    name = os.path.basename(place)
    alike = [skill for skill in document.skills if name in (skill.name, PurePosixPath(skill.path).name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise UsageError(f"{len(alike)} skills of the certificate are called {name}; pass the path of one")
    raise UsageError(f"the certificate has no skill {shown}{did_you_mean(shown, by_path)}")
