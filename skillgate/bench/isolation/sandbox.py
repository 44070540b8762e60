"""Hide expected answers from programs, copy skills, and isolate programs with bubblewrap or, as root, with mounts."""
# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH111, PTH112, PTH113, PTH114, PTH115, PTH116, PTH117, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

from skillgate.bench.isolation import relay
from skillgate.bench.isolation.processes import SHARED
from skillgate.bench.isolation.relay import Bridges
from skillgate.bench.isolation.seclusion import libc
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import READ, closed_by, is_within, open_to_all
from skillgate.process import located

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

FOLDERS = ("tests", "evals")
"""The directories of a skill with expected answers."""
_ENDINGS = (".eval.json",)
_NAMES = ("benchmark.json", "evals.json")
_REPORTS, _REPORT_ENDINGS = "eval-result", (".json", ".md", ".html", ".csv", ".xml", ".txt")
_MOST_FILES = 20_000
_MOST_ABOVE = 64
_BASE = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "skill"),
    *("--proc", "/proc", "--dev", "/dev"),
)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
# Files of /etc that programs need to start: account names, but no keys and no network addresses.
_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "mime.types"),
    *("passwd", "group", "hosts", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust", "locale.conf"),
)
_EMPTY = ("--tmpfs",)
_PARTS = ("bin", "lib", "lib64", "libexec", "share/gems", "pyvenv.cfg")
_LOOPBACK = ("127.0.0.1", "localhost")
# From <sched.h> and <sys/mount.h>.
_NEW_MOUNTS, _NEW_IPC = 0x00020000, 0x08000000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_INTERPRETERS = ("python3", "python", "node", "deno", "bun", "ruby", "perl", "java", "sh", "bash")


T = TypeVar("T")


class Answers(NamedTuple):
    """Files and directories with expected answers: absolute real paths, which may not exist yet."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def within(self, folder: str) -> Answers:
        """Return those below a directory."""
        real = os.path.realpath(folder)
        return Answers(*(tuple(one for one in part if is_within(one, real) and one != real) for part in self))

    def are_open(self) -> bool:
        """Return whether any of them is readable for all users."""
        return any(map(_is_open, (*self.files, *(one for folder in self.folders for one in _files_below(folder)))))


NOTHING = Answers()


def answers_of(
    roots: Iterable[str], *, files: Iterable[str], folders: Iterable[str], needed: Iterable[str] = ()
) -> Answers:
    """Return what programs of some skills may not see.

    Args:
        roots: Directories of the skills.
        files: Files of the run: benchmarks, the store, custom scorers.
        folders: Directories of the run: reports, recordings.
        needed: Files named in the skills' commands. A directory that contains one stays visible, except for the files
            in it that are known to contain answers.
    """
    places = [os.path.realpath(root) for root in roots]
    visible = [*places, *map(os.path.realpath, needed)]
    found_files = {os.path.realpath(file) for file in files if not os.path.isdir(file)}
    found_folders: set[str] = set()
    wanted = [os.path.realpath(folder) for folder in folders if not os.path.isfile(folder)]
    wanted += [folder for place in places for folder in _own_folders(place)]
    for folder in wanted:
        if any(is_within(one, folder) for one in visible):
            found_files |= set(_known(folder))
        else:
            found_folders.add(folder)
    for place in places:
        found_files |= {file for file in _known(place) if not any(is_within(file, one) for one in found_folders)}
    for start in (*places, *(os.path.dirname(file) for file in found_files)):
        found_folders |= set(_history(start, visible))
    top = [one for one in found_folders if not any(is_within(one, other) for other in found_folders - {one})]
    alone = [one for one in found_files if not any(is_within(one, folder) for folder in top)]
    return Answers(tuple(sorted(top)), tuple(sorted(alone)))


def _own_folders(place: str) -> Iterator[str]:
    """Yield the directories of a skill with answers; no links that lead out of it."""
    for name in FOLDERS:
        real = os.path.realpath(os.path.join(place, name))
        if os.path.isdir(real) and real != place and is_within(real, place):
            yield real


def _known(folder: str) -> Iterator[str]:
    """Yield the files below a directory whose names show that they contain answers."""
    for file in _files_below(folder):
        name = os.path.basename(file)
        is_report = name.startswith(_REPORTS) and name.endswith(_REPORT_ENDINGS)
        if is_report or name.endswith(_ENDINGS) or name in _NAMES:
            yield file


def _files_below(folder: str) -> Iterator[str]:
    left = _MOST_FILES
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "node_modules")]
        for name in names:
            path = os.path.join(above, name)
            left -= 1
            if left < 0:
                return
            if not os.path.islink(path) and os.path.isfile(path):
                yield path


def _history(start: str, visible: Iterable[str]) -> Iterator[str]:
    """Yield the .git directory of the enclosing repository: its history contains the answers too."""
    for _ in range(_MOST_ABOVE):
        own = os.path.join(start, ".git")
        if os.path.lexists(own):
            real = _linked(own) if os.path.isfile(own) else os.path.realpath(own)
            if os.path.isdir(real) and not any(is_within(one, real) for one in visible):
                yield real
            return
        if os.path.dirname(start) == start:
            return
        start = os.path.dirname(start)


def _linked(file: str) -> str:
    """Return the repository directory that a worktree's ``.git`` file points to."""
    with suppress(OSError, ValueError), open(file, encoding="utf-8") as text:
        word, _, path = text.read(4096).strip().partition(": ")
        if word == "gitdir" and "\n" not in path:
            real = os.path.realpath(os.path.join(os.path.dirname(file), path))
            above = os.path.dirname(os.path.dirname(real))
            is_tree = os.path.basename(os.path.dirname(real)) == "worktrees" and os.path.isfile(f"{above}/HEAD")
            return above if is_tree else real if os.path.isfile(f"{real}/HEAD") else ""
    return ""


def _is_open(file: str) -> bool:
    try:
        return closed_by(file, READ) is None
    except OSError:  # it is gone
        return False


def copy_for_all(root: str, place: str, hidden: Collection[str] = ()) -> None:
    """Copy a skill's directory to ``place``, readable and executable for every user; see :func:`copy_of`.

    Raises:
        IncompleteError: It cannot be copied.
    """
    try:
        copy_of(root, place, hidden)
        for path in paths_below(place):
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or "a file conflicts with the copy"
        raise IncompleteError(f"{root} cannot be copied for the user it runs as: {reason}") from error


def copy_of(root: str, place: str, hidden: Collection[str] = ()) -> None:
    """Copy a skill's directory without its .git and the real paths in ``hidden``; links stay links.

    A repository below it, such as one that tasks work on, is copied whole.

    Raises:
        OSError, shutil.Error: It cannot be copied.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        real = os.path.realpath(folder)
        own = ("__pycache__", ".git") if folder == root else ("__pycache__",)
        return {name for name in names if name in own or os.path.join(real, name) in hidden}

    shutil.copytree(root, place, symlinks=True, ignore=left_out)


def paths_below(place: str) -> Iterator[str]:
    """Yield a directory and all paths below it."""
    for folder, _, names in os.walk(place):
        yield folder
        yield from (os.path.join(folder, name) for name in names)


class Sandbox:
    """Wraps commands in bubblewrap."""

    def __init__(self, *, path: str, user: int | None) -> None:
        """Find bubblewrap in ``path`` (as ``PATH``) for calls that run as ``user``, and what the sandbox shows.

        Raises:
            IncompleteError: It is not installed.
        """
        self._path, self._user = path, user
        self._relay: tuple[str, ...] = ()
        self._relay_files: tuple[str, ...] = ()
        self._bridges: Bridges | None = None
        self._program = located("bwrap", cwd="/", env={"PATH": path}, user=user)
        self._shown = tuple(_system()) + tuple(_interpreters(path, everybody=user is not None))

    @property
    def visible(self) -> tuple[str, ...]:
        """The host's files and directories that are visible inside, in addition to those of a call."""
        return tuple(self._shown[2::3])

    def reach(self, served: Mapping[str, str], folder: str) -> None:
        """Let programs reach the loopback ports of the URLs in ``served``, and nothing else here.

        An outer relay listens per port, with its socket in ``folder``; each call starts an inner relay.

        Raises:
            UsageError: There is no Python that calls can run.
        """
        ports = _loopback_ports(served)
        if not ports:
            return
        try:
            python = located("python3", cwd="/", env={"PATH": self._path}, user=self._user)
        except IncompleteError as error:
            raise UsageError(f"--sandbox bwrap: reaching the benchmark's server needs Python: {error}") from error
        program = os.path.join(folder, "relay.py")
        shutil.copyfile(relay.__file__, program)  # calls may have no access to the installed package
        os.chmod(program, 0o644)
        self._bridges = Bridges(ports, folder)
        rows = ",".join(f"{port}={file}" for port, file in self._bridges.files.items())
        self._relay = (python, "-I", "-S", program, rows)
        self._relay_files = (program, *self._bridges.files.values())

    def close(self) -> None:
        """Close the relays."""
        if self._bridges is not None:
            self._bridges.close()

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
    ) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Yield the wrapped command and the file descriptors that it inherits, for the context.

        Args:
            argv: The absolute program and its arguments.
            place: Working directory, read-only unless ``writable``.
            home: The call's own directory. Its siblings are ``tmp``, mounted as ``/tmp``, and ``empty``, mounted over
                hidden files.
            env: Variables of the program. They are set inside, so that loader variables do not affect bubblewrap, and
                passed in an unnamed file, so that no process list shows them.
            writable: Whether ``place`` is the call's own copy.
            files: More absolute paths to mount read-only.
            hidden: Paths to show as empty.
        """
        around = os.path.dirname(home)
        words = [*_BASE, "--bind", os.path.join(around, "tmp"), "/tmp"]  # noqa: S108
        words += [*self._shown, "--bind", home, home, "--bind" if writable else "--ro-bind", place, place]
        words += [*_without_git(place), "--chdir", place]
        for file in (*self._relay_files, *files):
            words += ["--ro-bind", file, file]
        words += self._emptied(hidden, place, os.path.join(around, "empty"))
        for name, value in env.items():
            words += ["--setenv", name, value]
        descriptor = os.memfd_create("skillgate-sandbox")
        try:
            with open(descriptor, "wb", closefd=False) as arguments:
                arguments.write(b"".join(os.fsencode(word) + b"\0" for word in words))
            os.lseek(descriptor, 0, os.SEEK_SET)
            yield (self._program, "--args", str(descriptor), "--", *self._relay, *argv), (descriptor,)
        finally:
            os.close(descriptor)

    def _emptied(self, hidden: Answers, place: str, empty: str) -> Iterator[str]:
        """Yield the arguments that hide paths, under every path where they would be visible."""
        bound = (
            shown for option, shown in zip(self._shown[::3], self._shown[2::3], strict=True) if option == "--ro-bind"
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
    """Show interpreters on ``PATH`` outside the system directories: only their programs and libraries."""
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
        if (
            not os.path.isabs(folder)
            or not os.path.isdir(folder)
            or os.path.commonpath((os.path.expanduser("~"), folder)) == folder
        ):
            continue
        yield folder
        if os.path.basename(folder) == "shims":  # scripts that look for versions next to them
            yield os.path.dirname(folder)
        yield from _installation(folder)
        for name in _INTERPRETERS:
            program = os.path.join(folder, name)
            if os.path.islink(program):
                real = os.path.dirname(os.path.realpath(program))
                yield real
                yield from _installation(real)


def _installation(folder: str) -> Iterator[str]:
    """Yield what belongs to a directory of programs, but not all siblings, which may be a home directory."""
    if os.path.basename(folder) in ("bin", "sbin"):
        yield from (os.path.join(os.path.dirname(folder), part) for part in _PARTS)


def _is_system(path: str) -> bool:
    return any(path == top or path.startswith(f"{top}/") for top in _SYSTEM)


def _without_git(place: str) -> list[str]:
    """Hide .git, which may contain a token."""
    git = os.path.join(place, ".git")
    if os.path.isdir(git):
        return [*_EMPTY, git, "--remount-ro", git]  # read-only: writes there would have no limit
    return ["--ro-bind", "/dev/null", git] if os.path.isfile(git) else []


def _loopback_ports(served: Mapping[str, str]) -> tuple[int, ...]:
    """Return the distinct ports of URLs with a loopback host."""
    ports = []
    for value in served.values():
        try:
            url = urlsplit(value)
            port = url.port
        except ValueError:
            continue
        if url.scheme in ("http", "https") and url.hostname in _LOOPBACK and port is not None:
            ports.append(port)
    return tuple(dict.fromkeys(ports))


class View(NamedTuple):
    """The changes to what a program sees; all paths are absolute and real."""

    around: str  # the call's own directory, which stays visible; contains an empty file `empty`
    user: int  # uid of the call
    run: str  # the directory of all calls; shown empty except for `around` and `shown`
    shown: tuple[str, ...] = ()  # paths in shared directories that stay visible
    hidden: Answers = NOTHING  # shown as empty


def in_view(view: View, start: Callable[[], T]) -> T:
    """Call ``start`` in a thread that sees ``view``; the started program keeps seeing it.

    The thread leaves the process's mount namespace, mounts, starts the program, and ends. The program keeps the
    namespace.

    Raises:
        IncompleteError: A mount failed.
    """

    def seen() -> T:
        _unshare()
        try:
            _arrange(view)
        except OSError as error:
            raise IncompleteError(f"cannot set up the files of a call: {error}") from error
        return start()

    return _in_thread(seen)


def can_mount() -> bool:
    """Return whether this process may create mounts for programs."""
    if libc() is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False

    def attempt() -> bool:
        _unshare()
        _mount("/usr", "/usr", _BIND)
        return True

    try:
        return _in_thread(attempt)
    except OSError:
        return False


def _in_thread(work: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1, thread_name_prefix="mounts") as threads:
        return threads.submit(work).result()


def _unshare() -> None:
    """Give this thread its own mounts, shared memory and message queues."""
    _require("unshare", _NEW_MOUNTS | _NEW_IPC)
    _mount("none", "/", _RECURSIVE | _PRIVATE)


def _mount(source: str, target: str, flags: int) -> None:
    _require("mount", os.fsencode(source), os.fsencode(target), None, flags, None, what=f"mount on {target}")


def _require(function: str, *arguments: bytes | int | None, what: str = "") -> None:
    import ctypes

    words = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    if getattr(libc(), function)(*words) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}" if what else function)


def _arrange(view: View) -> None:
    shared = list(dict.fromkeys(os.path.realpath(place) for place in SHARED if os.path.isdir(place)))
    below_shared = tuple(os.path.join(folder, "") for folder in shared)
    shown = [path for path in view.shown if path.startswith(below_shared)]
    with ExitStack() as opened:

        def hold(path: str) -> str:
            """Open a path that is about to be covered by a mount; return another path to it."""
            number = os.open(path, os.O_PATH | os.O_CLOEXEC)
            opened.callback(os.close, number)
            return f"/proc/self/fd/{number}"

        def show(path: str) -> None:
            """Mount a path back into its covered directory."""
            _make_mount_point(path, is_folder=os.path.isdir(held[path]))
            _mount(held[path], path, _BIND | _RECURSIVE)

        held = {path: hold(path) for path in (view.around, *shown)}
        nothing = hold(_make_folder(os.path.join(view.around, "nothing"), None, 0o755))
        empty = hold(os.path.join(view.around, "empty"))
        own = {}
        for number, place in enumerate((*shared, view.run)):
            owner = None if place == view.run else view.user
            own[place] = hold(_make_folder(os.path.join(view.around, f"shared-{number}"), owner))
        for place in shared:
            _mount(own[place], place, _BIND)
        for path in shown:
            if not is_within(path, view.run):
                show(path)
        if os.path.isdir(view.run):
            _mount(own[view.run], view.run, _BIND)
        _make_mount_point(view.around, is_folder=True)
        _mount(held[view.around], view.around, _BIND)
        for path in shown:
            if is_within(path, view.run):
                show(path)
        for path in filter(os.path.isdir, view.hidden.folders):
            _mount(nothing, path, _BIND)
        for path in filter(os.path.isfile, view.hidden.files):
            _mount(empty, path, _BIND)


def _make_folder(path: str, owner: int | None, mode: int = 0o711) -> str:
    """Make a directory of a call: private to the owner, or without one only traversable."""
    os.mkdir(path)
    os.chmod(path, mode if owner is None else 0o700)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


def _make_mount_point(path: str, *, is_folder: bool) -> None:
    """Make a mount point in a covered directory."""
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    if os.path.lexists(path):
        return
    if is_folder:
        os.mkdir(path, 0o755)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444))
