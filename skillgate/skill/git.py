"""Git's services but for reading a commit: which files are ignored, tracked or changed.

Importing this module imports :mod:`subprocess`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skillgate.errors import IncompleteError, UsageError
from skillgate.files import toplevel as toplevel  # the one question about git that needs no process
from skillgate.process import Completed, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# A repository's own configuration may name programs to run and servers to ask; none of them is needed to read objects.
HARDENED = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "protocol.allow=never")
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # never write to the index to refresh it; a diff does so all the same, see _own_index
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit means its own files, not what refs/replace puts in their place
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


def git(directory: str, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] = _ENVIRONMENT) -> Completed:
    """Run git in a directory that is not trusted: no hooks, monitors, network, prompts, pager or locks.

    The user's and the system's configuration stay in force, for ``safe.directory``.

    Raises:
        MissingExecutableError: git is not installed.
        IncompleteError: git did not answer in time.
    """
    return run(["git", "--no-pager", *HARDENED, "-C", directory, *arguments], stdin=stdin, env=env)


def ignored(repo_dir: str, paths: Iterable[str]) -> frozenset[str]:
    """Tell which of the paths git ignores; a tracked file is never ignored.

    Args:
        repo_dir: the top of a working tree.
        paths: relative to it, with ``/``, not beyond a symbolic link.

    Raises:
        IncompleteError: git is missing, or refuses (not a repository, another user's directory).
    """
    # The prefix keeps a name that begins with a colon from being read as pathspec magic.
    asked = b"".join(b"./" + _encode(path) + b"\0" for path in paths)
    done = git(repo_dir, "check-ignore", "-z", "--stdin", stdin=asked)
    if done.returncode not in (0, 1):
        raise IncompleteError(f"git cannot tell ignored files: {complaint(done)}")
    return frozenset(decoded(path[2:]) for path in done.stdout.split(b"\0") if path)


def tracked(repo_dir: str, name: str) -> frozenset[str]:
    """List the tracked files of one name, in any letter case, at any depth.

    Args:
        repo_dir: the top of a working tree.
        name: a file's name, without wildcards.

    Returns:
        Their paths relative to the top, with ``/``.

    Raises:
        IncompleteError: git is missing, or refuses (not a repository, another user's directory).
    """
    done = git(repo_dir, "ls-files", "-z", "--", f":(icase,glob)**/{name}")
    if done.returncode:  # in the words of the question that a walk asks as well, so that both are one notice
        raise IncompleteError(f"git cannot tell ignored files: {complaint(done)}")
    return frozenset(decoded(path) for path in done.stdout.split(b"\0") if path)


def changes(repo_dir: str, since: str | None = None, *, committed: bool = False) -> dict[str, bool]:
    """Tell what differs between a commit and the working tree; new files that git does not ignore among it.

    Args:
        repo_dir: the top of a working tree.
        since: compare with the commit where this branch left the revision; None for HEAD.
        committed: whether to tell what differs between the commit and HEAD alone: then no file is looked at, and no
            filter that the configuration names for one (large files have such) is run.

    Returns:
        For each path, relative to the top and with ``/``, whether it is there on one side only, or of another kind. A
        submodule is one path, changed where its commit is another one.

    Raises:
        UsageError: there is no such revision.
        IncompleteError: git is missing or fails.
    """
    base = _base(repo_dir, since)
    asked = ("--name-status", "--no-renames", "--no-ext-diff", "--no-textconv")
    if committed and base:
        # Which submodules to pass over is the change's to say in .gitmodules, unless it is said here.
        return _states(_paths(repo_dir, "diff-tree", "-r", *asked, "--ignore-submodules=none", base, "HEAD"))
    fresh = dict.fromkeys(_paths(repo_dir, "ls-files", "--others", "--exclude-standard"), True)
    if not base:  # no commit yet: all that is there is new
        return fresh | dict.fromkeys(_paths(repo_dir, "ls-files"), True)
    with _own_index(repo_dir) as env:
        return fresh | _states(_paths(repo_dir, "diff", *asked, "--ignore-submodules=dirty", base, "--", env=env))


def _states(words: Sequence[str]) -> dict[str, bool]:
    """Read a list of states and paths: for each path, whether it is there on one side only, or of another kind."""
    return {path: state != "M" for state, path in zip(words[::2], words[1::2], strict=True)}


def renames(repo_dir: str, commit: str, name: str, *, committed: bool = False) -> dict[str, str]:
    """Tell which tracked files of one name, in any letter case, git takes for moved since a commit.

    At least seven tenths of the file are those of one that is gone: git's own measure, half, takes two skills of one
    template for the same. A file that git does not track yet is new to it. ``committed`` is that of :func:`changes`.

    Returns:
        The path then by the path now, both relative to the top and with ``/``.

    Raises:
        IncompleteError: git is missing or fails.
    """
    asked = ("--name-status", "--find-renames=70%", "--diff-filter=R", "--no-ext-diff", "--no-textconv")
    files = ("--", f":(icase,glob,top)**/{name}")
    if committed:
        done = git(repo_dir, "diff-tree", "-r", "-z", *asked, commit, "HEAD", *files)
    else:
        with _own_index(repo_dir) as env:
            done = git(repo_dir, "diff", "-z", *asked, commit, *files, env=env)
    if done.returncode:
        raise IncompleteError(f"git cannot tell what moved: {complaint(done)}")
    words = [decoded(word) for word in done.stdout.split(b"\0") if word]
    return dict(zip(words[2::3], words[1::3], strict=True))


def commit_of(repo_dir: str, rev: str) -> str | None:
    """Give the full name of a commit that is in the repository; None where it is not.

    Raises:
        IncompleteError: git is missing.
    """
    done = git(repo_dir, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")
    return None if done.returncode else done.stdout.split()[-1].decode("ascii")


def is_unborn(repo_dir: str) -> bool:
    """Whether the branch that is checked out has no commit yet, as after ``git init``.

    Raises:
        IncompleteError: git is missing.
    """
    if not git(repo_dir, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
        return False
    return not git(repo_dir, "symbolic-ref", "--quiet", "HEAD").returncode  # else git refuses, or HEAD is broken


def has_refs(repo_dir: str) -> bool:
    """Whether there is any branch or tag.

    Raises:
        IncompleteError: git is missing or fails.
    """
    done = git(repo_dir, "for-each-ref", "--count=1")
    if done.returncode:
        raise IncompleteError(f"git cannot list branches: {complaint(done)}")
    return bool(done.stdout)


def parents(repo_dir: str, commit: str) -> tuple[str, ...]:
    """Name the parents of a commit, also those that a shallow clone does not hold.

    Raises:
        IncompleteError: git is missing, or the commit is not there.
    """
    done = git(repo_dir, "cat-file", "commit", commit)
    if done.returncode:
        raise IncompleteError(f"git cannot read commit {commit}: {complaint(done)}")
    head = done.stdout.partition(b"\n\n")[0].split(b"\n")
    return tuple(line[7:].decode("ascii") for line in head if line.startswith(b"parent "))


def merge_base(repo_dir: str, one: str, other: str) -> str | None:
    """Give the commit where two histories part; None where they do not meet in this clone.

    Raises:
        IncompleteError: git is missing.
    """
    done = git(repo_dir, "merge-base", one, other)
    return None if done.returncode else done.stdout.split()[0].decode("ascii")


def ref(repo_dir: str, name: str) -> str | None:
    """Return the commit of exactly this ref, as ``refs/remotes/origin/main``; None where there is no such ref."""
    done = git(repo_dir, "show-ref", "--verify", "--hash", "--", name)
    return None if done.returncode else commit_of(repo_dir, done.stdout.split()[0].decode("ascii"))


def points_at(repo_dir: str, commit: str, *below: str) -> bool:
    """Tell whether a ref below one of the given ones, as ``refs/pull``, is exactly this commit."""
    done = git(repo_dir, "for-each-ref", "--count=1", f"--points-at={commit}", *below)
    return done.returncode == 0 and bool(done.stdout.strip())


def remote_url(repo_dir: str) -> str:
    """Return the address that ``origin`` was cloned from, as the repository's own configuration has it, or ``""``."""
    done = git(repo_dir, "config", "--local", "--get", "remote.origin.url")
    return decoded(done.stdout).strip() if done.returncode == 0 else ""


def differing(repo_dir: str, one: str, other: str) -> list[str]:
    """List the paths that differ between two commits, relative to the repository's top and with ``/``.

    Raises:
        IncompleteError: git is missing or fails.
    """
    asked = ("-r", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
    return _paths(repo_dir, "diff-tree", *asked, one, other)


def is_tracked(repo_dir: str, path: str) -> bool:
    """Tell whether git knows a path, relative to the repository's top and with ``/``."""
    return bool(_paths(repo_dir, "ls-files", "--", path))


def holds_submodule(repo_dir: str, path: str) -> bool:
    """Tell whether a path relative to a repository's top is a submodule of it."""
    staged = _paths(repo_dir, "ls-files", "--stage", "--", path)
    return any(line.startswith("160000 ") and line.endswith(f"\t{path}") for line in staged)


@contextmanager
def _own_index(repo_dir: str) -> Iterator[Mapping[str, str]]:
    """Let a diff write what it learns of the working tree into a copy of the index.

    The repository's own would belong to whoever runs this: on a runner to root, and nobody else could write it again.
    The copy keeps its time, by which git knows which files changed after it was written.
    """
    told = git(repo_dir, "rev-parse", "--git-path", "index")
    place = Path(repo_dir, decoded(told.stdout.rstrip(b"\n")))
    with tempfile.TemporaryDirectory(prefix="skillgate-") as folder:
        copy = Path(folder, "index")
        with suppress(FileNotFoundError):  # nothing is tracked yet
            shutil.copy2(place, copy)
        yield {**_ENVIRONMENT, "GIT_INDEX_FILE": str(copy)}


def _paths(repo_dir: str, command: str, *arguments: str, env: Mapping[str, str] = _ENVIRONMENT) -> list[str]:
    done = git(repo_dir, "--literal-pathspecs", command, "-z", *arguments, env=env)
    if done.returncode:
        raise IncompleteError(f"git cannot tell what changed: {complaint(done)}")
    return [decoded(path) for path in done.stdout.split(b"\0") if path]


def _base(repo_dir: str, since: str | None) -> str:
    """Name the commit to compare with; ``""`` before the first."""
    wanted = "HEAD" if since is None else since
    done = git(repo_dir, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
    if done.returncode and since is not None:
        raise UsageError(unknown_revision(repo_dir, since or "an empty revision"))
    commit = "" if done.returncode else done.stdout.split()[-1].decode("ascii")
    if since is None:
        return commit
    left = git(repo_dir, "merge-base", commit, "HEAD")  # none where the histories do not meet, or not in this clone
    return commit if left.returncode else left.stdout.split()[0].decode("ascii")


def unknown_revision(repo_dir: str, rev: str) -> str:
    """Say why a revision is not known."""
    inside = git(repo_dir, "rev-parse", "--is-shallow-repository")
    if inside.returncode:
        return f"cannot look up {rev} in {repo_dir}: {complaint(inside)}"
    message = f"{rev} is not a commit in {repo_dir}"
    if inside.stdout.strip() == b"true":
        message += "; the clone is shallow: fetch the commit first (in actions/checkout: fetch-depth: 0)"
    return message


def complaint(done: Completed) -> str:
    """Give the first line of what git said, without its ``fatal:``."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if any("lazy fetching disabled" in line for line in lines):
        return "the clone is partial, and what is missing is not fetched; drop `filter` from actions/checkout"
    return lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else f"exit status {done.returncode}"


def decoded(path: bytes) -> str:
    """Read a path as git gives it; bytes that are not UTF-8 stay what they are."""
    return path.decode("utf-8", "surrogateescape")


def _encode(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
