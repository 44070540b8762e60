"""Find the skills that paths mean (a skill, a plugin, a marketplace, a repository, a commit), and read their bytes."""
# ruff: noqa: PTH100, PTH109, PTH112, PTH114, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import errno
import os
import posixpath
import stat
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError, UsageError
from skillgate.files import toplevel
from skillgate.model.skill import SKILL_FILE, EntryKind, SkillRoot, SkillSource, Unreadable
from skillgate.named_tuple import NamedTuple
from skillgate.skill.tree import DiskTree
from skillgate.skill.walk import (
    PLUGIN_FOLDER,
    VERSION_CONTROL,
    Folder,
    Found,
    Plugins,
    Walk,
    each_once,
    join,
    left_out,
    main_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from skillgate.skill.git import GitTree
    from skillgate.skill.walk import Forest

    Excluded = Collection[str] | Callable[[str], bool] | None


# Plain strings until the end: a path given directly must be found in well under a millisecond.


_PLUGIN_LEVELS = 6  # directories looked at for a plugin above a PATH that is in no repository


class NotInCommitError(UsageError):
    """A commit has no such path: what is there now was not there then."""


class Discovery(NamedTuple):
    """What paths led to."""

    roots: tuple[SkillRoot, ...]  # the skills, each once, by shown path
    notices: tuple[str, ...]  # what was left out and why, in sentences for stderr
    single: bool
    complete: bool = True  # every directory below the paths could be searched; False is exit code 3


def discover(
    paths: Sequence[str], *, cwd: str | None = None, excluded: Excluded = (), linked: bool = False
) -> Discovery:
    """Find the skills that paths on disk mean, each once however many paths or links lead to it; there may be none.

    Args:
        paths: skill directories, their main files, or directories with skills at any depth.
        cwd: what relative paths are relative to; None for the current directory.
        excluded: directories, relative to ``cwd`` and with ``/``, below which nothing is found; or a test of a
            directory by its shown path. A skill that is shown at another path too, by a link, is found there.
        linked: whether a skill that another one links to is found too: a directory of links that becomes a skill
            itself does not hide them.

    Raises:
        UsageError: paths that do not exist, or are files of another kind; all of them in one message.
    """
    base = os.path.abspath(cwd) if cwd else os.getcwd()
    trees: dict[str, DiskTree] = {}
    starts = _starts(_start_directory(paths, base), trees)
    untold: set[str] = set()
    walk = Walk(tracked=_asker(untold), excluded=left_out(excluded), linked=linked)
    walk.run(starts)
    found, complaints = _without_ignored(each_once(walk.found), starts)
    complaints = sorted(untold.union(complaints))
    roots = _roots(((one, _tree_of(one.folder, trees)) for one in found), base)
    single = len(paths) == 1 and any(one.folder.key == starts[0].key for one in found)
    return _discovery(roots, [*walk.notices(), *complaints], single=single, complete=walk.complete)


def discover_commit(
    rev: str, path: str, *, cwd: str | None = None, excluded: Excluded = (), linked: bool = False
) -> Discovery:
    """Find the skills below a path of a commit by the same rules, shown from ``cwd``; nothing is checked out.

    Args:
        rev: any name of a commit.
        path: as in git's own ``REV:path``: from the top of the repository; from ``cwd`` when its first part is ``.``
            or ``..``.
        cwd: a directory in the repository; None for the current one.
        excluded: as :func:`discover` has it.
        linked: as :func:`discover` has it.

    Raises:
        UsageError: there is no repository, no such commit, or no such path in it.
        IncompleteError: git is missing or fails.
    """
    from skillgate.skill.git import open_commit  # imports subprocess: only for those who need a commit

    base = os.path.realpath(cwd or os.getcwd())
    tree = open_commit(base, rev)
    here = os.path.relpath(base, tree.root).replace(os.sep, "/")
    start = _commit_start(tree, rev, path, here)
    walk = Walk(
        skipped=VERSION_CONTROL, excluded=left_out(excluded), linked=linked
    )  # all that a commit holds is tracked
    walk.run([start])
    found = each_once(walk.found)
    _prefetch(tree, found)
    single = any(one.folder.key == start.key for one in found)
    roots = _roots(((one, tree) for one in found), base, tree.origin.rstrip("/"))
    return _discovery(roots, walk.notices(), single=single, complete=walk.complete)


def _start_directory(paths: Iterable[str], base: str) -> list[tuple[str, str]]:
    """Return each directory that is meant, by real path, and how it is shown.

    Places reached without a link come first and outer ones before inner ones, so that what two paths share is shown
    the same whichever was given first.
    """
    starting: dict[str, tuple[bool, int, str]] = {}
    problems = []
    for path in paths:
        try:
            directory = _directory(path, base)
        except UsageError as error:
            problems.append(str(error))
            continue
        full = os.path.join(base, directory)
        real = os.path.realpath(full)
        candidate = (os.path.normpath(full) != real, len(real), _shown(directory, base))
        starting[real] = min(starting.get(real, candidate), candidate, key=lambda one: one[0])
    if problems:
        raise UsageError("; ".join(dict.fromkeys(problems)))
    return [(real, shown) for real, (*_, shown) in sorted(starting.items(), key=lambda one: one[1][:2])]


def _directory(path: str, base: str) -> str:
    try:
        mode = os.stat(os.path.join(base, path)).st_mode if path else 0
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if isinstance(error, FileNotFoundError):
            leads_nowhere = os.path.islink(os.path.join(base, path))
            reason = "is a broken symbolic link" if leads_nowhere else "does not exist"
        raise UsageError(f"{path!r} {reason}" if isinstance(reason, str) else f"{path!r}: {reason}") from None
    if not mode:
        raise UsageError("the path is empty")
    if stat.S_ISDIR(mode):
        return path
    if os.path.basename(path).upper() == SKILL_FILE.upper():
        return os.path.dirname(path)
    raise UsageError(f"{path!r} is not a skill; pass a directory or a {SKILL_FILE} file")


def _shown(path: str, base: str) -> str:
    full, prefix = os.path.normpath(os.path.join(base, path)), os.path.join(base, "")
    if full == base:
        return ""
    shown = full[len(prefix) :] if full.startswith(prefix) else os.path.normpath(path)
    return shown.replace(os.sep, "/")


def _starts(starting: Iterable[tuple[str, str]], trees: dict[str, DiskTree]) -> list[Folder]:
    """Return each directory its tree; paths in no repository share the outermost that any of them has."""
    placed = [(directory, shown, toplevel(directory)) for directory, shown in starting]
    around = sorted({_surroundings(directory) for directory, _, repo in placed if repo is None}, key=len)
    folders = []
    for directory, shown, repo in placed:
        inside = os.path.join(directory, "")
        root = repo or next(root for root in around if inside.startswith(os.path.join(root, "")))
        tree = _tree_at(root, trees)
        folders.append(Folder(tree, tree.locate(directory), shown, (repo or "").replace(os.sep, "/")))
    return folders


def _surroundings(directory: str) -> str:
    """Choose the tree of a path outside any repository: its plugin, or what holds its folder of skills."""
    ancestor = directory
    for _ in range(_PLUGIN_LEVELS + 1):
        if os.path.isdir(os.path.join(ancestor, PLUGIN_FOLDER)):
            return ancestor
        ancestor = os.path.dirname(ancestor)
    try:
        is_skill = main_file(DiskTree(directory).listing("")) is not None
    except OSError:
        is_skill = False
    folder = os.path.dirname(directory) if is_skill else directory
    return os.path.dirname(folder) if os.path.basename(folder) == "skills" else folder


def _tree_at(root: str, trees: dict[str, DiskTree]) -> DiskTree:
    key = root.replace(os.sep, "/")
    if key not in trees:
        trees[key] = DiskTree(root)
    return trees[key]


def _tree_of(folder: Folder, trees: dict[str, DiskTree]) -> Forest:
    """Return the tree that a skill is judged in: the repository nested in the searched one, if it lies in such."""
    if folder.repo and join(folder.repo, "") != folder.tree.origin:
        return _tree_at(folder.repo, trees)
    return folder.tree


def _without_ignored(found: list[Found], starts: Iterable[Folder]) -> tuple[list[Found], list[str]]:
    """Drop what git ignores, unless it was given or lies below an ignored path that was given.

    Git is started only when a walk met a skill in a repository that is not itself one of the given paths.
    """
    starting = {start.key for start in starts}
    asks = {one.identity: _asks(one) for one in found if one.folder.key not in starting}
    wanted: dict[str, set[str]] = {}
    for repo, path in {ask for several in asks.values() for ask in several}:
        wanted.setdefault(repo, set()).add(path)
    if not wanted:
        return found, []
    for start in starts:
        if start.repo in wanted and start.repo != start.key:
            wanted[start.repo].add(start.key)
    dropped, complaints = _ignored(wanted)
    exempt = tuple(join(key, "") for key in starting & dropped)
    left = [
        one
        for one in found
        if one.folder.key.startswith(exempt) or not any(path in dropped for _, path in asks.get(one.identity, ()))
    ]
    return left, complaints


def _asks(one: Found) -> list[tuple[str, str]]:
    own = [(one.folder.repo, join(one.folder.key, one.file_name))] if one.folder.repo else []
    return [*one.folder.asks, *own]


def _ignored(wanted: dict[str, set[str]]) -> tuple[set[str], list[str]]:
    from skillgate.skill.git import ignored  # imports subprocess: only after a walk in a repository

    dropped: set[str] = set()
    complaints = set()
    for repo, paths in sorted(wanted.items()):
        top = join(repo, "")
        try:
            dropped |= {top + path for path in ignored(repo, sorted(path.removeprefix(top) for path in paths))}
        except IncompleteError as error:
            complaints.add(_by_the_list(error))
    return dropped, sorted(complaints)


def _asker(complaints: set[str]) -> Callable[[str], frozenset[str]]:
    """Make the question which main files a repository tracks; where git cannot say, none, with a complaint."""
    answers: dict[str, frozenset[str]] = {}

    def tracked_in(repo: str) -> frozenset[str]:
        if repo not in answers:
            from skillgate.skill.git import tracked  # imports subprocess: only where a directory was passed over

            try:
                answers[repo] = tracked(repo, SKILL_FILE)
            except IncompleteError as error:
                answers[repo] = frozenset()
                complaints.add(_by_the_list(error))
        return answers[repo]

    return tracked_in


def _by_the_list(error: IncompleteError) -> str:
    return f"{error}; only the usual tool and package directories were left out"


def _commit_start(tree: GitTree, rev: str, path: str, here: str) -> Folder:
    relative = path.split("/")[0] in (".", "..")
    wanted = posixpath.normpath(posixpath.join(here, path) if relative else path)
    real = tree.real("" if wanted == "." else wanted)
    entry = None if real is None or wanted.startswith(("/", "../")) else tree.entry(real)
    if real is None or entry is None:
        raise NotInCommitError(f"{rev} has no {path!r}; paths start at the top of the repository, or with ./")
    if entry.kind is not EntryKind.DIRECTORY:
        if posixpath.basename(wanted).upper() != SKILL_FILE.upper():
            raise UsageError(f"{path!r} of {rev} is not a skill; pass a directory or a {SKILL_FILE} file")
        wanted = posixpath.dirname(wanted)
        real = tree.real(wanted) or ""
    shown = posixpath.relpath(wanted or ".", here)
    return Folder(tree, real, "" if shown == "." else shown, "")


def _prefetch(tree: GitTree, found: Iterable[Found]) -> None:
    """Read all main files with one process."""
    reals = [tree.real(join(one.folder.real, one.file_name)) for one in found]
    entries = [(real, tree.entry(real)) for real in reals if real is not None]
    tree.fetch(real for real, entry in entries if entry and entry.kind is EntryKind.FILE and entry.size <= MAX_BYTES)


def _roots(found: Iterable[tuple[Found, Forest]], base: str, repository: str = "") -> list[SkillRoot]:
    """Return where skills were found; ``repository`` is that of all of them, ``""`` if each says its own."""
    plugins: dict[str, Plugins] = {}
    return [_root(one, tree, base, plugins.setdefault(tree.origin, Plugins(tree)), repository) for one, tree in found]


def _root(one: Found, tree: Forest, base: str, plugins: Plugins, repository: str) -> SkillRoot:
    directory = one.folder.real if tree is one.folder.tree else one.folder.key[len(tree.origin) :]
    repo = one.folder.repo or repository
    return SkillRoot(
        tree=tree,
        directory=directory,
        file_name=one.file_name,
        name=one.folder.key.rpartition("/")[2],
        path=PurePosixPath(_shown(one.folder.shown, base)),  # a walk from above may have come down to base
        plugin=plugins.of(directory),
        repository_path=_from_top(one.folder.key, repo) if repo else None,
    )


def _from_top(key: str, repo: str) -> str:
    """Return the path of a directory from the top of its repository, both by their absolute paths."""
    return key.removeprefix(repo).lstrip("/") or "."


def _discovery(roots: Iterable[SkillRoot], notices: Iterable[str], *, single: bool, complete: bool) -> Discovery:
    ordered = tuple(sorted(roots, key=lambda root: root.path.parts))
    return Discovery(roots=ordered, notices=tuple(notices), single=single, complete=complete)


MAX_BYTES = 5_000_000
"""Bytes from which on a skill's main file is too large to be evaluated (decision 0.2: 5 MB)."""

_REASONS = {
    errno.ENOENT: "no longer exists",
    errno.EISDIR: "is a directory, not a file",
    errno.EINVAL: "is not a regular file (a pipe, a socket, a device or a submodule)",
    errno.ENXIO: "is not a regular file (a pipe, a socket, a device or a submodule)",
    errno.EXDEV: "is a symbolic link to a file outside the skill's repository or folder; replace it with the file",
}


def read(root: SkillRoot) -> SkillSource | Unreadable:
    """Read the main file of a skill; of one above :data:`MAX_BYTES` only ``MAX_BYTES + 1``, with its true size.

    A symbolic link that leads nowhere is read as one without bytes. Where the system does not give the bytes
    (permission, I/O, something else in place of the file), return the reason.
    """
    path = root.tree_path(root.file_name)
    try:
        data = root.tree.read(path, limit=MAX_BYTES + 1)
    except OSError as error:
        if _leads_nowhere(root, path, error):
            return SkillSource(root=root, data=b"", size=0, siblings=siblings(root), dangling=True)
        said = _REASONS.get(error.errno or 0, f"cannot be read: {error.strerror or error}")
        return Unreadable(root=root, reason=f"{root.file_name} {said}")
    entry = root.tree.entry(path) if len(data) > MAX_BYTES else None
    size = max(len(data), entry.size if entry else 0)
    return SkillSource(root=root, data=data, size=size, siblings=siblings(root))


def _leads_nowhere(root: SkillRoot, path: str, error: OSError) -> bool:
    """Return whether the main file is a link to nothing or to itself; in a commit nothing is outside of it."""
    entry = root.tree.entry(path)
    if entry is None or entry.kind is not EntryKind.OTHER:
        return False
    return error.errno in (errno.ENOENT, errno.ELOOP) or (
        error.errno == errno.EXDEV and not isinstance(root.tree, DiskTree)
    )


def siblings(root: SkillRoot, *, most: int = 4) -> int:
    """Count the skills next to one, up to ``most``: enough to know what could be referred to."""
    folder, _, own = root.directory.rpartition("/")
    if not own:
        return 0
    found = 0
    for name in root.tree.names(folder):
        if name != own:
            entry = root.tree.entry(f"{folder}/{name}/SKILL.md" if folder else f"{name}/SKILL.md")
            found += entry is not None and entry.kind is EntryKind.FILE and entry.size > 0
        if found >= most:
            break
    return found
