"""Ask git: revisions, changes, ignored files, and the files of one commit as a :class:`~skillgate.model.skill.Tree`.

Every function raises IncompleteError where git is missing or fails. A commit is read from its objects alone, so no
filter, hook or symbolic link of the repository comes to life. Importing this module imports :mod:`subprocess`.
"""
# ruff: noqa: PTH103, PTH118, PTH123

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from skillgate.errors import IncompleteError, UsageError
from skillgate.files import toplevel
from skillgate.model.skill import Entry, EntryKind
from skillgate.process import Completed, Dialogue, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_Answer = TypeVar("_Answer")

# A repository's own configuration may name programs to run and servers to ask; none of them is needed to read objects.
HARDENED = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "protocol.allow=never")
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # never write to the index to refresh it; a diff does so all the same, see _own_index
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit means its own files, not what refs/replace puts in their place
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv")


def git(directory: str, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] = _ENVIRONMENT) -> Completed:
    """Run git in a directory that is not trusted: no hooks, monitors, network, prompts, pager or locks.

    The user's and the system's configuration stay in force, for ``safe.directory``.

    Raises:
        MissingExecutableError: git is not installed.
        IncompleteError: git did not answer in time.
    """
    return run([*_command(directory), *arguments], stdin=stdin, env=env)


def _command(directory: str) -> list[str]:
    return ["git", "--no-pager", *HARDENED, "-C", directory]


def _output(what: str, repo_dir: str, *arguments: str, env: Mapping[str, str] = _ENVIRONMENT) -> bytes:
    """Return what a command writes; where it fails, raise "git cannot ``what``" and its own complaint."""
    done = git(repo_dir, *arguments, env=env)
    if done.returncode:
        raise IncompleteError(f"git cannot {what}: {complaint(done)}")
    return done.stdout


def _words(data: bytes) -> list[str]:
    return [decoded(word) for word in data.split(b"\0") if word]


def ignored(repo_dir: str, paths: Iterable[str]) -> frozenset[str]:
    """Return which paths git ignores, relative to the top of the working tree ``repo_dir`` and not beyond a link.

    A tracked file is never ignored.
    """
    # The prefix keeps a name that begins with a colon from being read as pathspec magic.
    names = b"".join(b"./" + path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    done = git(repo_dir, "check-ignore", "-z", "--stdin", stdin=names)
    if done.returncode not in (0, 1):
        raise IncompleteError(f"git cannot list ignored files: {complaint(done)}")
    return frozenset(path[2:] for path in _words(done.stdout))


def tracked(repo_dir: str, name: str) -> frozenset[str]:
    """Return the tracked files of one name, without wildcards, in any letter case, at any depth below the top."""
    # It fails in the words of the question that a walk asks as well, so that both are one notice.
    return frozenset(_words(_output("list ignored files", repo_dir, "ls-files", "-z", "--", f":(icase,glob)**/{name}")))


def changes(repo_dir: str, since: str | None = None, *, committed: bool = False) -> dict[str, bool]:
    """Return what differs between a commit and the working tree; new files that git does not ignore among it.

    Args:
        repo_dir: the top of a working tree.
        since: compare with the commit where this branch left the revision; None for HEAD.
        committed: whether to compare the commit with HEAD alone: then no file is looked at, and no filter that the
            configuration names for one (large files have such) is run.

    Returns:
        For each path, relative to the top and with ``/``, whether it is there on one side only, or of another kind. A
        submodule is one path, changed where its commit is another one.

    Raises:
        UsageError: there is no such revision.
    """
    base = _base(repo_dir, since)
    options = ("--name-status", "--no-renames", *_PLAIN_DIFF)
    if committed and base:
        # Which submodules to pass over is the change's to say in .gitmodules, unless it is said here.
        return _states(_paths(repo_dir, "diff-tree", "-r", *options, "--ignore-submodules=none", base, "HEAD"))
    fresh = dict.fromkeys(_paths(repo_dir, "ls-files", "--others", "--exclude-standard"), True)
    if not base:  # no commit yet: all that is there is new
        return fresh | dict.fromkeys(_paths(repo_dir, "ls-files"), True)
    with _own_index(repo_dir) as env:
        return fresh | _states(_paths(repo_dir, "diff", *options, "--ignore-submodules=dirty", base, "--", env=env))


def _states(words: Sequence[str]) -> dict[str, bool]:
    return {path: state != "M" for state, path in zip(words[::2], words[1::2], strict=True)}


def renames(repo_dir: str, commit: str, name: str, *, committed: bool = False) -> dict[str, str]:
    """Return which tracked files of one name, in any letter case, git takes for moved since a commit: old by new path.

    At least seven tenths of the file are those of one that is gone: git's own measure, half, takes two skills of one
    template for the same. A file that git does not track yet is new to it. ``committed`` is that of :func:`changes`.
    """
    options = ("-z", "--name-status", "--find-renames=70%", "--diff-filter=R", *_PLAIN_DIFF, commit)
    files, what = ("--", f":(icase,glob,top)**/{name}"), "list renamed files"
    if committed:
        words = _words(_output(what, repo_dir, "diff-tree", "-r", *options, "HEAD", *files))
    else:
        with _own_index(repo_dir) as env:
            words = _words(_output(what, repo_dir, "diff", *options, *files, env=env))
    return dict(zip(words[2::3], words[1::3], strict=True))


def commit_of(repo_dir: str, rev: str) -> str | None:
    """Return the full name of a commit that is in the repository; None if it is not."""
    objects = _objects_of(repo_dir)
    if objects is not None and not {"\n", "\0"} & set(rev):
        with suppress(EOFError):
            return objects.commit(rev)
    return _first_word(git(repo_dir, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"))


def _first_word(done: Completed) -> str | None:
    return None if done.returncode else done.stdout.split()[0].decode("ascii")


def is_unborn(repo_dir: str) -> bool:
    """Return whether the branch that is checked out has no commit yet, as after ``git init``."""
    if not git(repo_dir, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
        return False
    return not git(repo_dir, "symbolic-ref", "--quiet", "HEAD").returncode  # else git refuses, or HEAD is broken


def has_refs(repo_dir: str) -> bool:
    """Return whether there is any branch or tag."""
    return bool(_output("list branches", repo_dir, "for-each-ref", "--count=1"))


def parents(repo_dir: str, commit: str) -> tuple[str, ...]:
    """Return the parents of a commit, also those that a shallow clone does not hold."""
    objects = _objects_of(repo_dir)
    if objects is None:
        text = _output(f"read commit {commit}", repo_dir, "cat-file", "commit", commit)
    else:
        text = objects.read([commit])[commit]
    head = text.partition(b"\n\n")[0]
    return tuple(line[7:].decode("ascii") for line in head.split(b"\n") if line.startswith(b"parent "))


def merge_base(repo_dir: str, one: str, other: str) -> str | None:
    """Return the commit where two histories part; None if they do not meet in this clone."""
    return _first_word(git(repo_dir, "merge-base", one, other))


def ref(repo_dir: str, name: str) -> str | None:
    """Return the commit of exactly this ref, as ``refs/remotes/origin/main``; None if there is no such ref."""
    word = _first_word(git(repo_dir, "show-ref", "--verify", "--hash", "--", name))
    return None if word is None else commit_of(repo_dir, word)


def points_at(repo_dir: str, commit: str, *below: str) -> bool:
    """Return whether a ref below one of some, as ``refs/pull``, is exactly this commit."""
    done = git(repo_dir, "for-each-ref", "--count=1", f"--points-at={commit}", *below)
    return done.returncode == 0 and bool(done.stdout.strip())


def remote_url(repo_dir: str) -> str:
    """Return the address that ``origin`` was cloned from, as the repository's own configuration has it, or ``""``."""
    done = git(repo_dir, "config", "--local", "--get", "remote.origin.url")
    return decoded(done.stdout).strip() if done.returncode == 0 else ""


def differing(repo_dir: str, one: str, other: str) -> list[str]:
    """Return the paths that differ between two commits, relative to the repository's top and with ``/``."""
    options = ("-r", "--name-only", "--no-renames", *_PLAIN_DIFF, "--ignore-submodules=none")
    return _paths(repo_dir, "diff-tree", *options, one, other)


def is_tracked(repo_dir: str, path: str) -> bool:
    """Return whether git knows a path, relative to the repository's top and with ``/``."""
    return bool(_paths(repo_dir, "ls-files", "--", path))


def holds_submodule(repo_dir: str, path: str) -> bool:
    """Return whether a path relative to a repository's top is a submodule of it."""
    staged = _paths(repo_dir, "ls-files", "--stage", "--", path)
    return any(line.startswith("160000 ") and line.endswith(f"\t{path}") for line in staged)


@contextmanager
def _own_index(repo_dir: str) -> Iterator[Mapping[str, str]]:
    """Let a diff write what it learns of the working tree into a copy of the index.

    The repository's own would belong to the user who runs this: on a runner to root, and no other user could write it
    again. The copy keeps its time, by which git knows which files changed after it was written.
    """
    place = decoded(git(repo_dir, "rev-parse", "--git-path", "index").stdout.rstrip(b"\n"))
    with tempfile.TemporaryDirectory(prefix="skillgate-") as folder:
        copy = Path(folder, "index")
        with suppress(FileNotFoundError):  # nothing is tracked yet
            shutil.copy2(Path(repo_dir, place), copy)
        yield {**_ENVIRONMENT, "GIT_INDEX_FILE": str(copy)}


def _paths(repo_dir: str, command: str, *arguments: str, env: Mapping[str, str] = _ENVIRONMENT) -> list[str]:
    return _words(_output("list changed files", repo_dir, "--literal-pathspecs", command, "-z", *arguments, env=env))


def _base(repo_dir: str, since: str | None) -> str:
    """Return the commit to compare with; ``""`` before the first."""
    commit = commit_of(repo_dir, "HEAD" if since is None else since)
    if commit is None and since is not None:
        raise UsageError(unknown_revision(repo_dir, since or "an empty revision"))
    if commit is None or since is None:
        return commit or ""
    # There is none where the histories do not meet, or not in this clone.
    return merge_base(repo_dir, commit, "HEAD") or commit


def unknown_revision(repo_dir: str, rev: str) -> str:
    """Return why a revision is not known, as a message."""
    inside = git(repo_dir, "rev-parse", "--is-shallow-repository")
    if inside.returncode:
        return f"cannot look up {rev} in {repo_dir}: {complaint(inside)}"
    message = f"{rev} is not a commit in {repo_dir}"
    if inside.stdout.strip() == b"true":
        message += "; the clone is shallow: fetch the commit first (in actions/checkout: fetch-depth: 0)"
    return message


def complaint(done: Completed) -> str:
    """Return the first line of what git said, without its ``fatal:``."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if any("lazy fetching disabled" in line for line in lines):
        return "the clone is partial, and missing objects are not fetched; remove `filter` from actions/checkout"
    return lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else f"exit status {done.returncode}"


def decoded(path: bytes) -> str:
    """Read a path as git gives it; bytes that are not UTF-8 stay what they are."""
    return path.decode("utf-8", "surrogateescape")


_FILE, _DIRECTORY, _OTHER = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.OTHER
_MAX_LINKS = 40  # as many as Linux follows before it calls a path a loop
_MAX_TARGET_BYTES = 4096  # PATH_MAX: no system makes a longer link
_NEIGHBOUR_BYTES = 64 * 1024  # a file is read together with its neighbours up to this size: one process, not many


def open_commit(repo_dir: str, rev: str) -> GitTree:
    """Open the files of a commit, by any name of it. Raises UsageError: no repository, or no such commit in it."""
    commit = commit_of(repo_dir, rev)
    if commit is None:
        raise UsageError(unknown_revision(repo_dir, rev))
    objects = _objects_of(repo_dir)
    if objects is not None and commit in objects.trees:
        return objects.trees[commit]
    listed = _output(f"list the files of {rev}", repo_dir, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    if objects is None:
        return GitTree(repo_dir, listed, {})
    return objects.trees.setdefault(commit, GitTree(repo_dir, listed, objects.contents))


@contextmanager
def one_reader() -> Iterator[None]:
    """Within the block, one process of each repository reads all objects, and each commit is listed once.

    Only for the thread that entered the block. The processes end with it.
    """
    if _OPEN.get() is not None:
        yield
        return
    opened: dict[str, _Objects] = {}
    token = _OPEN.set(opened)
    try:
        yield
    finally:
        _OPEN.reset(token)
        for objects in opened.values():
            objects.close()


def _objects_of(repo_dir: str) -> _Objects | None:
    opened = _OPEN.get()
    return None if opened is None else opened.setdefault(repo_dir, _Objects(repo_dir))


class _Objects:
    """The objects of a repository, read by one process, which is started for the first request."""

    def __init__(self, repo_dir: str) -> None:
        self.contents: dict[str, bytes] = {}  # by object name
        self.trees: dict[str, GitTree] = {}  # by commit
        self._repo_dir = repo_dir
        self._process: Dialogue | None = None

    def commit(self, rev: str) -> str | None:
        """Return the full name of a commit, None if it is not there. Raises EOFError: git has ended."""
        header, data = self._ask(rev.encode("utf-8", "surrogateescape") + b"^{commit}\n", _next_object)
        return None if data is None else header.split()[0].decode("ascii")

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        """Read objects by their names. Raises IncompleteError: one is missing or cannot be read."""
        found: dict[str, bytes] = {}
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            try:
                found |= self._ask(_lines(some), partial(_named, some))
            except EOFError as error:
                said = complaint(self.close())
                raise IncompleteError(f"git cannot read object {str(error) or some[0]}: {said}") from None
        return found

    def close(self) -> Completed:
        """End the process, if there is one."""
        process, self._process = self._process, None
        return Completed(returncode=0, stdout=b"", stderr=b"") if process is None else process.end()

    def _ask(self, request: bytes, read: Callable[[IO[bytes]], _Answer]) -> _Answer:
        if self._process is not None and not self._process.is_running:  # killed from outside
            self.close()
        if self._process is None:
            self._process = Dialogue([*_command(self._repo_dir), "cat-file", "--batch"], env=_ENVIRONMENT)
        return self._process.ask(request, read)


_OPEN: ContextVar[dict[str, _Objects] | None] = ContextVar("_OPEN", default=None)
_AT_ONCE = 50  # object names: fewer bytes than any pipe holds, so that neither side waits for the other


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _named(names: Iterable[str], stream: IO[bytes]) -> dict[str, bytes]:
    """Take objects from the output of ``cat-file --batch``.

    Raises:
        IncompleteError: git says that one is missing.
        EOFError: the output ends; the argument is the name of the object.
    """
    found: dict[str, bytes] = {}
    for name in names:
        try:
            header, data = _next_object(stream)
        except EOFError:
            raise EOFError(name) from None
        if data is None:
            raise IncompleteError(f"git cannot read object {name}: {decoded(header)}")
        found[name] = data
    return found


def _next_object(stream: IO[bytes]) -> tuple[bytes, bytes | None]:
    """Take the next object: its header, and its content or None if git does not give it. Raises EOFError."""
    header = stream.readline()
    if not header.endswith(b"\n"):
        raise EOFError
    size = header.rpartition(b" ")[2].strip()
    if not size.isdigit():  # "<name> missing"
        return header.rstrip(), None
    data = stream.read(int(size) + 1)
    if len(data) <= int(size):
        raise EOFError
    return header.rstrip(), data[:-1]


class GitTree:
    """The files of one commit; offers the same as :class:`~skillgate.skill.tree.DiskTree`.

    Attributes:
        root: the top of the repository, absolute.
        origin: what precedes a tree path in the absolute path, with ``/``.
    """

    __slots__ = ("_contents", "_directories", "_objects", "_repo_dir", "origin", "root")

    def __init__(self, repo_dir: str, listed: bytes, contents: dict[str, bytes]) -> None:
        """Take the output of ``git ls-tree -r -z -l --full-tree``, and objects that are already read."""
        self.root = toplevel(repo_dir) or repo_dir
        self.origin = self.root.rstrip(os.sep).replace(os.sep, "/") + "/"
        self._repo_dir = repo_dir
        self._directories: dict[str, dict[str, EntryKind | None]] = {"": {}}
        self._objects: dict[str, tuple[str, int]] = {}  # path → object name, size in bytes
        self._contents = contents  # object name → bytes
        for line in listed.split(b"\0"):
            if line:
                self._add(line)

    def entry(self, path: str) -> Entry | None:
        """Describe a path, symbolic links followed; None when there is nothing."""
        real = self.real(path)
        if real is None:
            directory, _, name = path.rpartition("/")
            parent = self.real(directory)
            listed = parent is not None and name in self._directories.get(parent, ())
            return Entry(kind=_OTHER) if listed else None
        if real in self._directories:
            return Entry(kind=_DIRECTORY)
        return Entry(kind=_FILE, size=self._objects[real][1]) if real in self._objects else Entry(kind=_OTHER)

    def names(self, path: str) -> tuple[str, ...]:
        """List a directory, sorted by code point; empty if it is no directory."""
        real = self.real(path)
        return () if real is None else tuple(sorted(self._directories.get(real, ())))

    def read(self, path: str, *, limit: int) -> bytes:
        """Read at most ``limit`` bytes of a file.

        Raises:
            OSError: there is no such file; EXDEV for a link that leads outside or nowhere; EINVAL for a submodule.
        """
        real = self.real(path)
        if real is None or real not in self._objects:
            raise self._refusal(path)
        name = self._objects[real][0]
        if name not in self._contents:
            self.fetch((real, *self._neighbours(real)))
        return self._contents[name][:limit]

    def listing(self, real: str) -> Mapping[str, EntryKind | None]:
        """List a directory given by its real tree path: each name's kind, None for a symbolic link.

        Raises:
            OSError: it is no directory.
        """
        try:
            return self._directories[real]
        except KeyError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), real) from None

    def real(self, path: str) -> str | None:
        """Resolve the symbolic links of a tree path; None for nothing, a loop, or a link that leads outside."""
        pending, real, links = path.split("/")[::-1], "", 0
        while pending:
            name = pending.pop()
            if name == "..":  # only from a link: a path asked for has none
                if not real:
                    return None
                real = real.rpartition("/")[0]
            elif name not in ("", "."):
                if name not in self._directories.get(real, ()):
                    return None
                kind = self._directories[real][name]
                below = f"{real}/{name}" if real else name
                if kind is not None:
                    real = below
                    continue
                target, links = self._target(below), links + 1
                if target.startswith("/") or links > _MAX_LINKS:
                    return None
                pending += target.split("/")[::-1]
        return real

    def leads_outside(self, path: str) -> bool:
        """Return whether a link's own target is outside the commit (whether a directory is there cannot be known)."""
        depth = path.count("/")
        return self.real(path) is None and (
            (target := self._target(path)).startswith("/") or target.split("/").count("..") > depth
        )

    def fetch(self, paths: Iterable[str]) -> None:
        """Read the files with these real paths in one go, so that :meth:`read` has them."""
        wanted = [
            name for name in dict.fromkeys(self._objects[path][0] for path in paths) if name not in self._contents
        ]
        if not wanted:
            return
        objects = _objects_of(self._repo_dir)
        if objects is not None:
            self._contents.update(objects.read(wanted))
            return
        done = git(self._repo_dir, "cat-file", "--batch", stdin=_lines(wanted))
        try:
            self._contents.update(_named(wanted, io.BytesIO(done.stdout)))
        except EOFError as error:
            raise IncompleteError(f"git cannot read object {error}: {complaint(done)}") from None

    def _add(self, line: bytes) -> None:
        facts, _, name = line.partition(b"\t")
        mode, _, object_name, size = facts.split()
        path = decoded(name)
        kind = None if mode == b"120000" else _FILE if mode.startswith(b"100") else _OTHER
        if kind is not _OTHER:
            self._objects[path] = (object_name.decode("ascii"), int(size))
        directory, _, base = path.rpartition("/")
        while directory not in self._directories:
            self._directories[directory] = {base: kind}
            kind = _DIRECTORY
            directory, _, base = directory.rpartition("/")
        self._directories[directory].setdefault(base, kind)

    def _target(self, link: str) -> str:
        """Read a link, and with the first one all links of the commit; one too long to be real leads to ``/``."""
        if self._objects[link][1] > _MAX_TARGET_BYTES:
            return "/"
        if self._objects[link][0] not in self._contents:
            links = (
                f"{directory}/{name}" if directory else name
                for directory, listing in self._directories.items()
                for name, kind in listing.items()
                if kind is None
            )
            self.fetch(path for path in links if self._objects[path][1] <= _MAX_TARGET_BYTES)
        return decoded(self._contents[self._objects[link][0]])

    def _neighbours(self, real: str) -> list[str]:
        directory = real.rpartition("/")[0]
        paths = (f"{directory}/{name}" if directory else name for name in self._directories[directory])
        return [path for path in paths if self._objects.get(path, ("", _NEIGHBOUR_BYTES))[1] < _NEIGHBOUR_BYTES]

    def _refusal(self, path: str) -> OSError:
        entry = self.entry(path)
        if entry is None:
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if entry.kind is _DIRECTORY:
            return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if self.real(path) is None:
            return OSError(errno.EXDEV, "a symbolic link out of the commit, to nothing or to itself", path)
        return OSError(errno.EINVAL, "not a regular file", path)


MAX_CHECKOUT_BYTES = 2_000_000_000
_CHECKOUT_TIMEOUT_S = 600.0
_PLAIN = "* -export-ignore -export-subst -filter -text -eol -ident -working-tree-encoding\n"


def check_out(repo_dir: str, commit: str, folder: str) -> None:
    """Write the files of a commit, by its full hash, into an empty directory; at most 2 GB.

    A separate repository, which borrows the objects, does the work. So neither the configuration nor the attributes of
    the original repository are in force, and nothing is written to it. Links that lead out of the directory, and
    submodules, are left out.
    """
    where = ("rev-parse", "--path-format=absolute", "--git-path", "objects")
    objects = _output("show the path of its objects", repo_dir, *where)
    with tempfile.TemporaryDirectory(prefix="skillgate-git-") as own:
        _require(["git", "init", "--quiet", "--bare", own], "make a repository")
        os.makedirs(os.path.join(own, "info"), exist_ok=True)
        _write(os.path.join(own, "objects", "info", "alternates"), objects.rstrip(b"\n") + b"\n")
        _write(os.path.join(own, "info", "attributes"), _PLAIN.encode())
        packed = os.path.join(own, "files.tar")
        command = ["git", *HARDENED, "--git-dir", own, "archive", "--format=tar", f"--output={packed}", commit]
        _require(command, f"read the files of {commit[:12]}")
        if os.path.getsize(packed) > MAX_CHECKOUT_BYTES:  # noqa: PTH202
            raise IncompleteError(f"the files of {commit[:12]} take more than {MAX_CHECKOUT_BYTES:,} bytes")
        _unpack(packed, folder, commit)


def _unpack(packed: str, folder: str, commit: str) -> None:
    import tarfile  # only here: it brings in the compressions

    try:
        with tarfile.open(packed, "r:") as archive:
            for member in archive:
                try:
                    archive.extract(member, folder, filter="data")
                except tarfile.FilterError:  # a link out of it: what it leads to is not the commit's
                    continue
    except (OSError, tarfile.TarError) as error:
        raise IncompleteError(f"the files of {commit[:12]} cannot be written: {error}") from error


def _require(command: Sequence[str], what: str) -> None:
    done = run(command, timeout_s=_CHECKOUT_TIMEOUT_S)
    if done.returncode:
        raise IncompleteError(f"git cannot {what}: {complaint(done)}")


def _write(place: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH120
    with open(place, "wb") as file:
        file.write(data)
