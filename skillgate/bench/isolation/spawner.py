"""Starts skills that are programs: bounded in time, output, memory and processes, and without the user's variables."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from skillgate.bench.isolation.conversation import Pipes
from skillgate.bench.isolation.ending import WORDS, ask_to_end, end_all, too_much
from skillgate.bench.isolation.exchange import exchange
from skillgate.bench.isolation.slots import Slots
from skillgate.bench.ports import Ended
from skillgate.errors import IncompleteError
from skillgate.model.bench_result import ErrorKind
from skillgate.process import open_to_all, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.isolation.slots import Slot
    from skillgate.bench.ports import Limits
    from skillgate.process import Child


class ProcessSpawner:
    """Runs programs of skills, each call in a session of its own. Thread-safe.

    As root, every call runs under a user number that nothing else has, so that it can read neither the environment nor
    the private files of other processes, and everything that it leaves behind can be found and ended.
    """

    def __init__(self, *, path: str, stop: threading.Event) -> None:
        """Take where programs are looked for, as in ``PATH``, and what ends every call."""
        self._path = path
        self._stop = stop
        self._slots = Slots()
        self._folder = tempfile.mkdtemp(prefix="skillgate-")
        os.chmod(self._folder, 0o711)  # noqa: PTH101, S103 - users of calls pass through it to their own
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._copies: dict[str, str] = {}

    @property
    def isolated(self) -> tuple[str, ...]:
        """Say what programs are kept from, in words that can stand in a list."""
        common = ("variables of the environment", "files that are open here", "the home directory's variable")
        own = ("other users' files", "the environment of other processes") if self._slots.switches else ()
        return (*common, *own)

    def run(
        self, argv: Sequence[str], *, root: str, stdin: bytes, env: Mapping[str, str], limits: Limits, copy: bool
    ) -> Ended:
        """Run a program to its end, and end all that it leaves behind; see :class:`skillgate.bench.ports.Spawner`."""
        with self._slots.taken() as slot, self._home(slot) as home:
            try:
                where = self._place(root, home, slot, copy=copy)
                child = start(argv, cwd=where, env=self._environment(home, env), user=slot.user)
            except (IncompleteError, OSError, shutil.Error) as error:
                return Ended(b"", b"", None, ErrorKind.SPAWN, str(error))
            return self._finished(child, stdin, limits, slot, argv[0])

    def open(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], limits: Limits, copy: bool) -> Pipes:
        """Start a program to talk to; see :class:`skillgate.bench.ports.Spawner`."""
        with ExitStack() as made:
            slot = made.enter_context(self._slots.taken())
            home = made.enter_context(self._home(slot))
            try:
                where = self._place(root, home, slot, copy=copy)
            except (OSError, shutil.Error) as error:
                raise IncompleteError(f"{root} cannot be copied: {error}") from error
            child = start(argv, cwd=where, env=self._environment(home, env), user=slot.user)
            return Pipes(child, argv[0], limits, slot.user, self._stop, made.pop_all())

    def close(self) -> None:
        """Remove what was made; calls have ended before."""
        if not self._closed.is_set():
            self._closed.set()
            self._slots.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _finished(self, child: Child, stdin: bytes, limits: Limits, slot: Slot, program: str) -> Ended:
        try:
            heard = exchange(child, stdin, limits, self._stop, lambda: too_much(child.pid, slot.user, limits))
            if heard.kind is not None:
                ask_to_end(child)
        finally:
            end_all(child, slot.user)
        if heard.kind is None:
            return Ended(heard.stdout, heard.stderr, child.returncode)
        words = f"{program} {WORDS[heard.kind].format(limits=limits)}"
        return Ended(heard.stdout, heard.stderr, None, heard.kind, words)

    @contextmanager
    def _home(self, slot: Slot) -> Iterator[str]:
        """Make a home for one call: an empty directory that only its user can enter."""
        around = tempfile.mkdtemp(dir=self._folder)
        try:
            os.chmod(around, 0o711)  # noqa: PTH101, S103 - the call's user passes through it
            home = os.path.join(around, "home")
            os.mkdir(home, 0o700)  # noqa: PTH102
            if slot.user is not None:
                os.chown(home, slot.user, slot.user)
            yield home
        finally:
            shutil.rmtree(around, ignore_errors=True)

    def prepare(self, root: str) -> None:
        """Make a copy of a skill ready where its calls need one, so that the first of them does not take longer.

        Raises:
            IncompleteError: it cannot be copied.
        """
        if self._slots.switches and not open_to_all(os.path.realpath(root)):
            self._readable(root)

    def _place(self, root: str, home: str, slot: Slot, *, copy: bool) -> str:
        """Give the directory to run in: the skill's own, one that every user can read, or the call's own copy."""
        if not copy:
            closed = slot.user is not None and not open_to_all(os.path.realpath(root))
            return self._readable(root) if closed else root
        place = os.path.join(os.path.dirname(home), "skill")  # noqa: PTH120
        _copied(root, place)
        if slot.user is not None:
            for path in _all_of(place):
                os.chown(path, slot.user, slot.user, follow_symlinks=False)
        return place

    def _readable(self, root: str) -> str:
        """Give the copy of a skill that every user can read, made once."""
        with self._lock:
            if root not in self._copies:
                place = os.path.join(self._folder, f"skill-{len(self._copies)}")
                try:
                    _copied(root, place)
                    for path in _all_of(place):
                        if not os.path.islink(path):  # noqa: PTH114
                            mode = os.stat(path).st_mode  # noqa: PTH116
                            readable = 0o755 if mode & 0o100 else 0o644
                            os.chmod(path, readable)  # noqa: PTH101
                except (OSError, shutil.Error) as error:
                    reason = getattr(error, "strerror", None) or "a file of it is in the way"
                    raise IncompleteError(f"{root} cannot be copied for the user it runs as: {reason}") from error
                self._copies[root] = place
            return self._copies[root]

    def _environment(self, home: str, env: Mapping[str, str]) -> dict[str, str]:
        return {
            "PATH": self._path,
            "HOME": home,
            "TMPDIR": home,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "SKILLGATE": "1",
            **env,
        }


def _copied(root: str, place: str) -> None:
    shutil.copytree(root, place, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))


def _all_of(place: str) -> Iterator[str]:
    for folder, _, names in os.walk(place):
        yield folder
        yield from (os.path.join(folder, name) for name in names)
