"""Programs in a sandbox of bubblewrap: no network, none of the user's files, their own processes alone."""
# ruff: noqa: PTH110, PTH111, PTH112, PTH113, PTH114, PTH115, PTH117, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from skillgate.access import is_within, open_to_all
from skillgate.bench.isolation.answers import NOTHING
from skillgate.process import located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.bench.isolation.answers import Answers

_BASE = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "skill"),
    *("--proc", "/proc", "--dev", "/dev"),
)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
# Of /etc what programs need to start; no account but names, no key, no address of the network.
_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "mime.types"),
    *("passwd", "group", "hosts", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust", "locale.conf"),
)
_EMPTY = ("--tmpfs",)
_PARTS = ("bin", "lib", "lib64", "libexec", "share/gems", "pyvenv.cfg")
_INTERPRETERS = ("python3", "python", "node", "deno", "bun", "ruby", "perl", "java", "sh", "bash")


class Wrapped(NamedTuple):
    """A command, and the open files that it needs to inherit."""

    argv: tuple[str, ...]
    files: tuple[int, ...]


class Sandbox:
    """Puts bubblewrap before a program and its arguments."""

    def __init__(self, *, path: str, user: int | None) -> None:
        """Find bubblewrap and what is to be shown in the sandbox.

        Args:
            path: where programs are looked for, as in ``PATH``.
            user: a user that calls run as; None for this process's own.

        Raises:
            IncompleteError: it is not installed.
        """
        self._program = located("bwrap", cwd="/", env={"PATH": path}, user=user)
        self._shown = tuple(_system()) + tuple(_interpreters(path, everybody=user is not None))

    @property
    def visible(self) -> tuple[str, ...]:
        """The files and directories of this machine that are seen inside, beside those of a call."""
        return tuple(self._shown[2::3])

    @contextmanager
    def wrapped(
        self,
        argv: Sequence[str],
        *,
        place: str,
        home: str,
        env: Mapping[str, str],
        writable: bool,
        files: Iterable[str] = (),
        hidden: Answers = NOTHING,
    ) -> Iterator[Wrapped]:
        """Give the command that runs a program in the sandbox; it holds while the context lasts.

        Args:
            argv: the program, absolute, and its arguments.
            place: the directory to run in, read-only unless ``writable``.
            home: the call's own directory; ``tmp`` beside it takes the place of ``/tmp``, and ``empty`` that of files.
            env: the program's variables. They are given inside, so that one for the loader does not work outside; and
                through a file without a name, so that no list of processes shows them.
            writable: whether ``place`` is the call's own copy.
            files: absolute paths to show beside, read-only.
            hidden: what is empty wherever it would be seen.
        """
        words = [*_BASE, "--bind", os.path.join(os.path.dirname(home), "tmp"), "/tmp"]  # noqa: S108
        words += [*self._shown, "--bind", home, home, "--bind" if writable else "--ro-bind", place, place]
        words += [*_without_git(place), "--chdir", place]
        for file in files:
            words += ["--ro-bind", file, file]
        words += self._emptied(hidden, place, os.path.join(os.path.dirname(home), "empty"))
        for name, value in env.items():
            words += ["--setenv", name, value]
        descriptor = os.memfd_create("skillgate-sandbox")
        try:
            with open(descriptor, "wb", closefd=False) as file_:
                file_.write(b"".join(os.fsencode(word) + b"\0" for word in words))
            os.lseek(descriptor, 0, os.SEEK_SET)
            yield Wrapped((self._program, "--args", str(descriptor), "--", *argv), (descriptor,))
        finally:
            os.close(descriptor)

    def _emptied(self, hidden: Answers, place: str, empty: str) -> Iterator[str]:
        """Give the words that empty what is hidden, under each of the paths by which it would be seen."""
        bound = (
            self._shown[number + 2] for number in range(0, len(self._shown), 3) if self._shown[number] == "--ro-bind"
        )
        seen = [(os.path.realpath(one), one) for one in (place, *bound)]
        emptying = ((_EMPTY, hidden.folders, os.path.isdir), (("--ro-bind", empty), hidden.files, os.path.isfile))
        for options, paths, is_there in emptying:
            for path in filter(is_there, paths):
                for real, shown in seen:
                    if is_within(path, real):
                        point = os.path.normpath(os.path.join(shown, os.path.relpath(path, real)))
                        yield from (*options, point)
                        yield from ("--remount-ro", point) if options == _EMPTY else ()


def _system() -> Iterator[str]:
    for path in _SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for name in _ETC:
        path = f"/etc/{name}"
        if os.path.exists(path):
            yield from ("--ro-bind", os.path.realpath(path), path)


def _interpreters(path: str, *, everybody: bool) -> Iterator[str]:
    """Show interpreters outside of the system's directories where ``PATH`` names them: programs and libraries alone."""
    shown: set[str] = set()
    for part in _parts_of(path):
        if part in shown or not os.path.exists(part) or _is_system(part):
            continue
        if everybody and not open_to_all(part if os.path.isdir(part) else os.path.dirname(part)):
            continue
        shown.add(part)
        yield from ("--ro-bind", part, part)


def _parts_of(path: str) -> Iterator[str]:
    for folder in path.split(os.pathsep):
        if not os.path.isabs(folder) or not os.path.isdir(folder) or _is_around_home(folder):
            continue
        yield folder
        if os.path.basename(folder) == "shims":  # they are scripts that look for the versions beside them
            yield os.path.dirname(folder)
        yield from _installation(folder)
        for name in _INTERPRETERS:
            program = os.path.join(folder, name)
            if os.path.islink(program):
                real = os.path.dirname(os.path.realpath(program))
                yield real
                yield from _installation(real)


def _installation(folder: str) -> Iterator[str]:
    """Give what belongs to a directory of programs: not all beside it, which may be somebody's home."""
    if os.path.basename(folder) in ("bin", "sbin"):
        yield from (os.path.join(os.path.dirname(folder), part) for part in _PARTS)


def _is_system(path: str) -> bool:
    return any(path == top or path.startswith(f"{top}/") for top in _SYSTEM)


def _is_around_home(folder: str) -> bool:
    home = os.path.expanduser("~")
    return os.path.commonpath((home, folder)) == folder


def _without_git(place: str) -> list[str]:
    """Hide a repository's own directory or file, which may hold a token."""
    git = os.path.join(place, ".git")
    if os.path.isdir(git):
        return [*_EMPTY, git, "--remount-ro", git]  # what could be written there would be bounded by nothing
    return ["--ro-bind", "/dev/null", git] if os.path.isfile(git) else []
