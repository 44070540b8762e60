"""Certificates, badges and shards: what `certify` takes beside what `score` takes, and what it writes."""
# ruff: noqa: PTH112, PTH114, PTH118, PTH120, PTH208

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from skillgate.cli.shard_word import shard_of_word
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import require_place, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.certificate import Content
    from skillgate.model.report import Report
    from skillgate.session import Session

_DAYS = 90  # as in report/certificate.py, which is loaded only where one is written
_MOST_DAYS = 3650
MOVED = "its files changed while it was scored"
_CATALOGUE = "catalogue"  # the name of the badge of all skills together
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 60  # characters of a file's name
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # names that Windows keeps for itself
_SUFFIXES = ("svg", "json")


def add_certificates(parser: argparse.ArgumentParser) -> None:
    """Declare ``--shard``, ``--certificate``, ``--certificate-days`` and ``--badges``."""
    group = parser.add_argument_group("certificate, badges and shards")
    group.add_argument(
        "--shard",
        metavar="I/N",
        type=shard_of_word,
        help="ask about the I-th of N parts of the skills; report merge joins the reports",
    )
    add_written(group)


def add_written(parser: argparse._ActionsContainer) -> None:
    """Declare ``--certificate``, ``--certificate-days`` and ``--badges``."""
    parser.add_argument("--certificate", metavar="FILE", help="write a certificate, which certificate verify checks")
    parser.add_argument(
        "--certificate-days",
        metavar="N",
        type=_days,
        help=f"how many days it holds (default: {_DAYS})",
    )
    parser.add_argument(
        "--badges", metavar="DIR", help="write each skill's badge as NAME.svg, and NAME.json for shields.io"
    )


def require_certificates(args: argparse.Namespace, session: Session) -> None:
    """Refuse what cannot be written before anything is paid for, and take down what the skills' files are now.

    Raises:
        UsageError: a place that must not be written, or options that do not fit.
        IncompleteError: git is missing, or refuses the repository, and a certificate is asked for.
    """
    if args.certificate is not None and args.shard is not None:
        raise UsageError("--certificate is about a whole run, not about one shard: give it to report merge")
    require_written(args, session)
    if args.certificate is not None:
        from skillgate.skill.discover import discover

        roots = discover(args.paths, cwd=session.cwd).roots
        require_outside(args, [str(root.path) for root in roots], session)
    args.contents_before = {} if args.dry_run else _contents(args, session)


def require_written(args: argparse.Namespace, session: Session) -> None:
    """Refuse a certificate or badges that must not be written where they shall be.

    Raises:
        UsageError: naming the place.
    """
    require_badges(args, session)
    if args.certificate is None:
        if args.certificate_days is not None:
            raise UsageError("--certificate-days is about a certificate: give --certificate FILE, too")
        return
    folder = os.path.dirname(require_place(args.certificate, session.cwd))
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write {args.certificate}: there is no directory {os.path.dirname(args.certificate)}")


def require_outside(args: argparse.Namespace, skills: Iterable[str], session: Session) -> None:
    """Refuse to write into a skill that is certified: its files would not be those of the certificate any more.

    Args:
        args: with certificate, badges and output files.
        skills: their directories, as shown.
        session: the run.

    Raises:
        UsageError: naming the first file.
    """
    names = [args.certificate, *(path for _, path in args.output_file)]
    names += [] if args.badges is None else [os.path.join(args.badges, "")]
    for path in skills:
        skill = os.path.join(os.path.realpath(os.path.join(session.cwd, path)), "")
        for name in names:
            if os.path.join(os.path.realpath(os.path.join(session.cwd, name)), "").startswith(skill):
                raise UsageError(f"{name} lies in the skill {path}, whose files are certified: write it elsewhere")


def require_badges(args: argparse.Namespace, session: Session) -> None:
    """Refuse a directory of badges that must not be written, or in which a link stands in a badge's place.

    Raises:
        UsageError: naming it.
    """
    if args.badges is None:
        return
    place = require_place(os.path.join(args.badges, f"{_CATALOGUE}.svg"), session.cwd)
    folder = os.path.dirname(place)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--badges {args.badges} is no directory")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in sorted(names):
        if name.endswith(_SUFFIXES) and os.path.islink(os.path.join(folder, name)):
            raise UsageError(f"--badges {args.badges}: {name} in it is a symbolic link; remove it")


def with_contents(report: Report, args: argparse.Namespace, session: Session) -> Report:
    """Put the digest of its files into each skill's result of which there may be a certificate.

    Raises:
        IncompleteError: git is missing, or refuses the repository, and a certificate is asked for.
    """
    from skillgate.scoring.regression import sampled_layers

    after = _contents(args, session)
    args.contents = _unmoved(args.contents_before, after) if after else {}
    asked = {result.skill.path for result in report.results if sampled_layers(result)}
    for path in sorted(asked & args.contents.keys()):
        if args.contents[path].reason == MOVED:
            session.note(f"{path}: {MOVED}; no certificate can be made of it")
    whole = {path: found.digest for path, found in args.contents.items() if found.reason is None and path in asked}
    return report._replace(results=tuple(one._replace(content=whole.get(one.skill.path)) for one in report.results))


def write_certificates(report: Report, args: argparse.Namespace, session: Session) -> None:
    """Write certificate and badges, where they are asked for.

    Raises:
        UsageError: a file cannot be written.
        IncompleteError: git is missing, or refuses the repository.
    """
    from skillgate.cli.options import gate_options
    from skillgate.config import config_digest

    contents: Mapping[str, Content] | None = getattr(args, "contents", None)
    if contents is None and args.certificate is not None:
        contents = _unmoved(args.contents_before, _contents(args, session))
    digest = "" if args.certificate is None else config_digest(session.config.with_options(gate_options(args)))
    write_of(report._replace(config_digest=digest), contents or {}, args, session)


def write_of(report: Report, contents: Mapping[str, Content], args: argparse.Namespace, session: Session) -> None:
    """Write certificate and badges of a report, where they are asked for.

    Args:
        report: with the digest of its configuration.
        contents: what was scored file by file, by shown path; what is missing is as the report has it.
        args: with what :func:`add_written` declares.
        session: the run.

    Raises:
        UsageError: a file cannot be written.
    """
    write_badges(report, args.badges, session)
    if args.certificate is None:
        return
    from skillgate.report.certificate import DAYS, certificate, render

    document = certificate(
        report,
        contents,
        issued=stamp(),
        expires=stamp(days=args.certificate_days or DAYS),
        config_digest=report.config_digest,
    )
    write(args.certificate, render(document).encode(errors="backslashreplace"), cwd=session.cwd)
    certified = sum(skill.certified for skill in document.skills)
    session.note(f"wrote {args.certificate}: {certified} of {len(document.skills)} skills certified")


def stamp(*, days: int = 0) -> str:
    """Give the time so many days from now as certificates write it: UTC, to the second."""
    from time import gmtime, strftime, time

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time() + days * 86_400))


def write_badges(report: Report, folder: str | None, session: Session) -> None:
    """Write the badge of each skill and that of all together into a directory; None writes none.

    Raises:
        UsageError: a file cannot be written.
    """
    if folder is None:
        return
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


def _contents(args: argparse.Namespace, session: Session) -> dict[str, Content]:
    """Digest the directory of every skill that is asked about, by shown path.

    Raises:
        IncompleteError: git is missing, or refuses the repository, and a certificate is asked for; else only the
            report has no digests.
    """
    try:
        return dict(_digested(args, session))
    except IncompleteError:
        if args.certificate is not None:
            raise
        return {}


def _digested(args: argparse.Namespace, session: Session) -> Iterator[tuple[str, Content]]:
    from skillgate.cli.evaluation import in_shard
    from skillgate.evaluate.content import content_of
    from skillgate.skill.discover import discover

    roots = discover(args.paths, cwd=session.cwd).roots
    asked = in_shard(args, roots, None)
    for root in roots:
        if asked is None or asked(root, None):
            yield str(root.path), content_of(os.path.join(session.cwd, str(root.path)))


def _unmoved(before: Mapping[str, Content], after: Mapping[str, Content]) -> dict[str, Content]:
    """Give what the files were; where they changed while they were scored, nobody knows which were."""
    return {
        path: content if after.get(path) == content else content._replace(digest=None, reason=MOVED)
        for path, content in before.items()
    }


def _days(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 1 <= number <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 to {_MOST_DAYS}, found {text!r}")
    return number
