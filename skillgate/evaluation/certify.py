"""Write certificates and badges, and verify certificates."""
# ruff: noqa: PTH112, PTH114, PTH115, PTH118, PTH119, PTH120, PTH123, PTH208
# Plain strings: names are bytes that may be anything.

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
_CATALOGUE = "catalogue"  # the name of the badge of all skills together
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 60  # characters of a file's name
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # names that Windows keeps for itself
_SUFFIXES = ("svg", "json")


def certify(
    request: EvaluateRequest, wanted: CertificateRequest, session: Console, *, outputs: Sequence[str] = ()
) -> Evaluation:
    """Evaluate skills, and write certificate and badges; ``outputs`` are other files that are written after it.

    Raises:
        UsageError: an option or a path is not valid.
        IncompleteError: what was asked for cannot run.
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
            session.note(f"{path}: {MOVED}; no certificate can be made of it")
    whole = {path: one.digest for path, one in contents.items() if one.reason is None and path in sampled}
    results = tuple(one._replace(content=whole.get(one.skill.path)) for one in report.results)
    report = report._replace(results=results)
    configured = "" if wanted.certificate is None else config_digest(request.config)
    write_certificates(report._replace(config_digest=configured), contents, wanted, session)
    return evaluation._replace(report=report)


def require_certificates(
    wanted: CertificateRequest, scope: Scope, session: Console, *, outputs: Sequence[str] = ()
) -> None:
    """Refuse what cannot be written, before anything is paid for; ``outputs`` are other files that the run writes.

    Raises:
        UsageError: a place that must not be written, or options that do not fit.
    """
    if wanted.certificate is not None and scope.shard is not None:
        raise UsageError("--certificate is about a whole run, not about one shard: give it to report merge")
    require_written(wanted, session)
    if wanted.certificate is not None:
        roots = discover(scope.paths, cwd=session.cwd).roots
        require_outside([str(root.path) for root in roots], wanted, session, outputs=outputs)


def require_written(wanted: CertificateRequest, session: Console) -> None:
    """Raise UsageError if a certificate or badges must not be written where they shall be."""
    if wanted.badges is not None:
        _require_badges(wanted.badges, session)
    if wanted.certificate is not None:
        require_folder(wanted.certificate, session.cwd)
    elif wanted.days is not None:
        raise UsageError("--certificate-days is about a certificate: give --certificate FILE, too")


def _require_badges(badges: str, session: Console) -> None:
    """Refuse a directory of badges that must not be written, or in which a link stands in a badge's place."""
    place = require_place(os.path.join(badges, f"{_CATALOGUE}.svg"), session.cwd)
    folder = os.path.dirname(place)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--badges {badges} is no directory")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith(_SUFFIXES) and os.path.islink(os.path.join(folder, name)):
            raise UsageError(f"--badges {badges}: {name} in it is a symbolic link; remove it")


def require_outside(
    skills: Iterable[str], wanted: CertificateRequest, session: Console, *, outputs: Sequence[str] = ()
) -> None:
    """Raise UsageError, naming the first file, if a run would write into a skill that is certified.

    Its files would not be those of the certificate any more. ``skills`` are their directories, as shown.
    """
    names = [*([] if wanted.certificate is None else [wanted.certificate]), *outputs]
    names += [] if wanted.badges is None else [os.path.join(wanted.badges, "")]
    for path in skills:
        skill = os.path.join(os.path.realpath(os.path.join(session.cwd, path)), "")
        for name in names:
            if os.path.join(os.path.realpath(os.path.join(session.cwd, name)), "").startswith(skill):
                raise UsageError(f"{name} lies in the skill {path}, whose files are certified: write it elsewhere")


def write_certificates(
    report: Report, contents: Mapping[str, Content], wanted: CertificateRequest, session: Console
) -> None:
    """Write certificate and badges of a report, where they are asked for.

    ``report``: with the digest of its configuration. ``contents``: what was scored file by file, by shown path;
    what is missing is as the report has it.

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
    """Return the time so many days from now as certificates write it: UTC, to the second."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time() + days * 86_400))


def _write_badges(report: Report, folder: str, session: Console) -> None:
    """Write the badge of each skill and that of all together into a directory."""
    from skillgate.report.badge_svg import svg
    from skillgate.report.shields import endpoint, of_catalogue, of_skill

    names = file_names([(result.skill.name, result.skill.path) for result in report.results])
    shields = [(names[result.skill.path], of_skill(result, report)) for result in report.results]
    for name, shield in (*shields, (_CATALOGUE, of_catalogue(report))):
        for suffix, drawn in zip(_SUFFIXES, (svg(shield), endpoint(shield)), strict=True):
            place = os.path.join(folder, f"{name}.{suffix}")
            write(place, drawn.encode(errors="backslashreplace"), cwd=session.cwd, parents=True)


def file_names(skills: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return a name without suffix for each skill's file, by its path: none holds anything a system would obey.

    Names are in lower case, as not every system tells the cases apart. Of skills whose names would be one, each gets
    a digest of its path, so that its name does not depend on other skills; so does what was left with none.

    ``skills``: name and shown path of each; no path stands twice.
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
    return name == _CATALOGUE or _DEVICES.fullmatch(name) is not None


def contents_of(scope: Scope, session: Console, wanted: CertificateRequest) -> dict[str, Content]:
    """Digest the directory of every skill that is reported, by shown path.

    Raises:
        IncompleteError: git is missing, or refuses the repository, and a certificate is wanted; else there are none.
    """
    try:
        roots = discover(scope.paths, cwd=session.cwd).roots
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
    """Return what the files were; where they changed while they were scored, it is not known which were.

    Where nothing is known of them after the run, nothing is known at all.
    """
    return {
        path: content if after.get(path) == content else content._replace(digest=None, reason=MOVED)
        for path, content in (before.items() if after else ())
    }


def content_of(directory: str) -> Content:
    """Digest what an absolute directory holds: files by their bytes, links by where they say they lead.

    What git ignores is left out where the directory lies in a repository; elsewhere what tools fill.

    Raises:
        IncompleteError: git is missing, or refuses the repository.
    """
    real = os.path.realpath(directory)
    if not os.path.isdir(real):
        return Content(None, reason="there is no such directory")
    entries: dict[str, str] = {}
    try:
        paths = _paths(real)
        if len(paths) > _MOST_FILES:
            return Content(None, reason=f"it holds more than {_MOST_FILES:,} files")
        for path in paths:
            path.encode("utf-8")  # a name of other bytes has no form in JSON that no other name shares
            entries[path] = _entry(os.path.join(real, path))
    except UnicodeEncodeError:
        return Content(None, reason="a name in it is not UTF-8")
    except OSError as error:
        return Content(None, reason=f"it cannot be read: {error.strerror or error}")
    # Whatever their order; each part is told from its neighbours by its length.
    whole = hashlib.sha256()
    for pair in sorted(entries.items()):
        for part in pair:
            data = part.encode("utf-8")
            whole.update(len(data).to_bytes(8, "little"))
            whole.update(data)
    return Content(f"sha256:{whole.hexdigest()}", entries, _uncovered(real, entries))


def _paths(real: str) -> list[str]:
    """List the files below a directory that are its own, relative to it and with ``/``, sorted."""
    top = toplevel(real)
    if top is None:
        return sorted(_walk(real, "", SKIPPED))
    from skillgate.skill.git import complaint, decoded, git  # starts git

    done = git(real, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if done.returncode:
        raise IncompleteError(f"git cannot tell which files a skill has: {complaint(done)}")
    paths: set[str] = set()
    for name in {decoded(part).rstrip("/") for part in done.stdout.split(b"\0") if part}:
        place = os.path.join(real, name)
        if os.path.isdir(place) and not os.path.islink(place):  # a repository of its own inside
            paths.update(_walk(real, name, VERSION_CONTROL))
        elif os.path.lexists(place) and os.path.realpath(os.path.dirname(place)) == os.path.dirname(place):
            paths.add(name)  # what is tracked may be deleted, or a link may be where its directory was
    return sorted(paths)


def _walk(real: str, below: str, left_out: Collection[str]) -> Iterator[str]:
    """Yield what lies below a directory, no link followed."""
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
            raise OSError(errno.EINVAL, "a file became something else")
        while data := file.read(_BLOCK):
            whole.update(data)
    return f"sha256:{whole.hexdigest()}"


def _uncovered(real: str, entries: Mapping[str, str]) -> str | None:
    """Say what in a directory the digest does not cover: where a link leads out of it, and what is no file."""
    for path, entry in entries.items():
        if entry == "other":
            return f"{path} is no file"
        if entry.startswith("link:"):
            target = os.path.realpath(os.path.join(real, path))
            inside = os.path.relpath(target, real).replace(os.sep, "/")
            if inside not in entries and not any(name.startswith(f"{inside}/") for name in entries):
                return f"{path} is a symbolic link to what the digest of the directory does not cover"
    return None


def verify(file: str, path: str | None, session: Console) -> CertificateCheck:
    """Check a certificate against the files that it is about.

    ``path``: the directory of the one skill to check; None for all, where the certificate shows them.

    Raises:
        UsageError: the file is no certificate, or has no such skill.
        IncompleteError: git is missing, or refuses the repository.
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
    """Read what lies where a certificate shows a skill, which a stranger may have written."""
    place = os.path.normpath(os.path.join(session.cwd, path))
    if "\0" in path or (place != session.cwd and not place.startswith(os.path.join(session.cwd, ""))):
        return Content(None, reason="its path leads out of the working directory; give it as PATH if it is yours")
    return content_of(place)


def _named(document: Certificate, path: str, session: Console) -> CertifiedSkill:
    """Find the skill that lies at a path: by the path, else by its directory's name where only one bears it."""
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
