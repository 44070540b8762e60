"""Mounts of a program's own, as root on Linux: its own ``/tmp``, and nothing where the expected answers are.

A thread leaves the process's mount namespace, mounts, starts the program, and ends. The program keeps the namespace.
"""
# ruff: noqa: PTH101, PTH102, PTH103, PTH112, PTH118, PTH120

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate.access import is_within
from skillgate.bench.isolation.leftovers import SHARED
from skillgate.errors import IncompleteError

try:
    import ctypes
except ImportError:  # an interpreter that was built without libffi
    _LIBC = None
else:
    _LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

# Of <sched.h> and <sys/mount.h>.
_NEW_MOUNTS, _NEW_IPC = 0x00020000, 0x08000000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18


class View(NamedTuple):
    """What a program sees where it differs from what everybody sees; all paths are absolute and without links.

    Attributes:
        around: the call's own directory, which it keeps in its place.
        empty: an empty file of the call's own directory.
        user: the number of the call's user.
        run: the directory that holds those of all calls; empty but for ``around`` and ``shown``.
        shown: files and directories that stay visible where a directory that all users share held them.
        hidden_files, hidden_folders: what is empty.
    """

    around: str
    empty: str
    user: int
    run: str
    shown: tuple[str, ...] = ()
    hidden_files: tuple[str, ...] = ()
    hidden_folders: tuple[str, ...] = ()


def in_view(view: View, start: Callable[[], T]) -> T:
    """Call ``start`` in a thread that sees ``view``; what it starts goes on seeing it.

    Raises:
        IncompleteError: something cannot be mounted.
    """

    def seen() -> T:
        _leave()
        try:
            _arrange(view)
        except OSError as error:
            raise IncompleteError(f"the files of a call cannot be arranged: {error}") from error
        return start()

    return _in_thread(seen)


def works() -> bool:
    """Whether this process may give programs mounts of their own."""
    if _LIBC is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False

    def tried() -> bool:
        _leave()
        _mount("/usr", "/usr", _BIND)
        return True

    try:
        return _in_thread(tried)
    except OSError:
        return False


def _in_thread(work: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1, thread_name_prefix="mounts") as threads:
        return threads.submit(work).result()


def _leave() -> None:
    """Give this thread mounts of its own, and shared memory and message queues of its own."""
    assert _LIBC is not None
    if _LIBC.unshare(_NEW_MOUNTS | _NEW_IPC) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _mount("none", "/", _RECURSIVE | _PRIVATE)


def _arrange(view: View) -> None:
    shared = list(dict.fromkeys(os.path.realpath(place) for place in SHARED if os.path.isdir(place)))
    shown = [path for path in view.shown if _is_below_any(path, shared)]
    with ExitStack() as opened:
        sources = {path: _opened(path, opened) for path in (view.around, *shown)}
        nothing = _opened(_made(os.path.join(view.around, "nothing"), None, 0o755), opened)
        empty = _opened(view.empty, opened)
        own = {}
        for number, place in enumerate((*shared, view.run)):
            owner = None if place == view.run else view.user
            own[place] = _opened(_made(os.path.join(view.around, f"shared-{number}"), owner), opened)
        for place in shared:
            _mount(_source(own[place]), place, _BIND)
        for path in shown:
            if not is_within(path, view.run):
                _show(path, sources[path])
        if os.path.isdir(view.run):
            _mount(_source(own[view.run]), view.run, _BIND)
        _make_point(view.around, is_folder=True)
        _mount(_source(sources[view.around]), view.around, _BIND)
        for path in shown:
            if is_within(path, view.run):
                _show(path, sources[path])
        hidden = ((view.hidden_folders, nothing, os.path.isdir), (view.hidden_files, empty, os.path.isfile))
        for paths, source, is_there in hidden:
            for path in filter(is_there, paths):
                _mount(_source(source), path, _BIND)


def _show(path: str, source: int) -> None:
    """Put what a covered directory held in its place again."""
    _make_point(path, is_folder=os.path.isdir(_source(source)))
    _mount(_source(source), path, _BIND | _RECURSIVE)


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(os.path.join(folder, "")) for folder in folders)


def _opened(path: str, opened: ExitStack) -> int:
    """Hold a file or directory that another is about to cover."""
    number = os.open(path, os.O_PATH | os.O_CLOEXEC)
    opened.callback(os.close, number)
    return number


def _source(number: int) -> str:
    return f"/proc/self/fd/{number}"


def _made(path: str, owner: int | None, mode: int = 0o711) -> str:
    """Make a directory of a call: with an owner for that user alone, else to be passed through and not written."""
    os.mkdir(path)
    os.chmod(path, mode if owner is None else 0o700)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


def _make_point(path: str, *, is_folder: bool) -> None:
    """Make what is to be mounted on, in a covered directory."""
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    if os.path.lexists(path):
        return
    if is_folder:
        os.mkdir(path, 0o755)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444))


def _mount(source: str, target: str, flags: int) -> None:
    assert _LIBC is not None
    number = ctypes.c_ulong(flags)
    if _LIBC.mount(os.fsencode(source), os.fsencode(target), None, number, None) != 0:
        raise OSError(ctypes.get_errno(), f"mount on {target}: {os.strerror(ctypes.get_errno())}")
